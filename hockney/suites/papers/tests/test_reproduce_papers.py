# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Reproductions of papers, with invented answers and simulated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from paper_answers import Time, answers, documented, held, of
from real_mpi import simgrid_here

from hockney.core.case import Case
from hockney.models.barriers import traffic
from hockney.report.render import render
from hockney.reproductions import Part, all_papers
from hockney.reproductions.all_papers import PaperResult
from hockney.store import RunFolder
from hockney.suites.npb.reproductions import ethernet_kernels
from hockney.suites.papers.reproductions import ethernet, sun


def exchange(slip: float = 0.0) -> Time:
    """Equation 3 and an even division of work, with 4 processes' pairs overlapping by `slip` seconds."""

    def time(part: Part, case: Case) -> float:
        even = float(case["work"]) / case.ranks if case.workload == "granularity" else 0.0
        return even + 2 * (1500e-6 + 5e-6 * case.ranks / 2 * case.bytes / 4) - slip * (case.ranks == 4)

    return time


def test_the_exchange_of_the_paper_is_accepted_and_a_slipping_one_is_not():
    assert all(held(sun, exchange()).values())
    found = held(sun, exchange(1e-3))
    assert {code for code in found if not found[code]} == {"equation-3", "equation-2", "break-even"}


def test_break_even_is_found_between_the_simulated_works():
    rows = {row.key: row for row in sun.compare(answers(sun, exchange()))}
    for p, words in ((2, 1), (2, 10000), (4, 1), (4, 10000), (8, 1)):
        row = rows[f"granularity/break-even/{p}/{words}"]
        assert row.simulated == pytest.approx(row.published, rel=1e-6)
        assert row.published == pytest.approx(p / (p - 1) * sun.exchange_s(p, words))


def test_the_exchange_is_predicted_from_the_parameters_and_its_variants_are_marked():
    compared = sun.compare(answers(sun, exchange()))
    predicted = {row.key for row in compared if row.status == "predicted"}
    assert predicted and not any("/2/" in key for key in predicted), (
        "two processes follow from t_start and t_w"
    )
    assert {row.status for row in compared if row.mechanism} == {"variant", "fitted"}


def on_ethernet(message_s: float) -> Time:
    """A medium that each message occupies for this long."""

    def time(part: Part, case: Case) -> float:
        if case.workload != "barrier":
            return message_s
        algorithm = case["algorithm"]
        counted = "recursive_doubling" if algorithm == "mpi" else str(algorithm)
        return traffic(counted, case.ranks).messages * message_s

    return time


def test_one_message_on_the_switched_ethernet_makes_its_barriers():
    codes = "message", "barriers-of-messages", "others-consistent", "mpi-barrier"
    assert of(held(ethernet, on_ethernet(1.2e-3)), *codes) == [True, True, True, False]
    assert of(held(ethernet, on_ethernet(1.35e-3)), *codes) == [False, False, False, False]
    same = of(held(ethernet, lambda part, case: 1.2e-3), *codes)
    assert same == [True, False, False, False], "barriers cost more than a message"


def test_an_mpi_barrier_with_twice_the_messages_is_that_of_the_paper():
    def time(part: Part, case: Case) -> float:
        return on_ethernet(1.2e-3)(part, case) * (2 if case.get("algorithm") == "mpi" else 1)

    assert of(held(ethernet, time), "mpi-barrier") == [True]


def test_a_broadcast_of_one_message_explains_the_tournament():
    """P messages; with P-1 for the broadcast it ties with the trees."""

    def time(part: Part, case: Case) -> float:
        if part.name == ethernet.MEDIUM_PART:
            return 1.2e-3 * case.ranks
        return on_ethernet(1.2e-3)(part, case)

    codes = (
        "tournament-one-message",
        "tournament-single-messages",
        "tournament-wins",
        "tournament-wins-broadcast",
    )
    found = of(held(ethernet, time), *codes)
    assert found == [True, False, False, False], "a tree that ends with a broadcast is as fast"
    assert of(held(ethernet, on_ethernet(1.2e-3)), *codes) == [False, False, False, False]


@pytest.mark.parametrize(
    ("processes", "messages"), [(1, 0), (2, 2), (3, 4), (4, 8), (5, 10), (12, 32), (16, 64)]
)
def test_messages_of_a_hypercube(processes, messages):
    assert ethernet.message_count("mpi", processes) == messages


def test_every_printed_barrier_is_beside_its_own_algorithm():
    """Rows are found by the engine's case: a row of one algorithm never has another's time."""
    compared = ethernet.compare(answers(ethernet, on_ethernet(1.2e-3)))
    rows = [row for row in compared if row.key.startswith("barriers/table/") and row.status != "variant"]
    assert len(rows) == 6 * 8
    for row in rows:
        if row.key.endswith("/1"):
            assert row.simulated is None, "there is no message"
        elif "/tournament/" in row.key:
            p = int(row.key.rpartition("/")[2])
            assert row.simulated / row.model == pytest.approx(2 * (p - 1) / p), "its broadcast counts once"
        else:
            assert row.simulated == pytest.approx(row.model)


def test_several_papers_have_one_table():
    results = []
    for study in (sun, ethernet):
        given = answers(study, exchange() if study is sun else on_ethernet(1.2e-3))
        compared = study.compare(given)
        results.append(PaperResult(study, compared, study.checks(given, compared), "r.html"))
    statements = [row[2] for row in all_papers.papers_table(results).rows]
    told = [[check for check in result.checks if check.where and not check.fitted] for result in results]
    held = [sum(check.holds for check in checks) for checks in told]
    assert [int(cell.split(" of ")[0]) for cell in statements] == held
    page = all_papers.papers_page(results)
    assert render(page) and str(sum(held)) in page.headline[0]


def test_the_first_screen_has_every_time_and_names_the_misses():
    """One of the algorithms takes twice as long; all others are as printed."""

    def time(part: Part, case: Case) -> float:
        seconds = on_ethernet(1.2e-3)(part, case)
        return 2 * seconds if case.get("algorithm") == ethernet.ENGINE_NAMES["n-way"] else seconds

    given = answers(ethernet, time)
    compared = ethernet.compare(given)
    page = ethernet.page(given, compared, ethernet.checks(given, compared))
    figure = page.lead
    points = [s for s in figure.series if s.kind == "points"]
    timed = [row for row in compared if row.unit == "s"]
    rows = [row for row in timed if row.status != "variant" and row.simulated and row.published]
    drawn = sorted((x, y) for s in points for x, y in zip(s.x, s.y, strict=True))
    assert drawn == sorted((row.published, row.simulated) for row in rows)
    off = {row.what for row in rows if abs(row.error) > 0.25}
    (missed,) = (s for s in points if set(s.detail) & off)
    assert set(missed.detail) == off and any("N-way" in what for what in off)
    for group in {what.rpartition(", ")[0] for what in off}:
        assert group in figure.caption
    assert not any(symbol in " ".join(page.headline) for symbol in ("Holds", "rows"))


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    """reproduced("sun", capsys): computed once."""
    simgrid_here()
    folder = tmp_path_factory.mktemp("reproduced")
    made: dict[str, dict] = {}
    small = {name: replace(each, size="S") for name, each in ethernet_kernels.BENCHMARKS.items()}

    def once(name: str, capsys: pytest.CaptureFixture[str]) -> dict:
        if name not in made:
            with pytest.MonkeyPatch.context() as patch:  # not for tests that run in between
                patch.setattr(ethernet_kernels, "BENCHMARKS", small)
                made[name] = documented(name, folder, capsys)
        return made[name]

    return once


@pytest.mark.simgrid
def test_every_limit_of_the_bus_holds(reproduced, capsys):
    document = reproduced("sun", capsys)
    assert [check["found"] for check in document["checks"] if not check["holds"]] == []
    assert document["code"] == 0 and document["left"] == 0


@pytest.mark.simgrid
@pytest.mark.slow(30)
def test_the_barriers_of_the_switched_ethernet_are_as_printed_and_its_benchmarks_verify(reproduced, capsys):
    document = reproduced("ethernet", capsys)
    held = {check["code"]: check["holds"] for check in document["checks"]}
    assert held["message"] and held["barriers-of-messages"]
    assert held["tournament-one-message"] and not held["tournament-single-messages"]
    assert not held["tournament-wins-broadcast"] and not held["tournament-wins"], "a tree is as fast"
    assert document["left"] == 0
    kernels = RunFolder.open(Path(document["out"]) / ethernet_kernels.KERNELS).read().run
    assert len(kernels.records) == len(ethernet_kernels.BENCHMARKS) * len(ethernet_kernels.PROCESSES)
    for record in kernels.records:
        assert record.verified.bytes > 0 and record.verified.errors == 0
        assert record.verified.runs == record.verified.of_runs == record.parse_case().ranks
    skeleton = RunFolder.open(Path(document["out"]) / ethernet_kernels.SWITCH).read().run
    assert {record.verified.bytes for record in skeleton.records} == {0}


@pytest.mark.simgrid
@pytest.mark.slow(60)
def test_of_five_speed_ups_one_is_as_the_paper_states(tmp_path, capsys):
    """Messages of 1.2 ms cost too much for the others, whichever way they pass."""
    simgrid_here()
    document = documented("ethernet", tmp_path, capsys)
    assert document["code"] == 1 and document["left"] == 0
    held = {check["code"]: check["holds"] for check in document["checks"]}
    assert [name for name in ethernet_kernels.BENCHMARKS if held[f"speed-up-{name}"]] == ["ep"]
    rows = [row for row in document["compared"] if row["key"].startswith("barriers/speedup/")]
    medium = {row["key"].split("/")[2]: row["simulated"] for row in rows if not row["mechanism"]}
    switch, four = (
        {row["key"].split("/")[2]: row["simulated"] for row in rows if row["mechanism"] == title}
        for _, title in (
            ethernet_kernels.NETWORKS[name]
            for name in (ethernet_kernels.SWITCH, ethernet_kernels.FOUR_PER_NODE)
        )
    )
    assert medium["ep"] > 15 and switch["ep"] > 15 and four["ep"] > 15
    assert 3 < medium["bt"] < switch["bt"] < 9
    for name in ("cg", "mg", "lu"):
        assert medium[name] < switch[name] < 6.4, name


def errors(document: dict, status: str, start: str = "") -> dict[str, float]:
    rows = [row for row in document["compared"] if row["status"] == status and row["key"].startswith(start)]
    return {row["key"]: row["error"] for row in rows if not start or row["table"]}


@pytest.mark.simgrid
def test_the_exchange_is_right_at_a_hundred_words_for_its_bus_alone(reproduced, capsys):
    """At L = 100, whole messages taking turns, and slipping apart, are visible; starting with a barrier is
    good enough."""
    document = reproduced("sun", capsys)
    key = "granularity/formula/exchange/4/100"
    found = {row["mechanism"]: row["error"] for row in document["compared"] if row["key"] == key}
    assert abs(found.pop("")) < 0.03
    assert abs(found.pop(sun.VARIANTS["barrier"][2])) < 0.03
    assert len(found) > 1 and all(error < -0.04 for error in found.values()), found


@pytest.mark.simgrid
@pytest.mark.slow(30)
def test_a_switch_would_make_barriers_far_too_fast(reproduced, capsys):
    found = errors(reproduced("ethernet", capsys), "variant", "barriers/table/mpi/")
    several = [error for key, error in found.items() if not key.endswith("/1")]
    assert all(error < -0.8 for error in several) and len(several) == 7
