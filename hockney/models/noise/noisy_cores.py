# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which cores lose more time than the others.

For each core, the excess over the median of the other cores is computed in each of up to BLOCKS blocks of
consecutive observations; blocks are long, so that load that lasts some observations does not count several
times. A one-sided t-test asks whether the mean excess exceeds NOTABLE. Among all cores, the false discovery
rate is at most 5% (Benjamini and Hochberg, J. R. Stat. Soc. B 57 (1995) 289)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.models.noise.observations import Core
from hockney.models.scipy_functions import student_quantile, student_tail
from hockney.models.statistics import adjust_p_values

FALSE_DISCOVERIES = 0.05
POWER = 0.95
NOTABLE = 0.001
"""Fraction of the time. A smaller excess is not worth a name: interrupts are never spread evenly."""
BLOCKS = 8
MIN_BLOCKS = 3


@dataclass(frozen=True)
class Excess:
    """The time that a core loses beyond the other cores, as a fraction of the time; `p_value` of no notable
    excess, and the `detectable` excess: a core with this one is named in 95% of such runs."""

    core: str
    excess: float
    p_value: float
    detectable: float
    is_noisy: bool


def compare_cores(cores: Sequence[Core]) -> tuple[Excess, ...]:
    """Compare every core with the others. Empty if there is one core, or too few observations."""
    count = min((len(core.observations) for core in cores), default=0)
    blocks = min(BLOCKS, count)
    if len(cores) < 2 or blocks < MIN_BLOCKS:
        return ()
    shares = np.array([core.shares[:count] for core in cores])
    means = np.stack([part.mean(axis=1) for part in np.array_split(shares, blocks, axis=1)], axis=1)
    excess = means - np.array([np.median(np.delete(means, k, axis=0), axis=0) for k in range(len(cores))])
    mean, error = excess.mean(axis=1), excess.std(axis=1, ddof=1) / np.sqrt(blocks)
    error = np.maximum(error, 1e-12)
    p_values = [student_tail(blocks - 1, (m - NOTABLE) / e) for m, e in zip(mean, error, strict=True)]
    critical = student_quantile(blocks - 1, 1 - FALSE_DISCOVERIES / len(cores))
    margin = critical + student_quantile(blocks - 1, POWER)
    adjusted = adjust_p_values(p_values)
    return tuple(
        Excess(
            core.name,
            float(mean[k]),
            p_values[k],
            float(NOTABLE + margin * error[k]),
            adjusted[k] <= FALSE_DISCOVERIES,
        )
        for k, core in enumerate(cores)
    )
