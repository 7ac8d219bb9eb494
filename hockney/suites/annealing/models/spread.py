# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How the computing times of rounds vary, from the rounds of one rank that did nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SAMPLES = 64
"""Of the rounds of all ranks: the means over them vary by a few percent of themselves."""
SEED = 1998


@dataclass(frozen=True)
class RoundSpread:
    """`typical` are the seconds of each round, `factors` those of each launch relative to them: a row for
    each launch, whose median is 1."""

    typical: np.ndarray
    factors: np.ndarray

    def sample(self, ranks: int, rounds: int, samples: int = SAMPLES) -> np.ndarray:
        """Factors by sample, rank and round. Each rank has those of a measured launch from a random round on,
        so that what lasts for several rounds does so here."""
        random = np.random.default_rng(SEED)
        launch = random.integers(len(self.factors), size=(samples, ranks, 1))
        first = random.integers(self.factors.shape[1], size=(samples, ranks, 1))
        return np.asarray(self.factors[launch, (first + np.arange(rounds)) % self.factors.shape[1]])


def spread(ends: Sequence[Sequence[float]]) -> RoundSpread | None:
    """How rounds vary, from the end of each round (s) in each launch. The typical time of a round is the
    median over the launches, since all ranks share what makes some temperatures take longer. What makes a
    launch slower as a whole is left out. None without rounds."""
    known = [np.diff(np.asarray(launch, dtype=float), prepend=0.0) for launch in ends if len(launch)]
    if not known:
        return None
    fewest = min(map(len, known))
    rounds = np.array([launch[:fewest] for launch in known])
    relative = rounds / np.maximum(np.median(rounds, axis=1, keepdims=True), 1e-12)
    typical = np.maximum(np.median(relative, axis=0), 1e-12)
    factors = relative / typical
    factors /= np.maximum(np.median(factors, axis=1, keepdims=True), 1e-12)
    return RoundSpread(typical * float(np.median(rounds)), factors)
