# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of a collective over ranks p and message size m, in two forms.

    logarithmic   t = a + (b + c m) ceil(log2 p)      trees: barriers, broadcasts, short reductions
    linear        t = a + (b + c m) (p - 1)           one message for each other rank: gathers, exchanges

Both are common first models of collectives (Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005) 49). They are
fitted by relative non-negative least squares over all ranks and sizes; the better one is marked as preferred.
If the cost at one rank count changes slope with the size, a piecewise fit (`in_size`) is used for that rank
count. Different rank counts are different launches, so launches vary independently between rank counts and
together over the sizes of one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.fit import CurvePoint, Estimate, Fit, FittedParameter, Subject
from hockney.models.fits import caveats
from hockney.models.fits.collective_forms import collective_time, steps
from hockney.models.fits.in_size import fit_in_size
from hockney.models.fits.model import RANKS, SIZE, Scope, explains
from hockney.models.fits.piecewise.fit import unexplained
from hockney.models.fits.ranges import ranges_of
from hockney.models.fits.verdict import deviations, refused, uncertainty, verdict
from hockney.models.scipy_functions import nonnegative_least_squares
from hockney.models.statistics import Observation, estimate, shared_variance, sum_quantile, tabulate

FLOOR = 0.02
"""Minimum relative error in weights, so that a single very precise case does not decide."""


@explains("collective", "barrier", order=3, free=(SIZE, RANKS), in_pieces=True)
def of_collectives(observations: Sequence[Observation], subject: Subject, scope: Scope) -> list[Fit]:
    return fit_collective(observations, subject, ranks_allowed=scope.ranks_allowed)


def fit_collective(
    observations: Sequence[Observation], subject: Subject, *, ranks_allowed: Sequence[int] | None = None
) -> list[Fit]:
    """Both forms for one collective, whose observations differ only in size and ranks.

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
    value = collective_time(fit, ranks, size)
    if not fit.interval_matrix:
        return Estimate(value, None, None)
    half = float(np.sqrt(max(factors @ np.array(fit.interval_matrix) @ factors, 0.0)))
    return estimate(value, max(value - half, 0.0), value + half)


@dataclass(frozen=True)
class _Fitted:
    """`varied` are the ranges of the variables."""

    form: str
    varied: dict[str, tuple[float, float]]
    ranks: np.ndarray
    size: np.ndarray
    times: np.ndarray
    symbols: list[str]
    best: np.ndarray
    free: np.ndarray
    covariance: np.ndarray
    half: np.ndarray
    criterion: float
    errors: int

    @staticmethod
    def of(observations: Sequence[Observation], form: str) -> _Fitted | None:
        """None if there are fewer cases than parameters."""
        seen = sorted(observations, key=lambda each: (each.case.ranks, each.size))
        ranks = np.array([each.case.ranks for each in seen])
        size = np.array([float(each.size) for each in seen])
        symbols = [
            s for s, used in (("a", True), ("b", form != "size"), ("c", size.max() > size.min())) if used
        ]
        if len(seen) < len(symbols):
            return None
        tables = {int(p): tabulate([each for each in seen if each.case.ranks == p]) for p in np.unique(ranks)}
        times = np.concatenate([table.times for table in tables.values()])
        single = np.concatenate([table.variance for table in tables.values()])
        shared, shared_freedom = shared_variance(list(tables.values()))
        per_rank = np.concatenate(
            [np.full(len(t.times), shared / max(t.launches, 1)) for t in tables.values()]
        )

        design = _design(form, symbols, ranks, size)
        weight = 1 / (np.sqrt(single + per_rank + FLOOR**2) * times)
        scale = np.linalg.norm(design * weight[:, None], axis=0)
        best = nonnegative_least_squares(design * weight[:, None] / scale, times * weight)[0] / scale
        fitted = np.maximum(design @ best, 1e-30)
        freedom = len(seen) - len(symbols)
        residual = np.log(times / fitted)
        single = single + unexplained(residual, single + per_rank, freedom)

        inverse = np.linalg.pinv(design * weight[:, None] / scale) / scale[:, None] * weight
        of_points = (inverse * (single * fitted**2)) @ inverse.T
        same = ranks[:, None] == ranks[None, :]
        of_launches = inverse @ (same * per_rank[:, None] * np.outer(fitted, fitted)) @ inverse.T
        quantile = sum_quantile(np.diag(of_points), max(freedom, 1), np.diag(of_launches), shared_freedom)
        covariance = of_points + of_launches
        relative = np.sum(residual**2) / len(seen)
        return _Fitted(
            form=form,
            varied=ranges_of(seen, ranks=form != "size"),
            ranks=ranks,
            size=size,
            times=times,
            symbols=symbols,
            best=best,
            free=inverse @ times,
            covariance=covariance,
            half=quantile * np.sqrt(np.diag(covariance)),
            criterion=len(seen) * math.log(max(relative, 1e-12)) + 2 * len(symbols),
            errors=sum(table.errors for table in tables.values()),
        )

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
        estimates = dict(zip(self.symbols, map(self._estimate, range(len(self.symbols))), strict=True))
        parameters = [
            FittedParameter(
                name=names[s][0],
                symbol=s,
                unit=names[s][1],
                estimate=Estimate(e.value, None, None) if self.saturated else e,
            )
            for s, e in estimates.items()
        ]
        fitted = self.design @ self.best
        leverage = np.max(self.design / np.maximum(fitted, 1e-30)[:, None], axis=0)
        judgement = verdict(
            self.times,
            fitted,
            errors=self.errors,
            caveats=[caveats.unchecked_form()] if self.saturated else [],
            widths={
                s: uncertainty(e, float(factor))
                for (s, e), factor in zip(estimates.items(), leverage, strict=True)
            },
        )
        error, worst = deviations(self.times, fitted)
        return Fit(
            model=self.form,
            line=subject.line,
            parameters=parameters,
            verdict=judgement.grade,
            why="; ".join(filter(None, (choice, judgement.why, note))),
            caveats=judgement.caveats,
            error=error,
            worst=worst,
            curve=self._curve(),
            preferred=preferred,
            ranges=self.varied,
            interval_matrix=self._interval_matrix(),
        )

    @property
    def saturated(self) -> bool:
        """Whether there are as many parameters as cases. The deviation of the times from the form is then
        unknown, and the errors of the measured times alone would give intervals that are too narrow."""
        return len(self.times) == len(self.symbols)

    @property
    def design(self) -> np.ndarray:
        return _design(self.form, self.symbols, self.ranks, self.size)

    @property
    def middle(self) -> np.ndarray:
        """The centres of the intervals: the free parameters; if one of these is negative and therefore held
        at 0, the values of the others under that constraint. A parameter held at 0 may be as large as its
        errors."""
        held = bool(((self.best == 0) & (self.free < 0)).any())
        return self.best if held else self.free

    def _estimate(self, k: int) -> Estimate:
        middle, half = self.middle[k], self.half[k]
        return estimate(self.best[k], max(middle - half, 0.0), max(middle + half, 0.0))

    def _quantile(self) -> float:
        return float(np.max(self.half / np.sqrt(np.maximum(np.diag(self.covariance), 1e-300))))

    def _interval_matrix(self) -> list[list[float]]:
        if self.saturated:
            return []
        with np.errstate(invalid="ignore"):
            matrix = self._quantile() ** 2 * self.covariance
        return matrix.tolist() if np.isfinite(matrix).all() else []

    def _curve(self) -> list[CurvePoint]:
        """Over the ranks at the smallest size; of the form `size`, over the sizes. Without a band if the
        intervals are unknown."""
        if self.form == "size":
            x = np.unique(self.size)
            design = _design(self.form, self.symbols, np.full(len(x), self.ranks[0]), x)
        else:
            x = np.arange(2, self.ranks.max() + 1)
            design = _design(self.form, self.symbols, x, np.full(len(x), self.size.min()))
        half = self._quantile() * np.sqrt(np.maximum(np.sum((design @ self.covariance) * design, axis=1), 0))
        middle = design @ self.middle
        if self.saturated:
            middle, half = design @ self.best, np.zeros(len(x))
        points = (
            estimate(*three)
            for three in zip(design @ self.best, np.maximum(middle - half, 0), middle + half, strict=True)
        )
        return [
            CurvePoint(float(at), e.value, e.low or 0.0, e.high)  # type: ignore[arg-type]
            for at, e in zip(x, points, strict=True)
        ]


def _design(form: str, symbols: Sequence[str], ranks: np.ndarray, size: np.ndarray) -> np.ndarray:
    factor = np.array([steps(form, int(p)) for p in ranks], dtype=float)
    columns = {"a": np.ones(len(ranks)), "b": factor, "c": factor * size}
    return np.stack([columns[s] for s in symbols], axis=1)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(str(n) for n in numbers)
