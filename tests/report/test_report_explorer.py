# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The explorer in a real browser: its results agree with the models, and its sliders show them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from chromium import Browser
from golden_files import Golden
from grain import EXPLORER, MACHINES, grain
from sample import sample

from hockney.core.fit import Estimate
from hockney.core.units import format_bytes, format_number, format_percent, format_seconds
from hockney.draw.page import Section
from hockney.machines import simulated
from hockney.models.applications.grain_prediction import RequiredWork, predict, predict_row
from hockney.models.applications.granularity import (
    Algorithm,
    best_ranks,
    break_even,
    candidate_counts,
    ceiling,
    required_work,
    times,
    with_shared_cores,
)
from hockney.models.applications.message_costs import costs_of_description
from hockney.models.applications.ring_exchange import exchange_bounds, exchange_time
from hockney.models.programs.communication import Communication
from hockney.models.programs.description import parse_description
from hockney.models.programs.scaling import with_faster_network
from hockney.models.programs.timing import iteration_time
from hockney.report import write
from hockney.studies.granularity.figures import machine_data
from hockney.studies.program.explorer import explorer as scaling_explorer

pytestmark = pytest.mark.browser

POINTS = 200
ASK = """const g = {...hockney.units, ...hockney.efficiency}, [machines, points] = arguments;
return points.map(([k, work, size, serial, ranks, wanted]) => {
  const m = machines[k], t = g.times(m, work, size, serial, ranks);
  const e = g.estimate(m, size, ranks, factor => g.times(m, work, size, serial, ranks, factor).efficiency);
  const n = g.estimate(m, size, ranks, factor => g.workNeeded(wanted, m, size, serial, ranks, factor));
  return [g.exchange(m, size, ranks), g.efficiency(m, work, size, serial, ranks), t.speedUp, t.share,
    t.total, g.ceiling(m, serial, ranks), n.value === null ? null : n.value, n.value === null ? null : n.high,
    g.breakEven(m, size, serial, ranks), e.low, e.high, ...(g.bounds(m, size, ranks) ?? [null, null]),
    g.bestRanks(m, work, size, serial, m.most_ranks)];
})"""
LARGER = """const g = hockney.efficiency, [machine, work, size, serial, ranks] = arguments;
return g.efficiency({...machine, larger: true}, work, size, serial, ranks)"""
SHOWN = """return Object.fromEntries([...document.querySelectorAll('[data-answer]')]
    .map(e => [e.dataset.answer, e.textContent]))"""

PLANE = "document.querySelectorAll('.sketch')[1]"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(grain(()), tmp_path_factory.mktemp("explorer") / "report.html")


@pytest.fixture
def explorer(browser: Browser, page: Path) -> Iterator[Browser]:
    browser.open(page, figures=False)
    browser.until("return document.querySelectorAll('.widget.on').length === 1")
    yield browser
    assert browser.console() == []


def points() -> list[tuple[int, float, float, float, int, float]]:
    """Sizes at, below and above each change of a machine's line; few ranks and many, even, odd and one."""
    dice = random.Random(19961114)
    questions = []
    for _ in range(POINTS):
        k = dice.randrange(len(MACHINES))
        m = MACHINES[k]
        edges = [piece.min_size for piece in m.pieces] + [0 if math.isinf(m.eager_limit) else m.eager_limit]
        size = dice.choice(
            [0, max(0, dice.choice(edges) + dice.choice((-1, 0, 1))), int(2 ** dice.uniform(0, 24))]
        )
        ranks = dice.choice([1, 2, 3, 4, 5, 8, dice.randint(1, 70), dice.randint(1, 5000)])
        serial = dice.choice([0.0, 1.0, 0.01, dice.random()])
        questions.append(
            (k, 10 ** dice.uniform(-7, 4), size, serial, ranks, dice.choice([0.5, 0.9, 1 / ranks]))
        )
    return questions


def test_the_page_computes_what_the_models_say(explorer: Browser):
    asked = points()
    answers = explorer.run(ASK, [machine_data(m) for m in MACHINES], asked)
    assert len(answers) == POINTS
    for (k, work, size, serial, ranks, wanted), answer in zip(asked, answers, strict=True):
        model, algorithm = MACHINES[k], Algorithm(work, size, serial)
        found = predict_row(algorithm, model, ranks)
        there = with_shared_cores(algorithm, ranks, model.max_ranks)
        now = times(there, model, ranks)
        least = required_work(wanted, there, model, ranks)
        ends = exchange_bounds(model, size, ranks)
        expected = [
            exchange_time(model, size, ranks),
            now.efficiency,
            now.speed_up,
            now.communication_share,
            now.total,
            ceiling(there, ranks),
            least,
            None if least is None or ends is None else required_work(wanted, there, model, ranks, ends[1]),
            break_even(there, model, ranks),
            found.efficiency.low,
            found.efficiency.high,
            *(ends or (None, None)),
            best_ranks(algorithm, model, MACHINES[k].max_ranks),
        ]
        for there, here in zip(answer, expected, strict=True):
            where = (MACHINES[k].name, work, size, serial, ranks, wanted)
            if here is None:
                assert there is None, where
            else:
                assert there == pytest.approx(here, rel=1e-9, abs=0), where


@pytest.mark.slow
def test_it_says_and_reads_as_the_command_line_does(explorer: Browser):
    dice = random.Random(4)
    seconds = [10 ** dice.uniform(-9, 5) for _ in range(300)] + [0, 0.9999, 99.96, 100, 3599.7, 3600, 1e-6]
    sizes = [int(2 ** dice.uniform(0, 40)) for _ in range(200)] + [0, 1023, 1024, 40000]
    shares = [10 ** dice.uniform(-6, 0) for _ in range(200)] + [0, 1, 0.5]
    shown = explorer.run(
        "const g = {...hockney.units, ...hockney.efficiency}, [s, b, p] = arguments;"
        "return [s.map(g.seconds), b.map(g.bytes), p.map(g.percent), p.map(v => g.number(1000 * v))]",
        seconds,
        sizes,
        shares,
    )
    assert shown[0] == [format_seconds(v) for v in seconds]
    assert shown[1] == [format_bytes(v) for v in sizes]
    assert shown[2] == [format_percent(v) for v in shares]
    assert shown[3] == [format_number(1000 * v) for v in shares]
    assert explorer.run(
        "const g = {...hockney.units, ...hockney.efficiency}; return ["
        "...['10ms', '2 us', '4m40s', '1h05m', '3', 'x', '-1s', '1 parsec'].map(g.readSeconds),"
        "...['40kB', '4 KiB', '1000words', '0', '3.906 KiB', ''].map(g.readBytes),"
        "...['1%', '0.01', '1 %'].map(g.readFraction), ...['4', '4 ranks'].map(g.readCount),"
        "g.counts(5000).join()]"
    ) == [
        0.01, 2e-6, 280, 3900, 3, None, None, None,
        40000, 4096, 4000, 0, 3.906 * 1024, None,
        0.01, 0.01, 0.01, 4, 4, ",".join(map(str, candidate_counts(5000))),
    ]  # fmt: skip


def with_ends(estimate: Estimate, say: Callable[[float], str]) -> str:
    ends = [] if estimate.low is None else [say(estimate.low), say(estimate.high)]
    value = say(estimate.value)
    return f"{value} (95%: {' to '.join(ends)})" if set(ends) - {value} else value


def expected(machine: int, work: float, size: float, serial: float, ranks: int) -> dict[str, str]:
    """The results of `hockney predict`."""
    model = MACHINES[machine]
    found = predict(Algorithm(work, size, serial), model, [ranks])
    (now,), best = found.rows, found.best.fastest

    def needed(least: RequiredWork) -> str:
        if least.work is None:
            return f"no work is enough: at most {format_percent(least.ceiling)}"
        return with_ends(least.work, format_seconds)

    algorithm = with_shared_cores(Algorithm(work, size, serial), ranks, model.max_ranks)
    factors = (1.0, *(model.bounds(size, ranks) or ()))
    exchanges = [times(algorithm, model, ranks, factor).communication for factor in factors]
    return {
        "efficiency": with_ends(now.efficiency, format_percent),
        "speed-up": with_ends(now.speed_up, format_number),
        "communication": with_ends(now.communication, format_percent),
        "exchange": with_ends(
            Estimate(*exchanges) if exchanges[1:] else Estimate(exchanges[0], None, None), format_seconds
        ),
        "break-even": needed(found.break_even[0]),
        **{f"{100 * each.efficiency:g}": needed(each) for each in found.needed},
        "best": f"{best.ranks} of {model.max_ranks}: speed-up {format_number(best.speed_up.value)}, "
        f"efficiency {format_percent(best.efficiency.value)}",
    }


@pytest.mark.slow
def test_ranks_share_cores_unless_a_larger_machine_is_asked_for(explorer: Browser):
    """'here' has 2 cores."""
    algorithm = Algorithm(1e-4, 40_000, 0.01)
    shared = predict_row(algorithm, MACHINES[1], 8).efficiency.value
    alone = times(algorithm, MACHINES[1], 8).efficiency
    larger = explorer.run(LARGER, machine_data(MACHINES[1]), 1e-4, 40_000, 0.01, 8)
    assert larger == pytest.approx(alone) and alone > 2 * shared
    [asked] = predict(algorithm, MACHINES[1], [8], allow_larger_machine=True).rows
    assert larger == pytest.approx(asked.efficiency.value), "what --larger-machine predicts"
    explorer.run(
        "const s = document.getElementById('explorer-machine'); s.value = 1;"
        "s.dispatchEvent(new Event('change'))"
    )
    box = "document.getElementById('explorer-larger')"
    for name, text in (("work", "100us"), ("bytes", "40kB"), ("serial", "1%"), ("ranks", "2")):
        typed(explorer, name, text)
    visible = f"return {box}.closest('.control').getBoundingClientRect().height > 0"
    assert explorer.run(visible) and explorer.run(f"return {box}.disabled"), "2 ranks have a core each"
    typed(explorer, "ranks", "8")
    assert explorer.run(visible) and not explorer.run(f"return {box}.disabled")
    assert explorer.run(SHOWN)["efficiency"].startswith(format_percent(shared))
    explorer.run(f"{box}.click()")
    assert explorer.run(SHOWN)["efficiency"].startswith(format_percent(alone))


def typed(explorer: Browser, name: str, text: str) -> None:
    explorer.run(
        "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
        "e.dispatchEvent(new Event('change'))",
        f"explorer-{name}-text",
        text,
    )


def test_a_slider_s_move_shows_what_the_models_say(explorer: Browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    def find(css: str):
        return explorer.driver.find_element(By.CSS_SELECTOR, css)

    def shown() -> dict[str, str]:
        return {name: text for name, text in explorer.run(SHOWN).items() if name != "words"}

    work, size, serial, ranks = (
        limits[2] for limits in (EXPLORER.work_s, EXPLORER.bytes, EXPLORER.serial, EXPLORER.ranks)
    )
    assert shown() == expected(0, work, size, serial, ranks)
    before = explorer.run(SHOWN)["words"]
    find("#explorer-ranks").send_keys(Keys.ARROW_RIGHT * 3)
    assert shown() == expected(0, work, size, serial, 7)
    find("#explorer-work").send_keys(Keys.HOME)
    assert shown() == expected(0, EXPLORER.work_s[0], size, serial, 7)
    find("#explorer-bytes").send_keys(Keys.HOME)
    find("#explorer-serial").send_keys(Keys.END)
    assert shown() == expected(0, EXPLORER.work_s[0], 0, 1.0, 7)
    for name, text in (("work", "250ms"), ("bytes", "40kB"), ("serial", "2%"), ("ranks", "3")):
        box = find(f"#explorer-{name}-text")
        box.clear()
        box.send_keys(text + Keys.ENTER)
    find("#explorer-machine").send_keys("nodes")
    assert shown() == expected(3, 0.25, 40000, 0.02, 3)
    answer = explorer.run(SHOWN)["words"]
    assert (
        before != answer
        and format_seconds(times(Algorithm(0.25, 40000, 0.02), MACHINES[3], 3).total) in answer
    )
    explorer.until("return document.querySelector('.widget [aria-live]').textContent.includes('speed-up')")
    # an infinite time or size would have an infinite axis
    for name, text in (("work", "-3"), ("work", "1e999"), ("work", "1e9s"), ("bytes", "1e999")):
        box = find(f"#explorer-{name}-text")
        box.clear()
        box.send_keys(text + Keys.ENTER)
        assert box.get_attribute("aria-invalid") == "true" and shown() == expected(3, 0.25, 40000, 0.02, 3)


@pytest.mark.slow
def test_what_is_typed_may_lie_beyond_the_sliders(explorer: Browser, golden: Golden):
    from selenium.webdriver.common.by import By

    for name, text in (("work", "2h"), ("bytes", "1GB"), ("ranks", "100000"), ("work", "1ns")):
        box = explorer.driver.find_element(By.CSS_SELECTOR, f"#explorer-{name}-text")
        box.clear()
        box.send_keys(text + "\n")
        for over in ("ranks", "bytes"):
            explorer.run(f"document.querySelector('[data-over={over}]').click()")
            assert "NaN" not in explorer.run("return document.querySelector('.charts').outerHTML")
    shown = {name: text for name, text in explorer.run(SHOWN).items() if name != "words"}
    assert shown == expected(0, 1e-9, 1_000_000_000, EXPLORER.serial[2], 100_000)
    golden("beyond.txt", explorer.run("return document.querySelector('.answer .note').textContent"))


@pytest.mark.slow
def test_a_press_in_a_chart_moves_the_dot_and_the_answer(explorer: Browser):
    explorer.run("document.querySelector('.charts').scrollIntoView({block: 'center', behavior: 'instant'})")
    for name in ("bytes", "ranks"):
        explorer.run(f"document.querySelector('[data-over={name}]').click()")
        x, y, w, h = explorer.run(
            f"const b = {PLANE}.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]"
        )
        before = explorer.run(SHOWN)
        for kind in ("mousePressed", "mouseReleased"):
            explorer.mouse(kind, x + w * 0.8, y + h * 0.2, button="left", clickCount=1)
        after = explorer.run(SHOWN)
        assert after["efficiency"] != before["efficiency"]
        dot = explorer.run(
            f"const b = {PLANE}.querySelector('.here').getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]"
        )
        assert math.dist(dot, (x + w * 0.8, y + h * 0.2)) < 10, name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "dark", "mobile"), [(1280, True, False), (390, False, True), (320, False, True)]
)
def test_it_fits_the_screen(browser: Browser, page: Path, width, dark, mobile):
    browser.shape(width, 844, dark, mobile)
    browser.open(page, figures=False)
    browser.until("return document.querySelectorAll('.widget.on .sketch path').length > 20")
    assert browser.run("return document.documentElement.scrollWidth") <= width
    cut = browser.run(
        "return [...document.querySelectorAll('.sketch text')].filter(t => {"
        "const p = t.getBoundingClientRect(), q = t.closest('svg').getBoundingClientRect();"
        "return p.left < q.left - 1 || p.right > q.right + 1 || p.top < q.top - 1 || p.bottom > q.bottom + 1;"
        "}).map(t => t.textContent)"
    )
    assert cut == [] and browser.console() == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 800, 390, 320])
def test_answers_stay_in_their_card_and_numbers_with_their_units(browser: Browser, page: Path, width):
    """Each value with its interval, on a machine whose fit has intervals."""
    browser.shape(width, 844, mobile=width < 500)
    browser.open(page, figures=False)
    browser.until("return document.querySelectorAll('.widget.on .sketch path').length > 20")
    browser.run(
        "const s = document.getElementById('explorer-machine'); s.value = 1;"
        "s.dispatchEvent(new Event('change'))"
    )
    typed(browser, "ranks", "2")
    seen = browser.run(
        """const answers = [...document.querySelectorAll('.widget dd')];
        const edge = document.querySelector('.widget').getBoundingClientRect().right - 10;
        const lines = text => {
          const range = document.createRange();
          range.selectNodeContents(text);
          return new Set([...range.getClientRects()].map(r => Math.round(r.top))).size;
        };
        return {
          small: answers.filter(d => d.querySelector('small')).length,
          beyond: answers.filter(d => [d, ...d.children].some(e => e.getBoundingClientRect().right > edge))
            .map(d => d.textContent),
          broken: answers.filter(d => d.querySelector('small') && lines(d.firstChild) > 1)
            .map(d => d.textContent),
        }"""
    )
    assert seen["small"] >= 5
    assert seen["beyond"] == seen["broken"] == []


@pytest.mark.slow
def test_every_control_has_a_name(explorer: Browser):
    nameless = explorer.run(
        "return [...document.querySelectorAll('.widget :is(input, select, button, svg[role])')].filter("
        "e => !(e.getAttribute('aria-label') || e.labels?.length || e.textContent.trim())"
        ").map(e => e.outerHTML)"
    )
    assert nameless == []


@pytest.mark.slow
def test_without_javascript_a_table_answers(browser: Browser, page: Path):
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(page, figures=False)
    root = browser.send("DOM.getDocument", depth=0)["root"]["nodeId"]
    table = browser.send("DOM.querySelector", nodeId=root, selector=".widget .values table")["nodeId"]
    assert browser.send("DOM.getBoxModel", nodeId=table)["model"]["height"] > 60


SCALED = """const [spec, factors] = arguments; return hockney.scaledTimes(spec, factors)"""
JACOBI = {
    "iterations": 10,
    "grid": "2d",
    "phase": [
        {"name": "sweep", "work": "10ms / ranks", "neighbors": "grid", "bytes": 80_000},
        {"allreduce": 8},
    ],
}


def test_the_explorer_of_a_described_program(browser: Browser, tmp_path: Path):
    """At its factors it has the predicted times; between them a slower computation scales better."""
    description, platform = parse_description(JACOBI, "jacobi"), simulated.platform("t3d")
    costs = Communication(costs_of_description(platform), platform=platform)
    widget = scaling_explorer("jacobi", description, costs, 4, platform.capacity)
    page = replace(sample(), sections=(Section("What if", widget=widget),))
    browser.open(write(page, tmp_path / "report.html"), figures=False)
    browser.until("return document.querySelectorAll('.widget.on').length === 1")
    data = dict(widget.data)
    assert data["ranks"] == [1, 2, 4, 8, 16]
    for factors in ((1, 1, 1), (1 / 8, 8, 1), (8, 1, 1 / 8)):
        found = browser.run(SCALED, data, factors)
        slowed = with_faster_network(costs, *factors[1:])
        for ranks, seconds in zip(data["ranks"], found, strict=True):
            iteration = description.iteration(ranks).with_computation(factors[0])
            expected = 10 * iteration_time(iteration, slowed, follow_links=False).seconds
            assert seconds == pytest.approx(expected, rel=1e-9)
    rows = "return [...document.querySelectorAll('.live tbody tr')].map(r => r.lastChild.textContent)"
    before = browser.run(rows)
    browser.run(
        "const s = document.querySelector('.widget input[type=range]');"
        "s.value = s.max; s.dispatchEvent(new Event('input'))"
    )
    after = browser.run(rows)
    assert before[0] == after[0] == "100%"
    assert all(float(b[:-1]) > float(a[:-1]) for a, b in zip(before[1:], after[1:], strict=True))
    assert browser.run("return document.querySelector('[data-factor=computation]').textContent") == "× 8"
    assert browser.console() == []
