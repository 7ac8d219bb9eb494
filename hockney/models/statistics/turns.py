# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratio of the times of two cases with different launch settings.

No launch measures both, but their launches alternate: the k-th launch of one is compared with the k-th of the
other, so that slow changes of the machine, which affect both, cancel in each pair's ratio. The interval is
that of the centre of these ratios (`location`)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.statistics.estimates import WIDEST, estimate
from hockney.models.statistics.location import center, half_width
from hockney.models.statistics.observations import Observation
from hockney.models.statistics.ratios import FEWEST_PAIRS, paired, ratio


def ratio_in_turns(of: Observation, over: Observation) -> Estimate:
    """The typical time of `of` divided by that of `over`; the interval contains it. With few launches it is
    computed from the intervals of both times. Unknown ends are None."""
    count = min(len(of.launches), len(over.launches))
    plain = ratio(of, over)
    if count < FEWEST_PAIRS:
        return plain
    first = slice(count)
    logs = of.log_typical[first] - over.log_typical[first]
    middle, below, above = paired(logs, of.half_widths(first), over.half_widths(first))
    low, high = float(np.exp(middle - below)), float(np.exp(middle + above))
    if not high <= WIDEST * low:
        return Estimate(plain.value, None, None)
    return estimate(plain.value, min(low, plain.value), max(high, plain.value))


def mean_ratio_in_turns(of: Mapping[int, Observation], over: Mapping[int, Observation]) -> Estimate:
    """The ratio of the geometric means over the sizes that both have, computed for each launch and compared
    as in `ratio_in_turns`. The interval is that between launches."""
    sizes = sorted(of.keys() & over.keys())
    means, over_means = _means(of, sizes), _means(over, sizes)
    count = min(len(means), len(over_means))
    if count < FEWEST_PAIRS:
        apart = [of[size].log_center - over[size].log_center for size in sizes]
        return Estimate(float(np.exp(np.mean(apart))), None, None)
    logs = means[:count] - over_means[:count]
    middle, width = float(center(logs)), float(half_width(logs, np.nan))
    return estimate(*(float(np.exp(middle + side * width)) for side in (0, -1, 1)))


def _means(seen: Mapping[int, Observation], sizes: list[int]) -> np.ndarray:
    """Log of the mean over the sizes, in each launch that measured all of them, in order."""
    of = [dict(zip(seen[size].launches, seen[size].log_typical, strict=True)) for size in sizes]
    launches = [launch for launch in seen[sizes[0]].launches if all(launch in each for each in of)]
    return np.array([np.mean([each[launch] for each in of]) for launch in launches])
