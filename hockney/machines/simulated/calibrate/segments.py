# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Segments of a platform, with their origins, from the time of a message and its shares."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hockney.core.case import Case
from hockney.core.fit import Estimate
from hockney.core.platform import Origin, Segment
from hockney.core.units import format_seconds
from hockney.machines.simulated.calibrate.curve import Curve, CurveLine
from hockney.machines.simulated.calibrate.survey import PAIR_RANKS, Survey, near

EVEN = 1 / 3
"""Sender, network and receiver, if no measurement distinguishes them."""


@dataclass(frozen=True)
class Straight:
    """`at_zero` + bytes `per_byte`: a trusted fit's line."""

    at_zero: float
    per_byte: float

    def at(self, size: float) -> float:
        return self.at_zero + self.per_byte * size


@dataclass(frozen=True)
class Overheads:
    """Shares by size. `lines` holds trusted lines by the same names; `train` is the largest size of the
    trains, 0 without any, `eager` the largest message that is sent at once; `measured` lists the shares that
    were measured at all. Except for exchanges, shares are not interpolated across one of `jumps`, from which
    messages are sent in another way: then a sender may be busy for as long as a message takes, or not."""

    send: dict[int, float]
    receive: dict[int, float]
    gap: dict[int, float]
    exchange: dict[int, float]
    train: int
    eager: int
    lines: dict[str, Straight] = field(default_factory=dict)
    measured: frozenset[str] = frozenset()
    jumps: tuple[int, ...] = ()

    @property
    def sizes(self) -> set[int]:
        tables = (self.send, self.receive, self.gap, self.exchange)
        return {size for table in tables for size in table} | ({2 * self.train} if self.train else set())

    def shares(self, size: float) -> tuple[float, float, float, float]:
        """(send, receive, gap, exchange) as shares at `size`; send + receive never exceeds 1."""
        receive = min(near(self.receive, size, self.jumps), 1.0)
        send = min(near(self.send, size, self.jumps), 1.0 - receive)
        exchange = near(self.exchange, size) if self.exchange else 0.0
        gap = near(self.gap, size, self.jumps) if self.gap else 0.0
        if self.train < size <= self.eager:
            gap = min(gap, 1 + exchange)  # an exchange shows that one message can follow the other
        return send, receive, gap, exchange


def overheads_of(survey: Survey, curve: Curve, eager: int) -> Overheads:
    send, gap = _trains(survey)
    receive = _times(survey, survey.workload("overhead", "recv"))
    both = _times(survey, survey.workload("point-to-point", "sendrecv"))
    largest = max(send, default=0)
    tables = {"send": send, "receive": receive, "gap": gap, "exchange": both}
    measured = frozenset(name for name, table in tables.items() if table)
    streamed = _times(survey, survey.workload("stream", "isend"))
    streams = {size: t for size, t in streamed.items() if size > 2 * largest}
    if send:
        send = send | dict.fromkeys(streams, send[largest])
    gap = gap | streams

    def share(table: dict[int, float]) -> dict[int, float]:
        return {size: time / curve.time(size) for size, time in table.items()}

    return Overheads(
        send=share(send) or {0: EVEN},
        receive=share(receive) or {0: EVEN},
        gap=share(gap),
        exchange={size: max(ratio - 1, 0.0) for size, ratio in share(both).items()},
        train=largest,
        eager=eager,
        lines=_lines(survey),
        measured=measured,
        jumps=curve.jumps,
    )


def _times(survey: Survey, workload: str) -> dict[int, float]:
    """Median times without the clock's part."""
    medians = survey.medians(workload, buffers="hot")
    return {size: max(t.value - survey.reading(workload, size), 0.0) for size, t in medians.items()}


def _trains(survey: Survey) -> tuple[dict[int, float], dict[int, float]]:
    """o_s and the gap of each size, from medians; of several trains the longest is used."""
    train = survey.workload("train")
    trains: dict[tuple[int, bool], tuple[Case, Estimate]] = {}
    single: dict[int, float] = {}
    for case, median in sorted(survey.measured, key=lambda each: each[0].number("messages")):
        if case.workload != train or case.ranks != PAIR_RANKS:
            continue
        if case.number("messages") > 1:
            trains[case.bytes, survey.pause(case) > 0] = case, median
        elif case.number("delay") == 0:
            single[case.bytes] = median.value
    send: dict[int, float] = {}
    gap: dict[int, float] = {}
    for (size, delayed), (case, median) in sorted(trains.items()):
        if size in single:
            each = (median.value - single[size]) / (case.number("messages") - 1) - survey.pause(case)
            (send if delayed else gap)[size] = max(each, 0.0)
    return send, gap


def _lines(survey: Survey) -> dict[str, Straight]:
    fit = survey.loggp
    if fit is None:
        return {}
    train = survey.workload("train")
    trains = [case.bytes for case, _ in survey.measured if case.workload == train]
    received = survey.medians(survey.workload("overhead", "recv"))
    lines = {}
    for name, base, slope, origin in (
        ("send", "o_s", "O_s", min(trains, default=0)),
        ("receive", "o_r", "O_r", min(received, default=0)),
        ("gap", "g", "G", 1),
    ):
        at, each = fit.parameter(base), fit.parameter(slope)
        in_pieces = name == "gap" and fit.segments  # then the measured gaps are more informative
        if at is not None and each is not None and not in_pieces:
            zero = at.estimate.value - each.estimate.value * origin
            lines[name] = Straight(max(zero, 0.0), each.estimate.value)
    return lines


SAME = 0.03
"""A share that changes by less of the message's time does not justify a separate segment."""
DIGITS = 4


@dataclass(frozen=True)
class SourcedSegment:
    segment: Segment
    source: str


def rounded(value: float) -> float:
    """Four digits: medians are not more precise, and files should be readable."""
    return value if value == 0 else round(value, DIGITS - 1 - math.floor(math.log10(abs(value))))


def left(whole: float, taken: float) -> float:
    """The network's part; zero if it is only rounding error."""
    rest = whole - taken
    return rest if rest > 1e-9 * whole else 0.0


def pieces(curve: Curve, overheads: Overheads) -> list[SourcedSegment]:
    """A segment wherever the line changes, or the shares of the time change noticeably."""
    sourced: list[SourcedSegment] = []
    last: CurveLine | None = None
    for first in sorted({line.first for line in curve.lines} | overheads.sizes):
        line = curve.line(first)
        piece = _piece(first, line, overheads)
        if line is not last or not _alike(sourced[-1].segment, piece.segment, SAME * line.time(first)):
            sourced.append(piece)
        last = line
    return sourced


def _alike(one: Segment, other: Segment, much: float) -> bool:
    """Whether the parts of a message at the size where `other` begins differ by less than `much`."""
    return all(
        abs(_part(one, name, other.first) - _part(other, name, other.first)) < much
        for name in ("send_s", "receive_s", "gap_s", "exchange_s")
    )


def _part(segment: Segment, name: str, size: float) -> float:
    return getattr(segment, name) + getattr(segment, f"{name}_per_byte") * size


def _piece(first: int, line: CurveLine, overheads: Overheads) -> SourcedSegment:
    send, receive, gap, exchange = overheads.shares(first)
    a, b = line.latency, line.per_byte
    o_s, o_r = (send * a, send * b), (receive * a, receive * b)
    if {"send", "receive"} - overheads.measured:
        o_s, o_r = (send * a, 0.0), (receive * a, 0.0)
    straight = overheads.lines
    if {"send", "receive"} <= straight.keys():
        s, r = straight["send"], straight["receive"]
        if s.at_zero + r.at_zero <= a and s.per_byte + r.per_byte <= b:
            o_s, o_r = (s.at_zero, s.per_byte), (r.at_zero, r.per_byte)
    least = (gap * a, gap * b)
    if "gap" in straight and first < 2 * overheads.train:
        least = straight["gap"].at_zero, straight["gap"].per_byte
    busy = max(o_s[0] + o_s[1] * first, o_r[0] + o_r[1] * first)
    if least[0] + least[1] * max(first, 1) <= (1 + SAME) * busy:
        least = (0.0, 0.0)
    segment = Segment(
        first=first,
        send_s=rounded(o_s[0]),
        send_s_per_byte=rounded(o_s[1]),
        latency_s=rounded(left(a, o_s[0] + o_r[0])),
        per_byte_s=rounded(left(b, o_s[1] + o_r[1])),
        receive_s=rounded(o_r[0]),
        receive_s_per_byte=rounded(o_r[1]),
        gap_s=rounded(least[0]),
        gap_s_per_byte=rounded(least[1]),
        exchange_s=rounded(exchange * a),
        exchange_s_per_byte=rounded(exchange * b),
    )
    return SourcedSegment(segment, line.source)


def origins(
    key: str, sourced: Sequence[SourcedSegment], survey: Survey, overheads: Overheads
) -> Iterator[Origin]:
    """One for each segment, and for the first the origins of its parts."""
    subject = survey.hockney.line if survey.hockney else survey.ping_pong
    for k, piece in enumerate(sourced):
        yield Origin(key=f"{key}[{k}]", status="fitted", source=f"{subject} of {survey.name}: {piece.source}")
    parts = {
        "send_s": ("send", _source_send_overhead),
        "receive_s": ("receive", _source_receive_overhead),
    }
    first = sourced[0].segment
    for name, (part, source_of) in parts.items():
        if part in overheads.measured:
            fitted = overheads.lines.get(part) is not None
            source = source_of(fitted, format_seconds(getattr(first, name)))
            yield Origin(key=f"{key}[0].{name}", status="fitted", source=source)
        else:
            source = f"a third of the message's time: {survey.name} has not measured it"
            yield Origin(key=f"{key}[0].{name}", status="guess", source=source)
    if "exchange" in overheads.measured:
        yield Origin(
            key=f"{key}[0].exchange_s",
            status="fitted",
            source=f"pingpong_double minus pingpong of {survey.name}; the same in all segments",
        )


def _source_send_overhead(fitted: bool, at_zero: str) -> str:
    return f"prtt with and without delay, {_overhead_source('o_s', fitted, at_zero)}"


def _source_receive_overhead(fitted: bool, at_zero: str) -> str:
    return f"receive_overhead, {_overhead_source('o_r', fitted, at_zero)}"


def _overhead_source(symbol: str, fitted: bool, at_zero: str) -> str:
    how = "of the fit loggp" if fitted else "at each size, since no LogGP fit is trusted"
    return f"{symbol} {how}; {at_zero} at 0 B; the same in all segments"
