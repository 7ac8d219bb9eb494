# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of the study: the grid, and measurements that explain errors of predictions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.core.units import half_decades_around
from hockney.models.applications.granularity import Algorithm, break_even, work_needed
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.pages.evidence import Options, once
from hockney.studies.granularity.costs import expected_costs
from hockney.studies.granularity.text import WORD
from hockney.studies.sizes import default_ranks, thin
from hockney.studies.survey import sweep

LENGTHS = tuple(WORD * words for words in (1, 10, 100, 1000, 10000))
SERIAL = (0.0, 0.01, 0.1)
PAPERS_RANKS = (2, 4)
ITERATIONS = 20
"""As in the paper: this many works and exchanges make one run, whose mean is one repetition."""
SHARES = "uniform:0.2"
"""An example of uneven work: only the largest share matters, and the record contains it."""
OTHER_EXCHANGES = ("sendrecv", "nonblocking", "persistent", "neighborhood")
NOT_SIMULATED = ("neighborhood",)
"""SimGrid's MPI has no neighbourhood collectives."""

SHORTEST_S, LONGEST_S = 1e-5, 1e-2
"""Works on a machine of which nothing is known yet. Computing for less than 5 us is not accurate to 1%; and
if messages take microseconds, 10 ms hide any exchange of up to 40 kB."""
COARSE = 0.95
"""The longest work has this efficiency with the longest message."""
ROUND_S = 16.0
"""Minimum time of one round of launches, without a long warm-up: three of them fit into the default budget of
60 s."""
RUNS = 9
"""Of a case that takes long: two to verify, two to warm up, five for a median."""
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
PARAMETERS = (WORK, SERIAL_PARTS, SURVEY)


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """The grid of T, L, np and s. For each T the time of one rank, and a rank's part of it while all others
    compute too; for each L the exchange alone. Without a survey also a ping-pong.

    If no serial fractions are requested, those above 0 are measured at the shortest and the longest message
    only.
    """
    ranks = options.ranks or _ranks(machine)
    lengths = options.sizes or LENGTHS
    together = [p for p in ranks if p > 1]
    simulated = machine.traits.simulated
    others = [each for each in OTHER_EXCHANGES if not simulated or each not in NOT_SIMULATED]
    pairs = _pairs(lengths, options.value(SERIAL_PARTS))
    given = options.value(WORK)
    works = given or _works(expected_costs(options, machine), machine, lengths, together)

    def cases(works: Sequence[float]) -> list[Case]:
        lines = [*_computing(works, together)]
        lines += [line for p in ranks for line in _grid(works, pairs, p)]
        lines += [line for p in together for line in _uneven(works, lengths, p)]
        lines += [line for p in together for line in _exchanges(lengths, p, others)]
        lines += [*sweep()] if together and options.surveyed is None else []
        return once(catalog.case(line) for line in lines)

    if not simulated and not given:
        while len(works) > FEWEST and least_seconds(cases(works)) > ROUND_S:
            works = works[:-1]
    return cases(works)


def least_seconds(cases: Iterable[Case]) -> float:
    """The computing time in one round of launches, if each case has its minimum number of runs."""
    total = 0.0
    for case in cases:
        serial = case.number("serial")
        once_s = case.number("work") * (
            serial + (1 - serial) / case.ranks if case.workload == "granularity" else 1
        )
        total += RUNS * case.number("iterations", 1) * once_s
    return total


def _ranks(machine: Machine) -> tuple[int, ...]:
    if not machine.traits.simulated:
        return default_ranks(machine)
    return tuple(p for p in PAPERS_RANKS if p <= machine.cores) or (1,)


def _works(
    messages: PointToPointCosts | None, machine: Machine, lengths: Sequence[int], ranks: Sequence[int]
) -> Sequence[float]:
    """From the break-even of the shortest message to where the longest one hardly matters."""
    if messages is None or not ranks:
        return half_decades_around(SHORTEST_S, LONGEST_S)
    fine, coarse = Algorithm(1.0, min(lengths)), Algorithm(1.0, max(lengths))
    low = min(break_even(fine, messages, p) or SHORTEST_S for p in ranks)
    high = max(work_needed(COARSE, coarse, messages, p) or LONGEST_S for p in ranks)
    if machine.traits.wall_clock:
        low = max(low, SHORTEST_S)
    return half_decades_around(low, max(high, 10 * low))


def _pairs(lengths: Sequence[int], asked: Sequence[float]) -> list[tuple[int, float]]:
    """Lengths and serial fractions that are measured together."""
    if asked:
        return [(length, s) for length in lengths for s in asked]
    ends = {min(lengths), max(lengths)}
    return [(length, s) for length in lengths for s in (SERIAL if length in ends else SERIAL[:1])]


def _computing(works: Sequence[float], ranks: Sequence[int]) -> Iterator[str]:
    for work in works:
        yield f"compute work={work!r} sync=barrier ranks=1"
        yield from (f"compute work={work / p!r} sync=barrier ranks={p}" for p in ranks)


def _grid(works: Sequence[float], pairs: Sequence[tuple[int, float]], ranks: int) -> Iterator[str]:
    """On one rank there is neither a message length nor a serial part."""
    for work in works:
        for length, serial in pairs if ranks > 1 else pairs[:1]:
            yield _cell(work, length, serial, ranks)


def _cell(work: float, length: int, serial: float, ranks: int, shares: str = "equal") -> str:
    return (
        f"granularity work={work!r} bytes={length} serial={serial!r} shares={shares} exchange=ordered "
        f"iterations={ITERATIONS} buffers=hot sync=barrier ranks={ranks}"
    )


def _uneven(works: Sequence[float], lengths: Sequence[int], ranks: int) -> Iterator[str]:
    few = thin(tuple(works), 3)
    return (_cell(work, min(lengths), 0.0, ranks, SHARES) for work in few)


def _exchanges(lengths: Sequence[int], ranks: int, others: Sequence[str]) -> Iterator[str]:
    def case(length: int, exchange: str) -> str:
        return f"round_robin bytes={length} exchange={exchange} buffers=hot sync=window ranks={ranks}"

    yield from (case(length, "ordered") for length in lengths)
    few = thin(tuple(sorted(lengths)), 3)
    yield from (case(length, exchange) for exchange in others for length in few)
