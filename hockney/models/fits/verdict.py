# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The judgement on a fit, in one scale for all models, with its reasons in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.core.fit import Fit, Subject, Verdict

GOOD = 0.05
FAIR = 0.15
"""Median relative errors up to which a model predicts well enough to rank algorithms (5%) or to plan with
(15%). A single point off by more than `WORST` at its grade makes the fit one worse."""

WORST = {"good": 0.2, "fair": 1.0}


def refused(model: str, subject: Subject, why: str) -> Fit:
    return Fit(model=model, line=subject.line, parameters=[], verdict="refused", why=why)


def deviations(times: np.ndarray, fitted: np.ndarray) -> tuple[float, float]:
    """Median and largest relative error of a model; a time half as long is as wrong as one twice as long."""
    ratio = np.maximum(np.asarray(fitted, dtype=float), 1e-300) / np.asarray(times)
    relative = np.maximum(ratio, 1 / ratio) - 1
    return float(np.median(relative)), float(relative.max())


def verdict(
    times: np.ndarray, fitted: np.ndarray, *, errors: int = 0, doubts: Sequence[str] = ()
) -> tuple[Verdict, str]:
    """The verdict and its reason. `doubts` each lower a good fit to fair."""
    middle, worst = deviations(times, fitted)
    size = f"the model is off by {error_size(middle)} at the median and {error_size(worst)} at worst"
    grade: Verdict = "poor"
    limits: tuple[tuple[float, Verdict], ...] = ((FAIR, "fair"), (GOOD, "good"))
    for limit, name in limits:
        if middle <= limit and worst <= WORST[name]:
            grade = name
    reasons = [size, *doubts]
    if doubts and grade == "good":
        grade = "fair"
    if errors:
        grade = "poor"
        reasons.append(
            f"{errors} payload{'s' if errors > 1 else ''} arrived wrong, so the times may be of work not done"
        )
    return grade, "; ".join(reasons)


def error_size(fraction: float) -> str:
    """A relative error in percent, with one decimal below 10%."""
    if fraction >= 10:
        return "a factor of more than 10"
    return f"{100 * fraction:.1f}%" if fraction < 0.1 else f"{100 * fraction:.0f}%"
