# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Times of relations and permutations with their fits, and the parameters over the number of ranks."""

from __future__ import annotations

from collections.abc import Iterable

from hockney.core.fit import Fit
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.pages.evidence import Measured
from hockney.pages.series import curve, estimates, times
from hockney.suites.bsp.studies.bsp_parameters.columns import PARAMETER_MEANINGS, UNITS
from hockney.suites.bsp.studies.bsp_parameters.results import METHODS, ParameterResults, printed_by_processors


def relations(run: ParameterResults) -> Figure | None:
    """Time of h-relations of words against h, for each number of ranks, by puts."""
    series: list[Series] = []
    for ranks in run.ranks:
        series += _measured_and_fitted(run.relations(ranks), run.fit("g", ranks), plural(ranks, "rank"))
    caption = "Points: measured, with 95% intervals. Lines: L + g h."
    return _figure("bsp-relations", "Time of an h-relation by puts", "h, words", "", series, caption)


def by_method(run: ParameterResults, ranks: int) -> Figure | None:
    """Words combined by the library, and sent at once."""
    series: list[Series] = []
    for method, title in METHODS.items():
        series += _measured_and_fitted(run.relations(ranks, method), run.fit("g", ranks, method), title)
    title = f"Time of an h-relation on {plural(ranks, 'rank')}"
    return _figure(f"bsp-methods-{ranks}", title, "h, words", "", series, "")


PARTS = {
    "write": "writing into the library's queues",
    "exchange": "exchange and synchronisation",
    "read": "reading from its queues",
}
"""Metrics of a relation, whose sum is its time; the constant part of the exchange is most of L."""


def parts(run: ParameterResults, ranks: int) -> Figure | None:
    """The parts of an h-relation by puts, as in the paper's figure 4."""
    series = []
    for name, title in PARTS.items():
        part_times = [
            (m.size, m.summary.metrics[name].typical, "")
            for m in run.relations(ranks)
            if name in m.summary.metrics
        ]
        if part_times:
            series.append(estimates(title, part_times))
    title = f"The parts of an h-relation by puts on {plural(ranks, 'rank')}"
    caption = "Of a superstep after the measured ones, the mean of the ranks."
    return _figure(f"bsp-parts-{ranks}", title, "h, words", "", series, caption)


def permutations(run: ParameterResults) -> Figure | None:
    """Time of block permutations against the size of a block."""
    series: list[Series] = []
    for ranks in run.ranks:
        series += _measured_and_fitted(
            run.permutations(ranks), run.fit("sigma", ranks), plural(ranks, "rank")
        )
    caption = "Points: measured, with 95% intervals. Lines: l + sigma m."
    return _figure("bpram-permutations", "Time of a block permutation", "block", "B", series, caption)


def over_ranks(run: ParameterResults, symbol: str) -> Figure | None:
    """A parameter over the number of ranks, next to the Paragon's."""
    known_estimates = [(p, e, "") for p in run.ranks if (e := run.estimate(symbol, p)) is not None]
    if not known_estimates:
        return None
    this_machine = estimates("this machine", known_estimates)
    x, y = zip(*printed_by_processors(symbol).items(), strict=True)
    paragon = Series("Intel Paragon, 1998", tuple(map(float, x)), y, hollow=True)
    return Figure(
        f"bsp-{symbol}-over-ranks",
        f"{symbol}: {PARAMETER_MEANINGS[symbol]}",
        Axis("ranks", "ranks", "log"),
        Axis(symbol, UNITS[symbol]),
        (this_machine, paragon),
    )


def _measured_and_fitted(measured: Iterable[Measured], fit: Fit | None, name: str) -> list[Series]:
    measurements = tuple(measured)
    if not measurements:
        return []
    fitted = [curve(f"{name}, fitted", fit, name)] if fit is not None else []
    return [times(name, measurements), *fitted]


def _figure(
    name: str, title: str, label: str, unit: str, series: list[Series], caption: str
) -> Figure | None:
    if not series:
        return None
    return Figure(name, title, Axis(label, unit), Axis("time", "s"), tuple(series), caption)
