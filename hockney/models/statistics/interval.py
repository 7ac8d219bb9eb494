# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The median of one launch's repetitions with its rank-based 95% interval, corrected for autocorrelation.

Order statistics need no assumption about the shape of the distribution, but they do need independent
repetitions (Hoefler and Belli, 'Scientific Benchmarking of Parallel Computing Systems', SC'15), and
consecutive message times are not: slow modes, drift and neighbors last for many repetitions. The number of
repetitions is therefore divided by tau, the factor by which the variance of the count below the median
exceeds that of independent repetitions, measured by batch means. The length of the blocks comes from the
data: the shortest that is long compared with the correlation, length**3 >= 2 n tau**2 (Wolff, Comput. Phys.
Commun. 156 (2004) 143; Lee et al., Phys. Rev. E 83 (2011) 066706), here with 4 instead of 2, which covered as
well or slightly better in most simulations.

The engine's stop rule computes the same, bit for bit, in IEEE doubles without fused operations. With times
x[0..n-1] in the order measured, s the same times sorted, division of integers rounding down:

    median  = s[n/2] if n is odd, else (s[n/2 - 1] + s[n/2]) / 2
    if n < 6: no interval
    sign[i] = 1 if x[i] > median, -1 if x[i] < median, 0 if equal           (integers)
    tau = 1.0;  z = 1.96;  length = 2
    while n/length >= 7:
        blocks  = n / length                          the last n - blocks*length signs are in no block
        squares = sum over blocks of (sum of the block's signs)**2            (an integer, exact)
        ratio   = double(squares) / double((blocks - 1) * length)
        ratio   = ratio * (1.0 + ratio / double(length))
        if ratio > 1.0:
            v = double(blocks - 1)
            tau = ratio;  z = 1.96 + (2.3723 + (2.8225 + 2.5562 / v) / v) / v
        else:
            tau = 1.0;  z = 1.96
        if double(length**3) >= 4.0 * double(n) * tau * tau: stop the loop
        length = 2 * length
    rank = floor((n + 1) * 0.5 - z * 0.5 * sqrt(n * tau))
    if rank < 1: rank = 1
    low = s[rank - 1];  high = s[n - rank]

The second line of ratio corrects for blocks of finite length: for a correlation that decays exponentially
they give tau (1 - tau / (2 length)), solved for tau to first order and, since all higher orders widen it,
without the half. z is Student's t quantile for blocks - 1 degrees of freedom (Abramowitz and Stegun 26.7.5),
since tau is itself estimated; it falls back to the normal quantile if there is no sign of correlation. If the
correlation lasts as long as the launch, the interval is the whole range and still covers less than 95%; only
more launches help. Ties need no special care: equal times only make the interval wider than needed.
`contract/golden/median_interval.json` contains examples used by the tests of both languages."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

MIN_REPETITIONS = 6
MIN_BLOCKS = 7


def median_interval(times: Sequence[float]) -> tuple[float, float | None, float | None]:
    """(median, low, high) of times in the order measured; low and high are None below 6 repetitions.
    `times` must not be empty."""
    return interval_and_quantile(times)[:3]


def interval_and_quantile(times: Sequence[float]) -> tuple[float, float | None, float | None, float]:
    """(median, low, high, z): `median_interval` with the quantile z, which exceeds 1.96 if the correlation
    was estimated from few blocks."""
    x = np.asarray(times, dtype=float)
    s = np.sort(x)
    n = len(s)
    median = float(s[n // 2] if n % 2 else (s[n // 2 - 1] + s[n // 2]) / 2)
    if n < MIN_REPETITIONS:
        return median, None, None, 1.96
    tau, z = estimate_correlation((x > median).astype(np.int64) - (x < median))
    rank = max(math.floor((n + 1) * 0.5 - z * 0.5 * math.sqrt(n * tau)), 1)
    return median, float(s[rank - 1]), float(s[n - rank]), z


def estimate_correlation(sign: np.ndarray) -> tuple[float, float]:
    """(tau, z) as defined in the module docstring for the signs of times minus their median, or for other
    values with mean 0 and variance 1."""
    n = len(sign)
    tau, z = 1.0, 1.96
    length = 2
    while n // length >= MIN_BLOCKS:
        blocks = n // length
        sums = sign[: blocks * length].reshape(blocks, length).sum(axis=1)
        ratio = float(np.dot(sums, sums)) / float((blocks - 1) * length)
        ratio = ratio * (1.0 + ratio / float(length))
        tau, z = 1.0, 1.96
        if ratio > 1.0:
            v = float(blocks - 1)
            tau, z = ratio, 1.96 + (2.3723 + (2.8225 + 2.5562 / v) / v) / v
        if float(length**3) >= 4.0 * float(n) * tau * tau:
            break
        length *= 2
    return tau, z
