# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Programs with a known structure, traced on few ranks, have on many ranks exactly the messages and
collectives that they would have there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from extrapolation.made_programs import (
    COMMUNICATORS,
    CUBES,
    FOLDED,
    PROGRAMS,
    ROUNDS,
    STEPS,
    TREES,
    WORK_S,
    halo,
    irregular,
    observed,
    on_nodes,
    polling_first,
    traced_graph,
)  # fmt: skip
from replay.made_traces import job_of_written, part, written

from hockney.core.errors import Inconclusive
from hockney.extrapolation.computation import fit_computation
from hockney.extrapolation.grids import balanced
from hockney.extrapolation.observations import CallKinds, ObservedRun, observe
from hockney.extrapolation.placements import Place
from hockney.extrapolation.region_laws import MIN_ERROR
from hockney.extrapolation.regions import Calls
from hockney.extrapolation.scaling import check_largest_run, unknown_sites
from hockney.extrapolation.search import find_structure
from hockney.extrapolation.structure import Structure
from hockney.extrapolation.synthesis import Synthesis
from hockney.profiles.trace import Counter
from hockney.replay import graph as g
from hockney.replay.building import TraceGraph


def structure_of(program, counts) -> Structure:
    kinds = CallKinds()
    return find_structure(observed(program, counts, kinds), kinds)


def synthesized(structure: Structure, ranks: int, nodes: Sequence[int] = ()) -> TraceGraph:
    made = Synthesis(structure, ranks, structure.arrangement.of(ranks), nodes)
    calls, role_of = made.calls_by_role()
    return made.build(lambda rank: np.full(len(calls[role_of[rank]].kinds) + 1, 1e-6))


def communication(made: TraceGraph) -> tuple[list[tuple], list[tuple], list[list[int]]]:
    """All messages; all collectives, with their ranks; and the kinds of the operations of each rank."""
    graph = made.graph
    messages = sorted(map(tuple, graph.messages[["source", "target", "tag", "size"]].tolist()))
    groups = sorted(
        (
            graph.operations[each["operation"]],
            *graph.communicators[each["communicator"]].tolist(),
            each["root"],
            each["size"],
        )
        for each in graph.groups
    )
    kinds = [
        graph.ops["kind"][first:end].tolist()
        for first, end in zip(graph.first, graph.first[1:], strict=False)
    ]
    return messages, groups, kinds


CASES = [
    *((name, program, (2, 4, 8, 16), 64) for name, program in PROGRAMS.items()),
    *((name, program, (8, 16, 27), 64) for name, program in CUBES.items()),
    *((name, program, (2, 4, 8, 16), 64) for name, program in (TREES | ROUNDS).items()),
    *((name, program, (2, 4, 8, 16), 64) for name, program in COMMUNICATORS.items()),
    *((f"{name}, any number", program, (3, 4, 6, 7, 12), 23) for name, program in TREES.items()),
    *((name, program, (3, 4, 6, 8, 13), 27) for name, program in FOLDED.items()),
    ("odd-even transposition, any number", ROUNDS["odd-even transposition"], (3, 4, 6, 7, 12), 23),
    ("tournament, any even number", ROUNDS["tournament"], (4, 8, 12, 16), 24),
]


@pytest.mark.parametrize(
    ("program", "counts", "ranks"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_many_ranks_communicate_as_the_program_would(program, counts, ranks):
    structure = structure_of(program, counts)
    check_largest_run(structure)
    made = synthesized(structure, ranks)
    assert not structure.misfits and not made.unmatched
    messages, groups, kinds = communication(made)
    expected = communication(traced_graph(program, ranks))
    assert messages == expected[0]
    assert groups == expected[1]
    assert kinds == expected[2]


def test_requests_are_completed_where_the_program_waits_whatever_its_tests_found():
    structure = structure_of(polling_first, (3, 5, 8))
    made = synthesized(structure, 32)
    assert not structure.misfits
    assert communication(made) == communication(traced_graph(partial(polling_first, tests=False), 32))


def in_steps(rank, ranks):
    """Sizes of whole cells."""
    for _ in range(6):
        for sign in (-1, 1):
            size = 800 * math.ceil(84 / ranks)
            sent, received = (
                part("send", (rank.rank + sign) % ranks, size),
                part("receive", (rank.rank - sign) % ranks, size),
            )
            rank.call("Sendrecv", sent, received, site=1, after=1e-3)


def test_sizes_that_follow_a_law_roughly_have_an_error():
    structure = structure_of(in_steps, (8, 16, 32))
    (error,) = structure.rough_sizes().values()
    assert 0.05 < error <= 1 and not structure.misfits
    usual = Synthesis(structure, 32, (32,)).volumes()["Sendrecv at line 1"]
    for ranks, beyond in ((32, 1), (128, 1), (2048, 3)):
        assert structure.size_error(0, structure.size_laws[next(iter(structure.size_laws))], ranks) == (
            pytest.approx((1 + error) ** beyond - 1)
        )
    largest = Synthesis(replace(structure, has_largest_sizes=True), 32, (32,)).volumes()["Sendrecv at line 1"]
    assert largest.count == usual.count
    assert largest.size == pytest.approx(usual.size * (1 + error), rel=0.01)


def test_a_program_without_a_pattern_is_named():
    structure = structure_of(irregular, (4, 8, 16))
    sites = unknown_sites(structure)
    assert {site.site for site in sites} >= {"Isend at line 1", "Recv at line 2"}
    assert sum(site.share for site in sites) > 0.5


def test_ranks_inside_a_grid_must_have_been_traced():
    structure = structure_of(CUBES["grid of three dimensions"], (4, 8, 16))
    with pytest.raises(Inconclusive) as caught:
        synthesized(structure, 64)
    assert caught.value.code == "unknown-role"
    structure = structure_of(CUBES["torus of three dimensions"], (4, 8, 16))
    with pytest.raises(Inconclusive) as caught:
        synthesized(structure, 64)
    assert caught.value.code == "unknown-direction"


def test_a_refusal_names_the_ranks_to_trace():
    program = halo(2, periodic=False, size=2304)
    structure = structure_of(program, (2, 4, 8))
    with pytest.raises(Inconclusive) as caught:
        synthesized(structure, 64)
    assert caught.value.code == "unknown-role" and caught.value.fields["trace"] == [9, 12]
    structure = structure_of(program, (2, 4, 8, 9))
    made = synthesized(structure, 64)
    assert communication(made)[0] == communication(traced_graph(program, 64))[0]


def test_nodes_are_those_of_the_other_machine():
    structure = structure_of(partial(on_nodes, size=2), (4, 8, 16))
    made = synthesized(structure, 64, [rank // 8 for rank in range(64)])
    assert not structure.misfits
    assert communication(made) == communication(traced_graph(partial(on_nodes, size=8), 64))
    structure = structure_of(partial(on_nodes, size=16), (4, 8, 16))
    with pytest.raises(Inconclusive) as caught:
        synthesized(structure, 64, [rank // 8 for rank in range(64)])
    assert caught.value.code == "traced-on-one-node"


def test_laws_that_the_runs_do_not_tell_apart_are_named():
    def program(rank, ranks):
        halo(2, periodic=False)(rank, ranks)
        for _ in range(STEPS):
            rank.call("Barrier", part("collective"), site=70)
            for _ in range(balanced(ranks, 2)[0] // 2):
                rank.call("Allreduce", part("collective", size=8), site=71)

    structure = structure_of(program, (4, 8, 16))
    ((text, other),) = structure.others(Place(64, (8, 8)))
    assert not structure.misfits and "log2(y)" in text
    volumes = [Synthesis(each, 64, (8, 8)).volumes() for each in (structure, other)]
    assert [each["Allreduce at line 71"].count for each in volumes] == [64 * STEPS * 3, 64 * STEPS * 4]


def test_the_surface_in_a_direction_does_not_depend_on_the_size_in_it():
    """All runs have two equal sizes of the grid; 256 ranks do not."""
    structure = structure_of(CUBES["grid of three dimensions"], (2, 8, 16, 27))
    dims = (4, 8, 8)
    checked = 0
    for key, law in structure.size_laws.items():
        if sorted(key.label) == [0, 0, 1]:
            across = math.prod(count for count, own in zip(dims, key.label, strict=True) if not own)
            assert law.at(256, dims) == pytest.approx(8 * 48**2 / across), law.text
            checked += 1
    assert checked >= 6


def test_the_largest_run_is_predicted_from_the_others():
    def changing(rank, ranks):
        halo(1, periodic=False)(rank, ranks)
        for _ in range(3 if ranks == 16 else 1):
            rank.call("Bcast", part("collective", size=1 << 20, root=0), site=77)

    kinds = CallKinds()
    structure = find_structure(observed(changing, (2, 4, 8, 16), kinds), kinds)
    check_largest_run(structure)
    assert [misfit.site for misfit in structure.misfits] == ["Bcast at line 77"]
    regular = structure_of(halo(1, periodic=False), (2, 4, 8, 16))
    check_largest_run(regular)
    assert not regular.misfits


def test_computation_follows_its_law_and_keeps_its_sum():
    kinds = CallKinds()
    runs = observed(halo(1, periodic=True), (1, 2, 4, 8, 16), kinds)
    structure = find_structure(runs[1:], kinds)
    model = fit_computation(runs, structure.arrangement.dims | {1: (1,)}, "strong")
    assert model.runs == (1, 2, 4) and model.total.basis.text == "/ P"
    sequence = runs[-1].sequences[3]
    means = model.means(Calls(sequence.kinds, sequence.is_root), Place(64, (64,)))
    total = float(means.seconds[means.region].sum())
    assert total == pytest.approx(6 * WORK_S / 64 * 1.125, rel=0.05)
    varied = means.vary(np.random.default_rng(1))
    assert varied.sum() == pytest.approx(total, rel=0.05)
    with pytest.raises(Inconclusive) as caught:
        fit_computation(runs[3:], structure.arrangement.dims, "strong")
    assert caught.value.code == "only-crowded-runs"


def counted(run: ObservedRun, counter: Counter, unit: float) -> ObservedRun:
    """The run with what it computed as counts of this many seconds, and times that ranks on the same core
    make four times as long."""
    crowded = run.ranks > 2
    sequences = tuple(
        replace(
            each,
            counts=np.append(each.computed_s, each.tail_s) / unit,
            computed_s=each.computed_s * (4 if crowded else 1),
        )
        for each in run.sequences
    )
    return replace(run, crowded=crowded, counter=counter, sequences=sequences)


@pytest.mark.parametrize(("counter", "unit"), [("cpu time", 1.0), ("instructions", 4e-10)])
def test_counts_show_the_computation_of_oversubscribed_ranks(counter, unit):
    kinds = CallKinds()
    runs = [counted(run, counter, unit) for run in observed(halo(1, periodic=True), (2, 4, 8, 16), kinds)]
    dims = {run.ranks: (run.ranks,) for run in runs}
    model = fit_computation(runs, dims, "strong")
    assert model.runs == (2, 4, 8, 16) and model.total.basis.text == "/ P"
    assert set(model.counted) >= {4, 8, 16} and not model.unseen
    assert model.total.at(64, (64,)) == pytest.approx(6 * WORK_S / 64 * 1.125, rel=0.01)
    assert model.error_at(64) < 0.05
    if counter == "cpu time":
        assert fit_computation(runs[1:], dims, "strong").runs == (4, 8, 16)
    else:
        with pytest.raises(Inconclusive):
            fit_computation(runs[1:], dims, "strong")


def test_processor_time_of_ranks_that_sleep_is_not_their_computation():
    kinds = CallKinds()
    runs = observed(halo(1, periodic=True), (2, 4, 8, 16), kinds)
    asleep = [runs[0], *(counted(run, "cpu time", 1e4) for run in runs[1:])]
    model = fit_computation(asleep, {run.ranks: (run.ranks,) for run in runs}, "strong")
    assert model.runs == (2,) and model.counted == ()


def test_the_error_of_computation_grows_with_ranks_if_runs_deviate_from_the_law():
    def slower(rank, ranks):
        for _ in range(6):
            after = WORK_S / ranks * (1 + 0.02 * math.log2(ranks))
            rank.call("Allreduce", part("collective", size=8), after=after)

    def exact(rank, ranks):
        for _ in range(6):
            rank.call("Allreduce", part("collective", size=8), after=WORK_S / ranks)

    errors = {}
    for program in (slower, exact):
        runs = [replace(run, crowded=False) for run in observed(program, (2, 4, 8, 16), CallKinds())]
        model = fit_computation(runs, {run.ranks: (run.ranks,) for run in runs}, "strong")
        errors[program] = [model.total.error_at(ranks) for ranks in (16, 64, 1024)]
        miss = abs(
            model.total.at(1024, (1024,)) / (6 * WORK_S / 1024 * (1.2 if program is slower else 1)) - 1
        )
        assert miss < errors[program][2]
    assert errors[slower][0] < errors[slower][1] < errors[slower][2]
    assert max(errors[exact]) < 0.03


def test_launches_show_how_much_they_differ():
    runs = observed(halo(1, periodic=True), (2, 4), CallKinds())
    dims = {2: (2,), 4: (4,)}
    spread = [replace(run, launches_s=(1.0, 1.1, 0.9, 1.2)) for run in runs]
    narrow = [replace(run, launches_s=(1.0, 1.001, 0.999)) for run in runs]
    errors = [fit_computation(each, dims, "strong").launches for each in (narrow, runs, spread)]
    assert errors[0] < 0.005 < errors[1] == MIN_ERROR < 0.2 < errors[2]


def test_the_cores_of_a_host_that_computed_are_known():
    made = written(8)
    for each in made:
        each.call("Barrier", part("collective"))
    traces = [each.trace for each in made]
    for hosts, cores, busy in ([0] * 8, 4, 4), ([0, 0, 0, 1, 1, 1, 2, 2], 4, 3), ([0] * 8, 0, 0):
        job = job_of_written(made, hosts=hosts)
        run = observe(traces, job, CallKinds(), crowded=False, elapsed_s=1.0, cores=cores)
        assert run.busy_cores == busy
        assert fit_computation([run], {8: (8,)}, "strong").busy_cores == busy


def test_more_iterations_of_a_loop_compute_no_more():
    def program(rank, ranks):
        for _ in range(6):
            for bit in range(ranks.bit_length() - 1):
                after = WORK_S / ranks if bit == 0 else 1e-7
                partner = rank.rank ^ (1 << bit)
                rank.call("Sendrecv", part("send", partner, 8), part("receive", partner, 8), after=after)

    kinds = CallKinds()
    runs = observed(program, (2, 4, 8), kinds)
    alone = [replace(run, crowded=run.ranks > 2) for run in runs]
    structure = find_structure(runs, kinds)
    model = fit_computation(alone, structure.arrangement.dims, "strong")
    (calls,), _ = Synthesis(structure, 64, (64,)).calls_by_role()
    means = model.means(calls, Place(64, (64,)))
    assert len(calls.kinds) == 6 * 6
    assert float(means.seconds[means.region].sum()) == pytest.approx(6 * WORK_S / 64, rel=0.05)


def test_ranks_with_other_calls_are_no_variation():
    kinds = CallKinds()
    runs = observed(PROGRAMS["master and workers"], (2, 4, 8), kinds)
    model = fit_computation(runs, {2: (2,), 4: (4,), 8: (8,)}, "strong")
    assert model.rank_factors == pytest.approx(np.ones(3), rel=0.01)  # of the workers
    assert model.imbalance == pytest.approx(4 / 3, rel=0.01)


def test_requests_are_completed_in_graphs_with_more_loops():
    made = synthesized(structure_of(PROGRAMS["all pairs"], (2, 4, 8)), 32)
    ops = made.graph.ops
    assert (
        np.count_nonzero(ops["kind"] == g.RECEIVED)
        == np.count_nonzero(ops["kind"] == g.RECEIVE)
        == 6 * 32 * 31
    )
