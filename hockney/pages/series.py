# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Series for figures, from measured cases and from fits, and the fits to be drawn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from hockney.core.case import PLACE
from hockney.core.catalog import PING_PONG
from hockney.core.fit import Estimate, Fit
from hockney.core.wording import plural
from hockney.draw.figure import Series, Tone
from hockney.draw.intervals import UNKNOWN
from hockney.pages.evidence import Evidence, Measured
from hockney.pages.format import bandwidth


def estimates(
    name: str,
    points: Iterable[tuple[float, Estimate, str]],
    group: str = "",
    *,
    hollow: bool = False,
    tone: Tone = "",
) -> Series:
    """A point at each x, with its 95% interval as bar and its text. `group` is `name` unless given."""
    drawn = tuple(points)
    values = [value for _, value, _ in drawn]
    return Series(
        name=name,
        x=tuple(float(x) for x, _, _ in drawn),
        y=tuple(value.value for value in values),
        low=tuple(UNKNOWN if value.low is None else value.low for value in values),
        high=tuple(UNKNOWN if value.high is None else value.high for value in values),
        group=group or name,
        detail=tuple(text for _, _, text in drawn),
        hollow=hollow,
        tone=tone,
    )


def estimates_by_state(
    looks: Iterable[tuple[str, Collection[str], Tone]], points: Iterable[tuple[str, float, Estimate, str]]
) -> tuple[Series, ...]:
    """A series for each of `looks` (its name, the states of its points, its tone) that has points, of which
    each has a state, x, value and text; undecided ones are hollow."""
    drawn = [*points]
    series = (
        estimates(
            name,
            [(x, value, text) for state, x, value, text in drawn if state in states],
            hollow=name == "undecided",
            tone=tone,
        )
        for name, states, tone in looks
    )
    return tuple(s for s in series if s.x)


def within_row(count: int, between: float) -> list[float]:
    """Offsets from the middle of a row that spread `count` points over it."""
    return [between * (k - (count - 1) / 2) for k in range(count)]


def points(
    name: str,
    measured: Sequence[Measured],
    x: Callable[[Measured], float],
    y: Callable[[Measured], Estimate],
) -> Series:
    """One point per case with the 95% interval of its typical time as bar."""
    return estimates(name, ((x(m), y(m), _detail(m)) for m in measured))


def times(name: str, measured: Sequence[Measured]) -> Series:
    """Typical time against size."""
    return points(name, measured, lambda m: m.size, lambda m: m.summary.typical)


def rates(name: str, measured: Sequence[Measured]) -> Series:
    """Bandwidth against size; not defined for 0 bytes."""
    return points(name, [m for m in measured if m.summary.bytes_moved], lambda m: m.size, bandwidth)


def curve(name: str, fit: Fit, group: str, *, rate: float | None = None) -> Series:
    """The fitted model with its band; as bandwidth if `rate` bytes are moved for each byte of size."""
    if rate is None:
        drawn = [(p.x, p.time, p.low, p.high) for p in fit.curve]
    else:
        drawn = [
            (p.x, rate * p.x / p.time, rate * p.x / p.high, rate * p.x / p.low)
            for p in fit.curve
            if p.x > 0 and min(p.time, p.low, p.high) > 0
        ]
    x, y, low, high = zip(*drawn, strict=True) if drawn else ((), (), (), ())
    return Series(name=name, x=x, y=y, low=low, high=high, kind="line", group=group)


def usable(fits: Sequence[Fit], **fixed: str | int) -> Fit | None:
    """The first fit that was not refused and whose subject has these values."""
    for fit in fits:
        if fit.verdict != "refused" and fit.curve and fit.subject.matches(**fixed):
            return fit
    return None


def message_fit(evidence: Evidence) -> Fit | None:
    """The fit from which a page has the costs of one message: the model of the ping-pong with hot buffers, if
    it was not refused; of the evidence's level only."""
    fits = evidence.fits.select_by_role("hockney", *PING_PONG)
    here = [fit for fit in fits if fit.subject.get(PLACE, "") == evidence.place]
    return usable(here, buffers="hot")


def _detail(m: Measured) -> str:
    s = m.summary
    return f"{plural(s.repetitions, 'repetition')} in {plural(s.launches, 'launch', 'launches')}"
