# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The NAS Parallel Benchmarks as programs: their operations and rates, and which assumption of a prediction
fails."""

from __future__ import annotations

import pytest
from program_counts import official_operations
from simulated_switch import even_switch

from hockney.models.applications.message_costs import costs_of_description
from hockney.models.programs.communication import Communication
from hockney.models.programs.scaling import ProgramMachine, forecast
from hockney.models.programs.timing import IterationTime, PartTime
from hockney.suites.npb.predictions.npb import Benchmark
from hockney.suites.npb.programs import PROGRAMS
from hockney.suites.npb.programs.assumptions import PhaseTime, diagnose
from hockney.suites.npb.programs.program import Indivisible, Rates, uniform_rates
from hockney.system.bundled import bundled_workloads


def test_rates_differ_between_phases_and_one_without_a_rate_has_the_mean():
    rates = Rates({"a": 2.0}, default=5.0)
    assert [rates.for_phase(phase) for phase in ("a", "b")] == [2.0, 5.0]


def test_levels_that_every_rank_computes_take_the_rates_of_their_operators():
    """Multigrid's coarse levels have no rate of their own on one rank."""
    program = PROGRAMS["mg"]("S", 4)
    slow = program.iteration(Rates({"smoothing": 2.0}, default=1.0))
    even = program.iteration(uniform_rates(1.0))
    more = [
        a.computation(4) / b.computation(4)
        for a, b in zip(slow.parts, even.parts, strict=True)
        if hasattr(b, "noise") and b.name == "coarse" and b.computation(4).all()
    ]
    assert {1.0, 2.0} == {float(each.max()) for each in more}


def test_the_operations_of_all_ranks_are_the_official_ones():
    """The operations hold in every class and on every number of ranks, except for one rank of IS, which does
    not sort."""
    workloads = bundled_workloads()
    for kernel in PROGRAMS:
        for size in workloads[kernel].parameter("class").choices:
            for ranks in (1, 2, 3, 16, 61):
                if kernel == "is" and ranks == 1 and size != "B" and size != "C":
                    continue
                try:
                    made = PROGRAMS[kernel](size, ranks)
                except Indivisible:
                    continue
                done = sum(official_operations(made, phase) for phase in made.phases)
                assert done == pytest.approx(made.operations, rel=1e-9), (kernel, size, ranks)


def run_of(**phases: float) -> IterationTime:
    """A run that computes for these seconds."""
    times = tuple(PartTime(name, "computation", seconds) for name, seconds in phases.items())
    return IterationTime(sum(phases.values()), 0.0, times)


@pytest.mark.parametrize(
    ("parts", "failing"),
    [
        ({"computation": 20.0, "messages": 0.0, "collectives": 0.0, "waiting": 0.0}, "rates"),
        ({"computation": 10.0, "messages": 0.0, "collectives": 0.0, "waiting": 10.0}, "balance"),
        ({"computation": 10.0, "messages": 9.0, "collectives": 1.0, "waiting": 0.0}, "messages"),
        ({"computation": 10.0, "messages": 1.0, "collectives": 9.0, "waiting": 0.0}, "collectives"),
        ({"computation": 13.0, "messages": 2.0, "collectives": 3.0, "waiting": 2.0}, None),
    ],
)
def test_the_term_that_corrects_most_fails(parts: dict, failing: str | None):
    found = diagnose(run_of(a=10.0), 20.0, parts)
    assert found.error == pytest.approx(-0.5)
    assert found.failed_assumption == failing


def test_the_phase_with_the_largest_difference_is_named():
    phases = (PhaseTime("a", 12.0, 0.0, 0.0), PhaseTime("b", 20.0, 0.0, 0.0))
    parts = {"computation": 32.0, "messages": 0.0, "collectives": 0.0, "waiting": 0.0}
    found = diagnose(run_of(a=10.0, b=10.0), 32.0, parts, phases)
    assert (found.failed_assumption, found.phase) == ("rates", "b")
    assert found.corrected_error == pytest.approx(0)


def test_ranks_that_share_cores_compute_in_turn_and_intervals_are_of_both_times():
    machine = even_switch(4)
    costs = Communication(costs_of_description(machine), platform=machine)
    program = Benchmark("ep", "S", uniform_rates(1e9))
    ends = {"value": costs, "low": costs, "high": costs}
    found = forecast(program, (1, 2, 4), ProgramMachine(ends, cores=2, computing=(0.9, 1.2)), "strong")
    assert [row.shared_by for row in found.rows] == [1, 1, 2]
    assert found.rows[2].seconds("computation") == pytest.approx(found.rows[1].seconds("computation"))
    assert found.changed_ranks == 2 and found.fastest.ranks == 2
    two = found.rows[1]
    computed, others = two.seconds("computation"), two.time.value - two.seconds("computation")
    assert two.time.low == pytest.approx(0.9 * computed + others)
    assert two.time.high == pytest.approx(1.2 * computed + others)
    assert two.speed_up.low < two.speed_up.value < two.speed_up.high < 2
