# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of a collective over ranks p and message size m, in two forms.

    logarithmic   t = a + (b + c m) ceil(log2 p)      trees: barriers, broadcasts, short reductions
    linear        t = a + (b + c m) (p - 1)           one message for each other rank: gathers, exchanges

Both are common first models of collectives (Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005) 49). They are
fitted by relative non-negative least squares over all ranks and sizes; the better one is marked as preferred.
Libraries change algorithm with the size: if the cost at one rank count changes slope with the size, a
piecewise fit (`fit_in_size`) is used for that rank count, by the search for messages between two ranks.
Different rank counts are different launches, so launches vary independently between rank counts and together
over the sizes of one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.fit import CurvePoint, Estimate, Fit, FitCaveat, FittedParameter, Subject
from hockney.core.units import format_bytes
from hockney.models.fits.collective_forms import steps
from hockney.models.fits.model import RANKS, SIZE, Scope, explains, ranges_of
from hockney.models.fits.piecewise import curve_of, fit_piecewise, segments_of
from hockney.models.fits.regression import Regression, sum_interval
from hockney.models.fits.verdict import refused, uncertainty, verdict
from hockney.models.statistics import Observation, tabulate

FEWEST_SIZES = 6
"""Two pieces of three points."""
UNCHECKED_FORM = FitCaveat(
    "unchecked-form",
    "there are as many parameters as cases, so the form cannot be checked and the intervals are unknown",
)


@explains("collective", "barrier", order=3, free=(SIZE, RANKS), in_pieces=True)
def of_collectives(observations: Sequence[Observation], subject: Subject, scope: Scope) -> list[Fit]:
    return fit_collective(observations, subject, ranks_allowed=scope.ranks_allowed)


def fit_collective(
    observations: Sequence[Observation], subject: Subject, *, ranks_allowed: Sequence[int] | None = None
) -> list[Fit]:
    """The fits of both forms for one collective, whose observations differ only in size and ranks.

    `ranks_allowed` excludes other rank counts, such as those with more ranks than cores. With a single rank
    count left the fit is in size alone (model `size`: t = a + c m). 0 bytes are left out if there are other
    sizes.
    """
    seen = [each for each in observations if ranks_allowed is None or each.case.ranks in ranks_allowed]
    left_out = sorted({each.case.ranks for each in observations} - {each.case.ranks for each in seen})
    note = f"{_listed(left_out)} ranks left out (more ranks than cores)" if left_out else ""
    moving = [each for each in seen if each.size > 0]
    if 0 < len(moving) < len(seen):
        # A collective of 0 bytes need not communicate at all, and may then return in nanoseconds.
        seen = moving
        note = "; ".join(filter(None, (note, "0 B left out (a collective without data may return at once)")))
    ranks = sorted({each.case.ranks for each in seen if each.case.ranks > 1})
    seen = [each for each in seen if each.case.ranks > 1]
    if not ranks:
        return [refused("logarithmic", subject, note or "no rank count above 1 was measured")]
    if len(ranks) == 1:
        return [_in_size(seen, subject, ranks[0], note)]
    logarithmic, linear = (_Fitted.of(seen, form) for form in ("logarithmic", "linear"))
    if logarithmic is None or linear is None:
        return [
            refused("logarithmic", subject, f"{len(seen)} cases are too few for the parameters of the model")
        ]
    both = (logarithmic, linear)
    lead = logarithmic.criterion - linear.criterion
    words = ["preferred: {} describes the times better", "{} describes the times better"]
    if abs(lead) < 2:
        words = ["preferred, but {} describes them about as well", "{} describes the times about as well"]
    best = int(lead > 0)
    fits = []
    for k, fitted in enumerate(both):
        other = both[1 - k].form if abs(lead) < 2 or k != best else "it"
        fits.append(fitted.report(subject, words[int(k != best)].format(other), note, preferred=k == best))
    return fits + _at_each(seen, subject, ranks)


def _at_each(seen: Sequence[Observation], subject: Subject, ranks: Sequence[int]) -> list[Fit]:
    """Piecewise fits at the rank counts at which the cost changes slope with the size."""
    found = []
    for count in ranks:
        there = [each for each in seen if each.case.ranks == count]
        own = Subject(subject.workload, tuple(sorted({**subject.values, "ranks": count}.items())))
        found.append(fit_in_size(there, own, ""))
    return [fit for fit in found if fit is not None]


def _in_size(seen: Sequence[Observation], subject: Subject, ranks: int, note: str) -> Fit:
    sizes = {each.size for each in seen}
    if len(sizes) < 2:
        return refused(
            "size",
            subject,
            "; ".join(filter(None, (f"one size at one rank count ({ranks}) is a time, not a model", note))),
        )
    only = f"only {ranks} ranks were measured, so the fit is in size alone"
    in_pieces = fit_in_size(seen, subject, "; ".join(filter(None, (only, note))))
    if in_pieces is not None:
        return in_pieces
    fitted = _Fitted.of(seen, "size")
    assert fitted is not None, "two sizes are enough for its two parameters"
    return fitted.report(subject, only, note)


def collective_interval(fit: Fit, ranks: int, size: float) -> Estimate:
    """The same with its 95% interval, for a fit that is not piecewise."""
    symbols = [parameter.symbol for parameter in fit.parameters]
    factors = _design(fit.model, symbols, np.array([ranks]), np.array([float(size)]))[0]
    return sum_interval(fit, factors)


@dataclass(frozen=True)
class _Fitted:
    """`varied` are the ranges of the variables."""

    form: str
    varied: dict[str, tuple[float, float]]
    ranks: np.ndarray
    size: np.ndarray
    symbols: list[str]
    regression: Regression

    @staticmethod
    def of(observations: Sequence[Observation], form: str) -> _Fitted | None:
        """The fit of a form; None if there are fewer cases than parameters."""
        seen = sorted(observations, key=lambda each: (each.case.ranks, each.size))
        ranks = np.array([each.case.ranks for each in seen])
        size = np.array([float(each.size) for each in seen])
        symbols = [
            s for s, used in (("a", True), ("b", form != "size"), ("c", size.max() > size.min())) if used
        ]
        if len(seen) < len(symbols):
            return None
        groups = [[each for each in seen if each.case.ranks == p] for p in np.unique(ranks)]
        return _Fitted(
            form=form,
            varied=ranges_of(seen, ranks=form != "size"),
            ranks=ranks,
            size=size,
            symbols=symbols,
            regression=Regression.of(groups, _design(form, symbols, ranks, size)),
        )

    @property
    def criterion(self) -> float:
        residual = self.regression.residual
        relative = np.sum(residual**2) / len(residual)
        return len(residual) * math.log(max(relative, 1e-12)) + 2 * len(self.symbols)

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
        found = self.regression
        estimates = {s: found.parameter(k) for k, s in enumerate(self.symbols)}
        parameters = [
            FittedParameter(
                name=names[s][0],
                symbol=s,
                unit=names[s][1],
                estimate=Estimate(e.value, None, None) if found.saturated else e,
            )
            for s, e in estimates.items()
        ]
        leverage = found.leverage
        return Fit(
            model=self.form,
            line=subject.line,
            parameters=parameters,
            curve=self._curve(),
            preferred=preferred,
            ranges=self.varied,
            interval_matrix=found.interval_matrix,
            **verdict(
                found.times,
                found.fitted,
                errors=found.errors,
                caveats=[UNCHECKED_FORM] if found.saturated else [],
                widths={s: uncertainty(e, float(leverage[k])) for k, (s, e) in enumerate(estimates.items())},
                lead=choice,
                note=note,
            ),
        )

    def _curve(self) -> list[CurvePoint]:
        """The fitted curve over the ranks at the smallest size, or over the sizes for the form `size`. It has
        no band if the intervals are unknown."""
        if self.form == "size":
            x = np.unique(self.size)
            design = _design(self.form, self.symbols, np.full(len(x), self.ranks[0]), x)
        else:
            x = np.arange(2, self.ranks.max() + 1)
            design = _design(self.form, self.symbols, x, np.full(len(x), self.size.min()))
        return [
            CurvePoint(float(at), e.value, e.low or 0.0, e.high)  # type: ignore[arg-type]
            for at, e in zip(x, self.regression.band(design), strict=True)
        ]


def _design(form: str, symbols: Sequence[str], ranks: np.ndarray, size: np.ndarray) -> np.ndarray:
    factor = np.array([steps(form, int(p)) for p in ranks], dtype=float)
    columns = {"a": np.ones(len(ranks)), "b": factor, "c": factor * size}
    return np.stack([columns[s] for s in symbols], axis=1)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(str(n) for n in numbers)


def fit_in_size(observations: Sequence[Observation], subject: Subject, note: str) -> Fit | None:
    """The piecewise fit; None if there are too few sizes, or if a single straight line is enough.

    Parameters by symbol: a (s), the constant cost in the piece of the smallest messages; c (s/B), the cost
    per byte in that of the largest.
    """
    seen = sorted(observations, key=lambda each: each.size)
    sizes = np.array([float(each.size) for each in seen])
    if len(set(sizes)) < max(FEWEST_SIZES, len(sizes)):
        return None
    table = tabulate(seen)
    fit = fit_piecewise(sizes, table)
    if len(fit.lines) < 2:
        return None
    changes = fit.changes()
    segments = segments_of(fit, changes)
    first, last = format_bytes(changes[0].value), format_bytes(changes[-1].value)
    small = FittedParameter(
        name="constant cost", symbol="a", unit="s", estimate=segments[0].latency, note=f"below {first}"
    )
    large = FittedParameter(
        name="cost of a byte", symbol="c", unit="s/B", estimate=segments[-1].per_byte, note=f"from {last}"
    )
    fitted = fit.center.time(sizes)[0]
    widths = {
        "a": uncertainty(small.estimate, float(1 / fit.times.min())),
        "c": uncertainty(large.estimate, float((sizes / fit.times).max())),
    }
    pieces = f"{len(segments)} pieces in size"
    return Fit(
        model="size",
        line=subject.line,
        parameters=[small, large],
        segments=segments,
        change_points=changes,
        curve=curve_of(fit, changes),
        ranges=ranges_of(seen),
        **verdict(fit.times, fitted, errors=table.errors, widths=widths, lead=pieces, note=note),
    )
