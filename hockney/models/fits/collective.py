# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of a collective over ranks p and message size m, in two forms.

    logarithmic   t = a + (b + c m) ceil(log2 p)      trees: barriers, broadcasts, short reductions
    linear        t = a + (b + c m) (p - 1)           one message for each other rank: gathers, exchanges

Both are common simple models of collectives (Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005) 49). They are
fitted by relative non-negative least squares over all ranks and sizes; the better fit is marked as preferred.
Libraries choose the algorithm by size. If the slope of the cost at one rank count changes with the size, that
rank count gets a piecewise fit (`fit_in_size`), as for messages between two ranks. Different rank counts are
measured in different launches, so launches vary independently between rank counts, but jointly over the sizes
of one rank count."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.fit import CurvePoint, Estimate, Fit, FitCaveat, FittedParameter, Subject
from hockney.core.units import format_bytes
from hockney.models.fits.collective_forms import step_count
from hockney.models.fits.model import RANKS, SIZE, Scope, explains, ranges_of
from hockney.models.fits.piecewise import fit_piecewise, fitted_curve, fitted_segments
from hockney.models.fits.regression import Regression, sum_interval
from hockney.models.fits.verdict import judge_fit, refused, uncertainty
from hockney.models.statistics import Observation, tabulate

MIN_SIZES = 6
"""Two segments of three points."""
UNCHECKED_FORM = FitCaveat(
    "unchecked-form",
    "there are as many parameters as cases, so the form cannot be checked and the intervals are unknown",
)


@explains("collective", "barrier", order=3, free=(SIZE, RANKS), in_pieces=True)
def fit_collective_forms(observations: Sequence[Observation], subject: Subject, scope: Scope) -> list[Fit]:
    return fit_collective(observations, subject, ranks_allowed=scope.ranks_allowed)


def fit_collective(
    observations: Sequence[Observation], subject: Subject, *, ranks_allowed: Sequence[int] | None = None
) -> list[Fit]:
    """Fit both forms to one collective, whose observations differ only in size and ranks.

    `ranks_allowed` excludes other rank counts, such as those with more ranks than cores. With a single rank
    count left, the fit is in size alone (model `size`: t = a + c m). 0 bytes are left out if there are other
    sizes.
    """
    selected = [
        observation
        for observation in observations
        if ranks_allowed is None or observation.case.ranks in ranks_allowed
    ]
    excluded_ranks = sorted(
        {observation.case.ranks for observation in observations}
        - {observation.case.ranks for observation in selected}
    )
    note = f"{_join_numbers(excluded_ranks)} ranks left out (more ranks than cores)" if excluded_ranks else ""
    nonempty = [observation for observation in selected if observation.size > 0]
    if 0 < len(nonempty) < len(selected):
        # A collective of 0 bytes does not need to communicate, and may return within nanoseconds.
        selected = nonempty
        note = "; ".join(filter(None, (note, "0 B left out (a collective without data may return at once)")))
    ranks = sorted({observation.case.ranks for observation in selected if observation.case.ranks > 1})
    selected = [observation for observation in selected if observation.case.ranks > 1]
    if not ranks:
        return [refused("logarithmic", subject, note or "no rank count above 1 was measured")]
    if len(ranks) == 1:
        return [_fit_at_one_count(selected, subject, ranks[0], note)]
    logarithmic, linear = (_FormFit.from_observations(selected, form) for form in ("logarithmic", "linear"))
    if logarithmic is None or linear is None:
        return [
            refused(
                "logarithmic", subject, f"{len(selected)} cases are too few for the parameters of the model"
            )
        ]
    forms = (logarithmic, linear)
    criterion_difference = logarithmic.criterion - linear.criterion
    texts = ["preferred: {} describes the times better", "{} describes the times better"]
    if abs(criterion_difference) < 2:
        texts = ["preferred, but {} describes them about as well", "{} describes the times about as well"]
    best_index = int(criterion_difference > 0)
    fits = []
    for index, fitted in enumerate(forms):
        other_form = forms[1 - index].form if abs(criterion_difference) < 2 or index != best_index else "it"
        fits.append(
            fitted.report(
                subject,
                texts[int(index != best_index)].format(other_form),
                note,
                preferred=index == best_index,
            )
        )
    return fits + _fit_at_each_count(selected, subject, ranks)


def _fit_at_each_count(seen: Sequence[Observation], subject: Subject, ranks: Sequence[int]) -> list[Fit]:
    """Piecewise fits at the rank counts at which the slope of the cost changes with the size."""
    fits = []
    for count in ranks:
        at_count = [observation for observation in seen if observation.case.ranks == count]
        subject_at_count = Subject(
            subject.workload, tuple(sorted({**subject.values, "ranks": count}.items()))
        )
        fits.append(fit_in_size(at_count, subject_at_count, ""))
    return [fit for fit in fits if fit is not None]


def _fit_at_one_count(observations: Sequence[Observation], subject: Subject, ranks: int, note: str) -> Fit:
    sizes = {observation.size for observation in observations}
    if len(sizes) < 2:
        return refused(
            "size",
            subject,
            "; ".join(filter(None, (f"one size at one rank count ({ranks}) is a time, not a model", note))),
        )
    reason = f"only {ranks} ranks were measured, so the fit is in size alone"
    piecewise_fit = fit_in_size(observations, subject, "; ".join(filter(None, (reason, note))))
    if piecewise_fit is not None:
        return piecewise_fit
    fitted = _FormFit.from_observations(observations, "size")
    assert fitted is not None, "two sizes are enough for its two parameters"
    return fitted.report(subject, reason, note)


def collective_interval(fit: Fit, ranks: int, size: float) -> Estimate:
    """Predicted seconds with a 95% interval, for a fit that is not piecewise."""
    symbols = [parameter.symbol for parameter in fit.parameters]
    factors = _design_matrix(fit.model, symbols, np.array([ranks]), np.array([float(size)]))[0]
    return sum_interval(fit, factors)


@dataclass(frozen=True)
class _FormFit:
    """A regression of one form; `ranges` contains the ranges of the variables."""

    form: str
    ranges: dict[str, tuple[float, float]]
    ranks: np.ndarray
    size: np.ndarray
    symbols: list[str]
    regression: Regression

    @staticmethod
    def from_observations(observations: Sequence[Observation], form: str) -> _FormFit | None:
        """Fit a form; None if there are fewer cases than parameters."""
        sorted_observations = sorted(
            observations, key=lambda observation: (observation.case.ranks, observation.size)
        )
        ranks = np.array([observation.case.ranks for observation in sorted_observations])
        size = np.array([float(observation.size) for observation in sorted_observations])
        symbols = [
            symbol
            for symbol, is_used in (("a", True), ("b", form != "size"), ("c", size.max() > size.min()))
            if is_used
        ]
        if len(sorted_observations) < len(symbols):
            return None
        groups = [
            [observation for observation in sorted_observations if observation.case.ranks == count]
            for count in np.unique(ranks)
        ]
        return _FormFit(
            form=form,
            ranges=ranges_of(sorted_observations, ranks=form != "size"),
            ranks=ranks,
            size=size,
            symbols=symbols,
            regression=Regression.fit_groups(groups, _design_matrix(form, symbols, ranks, size)),
        )

    @property
    def criterion(self) -> float:
        residual = self.regression.residual
        mean_square = np.sum(residual**2) / len(residual)
        return len(residual) * math.log(max(mean_square, 1e-12)) + 2 * len(self.symbols)

    def report(self, subject: Subject, choice: str, note: str, *, preferred: bool = False) -> Fit:
        names = {
            "a": ("constant cost", "s"),
            "b": ("cost of a step" if self.form == "logarithmic" else "cost of a rank", "s"),
            "c": (
                "cost of a byte"
                + ("" if self.form == "size" else " and step" if self.form == "logarithmic" else " and rank"),
                "s/B",
            ),
        }
        regression = self.regression
        estimates = {symbol: regression.parameter(index) for index, symbol in enumerate(self.symbols)}
        parameters = [
            FittedParameter(
                name=names[symbol][0],
                symbol=symbol,
                unit=names[symbol][1],
                estimate=Estimate(value_estimate.value, None, None)
                if regression.is_saturated
                else value_estimate,
            )
            for symbol, value_estimate in estimates.items()
        ]
        leverage = regression.leverage
        return Fit(
            model=self.form,
            line=subject.line,
            parameters=parameters,
            curve=self._curve(),
            preferred=preferred,
            ranges=self.ranges,
            interval_matrix=regression.interval_matrix,
            **judge_fit(
                regression.times,
                regression.fitted,
                errors=regression.errors,
                caveats=[UNCHECKED_FORM] if regression.is_saturated else [],
                widths={
                    symbol: uncertainty(value_estimate, float(leverage[index]))
                    for index, (symbol, value_estimate) in enumerate(estimates.items())
                },
                lead=choice,
                note=note,
            ),
        )

    def _curve(self) -> list[CurvePoint]:
        """Fitted curve over the ranks at the smallest size, or over the sizes for the form `size`. Without a
        band if the intervals are unknown."""
        if self.form == "size":
            x = np.unique(self.size)
            design = _design_matrix(self.form, self.symbols, np.full(len(x), self.ranks[0]), x)
        else:
            x = np.arange(2, self.ranks.max() + 1)
            design = _design_matrix(self.form, self.symbols, x, np.full(len(x), self.size.min()))
        return [
            CurvePoint(float(position), value_estimate.value, value_estimate.low or 0.0, value_estimate.high)  # type: ignore[arg-type]
            for position, value_estimate in zip(x, self.regression.band(design), strict=True)
        ]


def _design_matrix(form: str, symbols: Sequence[str], ranks: np.ndarray, size: np.ndarray) -> np.ndarray:
    step_counts = np.array([step_count(form, int(count)) for count in ranks], dtype=float)
    columns = {"a": np.ones(len(ranks)), "b": step_counts, "c": step_counts * size}
    return np.stack([columns[symbol] for symbol in symbols], axis=1)


def _join_numbers(numbers: Sequence[int]) -> str:
    return ", ".join(str(number) for number in numbers)


def fit_in_size(observations: Sequence[Observation], subject: Subject, note: str) -> Fit | None:
    """Fit a piecewise line in size; None if there are too few sizes, or if a single straight line is enough.

    Parameters by symbol: a (s), the constant cost in the segment of the smallest messages; c (s/B), the cost
    per byte in the segment of the largest.
    """
    sorted_observations = sorted(observations, key=lambda observation: observation.size)
    sizes = np.array([float(observation.size) for observation in sorted_observations])
    if len(set(sizes)) < max(MIN_SIZES, len(sizes)):
        return None
    table = tabulate(sorted_observations)
    fit = fit_piecewise(sizes, table)
    if len(fit.lines) < 2:
        return None
    changes = fit.changes()
    segments = fitted_segments(fit, changes)
    first, last = format_bytes(changes[0].value), format_bytes(changes[-1].value)
    constant_cost = FittedParameter(
        name="constant cost", symbol="a", unit="s", estimate=segments[0].latency, note=f"below {first}"
    )
    byte_cost = FittedParameter(
        name="cost of a byte", symbol="c", unit="s/B", estimate=segments[-1].per_byte, note=f"from {last}"
    )
    fitted = fit.center.time(sizes)[0]
    widths = {
        "a": uncertainty(constant_cost.estimate, float(1 / fit.times.min())),
        "c": uncertainty(byte_cost.estimate, float((sizes / fit.times).max())),
    }
    summary = f"{len(segments)} pieces in size"
    return Fit(
        model="size",
        line=subject.line,
        parameters=[constant_cost, byte_cost],
        segments=segments,
        change_points=changes,
        curve=fitted_curve(fit, changes),
        ranges=ranges_of(sorted_observations),
        **judge_fit(fit.times, fitted, errors=table.errors, widths=widths, lead=summary, note=note),
    )
