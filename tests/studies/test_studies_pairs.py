# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of pairs in worlds with known shared rates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as with_fields

from hockney import api, measurement, studies
from hockney.cli.start import guarded
from hockney.core.case import Case
from hockney.core.errors import UsageError
from hockney.core.fit import ExactValue
from hockney.core.settings import Settings
from hockney.draw.page import Page
from hockney.launch.fake import FakeLauncher
from hockney.launch.fake_world import FakePairs, FakeSegment, World
from hockney.studies import Evidence, Options
from hockney.studies.pairs.columns import answer
from hockney.studies.pairs.headline import headline
from hockney.studies.pairs.plan import SIZES
from hockney.studies.pairs.results import PairsResults, Pattern, pattern_of, saturation

STUDY = studies.find_study("pairs")
PAIRS = (1, 2, 4, 8)
RATE, ONE, GAP = 12e9, 5e9, 0.05e-6
SATURATED = FakePairs(rates={"": RATE}, gap_s=GAP)
FREE = FakePairs(rates={"": 1e12}, gap_s=0.0)


def run(folder: Path, costs: FakePairs, launch_noise: float = 0.004, launches: int = 4, **given) -> Evidence:
    pieces = (FakeSegment(0, 1e-6, 1 / ONE),)
    world = World(segments=pieces, pairs=costs, noise=0.01, launch_noise=launch_noise, tail=0.0)
    bench = measurement.fake_bench(FakeLauncher(world), cores=16, workloads=STUDY.WORKLOADS)
    parameters = {"pairs": PAIRS} | given
    cases = STUDY.plan(Options(parameters=parameters), bench.catalog, bench.machine)
    settings = Settings("pairs", seed=1, launches=launches, budget_s=600.0)
    made = measurement.create_run(folder, cases, settings, bench)
    measurement.measure(made, bench, lambda event: None)
    return api.load(folder).evidence


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return run(tmp_path_factory.mktemp("pairs") / "r", SATURATED)


def test_bandwidths_and_rates_are_those_of_the_world(evidence: Evidence):
    results = PairsResults.of(evidence)
    for p in results.points:
        if not p.pattern.is_stream:
            continue
        alone = max(0.18e-6, 0.09e-6 + p.size / ONE)
        each = max(alone / p.pairs, GAP + p.size / RATE)
        assert p.rate.value == pytest.approx(1 / each, rel=0.02)
        assert p.bandwidth.value == pytest.approx(p.size / each, rel=0.02)
        assert p.message_s == pytest.approx(p.pairs * each, rel=0.02)
        assert p.slowdown.value == pytest.approx(p.pairs * each / alone, rel=0.02)
        assert p.rate.low < p.rate.value < p.rate.high


def test_saturation_and_the_slowdown_beyond_it(evidence: Evidence):
    results = PairsResults.of(evidence)
    [stream] = results.streams
    found = answer(evidence)
    [way] = [each for each in found["ways"] if each["workload"] == "pairs_stream"]
    assert way["place"] == "node" and way["direction"] == "one"
    of = {each["bytes"]: each for each in way["saturation"]}
    assert of[1 << 20] == {"bytes": 1 << 20, "reached": True, "pairs": 4}, "5 GB/s each, 12 GB/s in all"
    largest = results.row(stream, 1 << 20)
    assert [p.slowdown_verdict for p in largest] == ["alike", "alike", "slower", "slower"]
    assert largest[-1].slowdown.value == pytest.approx(8 * ONE / RATE, rel=0.02)
    assert [p.gain_verdict for p in largest] == ["unknown", "faster", "faster", "alike"]
    assert results.is_conclusive and STUDY.is_conclusive(evidence)


def test_the_model_finds_the_shared_rate_of_the_world(evidence: Evidence):
    for way in answer(evidence)["ways"]:
        known = way["model"]["parameters"]
        assert known["R_N"].value == pytest.approx(RATE, rel=0.02), way["workload"]
        assert known["R_N"].low < RATE * 1.01 and known["R_N"].high > RATE * 0.99
        assert known["R_C"].value == pytest.approx(ONE, rel=0.03)
        if way["workload"] == "pairs_stream":
            assert way["model"]["verdict"] == "good"
            assert known["g_N"].value == pytest.approx(GAP, rel=0.05)
            assert known["k_sat"].value == pytest.approx(RATE / ONE, rel=0.05)


def test_the_page(evidence: Evidence, golden):
    made = STUDY.page(evidence)
    assert isinstance(made, Page) and made.lead is not None
    golden("pairs_headline.txt", "\n".join(made.headline))
    assert {figure.name for figure in made.figures} == {
        "pairs-bandwidth-node-one", "pairs-rate-node-one", "pairs-slowdown-node-one",
        "pairs-slowdown-node-pingpong",
    }  # fmt: skip
    tables = {table.name: table for section in made.sections for table in section.tables}
    assert {"pairs-node-one", "pairs-node-pingpong", "pairs-models"} <= set(tables)
    assert len(tables["pairs-node-one"].rows) == len(SIZES) * len(PAIRS)
    assert [table.name for table in STUDY.summary(evidence)] == ["pairs-summary", "pairs-models"]


def test_pairs_that_share_nothing_only_bound_the_rate(tmp_path: Path):
    evidence = run(tmp_path / "r", FREE)
    for way in answer(evidence)["ways"]:
        known = way["model"]["parameters"]
        assert known["R_N"].high is None and known["R_N"].low == pytest.approx(8 * ONE, rel=0.1)
        assert way["model"]["verdict"] == "fair" and "k_sat" not in known
    [stream] = PairsResults.of(evidence).streams
    found = saturation(PairsResults.of(evidence).row(stream, 1 << 20))
    assert found.reached is False
    assert any("at least" in text for text in headline(PairsResults.of(evidence)))


def test_noise_leaves_it_undecided(tmp_path: Path):
    evidence = run(tmp_path / "r", SATURATED, launch_noise=0.4)
    results = PairsResults.of(evidence)
    found = [each for way in answer(evidence)["ways"] for each in way["saturation"]]
    assert None in {each["reached"] for each in found}
    assert not results.is_conclusive and results.times_to_decide()
    assert "--budget" in headline(results)[-1]


def test_both_directions_count_twice(tmp_path: Path):
    evidence = run(tmp_path / "r", SATURATED, direction=("one", "both"), pairs=(1, 4))
    results = PairsResults.of(evidence)
    both, one = results.streams
    assert (both.direction, one.direction) == ("both", "one")
    for double, single in zip(results.points_of_pattern(both), results.points_of_pattern(one), strict=True):
        assert (double.size, double.pairs) == (single.size, single.pairs)
        each = max(max(0.18e-6, 0.09e-6 + double.size / ONE) / double.pairs, GAP + double.size / RATE)
        assert double.bandwidth.value == pytest.approx(double.size / each, rel=0.02)
        assert double.message_s == pytest.approx(2 * double.pairs * each, rel=0.02)
        assert double.message_s == pytest.approx(2 * single.message_s, rel=0.03)
    assert {figure.name for figure in STUDY.page(evidence).figures} >= {"pairs-bandwidth-node-both"}


def test_simulated_times_are_exact(evidence: Evidence):
    traits = with_fields(evidence.machine.traits, noiseless=True)
    exact = replace(evidence, machine=with_fields(evidence.machine, traits=traits))
    assert all(isinstance(p.slowdown, ExactValue) for p in PairsResults.of(exact).points)


# the plan


def plan(
    cores: int = 4, levels: tuple[str, ...] = (), per_node: int = 0, ranks=(), nodes: int = 2, **given
) -> list[Case]:
    bench = measurement.fake_bench("fake", cores=cores, workloads=STUDY.WORKLOADS)
    machine = with_fields(bench.machine, levels=list(levels), ranks_per_node=per_node, nodes=nodes)
    return STUDY.plan(Options(ranks=ranks, parameters=given), bench.catalog, machine)


def placed(cases: list[Case]) -> set[tuple[str, int, int]]:
    return {(case.place, case["pairs"], case.ranks) for case in cases}


def test_on_one_host_each_rank_has_a_core():
    cases = plan(cores=16)
    assert placed(cases) == {("", k, 2 * k) for k in (1, 2, 4, 8)}
    assert {case.workload for case in cases} == {"pairs_stream", "pairs_pingpong"}
    assert {case.bytes for case in cases} == set(SIZES)
    assert placed(plan(cores=2)) == {("", 1, 2)} == placed(plan(cores=1))


def test_each_level_has_the_pairs_for_which_there_is_room():
    found = placed(plan(levels=("node", "network"), per_node=4))
    assert found == {("node", 1, 2), ("node", 2, 4), *(("network", k, 2 * k) for k in (1, 2, 4))}
    asked = placed(plan(levels=("node", "network"), per_node=4, pairs=(1, 4)))
    assert asked == {("node", 1, 2), ("network", 1, 2), ("network", 4, 8)}
    only = placed(plan(levels=("node", "network"), per_node=4, pairs=(4,), place=("network",)))
    assert only == {("network", 4, 8)}


def test_from_4_nodes_on_pairs_are_alone_on_their_nodes_too():
    found = plan(levels=("node", "network"), per_node=2, nodes=4)
    assert {(c.nodes, c["pairs"], c.ranks) for c in found if c.nodes} == {(2, 1, 2), (4, 2, 4)}
    assert {case.place for case in found if not case.nodes} == {"node", "network"}
    single = plan(levels=("network",), per_node=1, nodes=8)
    assert {(c.nodes, c["pairs"]) for c in single} == {(2, 1), (4, 2), (8, 4)}, "each node has one rank"


def test_given_ranks_leave_the_others_idle():
    assert placed(plan(ranks=(8,), pairs=(1, 4))) == {("", 1, 8), ("", 4, 8)}


def test_given_ranks_are_at_each_level_with_room_for_them():
    two = {"levels": ("node", "network"), "per_node": 4}
    found = placed(plan(ranks=(4, 8), **two))
    assert found == {
        *((level, k, 4) for level in ("node", "network") for k in (1, 2)),
        *(("network", k, 8) for k in (1, 2, 4)),
    }
    assert placed(plan(ranks=(16,), pairs=(8,), **two)) == {("", 8, 16)}, "more than there is room for"
    single = plan(ranks=(2, 4), levels=("network",), per_node=1, nodes=4)
    assert {(c.nodes, c.place, c.ranks) for c in single} == {(0, "", 2), (0, "", 4)}, "spread by `settled`"
    apart = plan(ranks=(4,), place=("apart",), levels=("node", "network"), per_node=4, nodes=4)
    assert {(c.nodes, c.ranks) for c in apart} == {(4, 4)}


def test_given_ranks_of_both_levels_are_in_different_rows_and_fits(tmp_path: Path):
    words = ("run", "pairs", "--ranks", "4,8", "--machine", "fake:nodes=2", "--launches", "3", "--seed", "1")
    assert guarded([*words, "--out", str(tmp_path / "r"), "-q"]) == 0
    ways = answer(api.load(tmp_path / "r").evidence)["ways"]
    assert {way["place"] for way in ways} == {"node", "network"} and len(ways) == 4
    assert all(way["model"]["verdict"] in ("good", "fair") for way in ways)


def test_cases_on_different_numbers_of_nodes_are_different_ways(evidence: Evidence):
    def way(nodes: int, ranks: int) -> Pattern:
        case = Case.of("pairs_stream", ranks, bytes=8, pairs=1, nodes=nodes, direction="one")
        [p, *_] = evidence.measured
        return pattern_of(replace(p, case=case), evidence.run)

    assert [way(*each).level for each in ((1, 4), (2, 4), (4, 4))] == ["node", "", "apart"]
    assert way(2, 8) == way(2, 4) != way(4, 8) and way(2, 2) == way(4, 4)


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("too-many-pairs", {"pairs": (1, 2, 4)}),
        ("too-many-pairs", {"pairs": (3,), "ranks": (4,)}),
        ("too-many-pairs", {"pairs": (8,), "levels": ("node", "network"), "per_node": 4}),
        ("too-many-pairs", {"ranks": (6,), "place": ("apart",), "per_node": 4, "nodes": 4}),
        ("odd-ranks", {"ranks": (3,)}),
        ("not-at-level", {"place": ("socket",), "levels": ("node", "network"), "per_node": 4}),
    ],
)
def test_what_cannot_be_planned(code: str, given: dict):
    with pytest.raises(UsageError) as caught:
        plan(**given)
    assert caught.value.code == code
