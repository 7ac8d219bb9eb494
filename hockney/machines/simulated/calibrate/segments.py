# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Segments of a platform, with their origins, derived from the time of a message and its shares."""

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
    """Line of a trusted fit: `at_zero` + bytes x `per_byte`."""

    at_zero: float
    per_byte: float

    def at(self, size: float) -> float:
        return self.at_zero + self.per_byte * size


@dataclass(frozen=True)
class Overheads:
    """Shares of the message time by size. `lines` contains trusted lines with the same names. `train` is the
    largest size of trains (0 without trains), `eager` the largest eager message. `measured` lists the
    measured shares. Except for exchanges, shares are not interpolated across `jumps`, where the protocol
    changes and the time for which a sender is busy may change."""

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
    send, gap = _train_overheads(survey)
    receive = _corrected_medians(survey, survey.workload("overhead", "recv"))
    exchange_times = _corrected_medians(survey, survey.workload("point-to-point", "sendrecv"))
    largest = max(send, default=0)
    tables = {"send": send, "receive": receive, "gap": gap, "exchange": exchange_times}
    measured_shares = frozenset(name for name, table in tables.items() if table)
    stream_times = _corrected_medians(survey, survey.workload("stream", "isend"))
    streams = {size: time_ for size, time_ in stream_times.items() if size > 2 * largest}
    if send:
        send = send | dict.fromkeys(streams, send[largest])
    gap = gap | streams

    def share(table: dict[int, float]) -> dict[int, float]:
        return {size: time / curve.time(size) for size, time in table.items()}

    return Overheads(
        send=share(send) or {0: EVEN},
        receive=share(receive) or {0: EVEN},
        gap=share(gap),
        exchange={size: max(ratio - 1, 0.0) for size, ratio in share(exchange_times).items()},
        train=largest,
        eager=eager,
        lines=_trusted_lines(survey),
        measured=measured_shares,
        jumps=curve.jumps,
    )


def _corrected_medians(survey: Survey, workload: str) -> dict[int, float]:
    """Median times minus the time for reading the clock."""
    medians = survey.medians(workload, buffers="hot")
    return {size: max(median.value - survey.reading(workload, size), 0.0) for size, median in medians.items()}


def _train_overheads(survey: Survey) -> tuple[dict[int, float], dict[int, float]]:
    """Send overhead and gap for each size, from the medians of the longest trains."""
    train = survey.workload("train")
    train_medians: dict[tuple[int, bool], tuple[Case, Estimate]] = {}
    single_times: dict[int, float] = {}
    for case, median in sorted(survey.measured, key=lambda item: item[0].number("messages")):
        if case.workload != train or case.ranks != PAIR_RANKS:
            continue
        if case.number("messages") > 1:
            train_medians[case.bytes, survey.pause(case) > 0] = case, median
        elif case.number("delay") == 0:
            single_times[case.bytes] = median.value
    send: dict[int, float] = {}
    gap: dict[int, float] = {}
    for (size, is_delayed), (case, median) in sorted(train_medians.items()):
        if size in single_times:
            interval_s = (median.value - single_times[size]) / (case.number("messages") - 1) - survey.pause(
                case
            )
            (send if is_delayed else gap)[size] = max(interval_s, 0.0)
    return send, gap


def _trusted_lines(survey: Survey) -> dict[str, Straight]:
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
        latency, per_byte = fit.parameter(base), fit.parameter(slope)
        in_pieces = name == "gap" and fit.segments  # then the measured gaps are more informative
        if latency is not None and per_byte is not None and not in_pieces:
            zero = latency.estimate.value - per_byte.estimate.value * origin
            lines[name] = Straight(max(zero, 0.0), per_byte.estimate.value)
    return lines


SAME = 0.03
"""A share that changes by less of the message's time does not justify a separate segment."""
DIGITS = 4


@dataclass(frozen=True)
class SourcedSegment:
    segment: Segment
    source: str


def rounded(value: float) -> float:
    """Round to four digits, as medians are not more precise and files should be readable."""
    return value if value == 0 else round(value, DIGITS - 1 - math.floor(math.log10(abs(value))))


def left(total: float, subtracted: float) -> float:
    """Difference of two times; zero if it is only a rounding error."""
    remainder = total - subtracted
    return remainder if remainder > 1e-9 * total else 0.0


def pieces(curve: Curve, overheads: Overheads) -> list[SourcedSegment]:
    """Segments, which begin where the line changes or the shares change noticeably."""
    sourced: list[SourcedSegment] = []
    last_line: CurveLine | None = None
    for first_byte in sorted({line.first for line in curve.lines} | overheads.sizes):
        line = curve.line(first_byte)
        segment_ = _make_segment(first_byte, line, overheads)
        if line is not last_line or not _are_similar(
            sourced[-1].segment, segment_.segment, SAME * line.time(first_byte)
        ):
            sourced.append(segment_)
        last_line = line
    return sourced


def _are_similar(segment_a: Segment, segment_b: Segment, tolerance: float) -> bool:
    """Whether the parts of a message at the beginning of `segment_b` differ by less than `tolerance`."""
    return all(
        abs(_part_s(segment_a, name, segment_b.first) - _part_s(segment_b, name, segment_b.first)) < tolerance
        for name in ("send_s", "receive_s", "gap_s", "exchange_s")
    )


def _part_s(segment: Segment, name: str, size: float) -> float:
    return getattr(segment, name) + getattr(segment, f"{name}_per_byte") * size


def _make_segment(first_byte: int, line: CurveLine, overheads: Overheads) -> SourcedSegment:
    send, receive, gap, exchange = overheads.shares(first_byte)
    latency, per_byte = line.latency, line.per_byte
    o_s, o_r = (send * latency, send * per_byte), (receive * latency, receive * per_byte)
    if {"send", "receive"} - overheads.measured:
        o_s, o_r = (send * latency, 0.0), (receive * latency, 0.0)
    straight = overheads.lines
    if {"send", "receive"} <= straight.keys():
        send_line, receive_line = straight["send"], straight["receive"]
        if (
            send_line.at_zero + receive_line.at_zero <= latency
            and send_line.per_byte + receive_line.per_byte <= per_byte
        ):
            o_s, o_r = (send_line.at_zero, send_line.per_byte), (receive_line.at_zero, receive_line.per_byte)
    min_busy = (gap * latency, gap * per_byte)
    if "gap" in straight and first_byte < 2 * overheads.train:
        min_busy = straight["gap"].at_zero, straight["gap"].per_byte
    busy_s = max(o_s[0] + o_s[1] * first_byte, o_r[0] + o_r[1] * first_byte)
    if min_busy[0] + min_busy[1] * max(first_byte, 1) <= (1 + SAME) * busy_s:
        min_busy = (0.0, 0.0)
    segment = Segment(
        first=first_byte,
        send_s=rounded(o_s[0]),
        send_s_per_byte=rounded(o_s[1]),
        latency_s=rounded(left(latency, o_s[0] + o_r[0])),
        per_byte_s=rounded(left(per_byte, o_s[1] + o_r[1])),
        receive_s=rounded(o_r[0]),
        receive_s_per_byte=rounded(o_r[1]),
        gap_s=rounded(min_busy[0]),
        gap_s_per_byte=rounded(min_busy[1]),
        exchange_s=rounded(exchange * latency),
        exchange_s_per_byte=rounded(exchange * per_byte),
    )
    return SourcedSegment(segment, line.source)


def origins(
    key: str, sourced: Sequence[SourcedSegment], survey: Survey, overheads: Overheads
) -> Iterator[Origin]:
    """Origins of each segment, and of the parts of the first one."""
    subject = survey.hockney.line if survey.hockney else survey.ping_pong
    for k, sourced_segment in enumerate(sourced):
        yield Origin(
            key=f"{key}[{k}]", status="fitted", source=f"{subject} of {survey.name}: {sourced_segment.source}"
        )
    parts = {
        "send_s": ("send", _source_send_overhead),
        "receive_s": ("receive", _source_receive_overhead),
    }
    first_segment = sourced[0].segment
    for name, (share_name, source_of) in parts.items():
        if share_name in overheads.measured:
            fitted = overheads.lines.get(share_name) is not None
            source = source_of(fitted, format_seconds(getattr(first_segment, name)))
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
    source_text = "of the fit loggp" if fitted else "at each size, since no LogGP fit is trusted"
    return f"{symbol} {source_text}; {at_zero} at 0 B; the same in all segments"
