# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases: every core computes in fixed work quanta and, on real machines, in fixed time quanta; empty
messages between two ranks, from which barriers are predicted."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.core.units import format_seconds
from hockney.core.wording import option
from hockney.pages.evidence import Options, unique_cases
from hockney.studies import places

FIXED_WORK, FIXED_TIME, PING_PONG = "fwq", "ftq", "pingpong"
WORKLOADS = (FIXED_WORK, FIXED_TIME)
"""Compiled on first use."""
DEFAULT_SIMULATED_RANKS = 64
SIMULATED_QUANTUM_COST_S = 3e-6
SIMULATED_OBSERVATIONS = 30
"""The computing time of a simulated quantum, and how often a simulated core is observed."""
QUANTUM_S, SIMULATED_QUANTUM_S = 10e-6, 100e-6
DURATION_S, SIMULATED_DURATION_S = 1.0, 0.25
"""Simulated quanta are longer, because each one takes time to simulate."""
SLICE_S = 100e-6

QUANTUM = StudyParameter(
    "quantum",
    "real",
    "undisturbed time of a quantum of work (default: 10 us; simulated: 100 us)",
    unit="s",
    low=1e-6,
    high=0.01,
    example="20us",
)
DURATION = StudyParameter(
    "duration",
    "real",
    "length of one observation (default: 1 s; simulated: 250 ms)",
    unit="s",
    low=0.1,
    high=600,
    example="5s",
)
PARAMETERS = (QUANTUM, DURATION)


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """Raises UsageError for sizes, for an emulated machine, and for a simulation that exceeds the budget."""
    if options.sizes:
        raise UsageError(
            "noise has no sizes",
            "ranks send no messages while they observe their cores",
            "leave --sizes out",
            code="noise-has-no-sizes",
        )
    if machine.traits.emulated:
        raise UsageError(
            "noise cannot be observed on emulated hosts",
            "they share the cores of this host, and their ranks sleep instead of computing",
            "leave --machine out to observe this host",
            code="noise-on-emulated-hosts",
        )
    if machine.traits.simulated:
        _refuse_long_simulations(options, machine)
    return unique_cases(catalog.case(line) for line in _lines(options, machine))


def _refuse_long_simulations(options: Options, machine: Machine) -> None:
    """Raise UsageError if simulating the quanta of all ranks exceeds the budget on an idle computer."""
    ranks = max(options.ranks or (_all_cores(machine),))
    quanta = ranks * SIMULATED_OBSERVATIONS * _duration_s(options, machine) / _quantum_s(options, machine)
    simulation_s = quanta * SIMULATED_QUANTUM_COST_S
    if simulation_s > options.budget_s:
        raise UsageError(
            f"observing {ranks} simulated cores takes at least {format_seconds(simulation_s, 2)}",
            f"the simulation of {quanta / 1e6:.0f} million quanta exceeds the budget of "
            f"{format_seconds(options.budget_s)}",
            f"use {option('budget')} with several times as much, fewer {option('ranks')}, a shorter duration "
            "or a longer quantum",
            code="noise-simulation-too-long",
            ranks=ranks,
        )


def _lines(options: Options, machine: Machine) -> Iterator[str]:
    is_simulated = machine.traits.simulated
    quantum_s, duration_s = _quantum_s(options, machine), _duration_s(options, machine)
    for ranks in options.ranks or (_all_cores(machine),):
        words = f"observe={duration_s!r} sync=barrier ranks={ranks}{_nodes(ranks, machine)}"
        yield f"{FIXED_WORK} quantum={quantum_s!r} {words}"
        if not is_simulated:
            yield f"{FIXED_TIME} slice={SLICE_S!r} {words}"
    if max(options.ranks or (_all_cores(machine),)) > 1:
        levels = places.prediction_levels(machine)
        yield f"{PING_PONG} bytes=0 ranks=2{places.level_words(levels[-1])}"


def _quantum_s(options: Options, machine: Machine) -> float:
    default_s = SIMULATED_QUANTUM_S if machine.traits.simulated else QUANTUM_S
    return float(options.value(QUANTUM) or default_s)


def _duration_s(options: Options, machine: Machine) -> float:
    default_s = SIMULATED_DURATION_S if machine.traits.simulated else DURATION_S
    return float(options.value(DURATION) or default_s)


def _all_cores(machine: Machine) -> int:
    """A rank on each core. A simulated machine may be of any size."""
    cores = machine.layout.ranks if machine.layout else machine.cores
    return min(cores, DEFAULT_SIMULATED_RANKS) if machine.traits.simulated else cores


def _nodes(ranks: int, machine: Machine) -> str:
    layout = machine.layout
    if layout is None or not machine.is_placed:
        return ""
    return places.node_words(places.node_counts(ranks, layout)[-1])
