# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which links between nodes are slow, and which slowdown of a link a run would find.

Delays only add to times, so noise is skewed, and among hundreds of links the t distribution of few launches
gives too small p-values. A link must therefore also be slow among all links: its sum over the launches is
compared with sums of the effects of links drawn at random in each launch (a permutation test; R. A. Fisher,
The Design of Experiments, 1935). In few launches of few links, no link can be significant by this test.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hockney.models.node_effects import (
    FALSE_SHARE,
    MIN_NODES_FOR_PAIRS,
    NORMAL_DEVIATION,
    POWER,
    Effects,
    row_medians,
)

LINK_SHARE = 1.7
"""The share of the effect of a slow link that is attributed to its nodes is about this number divided by the
number of a node's links (benchmarks/nodes.py)."""
CLIP = 6.0
"""Limit of effects in the permutation test, in standard deviations of a launch."""
GRID_POINTS, COARSE_GRID_POINTS = 1 << 13, 1 << 10
"""Different effects of a launch in the permutation test, and in the calculation of its power."""
BISECTIONS = 12


def link_p_values(values: np.ndarray, effects: Effects) -> np.ndarray:
    """One-sided p-values of slow links, from their effects in each launch (launches, links; nan where
    unknown) and over all launches: the larger one of the t test and of the permutation test."""
    return np.maximum(effects.p_slower, permutation_p_values(values))


def permutation_p_values(values: np.ndarray) -> np.ndarray:
    """One-sided p-values of slow links from effects of shape (launches, links), nan where unknown: the
    probability that the sum over a link's launches is as large if the link in each launch is drawn from all.
    Effects are clipped at `CLIP` standard deviations of a launch, so that a disturbed launch has no more
    weight than others."""
    p_values = np.full(values.shape[1], np.nan)
    for selected, launches in _with_same_launches(values):
        rows = [_clipped(row) for row in values[launches]]
        sums = np.sum([row[selected] for row in rows], axis=0)
        p_values[selected] = _SumOfDraws.of(rows, GRID_POINTS).tail(sums)
    return p_values


def detectable_links(values: np.ndarray, effects: Effects, tests: int, nodes: int) -> np.ndarray:
    """The smallest log slowdown of each link that is named with probability `POWER`, as the only one among
    `tests` tests; nan if unknown, or if no link of so few launches can be named. A part of the effect of a
    link is attributed to its nodes."""
    named_from = effects.named_from(tests)
    smallest = named_from + 1.1 * effects.half_width(POWER)
    # with long tails, the variances of links differ more than their median shows
    missing = named_from - effects.log_ratio
    if np.isfinite(missing).any():
        smallest = np.maximum(smallest, np.nanquantile(missing, POWER))
    # of 4 nodes, the link between the other two has the same effect, apart from effects of nodes
    alike = 2 if nodes == MIN_NODES_FOR_PAIRS else 1
    for selected, launches in _with_same_launches(values):
        rows = [row[np.isfinite(row)] for row in values[launches]]
        significant = _detectable_by_permutation(rows, FALSE_SHARE / max(1, tests), alike)
        smallest[selected] = np.maximum(smallest[selected], significant)
    return np.asarray(smallest / (1 - min(0.9, LINK_SHARE / (nodes - 1))))


def _detectable_by_permutation(rows: Sequence[np.ndarray], p_value: float, alike: int) -> float:
    """The smallest log slowdown with at most this p-value with a probability of `POWER`; nan if there is
    none. Links that are slow `alike` take the places of median ones, and their sums vary like those of random
    links."""
    rows = [np.sort(row) for row in rows]
    middles = [len(row) // 2 for row in rows]
    typical = sum(float(row[middle]) for row, middle in zip(rows, middles, strict=True))
    draws = _SumOfDraws.of([_clipped(row) for row in rows], COARSE_GRID_POINTS)
    bad_luck = (typical - draws.quantile(1 - POWER)) / len(rows)

    def is_found(slowdown: float) -> bool:
        changed = [row.copy() for row in rows]
        for row, middle in zip(changed, middles, strict=True):
            row[middle : middle + alike] = row[middle] + slowdown - bad_luck
        changed = [_clipped(row) for row in changed]
        own = sum(float(row[middle]) for row, middle in zip(changed, middles, strict=True))
        return float(_SumOfDraws.of(changed, COARSE_GRID_POINTS).tail(np.array([own]))[0]) <= p_value

    low, high = 0.0, 2 * max(float(np.abs(row).max()) for row in rows) + 2 * bad_luck
    if not is_found(high):
        return math.nan
    for _ in range(BISECTIONS):
        between = (low + high) / 2
        low, high = (low, between) if is_found(between) else (between, high)
    return high


def _with_same_launches(values: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The links that are known in the same launches, as a mask, and a mask of these launches."""
    known = np.isfinite(values)
    for launches in np.unique(known, axis=1).T:
        if launches.any():
            yield (known == launches[:, None]).all(axis=0), launches


def _clipped(effects: np.ndarray) -> np.ndarray:
    """The effects in a launch, clipped at `CLIP` standard deviations."""
    limit = CLIP * NORMAL_DEVIATION * float(row_medians(np.abs(effects)))
    return np.clip(effects, -limit, limit) if limit > 0 else effects


@dataclass(frozen=True)
class _SumOfDraws:
    """The distribution of the sum of a value drawn from each of several rows, as the convolution of their
    distributions on a grid that rounds up. `tails` are the probabilities of at least the sum `low` plus a
    multiple of `step`."""

    low: float
    step: float
    tails: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[np.ndarray], points: int) -> _SumOfDraws:
        known = [row[np.isfinite(row)] for row in rows]
        lows = [float(row.min()) for row in known]
        step = max(float(np.ptp(row)) for row in known) / (points - 1)
        if step == 0:
            return cls(sum(lows), 1.0, np.ones(1))
        size = 1 << (len(rows) * points).bit_length()
        product = np.ones(size // 2 + 1, dtype=complex)
        for row, low in zip(known, lows, strict=True):
            counts = np.bincount(np.ceil((row - low) / step).astype(int), minlength=points)
            product *= np.fft.rfft(counts / len(row), size)
        tails = np.cumsum(np.maximum(0.0, np.fft.irfft(product, size))[::-1])[::-1]
        return cls(sum(lows), step, np.minimum(1.0, tails))

    def tail(self, sums: np.ndarray) -> np.ndarray:
        """The probabilities of at least these sums."""
        places = np.floor((sums - self.low) / self.step).astype(int)
        return np.asarray(self.tails[np.clip(places, 0, len(self.tails) - 1)])

    def quantile(self, probability: float) -> float:
        return self.low + self.step * int(np.searchsorted(-self.tails, probability - 1))
