# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""95% intervals over a few launches: variation within and between them, kept apart and added honestly.

A value estimated once a launch (a median, a slope) varies from launch to launch by more than the
repetitions inside one launch tell: other pages, other cores, another start. With many launches Student's
interval from the launches alone would do. With three it is useless where launches hardly differ, since
t(2) = 4.30, and the interval from within alone is wrong where they do differ. The two are blended by
how loud the data say that launches differ, ratio = S / W with

    S = variance of the launches' values / number of launches        (between and within)
    W = variance of their mean as the spread inside the launches predicts it
    weight = ratio - 1/2, clipped to [0, 1]
    half width**2 = (1 - weight) z**2 max(S, W) + weight t(launches - 1)**2 S

For normal errors and any true ratio of between to within this covers 93-98% with three or more
launches and about 90% at least with two (`benchmarks/coverage.py`, part 'blend').
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from hockney.models.scipy_functions import student_quantile

Z = 1.96


@lru_cache(maxsize=256)
def student(freedom: float) -> float:
    """Student's two-sided 95% quantile."""
    return student_quantile(freedom, 0.975)


def half_width(values: np.ndarray, within: np.ndarray | float) -> np.ndarray:
    """Half width of the 95% interval of the mean of `values` over their last axis, the launches.

    `within` is the half width that the spread inside the launches alone predicts for this mean, nan
    where it is unknown. nan comes back where nothing is known: one launch and no `within`.
    """
    values = np.asarray(values, dtype=float)
    within = np.asarray(within, dtype=float)
    launches = values.shape[-1]
    if launches < 2:
        return np.broadcast_to(within, values.shape[:-1]).copy()
    between = values.var(axis=-1, ddof=1) / launches
    inside = (within / Z) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(inside > 0, np.clip(between / inside - 0.5, 0, 1), 1.0)
    blended = (1 - weight) * Z**2 * np.fmax(between, inside) + weight * student(launches - 1) ** 2 * between
    return np.sqrt(blended)


def of_mean(half_widths: np.ndarray) -> float:
    """Half width of the mean of independent values, given each one's; nan where none is known."""
    known = half_widths[np.isfinite(half_widths)]
    if not len(known):
        return float("nan")
    return float(np.sqrt(np.mean(known**2) / len(half_widths)))
