# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The survey of a machine with several nodes: an answer for each level, none of which mixes levels."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from golden_files import replaced
from msgspec.structs import replace as replace_struct

from hockney import api, measurement, studies
from hockney.core.case import Case, parse_canonical
from hockney.core.layout import LEVEL_PHRASES, LEVELS, HostOptions
from hockney.launch.fake_world import World
from hockney.machines import emulated
from hockney.models.collective_costs import predict
from hockney.pages.caveats import caveats
from hockney.pages.key_results import key_results
from hockney.report.render import render
from hockney.studies import Evidence, Options
from hockney.studies.sizes import DEFAULT_SIZES
from hockney.studies.survey import CASES_PER_SECOND

PLAN = studies.find_study("survey").plan


def bench(machine: str, per_node: int = 0) -> measurement.Bench:
    return measurement.find_levels(measurement.prepare(machine, hosts=HostOptions(ranks_per_node=per_node)))


def planned(machine: str, per_node: int = 0, **options):
    on = bench(machine, per_node)
    return PLAN(Options(**options), on.catalog, on.machine)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> api.Run:
    options = api.RunOptions(machine="fake:nodes=2", seed=1, launches=6, precision=1.0)
    return api.survey(options, out=tmp_path_factory.mktemp("levels") / "run")


@pytest.fixture(scope="module")
def page(run):
    return run.page


@pytest.fixture(scope="module")
def on_one_host(tmp_path_factory) -> api.Run:
    options = api.RunOptions(machine="fake:levels=cache,socket", seed=1, budget=20)
    return api.survey(options, out=tmp_path_factory.mktemp("host") / "run")


def test_every_level_is_planned_and_nothing_is_left_to_the_launcher():
    cases = planned("fake:nodes=2")
    assert all(case.is_placed for case in cases)
    pairs = [case for case in cases if case.place]
    assert Counter(case.place for case in pairs) == dict.fromkeys(("node", "network"), len(pairs) // 2)
    assert {case.ranks for case in pairs} == {2}
    assert {(case.ranks, case.nodes) for case in cases if case.nodes} == {(2, 1), (4, 1), (8, 2)}
    within, between = (
        {c.with_parameter("place", "").line for c in pairs if c.place == p} for p in ("node", "network")
    )
    assert within == between


def test_levels_from_which_models_do_not_predict_have_fewer_cases():
    """Models use the farthest level within a node, and that between nodes."""
    cases = planned("fake:nodes=2;levels=cache,socket")
    of_two = {
        level: {
            c.with_parameter("place", "").line for c in cases if c.place == level and not is_collective(c)
        }
        for level in ("cache", "socket", "network")
    }
    assert of_two["socket"] == of_two["network"] and len(of_two["cache"]) < len(of_two["socket"])
    near = [case for case in cases if case.place == "cache"]
    assert {case.workload for case in near} == {"pingpong", "prtt", "receive_overhead"}
    assert {c.bytes for c in near if c.workload == "pingpong"} == {
        c.bytes for c in cases if c.place == "socket" and c.workload == "pingpong"
    }
    assert {c.place for c in cases if is_collective(c) and c.ranks == 2} == {"socket"}


def is_collective(case: Case) -> bool:
    return measurement.bundled_catalog().workload(case.workload).role in ("collective", "barrier")


@pytest.mark.parametrize("cores", [2, 16, 128])
def test_on_one_host_there_is_time_for_eight_launches(cores):
    on = bench("fake")
    machine = replace_struct(on.machine, cores=cores)
    cases = PLAN(Options(budget_s=60), on.catalog, machine)
    assert on.launch_count(60, cases) >= 8
    assert {2, cores} <= {case.ranks for case in cases}
    whole = [c.bytes for c in cases if c.workload == "pingpong" and c.get("buffers") == "hot"]
    assert tuple(sorted(whole)) == DEFAULT_SIZES
    if cores == 2:
        assert cases == PLAN(Options(budget_s=600), on.catalog, machine), "nothing is left out"


def test_a_survey_of_one_host_with_several_levels_mixes_none(on_one_host):
    pairs = [r for r in on_one_host.folder.read().run.records if r.parse_case().ranks == 2]
    assert {r.place for r in pairs} == {"cache", "socket"}
    assert len({r.launch for r in pairs}) > 2
    assert "mixed-levels" not in {c.caveat.code for c in caveats(on_one_host.evidence)}


@pytest.mark.parametrize("budget", [60, 600])
@pytest.mark.parametrize(
    "machine", ["fake:nodes=2", "fake:nodes=2;levels=cache,socket", "fake:levels=cache,socket"]
)
def test_there_is_time_for_eight_launches(machine, budget):
    cases = planned(machine, budget_s=budget)
    assert len(cases) <= CASES_PER_SECOND * budget
    assert bench(machine).launch_count(budget, cases) >= 8
    full = [c["bytes"] for c in cases if c.workload == "pingpong" and c.get("buffers") == "hot"]
    assert min(Counter(full).values()) >= 2, "the nearest and the farthest level have the whole sweep"


def test_one_level_is_planned_as_ever():
    plain = PLAN(Options(), *(lambda b: (b.catalog, b.machine))(measurement.prepare("fake")))
    assert planned("fake") == plain == planned("fake:levels=node") and not any(
        case.is_placed for case in plain
    )


def test_one_rank_on_each_of_several_hosts():
    cases = planned("fake:nodes=3", per_node=1)
    assert {case.place for case in cases} == {"network", ""}
    assert {(case.ranks, case.nodes) for case in cases if not case.place} == {(2, 2)}


def test_no_message_takes_a_large_part_of_the_budget_on_a_slow_emulated_network():
    on = bench("fake:nodes=2")
    slow = emulated.ethernet("sun-ethernet")
    machine = replace_struct(on.machine, emulated=slow)

    def largest(budget: float, *workloads: str) -> int:
        cases = PLAN(Options(budget_s=budget), on.catalog, machine)
        return max(case.bytes for case in cases if not workloads or case.workload in workloads)

    for budget in (60.0, 600.0):
        assert 10 < budget * slow.payload_rate / largest(budget) / 300 < 100
        assert 16 * largest(budget, "prtt", "receive_overhead") <= 2 * largest(budget)
    asked = PLAN(Options(sizes=(4 << 20,)), on.catalog, machine)
    assert max(case.bytes for case in asked) == 4 << 20


@pytest.mark.parametrize(
    ("ranks", "spread"),
    [((2,), {(2, 1), (2, 2)}), ((4, 6), {(4, 1), (4, 2), (6, 2)}), ((8,), {(8, 2)}), ((7,), {(7, 0)})],
)
def test_requested_ranks_are_on_one_node_and_on_all(ranks, spread):
    cases = planned("fake:nodes=2", ranks=ranks)
    assert {(case.ranks, case.nodes) for case in cases if not case.place} == spread
    assert any(case.place for case in cases) == (2 in ranks)


def test_all_cases_share_their_launches(run):
    assert len(run.folder.read().run.launches) == 6 and run.outcome.missing_count == 0
    assert {len(launch.ranks) for launch in run.folder.read().run.launches} == {8}


def test_the_fits_of_each_level_find_its_costs_again(run):
    for level in ("node", "network"):
        world = World().at_level(level)
        (fit,) = [
            f for f in run.fits.select("hockney", "pingpong") if f.subject.matches(place=level, buffers="hot")
        ]
        found = {symbol: fit.parameter(symbol).estimate for symbol in ("t_0", "r_inf")}
        truth = {"t_0": world.segments[0].latency_s, "r_inf": 1 / world.segments[-1].per_byte_s}
        for symbol, value in truth.items():
            low, high = found[symbol].low, found[symbol].high
            assert low <= value <= high < 1.2 * low, (level, symbol)
        assert len(fit.segments) == 3
        (loggp,) = [f for f in run.fits.select("loggp", "prtt") if f.subject.matches(place=level)]
        for symbol, value in (
            ("o_s", world.send_overhead_s),
            ("o_r", world.receive_overhead_s),
            ("g", world.gap_s),
        ):
            assert loggp.parameter(symbol).estimate.value == pytest.approx(value, rel=0.1), (level, symbol)


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("key", [("allreduce", "recursive_doubling"), ("allgather", "bruck")])
def test_a_rank_s_own_work_is_measured_too(run, key, nodes):
    (found,) = predict(run.fits, run.machine, *key, 4 * nodes, [1024], nodes=nodes)
    assert found.left_out == ()


def test_on_several_levels_within_a_node_work_is_measured_at_the_farthest(on_one_host):
    run = on_one_host
    (found,) = predict(run.fits, run.machine, "allreduce", "recursive_doubling", 4, [1024], nodes=1)
    assert found.left_out == ()
    (table,) = [t for s in run.page.sections for t in s.tables if t.name == "collectives"]
    where = table.columns.index("place")
    assert {(row[1], row[where]) for row in table.rows} >= {("2", "socket"), ("4", "")}


def test_no_summary_and_no_fit_mixes_levels(run):
    places: dict[str, set] = {}
    for record in run.folder.read().run.records:
        places.setdefault(record.case, set()).add((record.place, record.nodes))
    assert all(len(met) == 1 for met in places.values())
    for summary in run.fits.summaries:
        case = parse_canonical(summary.case)
        assert (summary.place, summary.nodes) in places[summary.case]
        nodes = 2 if case.place == "network" else case.nodes or 1
        pair = "node" if case.ranks == 2 else ""
        assert (summary.place, summary.nodes) == (case.place or pair, nodes)
    for fit in run.fits.fits:
        assert "place" in fit.subject or "nodes" in fit.subject
        of = [c for c in map(parse_canonical, places) if c.workload == fit.subject.workload]
        fitted = [c for c in of if all(c.get(name) == value for name, value in fit.subject.fixed)]
        assert len({(c.place, c.nodes) for c in fitted}) == 1


def test_evidence_at_a_level_has_its_cases_only(run):
    evidence = run.evidence
    assert [level.place for level in evidence.levels] == ["node", "network"]
    assert evidence.of("pingpong") == () and evidence.of("pingpong", place="node")
    for level in evidence.levels:
        assert {m.case.place for m in level.measured} == {level.place}
        assert {m.case.place for m in level.of("pingpong", buffers="hot")} == {level.place}
        seen = level.observations(cost="typical")
        assert {each.case.line for each in seen} == {m.case.line for m in level.measured}


def test_the_page_names_the_level_of_every_number(run, page, golden):
    times = replaced(r"[\d.]+ (ns|us|GB/s|KiB|MiB)(?![\w/])", "NUMBER")
    golden("survey_levels_headline.json", [*page.headline, *(row[:2] for row in page.results.rows)], times)
    figures = {f.name: f for f in page.figures}
    assert page.lead is figures["latency"]
    names = [s.name for s in figures["latency"].series if s.kind == "points"]
    assert names == [s.name for s in figures["bandwidth"].series if s.kind == "points"]
    assert names == [LEVEL_PHRASES["node"], LEVEL_PHRASES["network"]]
    for name in ("latency", "bandwidth", "loggp", "overlap-ratio-message-2"):
        for level in ("node", "network"):
            assert LEVEL_PHRASES[level] in figures[f"{name}-{level}"].title
    of_allreduce = [s.name for s in figures["collective-allreduce"].series if s.kind == "points"]
    assert of_allreduce == ["2 ranks on 1 node", "4 ranks on 1 node", "8 ranks on 2 nodes"]
    tables = {t.name: t for section in page.sections for t in section.tables}
    assert [row[0] for row in tables["levels"].rows] == names
    assert {"segments-node", "segments-network", "parameters-node", "parameters-network"} < set(tables)
    nodes = tables["collectives"].columns.index("nodes")
    layouts = {(row[1], row[nodes]) for row in tables["collectives"].rows}
    assert layouts == {("2", "1"), ("4", "1"), ("8", "2")}
    for row in tables["parameters"].rows:
        assert not row[1] or "place=" in row[1] or "nodes=" in row[1]


def test_names_of_figures_and_tables_are_unique(page):
    figures = [f.name for f in page.figures]
    tables = [t.name for section in page.sections for t in section.tables]
    assert len(set(figures)) == len(figures) and len(set(tables)) == len(tables)


def test_the_key_results_are_those_of_the_worlds(run):
    world = World()
    found = {r.level_phrase: r.typical.value for r in key_results(run.evidence) if r.key == "latency"}
    expected = {LEVEL_PHRASES[level]: world.at_level(level).message(0) for level in ("node", "network")}
    assert found == pytest.approx(expected, rel=0.03)
    barriers = [r.name for r in key_results(run.evidence) if r.key == "barrier"]
    assert barriers == ["barrier, 4 ranks on 1 node", "barrier, 8 ranks on 2 nodes"]


def test_a_poor_fit_of_one_level_is_named(run):
    def doubted(evidence: Evidence, level: str) -> Evidence:
        fits = [
            replace_struct(f, verdict="poor", why="it is off") if f.subject.matches(place=level) else f
            for f in evidence.fits.fits
        ]
        return replace(evidence, fits=replace_struct(evidence.fits, fits=fits))

    for level in ("node", "network"):
        (found,) = [c for c in caveats(doubted(run.evidence, level)) if c.caveat.code == "poor-fit"]
        assert f"place={level}" in found.caveat.text
        assert {parse_canonical(case).place for case in found.cases} == {level}


def test_cases_whose_launches_were_at_several_levels_have_a_caveat(tmp_path, golden):
    made = api.run("pingpong bytes=0,8", api.RunOptions(machine="fake", seed=1), out=tmp_path / "r")
    evidence = made.evidence
    assert "mixed-levels" not in {c.caveat.code for c in caveats(evidence)}
    first, *others = evidence.run.records
    moved = replace_struct(first, place="network", nodes=2)
    mixed = replace(evidence, run=replace(evidence.run, records=(moved, *others)))
    (found,) = [c for c in caveats(mixed) if c.caveat.code == "mixed-levels"]
    assert found.cases == {first.case}
    golden("survey_mixed_levels.json", found.caveat.text)


@pytest.mark.slow
def test_a_level_in_the_middle_is_on_the_page(tmp_path):
    options = api.RunOptions(machine="fake:nodes=2;levels=cache,socket", seed=1, budget=30)
    made = api.survey(options, out=tmp_path / "run")
    names = [level.place for level in made.evidence.levels]
    assert names == ["cache", "socket", "network"]
    (table,) = [t for s in made.page.sections for t in s.tables if t.name == "levels"]
    assert len(table.rows) == 3
    world = World()
    for level in made.evidence.levels:
        fit = next(f for f in level.fits.select("hockney", "pingpong") if f.subject.matches(buffers="hot"))
        truth = world.at_level(level.place).segments[0].latency_s
        assert fit.parameter("t_0").estimate.value == pytest.approx(truth, rel=0.05)
    html = render(made.page)
    assert all(LEVEL_PHRASES[level] in html for level in LEVELS if level in names)


@pytest.mark.slow
def test_a_run_on_one_host_after_another_has_no_word_of_levels(tmp_path):
    made = api.survey(api.RunOptions(machine="fake", seed=1, budget=30), out=tmp_path / "run")
    assert made.evidence.levels == (made.evidence,)
    assert not any(word in sentence for sentence in made.page.headline for word in LEVEL_PHRASES.values())
    assert made.page.results.columns[1] == "typical"
