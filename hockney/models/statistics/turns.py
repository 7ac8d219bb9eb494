# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratio of the times of two cases with different launch settings.

No launch measures both, but their launches take turns: the k-th launch of one is compared with the k-th of
the other, so that slow changes of the machine, which both see, cancel in each pair's ratio. The interval is
that of the centre of these ratios (`location`)."""

from __future__ import annotations

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.statistics.estimates import WIDEST, estimate
from hockney.models.statistics.location import Z, center, half_width, of_mean
from hockney.models.statistics.observations import Observation
from hockney.models.statistics.ratios import FEWEST_PAIRS, ratio


def ratio_in_turns(of: Observation, over: Observation) -> Estimate:
    """The typical time of `of` divided by that of `over`; the interval contains it. With few launches it is
    computed from the intervals of both times. Unknown ends are None."""
    count = min(len(of.launches), len(over.launches))
    plain = ratio(of, over)
    if count < FEWEST_PAIRS:
        return plain
    logs = of.log_typical[:count] - over.log_typical[:count]
    below = np.hypot(_scaled(of, of.below)[:count], _scaled(over, over.above)[:count])
    above = np.hypot(_scaled(of, of.above)[:count], _scaled(over, over.below)[:count])
    middle = float(center(logs))
    low = float(np.exp(middle - float(half_width(logs, of_mean(below)))))
    high = float(np.exp(middle + float(half_width(logs, of_mean(above)))))
    if not high <= WIDEST * low:
        return Estimate(plain.value, None, None)
    return estimate(plain.value, min(low, plain.value), max(high, plain.value))


def _scaled(seen: Observation, half_widths: np.ndarray) -> np.ndarray:
    """Each launch's half widths, rescaled to the normal quantile."""
    return half_widths / seen.quantile * Z
