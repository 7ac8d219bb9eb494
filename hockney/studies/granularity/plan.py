# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of the study: the grid, and measurements that explain errors of predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.core.units import half_decades_around, thin_out
from hockney.models.applications.granularity import Algorithm, break_even, required_work
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.least_time import min_launch_seconds
from hockney.pages.evidence import Options, unique_cases
from hockney.studies import places
from hockney.studies.granularity.costs import expected_costs
from hockney.studies.sizes import DEFAULT_SIZES, affordable_sizes, default_ranks
from hockney.studies.survey import ping_pong_sweep

WORD_BYTES = 4
"""Bytes per word in the paper."""

LENGTHS = tuple(WORD_BYTES * words for words in (1, 10, 100, 1000, 10000))
SERIAL_FRACTIONS = (0.0, 0.01, 0.1)
PAPERS_RANKS = (2, 4)
ITERATIONS = 20
"""As in the paper, this many works and exchanges make one run, whose mean is one repetition."""
UNEVEN_SHARES = "uniform:0.2"
"""An example of uneven work. Only the largest share matters, and the record contains it."""
OTHER_EXCHANGES = ("sendrecv", "nonblocking", "persistent", "neighborhood")
UNSIMULATED_EXCHANGES = ("neighborhood",)
"""SimGrid's MPI has no neighborhood collectives."""

MIN_WORK_S, MAX_WORK_S = 1e-5, 1e-2
"""Works on a machine about which nothing is known yet. Computing for less than 5 us is not accurate to 1%. If
messages take microseconds, 10 ms hide any exchange of up to 40 kB."""
COARSE_EFFICIENCY = 0.95
"""The efficiency of the longest work with the longest message."""
ROUNDS_PER_BUDGET = 24
"""A round of launches takes at most the budget divided by this, if each case is measured once and nothing
else runs. On a busy machine, where computing takes several times as long, there is still time for several
rounds. A single round gives no intervals of efficiencies."""
MIN_WORKS = 4


WORK_PARAMETER = StudyParameter(
    "work",
    "real",
    "T, the computing time on one rank (default: depends on the cost of messages)",
    unit="s",
    above=0,
    many=True,
    example="10us,1ms or work=10us:10ms",
)
SERIAL_PARAMETER = StudyParameter(
    "serial",
    "real",
    "s, the serial part of the work (default: 0, with some messages also 1% and 10%)",
    unit="share",
    many=True,
    example="0,1%",
)
SURVEY = StudyParameter(
    "survey",
    "path",
    "a run of 'hockney survey' with the machine's parameters, which saves the ping-pong",
    example="runs/mine",
)
ASKS_FOR_LEVELS = True
PARAMETERS = (WORK_PARAMETER, SERIAL_PARAMETER, SURVEY)


@dataclass(frozen=True)
class GridExtent:
    """The measured part of the grid. With `has_details`, it includes serial fractions that were not
    requested, uneven work, and exchanges with other MPI calls."""

    works: tuple[float, ...]
    lengths: tuple[int, ...]
    has_details: bool = True


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """The grid of T, L, np and s. For each T it also contains the time on one rank and a rank's part of it
    while all others compute; for each L the exchange by itself. Without a survey it contains a ping-pong.

    Unless serial fractions are requested, those above 0 are only measured with the shortest and the longest
    message. A small budget reduces the grid, except for requested values.
    """
    ranks = options.ranks or _default_ranks(machine)
    lengths = tuple(options.sizes or LENGTHS)
    multiple_ranks = [rank_count for rank_count in ranks if rank_count > 1]
    simulated = machine.traits.simulated
    other_exchanges = [
        exchange for exchange in OTHER_EXCHANGES if not simulated or exchange not in UNSIMULATED_EXCHANGES
    ]
    serial = options.value(SERIAL_PARAMETER)
    requested_works = tuple(options.value(WORK_PARAMETER))
    works = requested_works or tuple(
        _default_works(expected_costs(options, machine), machine, lengths, multiple_ranks)
    )

    def cases(extent: GridExtent) -> list[Case]:
        pairs = _lengths_and_fractions(extent.lengths, serial, extent.has_details)
        lines = [*_compute_lines(extent.works, multiple_ranks)]
        lines += [line for rank_count in ranks for line in _grid_lines(extent.works, pairs, rank_count)]
        if extent.has_details:
            lines += [
                line
                for rank_count in multiple_ranks
                for line in _uneven_lines(extent.works, extent.lengths, rank_count)
            ]
        exchanges = other_exchanges if extent.has_details else ()
        lines += [
            line
            for rank_count in multiple_ranks
            for line in _exchange_lines(extent.lengths, rank_count, exchanges)
        ]
        if multiple_ranks and options.survey is None:
            sizes = affordable_sizes(DEFAULT_SIZES, machine, options.budget_s)
            lines += places.at_prediction_levels(ping_pong_sweep(sizes), machine)
        return unique_cases(catalog.case(line) for line in lines)

    planned_cases: list[Case] = []
    for extent in _grid_extents(works, lengths, bool(requested_works), bool(options.sizes)):
        planned_cases = cases(extent)
        if simulated or min_launch_seconds(planned_cases) <= options.budget_s / ROUNDS_PER_BUDGET:
            break
    return planned_cases


def _grid_extents(
    works: tuple[float, ...], lengths: tuple[int, ...], has_requested_works: bool, has_requested_lengths: bool
) -> Iterator[GridExtent]:
    """The extents from the whole grid to the smallest one: first without the longest works, which take most
    of the time, then without details, then with fewer lengths."""
    yield GridExtent(works, lengths)
    while len(works) > MIN_WORKS and not has_requested_works:
        works = works[:-1]
        yield GridExtent(works, lengths)
    yield GridExtent(works, lengths, has_details=False)
    if not has_requested_lengths:
        for count in (3, 2):
            yield GridExtent(works, thin_out(lengths, count), has_details=False)


def _default_ranks(machine: Machine) -> tuple[int, ...]:
    if not machine.traits.simulated:
        return default_ranks(machine)
    return tuple(p for p in PAPERS_RANKS if p <= machine.cores) or (1,)


def _default_works(
    messages: PointToPointCosts | None, machine: Machine, lengths: Sequence[int], ranks: Sequence[int]
) -> Sequence[float]:
    """The works from the break-even of the shortest message to where the longest one hardly matters."""
    if messages is None or not ranks:
        return half_decades_around(MIN_WORK_S, MAX_WORK_S)
    fine_grain, coarse_grain = Algorithm(1.0, min(lengths)), Algorithm(1.0, max(lengths))
    low = min(break_even(fine_grain, messages, rank_count) or MIN_WORK_S for rank_count in ranks)
    high = max(
        required_work(COARSE_EFFICIENCY, coarse_grain, messages, rank_count) or MAX_WORK_S
        for rank_count in ranks
    )
    if machine.traits.wall_clock:
        low = max(low, MIN_WORK_S)
    return half_decades_around(low, max(high, 10 * low))


def _lengths_and_fractions(
    lengths: Sequence[int], requested_fractions: Sequence[float], has_details: bool
) -> list[tuple[int, float]]:
    """Pairs of lengths and serial fractions to measure."""
    if requested_fractions:
        return [(length, fraction) for length in lengths for fraction in requested_fractions]
    extreme_lengths = {min(lengths), max(lengths)} if has_details else set()
    return [
        (length, fraction)
        for length in lengths
        for fraction in (SERIAL_FRACTIONS if length in extreme_lengths else SERIAL_FRACTIONS[:1])
    ]


def _compute_lines(works: Sequence[float], ranks: Sequence[int]) -> Iterator[str]:
    for work in works:
        yield f"compute work={work!r} sync=barrier ranks=1"
        yield from (
            f"compute work={work / rank_count!r} sync=barrier ranks={rank_count}" for rank_count in ranks
        )


def _grid_lines(works: Sequence[float], pairs: Sequence[tuple[int, float]], ranks: int) -> Iterator[str]:
    """The cells of the grid. On one rank there is neither a message length nor a serial part."""
    for work in works:
        for length, serial in pairs if ranks > 1 else pairs[:1]:
            yield _cell_line(work, length, serial, ranks)


def _cell_line(work: float, length: int, serial: float, ranks: int, shares: str = "equal") -> str:
    return (
        f"granularity work={work!r} bytes={length} serial={serial!r} shares={shares} exchange=ordered "
        f"iterations={ITERATIONS} buffers=hot sync=barrier ranks={ranks}"
    )


def _uneven_lines(works: Sequence[float], lengths: Sequence[int], ranks: int) -> Iterator[str]:
    chosen_works = thin_out(tuple(works), 3)
    return (_cell_line(work, min(lengths), 0.0, ranks, UNEVEN_SHARES) for work in chosen_works)


def _exchange_lines(lengths: Sequence[int], ranks: int, other_exchanges: Sequence[str]) -> Iterator[str]:
    def case_line(length: int, exchange: str) -> str:
        return f"round_robin bytes={length} exchange={exchange} buffers=hot sync=window ranks={ranks}"

    yield from (case_line(length, "ordered") for length in lengths)
    chosen_lengths = thin_out(tuple(sorted(lengths)), 3)
    yield from (case_line(length, exchange) for exchange in other_exchanges for length in chosen_lengths)
