# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of the hidden share, of the time compared with communication after computation, and of the slowdown
of computation, over the size for each number of tests; and of where the time goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from hockney.core.fit import Estimate
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.pages.format import (
    format_share,
    interval_suffix,
    quantity,
    ratio_interval_suffix,
    share_interval,
)
from hockney.pages.series import estimates
from hockney.studies.overlap.columns import VERDICTS, call_title, tests_text
from hockney.studies.overlap.results import PHASES, OverlapPoint, OverlapResults

LOWEST = -1.0
"""The smallest share that is drawn."""
Value = Callable[[OverlapPoint], "Estimate | None"]


def hidden(run: OverlapResults, operation: str, ranks: int) -> Figure | None:
    """The first screen's, and one for each other operation."""
    points = _sized(run, operation, ranks)
    return _figure_over_size(
        ("hidden", operation, ranks),
        "what computing hides",
        points,
        Axis("hidden share", "%", "linear", include=(0.0, 1.0)),
        _series(points, lambda p: _shown(run.times(p).hidden), lambda p: _hidden_detail(run, p)),
        "Of the communication or of the computation, whichever is shorter; below 0, both at once take longer "
        "than one after the other (at -100%: by that or more). 95% intervals.",
    )


def ratio(run: OverlapResults, operation: str, ranks: int) -> Figure | None:
    points = _sized(run, operation, ranks)
    return _figure_over_size(
        ("ratio", operation, ranks),
        "time / one after the other",
        points,
        Axis("total / (pure + cpu)", "times", include=(0.5, 1.0)),
        _series(points, lambda p: p.ratio, _ratio_detail),
        "Below 1, starting the communication early pays. 95% intervals.",
    )


def slowdown(run: OverlapResults, operation: str, ranks: int) -> Figure | None:
    points = [p for p in _sized(run, operation, ranks) if run.times(p).slowdown is not None]
    return _figure_over_size(
        ("slowdown", operation, ranks),
        "computing",
        points,
        Axis("time of computing / by itself", "times", include=(1.0,)),
        _series(points, lambda p: run.times(p).slowdown, tests_text),
        "The computation between the calls, without the tests. 95% intervals.",
    )


def times(run: OverlapResults, operation: str, ranks: int) -> Figure | None:
    """Total against pure + cpu."""
    points = _sized(run, operation, ranks)
    series = (*_series(points, lambda p: p.total, _ratio_detail), *_apart(run, points))
    return _figure_over_size(("times", operation, ranks), "time", points, Axis("time", "s"), series)


def _apart(run: OverlapResults, points: Sequence[OverlapPoint]) -> Iterator[Series]:
    """Pure + cpu of the cases with the fewest tests."""
    fewest = min((p.tests for p in points), default=0)
    plain = [p for p in points if p.tests == fewest and p.progress == points[0].progress]
    if plain:
        yield Series(
            "one after the other",
            tuple(float(p.size) for p in plain),
            tuple(run.times(p).pure.value + run.times(p).cpu.value for p in plain),
            kind="line",
            tone="neutral",
        )


def parts(run: OverlapResults, operation: str, ranks: int) -> Figure | None:
    """A bar for each size and number of tests."""
    points = [p for p in _sized(run, operation, ranks) if p.parts]
    if not points:
        return None
    drawn = []
    base = [0.0] * len(points)
    for name in PHASES:
        shares = [p.parts.get(name, 0.0) / (sum(p.parts.values()) or 1.0) for p in points]
        detail = tuple(str(quantity(p.parts.get(name, 0.0), "s")) for p in points)
        rows = tuple(map(float, range(len(points))))
        drawn.append(Series(name, rows, tuple(shares), kind="bars", base=tuple(base), detail=detail))
        base = [start + share for start, share in zip(base, shares, strict=True)]
    names = tuple(f"{quantity(p.size, 'B')}, {tests_text(p)}" for p in points)
    return _figure(
        ("parts", operation, ranks),
        "where the time goes",
        Axis("size, tests", "", "linear", names=names),
        Axis("share of the time", "%", "linear", include=(0.0, 1.0)),
        drawn,
        "Posting: until the call that starts the communication returns.",
    )


Key = tuple[str, str, int]
"""What a figure shows, of which operation, on how many ranks."""


def _figure(key: Key, title: str, x: Axis, y: Axis, series: Iterable[Series], note: str = "") -> Figure:
    view, operation, ranks = key
    name = f"overlap-{view}-{operation}-{ranks}"
    return Figure(
        name, f"{call_title(operation)}, {plural(ranks, 'rank')}: {title}", x, y, tuple(series), note
    )


def _figure_over_size(
    key: Key, title: str, points: Sequence[OverlapPoint], y: Axis, series: Iterable[Series], note: str = ""
) -> Figure | None:
    """A figure over the size; None without points."""
    sizes = Axis("size", "B", zero=True, include=tuple(float(p.size) for p in points))
    return _figure(key, title, sizes, y, series, note) if points else None


def _series(
    points: Sequence[OverlapPoint], value: Value, detail: Callable[[OverlapPoint], str]
) -> Iterator[Series]:
    """A series for each number of tests."""
    for name in dict.fromkeys(map(tests_text, points)):
        same_tests = [p for p in points if tests_text(p) == name]
        yield estimates(
            name, ((p.size, estimate, detail(p)) for p in same_tests if (estimate := value(p)) is not None)
        )


def _shown(share: Estimate) -> Estimate:
    """The share, limited to the range from LOWEST to 1, so that a case in which everything takes many times
    as long leaves room for the others."""
    ends = (None if end is None else _within(end) for end in (share.low, share.high))
    return Estimate(_within(share.value), *ends)


def _within(share: float) -> float:
    return min(1.0, max(LOWEST, share))


def _sized(run: OverlapResults, operation: str, ranks: int) -> list[OverlapPoint]:
    return [p for p in run.of_operation(operation, ranks) if p.measured.has_size]


def _hidden_detail(run: OverlapResults, p: OverlapPoint) -> str:
    share = run.times(p).hidden
    return (
        f"{format_share(share.value)}{interval_suffix(share, share_interval(share))}, {VERDICTS[p.verdict]}"
    )


def _ratio_detail(p: OverlapPoint) -> str:
    return f"{p.ratio.value:.2f}{ratio_interval_suffix(p.ratio)}, {VERDICTS[p.verdict]}"
