# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The variance of the centre of one case, or of the mean of several centres, that the differences of the
launches imply.

Cases of one launch share what it does to all of them. The error of their mean is therefore that of the sums
of their errors in each launch, which are independent between launches."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hockney.models.statistics.location import COST, FEWEST_TO_WINSORISE, spread, winsorised
from hockney.models.statistics.observations import Observation

FEWEST_LAUNCHES = 2
"""With one launch, nothing shows how much launches differ."""


def launch_variance(cases: Sequence[Observation]) -> tuple[float, float]:
    """The variance of the mean over these cases, and its degrees of freedom. Each case has at least
    FEWEST_LAUNCHES."""
    if len(cases) == 1:
        variance, freedom = spread(cases[0].log_typical)
        return float(variance), float(freedom)
    errors: dict[str, float] = {}
    for seen in cases:
        share = 1 / len(cases) / len(seen.launches)
        for launch, deviation in zip(seen.launches, _deviations(seen), strict=True):
            errors[launch] = errors.get(launch, 0.0) + share * float(deviation)
    parts = []
    for together in _sharing(cases):
        squares = sum(errors[launch] ** 2 for launch in together)
        parts.append((squares * len(together) / (len(together) - 1), len(together) - 1.0))
    return added(parts)


def added(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The sum of variances, and its degrees of freedom, from those of each."""
    variance = sum(each for each, _ in parts)
    known = [(each, freedom) for each, freedom in parts if math.isfinite(freedom)]
    if variance <= 0:
        return 0.0, max(1.0, sum(freedom for _, freedom in known)) if parts else 0.0
    return variance, variance**2 / sum(each**2 / freedom for each, freedom in known)


def _deviations(seen: Observation) -> np.ndarray:
    """The logs of its launches less their mean, scaled so that the variance of the mean is that of the
    centre."""
    logs = seen.log_typical
    if len(logs) >= FEWEST_TO_WINSORISE:
        logs = winsorised(logs)
    return np.asarray((logs - logs.mean()) * math.sqrt(COST.get(len(logs), 1.0)))


def _sharing(cases: Sequence[Observation]) -> list[set[str]]:
    """The launches, in groups: launches with a case in common, also through others, are together."""
    groups: list[set[str]] = []
    for seen in cases:
        joined = set(seen.launches)
        apart = []
        for group in groups:
            if group & joined:
                joined |= group
            else:
                apart.append(group)
        groups = [*apart, joined]
    return groups
