# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of the ratios, and of the distributions in the quiet state and next to each load."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.pages.format import quantity, ratio_interval
from hockney.studies.congestion.columns import CONGESTOR_NAMES, QUANTILE_NAMES
from hockney.studies.congestion.headline import operation_text, pair_text
from hockney.studies.congestion.results import (
    QUANTILES,
    CongestionPoint,
    CongestionResults,
    QuantileComparison,
)

MIN_SLOWER_REPETITIONS = 5
"""A share of repetitions is drawn if it consists of at least so many."""
STEPS_PER_DECADE = 12


def ratios_figure(run: CongestionResults) -> Figure | None:
    """The ratios of the quantiles, a row for each pair of operation and load."""
    if not run.points:
        return None
    offsets = {quantile: 0.22 * (index - 1) for index, quantile in enumerate(QUANTILES)}
    several_rank_counts = len({point.ranks for point in run.points}) > 1
    names = tuple(
        pair_text(point) + (f", {plural(point.ranks, 'rank')}" if several_rank_counts else "")
        for point in run.points
    )
    series = [
        _ratio_series(run, quantile, offset)
        for quantile, offset in offsets.items()
        if any(entry.is_supported for entry in run.comparisons(quantile))
    ]
    return Figure(
        "congestion-ratios",
        "Times next to load",
        Axis("operation and load", "", "linear", names=names, row=3),
        Axis("time / time in the quiet state", "times", include=(0.8, 1.0, 2.0)),
        tuple(series),
        "Ratios of quantiles, with intervals that contain all true ratios with 95%.",
    )


def _ratio_series(run: CongestionResults, quantile: float, offset: float) -> Series:
    entries: list[tuple[float, QuantileComparison]] = [
        (row + offset, entry) for row, entry in enumerate(run.comparisons(quantile)) if entry.is_supported
    ]
    ratios = [entry.ratio for _, entry in entries if entry.ratio is not None]
    return Series(
        QUANTILE_NAMES[quantile],
        tuple(row for row, _ in entries),
        tuple(ratio.value for ratio in ratios),
        tuple(math.nan if ratio.low is None else ratio.low for ratio in ratios),
        tuple(math.nan if ratio.high is None else ratio.high for ratio in ratios),
        detail=tuple(ratio_interval(ratio) for ratio in ratios),
    )


def distribution_figures(run: CongestionResults) -> list[Figure]:
    """For each operation, the share of repetitions that take longer than a time, in all launches."""
    return [
        Figure(
            "-".join(["congestion", *map(str, operation)]),
            f"{_capital(operation_text(points[0]))}, {plural(points[0].ranks, 'rank')}",
            Axis("time", "s"),
            Axis("share of slower repetitions", ""),
            tuple(_distributions(run, points)),
            "All repetitions of all launches. Distances along the time axis are the ratios of the quantiles.",
        )
        for operation in run.operations
        if (points := run.of_operation(operation))
    ]


def _distributions(run: CongestionResults, points: tuple[CongestionPoint, ...]) -> Iterator[Series]:
    cases = [("quiet", points[0].quiet), *((CONGESTOR_NAMES[p.congestor], p.loaded) for p in points)]
    for name, measured in cases:
        records = run.observations[measured.case.line].records
        times_s = sorted(time_s for record in records for time_s in record.times_s)
        curve = _slower_shares(times_s)
        yield Series(
            name,
            tuple(time_s for time_s, _ in curve),
            tuple(share for _, share in curve),
            kind="line",
            detail=tuple(f"{share:.3%} take longer than {quantity(time_s, 's')}" for time_s, share in curve),
            tone="neutral" if name == "quiet" else "",
        )


def _slower_shares(sorted_times_s: list[float]) -> list[tuple[float, float]]:
    """Times (s) with the share of longer ones: at equal distances on a logarithmic scale of the share."""
    count = len(sorted_times_s)
    if not count:
        return []
    steps = int(STEPS_PER_DECADE * math.log10(max(1.0, count / MIN_SLOWER_REPETITIONS)))
    slower_counts = dict.fromkeys(
        round(count * 10 ** (-step / STEPS_PER_DECADE)) for step in range(1, steps + 1)
    )
    return [
        (max(sorted_times_s[count - slower - 1], 1e-12), slower / count) for slower in slower_counts if slower
    ]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
