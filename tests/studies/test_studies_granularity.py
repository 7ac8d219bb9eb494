# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Granularity on the fake machine, from the plan to the page: results agree with the world."""

import re
from dataclasses import replace
from types import SimpleNamespace

import msgspec
import pytest
from golden_files import replaced
from granular import CATALOG, MACHINE, SMALL, STUDY, Odd, evidence, run

from hockney import models
from hockney.core.fit import UsedSurvey
from hockney.core.record import Record
from hockney.draw.figure import Figure
from hockney.launch.fake import Fault
from hockney.launch.fake_world import World
from hockney.models.applications.grain_prediction import predict
from hockney.pages.format import quantity
from hockney.pages.labels import case_labels
from hockney.studies import Evidence, Options
from hockney.studies.granularity import columns, costs, headline, results, validation
from hockney.studies.granularity.caveats import oversubscribed_caveat
from hockney.studies.granularity.columns import points_text

WORLD = World()
measured_numbers = replaced(r"\d+\.\d+( [num]?s\b|%)?|\d+ [num]s\b", "N")
checked_figures = {"validation", "validation-error"}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Evidence:
    return evidence(run(tmp_path_factory.mktemp("granularity") / "r"))


@pytest.fixture(scope="module")
def page(made):
    return STUDY.page(made)


def truth(cell: results.Cell) -> float:
    """Equation 6 with the world's own numbers."""
    work, p = cell.work_s, cell.ranks
    share = (1 - cell.serial) * cell.imbalance * work / p
    return work / (p * (cell.serial * work + share + 2 * WORLD.message(cell.bytes)))


def checked_of(made: Evidence):
    messages = costs.run_costs(made).messages
    assert messages is not None
    return validation.check(made, results.cells(made), messages, made.cores)


def odd(tmp_path, **fields) -> Evidence:
    options = replace(SMALL, ranks=(2,))
    return evidence(run(tmp_path / "r", options, Odd(**fields)))


def table(page, name: str):
    return next(t for s in page.sections for t in s.tables if t.name == name)


def agreement_section(page):
    """The section that compares predicted and measured efficiencies."""
    return next(s for s in page.sections if "validation" in [f.name for f in s.figures])


def figures(page) -> dict[str, Figure]:
    return {f.name: f for s in page.sections for f in s.figures}


def test_measured_efficiencies_are_the_worlds(made):
    found = results.cells(made)
    planned = [c for c in STUDY.plan(SMALL, CATALOG, MACHINE) if c.workload == "granularity"]
    assert len(found) == len(planned) == 2 * (3 * (1 + 3 + 3) + 3)
    within = 0
    for cell in found:
        assert cell.efficiency.value == pytest.approx(truth(cell), rel=0.03)
        within += cell.efficiency.low <= truth(cell) <= cell.efficiency.high
    assert within >= 0.85 * len(found), "95% intervals hold the truth"


def test_predictions_from_the_ping_pong_alone_agree(made):
    checked = checked_of(made)
    found = validation.error_summary(checked)
    assert (
        found.is_within_limits
        and found.typical < 0.01
        and found.worst < 0.05
        and found.cell_count == len(checked)
    )
    for each in checked:
        assert each.predicted.value == pytest.approx(truth(each.cell), abs=0.01)
        assert each.predicted.low <= each.predicted.value <= each.predicted.high
        assert sum(each.effects.values()) == pytest.approx(each.error, abs=1e-12)
        assert not each.failed_assumption and not each.is_crowded


def test_a_length_where_the_line_changes_has_a_wide_interval(tmp_path):
    options = Options(ranks=(2,), sizes=(4000,), parameters={"work": (1e-5,), "serial": (0.0,)})
    made = evidence(run(tmp_path / "r", options))
    checked = checked_of(made)[0]
    assert checked.failed_assumption == "exchange", (
        "the fit takes the longer line from the middle of 2 and 4 KiB on"
    )
    assert checked.predicted.low < checked.predicted.high - 0.1
    assert checked.predicted.low <= truth(checked.cell) <= checked.predicted.high
    assert checked.change_bounds == (2048, 4096)
    measured = columns.measurements_text(checked, "exchange")
    assert measured in agreement_section(STUDY.page(made)).text[-1]
    assert (
        quantity(checked.model_s, "s") in measured
        and quantity(checked.components.exchange_s, "s") in measured
    )


@pytest.mark.parametrize(
    ("wrong", "names"),
    [({"slow": 8.0}, "exchange"), ({"together": 1.4}, "together"), ({"extra_s": 2e-5}, "sum")],
)
def test_the_assumption_that_breaks_is_named(tmp_path, wrong, names):
    made = odd(tmp_path, **wrong)
    broken = {each.failed_assumption for each in checked_of(made)} - {""}
    assert broken == {names}
    page = STUDY.page(made)
    rows = {row[1]: row for row in table(page, "assumptions").rows}
    verdicts = {assumed: row[-1] for assumed, row in rows.items()}
    assumption = columns.ASSUMPTIONS[names]
    assert [assumed for assumed, verdict in verdicts.items() if verdict == "breaks"] == [assumption]
    assert columns.FAILURES[names] in page.headline[-1]
    checked = [cell for cell in checked_of(made) if cell.failed_assumption]
    worst = max(checked, key=lambda cell: abs(cell.error))
    reason = agreement_section(page).text[-1]
    assert f" {len(checked)} " in reason and f" {points_text(validation.LARGE_ERROR)} " in reason
    assert columns.FAILURES[names] in reason and columns.measurements_text(worst, names) in reason


def test_other_programs_that_take_the_cores_are_named(made):
    run_ = made.run
    closes = tuple(msgspec.structs.replace(c, outside_cores=2.5) for c in run_.closes)
    slow = {
        s.case: msgspec.structs.replace(
            s, typical=msgspec.structs.replace(s.typical, value=4 * s.typical.value)
        )
        for s in made.fits.summaries
        if s.case.startswith("granularity")
    }
    summaries = [slow.get(s.case, s) for s in made.fits.summaries]
    loaded = replace(
        made,
        run=replace(run_, closes=closes),
        fits=msgspec.structs.replace(made.fits, summaries=summaries),
    )
    breaks = {
        (each.cell.ranks, each.failed_assumption) for each in checked_of(loaded) if each.failed_assumption
    }
    assert breaks == {(4, "cores"), (2, "cores")}, "2 ranks and a load of 2.5 do not fit 4 cores either"


def test_one_busy_launch_of_three_is_not_the_typical_one(made):
    first = min(made.run.launches, key=lambda launch: launch.index).index
    busy = {launch.launch for launch in made.run.launches if launch.index - first < 3}
    closes = tuple(
        msgspec.structs.replace(c, outside_cores=3.0 if c.launch in busy else 0.25) for c in made.run.closes
    )
    found = results.cells(replace(made, run=replace(made.run, closes=closes)))
    assert {cell.outside_cores for cell in found} == {0.25}


def test_single_runs_are_over_their_own_rounds_time_on_one_rank(made):
    slow = {launch.launch for launch in made.run.launches if launch.index < 3}
    records = tuple(
        msgspec.structs.replace(r, times_s=[2 * t for t in r.times_s]) if r.launch in slow else r
        for r in made.run.records
    )
    twice = results.cells(replace(made, run=replace(made.run, records=records)))
    for before, after in zip(results.cells(made), twice, strict=True):
        assert len(after.efficiencies_by_launch) == 3
        for then, now in zip(before.efficiencies_by_launch, after.efficiencies_by_launch, strict=True):
            assert now == pytest.approx(then), "a slow round is slow on one rank too"
    kept = tuple(r for r in made.run.records if r.launch not in slow or not r.case.startswith("compute"))
    for cell in results.cells(replace(made, run=replace(made.run, records=kept))):
        pooled = [one for one in cell.one_rank_times_s if one == cell.one_rank.value]
        assert len(cell.one_rank_times_s) == 3 and pooled, "where a round has none, that of all rounds"


def missed(record: Record, error: float, clock: str = "thread") -> Record:
    """The record of a computing case, changed as if it had missed its preset by `error`."""
    if "work_error" not in record.metrics:
        return record
    series = msgspec.structs.replace(record.metrics["work_error"], values=[error])
    metrics = record.metrics | {"work_error": series}
    return msgspec.structs.replace(record, metrics=metrics, labels={"work_clock": clock})


def test_what_computing_missed_has_its_clock(made, page):
    rows = table(page, "presets").rows
    assert {row[0] for row in rows} == {"1", "2", "4"}
    assert not table(page, "presets").caption.endswith(columns.WALL)
    walled = tuple(missed(r, 0.004, "wall") for r in made.run.records)
    presets = table(STUDY.page(replace(made, run=replace(made.run, records=walled))), "presets")
    assert all(row[2:] == ("0.4%", "0.4%", "wall") for row in presets.rows), "below what is a doubt, too"
    assert presets.caption.endswith(columns.WALL)


def test_what_the_run_measured_of_its_own_prediction(made, page, tmp_path, golden):
    long = evidence(run(tmp_path / "r", Options(ranks=(4,), sizes=(16384,), parameters={"work": (1e-4,)})))
    sharing = [costs.run_costs(run_).messages.sharing for run_ in (made, long)]
    assert sharing[0] != "measured" == sharing[1], "the first run's messages are too short to tell"
    pages = {"short messages": page, "long messages": STUDY.page(long)}
    golden("granularity/basis.json", {name: agreement_section(p).text[0] for name, p in pages.items()})


def test_more_ranks_than_cores_lose_efficiency(tmp_path):
    options = Options(ranks=(2, 4), sizes=(4,), parameters={"work": (1e-4,)})
    made = evidence(run(tmp_path / "r", options, cores=2))
    page = STUDY.page(made)
    messages = costs.run_costs(made).messages
    four = next(each for each in checked_of(made) if each.cell.ranks == 4 and each.cell.is_even)
    row = predict(four.cell.algorithm, messages, [4]).rows[0]
    assert four.predicted.value == row.efficiency.value <= 0.5, "as 'hockney predict' has it"
    assert sum(four.effects.values()) == pytest.approx(four.error, abs=1e-12)
    assert (
        results.predicted_work(messages, 4, 4, 0.9).never
        and not results.predicted_work(messages, 4, 4, 0.25).never
    )
    caveat = next(w for w in page.warnings if w.code == "oversubscribed")
    assert caveat == oversubscribed_caveat([4], 2) and "(50.0% on 4 ranks)" in caveat.text
    assert page.headline[0].startswith("2 "), "the answer is for ranks that have a core each"


def test_the_page_has_every_figure(page):
    found = figures(page)
    assert set(found) == {
        "efficiency-2", "efficiency-4", "efficiency-collapsed", "efficiency-runs-2", "efficiency-runs-4",
        "serial-2", "serial-4", "validation", "validation-error", "paper-efficiency",
        *(f"levels-serial-{who}-{words}" for who in ("here", "paper") for words in (1, 10000)),
        "levels-ranks-here", "levels-ranks-paper",
    }  # fmt: skip
    for figure in found.values():
        for series in figure.series:
            assert series.x and len(series.x) == len(series.y) == len(series.low or series.y)
            bands = zip(series.low, series.y, series.high, strict=True) if series.low else ()
            assert all(low <= y <= high for low, y, high in bands)


def test_tables_are_whole(page):
    tables = [t for section in page.sections for t in section.tables]
    for each in tables:
        assert each.rows and {len(row) for row in each.rows} == {len(each.columns)}
    names = [t.name for t in tables]
    assert {"grain", "assumptions", "cells-2", "cells-4", "uneven", "exchanges", "messages", "paper"} <= set(
        names
    )
    assert len(names) == len(set(names))
    rows = table(page, "cells-4").rows
    assert len(rows) == 24
    for row in rows:
        assert float(row[4]) == pytest.approx(4 * float(row[5].rstrip("%")) / 100, abs=0.01), "speed-up"


def test_single_runs_are_drawn_thinned_with_the_slowest_and_the_fastest(made, page):
    cloud = next(s for s in figures(page)["efficiency-runs-2"].series if s.name == "single runs")
    cell = next(c for c in results.cells(made) if (c.ranks, c.bytes, c.work_s, c.serial) == (2, 4, 1e-4, 0))
    shown = [y for x, y in zip(cloud.x, cloud.y, strict=True) if x == 1e-4]
    assert len(shown) == 40 < len(cell.run_efficiencies)
    assert min(shown) == min(cell.run_efficiencies) and max(shown) == max(cell.run_efficiencies)


def test_many_rounds_are_drawn_over_time(tmp_path, page):
    assert "efficiency-period" not in figures(page)
    options = Options(ranks=(2,), sizes=(4,), parameters={"work": (1e-5, 1e-4)})
    made = evidence(run(tmp_path / "r", options, launches=6, budget_s=60.0))
    fine, coarse = figures(STUDY.page(made))["efficiency-period"].series
    assert (fine.name, coarse.name) == ("T = 10.0 us", "T = 100 us")
    assert len(fine.x) == 6 and min(fine.x + coarse.x) == 0 and fine.x == tuple(sorted(fine.x))
    assert all(low <= y <= high for low, y, high in zip(fine.low, fine.y, fine.high, strict=True))
    assert all(low < high for low, high in zip(fine.low, fine.high, strict=True))


def test_the_headline_has_grain_break_even_and_agreement(made, page, golden):
    shares = [re.findall(r"([\d.]+)% \(95%", sentence) for sentence in page.headline]
    finest = next(float(percents[0]) for percents in shares if percents)
    assert finest / 100 == pytest.approx(1e-5 / (1e-5 + 4 * WORLD.message(4)), rel=0.03)
    even = next(re.search(r" 40000 B .*?([\d.]+) us", s) for s in page.headline if " 40000 B" in s)
    assert float(even[1]) * 1e-6 == pytest.approx(4 * WORLD.message(40000), rel=0.05)
    assert page.headline[-1] == headline.agreement_sentence(checked_of(made), 4)
    assert headline.agreement_sentence(checked_of(made), 2) in agreement_section(page).text
    golden("granularity/headline.txt", "\n".join(page.headline), measured_numbers)


@pytest.mark.parametrize(
    ("errors", "limits"),
    [((1, 2, 3), ("3", "10")), ((1, 2, 30), ("10",)), ((1, 5, 6), ("3",)), ((10, 20, 30), ("3", "10"))],
)
def test_the_agreement_names_only_the_limits_that_are_exceeded(errors, limits):
    cells = [
        SimpleNamespace(cell=SimpleNamespace(ranks=4), error=error / 100, failed_assumption="")
        for error in errors
    ]
    (named,) = re.findall(r"limits? of (\d+)(?: and (\d+))?", headline.agreement_sentence(cells, 4))
    assert tuple(each for each in named if each) == limits


def test_uneven_work_is_predicted_from_its_imbalance(made, page):
    rows = table(page, "uneven").rows
    uneven = [c for c in results.cells(made) if not c.is_even]
    assert len(rows) == len(uneven) == 6
    for row, cell in zip(rows, uneven, strict=True):
        assert cell.imbalance > 1.05 and row[2] == f"{cell.imbalance:.3f}"
        assert float(row[5].rstrip("%")) < float(row[9].rstrip("%")), "less efficient than even work"


def test_the_explorer_has_this_machine_first_and_every_described_one(page):
    data = page.lead.data
    here, *others = data["machines"]
    assert here["name"] == "fakehost"
    assert here["pieces"][0][1] == pytest.approx(WORLD.segments[0].latency_s, rel=0.05)
    assert here["most_ranks"] == 4 and here["most_bytes"] == 4 << 20
    suns = next(m for m in others if m["name"] == "sun-ethernet")
    assert suns["shared"] and suns["pieces"] == [(0, 0.0015, 1.25e-6)] and "printed" in suns["note"]
    assert "guess" in next(m["note"] for m in others if m["name"] == "ibm-sp")
    low, high, first = data["work_s"]
    assert low < first < high == 1000
    assert data["ranks"][1] >= max(m["most_ranks"] for m in data["machines"])


def test_the_survey_that_is_given_predicts_and_not_the_run(made, tmp_path):
    slow = World(segments=tuple(replace(p, latency_s=10 * p.latency_s) for p in WORLD.segments))
    options = Options(ranks=(2,), sizes=(4,), parameters={"work": (1e-4,)})
    survey = evidence(run(tmp_path / "survey", options, slow))
    surveyed = UsedSurvey(survey.fits, survey.machine, "runs/slow")
    asked = replace(options, survey=surveyed)
    assert not [c for c in STUDY.plan(asked, CATALOG, MACHINE) if c.workload == "pingpong"]
    slowed = replace(evidence(run(tmp_path / "r", asked)), survey=surveyed)
    messages = costs.run_costs(slowed).messages
    assert messages.source.endswith(" runs/slow")
    assert messages.one_way(4) == pytest.approx(slow.message(4), rel=0.05)
    assert {each.failed_assumption for each in checked_of(slowed)} == {"exchange"}


def test_works_follow_from_a_survey(made):
    options = Options(ranks=(2,), survey=UsedSurvey(made.fits, made.machine, "runs/it"))
    works = sorted({c.number("work") for c in STUDY.plan(options, CATALOG, MACHINE)} - {0})
    assert works[-1] == 1e-3, "19 times the break-even work of 10000 words is 0.5 ms"


@pytest.mark.slow
def test_a_partial_run_still_has_a_page(made):
    for kept in range(0, len(made.run.records), 31):
        run_ = replace(made.run, records=made.run.records[:kept])
        page = STUDY.page(replace(made, run=run_, fits=models.fit_all(run_, CATALOG, cores=4)))
        assert page.headline and page.sections


def test_one_rank_alone_has_a_page(tmp_path, golden):
    made = evidence(run(tmp_path / "r", Options(ranks=(1,), parameters={"work": (1e-4,)})))
    page = STUDY.page(made)
    golden("granularity/one_rank_headline.txt", page.headline[0])
    assert costs.run_costs(made).messages is None and checked_figures.isdisjoint(figures(page))
    data = page.lead.data
    first, _ = costs.published_costs()[0]
    assert data["machines"][0]["name"] == first.name
    assert (data["work_s"][2], data["bytes"][2], data["ranks"][2]) == (1e-4, 40_000, 2)


def test_failed_cases_leave_the_rest(tmp_path):
    faults = (
        Fault("refuse", "granularity bytes=4 work=0.0001"),
        Fault("refuse", "compute ranks=1 work=1e-05"),
    )
    made = evidence(run(tmp_path / "r", SMALL, faults=faults))
    found = results.cells(made)
    assert {c.work_s for c in found if c.bytes == 4} == {1e-3}, "no serial time of 10 us, no cell of 100 us"
    page = STUDY.page(made)
    assert any(w.code == "failures" for w in page.warnings) and page.headline


def test_an_exchange_that_was_not_measured_is_no_part_of_an_error(tmp_path):
    made = evidence(run(tmp_path / "r", replace(SMALL, ranks=(2,)), faults=(Fault("refuse", "round_robin"),)))
    for each in checked_of(made):
        assert each.effects["exchange"] is None
        assert sum(part or 0.0 for part in each.effects.values()) == pytest.approx(each.error, abs=1e-12)
    assert "exchanges" not in [t.name for s in STUDY.page(made).sections for t in s.tables]


def test_a_missed_preset_is_a_doubt(tmp_path):
    made = odd(tmp_path)
    assert "preset" not in {w.code for w in STUDY.page(made).warnings}
    bad = tuple(missed(r, 0.2) for r in made.run.records)
    caveat = next(
        w
        for w in STUDY.page(replace(made, run=replace(made.run, records=bad))).warnings
        if w.code == "preset"
    )
    assert "20%" in caveat.text
    lines = {record.case for record in bad}
    assert not any(line in caveat.touches for line in lines), "cases are named in short"
    assert case_labels(made)(next(iter(sorted(lines)))) in caveat.touches


def test_lengths_the_model_does_not_know_are_said(tmp_path):
    made = evidence(run(tmp_path / "r", Options(ranks=(2,), sizes=(8 << 20,), parameters={"work": (1e-2,)})))
    caveat = next(w for w in STUDY.page(made).warnings if w.code == "extrapolated")
    assert "8 MiB" in caveat.touches
