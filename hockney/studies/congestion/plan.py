# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases: each operation of the victims in the quiet state, and next to each kind of load.

All cases of a launch have the same victims, and their sample blocks alternate in random order, so that the
ratio of two states is not affected by the choice of the nodes. Victims, congestors and their shares follow S.
Chunduri, T. Groves, P. Mendygral et al., 'GPCNeT: Designing a Benchmark Suite for Inducing and Measuring
Contention in HPC Networks', SC 2019."""

from __future__ import annotations

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.core.units import doubling_series
from hockney.pages.evidence import Options, unique_cases
from hockney.studies.sizes import MAX_SIMULATED_RANKS, affordable_sizes, round_up_to_doubles

WORKLOAD = "congestion"
WORKLOADS = (WORKLOAD,)
"""Compiled on first use."""
LAUNCHES = 20
"""A random allocation differs between launches, and so does its congestion."""
MIN_RANKS = 4
QUIET = "none"
"""The congestor of the quiet state."""
RING, ALLREDUCE, HALO = "ring", "allreduce", "halo"
SHORT_MESSAGE, LONG_MESSAGE = 8, 128 << 10
"""Bytes of the victims' messages: latency or a small reduction, and bandwidth, as in GPCNeT."""
LOAD_MESSAGE = 64 << 10
HALO_NEIGHBORS = 4
MIN_GROUP = 2
"""Ranks of each role, at least."""

VICTIMS_PARAMETER = StudyParameter(
    "victims",
    "choice",
    "operations of the victims. ring: messages on a ring; allreduce; halo: exchange with four neighbors",
    default="ring,allreduce,halo",
    choices=(RING, ALLREDUCE, HALO),
    many=True,
)
CONGESTORS_PARAMETER = StudyParameter(
    "congestors",
    "choice",
    "load. incast: all send to one rank; broadcast: one rank sends to all; alltoall; pairs: long messages "
    "between pairs of ranks, in both directions",
    default="incast,alltoall,pairs",
    choices=("incast", "broadcast", "alltoall", "pairs"),
    many=True,
)
SHARE_PARAMETER = StudyParameter(
    "share",
    "real",
    "victims among the nodes, or among the ranks on fewer than four nodes",
    unit="share",
    default="20%",
    low=0.01,
    high=0.99,
)
ALLOCATION_PARAMETER = StudyParameter(
    "allocation",
    "choice",
    "which nodes are victims. random: others in each launch; blocked: the first; interleaved: evenly spread",
    default="random",
    choices=("random", "blocked", "interleaved"),
)
LOAD_PARAMETER = StudyParameter(
    "load",
    "integer",
    "bytes in each message of the congestors (default: 64 KiB, less on slow emulated networks)",
    unit="B",
    low=1,
    high=1 << 40,
    example="1MiB",
)
WINDOW_PARAMETER = StudyParameter(
    "window",
    "integer",
    "messages of a congestor in flight at once to another; not for alltoall",
    default="4",
    low=1,
    high=4096,
)
PARAMETERS = (
    VICTIMS_PARAMETER,
    CONGESTORS_PARAMETER,
    SHARE_PARAMETER,
    ALLOCATION_PARAMETER,
    LOAD_PARAMETER,
    WINDOW_PARAMETER,
)


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """Raises UsageError for fewer than MIN_RANKS ranks."""
    shared_words = (
        f"victims={max(1, round(100 * options.value(SHARE_PARAMETER)))} "
        f"allocation={options.value(ALLOCATION_PARAMETER)}"
    )
    return unique_cases(
        catalog.case(
            f"{WORKLOAD} victim={victim} bytes={size} congestor={congestor} {shared_words}"
            f"{'' if congestor == QUIET else _load_words(ranks, options, machine)} ranks={ranks}"
        )
        for ranks in _rank_counts(options, machine)
        for victim in options.value(VICTIMS_PARAMETER)
        for size in _sizes(victim, options, machine)
        for congestor in (QUIET, *options.value(CONGESTORS_PARAMETER))
    )


def _load_words(ranks: int, options: Options, machine: Machine) -> str:
    """The size of messages with which an incast, in which congestors send a window each to one of them, is
    affordable."""
    window = options.value(WINDOW_PARAMETER)
    messages = (ranks - MIN_GROUP - 1) * window
    load = options.value(LOAD_PARAMETER) or _affordable_size(LOAD_MESSAGE, messages, options, machine)
    return f" load_bytes={load} load_window={window}"


def _rank_counts(options: Options, machine: Machine) -> tuple[int, ...]:
    """All ranks of the machine by default, because congestion depends on how much of a network is in use."""
    if options.ranks:
        if (ranks := min(options.ranks)) < MIN_RANKS:
            raise UsageError(
                f"{ranks} ranks are too few",
                f"two victims and two congestors need {MIN_RANKS} ranks",
                f"use --ranks {MIN_RANKS}",
                code="too-few-for-congestion",
                ranks=ranks,
            )
        return options.ranks
    layout = machine.layout
    ranks = machine.cores if layout is None else layout.ranks
    return (max(MIN_RANKS, min(ranks, MAX_SIMULATED_RANKS) if machine.traits.simulated else ranks),)


def _sizes(victim: str, options: Options, machine: Machine) -> tuple[int, ...]:
    if options.sizes:
        return round_up_to_doubles(options.sizes)
    if victim != HALO:
        return (SHORT_MESSAGE,)
    return (_affordable_size(LONG_MESSAGE, HALO_NEIGHBORS, options, machine),)


def _affordable_size(size: int, messages: int, options: Options, machine: Machine) -> int:
    """The largest size that the budget allows for this many messages at once, up to `size`."""
    sizes = tuple(doubling_series(SHORT_MESSAGE, size))
    return max((SHORT_MESSAGE, *affordable_sizes(sizes, machine, options.budget_s, messages)))
