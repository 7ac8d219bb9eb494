# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time of a message in the paper's form: t = a + x/b us, with a change where the protocol changes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hockney import reference
from hockney.core.fit import Estimate, Fit, FittedSegment
from hockney.core.units import format_significant
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Section, Table
from hockney.pages.evidence import Evidence, Measured
from hockney.pages.format import interval, quantity, with_interval
from hockney.pages.levels import placed, prefixed, where
from hockney.pages.point_to_point import PING_PONG_TITLE, fitted
from hockney.pages.series import curve, times
from hockney.studies.collectives.printed import NAMED, is_t3e

PAPER = reference.published("t3e")
FORMULA = PAPER.formula("t3e/formula/pingpong")
MICRO = 1e6
BELOW_ZERO = (
    "Where bytes cost more than in shorter messages, as beyond a cache, no constant is found: the line is "
    "given by the time of its shortest message and the bandwidth of further bytes."
)


def sentences(evidence: Evidence) -> list[str]:
    """One for each level at which messages were measured."""
    return [prefixed(text, where(level)) for level in evidence.levels if (text := sentence(level))]


def sentence(evidence: Evidence) -> str:
    fit = fitted(evidence)
    if fit is None or not fit.segments:
        return ""
    pieces = [f"{formula(piece)}{_where(fit, k)}" for k, piece in enumerate(fit.segments)]
    poor = ", by a poor fit" if fit.verdict == "poor" else ""
    text = f"A message of x bytes takes t us{poor}: t = {', '.join(pieces)}"
    if not is_t3e(evidence.machine):
        return f"{text}."
    printed = [_line(MICRO * p.constant_s, 1 / p.per_byte_s / MICRO) for p in FORMULA.segments]
    limit = quantity(FORMULA.segments[1].first - 1, "B")
    return f"{text} (T3E, 1998: {printed[0]} below {limit}, {printed[1]} above)."


def formula(piece: FittedSegment) -> str:
    """ "0.33 + x/5430"; b is the bandwidth in bytes per microsecond, which is MB/s. A line that begins below
    0 is given from the change on: "21.0 + (x - 65536)/2260"."""
    slope = piece.per_byte.value
    begin = piece.first if piece.latency.value < 0 else 0
    a = piece.latency.value + slope * begin
    return _line(MICRO * a, 1 / slope / MICRO if slope > 0 else math.inf, begin)


def _line(a: float, b: float, begin: int = 0) -> str:
    """The line as text, with three digits of the constant and of the bandwidth. The constant is the time of
    `begin` bytes."""
    constant = format_significant(a, 3)
    size = f"(x - {begin})" if begin else "x"
    return f"{constant} + {size}/{format_significant(b, 3)}" if b < math.inf else constant


def _where(fit: Fit, k: int) -> str:
    piece = fit.segments[k]
    if len(fit.segments) == 1:
        return ""
    if piece.beyond is not None:
        return f" below {quantity(piece.beyond, 'B')}"
    return f" from {quantity(piece.first, 'B')}"


def section(evidence: Evidence) -> Section | None:
    """The section, with a figure and a table for each level at which messages were measured."""
    fits = [
        (level, fit)
        for level in evidence.levels
        if len(_measured(level)) > 1 and (fit := fitted(level)) is not None
    ]
    if not fits:
        return None
    tables = tuple(placed(_table(fit), level) for level, fit in fits if fit.segments)
    below_zero = any(piece.latency.value < 0 for _, fit in fits for piece in fit.segments)
    return Section(
        "Time of a message",
        text=(
            f"t = a + x/b us for a message of x bytes, as printed by {NAMED} for the Cray T3E: b is the "
            "bandwidth of further bytes in MB/s. The change is where one line ends and the next "
            "begins; on the T3E it was the eager limit.",
            *((BELOW_ZERO,) if below_zero else ()),
        ),
        figures=tuple(placed(_figure(level, fit), level) for level, fit in fits),
        tables=tables,
        closed=not is_t3e(evidence.machine),
    )


def _measured(evidence: Evidence) -> Sequence[Measured]:
    return evidence.of("pingpong", buffers="hot", ranks=2)


def _table(fit: Fit) -> Table:
    rows = []
    for k, piece in enumerate(fit.segments):
        change = fit.change_points[k - 1] if 0 < k <= len(fit.change_points) else None
        rows.append(
            (
                "this machine",
                formula(piece),
                quantity(piece.first, "B") if change is None else with_interval(change, "B"),
                with_interval(piece.latency, "s") if piece.intercept == "found" else "none found",
                _rate(piece.per_byte),
            )
        )
    for printed in FORMULA.segments:
        text = _line(MICRO * printed.constant_s, 1 / printed.per_byte_s / MICRO)
        constant, rate = quantity(printed.constant_s, "s"), quantity(1 / printed.per_byte_s, "B/s")
        rows.append(("Cray T3E-512, printed", text, quantity(printed.first, "B"), constant, rate))
    columns = ("machine", "t in us", "from", "a", "b")
    return Table("send-time", "t = a + x/b us", columns, tuple(rows), caption=PAPER.citation)


def _rate(per_byte: Estimate) -> str:
    """The bandwidth, with its interval."""
    if per_byte.value <= 0:
        return ""
    ends = [None if end is None or end <= 0 else 1 / end for end in (per_byte.high, per_byte.low)]
    rate = Estimate(1 / per_byte.value, *ends)
    return f"{quantity(rate.value, 'B/s')} (95%: {interval(rate, 'B/s')})"


def _figure(evidence: Evidence, fit: Fit) -> Figure:
    measured = _measured(evidence)
    low, high = min(m.size for m in measured), max(m.size for m in measured)
    sizes = [s for s in FORMULA.sizes() if low <= s <= high]
    series = [times(PING_PONG_TITLE, measured), curve("a + x/b, 95% band", fit, PING_PONG_TITLE)]
    if len(sizes) > 1:
        printed = tuple(FORMULA.time(s) for s in sizes)
        series.append(Series("T3E, 1998", tuple(map(float, sizes)), printed, kind="line", group="T3E"))
    return Figure(
        "send-time",
        "Time of a message",
        Axis("message size", "B", "log", zero=True),
        Axis("time", "s"),
        tuple(series),
        "Points: measured. Lines: fitted, and the paper's formula.",
        marks=tuple((p.value, quantity(p.value, "B")) for p in fit.change_points),
    )
