# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases: for each level where ranks meet, direction and number of pairs, streams of messages and
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
"""Sizes from messages limited by their number to messages limited by their bytes, on both sides of common
eager limits."""
ONE_RANK_PER_NODE = "apart"
"""Each rank on a node of its own: k pairs on 2 k nodes share only the network between the nodes."""
MIN_SEPARATE_NODES = 4
VARIED_PARAMETERS = ("pairs", "ranks", "nodes")
"""Parameters of the cases that the study varies, in addition to the size."""
MAX_DEFAULT_PAIRS = 8
ONE_WAY, BOTH_WAYS = "one", "both"

PAIRS_PARAMETER = StudyParameter(
    "pairs",
    "integer",
    "numbers of pairs at once (default: 1, 2, 4, 8 as far as there is room)",
    low=1,
    high=1e6,
    many=True,
    example="1,2,4",
)
PLACE_PARAMETER = StudyParameter(
    "place",
    "choice",
    "where the ranks of a pair meet; apart: each rank on its own node (default: each place of the machine)",
    choices=(*LEVELS, ONE_RANK_PER_NODE),
    many=True,
    example="node,network",
)
DIRECTION_PARAMETER = StudyParameter(
    "direction",
    "choice",
    "of the streams. one: from one rank of a pair to the other; both: also back",
    default=ONE_WAY,
    choices=(ONE_WAY, BOTH_WAYS),
    many=True,
    example="one,both",
)
WINDOW_PARAMETER = StudyParameter(
    "window", "integer", "messages of a pair on their way at once, in streams", default="32", low=1, high=1e5
)
ASKS_FOR_LEVELS = True
PARAMETERS = (PAIRS_PARAMETER, PLACE_PARAMETER, DIRECTION_PARAMETER, WINDOW_PARAMETER)


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """Raises UsageError if the requested pairs do not fit."""
    sizes, levels = options.sizes or SIZES, _requested_levels(options, machine)
    _check_room(options, machine, levels)
    return unique_cases(
        catalog.case(f"{line} bytes={size}{words}")
        for level in levels
        for words in _placement_words(options, machine, level)
        for line in _workload_words(options)
        for size in sizes
    )


def level_phrase(level: str) -> str:
    """The phrase, such as "between nodes", or "between the ranks" for a launch without a level."""
    if level == ONE_RANK_PER_NODE:
        return "between nodes with one rank each"
    return LEVEL_PHRASES[parse_level(level)] if level else "between the ranks"


def _requested_levels(options: Options, machine: Machine) -> Sequence[str]:
    """The levels to measure; "" represents the launch's own placement. For requested numbers of ranks, these
    are the levels that can hold all of their pairs. Raises UsageError for a level at which no two ranks
    meet."""
    levels: Sequence[str] = options.value(PLACE_PARAMETER)
    for level in levels:
        available = [*machine.levels, *_one_rank_per_node_levels(machine)]
        if available and level not in available:
            raise UsageError(
                f"no two ranks meet {level_phrase(level)}",
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
    return (
        *(() if machine.ranks_per_node == 1 and _one_rank_per_node_levels(machine) else machine.levels),
        *_one_rank_per_node_levels(machine),
    )


def _one_rank_per_node_levels(machine: Machine) -> tuple[str, ...]:
    return (ONE_RANK_PER_NODE,) if machine.layout and machine.layout.nodes >= MIN_SEPARATE_NODES else ()


def _placement_words(options: Options, machine: Machine, level: str) -> Iterator[str]:
    """The pairs and their ranks, for each number of pairs that fits. If ranks are requested, the others are
    idle."""
    place = f" place={level}" if level and level != ONE_RANK_PER_NODE else ""
    if options.ranks:
        for ranks in options.ranks:
            if options.value(PLACE_PARAMETER) or level in _usable_levels(ranks, machine):
                node_words = f" nodes={ranks}" if level == ONE_RANK_PER_NODE else ""
                yield from (
                    f"{place}{node_words} pairs={k} ranks={ranks}" for k in _pair_counts(options, ranks // 2)
                )
        return
    for pairs in _pair_counts(options, _max_pairs(machine, level)):
        node_words = f" nodes={2 * pairs}" if level == ONE_RANK_PER_NODE else ""
        yield f"{place}{node_words} pairs={pairs} ranks={2 * pairs}"


def _usable_levels(ranks: int, machine: Machine) -> Sequence[str]:
    """The levels that can hold all of these ranks. Otherwise pairs on several nodes would be counted as pairs
    of one node. [""] if there are none."""
    levels = machine.levels if machine.is_placed and machine.ranks_per_node > 1 else ()
    return [level for level in levels if ranks // 2 <= _max_pairs(machine, level)] or [""]


def _check_room(options: Options, machine: Machine, levels: Sequence[str]) -> None:
    """Raise UsageError if the largest number of pairs does not fit at any level or number of ranks."""
    for ranks in options.ranks:
        if ranks % 2:
            raise UsageError(
                f"{ranks} ranks are not pairs",
                "rank i and rank i + p/2 are a pair",
                f"use --ranks {ranks + 1}",
                code="odd-ranks",
                ranks=ranks,
            )
    if ONE_RANK_PER_NODE in levels and max(options.ranks, default=0) > 2 * _max_pairs(
        machine, ONE_RANK_PER_NODE
    ):
        raise _too_many_pairs(
            max(options.ranks) // 2, _max_pairs(machine, ONE_RANK_PER_NODE), level_phrase(ONE_RANK_PER_NODE)
        )
    max_pairs_with_core = max(
        [ranks // 2 for ranks in options.ranks] or [_max_pairs(machine, level) for level in levels]
    )
    most_pairs = max(options.value(PAIRS_PARAMETER), default=1)
    if most_pairs > max_pairs_with_core:
        placement = level_phrase(levels[0]) if len(levels) == 1 and levels[0] else ""
        raise _too_many_pairs(most_pairs, max_pairs_with_core, placement)


def _max_pairs(machine: Machine, level: str) -> int:
    """The number of pairs with a core for each rank, at least one. Between nodes, all of a node's ranks
    belong to different pairs, at other levels half of them."""
    if level == ONE_RANK_PER_NODE and machine.layout:
        return machine.layout.nodes // 2
    ranks_per_node = machine.ranks_per_node or machine.cores
    return max(1, ranks_per_node if level == NETWORK else ranks_per_node // 2)


def _pair_counts(options: Options, max_pairs: int) -> Sequence[int]:
    counts: Sequence[int] = options.value(PAIRS_PARAMETER) or doubling_series(
        1, min(max_pairs, MAX_DEFAULT_PAIRS)
    )
    return [pairs for pairs in counts if pairs <= max_pairs]


def _workload_words(options: Options) -> Iterator[str]:
    for direction in options.value(DIRECTION_PARAMETER):
        yield f"{STREAM} buffers=hot direction={direction} window={options.value(WINDOW_PARAMETER)}"
    yield f"{PING_PONG} buffers=hot"


def _too_many_pairs(pairs: int, max_pairs: int, placement: str) -> UsageError:
    """The error for more than `max_pairs` requested pairs. `placement` describes where their ranks meet, such
    as "between nodes" ("": the launch decides)."""
    remedy = "--nodes and --ranks-per-node" if placement else f"--ranks {2 * pairs}"
    return UsageError(
        f"{plural(pairs, 'pair')}{f' {placement}' if placement else ''} {'does' if pairs == 1 else 'do'} "
        "not fit",
        f"at most {plural(max_pairs, 'pair')} of ranks fit",
        f"use pairs={max(max_pairs, 1)}, or {remedy}",
        code="too-many-pairs",
        pairs=pairs,
        most=max_pairs,
    )
