# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The predicted performance of a kernel on numbers of ranks: speed-up, efficiency, the best number of ranks,
and what would improve it: the predicted times of the same kernel with other messages.

Intervals are those of the times of one rank and of communication, whose ends are combined in every way. They
do not cover errors of the model's assumptions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from hockney.core.fit import Estimate
from hockney.core.platform import Platform
from hockney.core.units import doubling_series
from hockney.models.measured_costs import End
from hockney.models.programs.communication import Communication
from hockney.models.programs.prediction import KernelTime, Rates, Terms, described_startup, predict
from hockney.models.programs.program import (
    Collective,
    Exchange,
    Indivisible,
    Messages,
    Pipeline,
    Program,
    Share,
)

Make = Callable[[int, float, float], Program]
"""A kernel for numbers of ranks, the rate of one of them (operations per second) and the startup (s) of a
message, which some kernels divide their pipelines by. Raises Indivisible."""
LEAST_EFFICIENCY = 0.5
LARGEST_CONSECUTIVE = 64
"""Up to this many ranks every number is considered, and beyond it powers of two."""
SEEN = 1e-6
"""The minimum gain of efficiency that counts."""


@dataclass(frozen=True)
class KernelMachine:
    """The rates of one rank, and communication with its times and, if known, with the ends of their
    intervals. More ranks than `cores` share them; None if each rank has its own. On a described machine
    (`platform`), pipelines are divided for its messages, and for `rate` operations per second."""

    rates: Rates
    communication: Mapping[End, Communication]
    cores: int | None = None
    platform: Platform | None = None
    rate: float = 0.0

    def shared_by(self, ranks: int) -> float:
        """Ranks for each core."""
        return max(1.0, ranks / self.cores) if self.cores else 1.0

    def program(self, make: Make, ranks: int) -> Program:
        """Raises Indivisible."""
        startup = 0.0 if self.platform is None else described_startup(self.platform, ranks)
        return make(ranks, self.rate, startup)


@dataclass(frozen=True)
class KernelRow:
    """Performance on `ranks` ranks: time (s) of a run, speed-up, efficiency, the fraction of the time spent
    in communication, and the parts of the time. `shared_by` ranks share a core, 1 if each has its own."""

    ranks: int
    time: Estimate
    speed_up: Estimate
    efficiency: Estimate
    communication: Estimate
    terms: Terms
    shared_by: float


@dataclass(frozen=True)
class KernelChange:
    """What would be changed, the resulting efficiency, and its improvement."""

    name: str
    words: str
    efficiency: float
    gain: float


@dataclass(frozen=True)
class KernelForecast:
    """`indivisible` are numbers of ranks that the kernel cannot be divided among. `fastest` has the largest
    speed-up of up to `most` ranks, and `thrifty` the most ranks with an efficiency of 50%. `changes` are
    for `changed` ranks, what helps most first; 0 ranks where all asked for share cores."""

    kernel: str
    size: str
    rows: tuple[KernelRow, ...]
    indivisible: tuple[int, ...]
    most: int
    fastest: KernelRow
    thrifty: KernelRow
    changed: int
    changes: tuple[KernelChange, ...]


def forecast(make: Make, ranks: Sequence[int], machine: KernelMachine) -> KernelForecast:
    """Raises Indivisible if the kernel can be divided among none of `ranks`."""
    programs = dict(_programs(make, ranks, machine))
    if not programs:
        machine.program(make, min(ranks))
    single = machine.program(make, 1)
    most = max(programs)
    considered = dict(_programs(make, _counts(most), machine)) | programs
    times = {p: _time(each, machine).total for p, each in considered.items()}
    fastest = min(times, key=lambda p: (times[p], p))
    thrifty = max((p for p in times if times[1] / times[p] / p >= LEAST_EFFICIENCY), default=1)
    own = [p for p in programs if p > 1 and machine.shared_by(p) == 1]
    changed = max(own, default=0)
    return KernelForecast(
        kernel=single.kernel,
        size=single.size,
        rows=tuple(_row(each, single, machine) for each in programs.values()),
        indivisible=tuple(p for p in ranks if p not in programs),
        most=most,
        fastest=_row(considered[fastest], single, machine),
        thrifty=_row(considered[thrifty], single, machine),
        changed=changed,
        changes=_changes(programs[changed], times[1], machine) if changed else (),
    )


def _programs(make: Make, ranks: Sequence[int], machine: KernelMachine) -> Iterator[tuple[int, Program]]:
    for p in ranks:
        try:
            yield p, machine.program(make, p)
        except Indivisible:
            continue


def _counts(largest: int) -> list[int]:
    all_counts = list(range(1, min(largest, LARGEST_CONSECUTIVE) + 1))
    return (
        all_counts
        if largest <= LARGEST_CONSECUTIVE
        else [*all_counts, *doubling_series(2 * LARGEST_CONSECUTIVE, largest)]
    )


def _time(program: Program, machine: KernelMachine, end: End = "value", factor: float = 1.0) -> KernelTime:
    rates = replace(machine.rates, factor=factor)
    return predict(program, rates, machine.communication[end], slower=machine.shared_by(program.ranks))


def _row(program: Program, single: Program, machine: KernelMachine) -> KernelRow:
    def of(value: Callable[[float, KernelTime], float]) -> Estimate:
        """The estimate of `value`, a function of the time (s) of one rank and the predicted time of all
        ranks."""
        middle = value(_time(single, machine).total, _time(program, machine))
        if "low" not in machine.communication:
            return Estimate(middle, None, None)
        factors = machine.rates.low, machine.rates.high
        ends: tuple[End, ...] = ("low", "high")
        found = [
            value(_time(single, machine, "value", factor).total, _time(program, machine, end, factor))
            for end, factor in product(ends, factors)
        ]
        return Estimate(middle, min(middle, *found), max(middle, *found))

    ranks = program.ranks
    return KernelRow(
        ranks=ranks,
        time=of(lambda _, time: time.total),
        speed_up=of(lambda one, time: one / time.total),
        efficiency=of(lambda one, time: one / time.total / ranks),
        communication=of(lambda _, time: time.terms.communication / time.total),
        terms=_time(program, machine).terms,
        shared_by=machine.shared_by(ranks),
    )


def _changes(program: Program, alone: float, machine: KernelMachine) -> tuple[KernelChange, ...]:
    terms = _time(program, machine).terms

    def changed(change: Callable[[Program], Program]) -> float:
        return _time(change(program), machine).total

    times = (
        ("shorter messages", "send half the bytes", changed(shorter_messages)),
        ("fewer messages", "exchange half as often, with messages twice as long", changed(fewer_messages)),
        ("fewer collectives", "call half as many, with twice the data", changed(fewer_collectives)),
        ("finer pipelines", "pass twice as many chunks, of half the size", changed(finer_pipelines)),
        ("less imbalance", "give every rank the same work", replace(terms, imbalance=0.0).total),
        (
            "overlap",
            "hide messages behind computation",
            terms.total - min(terms.messages, terms.computation + terms.waiting),
        ),
    )
    now = alone / terms.total / program.ranks
    made = [
        KernelChange(name, words, value, value - now)
        for name, words, time in times
        for value in (alone / time / program.ranks,)
    ]
    return tuple(sorted((each for each in made if each.gain > SEEN), key=lambda each: -each.gain))


def shorter_messages(program: Program) -> Program:
    """Half the bytes, between two ranks and in collectives."""
    return _changed(
        program,
        exchange=lambda e: replace(e, sent=_halved(e.sent), received=_halved(e.received)),
        pipeline=lambda p: replace(p, sent=_shorter(p.sent), received=_shorter(p.received)),
        collective=lambda c: replace(c, bytes=_halved(c.bytes)),
    )


def fewer_messages(program: Program) -> Program:
    """Two exchanges at once."""
    return _changed(
        program,
        exchange=lambda e: replace(
            e, count=_half(e.count), sent=_doubled(e.sent), received=_doubled(e.received)
        ),
    )


def fewer_collectives(program: Program) -> Program:
    """Two calls at once."""
    return _changed(program, collective=lambda c: replace(c, count=_half(c.count), bytes=_doubled(c.bytes)))


def finer_pipelines(program: Program) -> Program:
    """Twice as many chunks."""
    return _changed(
        program,
        pipeline=lambda p: replace(p, chunks=2 * p.chunks, sent=_split(p.sent), received=_split(p.received)),
    )


def _changed(
    program: Program,
    *,
    exchange: Callable[[Exchange], Exchange] = lambda each: each,
    pipeline: Callable[[Pipeline], Pipeline] = lambda each: each,
    collective: Callable[[Collective], Collective] = lambda each: each,
) -> Program:
    def share(each: Share) -> Share:
        return replace(
            each,
            exchanges=tuple(map(exchange, each.exchanges)),
            pipeline=None if each.pipeline is None else pipeline(each.pipeline),
        )

    phases = (
        replace(
            phase,
            shares=tuple(map(share, phase.shares)),
            collectives=tuple(map(collective, phase.collectives)),
        )
        for phase in program.phases
    )
    return replace(program, phases=tuple(phases))


def _half(count: int) -> int:
    return -(-count // 2)


def _halved(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(_half, sizes))


def _doubled(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(2 * each for each in sizes)


def _shorter(messages: tuple[Messages, ...]) -> tuple[Messages, ...]:
    return tuple(Messages(each.count, _half(each.bytes)) for each in messages)


def _split(messages: tuple[Messages, ...]) -> tuple[Messages, ...]:
    return tuple(Messages(2 * each.count, _half(each.bytes)) for each in messages)
