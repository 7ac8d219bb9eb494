# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""From the time of a message and its shares to the segments of a platform, each with its origin."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hockney.core.platform import Origin, Segment
from hockney.core.units import format_seconds
from hockney.machines.simulated.calibrate.curve import Curve, CurveLine
from hockney.machines.simulated.calibrate.overheads import Overheads
from hockney.machines.simulated.calibrate.survey import Survey

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
