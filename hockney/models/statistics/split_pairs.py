# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Pairs of launches of two sides, both in the same mode of the machine.

If a machine is fast in some launches and slow in others, for all cases at once, it splits pairs: A was fast
and B slow, or the reverse. Their ratios are off by the ratio of the modes. The centre of the pairs
(`pair_center`) gives no weight to a few of them, but where half are split, nothing is left of what pairs are
for. Two pairs that are split in opposite directions hold two whole ones, A and B fast and A and B slow, so
they exchange their launches of B. For a case without modes nothing changes on average: what one pair gains,
the other loses.

The mode of a launch comes from all its cases, on both sides together, without the typical difference of the
sides in each case, which is no mode. If B is slow significantly more often than A, or less (the sign test on
the split pairs), or all pairs are split in one direction, this may be what differs between the sides: there
is nothing to exchange, and all pairs stay as they ran. Otherwise the split pairs that are left over do not
count, and ratios are those within a mode."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hockney.models.statistics.launch_modes import find_two_levels
from hockney.models.statistics.location import Z
from hockney.models.statistics.observations import Observation, shared_launches
from hockney.models.statistics.paired_launches import MANY_OUTLIERS
from hockney.models.statistics.ratio_estimate import sign_probability
from hockney.models.statistics.variance_components import PooledCase

FEWEST_PAIRS = 16
"""With fewer pairs, intervals of exchanged ones contain the truth in 88 to 92% of simulations."""
CERTAIN = 0.01
"""Pairs are not split so unevenly by chance. A false alarm here would be one about all cases."""
UNCLEAR = 0.25
"""The probability of three split pairs in one direction and none in the other: too uneven a split for both
sides to take the same time (`comparison`)."""


@dataclass(frozen=True)
class MachineModes:
    """The modes of the machine in `pairs` pairs of launches, of which it split more than a fifth. `slow` is
    the number of launches of A and of B in the slow mode, which takes `factor` times as long, in the mean of
    the cases. `split` is the number of pairs in which only B was slow, and of those in which only A was.
    `partners` are the split pairs, each with the pair from which its launch of B comes, or None if it does
    not count."""

    pairs: int
    slow: tuple[int, int]
    factor: float
    split: tuple[int, int]
    partners: Mapping[str, str | None]

    @property
    def exchanged(self) -> int:
        """The number of pairs that exchanged their launches of B."""
        return sum(partner is not None for partner in self.partners.values())

    @property
    def uneven(self) -> bool:
        """Whether one side was slow so much more often that both may not take the same time."""
        return _probability(self.split) <= UNCLEAR

    @property
    def share_bound(self) -> float:
        """The largest difference of the shares of slow launches of A and B that the pairs leave open
        (95%)."""
        b, a = self.split
        error = Z * math.sqrt(max(1.0, b + a - (b - a) ** 2 / self.pairs))
        return min(1.0, (abs(b - a) + error) / self.pairs)


def machine_modes(a: Sequence[Observation], b: Sequence[Observation]) -> MachineModes | None:
    """The modes of the machine, from launches of A and B with the same names, which are pairs; each side has
    the same cases in the same order. None if pairs stay as they ran."""
    names, values = _slowness(a, b)
    levels = find_two_levels(values.ravel()) if len(names) >= FEWEST_PAIRS else None
    if levels is None:
        return None
    of_a, of_b = levels.of(values)
    direction = np.where(of_a * of_b < 0, of_b, 0)
    split = (int(np.count_nonzero(direction > 0)), int(np.count_nonzero(direction < 0)))
    few = sum(split) <= MANY_OUTLIERS * len(names)
    if few or min(split) == 0 or _probability(split) <= CERTAIN:
        return None
    slow = (int(np.count_nonzero(of_a > 0)), int(np.count_nonzero(of_b > 0)))
    factor = math.exp(levels.high - levels.low)
    return MachineModes(len(names), slow, factor, split, _partners(names, direction))


def exchange_launches(case: PooledCase, partners: Mapping[str, str | None]) -> PooledCase:
    """This case of B, with its launches in the pairs of their partners; those without one are in none."""

    def renamed(observation: Observation) -> Observation:
        names = ((name, partners.get(name, name)) for name in observation.launches)
        return replace(
            observation, launches=tuple(f"{name} alone" if to is None else to for name, to in names)
        )

    runs = {number: renamed(observation) for number, observation in case.runs.items()}
    return PooledCase(runs, renamed(case.pooled))


def _slowness(a: Sequence[Observation], b: Sequence[Observation]) -> tuple[list[str], np.ndarray]:
    """The names of all pairs, and how slow their launches of A and of B were, in the mean of their cases:
    logs relative to the median of the case, without its median difference between the sides."""
    by_pair: dict[str, list[np.ndarray]] = {}
    for of_a, of_b in zip(a, b, strict=True):
        names = shared_launches((of_a, of_b))
        if names:
            logs = np.array(
                [observation.log_typical[observation.indices_of(names)] for observation in (of_a, of_b)]
            )
            logs[1] -= np.median(logs[1] - logs[0])
            logs -= np.median(logs)
            for name, pair in zip(names, logs.T, strict=True):
                by_pair.setdefault(name, []).append(pair)
    return list(by_pair), np.array([np.mean(pairs, axis=0) for pairs in by_pair.values()]).T


def _probability(split: tuple[int, int]) -> float:
    return sign_probability(sum(split), split[0])


def _partners(names: Sequence[str], direction: np.ndarray) -> dict[str, str | None]:
    """Each split pair with the nearest one of the opposite direction that is free."""
    free: list[int] = []
    partners: dict[str, str | None] = {}
    for index in map(int, np.flatnonzero(direction)):
        if free and direction[free[-1]] != direction[index]:
            earlier = free.pop()
            partners[names[index]], partners[names[earlier]] = names[earlier], names[index]
        else:
            free.append(index)
    return partners | {names[index]: None for index in free}
