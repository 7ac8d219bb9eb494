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
from hockney.models.least_time import least_of
from hockney.pages.evidence import Options, unique_cases
from hockney.studies import places
from hockney.studies.granularity.costs import expected_costs
from hockney.studies.sizes import DEFAULT, affordable, default_ranks
from hockney.studies.survey import sweep

WORD = 4
"""Bytes per word in the paper."""

LENGTHS = tuple(WORD * words for words in (1, 10, 100, 1000, 10000))
SERIAL = (0.0, 0.01, 0.1)
PAPERS_RANKS = (2, 4)
ITERATIONS = 20
"""As in the paper: this many works and exchanges make one run, whose mean is one repetition."""
SHARES = "uniform:0.2"
"""An example of uneven work: only the largest share matters, and the record contains it."""
OTHER_EXCHANGES = ("sendrecv", "nonblocking", "persistent", "neighborhood")
NOT_SIMULATED = ("neighborhood",)
"""SimGrid's MPI has no neighborhood collectives."""

MIN_WORK_S, MAX_WORK_S = 1e-5, 1e-2
"""Works on a machine of which nothing is known yet. Computing for less than 5 us is not accurate to 1%; and
if messages take microseconds, 10 ms hide any exchange of up to 40 kB."""
COARSE = 0.95
"""The longest work has this efficiency with the longest message."""
ROUNDS = 24
"""A round of launches takes at most this part of the budget, if each case is measured once and nothing else
runs: on a busy machine, where computing takes several times as long, there is still time for several rounds,
and without several an efficiency has no interval."""
FEWEST = 4


WORK = StudyParameter(
    "work",
    "real",
    "T, the computing time on one rank (default: depends on the cost of messages)",
    unit="s",
    above=0,
    many=True,
    example="10us,1ms or work=10us:10ms",
)
SERIAL_PARTS = StudyParameter(
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
PARAMETERS = (WORK, SERIAL_PARTS, SURVEY)


@dataclass(frozen=True)
class Extent:
    """How much of the grid is measured. `details` are serial fractions that were not requested, uneven work,
    and exchanges with other MPI calls."""

    works: tuple[float, ...]
    lengths: tuple[int, ...]
    details: bool = True


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """The grid of T, L, np and s. For each T the time of one rank, and a rank's part of it while all others
    compute too; for each L the exchange alone. Without a survey also a ping-pong.

    If no serial fractions are requested, those above 0 are measured at the shortest and the longest message
    only. If the budget is small, the grid is smaller, except for what was requested.
    """
    ranks = options.ranks or _ranks(machine)
    lengths = tuple(options.sizes or LENGTHS)
    together = [p for p in ranks if p > 1]
    simulated = machine.traits.simulated
    others = [each for each in OTHER_EXCHANGES if not simulated or each not in NOT_SIMULATED]
    serial = options.value(SERIAL_PARTS)
    given = tuple(options.value(WORK))
    works = given or tuple(_works(expected_costs(options, machine), machine, lengths, together))

    def cases(extent: Extent) -> list[Case]:
        pairs = _pairs(extent.lengths, serial, extent.details)
        lines = [*_computing(extent.works, together)]
        lines += [line for p in ranks for line in _grid(extent.works, pairs, p)]
        if extent.details:
            lines += [line for p in together for line in _uneven(extent.works, extent.lengths, p)]
        calls = others if extent.details else ()
        lines += [line for p in together for line in _exchanges(extent.lengths, p, calls)]
        if together and options.survey is None:
            sizes = affordable(DEFAULT, machine, options.budget_s)
            lines += places.at_each(sweep(sizes), machine)
        return unique_cases(catalog.case(line) for line in lines)

    planned: list[Case] = []
    for extent in _extents(works, lengths, bool(given), bool(options.sizes)):
        planned = cases(extent)
        if simulated or least_of(planned) <= options.budget_s / ROUNDS:
            break
    return planned


def _extents(
    works: tuple[float, ...], lengths: tuple[int, ...], works_given: bool, lengths_given: bool
) -> Iterator[Extent]:
    """The extents from the whole grid to the smallest one: first without the longest works, which take most
    of the time, then without details, then with fewer lengths."""
    yield Extent(works, lengths)
    while len(works) > FEWEST and not works_given:
        works = works[:-1]
        yield Extent(works, lengths)
    yield Extent(works, lengths, details=False)
    if not lengths_given:
        for count in (3, 2):
            yield Extent(works, thin_out(lengths, count), details=False)


def _ranks(machine: Machine) -> tuple[int, ...]:
    if not machine.traits.simulated:
        return default_ranks(machine)
    return tuple(p for p in PAPERS_RANKS if p <= machine.cores) or (1,)


def _works(
    messages: PointToPointCosts | None, machine: Machine, lengths: Sequence[int], ranks: Sequence[int]
) -> Sequence[float]:
    """The works from the break-even of the shortest message to where the longest one hardly matters."""
    if messages is None or not ranks:
        return half_decades_around(MIN_WORK_S, MAX_WORK_S)
    fine, coarse = Algorithm(1.0, min(lengths)), Algorithm(1.0, max(lengths))
    low = min(break_even(fine, messages, p) or MIN_WORK_S for p in ranks)
    high = max(required_work(COARSE, coarse, messages, p) or MAX_WORK_S for p in ranks)
    if machine.traits.wall_clock:
        low = max(low, MIN_WORK_S)
    return half_decades_around(low, max(high, 10 * low))


def _pairs(lengths: Sequence[int], fractions: Sequence[float], details: bool) -> list[tuple[int, float]]:
    """Lengths and serial fractions that are measured together."""
    if fractions:
        return [(length, s) for length in lengths for s in fractions]
    ends = {min(lengths), max(lengths)} if details else set()
    return [(length, s) for length in lengths for s in (SERIAL if length in ends else SERIAL[:1])]


def _computing(works: Sequence[float], ranks: Sequence[int]) -> Iterator[str]:
    for work in works:
        yield f"compute work={work!r} sync=barrier ranks=1"
        yield from (f"compute work={work / p!r} sync=barrier ranks={p}" for p in ranks)


def _grid(works: Sequence[float], pairs: Sequence[tuple[int, float]], ranks: int) -> Iterator[str]:
    """The cells of the grid; on one rank there is neither a message length nor a serial part."""
    for work in works:
        for length, serial in pairs if ranks > 1 else pairs[:1]:
            yield _cell(work, length, serial, ranks)


def _cell(work: float, length: int, serial: float, ranks: int, shares: str = "equal") -> str:
    return (
        f"granularity work={work!r} bytes={length} serial={serial!r} shares={shares} exchange=ordered "
        f"iterations={ITERATIONS} buffers=hot sync=barrier ranks={ranks}"
    )


def _uneven(works: Sequence[float], lengths: Sequence[int], ranks: int) -> Iterator[str]:
    few = thin_out(tuple(works), 3)
    return (_cell(work, min(lengths), 0.0, ranks, SHARES) for work in few)


def _exchanges(lengths: Sequence[int], ranks: int, others: Sequence[str]) -> Iterator[str]:
    def case(length: int, exchange: str) -> str:
        return f"round_robin bytes={length} exchange={exchange} buffers=hot sync=window ranks={ranks}"

    yield from (case(length, "ordered") for length in lengths)
    few = thin_out(tuple(sorted(lengths)), 3)
    yield from (case(length, exchange) for exchange in others for length in few)
