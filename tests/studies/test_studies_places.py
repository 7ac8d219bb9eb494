# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""On several nodes, no study leaves the place of its ranks to the launcher."""

from __future__ import annotations

from dataclasses import replace as dataclass_replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_programs import EVERYTHING
from msgspec.structs import replace

from hockney import api, measurement, studies
from hockney.core.case import Case
from hockney.core.layout import LEVELS, Layout
from hockney.core.record import Failure
from hockney.launch.fake_world import World
from hockney.models.programs.description import store_description
from hockney.studies import Options, places
from hockney.studies.granularity import costs, results, validation


def planned(name: str, machine: str) -> tuple[list[Case], measurement.Bench]:
    study = studies.find_study(name)
    bench = measurement.find_levels(measurement.prepare(machine, workloads=study.WORKLOADS))
    options = Options(programs=(store_description(EVERYTHING, "everything"),))
    return studies.plan_study(study, options, bench.catalog, bench.machine), bench


OF_SUITES = {"npb", "annealing"} & studies.all_studies().keys()
NOT_MEASURED = ("cases", "imported", "published")
FOUR_NODES = ("nodes",)
"""Studies of at least 4 nodes."""


@pytest.mark.parametrize("name", sorted(studies.all_studies().keys() - {*NOT_MEASURED, *FOUR_NODES}))
def test_every_case_of_a_study_is_placed(name):
    cases, bench = planned(name, "fake:nodes=2")
    assert cases and all(case.is_placed for case in cases)
    assert measurement.check_start(bench, cases).layout == Layout(2, 4), "and can be"
    alone, bench = planned(name, "fake")
    assert not any(case.is_placed for case in alone)


@pytest.mark.parametrize("name", FOUR_NODES)
def test_every_case_of_a_study_of_several_nodes_is_placed(name):
    cases, bench = planned(name, "fake:nodes=4")
    assert cases and all(case.nodes == 4 for case in cases)
    assert measurement.check_start(bench, cases).layout == Layout(4, 4)


@pytest.mark.parametrize("name", sorted({"granularity", "collectives", "barriers", *OF_SUITES}))
def test_studies_that_predict_measure_messages_of_both_levels(name):
    cases, _ = planned(name, "fake:nodes=2;levels=cache,socket")
    found = {
        level: {c.with_parameter("place", "").line for c in cases if c.place == level} for level in LEVELS
    }
    assert found["socket"] and found["socket"] >= found["network"] > set()
    assert not found["cache"] and not found["node"]


@pytest.mark.parametrize("name", ["survey", "pairs", "barriers", "granularity"])
def test_studies_look_for_the_levels_of_one_host(name):
    assert studies.find_study(name).ASKS_FOR_LEVELS
    cases, _ = planned(name, "fake:levels=cache,socket")
    levels = {"socket"} if name in ("barriers", "granularity") else {"cache", "socket"}
    assert {case.place for case in cases if case.place} == levels


def test_pairs_on_one_host_keep_levels_apart(tmp_path):
    options = api.RunOptions(machine="fake:levels=cache,socket", seed=1, launches=3)
    run = api.run("pairs", options, out=tmp_path / "run")
    fits = run.fits.select("sharing", "pairs_stream")
    assert fits and {fit.subject["place"] for fit in fits} <= {"cache", "socket"}
    met = {(r.parse_case().place, r.place) for r in run.folder.read().run.records}
    assert met == {("cache", "cache"), ("socket", "socket")}


@given(ranks=st.integers(1, 40), nodes=st.integers(1, 6), per_node=st.integers(1, 8))
def test_ranks_are_on_the_fewest_nodes_that_have_room(ranks, nodes, per_node):
    layout = Layout(nodes, per_node)
    found = places.min_node_count(ranks, layout)
    possible = [n for n in range(1, nodes + 1) if ranks % n == 0 and ranks // n <= per_node]
    assert found == (min(possible) if possible else 0)
    assert set(places.node_counts(ranks, layout)) <= {*possible, 0}


def test_cases_of_people_stay_as_typed_and_placed_ones_as_planned():
    machine = measurement.find_levels(measurement.prepare("fake:nodes=2")).machine
    catalog = measurement.bundled_catalog()
    options = Options(cases=("pingpong bytes=8", "pingpong bytes=8 place=network"))
    cases = studies.plan_study(studies.find_study("cases"), options, catalog, machine)
    assert [case.place for case in cases] == ["", "network"] and not any(case.nodes for case in cases)
    settled = places.with_node_counts([*cases, catalog.case("bcast ranks=7")], machine)
    assert [(case.place, case.nodes) for case in settled] == [("", 1), ("network", 0), ("", 0)]


def test_levels_of_a_machine():
    machine = measurement.find_levels(measurement.prepare("fake:nodes=2;levels=cache,socket")).machine
    assert places.measured_levels(machine) == ("cache", "socket", "network")
    assert (
        places.prediction_levels(machine) == ("socket", "network")
        and places.intra_node_pair_words(machine) == " place=socket"
    )
    two = measurement.find_levels(measurement.prepare("fake:nodes=2")).machine
    assert places.intra_node_pair_words(two) == " nodes=1", "ranks of a node meet at one level"
    one = replace(machine, levels=["network"], ranks_per_node=1)
    assert places.measured_levels(one) == places.prediction_levels(one) == ("network",)
    plain = measurement.prepare("fake").machine
    assert places.measured_levels(plain) == places.prediction_levels(plain) == ("",)


def test_granularity_on_two_nodes_has_messages_of_both_levels(tmp_path):
    options = api.RunOptions(machine="fake:nodes=2", seed=1, ranks_per_node=2)
    run = api.run("granularity", options, out=tmp_path / "run")
    assert run.outcome.missing_count == 0
    assert {(case.ranks, case.nodes) for case in run.requested if not case.place} == {(1, 1), (2, 1), (4, 2)}
    for level in run.evidence.levels:
        (fit,) = level.fits.select("hockney", "pingpong")
        truth = World().at_level(level.place).segments[0].latency_s
        assert fit.parameter("t_0").estimate.value == pytest.approx(truth, rel=0.05)
    assert [level.place for level in run.evidence.levels] == ["node", "network"]
    messages = costs.run_costs(run.evidence).messages
    cells = results.cells(run.evidence)
    four = [c for c in validation.check(run.evidence, cells, messages, 4) if c.cell.ranks == 4]
    assert {c.cell.nodes for c in four} == {2}
    near, far = (World().at_level(level).message(4) for level in ("node", "network"))
    shortest = [c for c in four if c.cell.bytes == 4]
    assert shortest and all(c.model_s == pytest.approx(near + far, rel=0.05) for c in shortest)
    # A case on two of the ranks fails in one launch: each launch of the whole layout is still a round.
    broken = next(case for case in run.requested if case.ranks == 2)
    record = run.folder.read().run.records[0]
    failure = Failure(schema=2, case=broken.line, launch=record.launch, reason="refused", message="no")
    lines = dataclass_replace(run.evidence.run, failures=(failure,))
    with_failure = results.cells(dataclass_replace(run.evidence, run=lines))
    assert [cell.one_rank_times_s for cell in with_failure] == [cell.one_rank_times_s for cell in cells]
    (section,) = [s for s in run.page.sections if s.title == "What messages cost"]
    assert any("within a node and between nodes" in text for text in section.text)
