# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The judgement on a fit, in one scale for all models, with its reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np
from msgspec.structs import replace

from hockney.core.fit import Estimate, Fit, FitCaveat, Subject, Verdict
from hockney.models.fits.caveats import wide_parameter

GOOD = 0.05
FAIR = 0.15
"""Median relative errors up to which a model predicts well enough to rank algorithms (5%) or for planning
(15%). If a single point is off by more than `WORST` for its grade, the fit is one grade worse."""

WORST = {"good": 0.2, "fair": 1.0}


SURE: dict[Verdict, float] = {"good": 0.25, "fair": 1.0}
"""Half widths up to which the parameters are known well enough for a grade (`uncertainty`)."""


class Judgement(TypedDict):
    """Fields of a fit. `why` includes the caveats' texts."""

    verdict: Verdict
    why: str
    caveats: list[FitCaveat]
    error: float
    worst: float


def refused(model: str, subject: Subject, why: str) -> Fit:
    return Fit(model=model, line=subject.line, parameters=[], verdict="refused", why=why)


def doubted(fit: Fit, caveat: FitCaveat) -> Fit:
    """The fit with one more caveat: at most fair."""
    return replace(
        fit,
        verdict="fair" if fit.verdict == "good" else fit.verdict,
        why="; ".join(filter(None, (fit.why, caveat.text))),
        caveats=[*fit.caveats, caveat],
    )


def deviations(times: np.ndarray, fitted: np.ndarray) -> tuple[float, float]:
    """Median and largest relative error of a model; a time half as long counts as much as one twice as
    long."""
    ratio = np.maximum(np.asarray(fitted, dtype=float), 1e-300) / np.asarray(times)
    relative = np.maximum(ratio, 1 / ratio) - 1
    return float(np.median(relative)), float(relative.max())


def uncertainty(estimate: Estimate, leverage: float) -> float:
    """How uncertain a parameter is: its half width relative to its value, but no more than the effect of that
    width on the predicted times, where that is largest. `leverage` is the relative change of a time for a
    change of the parameter by one unit, at the case where that is largest. 0 if there is no interval."""
    value = estimate.value
    away = [abs(end - value) for end in (estimate.low, estimate.high) if end not in (None, value)]
    half = sum(away) / max(len(away), 1)
    effect = half * leverage
    return min(half / value, effect) if value > 0 else effect


def verdict(
    times: np.ndarray,
    fitted: np.ndarray,
    *,
    errors: int = 0,
    caveats: Sequence[FitCaveat] = (),
    widths: Mapping[str, float] | None = None,
    lead: str = "",
    note: str = "",
) -> Judgement:
    """The verdict and its reasons, which begin with `lead` and end with `note`. `caveats` lower a good fit to
    fair; `widths` are the uncertainties of the parameters by symbol."""
    middle, worst = deviations(times, fitted)
    size = f"the model is off by {error_size(middle)} in the median and by {error_size(worst)} at worst"
    found = list(caveats)
    grade: Verdict = "poor"
    limits: tuple[tuple[float, Verdict], ...] = ((FAIR, "fair"), (GOOD, "good"))
    for limit, name in limits:
        if middle <= limit and worst <= WORST[name]:
            grade = name
    if found and grade == "good":
        grade = "fair"
    symbol, width = max((widths or {"": 0.0}).items(), key=lambda item: item[1])
    known: Verdict = next((name for name in SURE if width <= SURE[name]), "poor")
    if known != "good":
        found.append(wide_parameter(symbol, width))
        grade = max(grade, known, key=("good", "fair", "poor").index)
    if errors:
        grade = "poor"
        corrupted = (
            f"{errors} payload{'s' if errors > 1 else ''} arrived corrupted, so the timed work may differ "
            "from the intended work"
        )
        found.append(FitCaveat("wrong-payloads", corrupted, {"errors": errors}))
    why = "; ".join(filter(None, (lead, size, *(caveat.text for caveat in found), note)))
    return Judgement(verdict=grade, why=why, caveats=found, error=middle, worst=worst)


def error_size(fraction: float) -> str:
    """A relative error in percent, with one decimal below 10%."""
    if fraction >= 10:
        return "a factor of more than 10"
    return f"{100 * fraction:.1f}%" if fraction < 0.1 else f"{100 * fraction:.0f}%"
