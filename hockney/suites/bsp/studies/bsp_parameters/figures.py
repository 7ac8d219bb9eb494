# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Times of relations and permutations with their fits, and the parameters over the number of ranks."""

from __future__ import annotations

from collections.abc import Iterable

from hockney.core.fit import Fit
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.pages.evidence import MeasuredCase
from hockney.pages.series import curve, estimates, times
from hockney.suites.bsp.studies.bsp_parameters.columns import PARAMETER_MEANINGS, UNITS
from hockney.suites.bsp.studies.bsp_parameters.results import (
    METHOD_TITLES,
    ParameterResults,
    paper_values_by_processors,
)


def relation_figure(run: ParameterResults) -> Figure | None:
    """Draws the time of h-relations of words by puts against h, for each number of ranks."""
    series: list[Series] = []
    for ranks in run.ranks:
        series += _measured_and_fitted_series(
            run.relations(ranks), run.fit("g", ranks), plural(ranks, "rank")
        )
    caption = "Points: measured, with 95% intervals. Lines: L + g h."
    return _figure("bsp-relations", "Time of an h-relation by puts", "h, words", "", series, caption)


def method_figure(run: ParameterResults, ranks: int) -> Figure | None:
    """Draws the times of words combined by the library, and of words sent immediately."""
    series: list[Series] = []
    for method, title in METHOD_TITLES.items():
        series += _measured_and_fitted_series(
            run.relations(ranks, method), run.fit("g", ranks, method), title
        )
    title = f"Time of an h-relation on {plural(ranks, 'rank')}"
    return _figure(f"bsp-methods-{ranks}", title, "h, words", "", series, "")


PART_TITLES = {
    "write": "writing into the library's queues",
    "exchange": "exchange and synchronisation",
    "read": "reading from its queues",
}
"""Metrics of a relation, whose sum is its time. The constant part of the exchange is most of L."""


def breakdown_figure(run: ParameterResults, ranks: int) -> Figure | None:
    """Draws the parts of an h-relation by puts, as in the paper's figure 4."""
    series = []
    for name, title in PART_TITLES.items():
        part_times = [
            (measurement.size, measurement.summary.metrics[name].typical, "")
            for measurement in run.relations(ranks)
            if name in measurement.summary.metrics
        ]
        if part_times:
            series.append(estimates(title, part_times))
    title = f"The parts of an h-relation by puts on {plural(ranks, 'rank')}"
    caption = "Of a superstep after the measured ones, the mean of the ranks."
    return _figure(f"bsp-parts-{ranks}", title, "h, words", "", series, caption)


def permutation_figure(run: ParameterResults) -> Figure | None:
    """Draws the time of block permutations against the size of a block."""
    series: list[Series] = []
    for ranks in run.ranks:
        series += _measured_and_fitted_series(
            run.permutations(ranks), run.fit("sigma", ranks), plural(ranks, "rank")
        )
    caption = "Points: measured, with 95% intervals. Lines: l + sigma m."
    return _figure("bpram-permutations", "Time of a block permutation", "block", "B", series, caption)


def parameter_figure(run: ParameterResults, symbol: str) -> Figure | None:
    """Draws a parameter over the number of ranks, next to the Paragon's values."""
    known_estimates = [
        (p, estimate, "") for p in run.ranks if (estimate := run.estimate(symbol, p)) is not None
    ]
    if not known_estimates:
        return None
    machine_series = estimates("this machine", known_estimates)
    x, y = zip(*paper_values_by_processors(symbol).items(), strict=True)
    paragon_series = Series("Intel Paragon, 1998", tuple(map(float, x)), y, hollow=True)
    return Figure(
        f"bsp-{symbol}-over-ranks",
        f"{symbol}: {PARAMETER_MEANINGS[symbol]}",
        Axis("ranks", "ranks", "log"),
        Axis(symbol, UNITS[symbol]),
        (machine_series, paragon_series),
    )


def _measured_and_fitted_series(measured: Iterable[MeasuredCase], fit: Fit | None, name: str) -> list[Series]:
    measurements = tuple(measured)
    if not measurements:
        return []
    fitted_series = [curve(f"{name}, fitted", fit, name)] if fit is not None else []
    return [times(name, measurements), *fitted_series]


def _figure(
    name: str, title: str, label: str, unit: str, series: list[Series], caption: str
) -> Figure | None:
    if not series:
        return None
    return Figure(name, title, Axis(label, unit), Axis("time", "s"), tuple(series), caption)
