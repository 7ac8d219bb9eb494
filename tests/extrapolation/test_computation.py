# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Computation on more ranks is attributed to the calls and the ranks at which the program computes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from extrapolation.made_programs import PROGRAMS, STEPS, WORK_S, observed
from replay.made_traces import Written, part

from hockney.extrapolation.bodies import later_iterations
from hockney.extrapolation.computation import HOST_S, ComputationModel, fit_computation
from hockney.extrapolation.observations import CallKinds
from hockney.extrapolation.regions import rank_factors
from hockney.extrapolation.search import find_structure
from hockney.extrapolation.structure import Structure
from hockney.extrapolation.synthesis import Synthesis

SERIAL_S, MERGE_S = 5e-3, 1e-3


def fitted(program, counts=(2, 4, 8, 16), crowded=(), late_s=0.0) -> tuple[Structure, ComputationModel]:
    """Ranks of the `crowded` runs share cores, and are late by `late_s` at their first call."""
    kinds = CallKinds()
    runs = [replace(run, crowded=run.ranks in crowded) for run in observed(program, counts, kinds)]
    structure = find_structure(runs, kinds)
    assert not structure.misfits
    for run in runs if late_s else ():
        if run.crowded:
            for each in run.sequences:
                each.computed_s[0] += late_s * (1 + each.rank / 10)
    later = later_iterations(structure)
    dims = structure.arrangement.dims
    return structure, fit_computation(runs, dims, "strong", later, structure.features)


def computed(structure: Structure, model: ComputationModel, ranks: int) -> list[np.ndarray]:
    """The mean seconds before each call of each rank, and after the last one."""
    made = Synthesis(structure, ranks, structure.arrangement.of(ranks))
    means = model.means_of_ranks(*made.calls_by_role(), made.place)
    return [each.seconds[each.region] for each in means]


def serial(rank: Written, ranks: int) -> None:
    """The first rank reads for all of them."""
    for _ in range(STEPS):
        after = SERIAL_S if rank.rank == 0 else 1e-7
        rank.call("Bcast", part("collective", size=64, root=0), site=1, after=after)
        rank.call("Allreduce", part("collective", size=8), site=2, after=WORK_S / ranks)


def test_the_first_rank_computes_alone():
    structure, model = fitted(serial)
    seconds = computed(structure, model, 256)
    assert seconds[0].sum() == pytest.approx(STEPS * (SERIAL_S + WORK_S / 256), rel=0.02)
    for each in seconds[1:]:
        assert each.sum() == pytest.approx(STEPS * WORK_S / 256, rel=0.02)
    assert model.rank_factors == pytest.approx(np.ones(16), rel=0.01)


def repeated(rank: Written, ranks: int) -> None:
    """All ranks make one part of the work."""
    for _ in range(STEPS):
        rank.call("Allreduce", part("collective", size=8), after=SERIAL_S + WORK_S / ranks)


def test_all_ranks_compute_a_constant_part():
    structure, model = fitted(repeated)
    assert model.total.text == "/ P + constant"
    expected = STEPS * (SERIAL_S + WORK_S / 256)
    assert computed(structure, model, 256)[7].sum() == pytest.approx(expected, rel=0.02)
    assert model.error_at(256) < 0.05
    # Three runs do not show two coefficients: the interval is wide.
    _, model = fitted(repeated, (2, 4, 8))
    assert model.total.text != "/ P + constant" and model.error_at(256) > 0.2


def rounds(rank: Written, ranks: int) -> None:
    """log2(P) rounds, and computation before the first of them."""
    for _ in range(STEPS):
        for bit in range(ranks.bit_length() - 1):
            source, target = (rank.rank - (1 << bit)) % ranks, (rank.rank + (1 << bit)) % ranks
            after = WORK_S / ranks if bit == 0 else 1e-7
            rank.call("Sendrecv", part("send", target, 8), part("receive", source, 8), after=after)


@pytest.mark.parametrize("crowded", [(), (4, 8, 16)])
def test_computation_precedes_the_first_of_several_rounds(crowded):
    structure, model = fitted(rounds, crowded=crowded)
    for each in computed(structure, model, 64):
        assert each[:-1].reshape(STEPS, 6)[:, 0] == pytest.approx(np.full(STEPS, WORK_S / 64), rel=0.05)
        assert each.sum() == pytest.approx(STEPS * WORK_S / 64, rel=0.05)


def test_computation_repeats_in_turns():
    def program(rank: Written, ranks: int) -> None:
        for _ in range(STEPS):
            for offset, after in ((1, WORK_S / ranks), (ranks - 1, 1e-7), (1, 1e-7)):
                target, source = (rank.rank + offset) % ranks, (rank.rank - offset) % ranks
                rank.call("Sendrecv", part("send", target, 8), part("receive", source, 8), after=after)

    structure, model = fitted(program, (4, 8, 16))
    for each in computed(structure, model, 64):
        assert each[:-1].reshape(STEPS, 3)[1:, 0] == pytest.approx(np.full(STEPS - 1, WORK_S / 64), rel=0.05)
    random = np.random.default_rng(1)
    made = Synthesis(structure, 64, (64,))
    sums = [each.vary(random).sum() for each in model.means_of_ranks(*made.calls_by_role(), made.place)]
    assert sums == pytest.approx(np.full(64, STEPS * WORK_S / 64), rel=0.05)


def test_turns_show_in_runs_that_compute_for_different_times():
    """Two calls at one call site, with computation before the first one only."""

    def program(rank: Written, ranks: int) -> None:
        rank.call("Bcast", part("collective", size=64, root=0), site=1)
        for _ in range(STEPS):
            for after in (WORK_S / ranks, 1e-7):
                rank.call("Allreduce", part("collective", size=8), after=after)

    structure, model = fitted(program)
    for each in computed(structure, model, 64):
        own = each[1:-1].reshape(STEPS, 2)
        assert own[:, 0] == pytest.approx(np.full(STEPS, WORK_S / 64), rel=0.05)
        assert own[:, 1].sum() < 0.02 * own[:, 0].sum()


@pytest.mark.parametrize("levels", [20, STEPS * 20])
def test_computation_of_levels_is_at_its_place(levels):
    """All ranks compute much at the same time, as in multigrid cycles or an elimination."""

    def program(rank: Written, ranks: int) -> None:
        for k in range(STEPS * 20):
            after = WORK_S / ranks / (1 + k % levels)
            rank.call("Allreduce", part("collective", size=8), after=after)

    structure, model = fitted(program)
    for each in computed(structure, model, 64):
        expected = WORK_S / 64 / (1 + np.arange(STEPS * 20) % levels)
        assert each[1:-1] == pytest.approx(expected[1:], rel=0.05)


def test_workers_share_the_work_without_the_master():
    def program(rank: Written, ranks: int) -> None:
        for _ in range(STEPS):
            after = WORK_S / (ranks - 1) if rank.rank else 1e-7
            rank.call("Gather", part("collective", size=64, root=0), after=after)

    structure, model = fitted(program)
    seconds = computed(structure, model, 256)
    assert seconds[0].sum() < 1e-3 * seconds[1].sum()
    assert seconds[1].sum() == pytest.approx(STEPS * WORK_S / 255, rel=0.01)


def test_late_begins_of_ranks_that_share_cores_are_no_computation():
    """On 2 ranks, other calls precede computation than inside a grid."""
    structure, model = fitted(PROGRAMS["sweep"], (2, 4, 8, 16), (4, 8, 16), late_s=WORK_S)
    for each in computed(structure, model, 64)[1:]:
        assert each[0] < 0.02 * each.sum()


def test_a_rank_that_only_receives_computes_nothing():
    """Also if only two ranks show computation: there, other calls follow each other."""
    structure, model = fitted(PROGRAMS["master and workers"], crowded=(4, 8, 16))
    seconds = computed(structure, model, 64)
    assert seconds[0].sum() < 1e-3 * STEPS * WORK_S / 64
    assert seconds[5].sum() == pytest.approx(STEPS * WORK_S / 64, rel=0.02)


def test_the_error_is_that_of_the_ranks_that_compute():
    """The mean of all ranks, one of which only receives, follows no law."""
    _, model = fitted(PROGRAMS["master and workers"])
    assert model.total.error_at(64) > 0.2 > 0.05 > model.error_at(64)


def test_ranks_that_hardly_compute_show_no_variation():
    def program(rank: Written, ranks: int) -> None:
        for _ in range(STEPS):
            after = rank.rank * 1e-6 if rank.rank < ranks // 2 else WORK_S / ranks
            rank.call("Allreduce", part("collective", size=8), after=after)

    _, model = fitted(program)
    assert model.rank_factors == pytest.approx(np.ones(8), rel=0.01)


def test_computation_for_each_of_more_messages_grows_with_them():
    def program(rank: Written, ranks: int) -> None:
        for _ in range(STEPS):
            if rank.rank == 0:
                for source in range(1, ranks):
                    rank.call("Recv", part("receive", source, 32), site=1, after=MERGE_S)
            else:
                rank.call("Send", part("send", 0, 32), site=2, after=WORK_S / ranks)
            rank.call("Barrier", part("collective"), site=3, after=1e-6)

    structure, model = fitted(program)
    seconds = computed(structure, model, 64)
    assert seconds[0].sum() == pytest.approx(STEPS * 63 * MERGE_S, rel=0.02)
    assert seconds[5].sum() == pytest.approx(STEPS * WORK_S / 64, rel=0.02)


def test_roots_that_change_compute_more():
    """The panels of a factorization: one rank computes what the others wait for, less in each step."""
    blocks, panel_s, update_s = 128, 2e-3, 16e-3

    def program(rank: Written, ranks: int) -> None:
        for k in range(blocks):
            left = 1 - k / blocks
            own_s = update_s / ranks * left**2 + (panel_s * left if k % ranks == rank.rank else 0.0)
            rank.call("Bcast", part("collective", size=64, root=k % ranks), after=own_s)

    structure, model = fitted(program)
    assert model.distinctions.by_root
    made = Synthesis(structure, 64, (64,))
    means = model.means_of_ranks(*made.calls_by_role(), made.place)
    for rank in (0, 1, 37, 63):
        found = means[rank].steady()[1:-1]
        panels = np.flatnonzero(np.arange(1, blocks) % 64 == rank)
        left = 1 - np.arange(1, blocks) / blocks
        expected = update_s / 64 * left**2
        expected[panels] += panel_s * left[panels]
        assert found[panels] == pytest.approx(expected[panels], rel=0.2, abs=1e-5)
        assert found.sum() == pytest.approx(expected.sum(), rel=0.05)


def with_processor_time(program, cold_s, counts=(2, 4, 8, 16)) -> tuple[Structure, ComputationModel]:
    """Ranks of all runs but the first share cores, and count up to `cold_s` too much before each call."""
    kinds, random = CallKinds(), np.random.default_rng(1)
    runs = []
    for run in observed(program, counts, kinds):
        crowded = run.ranks > counts[0]
        sequences = []
        for each in run.sequences:
            computed_s = np.append(each.computed_s, each.tail_s)
            excess = cold_s * random.random(len(computed_s)) * crowded
            sequences.append(replace(each, counts=computed_s + excess))
        runs.append(replace(run, crowded=crowded, counter="cpu time", sequences=tuple(sequences)))
    structure = find_structure(runs, kinds)
    model = fit_computation(runs, structure.arrangement.dims, "strong", None, structure.features)
    return structure, model


def test_cold_caches_are_neither_computation_nor_variation():
    def program(rank: Written, ranks: int) -> None:
        for _ in range(20 * STEPS):
            rank.call("Allreduce", part("collective", size=8), site=1, after=128e-6 / ranks)
            rank.call("Barrier", part("collective"), site=2, after=1e-7)

    structure, model = with_processor_time(program, 5e-6)
    made = Synthesis(structure, 256, (256,))
    means = model.means_of_ranks(*made.calls_by_role(), made.place)
    expected = 20 * STEPS * (0.5e-6 + 1e-7)
    sums = [each.vary(np.random.default_rng(rank)).sum() for rank, each in enumerate(means)]
    assert max(sums) < 1.5 * expected and np.ptp(sums) < 0.2 * expected
    assert model.rank_factors == pytest.approx(np.ones(16), rel=0.05)


def test_computation_that_only_crowded_runs_show_has_a_doubt():
    """Ranks inside a line compute between calls that ranks at its ends do not make."""

    def program(rank: Written, ranks: int) -> None:
        for _ in range(20 * STEPS):
            rank.call("Allreduce", part("collective", size=8), site=1, after=1e-3 / ranks)
            if 0 < rank.rank < ranks - 1:
                for other in (rank.rank - 1, rank.rank + 1):
                    rank.call("Send", part("send", other, 8), site=2, after=1e-6)
            if rank.rank > 1:
                rank.call("Recv", part("receive", rank.rank - 1, 8), site=3, after=1e-6)
            if rank.rank < ranks - 2:
                rank.call("Recv", part("receive", rank.rank + 1, 8), site=4, after=1e-6)

    structure, model = with_processor_time(program, 5e-6)
    assert model.has_doubts
    made = Synthesis(structure, 64, structure.arrangement.of(64))
    calls = made.calls_by_role()
    low, high = (
        model.with_doubts(sign).means_of_ranks(*calls, made.place)[20].steady().sum() for sign in (-1, 1)
    )
    exact = 20 * STEPS * (1e-3 / 64 + 4e-6)
    assert low < exact < high
    # Two ranks, which have a core each, show the other computation.
    assert high - low < 20 * STEPS * 4 * 5e-6


def test_rare_delays_of_the_host_are_not_resampled():
    def program(rank: Written, ranks: int) -> None:
        for k in range(1000):
            delay = 1e-3 if (k * 7 + rank.rank * 13 + 3) % 500 == 0 else 0.0
            rank.call("Allreduce", part("collective", size=8), after=1e-3 / ranks + delay)

    structure, model = fitted(program)
    made = Synthesis(structure, 64, (64,))
    means = model.means_of_ranks(*made.calls_by_role(), made.place)
    longest = max(each.vary(np.random.default_rng(1)).max() for each in means)
    assert longest < 5e-5


def test_what_differs_between_the_halves_of_a_run_is_no_property_of_a_rank():
    random = np.random.default_rng(1)
    expected = np.ones((2, 64))
    slower = np.where(np.arange(64) < 32, 1.0, 1.2)
    noise = 1 + 0.02 * random.standard_normal((2, 64))
    found = rank_factors(noise * slower, expected, 0.02)
    assert found[:32].mean() == pytest.approx(1.0, abs=0.01)
    assert found[32:].mean() == pytest.approx(1.2, abs=0.01)
    chance = rank_factors(1 + 0.2 * random.standard_normal((2, 64)), expected, 0.02)
    assert chance.std() < 0.1


def test_steps_over_the_columns_of_a_grid_shrink_faster_than_the_work_of_a_rank():
    def program(rank: Written, ranks: int) -> None:
        steps = round(math.sqrt(ranks))
        for _ in range(steps):
            rank.call("Allreduce", part("collective", size=64), after=WORK_S / ranks / steps)

    structure, model = fitted(program, (4, 9, 16, 25))
    expected = np.full(15, WORK_S / 256 / 16)
    assert computed(structure, model, 256)[7][1:16] == pytest.approx(expected, rel=0.03)


def test_what_the_first_rank_computes_once_does_not_shrink():
    """Such as a file that it reads before the first broadcast, in a short time compared with all work."""
    read_s = 5e-4

    def program(rank: Written, ranks: int) -> None:
        rank.call("Bcast", part("collective", size=64, root=0), after=read_s if rank.rank == 0 else 1e-7)
        for _ in range(STEPS):
            rank.call("Allreduce", part("collective", size=8), after=WORK_S / ranks)

    structure, model = with_processor_time(program, 5e-6)
    found = computed(structure, model, 64)
    assert found[0][0] == pytest.approx(read_s, rel=0.05)
    assert found[1][0] < 1e-5
    # Another host may start faster, but not by more than this.
    faster = computed(structure, model.with_doubts(-1), 64)
    assert faster[0][0] == pytest.approx(read_s - HOST_S, rel=0.05)
