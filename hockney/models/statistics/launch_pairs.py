# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Pairs of launches of two sides, both in the same mode of the machine.

If a machine is fast in some launches and slow in others, for all cases at once, it splits pairs: A was fast
and B slow, or the reverse. Their ratios are off by the ratio of the modes. The centre of the pairs
(`pair_center`) gives no weight to a few of them, but where half are split, nothing is left of what pairs are
for. Two pairs that are split in opposite directions hold two whole ones, A and B fast and A and B slow, so
they exchange their launches of B. For a case without modes nothing changes on average: what one pair gains,
the other loses.

The mode of a launch comes from all its cases, on both sides together. So a single slower operation does not
decide it, and if all are slower, that does not look like a mode unless it is as large as one; then all pairs
are split in the same direction. If B is slow significantly more often than A, or less (the sign test on the
split pairs), or all pairs are split in one direction, this may be what differs between the sides, and all
pairs stay as they ran. Otherwise the split pairs that are left over do not count, and ratios are those within
a mode."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hockney.models.statistics.launch_modes import TwoLevels, two_levels
from hockney.models.statistics.location import Z
from hockney.models.statistics.observations import Observation
from hockney.models.statistics.pair_center import MANY_OUTLIERS, sign_probability

FEWEST_PAIRS = 6
"""With fewer pairs, modes are not looked for."""
CERTAIN = 0.01
"""Pairs are not split so unevenly by chance. A false alarm here would be one about all cases."""
UNCLEAR = 0.25
"""As improbable as three split pairs in one direction and none in the other: too uneven a split for both
sides to take the same time (`comparison.verdicts`)."""


@dataclass(frozen=True)
class MachineModes:
    """The modes of the machine in so many pairs of launches, of which it split more than a fifth. `slow` is
    the number of launches of A and of B in the slow mode, which takes `factor` times as long, in the mean of
    the cases. `split` is the number of pairs in which only B was slow, and of those in which only A was.
    `partners` are the split pairs, each with the pair from which its launch of B comes, or None if it does
    not count; empty if pairs stay as they ran."""

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
    """Of launches of A and B with the same names, which are pairs; each side has the same cases in the same
    order. None without two clear modes."""
    slowness = [_slowness(sides) for sides in (_Values.of(a, b), _Values.of(b, a))]
    names = [name for name in slowness[0] if name in slowness[1]]
    if len(names) < FEWEST_PAIRS:
        return None
    values = np.array([[side[name] for name in names] for side in slowness])
    levels = two_levels(values.ravel())
    if levels is None:
        return None
    return _of_levels(names, values, levels)


def exchanged(launches: Iterable[str], partners: Mapping[str, str | None]) -> tuple[str, ...]:
    """The names of the pairs to which these launches of B belong; one without a partner gets a name that no
    launch of A has."""
    found = ((name, partners.get(name, name)) for name in launches)
    return tuple(f"{name} alone" if pair is None else pair for name, pair in found)


@dataclass(frozen=True)
class _Values:
    """A case's launches on one side, relative to its median over both."""

    launches: tuple[str, ...]
    logs: np.ndarray

    @staticmethod
    def of(side: Sequence[Observation], other: Sequence[Observation]) -> list[_Values]:
        return [
            _Values(
                seen.launches,
                seen.log_typical - np.median(np.concatenate([seen.log_typical, over.log_typical])),
            )
            for seen, over in zip(side, other, strict=True)
        ]


def _slowness(cases: Sequence[_Values]) -> dict[str, float]:
    """Of each launch, in the mean of its cases."""
    found: dict[str, list[float]] = {}
    for case in cases:
        for name, log in zip(case.launches, case.logs, strict=True):
            found.setdefault(name, []).append(float(log))
    return {name: float(np.mean(logs)) for name, logs in found.items()}


def _of_levels(names: Sequence[str], values: np.ndarray, levels: TwoLevels) -> MachineModes | None:
    of_a, of_b = levels.of(values)
    direction = np.where(of_a * of_b < 0, of_b, 0)
    split = (int(np.count_nonzero(direction > 0)), int(np.count_nonzero(direction < 0)))
    if sum(split) <= MANY_OUTLIERS * len(names):
        return None
    slow = (int(np.count_nonzero(of_a > 0)), int(np.count_nonzero(of_b > 0)))
    as_they_ran = min(split) == 0 or _probability(split) <= CERTAIN
    partners = {} if as_they_ran else _partners(names, direction)
    return MachineModes(len(names), slow, math.exp(levels.high - levels.low), split, partners)


def _probability(split: tuple[int, int]) -> float:
    return sign_probability(sum(split), split[0])


def _partners(names: Sequence[str], direction: np.ndarray) -> dict[str, str | None]:
    """Each split pair with the nearest one of the opposite direction that is free."""
    free: list[int] = []
    partners: dict[str, str | None] = {}
    for place in map(int, np.flatnonzero(direction)):
        if free and direction[free[-1]] != direction[place]:
            earlier = free.pop()
            partners[names[place]], partners[names[earlier]] = names[earlier], names[place]
        else:
            free.append(place)
    return partners | {names[place]: None for place in free}
