# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Iterative solvers make slightly different numbers of iterations on different numbers of ranks. All else
must be as the other runs predict it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from extrapolation.made_programs import observed, solver, traced_graph
from extrapolation.test_structure import communication, structure_of, synthesized
from replay.made_traces import part

from hockney.extrapolation.computation import fit_computation
from hockney.extrapolation.iterations import with_equal_iterations
from hockney.extrapolation.observations import CallKinds
from hockney.extrapolation.scaling import check_largest_run, unknown_sites
from hockney.extrapolation.structure import Structure

RUNS = (2, 4, 9, 16)
BY_RUN = {2: (30, 42), 4: (31, 42), 9: (29, 42), 16: (30, 43)}
"""Iterations of both steps."""
slightly = partial(solver, iterations=lambda ranks, step: BY_RUN.get(ranks, BY_RUN[16])[step])
ERROR = 3 / 73


@pytest.fixture(scope="module")
def structure() -> Structure:
    return structure_of(slightly, RUNS)


def test_iterations_that_differ_slightly_are_those_of_the_largest_run(structure):
    check_largest_run(structure)
    made = synthesized(structure, 25)
    assert not structure.misfits and not made.unmatched
    (loop,) = structure.rough_loops
    assert loop.site == "Allreduce at line 50"
    assert loop.iterations == {ranks: sum(each) for ranks, each in BY_RUN.items()}
    assert loop.error == pytest.approx(ERROR)
    assert communication(made) == communication(traced_graph(slightly, 25))


def test_their_error_grows_beyond_the_runs(structure):
    assert structure.iteration_error(4) == structure.iteration_error(128) == pytest.approx(ERROR)
    assert structure.iteration_error(16 * 64) == pytest.approx((1 + ERROR) ** 2 - 1)


def test_runs_keep_their_own_calls_besides_whole_iterations(structure):
    kinds = CallKinds()
    runs = observed(slightly, RUNS, kinds)
    made, _ = with_equal_iterations(runs, kinds)
    same = observed(partial(solver, iterations=lambda ranks, step: BY_RUN[16][step]), RUNS, kinds)
    for one, expected in zip(made, same, strict=True):
        for calls, other in zip(one.sequences, expected.sequences, strict=True):
            assert np.array_equal(calls.kinds, other.kinds) and np.array_equal(calls.parts, other.parts)
            assert calls.computed_s.sum() == pytest.approx(other.computed_s.sum(), rel=1e-3)
    computed = fit_computation(made, structure.arrangement.dims, "strong").total
    assert computed.basis.text == "/ P"


def test_a_number_of_iterations_with_a_law_is_not_rough():
    def program(rank, ranks):
        for _ in range(96 + ranks.bit_length()):
            rank.call("Allreduce", part("collective", size=8))

    structure = structure_of(program, (2, 4, 8, 16))
    assert not structure.rough_loops and not structure.misfits
    assert len(synthesized(structure, 64).graph.groups) == 103


def halving(k: int) -> int:
    return (1 << 12) // (k + 1)


@pytest.mark.parametrize(
    "program",
    [
        partial(solver, iterations=lambda ranks, step: {2: 30, 4: 30, 9: 32}[ranks]),
        partial(slightly, size=halving),
        partial(slightly, is_pending=True),
        partial(solver, iterations=lambda ranks, step: 30, messages=lambda ranks: {4: 20}.get(ranks, 21)),
    ],
    ids=["larger difference", "other sizes in each iteration", "requests", "number of messages"],
)
def test_other_differences_remain(program):
    kinds = CallKinds()
    runs = observed(program, RUNS[:3], kinds)
    assert with_equal_iterations(runs, kinds) == (runs, ())


def test_larger_differences_have_no_pattern():
    structure = structure_of(
        partial(solver, iterations=lambda ranks, step: {2: 15, 4: 15, 9: 16}[ranks]), RUNS[:3]
    )
    assert sum(each.calls for each in unknown_sites(structure)) > 0.5


def test_a_number_of_messages_is_no_number_of_iterations():
    """Also if that of iterations differs slightly."""
    structure = structure_of(
        partial(
            solver,
            iterations=lambda ranks, step: {9: 21}.get(ranks, 20),
            messages=lambda ranks: {4: 21}.get(ranks, 20),
        ),
        RUNS[:3],
    )
    assert {"Recv at line 41", "Send at line 42"} <= {each.site for each in unknown_sites(structure)}
