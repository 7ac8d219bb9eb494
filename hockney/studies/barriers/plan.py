# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases: messages between two ranks, from which barriers are predicted, and every barrier in four ways.

A barrier is timed in a tight loop, as by R. Krishnamurthy (1998); separately, entered by all ranks at the
same time; entered by one rank after another, from the last entry to the last exit; and for the spread of the
exits.
"""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.case import MPI, Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.models.barriers import is_predictable
from hockney.pages.evidence import Options, unique_cases
from hockney.studies import places
from hockney.studies.sizes import default_ranks
from hockney.studies.trains import train_lines

PAPERS_RANKS = (1, 2, 3, 5, 7, 9, 12, 14, 16)
"""Krishnamurthy's numbers of processes, and 2."""
ENTRY_DELAY, SIMULATED_ENTRY_DELAY = "20us", "10ms"
"""The delay between the entries of consecutive ranks. It is longer if waiting takes no real time."""

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
    ranks = options.ranks or _default_ranks(machine)
    is_parallel = max(ranks) > 1
    lines = [*places.at_prediction_levels(_message_lines(), machine)] if is_parallel else []
    lines += [
        line + placement
        for rank_count in ranks
        for placement in _placements(rank_count, machine)
        for name in usable_algorithms(catalog, machine)
        for line in _barrier_lines(name, rank_count, options, machine)
    ]
    return unique_cases(catalog.case(line) for line in lines)


def _placements(ranks: int, machine: Machine) -> tuple[str, ...]:
    """Words that place the ranks on one node and on all nodes, if these can hold them."""
    layout = machine.layout
    if layout is None or not machine.is_placed:
        return ("",)
    return tuple(places.node_words(nodes) for nodes in places.node_counts(ranks, layout))


def usable_algorithms(catalog: Catalog, machine: Machine) -> list[str]:
    """All algorithms of the engine; for simulated ranks, which share no memory, only message-based ones."""
    choices = catalog.workload("barrier").algorithms
    if machine.traits.shared_memory:
        return list(choices)
    return [name for name in choices if name == MPI or is_predictable(name)]


def _default_ranks(machine: Machine) -> tuple[int, ...]:
    if not machine.traits.simulated:
        return default_ranks(machine)
    return tuple(p for p in PAPERS_RANKS if p <= machine.cores)


def _message_lines() -> Iterator[str]:
    """Empty messages, and MPI_Bcast of a byte, which is a single message on two ranks."""
    yield "isend_recv bytes=0 ranks=2"
    yield "pingpong bytes=0 ranks=2"
    yield "pingpong bytes=1 ranks=2"
    yield "bcast bytes=1 sync=window ranks=2"
    yield "pingpong_double bytes=0 ranks=2"
    yield from train_lines(0)


def _barrier_lines(name: str, ranks: int, options: Options, machine: Machine) -> Iterator[str]:
    count = options.value(ITERATIONS)
    iterations = f"iterations={count} " if count else ""
    yield f"barrier algorithm={name} {iterations}sync=loop ranks={ranks}"
    if ranks > 1:
        yield f"barrier algorithm={name} sync=window ranks={ranks}"
        delay = ENTRY_DELAY if machine.traits.wall_clock else SIMULATED_ENTRY_DELAY
        yield f"barrier_staggered algorithm={name} delay={delay} ranks={ranks}"
        yield f"barrier_skew algorithm={name} ranks={ranks}"
