# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of the hidden share, of the time compared with communication after computation, and of the slowdown
of computation, against the size for each number of tests; and of the parts of the time."""

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
from hockney.studies.overlap.columns import VERDICT_WORDS, call_title, tests_text
from hockney.studies.overlap.results import PHASE_METRICS, OverlapPoint, OverlapResults

MIN_SHOWN_SHARE = -1.0
"""The smallest share that is drawn."""
Value = Callable[[OverlapPoint], "Estimate | None"]


def hidden_figure(run: OverlapResults, operation: str, ranks: int) -> Figure | None:
    """The figure on the first screen, and one for each other operation."""
    points = _points_with_size(run, operation, ranks)
    return _figure_over_size(
        ("hidden", operation, ranks),
        "what computing hides",
        points,
        Axis("hidden share", "%", "linear", include=(0.0, 1.0)),
        _series(points, lambda p: _limit_share(run.times(p).hidden), lambda p: _hidden_detail(run, p)),
        "Of the communication or of the computation, whichever is shorter; below 0, both at once take longer "
        "than one after the other (at -100%: by that or more). 95% intervals.",
    )


def ratio_figure(run: OverlapResults, operation: str, ranks: int) -> Figure | None:
    points = _points_with_size(run, operation, ranks)
    return _figure_over_size(
        ("ratio", operation, ranks),
        "time / one after the other",
        points,
        Axis("total / (pure + cpu)", "times", include=(0.5, 1.0)),
        _series(points, lambda p: p.ratio, _ratio_detail),
        "Below 1, starting the communication early pays. 95% intervals.",
    )


def slowdown_figure(run: OverlapResults, operation: str, ranks: int) -> Figure | None:
    points = [p for p in _points_with_size(run, operation, ranks) if run.times(p).slowdown is not None]
    return _figure_over_size(
        ("slowdown", operation, ranks),
        "computing",
        points,
        Axis("time of computing / by itself", "times", include=(1.0,)),
        _series(points, lambda p: run.times(p).slowdown, tests_text),
        "The computation between the calls, without the tests. 95% intervals.",
    )


def times_figure(run: OverlapResults, operation: str, ranks: int) -> Figure | None:
    """Total against pure + cpu."""
    points = _points_with_size(run, operation, ranks)
    series = (*_series(points, lambda p: p.total, _ratio_detail), *_consecutive_series(run, points))
    return _figure_over_size(("times", operation, ranks), "time", points, Axis("time", "s"), series)


def _consecutive_series(run: OverlapResults, points: Sequence[OverlapPoint]) -> Iterator[Series]:
    """Pure + cpu of the cases with the fewest tests."""
    min_tests = min((p.tests for p in points), default=0)
    plain_points = [p for p in points if p.tests == min_tests and p.progress == points[0].progress]
    if plain_points:
        yield Series(
            "one after the other",
            tuple(float(p.size) for p in plain_points),
            tuple(run.times(p).pure.value + run.times(p).cpu.value for p in plain_points),
            kind="line",
            tone="neutral",
        )


def parts_figure(run: OverlapResults, operation: str, ranks: int) -> Figure | None:
    """A bar for each size and number of tests."""
    points = [p for p in _points_with_size(run, operation, ranks) if p.phases_s]
    if not points:
        return None
    series = []
    base = [0.0] * len(points)
    for name in PHASE_METRICS:
        shares = [p.phases_s.get(name, 0.0) / (sum(p.phases_s.values()) or 1.0) for p in points]
        detail = tuple(str(quantity(p.phases_s.get(name, 0.0), "s")) for p in points)
        rows = tuple(map(float, range(len(points))))
        series.append(Series(name, rows, tuple(shares), kind="bars", base=tuple(base), detail=detail))
        base = [offset + share for offset, share in zip(base, shares, strict=True)]
    names = tuple(f"{quantity(p.size, 'B')}, {tests_text(p)}" for p in points)
    return _figure(
        ("parts", operation, ranks),
        "where the time goes",
        Axis("size, tests", "", "linear", names=names),
        Axis("share of the time", "%", "linear", include=(0.0, 1.0)),
        series,
        "Posting: until the call that starts the communication returns.",
    )


Key = tuple[str, str, int]
"""The view, operation and number of ranks of a figure."""


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


def _limit_share(share: Estimate) -> Estimate:
    """The share, limited to the range from MIN_SHOWN_SHARE to 1, so that a case that takes many times as long
    leaves room for the others."""
    ends = (None if bound is None else _clamp(bound) for bound in (share.low, share.high))
    return Estimate(_clamp(share.value), *ends)


def _clamp(share: float) -> float:
    return min(1.0, max(MIN_SHOWN_SHARE, share))


def _points_with_size(run: OverlapResults, operation: str, ranks: int) -> list[OverlapPoint]:
    return [p for p in run.points_of_operation(operation, ranks) if p.measured.has_size]


def _hidden_detail(run: OverlapResults, p: OverlapPoint) -> str:
    share = run.times(p).hidden
    return (
        f"{format_share(share.value)}{interval_suffix(share, share_interval(share))}, "
        f"{VERDICT_WORDS[p.verdict]}"
    )


def _ratio_detail(p: OverlapPoint) -> str:
    return f"{p.ratio.value:.2f}{ratio_interval_suffix(p.ratio)}, {VERDICT_WORDS[p.verdict]}"
