# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How far a new run is from earlier ones, and how far it may be: a prediction interval.

Runs are the units. With the logarithms of n earlier runs, their robust centre m and variance s², a new run is
expected within m ± t(n - 1) sqrt(s² (1 + 1/n)). If its own interval is wider than those of the earlier runs
on average, the difference of the variances is added: it may have fewer launches."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hockney.models.statistics.location import FEWEST_TO_WINSORISE, Z, center, student, winsorised
from hockney.models.statistics.ratio_estimate import RatioEstimate


def ratio_to_usual(
    earlier: Sequence[float], new: float, earlier_half: Sequence[float] = (), new_half: float = math.nan
) -> RatioEstimate:
    """The new run divided by the earlier ones (logarithms), with the 95% interval of that ratio if nothing
    changed but the run, around the ratio. `earlier_half` and `new_half` are half widths of the 95% intervals
    inside the runs, nan if unknown. Without an interval if there are fewer than two earlier runs."""
    logs = np.asarray(earlier, dtype=float)
    log = float(new - center(logs))
    count = len(logs)
    if count < 2:
        return RatioEstimate.of(log, log, math.nan, math.nan, 1.0)
    kept = winsorised(logs) if count >= FEWEST_TO_WINSORISE else logs
    between = float(kept.var(ddof=1))
    halves = np.asarray(earlier_half, dtype=float)
    within = float(np.nanmean((halves / Z) ** 2)) if np.isfinite(halves).any() else math.nan
    more = (new_half / Z) ** 2 - within
    variance = between * (1 + 1 / count) + (max(0.0, more) if math.isfinite(more) else 0.0)
    half = student(count - 1.0) * math.sqrt(variance)
    return RatioEstimate.of(log, log, half, half, count - 1.0)
