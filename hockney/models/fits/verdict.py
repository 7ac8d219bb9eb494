# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict on a fit, on one scale for all models, with its reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np
from msgspec.structs import replace

from hockney.core.fit import Estimate, Fit, FitCaveat, Subject, Verdict
from hockney.models.fits.caveats import wide_parameter

GOOD_ERROR = 0.05
FAIR_ERROR = 0.15
"""Median relative errors up to which a model predicts well enough to rank algorithms (5%) or for planning
(15%). If a single point is off by more than `MAX_ERRORS` for its grade, the fit is one grade worse."""

MAX_ERRORS = {"good": 0.2, "fair": 1.0}


MAX_WIDTHS: dict[Verdict, float] = {"good": 0.25, "fair": 1.0}
"""Maximum relative half widths of the parameters for each grade (`uncertainty`)."""


class Judgement(TypedDict):
    """Fields of a fit. `why` includes the caveats' texts."""

    verdict: Verdict
    why: str
    caveats: list[FitCaveat]
    error: float
    worst: float


def refused(model: str, subject: Subject, why: str) -> Fit:
    return Fit(model=model, line=subject.line, parameters=[], verdict="refused", why=why)


def add_caveat(fit: Fit, caveat: FitCaveat) -> Fit:
    """Return the fit with an additional caveat; its verdict becomes fair at best."""
    return replace(
        fit,
        verdict="fair" if fit.verdict == "good" else fit.verdict,
        why="; ".join(filter(None, (fit.why, caveat.text))),
        caveats=[*fit.caveats, caveat],
    )


def deviations(times: np.ndarray, fitted: np.ndarray) -> tuple[float, float]:
    """Median and largest relative error of a model. A factor of 1/2 counts as much as a factor of 2."""
    ratio = np.maximum(np.asarray(fitted, dtype=float), 1e-300) / np.asarray(times)
    relative = np.maximum(ratio, 1 / ratio) - 1
    return float(np.median(relative)), float(relative.max())


def uncertainty(estimate: Estimate, leverage: float) -> float:
    """Uncertainty of a parameter: its half width relative to its value, but no more than its largest effect
    on a predicted time. `leverage` is the largest relative change of a time per unit change of the parameter.
    0 without an interval."""
    value = estimate.value
    distances = [abs(bound - value) for bound in (estimate.low, estimate.high) if bound not in (None, value)]
    half_width = sum(distances) / max(len(distances), 1)
    effect = half_width * leverage
    return min(half_width / value, effect) if value > 0 else effect


def judge_fit(
    times: np.ndarray,
    fitted: np.ndarray,
    *,
    errors: int = 0,
    caveats: Sequence[FitCaveat] = (),
    widths: Mapping[str, float] | None = None,
    lead: str = "",
    note: str = "",
) -> Judgement:
    """Judge a fit. The reasons begin with `lead` and end with `note`. `caveats` lower a good fit to fair;
    `widths` are the uncertainties of the parameters by symbol."""
    median_error, max_error = deviations(times, fitted)
    error_text = (
        f"the model is off by {format_error(median_error)} in the median "
        f"and by {format_error(max_error)} at worst"
    )
    all_caveats = list(caveats)
    grade: Verdict = "poor"
    limits: tuple[tuple[float, Verdict], ...] = ((FAIR_ERROR, "fair"), (GOOD_ERROR, "good"))
    for limit, name in limits:
        if median_error <= limit and max_error <= MAX_ERRORS[name]:
            grade = name
    if all_caveats and grade == "good":
        grade = "fair"
    symbol, width = max((widths or {"": 0.0}).items(), key=lambda item: item[1])
    width_grade: Verdict = next((name for name in MAX_WIDTHS if width <= MAX_WIDTHS[name]), "poor")
    if width_grade != "good":
        all_caveats.append(wide_parameter(symbol, width))
        grade = max(grade, width_grade, key=("good", "fair", "poor").index)
    if errors:
        grade = "poor"
        corruption_text = (
            f"{errors} payload{'s' if errors > 1 else ''} arrived corrupted, so the timed work may differ "
            "from the intended work"
        )
        all_caveats.append(FitCaveat("wrong-payloads", corruption_text, {"errors": errors}))
    why = "; ".join(filter(None, (lead, error_text, *(caveat.text for caveat in all_caveats), note)))
    return Judgement(verdict=grade, why=why, caveats=all_caveats, error=median_error, worst=max_error)


def format_error(fraction: float) -> str:
    """Relative error in percent, with one decimal below 10%."""
    if fraction >= 10:
        return "a factor of more than 10"
    return f"{100 * fraction:.1f}%" if fraction < 0.1 else f"{100 * fraction:.0f}%"
