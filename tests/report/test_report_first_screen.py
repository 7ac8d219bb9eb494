# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Pages of the fake machine as seen by readers: the answer and one figure on the first screen, six sheets of
paper at most, details closed, a file small enough to send."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from chromium import Browser
from tiers import slow

from hockney import api, measurement, studies
from hockney.core.settings import Settings
from hockney.core.units import format_percent
from hockney.launch.fake import FakeLauncher
from hockney.models.applications.granularity import Algorithm
from hockney.report import assets
from hockney.studies import Options

pytestmark = pytest.mark.browser
STUDIES = ["survey", *slow("barriers", "granularity", "collectives", "guidelines")]
MOST_SHEETS = 6
MOST_BYTES = 1_300_000
"""The size limit of a page without Plotly's script."""
LEAD = "header .first figure, header .widget"
Written = Callable[[str], Path]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The page of a study on the fake machine, each created once."""
    made: dict[str, Path] = {}

    def page(name: str) -> Path:
        if name not in made:
            bench = measurement.fake_bench(FakeLauncher())
            cases = studies.find_study(name).plan(Options(), measurement.bundled_catalog(), bench.machine)
            more = studies.find_study(name).launch_settings(Options(), bench.machine)
            settings = Settings(name, seed=1, launch_settings=tuple(each.line for each in more))
            folder = measurement.create_run(tmp_path_factory.mktemp(name) / "r", cases, settings, bench)
            measurement.measure(folder, bench, lambda event: None)
            made[name] = api.load(folder.path).report()
        return made[name]

    return page


def sheets(browser: Browser) -> int:
    pdf = browser.send("Page.printToPDF", preferCSSPageSize=True, paperWidth=8.27, paperHeight=11.69)["data"]
    return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(pdf)))


@pytest.mark.parametrize("study", STUDIES)
def test_the_first_screen_has_the_answer_and_one_figure(browser: Browser, written: Written, study: str):
    browser.open(written(study), figures=False)
    browser.until(f"return document.querySelector('{LEAD}')?.matches('.live, .on')", seconds=60)
    top, bottom, answer = browser.run(
        f"const box = document.querySelector('{LEAD}').getBoundingClientRect();"
        "return [box.top, box.bottom, document.querySelector('.headline').getBoundingClientRect().bottom]"
    )
    assert browser.run(f"return document.querySelectorAll('{LEAD}').length") == 1
    assert 0 < answer < 900
    if study == "granularity":  # its sliders and their answer; the charts follow
        bottom = browser.run(
            "return document.querySelector('.widget .answer').getBoundingClientRect().bottom"
        )
    assert 0 < top < bottom <= 900
    assert browser.console() == []


@pytest.mark.parametrize("study", STUDIES)
def test_a_page_is_six_sheets_at_most_and_small(browser: Browser, written: Written, study: str):
    path = written(study)
    browser.open(path, figures=False)
    assert 2 <= sheets(browser) <= MOST_SHEETS
    assert path.stat().st_size - len(assets.plotly_script().base64_gzip) <= MOST_BYTES


@pytest.mark.slow
def test_details_are_closed_until_they_are_opened(browser: Browser, written: Written):
    browser.open(written("survey"), figures=False)
    assert browser.run("return [...document.querySelectorAll('details')].filter(d => d.open).length") == 0
    closed = browser.run("return [...document.querySelectorAll('.closed')].map(d => d.parentElement.id)")
    assert "fitted-parameters" in closed and "collectives" not in closed
    before = sheets(browser)
    browser.run("document.querySelector('nav a[href=\"#fitted-parameters\"]').click()")
    browser.until("return document.querySelector('#fitted-parameters details').open")
    browser.run("for (const details of document.querySelectorAll('details')) details.open = true")
    assert sheets(browser) > before, "what is open is printed"


@pytest.mark.slow
def test_a_figure_in_a_closed_section_comes_alive_when_it_is_opened(browser: Browser, written: Written):
    browser.open(written("barriers"))
    closed = "document.querySelector('.closed:has(figure)')"
    assert browser.run(f"return {closed}.querySelectorAll('.live').length") == 0
    browser.run(f"{closed}.open = true")
    browser.until(f"return {closed}.querySelector('.plot .main-svg')?.getBoundingClientRect().height > 100")
    assert browser.console() == []


@pytest.mark.slow
def test_the_explorer_answers_as_predict_does(browser: Browser, written: Written):
    """For the same run: with ranks that have a core each, and with more."""
    path = written("granularity")
    browser.open(path, figures=False)
    browser.until("return document.querySelectorAll('.widget.on').length === 1")
    for ranks in (2, 8):
        forecast = api.predict(Algorithm(2e-4, 40_000, 0.01), ranks=(ranks,), run=path.parent)
        (row,) = forecast.prediction.rows
        for name, text in (("work", "200us"), ("bytes", "40kB"), ("serial", "1%"), ("ranks", str(ranks))):
            browser.run(
                "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
                "e.dispatchEvent(new Event('change'))",
                f"explorer-{name}-text",
                text,
            )
        shown = browser.run("return document.querySelector('[data-answer=efficiency]').textContent")
        value, low, high = (
            format_percent(v) for v in (row.efficiency.value, row.efficiency.low, row.efficiency.high)
        )
        assert shown == f"{value} (95%: {low} to {high})"


@pytest.mark.slow
def test_the_data_of_a_figure_can_be_taken_away(browser: Browser, written: Written):
    browser.open(written("survey"))
    text = browser.driver.execute_async_script(
        "const done = arguments[0], link = document.querySelector('[data-csv=figure-latency]');"
        "const read = new XMLHttpRequest(); document.querySelector('.data').open = true;"
        "done([link.download, link.href.slice(0, 5), link.parentElement.hidden])"
    )
    assert text == ["latency.csv", "blob:", False]
