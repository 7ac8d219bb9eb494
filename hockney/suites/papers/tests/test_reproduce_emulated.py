# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Reproductions on emulated machines with made-up times: which findings appear on which network, and that the
published, the simulated and the emulated numbers are side by side."""

from __future__ import annotations

import shutil
from dataclasses import replace

import msgspec
import pytest
from emulated_world import Time, answers, ethernet, machine
from paper_answers import CATALOG

import hockney.machines.emulated
from hockney import api, measurement, reproductions
from hockney.core.case import Case
from hockney.report.render import render
from hockney.reproductions import Part
from hockney.store import RunFolder
from hockney.suites.papers.reproductions import emulated, ethernet_emulated, sun_emulated

SUN = reproductions.on_emulated(reproductions.reproduction("sun", CATALOG))("lan:x")
ETHERNET = reproductions.on_emulated(reproductions.reproduction("ethernet", CATALOG))("lan:x")


def nothing(case: Case) -> None:
    return None


def as_printed(part: Part, case: Case) -> float:
    """The simulated SUNs, exactly by equation 3."""
    exchange = 2 * (1500e-6 + 5e-6 * case.ranks / 2 * case.bytes / 4)
    return exchange + (float(case["work"]) / case.ranks if case.workload == "granularity" else 0.0)


def message_by_message(part: Part, case: Case) -> float:
    """The simulated switched Ethernet: a medium that carries one message at a time."""
    time = ethernet(acknowledged=False)
    return time(case) / time(CATALOG.case("pingpong bytes=0 ranks=2")) * 1.2e-3


def holding(study, measured: Time, medium: str = "bus") -> list[bool]:
    given = answers(study, measured, as_printed if study is SUN else message_by_message, medium)
    return [check.holds for check in of_emulated(study, given)]


def of_emulated(study, given):
    """The checks of measured times, without the checks of the simulated machine."""
    simulated = {"equation-3", "message", "barriers-of-messages"}
    return [check for check in study.checks(given, study.compare(given)) if check.code not in simulated]


def test_all_findings_of_the_suns_appear_on_a_bus():
    assert holding(SUN, ethernet()) == [True] * 8


def test_on_a_switch_long_messages_do_not_share_the_cable():
    found = holding(SUN, ethernet(shared=False), "switch")
    assert found == [True, True, False, False, True, True, True, True]


@pytest.mark.parametrize(("shared", "medium"), [(True, "switch"), (False, "bus"), (True, "")])
def test_another_medium_than_the_machine_has_is_a_finding_that_fails(shared, medium):
    for study in (SUN, ETHERNET):
        given = answers(study, ethernet(shared), as_printed, medium)
        assert not emulated.medium_check(given).holds
        assert emulated.costs(given).shared is shared


def test_exchanges_of_more_hosts_that_take_longer_than_predicted_are_noticed():
    assert holding(SUN, ethernet(exchanges=1.1))[1] and not holding(SUN, ethernet(exchanges=1.3))[1]


def test_the_predicted_exchange_is_no_evidence_for_its_prediction():
    """If 4 processes behave as on a switch and 8 as on a cable, the prediction assumes a cable, and is
    wrong."""
    given = answers(SUN, lambda case: ethernet(case.ranks != 4)(case), as_printed)
    assert emulated.prediction_costs(given).shared
    assert not of_emulated(SUN, given)[1].holds


def test_curves_begin_at_two_processes():
    given = answers(ETHERNET, ethernet(), message_by_message)
    page = ETHERNET.page(given, ETHERNET.compare(given), [])
    first = {series.x[0] for series in page.lead.series if not series.name.endswith("published")}
    assert first == {2}


def test_efficiencies_that_do_not_follow_from_the_exchange_are_noticed():
    def slow(case: Case) -> float:
        return ethernet()(case) * (2 if case.workload == "granularity" else 1)

    found = holding(SUN, slow)
    assert found[:4] == [True] * 4 and found[4:6] == [False, False]


def test_efficiencies_that_ignore_messages_and_processes_are_noticed():
    def even(case: Case) -> float:
        ideal = case.workload == "granularity"
        return float(case["work"]) / case.ranks / 0.9 * case.ranks**-0.1 if ideal else ethernet()(case)

    assert holding(SUN, even)[6:] == [False, False]


def test_the_findings_of_the_barriers_appear_on_a_bus_and_not_on_a_switch():
    """Except for the fastest: the MCS tree has frames of acknowledgements."""
    assert holding(ETHERNET, ethernet(acknowledged=False)) == [True] * 4
    assert holding(ETHERNET, ethernet()) == [True, False, True, True]
    assert holding(ETHERNET, ethernet(shared=False), "switch") == [False, False, False, True]


@pytest.mark.parametrize("slow", ["tournament_parity", "mcs_tree"])
def test_a_tree_that_is_not_among_the_fastest_is_noticed(slow):
    def time(case: Case) -> float:
        return ethernet(acknowledged=False)(case) * (1.5 if case.get("algorithm") == slow else 1)

    assert holding(ETHERNET, time) == [True, False, True, True]


def test_the_printed_barriers_show_what_the_paper_finds():
    """Its MPI_Barrier too; each finding is read from the same numbers as the emulated."""
    checks = [finding(ethernet_emulated.published_barrier_s) for finding in ethernet_emulated.FINDING_CHECKS]
    assert [check.holds for check in checks] == [True, True, True]


def test_what_was_not_measured_is_no_finding():
    for study in (SUN, ETHERNET):
        given = answers(study, nothing, lambda part, case: None)
        compared = study.compare(given)
        checks = study.checks(given, compared)
        assert not any(check.holds for check in checks)
        assert compared and all(row.emulated is None for row in compared)
        assert render(study.page(given, compared, checks))


@pytest.mark.parametrize("study", [SUN, ETHERNET])
def test_published_simulated_and_emulated_are_in_one_table_and_one_figure(study):
    simulate = as_printed if study is SUN else message_by_message
    given = answers(study, ethernet(), simulate)
    compared = study.compare(given)
    page = study.page(given, compared, study.checks(given, compared))
    assert render(page)
    printed = [row for row in compared if row.status != "variant"]
    own = [row for row in printed if not (row.key.startswith("barriers/table") and row.key.endswith("/1"))]
    for row in own:
        assert row.published > 0 and row.simulated is not None and row.emulated is not None, row.key
        assert row.emulated_share == row.emulated / row.published
        assert (row.predicted is not None) == (study is SUN)
    (table,) = (t for s in page.sections for t in s.tables if t.name in ("equation 3", "MCS tree"))
    assert table.columns[1:4] == ("published", "simulated", "emulated")
    groups: dict[str, set[str]] = {}
    for series in page.lead.series:
        groups.setdefault(series.group, set()).add(series.name.rpartition(", ")[2])
    assert all(names >= {"simulated", "emulated"} and len(names) == 3 for names in groups.values())


def test_each_algorithm_has_its_own_emulated_times():
    given = answers(ETHERNET, ethernet(), message_by_message)
    for name in ("mpi", "total-exchange", "tournament"):
        for p in ethernet_emulated.PROCESSES:
            row = next(r for r in ETHERNET.compare(given) if r.key == f"barriers/table/{name}/{p}")
            assert row.emulated == ethernet_emulated.emulated_barrier_s(given, name, p)
            assert row.emulated / row.simulated == pytest.approx(90e-6 / 1.2e-3)


def test_measured_cases_are_on_the_machine_that_was_named_and_the_others_are_simulated():
    for study in (SUN, ETHERNET):
        parts = study.parts(CATALOG)
        assert {part.on for part in parts} == {"", "lan:x"}
        assert all(part.budget_s > 0 for part in parts if part.on)
        assert sum(part.budget_s for part in parts) <= 400, "about five minutes are measured"
        assert len({part.name for part in parts}) == len(parts)


def test_the_grid_is_that_of_the_figures():
    cells = list(sun_emulated.grid_cells())
    assert {cell.processes for cell in cells} == {2, 4} and len(cells) == 36
    given = answers(SUN, ethernet(), as_printed)
    for cell in cells:
        p, words, work = cell.processes, cell.message_words, cell.work
        exchange = ethernet()(CATALOG.case(f"round_robin bytes={4 * words} ranks={p}"))
        expected = work / (work + p * exchange)
        assert sun_emulated.measured_efficiency(
            given, sun_emulated.EMULATED_GRID_PART, cell
        ) == pytest.approx(expected, rel=0.02)
        assert sun_emulated.predicted_efficiency(given, cell) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("kept", [emulated.SURVEY, sun_emulated.EMULATED_GRID_PART])
def test_a_continued_reproduction_keeps_its_network(kept, tmp_path, monkeypatch):
    """The machine's file changes after a part was measured: the other part has the same network."""
    file, out = tmp_path / "bus.toml", tmp_path / "r"
    before = machine("bus").emulated
    real, given = measurement.prepare, []

    def prepare(name: str, *args, ethernet=None, **options):
        bench = real("fake", *args, **options)
        if not name.startswith("lan:"):
            return bench
        given.append(ethernet)
        described = ethernet or hockney.machines.emulated.ethernet(str(file))
        return replace(bench, machine=msgspec.structs.replace(bench.machine, emulated=described))

    monkeypatch.setattr(measurement, "prepare", prepare)
    file.write_text(hockney.machines.emulated.write(before))
    api.reproduce(["sun"], out, machine=f"lan:{file}")
    assert set(given) == {None}
    (other,) = {emulated.SURVEY, sun_emulated.EMULATED_GRID_PART} - {kept}
    shutil.rmtree(out / other)
    records = out / kept / "records.jsonl"
    records.write_text("".join(records.read_text().splitlines(keepends=True)[:3]))
    file.write_text(hockney.machines.emulated.write(msgspec.structs.replace(before, rate=12.5e6)))
    given.clear()
    api.reproduce(["sun"], out, machine=f"lan:{file}")
    assert given and set(given) == {before}
    assert {RunFolder.open(out / part).machine().emulated for part in (kept, other)} == {before}


def test_other_papers_have_no_emulated_machine():
    every = reproductions.all_reproductions()
    assert {name for name, study in every.items() if reproductions.on_emulated(study)} == {"sun", "ethernet"}
