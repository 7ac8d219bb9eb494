# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Series for figures, from measured cases and from fits, and the selection of the fits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from hockney.core.case import PLACE
from hockney.core.catalog import PING_PONG
from hockney.core.fit import Estimate, Fit
from hockney.core.wording import plural
from hockney.draw.figure import Series, Tone
from hockney.draw.intervals import UNKNOWN
from hockney.pages.evidence import Evidence, MeasuredCase
from hockney.pages.format import bandwidth


def estimates(
    name: str,
    points: Iterable[tuple[float, Estimate, str]],
    group: str = "",
    *,
    hollow: bool = False,
    tone: Tone = "",
) -> Series:
    """Return a point at each x, with its 95% interval as a bar and its text as a detail. `group` is `name` by
    default."""
    all_points = tuple(points)
    values = [value for _, value, _ in all_points]
    return Series(
        name=name,
        x=tuple(float(x) for x, _, _ in all_points),
        y=tuple(value.value for value in values),
        low=tuple(UNKNOWN if value.low is None else value.low for value in values),
        high=tuple(UNKNOWN if value.high is None else value.high for value in values),
        group=group or name,
        detail=tuple(text for _, _, text in all_points),
        hollow=hollow,
        tone=tone,
    )


def estimates_by_state(
    styles: Iterable[tuple[str, Collection[str], Tone]], points: Iterable[tuple[str, float, Estimate, str]]
) -> tuple[Series, ...]:
    """Return a series for each of `styles` (name, states of its points, tone) with at least one point. A
    point consists of state, x, value and text. Undecided points are hollow."""
    all_points = [*points]
    series = (
        estimates(
            name,
            [(x, value, text) for state, x, value, text in all_points if state in states],
            hollow=name == "undecided",
            tone=tone,
        )
        for name, states, tone in styles
    )
    return tuple(line for line in series if line.x)


def row_offsets(count: int, distance: float) -> list[float]:
    """Return offsets that distribute `count` points around the center of a row."""
    return [distance * (k - (count - 1) / 2) for k in range(count)]


def points(
    name: str,
    measured: Sequence[MeasuredCase],
    x: Callable[[MeasuredCase], float],
    y: Callable[[MeasuredCase], Estimate],
) -> Series:
    """Return one point per case, with the 95% interval of its typical time as a bar."""
    return estimates(
        name,
        ((x(measured_case), y(measured_case), _case_detail(measured_case)) for measured_case in measured),
    )


def times(name: str, measured: Sequence[MeasuredCase]) -> Series:
    """Return typical time against size."""
    return points(name, measured, lambda m: m.size, lambda m: m.summary.typical)


def rates(name: str, measured: Sequence[MeasuredCase]) -> Series:
    """Return bandwidth against size, without cases of 0 bytes."""
    return points(
        name,
        [measured_case for measured_case in measured if measured_case.summary.bytes_moved],
        lambda measured_case: measured_case.size,
        bandwidth,
    )


def curve(name: str, fit: Fit, group: str, *, rate: float | None = None) -> Series:
    """Return the fitted model with its band, or as a bandwidth if `rate` bytes are moved for each byte of
    size."""
    if rate is None:
        bands = [(point.x, point.time, point.low, point.high) for point in fit.curve]
    else:
        bands = [
            (point.x, rate * point.x / point.time, rate * point.x / point.high, rate * point.x / point.low)
            for point in fit.curve
            if point.x > 0 and min(point.time, point.low, point.high) > 0
        ]
    x, y, low, high = zip(*bands, strict=True) if bands else ((), (), (), ())
    return Series(name=name, x=x, y=y, low=low, high=high, kind="line", group=group)


def first_usable_fit(fits: Sequence[Fit], **values: str | int) -> Fit | None:
    """Return the first fit that was not refused and whose subject has these values."""
    for fit in fits:
        if fit.verdict != "refused" and fit.curve and fit.subject.matches(**values):
            return fit
    return None


def message_fit(evidence: Evidence) -> Fit | None:
    """Return the fit that gives a page the costs of one message: the model of the ping-pong with hot buffers
    at the level of the evidence, unless it was refused."""
    fits = evidence.fits.select_by_role("hockney", *PING_PONG)
    level_fits = [fit for fit in fits if fit.subject.get(PLACE, "") == evidence.place]
    return first_usable_fit(level_fits, buffers="hot")


def _case_detail(measured_case: MeasuredCase) -> str:
    summary = measured_case.summary
    return f"{plural(summary.repetitions, 'repetition')} in {plural(summary.launches, 'launch', 'launches')}"
