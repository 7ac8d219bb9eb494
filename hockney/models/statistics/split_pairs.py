# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Regroups pairs of launches of two sides so that both launches are in the same mode of the machine.

If a machine is fast in some launches and slow in others, for all cases at once, it splits pairs: A was fast
and B slow, or the reverse. Their ratios are off by the ratio of the modes. The centre of the pairs
(`pair_center`) gives no weight to a few split pairs, but if half are split, pairing is useless. Two pairs
split in opposite directions contain two unsplit pairs, one with both launches fast and one with both slow, so
they exchange their launches of B. For a case without modes nothing changes on average.

The mode of a launch is determined from all its cases on both sides, after removing the typical difference
between the sides in each case. If B is slow significantly more or less often than A (the sign test on the
split pairs), or all pairs are split in one direction, the modes may be the difference between the sides. Then
nothing is exchanged. Otherwise the remaining split pairs do not count, and ratios are those within a mode."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hockney.models.statistics.launch_modes import find_two_levels
from hockney.models.statistics.location import Z
from hockney.models.statistics.observations import Observation, shared_launches
from hockney.models.statistics.paired_launches import MAX_OUTLIER_SHARE
from hockney.models.statistics.ratio_estimate import sign_probability
from hockney.models.statistics.variance_components import PooledCase

MIN_PAIRS = 16
"""With fewer pairs, intervals of exchanged pairs contain the truth in only 88 to 92% of simulations."""
CERTAIN_LEVEL = 0.01
"""Below this probability, the uneven split is not due to chance. A false alarm here would affect all
cases."""
UNCLEAR_LEVEL = 0.25
"""The probability of three split pairs in one direction and none in the other: too uneven for both sides to
take the same time (`comparison`)."""


@dataclass(frozen=True)
class MachineModes:
    """The modes of the machine in `pairs` pairs of launches, more than a fifth of which it split.
    `slow_counts` contains the numbers of launches of A and of B in the slow mode, which takes `factor` times
    as long on average over the cases. `split_counts` is the number of pairs in which only B was slow, and of
    those in which only A was. `partners` maps each split pair to the pair that provides its launch of B, or
    to None if it does not count."""

    pairs: int
    slow_counts: tuple[int, int]
    factor: float
    split_counts: tuple[int, int]
    partners: Mapping[str, str | None]

    @property
    def exchanged_count(self) -> int:
        """Number of pairs that exchanged their launches of B."""
        return sum(partner is not None for partner in self.partners.values())

    @property
    def is_uneven(self) -> bool:
        """Whether one side was slow so much more often that the sides may not take the same time."""
        return _split_probability(self.split_counts) <= UNCLEAR_LEVEL

    @property
    def share_bound(self) -> float:
        """Largest difference between the shares of slow launches of A and B compatible with the pairs
        (95%)."""
        split_b, split_a = self.split_counts
        half_width = Z * math.sqrt(max(1.0, split_b + split_a - (split_b - split_a) ** 2 / self.pairs))
        return min(1.0, (abs(split_b - split_a) + half_width) / self.pairs)


def find_machine_modes(cases_a: Sequence[Observation], cases_b: Sequence[Observation]) -> MachineModes | None:
    """Find the modes of the machine from launches of A and B. Launches with the same names are pairs, and
    both sides contain the same cases in the same order. None if the pairs need no exchange."""
    names, slowness = _slowness_by_pair(cases_a, cases_b)
    levels = find_two_levels(slowness.ravel()) if len(names) >= MIN_PAIRS else None
    if levels is None:
        return None
    modes_of_a, modes_of_b = levels.classify(slowness)
    direction = np.where(modes_of_a * modes_of_b < 0, modes_of_b, 0)
    split_counts = (int(np.count_nonzero(direction > 0)), int(np.count_nonzero(direction < 0)))
    has_few_splits = sum(split_counts) <= MAX_OUTLIER_SHARE * len(names)
    if has_few_splits or min(split_counts) == 0 or _split_probability(split_counts) <= CERTAIN_LEVEL:
        return None
    slow_counts = (int(np.count_nonzero(modes_of_a > 0)), int(np.count_nonzero(modes_of_b > 0)))
    factor = math.exp(levels.high - levels.low)
    return MachineModes(len(names), slow_counts, factor, split_counts, _match_partners(names, direction))


def exchange_launches(case: PooledCase, partners: Mapping[str, str | None]) -> PooledCase:
    """Return this case of B with its launches moved to the pairs of their partners. Launches without a
    partner become unpaired."""

    def rename_launches(observation: Observation) -> Observation:
        target_names = ((name, partners.get(name, name)) for name in observation.launches)
        return replace(
            observation,
            launches=tuple(f"{name} alone" if target is None else target for name, target in target_names),
        )

    renamed_runs = {number: rename_launches(observation) for number, observation in case.runs.items()}
    return PooledCase(renamed_runs, rename_launches(case.pooled))


def _slowness_by_pair(
    cases_a: Sequence[Observation], cases_b: Sequence[Observation]
) -> tuple[list[str], np.ndarray]:
    """The names of all pairs, and the slowness of their launches of A and of B, averaged over the cases: logs
    relative to the median of the case, without its median difference between the sides."""
    by_pair: dict[str, list[np.ndarray]] = {}
    for case_a, case_b in zip(cases_a, cases_b, strict=True):
        names = shared_launches((case_a, case_b))
        if names:
            logs = np.array(
                [observation.log_typical[observation.indices_of(names)] for observation in (case_a, case_b)]
            )
            logs[1] -= np.median(logs[1] - logs[0])
            logs -= np.median(logs)
            for name, pair_logs in zip(names, logs.T, strict=True):
                by_pair.setdefault(name, []).append(pair_logs)
    return list(by_pair), np.array([np.mean(logs_of_pair, axis=0) for logs_of_pair in by_pair.values()]).T


def _split_probability(split: tuple[int, int]) -> float:
    return sign_probability(sum(split), split[0])


def _match_partners(names: Sequence[str], direction: np.ndarray) -> dict[str, str | None]:
    """Match each split pair with the nearest unmatched pair of the opposite direction."""
    unmatched: list[int] = []
    partners: dict[str, str | None] = {}
    for index in map(int, np.flatnonzero(direction)):
        if unmatched and direction[unmatched[-1]] != direction[index]:
            earlier = unmatched.pop()
            partners[names[index]], partners[names[earlier]] = names[earlier], names[index]
        else:
            unmatched.append(index)
    return partners | {names[index]: None for index in unmatched}
