# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What to measure: for each place where ranks meet, direction and number of pairs, streams of messages and
ping-pongs of all pairs at once, over sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError
from hockney.core.layout import LEVEL_PHRASES, LEVELS, NETWORK, parse_level
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.core.units import doubling_series
from hockney.core.wording import plural
from hockney.pages.evidence import Options, unique_cases

STREAM, PING_PONG = "pairs_stream", "pairs_pingpong"
WORKLOADS = (STREAM, PING_PONG)
"""Compiled on first use."""
SIZES = (8, 256, 4 << 10, 32 << 10, 256 << 10, 1 << 20)
"""Sizes from messages whose rate is limited per message to messages limited by their bytes, on both sides of
the usual limits of the eager protocol."""
APART = "apart"
"""Each rank on a node of its own: k pairs on 2 k nodes, which share nothing but what is between all nodes."""
MIN_SEPARATE_NODES = 4
FREE = ("pairs", "ranks", "nodes")
"""Parameters of the cases besides the size over which the study asks."""
MAX_DEFAULT_PAIRS = 8
ONE, BOTH = "one", "both"

PAIRS = StudyParameter(
    "pairs",
    "integer",
    "numbers of pairs at once (default: 1, 2, 4, 8 as far as there is room)",
    low=1,
    high=1e6,
    many=True,
    example="1,2,4",
)
PLACE = StudyParameter(
    "place",
    "choice",
    "where the ranks of a pair meet; apart: each rank on its own node (default: each place of the machine)",
    choices=(*LEVELS, APART),
    many=True,
    example="node,network",
)
DIRECTION = StudyParameter(
    "direction",
    "choice",
    "of the streams. one: from one rank of a pair to the other; both: also back",
    default=ONE,
    choices=(ONE, BOTH),
    many=True,
    example="one,both",
)
WINDOW = StudyParameter(
    "window", "integer", "messages of a pair on their way at once, in streams", default="32", low=1, high=1e5
)
ASKS_FOR_LEVELS = True
PARAMETERS = (PAIRS, PLACE, DIRECTION, WINDOW)


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """Raises UsageError where there is no room for the pairs asked for."""
    sizes, levels = options.sizes or SIZES, _levels(options, machine)
    _check_room(options, machine, levels)
    return unique_cases(
        catalog.case(f"{line} bytes={size}{where}")
        for level in levels
        for where in _ranks(options, machine, level)
        for line in _lines(options)
        for size in sizes
    )


def between(level: str) -> str:
    """ "between nodes"; of a launch without a level, "between the ranks"."""
    if level == APART:
        return "between nodes with one rank each"
    return LEVEL_PHRASES[parse_level(level)] if level else "between the ranks"


def _levels(options: Options, machine: Machine) -> Sequence[str]:
    """The levels at which to measure; "" stands for where the launch puts the ranks. Given numbers of ranks
    have the levels at which all of their pairs have room. Raises UsageError for a level at which no two ranks
    meet."""
    levels: Sequence[str] = options.value(PLACE)
    for level in levels:
        available = [*machine.levels, *_apart(machine)]
        if available and level not in available:
            raise UsageError(
                f"no two ranks meet {between(level)}",
                f"pairs of this launch have place={', '.join(available)}",
                f"use place={available[-1]}",
                code="not-at-level",
                level=level,
            )
    if levels:
        return levels
    if not machine.is_placed or (options.ranks and machine.ranks_per_node == 1):
        return ("",)
    if options.ranks:
        return (*machine.levels, "")
    return (*(() if machine.ranks_per_node == 1 and _apart(machine) else machine.levels), *_apart(machine))


def _apart(machine: Machine) -> tuple[str, ...]:
    return (APART,) if machine.layout and machine.layout.nodes >= MIN_SEPARATE_NODES else ()


def _ranks(options: Options, machine: Machine, level: str) -> Iterator[str]:
    """The pairs and their ranks, for each number of pairs that has room. With ranks given, the other ones are
    idle."""
    place = f" place={level}" if level and level != APART else ""
    if options.ranks:
        for ranks in options.ranks:
            if options.value(PLACE) or level in _levels_of(ranks, machine):
                spread = f" nodes={ranks}" if level == APART else ""
                yield from (f"{place}{spread} pairs={k} ranks={ranks}" for k in _pairs(options, ranks // 2))
        return
    for pairs in _pairs(options, _room(machine, level)):
        spread = f" nodes={2 * pairs}" if level == APART else ""
        yield f"{place}{spread} pairs={pairs} ranks={2 * pairs}"


def _levels_of(ranks: int, machine: Machine) -> Sequence[str]:
    """The levels at which all of these ranks have room, as without given ranks: otherwise pairs on several
    nodes would be counted as pairs of one. "" if there are none."""
    levels = machine.levels if machine.is_placed and machine.ranks_per_node > 1 else ()
    return [level for level in levels if ranks // 2 <= _room(machine, level)] or [""]


def _check_room(options: Options, machine: Machine, levels: Sequence[str]) -> None:
    """Raises UsageError if the largest number of pairs has no room at any level or number of ranks."""
    for ranks in options.ranks:
        if ranks % 2:
            raise UsageError(
                f"{ranks} ranks are not pairs",
                "rank i and rank i + p/2 are a pair",
                f"use --ranks {ranks + 1}",
                code="odd-ranks",
                ranks=ranks,
            )
    if APART in levels and max(options.ranks, default=0) > 2 * _room(machine, APART):
        raise _too_many_pairs(max(options.ranks) // 2, _room(machine, APART), between(APART))
    most = max([ranks // 2 for ranks in options.ranks] or [_room(machine, level) for level in levels])
    most_pairs = max(options.value(PAIRS), default=1)
    if most_pairs > most:
        where = between(levels[0]) if len(levels) == 1 and levels[0] else ""
        raise _too_many_pairs(most_pairs, most, where)


def _room(machine: Machine, level: str) -> int:
    """The pairs that have a core for each rank; at least one. Between nodes, all of a node's ranks are in
    different pairs, and elsewhere half of them."""
    if level == APART and machine.layout:
        return machine.layout.nodes // 2
    each = machine.ranks_per_node or machine.cores
    return max(1, each if level == NETWORK else each // 2)


def _pairs(options: Options, max_pairs: int) -> Sequence[int]:
    counts: Sequence[int] = options.value(PAIRS) or doubling_series(1, min(max_pairs, MAX_DEFAULT_PAIRS))
    return [pairs for pairs in counts if pairs <= max_pairs]


def _lines(options: Options) -> Iterator[str]:
    for direction in options.value(DIRECTION):
        yield f"{STREAM} buffers=hot direction={direction} window={options.value(WINDOW)}"
    yield f"{PING_PONG} buffers=hot"


def _too_many_pairs(pairs: int, max_pairs: int, where: str) -> UsageError:
    """The error if more than `max_pairs` pairs are requested. `where`: where their ranks meet, such as
    "between nodes"; "" if the launch decides."""
    remedy = "--nodes and --ranks-per-node" if where else f"--ranks {2 * pairs}"
    return UsageError(
        f"{plural(pairs, 'pair')}{f' {where}' if where else ''} {'does' if pairs == 1 else 'do'} not fit",
        f"at most {plural(max_pairs, 'pair')} of ranks fit",
        f"use pairs={max(max_pairs, 1)}, or {remedy}",
        code="too-many-pairs",
        pairs=pairs,
        most=max_pairs,
    )
