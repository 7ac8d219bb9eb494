# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""LogGP from the parametrised round trip time PRTT(n, d, s): n messages of s bytes, d seconds apart, and one
reply.

T. Hoefler, A. Lichei, W. Rehm, 'Low-Overhead LogGP Parameter Assessment for Modern Interconnection Networks',
IPDPS 2007 (PMEO-PDS); LogGP itself: Alexandrov, Ionescu, Schauser, Scheiman, SPAA'95.

    o_s(s)       = (PRTT(n, d, s) - PRTT(1, 0, s)) / (n - 1) - d       with d longer than the gap
    g + G (s-1)  = (PRTT(n, 0, s) - PRTT(1, 0, s)) / (n - 1)           a line over s, g >= 0 and G >= 0
    o_r(s)       = the receive call, timed when the message has already arrived
    L            = PRTT(1, 0, s) / 2 - o_s(s) - o_r(s) - G (s-1)       at the smallest s

Some programs report half of PRTT(1, 0, s) as L, including overheads; here they are subtracted, as in LogGP.
Each parameter is a linear combination of the cases' median times (`loggp_lines`), for sizes up to the first
change of protocol in the ping-pong (`Trains`). At the smallest size, g >= o_s, g >= o_r and L >= 0 are
imposed if the data agree (`impose_consistency`). The fit's curve is the time of one message, L + o_s(s) +
o_r(s) + G (s-1), for comparison with a ping-pong. The curve and the fit's range end where this sum clearly
exceeds half of the round trip: for larger sizes the model describes trains only."""

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
    combination_interval,
    impose_consistency,
)
from hockney.models.fits.model import SIZE, Scope, explains, ranges_of
from hockney.models.fits.piecewise import fit_piecewise
from hockney.models.fits.verdict import FAIR_ERROR, judge_fit, refused, uncertainty
from hockney.models.statistics import MIN_TIME_S, Medians, Observation, estimate, observe, tabulate

TRAIN, OVERHEAD, MESSAGE = "train", "overhead", "point-to-point"
"""Roles of the model's input: trains of messages, the receive call alone, and the ping-pong."""

MIN_TRAIN_SIZES = 3
"""Minimum number of train sizes for a line, used even beyond a change of protocol."""

MIN_PING_PONG_SIZES = 6
"""Minimum number of ping-pong sizes to detect a change of protocol: a line on each side."""


@dataclass(frozen=True)
class Trains:
    """Rows of `observations` by size: `single` is PRTT(1, 0, s), `burst` PRTT(n, 0, s), `delayed` PRTT(n, d,
    s) without the pauses, and `receive` the receive call. The largest n and d are used. `pauses` contains the
    seconds between two messages of a delayed train."""

    observations: tuple[Observation, ...]
    single: dict[int, int]
    burst: dict[int, tuple[int, int]]
    delayed: dict[int, tuple[int, int]]
    pauses: dict[int, float]
    receive: dict[int, int]

    @staticmethod
    def from_observations(observations: Sequence[Observation], size_limit: float) -> Trains:
        """The trains of the sizes below `size_limit`."""
        train_observations = [o for o in observations if o.role in (TRAIN, OVERHEAD) and o.size < size_limit]
        train_observations = [
            o for o in train_observations if _requested_pause_s(o) == 0 or _typical_pause_s(o) > 0
        ]
        train_observations.sort(key=lambda o: (_message_count(o), _typical_pause_s(o)))
        trains = Trains(tuple(map(_subtract_pauses, train_observations)), {}, {}, {}, {}, {})
        for row, observation in enumerate(train_observations):
            count, size = _message_count(observation), int(observation.size)
            if observation.role == OVERHEAD:
                trains.receive[size] = row
            elif _typical_pause_s(observation) > 0:
                trains.delayed[size] = row, count
                trains.pauses[size] = _typical_pause_s(observation)
            elif count == 1:
                trains.single[size] = row
            else:
                trains.burst[size] = row, count
        return trains

    def missing_input(self, min_sizes: int = 2) -> str:
        """Why no fit with this many sizes is possible; empty if all observations exist."""
        gap_sizes = self.single.keys() & self.burst.keys()
        if len(gap_sizes) < min_sizes:
            return (
                f"g and G need PRTT(1,0,s) and PRTT(n,0,s) at two sizes at least; there are {len(gap_sizes)}"
            )
        if not self.single.keys() & self.delayed.keys():
            return "o_s needs PRTT(n,d,s) with a delay d > 0 at a size that PRTT(1,0,s) has; there is none"
        if not self.receive:
            return "o_r needs a receive timed after the message arrived (receive_overhead); there is none"
        return ""


def ping_pong_observations(observations: Iterable[Observation]) -> list[Observation]:
    """Observations of one message at a time with hot buffers, by size."""
    messages = (
        observation
        for observation in observations
        if observation.role == MESSAGE
        and observation.workload.operation == "send"
        and observation.case.get("buffers", "hot") == "hot"
    )
    return sorted(messages, key=lambda observation: observation.size)


def protocol_change_size(observations: Sequence[Observation]) -> float:
    """Size at which the ping-pong first changes protocol with enough trains below; infinite without such a
    change."""
    trains = {observation.size for observation in observations if observation.role == TRAIN}
    messages = ping_pong_observations(observations)
    sizes = np.array([observation.size for observation in messages])
    if len(sizes) < MIN_PING_PONG_SIZES or len(set(sizes)) < len(sizes):
        return np.inf
    changes = (change.value for change in fit_piecewise(sizes, tabulate(messages)).changes())
    return next(
        (
            change_size
            for change_size in changes
            if sum(size < change_size for size in trains) >= MIN_TRAIN_SIZES
        ),
        np.inf,
    )


def _message_count(observation: Observation) -> int:
    return int(observation.case.number("messages", 1))


def _requested_pause_s(observation: Observation) -> float:
    """Length of the pause that the case requests; 0 without a pause."""
    if observation.role != TRAIN or _message_count(observation) == 1:
        return 0.0
    return observation.case.number("delay") + observation.case.number("pause")


def _typical_pause_s(observation: Observation) -> float:
    """Seconds between two messages in the typical launch; 0 without pauses, or if unknown."""
    if _requested_pause_s(observation) == 0:
        return 0.0
    return float(np.mean([np.median(_with_pause_lengths(record)[1]) for record in observation.records]))


def _with_pause_lengths(record: Record) -> tuple[Record, np.ndarray]:
    """The record with the length of the pause in each repetition: measured, otherwise as requested by the
    case. The pause differs between visits. A single value in a record belongs to the last visit, so the
    returned record contains only that visit."""
    pause_metric = record.metrics.get("paused")
    if pause_metric is None or not pause_metric.values or pause_metric.values[0] <= 0:
        return record, np.full(len(record.times_s), record.parse_case().number("delay"))
    if len(pause_metric.values) == len(record.times_s):
        return record, np.array(pause_metric.values)
    last_visit_record = _last_visit(record) if record.parse_case().number("pause") > 0 else record
    return last_visit_record, np.full(len(last_visit_record.times_s), pause_metric.values[0])


def _last_visit(record: Record) -> Record:
    """The record reduced to the last visit with repetitions."""
    visits = record.visits
    last_index = max((index for index, count in enumerate(visits.repetitions) if count), default=None)
    if last_index is None:
        return record
    last_visit = Visits(
        after_s=[visits.after_s[last_index]],
        repetitions=[visits.repetitions[last_index]],
        preempted=[visits.preempted[last_index]],
    )
    times_s = record.times_by_visit[last_index]
    return msgspec.structs.replace(record, times_s=list(times_s), visits=last_visit)


def _subtract_pauses(observation: Observation) -> Observation:
    """Return the observation with the pauses subtracted: they differ between launches and visits, and are not
    part of the message time."""
    if _requested_pause_s(observation) == 0:
        return observation
    pause_count = _message_count(observation) - 1
    records = []
    for record, pauses_s in map(_with_pause_lengths, observation.records):
        times_s = np.maximum(np.array(record.times_s) - pause_count * pauses_s, MIN_TIME_S)
        records.append(msgspec.structs.replace(record, times_s=times_s.tolist(), metrics={}))
    catalog = Catalog(schema=SCHEMA, engine="", workloads=[observation.workload])
    return observe(RunRecords(records=tuple(records)), catalog)[0]


MAX_SCATTER_EXCESS = 0.5
"""A larger relative excess of the parts over the message time is not attributed to scatter, however wide its
interval."""

NO_SEND_OVERHEAD = FitCaveat(
    "no-send-overhead", "the delayed messages did not take more time than the delays, so o_s is set to 0"
)


@explains(TRAIN, order=2, free=("messages", "delay", "pause", SIZE), together_with=(OVERHEAD, MESSAGE))
def fit_trains(observations: Sequence[Observation], subject: Subject, scope: Scope) -> list[Fit]:
    return [fit_loggp(observations, subject)]


def fit_loggp(observations: Sequence[Observation], subject: Subject) -> Fit:
    """Fit the model to all related observations of trains, receive calls and, if measured, the ping-pong.

    Parameters by symbol: L, o_s, o_r, g (s), G, O_s, O_r (s/B). o_s and o_r hold at the smallest measured
    size; O_s and O_r are their increase per byte.
    """
    trains = Trains.from_observations(observations, protocol_change_size(observations))
    missing = trains.missing_input()
    if missing:
        return refused("loggp", subject, missing)
    return _LogGP.from_trains(trains).report(subject, ping_pong_observations(observations))


@dataclass(frozen=True)
class LogGPOverheads:
    """o_s, o_r and g of messages of one size (s), and contradictions to them."""

    send: Estimate
    receive: Estimate
    gap: Estimate
    caveats: tuple[FitCaveat, ...] = ()


def loggp_overheads(observations: Sequence[Observation]) -> LogGPOverheads | None:
    """Parameters of the fit at a single size, from observations of this size; None if some are missing."""
    trains = Trains.from_observations(observations, np.inf)
    if trains.missing_input(min_sizes=1):
        return None
    fit = _LogGP.from_trains(trains)
    estimates = {parameter.symbol: parameter.estimate for parameter in fit._parameters()}
    return LogGPOverheads(
        estimates["o_s"],
        estimates["o_r"],
        estimates["g"],
        tuple(fit._caveats(ping_pong_observations(observations))),
    )


@dataclass(frozen=True)
class _LogGP:
    """`size` is the smallest size. `latency` with its `latency_row` is the part of half the round trip that
    remains for L. `contradicted` contains the inequalities of `impose_consistency` that contradict the data,
    `free_lines` the lines without inequalities."""

    medians: Medians
    trains: Trains
    size: int
    gap: GapLine
    send: GapLine
    receive: SizeLine
    latency: float
    latency_row: np.ndarray
    is_adjusted: bool
    contradicted: tuple[int, ...]
    free_lines: tuple[GapLine, GapLine, SizeLine]

    @staticmethod
    def from_trains(trains: Trains) -> _LogGP:
        medians = Medians.from_observations(trains.observations)
        gap, send, receive = free_lines = _fit_lines(medians, trains)
        size = min(trains.single)
        half_trip = np.zeros(len(medians.center))
        half_trip[trains.single[size]] = 0.5
        more_bytes = max(size - 1, 0)
        gap_per_byte, gap_per_byte_row = gap.line.slope, gap.line.rows[1]
        one_way = half_trip - more_bytes * gap_per_byte_row
        points = [line.value_and_row(size) for line in free_lines]
        values = np.array(
            [*(value for value, _ in points), float(half_trip @ medians.center) - more_bytes * gap_per_byte]
        )
        solution = impose_consistency(medians, values, np.array([*(row for _, row in points), one_way]))
        shift, rows = solution.values - values, solution.rows
        if solution.is_adjusted:
            gap = gap.with_changed_gap(float(shift[GAP]), rows[GAP], size)
            send = send.with_changed_gap(float(shift[SEND]), rows[SEND], size)
            receive = receive.with_base(solution.values[RECEIVE], rows[RECEIVE])
        return _LogGP(
            medians=medians,
            trains=trains,
            size=size,
            gap=gap,
            send=send,
            receive=receive,
            latency=float(solution.values[ONE_WAY] - solution.values[SEND] - solution.values[RECEIVE]),
            latency_row=rows[ONE_WAY] - rows[SEND] - rows[RECEIVE],
            is_adjusted=solution.is_adjusted,
            contradicted=solution.contradicted,
            free_lines=free_lines,
        )

    def report(self, subject: Subject, messages: Sequence[Observation]) -> Fit:
        parameters = self._parameters()
        sizes = sorted(self.trains.single.keys() & self.trains.burst.keys())
        measured, fitted = self._times(sizes)
        excess = self._first_excess()
        message_sizes = [size for size in sizes if excess is None or size < excess[0]]
        return Fit(
            model="loggp",
            line=subject.line,
            parameters=parameters,
            segments=self.gap.segments(self.medians),
            curve=[self._curve_point(size) for size in message_sizes],
            ranges=ranges_of(
                [observation for observation in self.trains.observations if observation.size in message_sizes]
            ),
            **judge_fit(
                measured,
                fitted,
                errors=self.medians.errors,
                caveats=self._caveats(messages),
                widths={
                    parameter.symbol: uncertainty(parameter.estimate, self._leverage(parameter.symbol, sizes))
                    for parameter in parameters
                },
            ),
        )

    def _times(self, sizes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Measured and modelled times of trains without and with pauses, and of single messages."""
        trains, times = self.trains, self.medians.center
        single = {size: times[row] for size, row in trains.single.items()}
        pairs = [
            (
                times[trains.burst[train_size][0]],
                single[train_size],
                trains.burst[train_size][1],
                self.gap.value_and_row(train_size)[0],
            )
            for train_size in sizes
        ]
        delayed = sorted(single.keys() & trains.delayed.keys())
        pairs += [
            (
                times[trains.delayed[train_size][0]],
                single[train_size],
                trains.delayed[train_size][1],
                self.send.value_and_row(train_size)[0],
            )
            for train_size in delayed
        ]
        measured = [train_time for train_time, *_ in pairs] + [single[train_size] / 2 for train_size in sizes]
        fitted = [
            single_time + (count - 1) * time_per_message for _, single_time, count, time_per_message in pairs
        ]
        fitted += [self._one_way(train_size).value for train_size in sizes]
        return np.array(measured), np.array(fitted)

    def _parameters(self) -> list[FittedParameter]:
        latency = self._estimate(self.latency, self.latency_row)
        parameters = [FittedParameter(name="latency of the network", symbol="L", unit="s", estimate=latency)]
        smallest = min(self.trains.delayed), min(self.trains.receive)
        free_gap, free_send, free_receive = self.free_lines
        send, receive = "overhead of sending", "overhead of receiving"
        lines: tuple[tuple[SizeLine | GapLine, SizeLine | GapLine, str, str, str, str, str], ...] = (
            (self.send, free_send, send, "o_s", f"{send} a byte", "O_s", f"at {smallest[0]} B"),
            (self.receive, free_receive, receive, "o_r", f"{receive} a byte", "O_r", f"at {smallest[1]} B"),
            (self.gap, free_gap, "gap between messages", "g", "gap between bytes", "G", ""),
        )
        for line, free_line, name, symbol, slope_name, slope, note in lines:
            base, per_byte = line.parameters(self.medians)
            if self.is_adjusted:
                # An imposed value may be wrong by chance, so its interval also covers that of the free
                # parameter.
                base = _cover_both(base, free_line.parameters(self.medians)[0])
            parameters.append(FittedParameter(name=name, symbol=symbol, unit="s", estimate=base, note=note))
            parameters.append(FittedParameter(name=slope_name, symbol=slope, unit="s/B", estimate=per_byte))
        return parameters

    def _estimate(self, value: float, row: np.ndarray) -> Estimate:
        is_constrained = value <= 0 or any(
            line.is_constrained for line in (self.send, self.receive, self.gap)
        )
        return combination_interval(self.medians, max(value, 0.0), row, is_constrained=is_constrained)

    def _one_way(self, size: int) -> Estimate:
        """L + o_s + o_r + G (s-1)."""
        return combination_interval(self.medians, *self._parts(size))

    def _parts(self, size: int) -> tuple[float, np.ndarray]:
        """The sum `_one_way` with its row."""
        more_bytes = max(size - 1, 0)
        value = max(self.latency, 0.0) + more_bytes * self.gap.line.slope
        row = self.latency_row * (self.latency > 0) + more_bytes * self.gap.line.rows[1]
        for line in (self.send, self.receive):
            part, part_row = line.value_and_row(size)
            value, row = value + part, row + part_row
        return value, row

    def _curve_point(self, size: int) -> CurvePoint:
        """Point of the curve at this size, with an interval that also covers half of the round trip if both
        are known to differ."""
        time, half_trip = self._one_way(size), self._half_trip(size)
        estimates = [time, half_trip] if _clearly_differ(time, half_trip) else [time]
        low = min(covered.value if covered.low is None else covered.low for covered in estimates)
        high = max(covered.value if covered.high is None else covered.high for covered in estimates)
        return CurvePoint(float(size), time.value, low, high)

    def _half_trip(self, size: int) -> Estimate:
        """PRTT(1, 0, s) / 2, the measured time of one message."""
        row = self._half_trip_row(size)
        return combination_interval(self.medians, float(row @ self.medians.center), row)

    def _half_trip_row(self, size: int) -> np.ndarray:
        row = np.zeros(len(self.medians.center))
        row[self.trains.single[size]] = 0.5
        return row

    def _leverage(self, symbol: str, sizes: Sequence[int]) -> float:
        """A gap affects the time of a message of a train, all other parameters that of a single message.
        Parameters per byte matter most at the largest size."""
        largest_size = sizes[-1]
        if symbol in ("g", "G"):
            time = self.gap.value_and_row(self.size if symbol == "g" else largest_size)[0]
        else:
            time = self._one_way(largest_size if symbol.startswith("O") else self.size).value
        return (largest_size if symbol in ("G", "O_s", "O_r") else 1.0) / max(time, 1e-30)

    def _caveats(self, messages: Sequence[Observation]) -> list[FitCaveat]:
        fit_caveats = self._contradictions(messages)
        if self.send.value_and_row(self.size)[0] == 0:
            fit_caveats.append(NO_SEND_OVERHEAD)
        if (excess := self._first_excess()) is not None:
            fit_caveats.append(caveats.parts_exceed_message(*excess))
        # A sender that waits less than the gap is slowed by the network: its steps then take the gap.
        short_sizes = [
            size
            for size, pause in self.trains.pauses.items()
            if pause + self.send.value_and_row(size)[0] < 1.05 * self.gap.value_and_row(size)[0]
        ]
        if short_sizes:
            size = min(short_sizes)
            text = f"the delay is shorter than the gap at {size} B and more, so o_s is too large there"
            fit_caveats.append(FitCaveat("short-delay", text, {"size": size}))
        return fit_caveats

    def _first_excess(self) -> tuple[int, float] | None:
        """First size above the smallest at which the parts of a message's time clearly exceed half of the
        round trip, and the largest relative excess from there on."""
        sizes = sorted(self.trains.single.keys() & self.trains.burst.keys())
        excess = {size: self._excess(size) for size in sizes[1:]}
        clear_sizes = [
            size
            for size, (lower_bound, value) in excess.items()
            if value >= (FAIR_ERROR if lower_bound > 0 else MAX_SCATTER_EXCESS)
        ]
        return (clear_sizes[0], max(excess[size][1] for size in clear_sizes)) if clear_sizes else None

    def _excess(self, size: int) -> tuple[float, float]:
        """Relative excess of the parts over half of the round trip: its lower bound (95%) and its value. It
        is computed in each launch, so slow launches do not hide it."""
        value, row = self._parts(size)
        half_trip = self._half_trip_row(size)
        measured = float(half_trip @ self.medians.center)
        excess = value - measured
        lower_bound = combination_interval(self.medians, max(excess, 0.0), row - half_trip).low or 0.0
        return float(lower_bound / measured), float(excess / measured)

    def _contradictions(self, messages: Sequence[Observation]) -> list[FitCaveat]:
        gap, send, receive = (
            combination_interval(
                self.medians, *line.value_and_row(self.size), is_constrained=line.is_constrained
            )
            for line in (self.gap, self.send, self.receive)
        )
        total = self._one_way(self.size)
        contradictions = []
        if SEND - 1 in self.contradicted:
            contradictions.append(caveats.gap_below_overhead("send", gap, send))
        if RECEIVE - 1 in self.contradicted:
            contradictions.append(caveats.gap_below_overhead("receive", gap, receive))
        same_size = next((message for message in messages if message.size == self.size), None)
        ping_pong_time = None if same_size is None else estimate(*same_size.interval())
        if ping_pong_time is not None and _clearly_differ(total, ping_pong_time):
            contradictions.append(caveats.sum_not_ping_pong(total, ping_pong_time, self.size))
        elif ONE_WAY - 1 in self.contradicted:
            contradictions.append(caveats.overheads_exceed_one_way(total, self._half_trip(self.size)))
        return contradictions


def _fit_lines(medians: Medians, trains: Trains) -> tuple[GapLine, GapLine, SizeLine]:
    """Lines of the gap, of o_s and of o_r."""
    case_count = len(medians.center)

    def additional_message_rows(trains_by_size: dict[int, tuple[int, int]]) -> tuple[list[int], np.ndarray]:
        """Rows of the time of each additional message of a train, by size."""
        sizes = sorted(trains.single.keys() & trains_by_size.keys())
        rows = np.zeros((len(sizes), case_count))
        for index, size in enumerate(sizes):
            row, count = trains_by_size[size]
            rows[index, row], rows[index, trains.single[size]] = 1 / (count - 1), -1 / (count - 1)
        return sizes, rows

    sizes = sorted(trains.receive)
    rows = np.eye(case_count)[[trains.receive[s] for s in sizes]]
    receive = SizeLine.fit_points(medians, sizes, rows, float(sizes[0]))
    delayed, send_rows = additional_message_rows(trains.delayed)
    send = GapLine.fit_points(medians, delayed, send_rows, float(delayed[0]))
    return GapLine.fit_points(medians, *additional_message_rows(trains.burst)), send, receive


def _cover_both(first: Estimate, second: Estimate) -> Estimate:
    """Return the first value with an interval that covers both intervals."""
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return first
    return Estimate(first.value, min(first.low, second.low), max(first.high, second.high))


def _clearly_differ(first: Estimate, second: Estimate, tolerance: float = 0.05) -> bool:
    """Whether the intervals do not overlap and the values differ by more than the error of a good model."""
    if None in (first.low, first.high, second.low, second.high):
        return abs(first.value - second.value) > 3 * tolerance * second.value
    assert first.low is not None and first.high is not None
    assert second.low is not None and second.high is not None
    distance = max(first.low - second.high, second.low - first.high)
    return distance > 0 and abs(first.value - second.value) > tolerance * second.value
