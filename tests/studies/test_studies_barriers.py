# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of barriers in worlds with known costs: predictions, choice, page, failures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from golden_files import numbers, replaced
from msgspec.structs import replace as replace_struct

from hockney import api, measurement, studies
from hockney.core.case import Case
from hockney.core.catalog import Workload
from hockney.core.errors import Inconclusive, UsageError
from hockney.core.fit import Estimate, ExactValue
from hockney.core.settings import Settings
from hockney.launch.fake import FakeLauncher, parse_fake_launcher
from hockney.launch.fake_world import World
from hockney.measurement.kinds import sim
from hockney.models.barriers import MessageCosts, is_predictable, sequential_time, structural_time
from hockney.report.render import render
from hockney.studies import Evidence, Options
from hockney.studies.barriers import paper, results
from hockney.studies.barriers.headline import choice_sentence
from hockney.studies.barriers.results import BarrierResult, BarrierResults, entry_mode

EVERY_BARRIER = measurement.bundled_catalog()
ALGORITHMS = (
    "binomial", "butterfly", "central", "dissemination", "dissemination_mcs", "dissemination_nway",
    "hierarchical", "mcs_tree", "mcs_tree_bcast", "mpi", "mpi_nonblocking", "one_sided", "persistent",
    "recursive_doubling", "shm_central", "shm_dissemination", "shm_tree", "total_exchange",
    "total_exchange_bcast", "total_exchange_sendrecv", "tournament", "tournament_mcs", "tournament_parity",
)  # fmt: skip
"""What the worlds of these tests have: one more barrier in the engine changes no count."""


def with_these_barriers(workload: Workload) -> Workload:
    if workload.operation != "barrier":
        return workload
    algorithm, *others = workload.parameters
    assert algorithm.name == "algorithm"
    these = replace_struct(algorithm, choices=list(ALGORITHMS))
    return replace_struct(workload, parameters=[these, *others])


CATALOG = replace_struct(EVERY_BARRIER, workloads=[*map(with_these_barriers, EVERY_BARRIER.workloads)])
MACHINE = measurement.fake_bench("fake").machine
WORLD = World(launch_noise=0.001)
COSTS = MessageCosts(
    one_way_s=WORLD.message(0),
    exchange_s=1.2 * WORLD.message(0),
    broadcast_s=WORLD.collective("bcast", 2, 1),
    base_s=1.1 * WORLD.message(0),
    send_s=WORLD.send_overhead_s,
    receive_s=WORLD.receive_overhead_s,
    gap_s=WORLD.gap_s,
)
"""Costs of the fake machine's messages."""

quantities = replaced(r"\d+(\.\d+)?( [num]?s\b|%| times as long)", "N")
"""For texts whose times and errors depend on noise."""


@dataclass(frozen=True)
class Truth(World):
    """Barriers have the costs `of`, by algorithm and number of ranks."""

    of: Callable[[str, int], float] = lambda algorithm, ranks: 1e-6

    def time(self, case: Case) -> float:
        if not case.workload.startswith("barrier"):
            return super().time(case)
        return self.of(str(case["algorithm"]), case.ranks)


@dataclass(frozen=True)
class LongPauses(Truth):
    """Readings of the clock make each pause of a train longer than requested, by half of o_s."""

    def pause(self, case: Case) -> float:
        requested = super().pause(case)
        return requested + 0.5 * self.send_overhead_s if requested else 0.0


@dataclass(frozen=True)
class FastTrains(Truth):
    """Messages without pauses follow each other in half of o_s."""

    def prtt(self, messages: int, delay: float, size: int) -> float:
        single = super().prtt(1, 0.0, size)
        step = self.send_overhead_s + delay if delay else self.send_overhead_s / 2
        return single + (messages - 1) * step


def by_the_structure(algorithm: str, ranks: int) -> float:
    """Others cost a microsecond more than any message."""
    return structural_time(algorithm, ranks, COSTS) if is_predictable(algorithm) else 50e-6 + 1e-6 * ranks


def on_one_medium(algorithm: str, ranks: int) -> float:
    return sequential_time(algorithm, ranks, COSTS) if is_predictable(algorithm) else 500e-6


def run(folder, launcher: FakeLauncher, options: Options) -> Evidence:
    bench = measurement.fake_bench(launcher)
    cases = studies.find_study("barriers").plan(options, CATALOG, bench.machine)
    made = measurement.create_run(folder, cases, Settings("barriers", seed=1), bench)
    measurement.measure(made, bench, lambda event: None)
    return api.load(folder).evidence


@pytest.fixture(scope="module")
def side_by_side(tmp_path_factory) -> Evidence:
    truth = Truth(launch_noise=0.001, of=by_the_structure)
    return run(tmp_path_factory.mktemp("s") / "r", FakeLauncher(truth), Options())


@pytest.fixture(scope="module")
def one_medium(tmp_path_factory) -> Evidence:
    truth = Truth(launch_noise=0.001, of=on_one_medium)
    return run(tmp_path_factory.mktemp("m") / "r", FakeLauncher(truth), Options(ranks=(2, 4)))


def sections_text(evidence: Evidence) -> str:
    return "\n".join(text for s in studies.find_study("barriers").page(evidence).sections for text in s.text)


def test_every_barrier_is_planned_in_every_way():
    cases = studies.find_study("barriers").plan(Options(), EVERY_BARRIER, MACHINE)
    ways = Counter((entry_mode(c), c.ranks) for c in cases if entry_mode(c) is not None)
    barriers = len(EVERY_BARRIER.workload("barrier").algorithms)
    assert ways == {(way, p): barriers for way in ("loop", "alone", "late", "skew") for p in (2, 4)}
    messages = [c for c in cases if entry_mode(c) is None]
    assert {c.workload for c in messages} == {
        "isend_recv", "pingpong", "pingpong_double", "bcast", "prtt", "receive_overhead",
    }  # fmt: skip
    assert all(c.ranks == 2 and c.bytes <= 1 for c in messages)
    assert len(set(cases)) == len(cases)


def test_a_million_in_a_row_can_be_asked_for():
    cases = studies.find_study("barriers").plan(
        Options(parameters={"iterations": 1_000_000}), CATALOG, MACHINE
    )
    row = [c for c in cases if entry_mode(c) == "loop"]
    assert len(row) == 2 * len(ALGORITHMS)
    assert {c["iterations"] for c in row} == {1_000_000}
    assert {c["iterations"] for c in cases if entry_mode(c) == "alone"} == {1}


def test_a_simulated_machine_has_messages_only_and_the_papers_processes():
    machine = replace_struct(MACHINE, kind="simulated", traits=sim.TRAITS, cores=16)
    cases = studies.find_study("barriers").plan(Options(), CATALOG, machine)
    names = {str(c["algorithm"]) for c in cases if entry_mode(c) == "loop"}
    assert "mpi" in names and all(is_predictable(name) for name in names - {"mpi"})
    assert {c.ranks for c in cases} == {1, 2, 3, 5, 7, 9, 12, 14, 16}


def test_one_rank_alone_needs_no_messages():
    cases = studies.find_study("barriers").plan(Options(ranks=(1,)), CATALOG, MACHINE)
    assert {entry_mode(c) for c in cases} == {"loop"}


def test_sizes_are_refused():
    with pytest.raises(UsageError) as caught:
        studies.find_study("barriers").plan(Options(sizes=(8,)), CATALOG, MACHINE)
    assert caught.value.code == "barriers-have-no-sizes"


def test_the_costs_of_messages_are_the_worlds(side_by_side):
    known = BarrierResults.of(side_by_side).costs
    for name in ("one_way_s", "exchange_s", "broadcast_s", "base_s", "receive_s"):
        assert getattr(known, name) == pytest.approx(getattr(COSTS, name), rel=0.02), name
    for name in ("send_s", "gap_s"):  # differences of times, so less accurate
        assert getattr(known, name) == pytest.approx(getattr(COSTS, name), rel=0.1), name


def test_the_overhead_of_sending_does_not_include_the_clock(tmp_path):
    evidence = run(tmp_path / "r", FakeLauncher(LongPauses(launch_noise=0.001)), Options(ranks=(2,)))
    known = BarrierResults.of(evidence).messages.between_nodes.overheads
    truth = {"send": WORLD.send_overhead_s, "receive": WORLD.receive_overhead_s, "gap": WORLD.gap_s}
    for name, value in truth.items():
        found = getattr(known, name)
        assert found.value == pytest.approx(value, rel=0.1) and found.low < value < found.high, name
    assert known.send.value <= known.gap.value and not known.caveats


def test_overheads_that_contradict_the_gap_are_reported(tmp_path):
    evidence = run(tmp_path / "r", FakeLauncher(FastTrains(launch_noise=0.001)), Options(ranks=(2,)))
    known = BarrierResults.of(evidence).messages.between_nodes.overheads
    codes = {caveat.code for caveat in known.caveats}
    assert codes == {"gap-below-send-overhead", "gap-below-receive-overhead"}
    texts = sections_text(evidence)
    assert all(caveat.text in texts for caveat in known.caveats)


def test_predictions_are_what_such_a_world_costs(side_by_side):
    every = [each for each in BarrierResults.of(side_by_side).results if each.structure_s is not None]
    assert len(every) == 2 * sum(is_predictable(name) for name in ALGORITHMS)
    for each in every:
        assert abs(each.error(each.structure_s)) < 0.06, each
    assert any(each.error(each.messages_s) > 0.5 for each in every)
    assert results.choose_prediction(every)[0] == results.STRUCTURE


def test_on_one_medium_the_number_of_messages_tells(one_medium, golden):
    every = BarrierResults.of(one_medium).results
    form, factor = results.choose_prediction(every)
    assert form == results.MESSAGES and factor < 1.03
    golden("barriers/one_medium.txt", sections_text(one_medium), quantities)
    three = results.choose(one_medium, 3)
    assert not three.is_measured and three.best.basis == results.MESSAGES
    assert three.best.seconds == pytest.approx(sequential_time("central", 3, COSTS), rel=0.03)


def test_the_fastest_is_chosen(side_by_side):
    choice = results.choose(side_by_side, 4)
    cost = {name: by_the_structure(name, 4) for name in ALGORITHMS}
    assert choice.is_measured and cost[choice.best.algorithm] < 1.02 * min(cost.values())
    for name in choice.equally_fast:
        assert cost[name] < 1.1 * min(cost.values())
    order = [c.seconds for c in choice.candidates]
    assert order == sorted(order) and {c.algorithm for c in choice.candidates} == set(ALGORITHMS)
    assert choice.candidate("mpi").seconds == pytest.approx(54e-6, rel=0.03)


def test_ranks_that_were_not_measured_are_predicted(side_by_side, golden):
    choice = results.choose(side_by_side, 3)
    assert not choice.is_measured
    golden("barriers/predicted_choice.txt", choice_sentence(choice), quantities)
    known = BarrierResults.of(side_by_side).costs
    for each in choice.candidates:
        if each.basis == results.STRUCTURE:
            assert each.seconds == structural_time(each.algorithm, 3, known)
    assert {c.algorithm for c in choice.candidates if c.basis == results.STRUCTURE} == {
        name for name in ALGORITHMS if is_predictable(name)
    }
    others = {name for name in ALGORITHMS if not is_predictable(name)}
    assert others == {c.algorithm for c in choice.candidates if c.basis == results.FITTED_BASIS} | set(
        choice.without_result
    )


def test_what_is_not_known_is_not_chosen(side_by_side):
    with pytest.raises(Inconclusive) as caught:
        results.choose(side_by_side, 8)  # on 4 cores
    assert caught.value.code == "ranks-beyond-models"
    with pytest.raises(UsageError) as caught:
        results.choose(side_by_side, 1)
    assert caught.value.code == "one-rank-needs-no-barrier"
    nothing = replace(side_by_side, fits=replace_struct(side_by_side.fits, summaries=[], fits=[]))
    with pytest.raises(Inconclusive) as caught:
        results.choose(nothing, 2)
    assert caught.value.code == "no-loop-of-barriers"


def test_more_ranks_than_cores_have_no_prediction(side_by_side, golden):
    few = replace(side_by_side, machine=replace_struct(side_by_side.machine, cores=2))
    every = BarrierResults.of(few).results
    assert all(each.structure_s is None for each in every if each.ranks == 4)
    assert any(each.structure_s is not None for each in every if each.ranks == 2)
    golden("barriers/two_cores.txt", sections_text(few), quantities)


def candidate(name: str, value: float, low: float, high: float) -> results.Candidate:
    time = ExactValue.of(value) if low == high else Estimate(value, low, high)
    return results.Candidate(name, time, "measured")


def test_where_intervals_meet_no_difference_is_claimed(golden):
    first, near, far = (
        candidate("a", 1e-6, 0.9e-6, 1.1e-6), candidate("b", 1.2e-6, 1.1e-6, 1.3e-6),
        candidate("mpi", 2e-6, 1.9e-6, 2.1e-6),
    )  # fmt: skip
    choice = results._make_choice(2, True, [far, near, first])
    assert choice.best is first and choice.equally_fast == ("b",)
    clear = results._make_choice(2, True, [far, first])
    assert clear.best is first and clear.equally_fast == ()
    golden("barriers/intervals.txt", f"{choice_sentence(choice)}\n{choice_sentence(clear)}")
    exact = [
        candidate("a", 1.0, 1.0, 1.0),
        candidate("b", 1.004, 1.004, 1.004),
        candidate("c", 1.006, 1.006, 1.006),
    ]
    assert results._make_choice(2, True, exact).equally_fast == ("b",), "half a percent is not worth telling"


def test_a_barrier_that_dies_leaves_the_others_alive(tmp_path, golden):
    launcher = parse_fake_launcher(
        "fake:die=barrier algorithm=central iterations=1000000;hang=algorithm=mcs_tree"
    )
    evidence = run(tmp_path / "r", launcher, Options(ranks=(2,), parameters={"iterations": 1_000_000}))
    lost = {str(case["algorithm"]) for case, _ in BarrierResults.of(evidence).failures}
    assert lost == {"central", "mcs_tree"}
    page = studies.find_study("barriers").page(evidence)
    _, survived, failed, *_ = page.headline
    assert re.findall(r"\d+", survived) == [str(len(ALGORITHMS) - 2), "1000000"]
    assert all(name in failed for name in lost)
    golden("barriers/failed_headline.txt", f"{survived}\n{failed}", numbers)
    table = next(t for s in page.sections for t in s.tables if t.name == "failed")
    assert any("died" in row[1] and "central" in row[0] for row in table.rows)
    assert any("hung" in row[1] and "mcs_tree" in row[0] for row in table.rows)
    choice = results.choose(evidence, 2)
    assert {c.algorithm for c in choice.candidates} == set(ALGORITHMS) - lost and set(
        choice.without_result
    ) == lost


def test_the_page_has_everything(side_by_side, golden):
    page = studies.find_study("barriers").page(side_by_side)
    figures = {f.name for f in page.figures}
    assert page.lead.name == "barriers-4" and figures >= {
        "barriers-2",
        "barriers-rounds", "barriers-trees", "barriers-total", "barriers-others", "barriers-predicted",
        "barriers-entered", "barriers-paper",
    }  # fmt: skip
    tables = {t.name: t for s in page.sections for t in s.tables}
    rows = [row for name, table in tables.items() if name.startswith("barriers-") for row in table.rows]
    assert len(rows) == len(tables["arrivals"].rows) == 2 * len(ALGORITHMS)
    assert {row[0] for row in rows} == set(ALGORITHMS)
    assert len(tables["paper"].rows) == 6 * 7
    made_of_messages = sum(is_predictable(name) for name in ALGORITHMS)
    for ranks, sentence in zip((2, 4), page.headline[-2:], strict=True):
        close = f"{made_of_messages} of {made_of_messages}"
        assert sentence.startswith(f"On {ranks} ") and f" {close} " in sentence
    golden("barriers/headline.txt", "\n".join(page.headline[-2:]), numbers)
    assert render(page)


def test_one_number_of_ranks_is_a_table_and_no_figure(side_by_side):
    summaries = [s for s in side_by_side.fits.summaries if "ranks=2" in s.case.split()]
    page = studies.find_study("barriers").page(
        replace(side_by_side, fits=replace_struct(side_by_side.fits, summaries=summaries))
    )
    tables = [t for s in page.sections for t in s.tables if t.name.startswith("barriers-")]
    assert sum(len(table.rows) for table in tables) == len(ALGORITHMS)
    drawn = [f.name for f in page.figures if f.name.startswith(("barriers-2", "barriers-4", "barriers-r"))]
    assert drawn == ["barriers-2"] and page.lead.name == "barriers-2"


def test_the_first_figure_has_every_barrier_in_order_with_its_interval(side_by_side):
    figure = studies.find_study("barriers").page(side_by_side).lead
    choice = results.choose(side_by_side, 4)
    order = [c.algorithm for c in choice.candidates]
    called = {"mpi": "MPI_Barrier", "mpi_nonblocking": "MPI_Ibarrier"}
    assert list(figure.x.names) == [called.get(name, name) for name in order]
    drawn = {
        int(x): (s.name, *point)
        for s in figure.series
        for x, *point in zip(s.x, s.y, s.low, s.high, strict=True)
    }
    assert len(drawn) == len(ALGORITHMS)
    for k, candidate in enumerate(choice.candidates):
        assert drawn[k][1:] == (candidate.seconds, candidate.time.low, candidate.time.high)
    own = {order[k] for k, (name, *_) in drawn.items() if name == drawn[order.index("mpi")][0]}
    assert own == set(called) and figure.marks == ((choice.candidate("mpi").seconds, "MPI_Barrier"),)


def test_an_empty_run_has_a_page(side_by_side, golden):
    nothing = replace(
        side_by_side,
        fits=replace_struct(side_by_side.fits, summaries=[], fits=[]),
        run=type(side_by_side.run)((), ()),
    )
    page = studies.find_study("barriers").page(nothing)
    assert render(page)
    golden("barriers/empty_headline.json", page.headline)


def test_the_paper_is_explained_by_its_messages():
    """On 16 processes within 10%; the tournament's broadcast counts as one."""
    for name in ("dissemination", "mcs-tree", "n-way", "total-exchange", "tournament"):
        assert paper.predicted_s(name, 16) == pytest.approx(paper.printed_s(name, 16), rel=0.1)
    assert paper.predicted_s("mpi", 16) == pytest.approx(0.51 * paper.printed_s("mpi", 16), rel=0.01)


def test_what_fits_neither_prediction_is_not_said_to_fit_one():
    far = BarrierResult(
        "central", 2, {"loop": Estimate(10e-6, None, None)}, structure_s=1e-6, messages_s=2e-6
    )
    assert results.choose_prediction([far]) == (results.STRUCTURE, pytest.approx(10.0))
    near = BarrierResult(
        "central", 2, {"loop": Estimate(2.1e-6, None, None)}, structure_s=1e-6, messages_s=2e-6
    )
    assert results.choose_prediction([near]) == (results.MESSAGES, pytest.approx(1.05))
