# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""LogGP by the parametrised round trip time PRTT(n, d, s): n messages of s bytes, d seconds apart, one back.

T. Hoefler, A. Lichei, W. Rehm, 'Low-Overhead LogGP Parameter Assessment for Modern Interconnection Networks',
IPDPS 2007 (PMEO-PDS); LogGP itself: Alexandrov, Ionescu, Schauser, Scheiman, SPAA'95.

    o_s(s)       = (PRTT(n, d, s) - PRTT(1, 0, s)) / (n - 1) - d       with d longer than the gap
    g + G (s-1)  = (PRTT(n, 0, s) - PRTT(1, 0, s)) / (n - 1)           a line over s, g >= 0 and G >= 0
    o_r(s)       = the receive call, timed when the message has already arrived
    L            = PRTT(1, 0, s) / 2 - o_s(s) - o_r(s) - G (s-1)       at the smallest s

Some programs report half of PRTT(1, 0, s) as L, including overheads; here they are subtracted, as in LogGP.
Each of these is a linear combination of the cases' median times (`loggp_lines`), for sizes up to the first
change of protocol in the ping-pong (`Trains`). At the smallest size g >= o_s, g >= o_r and L >= 0 are imposed
if the data agree (`consistent`). The fit's curve is the time of one message, L + o_s(s) + o_r(s) + G (s-1),
to be compared with a ping-pong. It and the fit's range end where this sum clearly exceeds half of the round
trip: from there on the model describes trains only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from hockney.core.catalog import Catalog
from hockney.core.fit import CurvePoint, Estimate, Fit, FitCaveat, FittedParameter, Subject
from hockney.core.record import SCHEMA, Record, RunRecords, Visits
from hockney.models.fits import caveats
from hockney.models.fits.loggp_lines import (
    GAP,
    ONE_WAY,
    RECEIVE,
    SEND,
    GapLine,
    SizeLine,
    consistent,
    interval_of,
)
from hockney.models.fits.model import SIZE, Scope, explains, ranges_of
from hockney.models.fits.piecewise import fit_piecewise
from hockney.models.fits.verdict import FAIR, refused, uncertainty, verdict
from hockney.models.statistics import MIN_TIME_S, Medians, Observation, estimate, observe, tabulate

TRAIN, OVERHEAD, MESSAGE = "train", "overhead", "point-to-point"
"""Roles of the model's input: trains of messages, the receive call alone, and the ping-pong."""

FEWEST_TRAINS = 3
"""Minimum sizes of trains for a line; at least this many are used, even beyond a change of protocol."""

FEWEST_SIZES = 6
"""Minimum sizes of the ping-pong to detect a change of protocol: a line on each side."""


@dataclass(frozen=True)
class Trains:
    """The observations that are PRTT(1, 0, s), PRTT(n, 0, s), PRTT(n, d, s) and the receive call, by size:
    rows of `seen`, in which delayed trains are without their pauses. The largest n and d are used. `pauses`
    are the seconds between two messages of a delayed train."""

    seen: tuple[Observation, ...]
    single: dict[int, int]
    burst: dict[int, tuple[int, int]]
    delayed: dict[int, tuple[int, int]]
    pauses: dict[int, float]
    receive: dict[int, int]

    @staticmethod
    def of(observations: Sequence[Observation], beyond: float) -> Trains:
        """The trains of the sizes below `beyond`."""
        used = [o for o in observations if o.role in (TRAIN, OVERHEAD) and o.size < beyond]
        used = [o for o in used if _pause(o) == 0 or _pauses_s(o) > 0]
        used.sort(key=lambda o: (_count(o), _pauses_s(o)))
        found = Trains(tuple(map(_without_pauses, used)), {}, {}, {}, {}, {})
        for row, observation in enumerate(used):
            count, size = _count(observation), int(observation.size)
            if observation.role == OVERHEAD:
                found.receive[size] = row
            elif _pauses_s(observation) > 0:
                found.delayed[size] = row, count
                found.pauses[size] = _pauses_s(observation)
            elif count == 1:
                found.single[size] = row
            else:
                found.burst[size] = row, count
        return found

    def missing(self, sizes: int = 2) -> str:
        """The reason why no fit at this many sizes is possible, as text; empty if all observations exist."""
        gaps = self.single.keys() & self.burst.keys()
        if len(gaps) < sizes:
            return f"g and G need PRTT(1,0,s) and PRTT(n,0,s) at two sizes at least; there are {len(gaps)}"
        if not self.single.keys() & self.delayed.keys():
            return "o_s needs PRTT(n,d,s) with a delay d > 0 at a size that PRTT(1,0,s) has; there is none"
        if not self.receive:
            return "o_r needs a receive timed after the message arrived (receive_overhead); there is none"
        return ""


def ping_pong(observations: Iterable[Observation]) -> list[Observation]:
    """One message at a time, buffers hot, by size."""
    found = (
        o
        for o in observations
        if o.role == MESSAGE and o.workload.operation == "send" and o.case.get("buffers", "hot") == "hot"
    )
    return sorted(found, key=lambda o: o.size)


def end_of_protocol(observations: Sequence[Observation]) -> float:
    """The size at which messages change protocol, by the ping-pong: the first change that leaves enough
    trains below; infinite if there is none."""
    trains = {o.size for o in observations if o.role == TRAIN}
    messages = ping_pong(observations)
    sizes = np.array([o.size for o in messages])
    if len(sizes) < FEWEST_SIZES or len(set(sizes)) < len(sizes):
        return np.inf
    changes = (change.value for change in fit_piecewise(sizes, tabulate(messages)).changes())
    return next((c for c in changes if sum(size < c for size in trains) >= FEWEST_TRAINS), np.inf)


def _count(observation: Observation) -> int:
    return int(observation.case.number("messages", 1))


def _pause(observation: Observation) -> float:
    """Whether the case requests a pause."""
    if observation.role != TRAIN or _count(observation) == 1:
        return 0.0
    return observation.case.number("delay") + observation.case.number("pause")


def _pauses_s(observation: Observation) -> float:
    """Seconds between two messages in the typical launch; 0 if there are none or they are not known."""
    if _pause(observation) == 0:
        return 0.0
    return float(np.mean([np.median(_paused(record)[1]) for record in observation.records]))


def _paused(record: Record) -> tuple[Record, np.ndarray]:
    """The length of a pause in each repetition: as measured there, else as requested by the case. Every visit
    has another pause. If there is only one value for a record, it is the last visit's, so the record returned
    has only that one."""
    measured = record.metrics.get("paused")
    if measured is None or not measured.values or measured.values[0] <= 0:
        return record, np.full(len(record.times_s), record.parse_case().number("delay"))
    if len(measured.values) == len(record.times_s):
        return record, np.array(measured.values)
    last = _last_visit(record) if record.parse_case().number("pause") > 0 else record
    return last, np.full(len(last.times_s), measured.values[0])


def _last_visit(record: Record) -> Record:
    """The same record with only the last of its visits that has repetitions."""
    visits = record.visits
    place = max((k for k, count in enumerate(visits.repetitions) if count), default=None)
    if place is None:
        return record
    only = Visits(
        after_s=[visits.after_s[place]],
        repetitions=[visits.repetitions[place]],
        preempted=[visits.preempted[place]],
    )
    times_s = record.times_by_visit[place]
    return msgspec.structs.replace(record, times_s=list(times_s), visits=only)


def _without_pauses(observation: Observation) -> Observation:
    """Pauses differ between launches and visits, and their time is not the messages'."""
    if _pause(observation) == 0:
        return observation
    waits = _count(observation) - 1
    records = []
    for record, paused in map(_paused, observation.records):
        times_s = np.maximum(np.array(record.times_s) - waits * paused, MIN_TIME_S)
        records.append(msgspec.structs.replace(record, times_s=times_s.tolist(), metrics={}))
    catalog = Catalog(schema=SCHEMA, engine="", workloads=[observation.workload])
    return observe(RunRecords(records=tuple(records)), catalog)[0]


MUCH = 0.5
"""An excess of the parts over the message that is not put down to scatter, however wide its interval."""

NO_SEND_OVERHEAD = FitCaveat(
    "no-send-overhead", "the delayed messages did not take more time than the delays, so o_s is set to 0"
)


@explains(TRAIN, order=2, free=("messages", "delay", "pause", SIZE), together_with=(OVERHEAD, MESSAGE))
def of_trains(observations: Sequence[Observation], subject: Subject, scope: Scope) -> list[Fit]:
    return [fit_loggp(observations, subject)]


def fit_loggp(observations: Sequence[Observation], subject: Subject) -> Fit:
    """The model from all observations of trains and receive calls that belong together, and of the ping-pong
    if there is one.

    Parameters by symbol: L, o_s, o_r, g (s), G, O_s, O_r (s/B). o_s and o_r hold at the smallest size
    measured; O_s and O_r are their increase per byte.
    """
    trains = Trains.of(observations, end_of_protocol(observations))
    missing = trains.missing()
    if missing:
        return refused("loggp", subject, missing)
    return _LogGP.of(trains).report(subject, ping_pong(observations))


@dataclass(frozen=True)
class LogGPOverheads:
    """o_s, o_r and g of messages of one size (s), and what contradicts them."""

    send: Estimate
    receive: Estimate
    gap: Estimate
    caveats: tuple[FitCaveat, ...] = ()


def loggp_overheads(observations: Sequence[Observation]) -> LogGPOverheads | None:
    """The fit's parameters at a single size, from observations of this size; None if some are missing."""
    trains = Trains.of(observations, np.inf)
    if trains.missing(sizes=1):
        return None
    fit = _LogGP.of(trains)
    found = {p.symbol: p.estimate for p in fit._parameters()}
    return LogGPOverheads(
        found["o_s"], found["o_r"], found["g"], tuple(fit._caveats(ping_pong(observations)))
    )


@dataclass(frozen=True)
class _LogGP:
    """`size` is the smallest; `latency` with its row is the part of half the round trip that remains for L,
    `contradicted` are the inequalities of `consistent` that the data do not allow, and `free` the lines
    without any."""

    medians: Medians
    trains: Trains
    size: int
    gap: GapLine
    send: GapLine
    receive: SizeLine
    latency: float
    latency_row: np.ndarray
    moved: bool
    contradicted: tuple[int, ...]
    free: tuple[GapLine, GapLine, SizeLine]

    @staticmethod
    def of(trains: Trains) -> _LogGP:
        medians = Medians.from_observations(trains.seen)
        gap, send, receive = free = _lines(medians, trains)
        size = min(trains.single)
        half_trip = np.zeros(len(medians.center))
        half_trip[trains.single[size]] = 0.5
        further = max(size - 1, 0)
        byte, byte_row = gap.line.slope, gap.line.rows[1]
        one_way = half_trip - further * byte_row
        parts = [line.at(size) for line in free]
        values = np.array(
            [*(value for value, _ in parts), float(half_trip @ medians.center) - further * byte]
        )
        found = consistent(medians, values, np.array([*(row for _, row in parts), one_way]))
        shift, rows = found.values - values, found.rows
        if found.moved:
            gap = gap.moved(float(shift[GAP]), rows[GAP], size)
            send = send.moved(float(shift[SEND]), rows[SEND], size)
            receive = receive.moved(found.values[RECEIVE], rows[RECEIVE])
        return _LogGP(
            medians=medians,
            trains=trains,
            size=size,
            gap=gap,
            send=send,
            receive=receive,
            latency=float(found.values[ONE_WAY] - found.values[SEND] - found.values[RECEIVE]),
            latency_row=rows[ONE_WAY] - rows[SEND] - rows[RECEIVE],
            moved=found.moved,
            contradicted=found.contradicted,
            free=free,
        )

    def report(self, subject: Subject, messages: Sequence[Observation]) -> Fit:
        parameters = self._parameters()
        sizes = sorted(self.trains.single.keys() & self.trains.burst.keys())
        measured, fitted = self._times(sizes)
        exceeding = self._exceeding()
        alone = [size for size in sizes if exceeding is None or size < exceeding[0]]
        return Fit(
            model="loggp",
            line=subject.line,
            parameters=parameters,
            segments=self.gap.segments(self.medians),
            curve=[self._curve_point(size) for size in alone],
            ranges=ranges_of([o for o in self.trains.seen if o.size in alone]),
            **verdict(
                measured,
                fitted,
                errors=self.medians.errors,
                caveats=self._caveats(messages),
                widths={
                    p.symbol: uncertainty(p.estimate, self._leverage(p.symbol, sizes)) for p in parameters
                },
            ),
        )

    def _times(self, sizes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """The measured times and the model's: of trains without and with pauses, and of single messages."""
        trains, times = self.trains, self.medians.center
        single = {size: times[row] for size, row in trains.single.items()}
        pairs = [(times[trains.burst[s][0]], single[s], trains.burst[s][1], self.gap.at(s)[0]) for s in sizes]
        delayed = sorted(single.keys() & trains.delayed.keys())
        pairs += [
            (times[trains.delayed[s][0]], single[s], trains.delayed[s][1], self.send.at(s)[0])
            for s in delayed
        ]
        measured = [train for train, *_ in pairs] + [single[s] / 2 for s in sizes]
        fitted = [one + (count - 1) * further for _, one, count, further in pairs]
        fitted += [self._one_way(s).value for s in sizes]
        return np.array(measured), np.array(fitted)

    def _parameters(self) -> list[FittedParameter]:
        latency = self._estimate(self.latency, self.latency_row)
        found = [FittedParameter(name="latency of the network", symbol="L", unit="s", estimate=latency)]
        smallest = min(self.trains.delayed), min(self.trains.receive)
        free_gap, free_send, free_receive = self.free
        send, receive = "overhead of sending", "overhead of receiving"
        lines: tuple[tuple[SizeLine | GapLine, SizeLine | GapLine, str, str, str, str, str], ...] = (
            (self.send, free_send, send, "o_s", f"{send} a byte", "O_s", f"at {smallest[0]} B"),
            (self.receive, free_receive, receive, "o_r", f"{receive} a byte", "O_r", f"at {smallest[1]} B"),
            (self.gap, free_gap, "gap between messages", "g", "gap between bytes", "G", ""),
        )
        for line, free, name, symbol, slope_name, slope, note in lines:
            base, per_byte = line.parameters(self.medians)
            if self.moved:
                # An imposed value may be wrong by chance, so the interval covers that of the free parameter
                # too.
                base = _both(base, free.parameters(self.medians)[0])
            found.append(FittedParameter(name=name, symbol=symbol, unit="s", estimate=base, note=note))
            found.append(FittedParameter(name=slope_name, symbol=slope, unit="s/B", estimate=per_byte))
        return found

    def _estimate(self, value: float, row: np.ndarray) -> Estimate:
        held = value <= 0 or any(line.held for line in (self.send, self.receive, self.gap))
        return interval_of(self.medians, max(value, 0.0), row, held=held)

    def _one_way(self, size: int) -> Estimate:
        """L + o_s + o_r + G (s-1)."""
        return interval_of(self.medians, *self._parts(size))

    def _parts(self, size: int) -> tuple[float, np.ndarray]:
        """The same with its row."""
        further = max(size - 1, 0)
        value = max(self.latency, 0.0) + further * self.gap.line.slope
        row = self.latency_row * (self.latency > 0) + further * self.gap.line.rows[1]
        for line in (self.send, self.receive):
            part, part_row = line.at(size)
            value, row = value + part, row + part_row
        return value, row

    def _curve_point(self, size: int) -> CurvePoint:
        """The curve at this size, with an interval that also covers half of the round trip if that is known
        to differ."""
        time, half_trip = self._one_way(size), self._half_trip(size)
        ends = [time, half_trip] if _apart(time, half_trip) else [time]
        low = min(each.value if each.low is None else each.low for each in ends)
        high = max(each.value if each.high is None else each.high for each in ends)
        return CurvePoint(float(size), time.value, low, high)

    def _half_trip(self, size: int) -> Estimate:
        """PRTT(1, 0, s) / 2, the measured time of one message."""
        row = self._half_trip_row(size)
        return interval_of(self.medians, float(row @ self.medians.center), row)

    def _half_trip_row(self, size: int) -> np.ndarray:
        row = np.zeros(len(self.medians.center))
        row[self.trains.single[size]] = 0.5
        return row

    def _leverage(self, symbol: str, sizes: Sequence[int]) -> float:
        """A gap is part of the time of a train's message, all other parameters of a single message's time;
        parameters per byte matter most at the largest size."""
        largest = sizes[-1]
        if symbol in ("g", "G"):
            at = self.gap.at(self.size if symbol == "g" else largest)[0]
        else:
            at = self._one_way(largest if symbol.startswith("O") else self.size).value
        return (largest if symbol in ("G", "O_s", "O_r") else 1.0) / max(at, 1e-30)

    def _caveats(self, messages: Sequence[Observation]) -> list[FitCaveat]:
        found = self._contradictions(messages)
        if self.send.at(self.size)[0] == 0:
            found.append(NO_SEND_OVERHEAD)
        if (exceeding := self._exceeding()) is not None:
            found.append(caveats.parts_exceed_message(*exceeding))
        # A sender that waits less than the gap is held up by the network: its steps then take the gap.
        short = [
            size
            for size, pause in self.trains.pauses.items()
            if pause + self.send.at(size)[0] < 1.05 * self.gap.at(size)[0]
        ]
        if short:
            text = f"the delay is shorter than the gap at {min(short)} B and more, so o_s is too large there"
            found.append(FitCaveat("short-delay", text, {"size": min(short)}))
        return found

    def _exceeding(self) -> tuple[int, float] | None:
        """The first size, above the smallest, at which the parts of a message's time add up to clearly more
        than half of the round trip, and the largest excess from there on, relative to it."""
        sizes = sorted(self.trains.single.keys() & self.trains.burst.keys())
        excess = {size: self._excess(size) for size in sizes[1:]}
        clear = [size for size, (least, value) in excess.items() if value >= (FAIR if least > 0 else MUCH)]
        return (clear[0], max(excess[size][1] for size in clear)) if clear else None

    def _excess(self, size: int) -> tuple[float, float]:
        """The excess of the parts over half of the round trip, relative to it: its lower bound (95%), and its
        value. The difference is formed in each launch, so that slow launches do not hide it."""
        value, row = self._parts(size)
        half_trip = self._half_trip_row(size)
        measured = float(half_trip @ self.medians.center)
        more = value - measured
        least = interval_of(self.medians, max(more, 0.0), row - half_trip).low or 0.0
        return float(least / measured), float(more / measured)

    def _contradictions(self, messages: Sequence[Observation]) -> list[FitCaveat]:
        gap, send, receive = (
            interval_of(self.medians, *line.at(self.size), held=line.held)
            for line in (self.gap, self.send, self.receive)
        )
        total = self._one_way(self.size)
        found = []
        if SEND - 1 in self.contradicted:
            found.append(caveats.gap_below_overhead("send", gap, send))
        if RECEIVE - 1 in self.contradicted:
            found.append(caveats.gap_below_overhead("receive", gap, receive))
        same = next((o for o in messages if o.size == self.size), None)
        measured = None if same is None else estimate(*same.interval())
        if measured is not None and _apart(total, measured):
            found.append(caveats.sum_not_ping_pong(total, measured, self.size))
        elif ONE_WAY - 1 in self.contradicted:
            found.append(caveats.overheads_exceed_one_way(total, self._half_trip(self.size)))
        return found


def _lines(medians: Medians, trains: Trains) -> tuple[GapLine, GapLine, SizeLine]:
    """The lines of the gap, of o_s and of o_r."""
    cases = len(medians.center)

    def further(more: dict[int, tuple[int, int]]) -> tuple[list[int], np.ndarray]:
        """The time of each additional message of a train, by size."""
        sizes = sorted(trains.single.keys() & more.keys())
        rows = np.zeros((len(sizes), cases))
        for k, size in enumerate(sizes):
            row, count = more[size]
            rows[k, row], rows[k, trains.single[size]] = 1 / (count - 1), -1 / (count - 1)
        return sizes, rows

    sizes = sorted(trains.receive)
    rows = np.eye(cases)[[trains.receive[s] for s in sizes]]
    receive = SizeLine.through(medians, sizes, rows, float(sizes[0]))
    delayed, sends = further(trains.delayed)
    send = GapLine.through(medians, delayed, sends, float(delayed[0]))
    return GapLine.through(medians, *further(trains.burst)), send, receive


def _both(first: Estimate, second: Estimate) -> Estimate:
    """The first value, with an interval that covers both intervals."""
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return first
    return Estimate(first.value, min(first.low, second.low), max(first.high, second.high))


def _apart(first: Estimate, second: Estimate, tolerance: float = 0.05) -> bool:
    """Whether the intervals do not overlap, and the values differ by more than the error of a good model."""
    if None in (first.low, first.high, second.low, second.high):
        return abs(first.value - second.value) > 3 * tolerance * second.value
    assert first.low is not None and first.high is not None
    assert second.low is not None and second.high is not None
    away = max(first.low - second.high, second.low - first.high)
    return away > 0 and abs(first.value - second.value) > tolerance * second.value
