# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""LogGP's parameters at one size, made consistent if the data allow it.

A sender cannot send more often than its processor allows, g >= o_s, nor can a receiver receive more often, g
>= o_r, and both overheads are part of a message's time, o_s + o_r <= T = o_s + L + o_r. Each parameter is
measured separately, so errors may violate these inequalities. If the interval of an inequality's slack
reaches 0, the inequality is imposed: weighted least squares with linear inequalities, whose solution is
linear in the parameters once the active ones are known, found by trying all subsets of the three. Otherwise
the data contradict LogGP, and nothing is imposed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hockney.models.fits.linear import RELATIVE, interval_of
from hockney.models.statistics import Medians

GAP, SEND, RECEIVE, ONE_WAY = range(4)

AT_LEAST_0 = np.array(
    [
        [1.0, -1.0, 0.0, 0.0],
        [1.0, 0.0, -1.0, 0.0],
        [0.0, -1.0, -1.0, 1.0],
    ]
)
"""g - o_s, g - o_r, T - o_s - o_r."""


@dataclass(frozen=True)
class Consistent:
    """`values` and `rows` of gap, o_s, o_r and T; `moved`: whether an imposed inequality was violated by the
    free parameters; `contradicted`: which ones (of `AT_LEAST_0`) the data do not allow."""

    values: np.ndarray
    rows: np.ndarray
    moved: bool
    contradicted: tuple[int, ...]


def consistent(medians: Medians, values: np.ndarray, rows: np.ndarray) -> Consistent:
    """`values` and `rows` @ times are gap, o_s, o_r and T at the same size."""
    contradicted = tuple(k for k in range(len(AT_LEAST_0)) if _excluded(medians, AT_LEAST_0[k], values, rows))
    allowed = [k for k in range(len(AT_LEAST_0)) if k not in contradicted]
    variance = medians.combined(rows)[1] + (RELATIVE * values) ** 2 + 1e-30
    best, cost = np.eye(len(values)), np.inf
    for count in range(len(allowed) + 1):
        for active in combinations(allowed, count):
            projection = _projection(AT_LEAST_0[list(active)], variance)
            found = projection @ values
            distance = float(np.sum((found - values) ** 2 / variance))
            slack = AT_LEAST_0[allowed] @ found
            if distance < cost and (slack >= -1e-9 * values.max()).all() and (found >= 0).all():
                best, cost = projection, distance
    return Consistent(best @ values, best @ rows, bool(np.isfinite(cost) and cost > 0), contradicted)


def _excluded(medians: Medians, inequality: np.ndarray, values: np.ndarray, rows: np.ndarray) -> bool:
    """Whether the upper end of a value that must be at least 0 is below it, by more than models are typically
    off."""
    slack = float(inequality @ values)
    away = interval_of(medians, 0.0, inequality @ rows, held=True).high
    return slack < 0 and -slack > max(away or 0.0, RELATIVE * float(np.abs(inequality) @ values))


def _projection(active: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Projection onto active @ x = 0, the nearest in x**2 / variance."""
    identity = np.eye(len(variance))
    if not len(active):
        return identity
    weighted = active * variance
    return np.asarray(identity - weighted.T @ np.linalg.solve(weighted @ active.T, active))
