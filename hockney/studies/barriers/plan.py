# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What to measure: messages between two ranks, on which the predictions are based, and every barrier in four
ways.

A barrier is timed in a tight loop, as by R. Krishnamurthy (1998); alone, entered by all ranks at the same
moment; entered by one rank after another, from the last entry to the last exit; and for the spread of the
exits.
"""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.case import MPI, Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.models.barriers import predicted
from hockney.pages.evidence import Options, unique_cases
from hockney.studies import places
from hockney.studies.sizes import default_ranks
from hockney.studies.trains import trains

PAPERS_RANKS = (1, 2, 3, 5, 7, 9, 12, 14, 16)
"""Krishnamurthy's numbers of processes, and two."""
LATE, LATE_SIMULATED = "20us", "10ms"
"""How much later each rank enters a barrier than the one before; longer if waiting takes no real time."""

ITERATIONS = StudyParameter(
    "iterations",
    "integer",
    "number of back-to-back calls per repetition (default: at least 64)",
    low=1,
    high=10**9,
    example="1000000",
)
ASKS_FOR_LEVELS = True
PARAMETERS = (ITERATIONS,)


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    if options.sizes:
        raise UsageError(
            "barriers have no sizes",
            "their messages are empty",
            "leave --sizes out",
            code="barriers-have-no-sizes",
        )
    ranks = options.ranks or _ranks(machine)
    several = max(ranks) > 1
    lines = [*places.at_each(_messages(), machine)] if several else []
    lines += [
        line + words
        for p in ranks
        for words in _spread(p, machine)
        for name in algorithms(catalog, machine)
        for line in _barrier(name, p, options, machine)
    ]
    return unique_cases(catalog.case(line) for line in lines)


def _spread(ranks: int, machine: Machine) -> tuple[str, ...]:
    """Words that spread the ranks over one node and over all, as far as these have room for them."""
    layout = machine.layout
    if layout is None or not machine.is_placed:
        return ("",)
    return tuple(places.spread_over(nodes) for nodes in places.node_counts(ranks, layout))


def algorithms(catalog: Catalog, machine: Machine) -> list[str]:
    """All algorithms of the engine. Simulated ranks share no memory, so only message-based ones are left
    there."""
    choices = catalog.workload("barrier").algorithms
    if machine.traits.shared_memory:
        return list(choices)
    return [name for name in choices if name == MPI or predicted(name)]


def _ranks(machine: Machine) -> tuple[int, ...]:
    if not machine.traits.simulated:
        return default_ranks(machine)
    return tuple(p for p in PAPERS_RANKS if p <= machine.cores)


def _messages() -> Iterator[str]:
    """Empty ones, and MPI_Bcast of a byte, which is a message if there is only one other rank."""
    yield "isend_recv bytes=0 ranks=2"
    yield "pingpong bytes=0 ranks=2"
    yield "pingpong bytes=1 ranks=2"
    yield "bcast bytes=1 sync=window ranks=2"
    yield "pingpong_double bytes=0 ranks=2"
    yield from trains(0)


def _barrier(name: str, ranks: int, options: Options, machine: Machine) -> Iterator[str]:
    count = options.value(ITERATIONS)
    iterations = f"iterations={count} " if count else ""
    yield f"barrier algorithm={name} {iterations}sync=loop ranks={ranks}"
    if ranks > 1:
        yield f"barrier algorithm={name} sync=window ranks={ranks}"
        late = LATE if machine.traits.wall_clock else LATE_SIMULATED
        yield f"barrier_staggered algorithm={name} delay={late} ranks={ranks}"
        yield f"barrier_skew algorithm={name} ranks={ranks}"
