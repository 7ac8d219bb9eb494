# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of barriers on several nodes: planned, measured and predicted for each number of nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from statistics import median

import pytest
from golden_files import replaced
from msgspec.structs import replace as replace_struct

from hockney import api, measurement, studies
from hockney.core.case import parse_canonical
from hockney.core.errors import UsageError
from hockney.core.layout import HostOptions, Layout
from hockney.core.settings import Settings
from hockney.launch.fake import FakeLauncher, FakeNodes
from hockney.launch.fake_world import World
from hockney.models.barriers import MessageCosts, hierarchical_time, is_predictable, structural_time
from hockney.report.render import render
from hockney.studies import Evidence, Options
from hockney.studies.barriers.results import LEVELS_BASIS, MEASURED_BASIS, BarrierResults, choose, entry_mode

WORLD = World(launch_noise=0.001)
quantities = replaced(r"\d+(\.\d+)?( [num]?s\b|%| times as long)", "N")


def costs(world: World) -> MessageCosts:
    return MessageCosts(
        one_way_s=world.message(0),
        exchange_s=1.2 * world.message(0),
        broadcast_s=world.collective("bcast", 2, 1),
        base_s=1.1 * world.message(0),
        send_s=world.send_overhead_s,
        receive_s=world.receive_overhead_s,
        gap_s=world.gap_s,
    )


@dataclass(frozen=True)
class Truth(World):
    """Barriers cost what their structure predicts, with messages of each level; others a time on one node."""

    def barrier(self, algorithm: str, ranks: int) -> float:
        if not is_predictable(algorithm):
            return 2e-6 * ranks
        if self.nodes == 1:  # of two ranks, perhaps on two nodes
            return structural_time(algorithm, ranks, costs(self))
        two = replace(costs(self.at_level("network")), near=costs(replace(self, nodes=1)))
        return structural_time(algorithm, ranks, two.spread(ranks, self.nodes))


@pytest.fixture(scope="module")
def evidence(tmp_path_factory) -> Evidence:
    launcher = FakeLauncher(Truth(launch_noise=0.001), nodes=FakeNodes(Layout(2, 4)))
    bench = measurement.find_levels(measurement.fake_bench(launcher, cores=4))
    cases = studies.find_study("barriers").plan(Options(), bench.catalog, bench.machine)
    folder = tmp_path_factory.mktemp("levels") / "r"
    made = measurement.create_run(folder, cases, Settings("barriers", seed=1), bench)
    measurement.measure(made, bench, lambda event: None)
    return api.load(folder).evidence


def test_messages_are_planned_at_both_levels_and_barriers_on_one_node_and_on_all():
    bench = measurement.find_levels(measurement.prepare("fake:nodes=2", hosts=HostOptions()))
    cases = studies.find_study("barriers").plan(Options(), bench.catalog, bench.machine)
    assert all(case.is_placed for case in cases)
    assert {(c.ranks, c.nodes) for c in cases if entry_mode(c)} == {(2, 1), (2, 2), (4, 1), (4, 2), (8, 2)}
    within, between = (
        {case.with_parameter("place", "x").line for case in cases if case.place == level}
        for level in ("node", "network")
    )
    assert within == between and within


def test_predictions_follow_the_structure_on_nodes(evidence):
    run = BarrierResults.of(evidence)
    assert {(each.ranks, each.nodes) for each in run.results} == {(2, 1), (2, 2), (4, 1), (4, 2), (8, 2)}
    several = [each for each in run.results if each.structure_s and each.loop and each.ranks > 2]
    for each in several:
        assert each.error(each.structure_s) == pytest.approx(0, abs=0.1), each
    assert {each.nodes for each in several} == {1, 2}


def test_the_best_is_chosen_among_barriers_on_as_many_nodes(evidence):
    one, two = choose(evidence, 4, 1), choose(evidence, 4, 2)
    assert one.is_measured and two.is_measured and (one.nodes, two.nodes) == (1, 2)
    assert two.best.seconds > 3 * one.best.seconds
    times = {
        m.case["algorithm"]: m.summary.typical.value
        for m in evidence.measured
        if entry_mode(m.case) == "loop" and (m.case.ranks, m.case.nodes) == (4, 2)
    }
    assert two.best.algorithm == min(times, key=lambda name: times[name])
    assert two.candidates[1].ratio.low is not None


def test_a_layout_that_was_not_measured_is_predicted(evidence):
    choice = choose(evidence, 16, 4)
    assert not choice.is_measured and choice.nodes == 4
    known = BarrierResults.of(evidence).costs
    assert known is not None and known.near is not None
    by = {each.algorithm: each for each in choice.candidates}
    assert by["dissemination"].seconds == structural_time("dissemination", 16, known.spread(16, 4))
    node_s = choose(evidence, 4, 1).candidate("hierarchical")
    assert node_s is not None and node_s.basis == MEASURED_BASIS
    assert by["hierarchical"].basis == LEVELS_BASIS
    assert by["hierarchical"].seconds == hierarchical_time(node_s.seconds, 4, known.spread(16, 4))
    off = [
        abs(log(hierarchical_time(each.seconds, 2, known.spread(2 * p, 2)) / measured.seconds))
        for p in (2, 4)
        for each, measured in [(of_hierarchical(evidence, p, 1), of_hierarchical(evidence, 2 * p, 2))]
    ]
    alone = of_hierarchical(evidence, 2, 2).seconds
    off.append(abs(log(hierarchical_time(0.0, 2, known.spread(2, 2)) / alone)))
    time = by["hierarchical"].time
    assert log(time.high / time.value) == pytest.approx(median(off)) and min(off) < max(off)
    with pytest.raises(UsageError) as refused:
        choose(evidence, 9, 2)
    assert refused.value.code == "node-count-not-usable"


def of_hierarchical(evidence, ranks: int, nodes: int):
    return choose(evidence, ranks, nodes).candidate("hierarchical")


def test_a_prediction_that_was_never_compared_has_no_interval(evidence):
    """The hierarchical barrier was measured on one node only."""
    left = [
        s
        for s in evidence.fits.summaries
        if not ("algorithm=hierarchical" in s.case and parse_canonical(s.case).nodes > 1)
    ]
    alone = replace(evidence, fits=replace_struct(evidence.fits, summaries=left))
    found = of_hierarchical(alone, 16, 4)
    assert found.basis == LEVELS_BASIS and found.time.low is None and found.time.high is None
    assert choose(alone, 16, 4).candidate("dissemination").time.high is not None


def test_the_page_keeps_layouts_apart(evidence, golden):
    page = studies.find_study("barriers").page(evidence)
    golden("barriers_levels_headline.txt", quantities("\n".join(page.headline)))
    figures = [figure.name for section in page.sections for figure in section.figures]
    assert len(figures) == len(set(figures)) and "barriers-4-on-2" in figures
    tables = [table.name for section in page.sections for table in section.tables]
    assert {"messages-node", "messages-network"} <= set(tables)
    (numbers,) = (t for s in page.sections for t in s.tables if t.name == "barriers-rounds")
    at = numbers.columns.index("nodes")
    assert {row[at] for row in numbers.rows} == {"1", "2"}
    assert render(page)
