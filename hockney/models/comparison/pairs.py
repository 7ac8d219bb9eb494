# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cases as both sides measured them, and what launches in pairs allow.

The cases of interleaved comparisons by pairs of launches in the same mode of the machine (`MachineModes`).
Each run, and each number of ranks, has its own modes: it has its own launches.

Cases of interleaved comparisons relative to operations that did not change.

What makes a launch slow makes all its cases slow, so the ratios of a pair of launches have an error in
common, which is often most of their error. It cancels in the ratio to those of other operations. So a change
of one operation shows up long before its own ratio is certain. A change of all of them does not show up.

The operations to which others are compared are those that take the same time relative to each other: starting
with all of them, the one whose difference from the rest is most significant is left out until none is
(Bonferroni). At least half of the operations remain, and two; otherwise there is nothing to compare with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hockney.core.case import Case
from hockney.models.comparison.verdicts import LEVEL
from hockney.models.statistics import (
    MachineModes,
    PooledCase,
    RatioEstimate,
    common_pairs,
    exchanged,
    machine_modes,
    ratio_of_pairs,
)

Operation = tuple[str, str]
"""A workload, and the level of its ranks."""


@dataclass(frozen=True)
class Pair:
    """A case as A and B measured it, on ranks at this `level`."""

    case: Case
    a: PooledCase
    b: PooledCase
    level: str = ""

    @property
    def operation(self) -> Operation:
        return self.case.workload, self.level


def in_same_mode(pairs: Sequence[Pair]) -> tuple[list[Pair], tuple[MachineModes, ...]]:
    """The same cases, and the modes that were found."""
    groups: dict[tuple[int, int], list[Pair]] = {}
    for pair in pairs:
        for run in pair.a.runs.keys() & pair.b.runs.keys():
            groups.setdefault((run, pair.case.ranks), []).append(pair)
    partners: dict[int, dict[str, str | None]] = {}
    found = []
    for (run, ranks), group in groups.items():
        modes = machine_modes([each.a.runs[run] for each in group], [each.b.runs[run] for each in group])
        if modes is not None:
            found.append(modes)
            partners.setdefault(ranks, {}).update(modes.partners)
    same = [replace(pair, b=exchanged(pair.b, partners.get(pair.case.ranks, {}))) for pair in pairs]
    return same, tuple(found)


FEWEST_OPERATIONS = 3
FEWEST_PAIRS = 8
"""Of launches. With fewer, operations that changed are rarely told from others."""


@dataclass(frozen=True)
class Relative:
    """The ratio of each case, in the order given, and of each operation, to the mean of the `reference`
    operations without its own."""

    cases: tuple[RatioEstimate, ...]
    operations: Mapping[Operation, RatioEstimate]
    reference: tuple[Operation, ...]


def relative(pairs: Sequence[Pair]) -> Relative | None:
    """The ratios of cases and operations, whose launches are paired, relative to operations that did not
    change. None if a side of a case has several runs, if there are too few operations, or pairs of launches
    that measured all cases, or if most operations differ from each other."""
    if not all(len(pair.a.runs) == len(pair.b.runs) == 1 for pair in pairs):
        return None
    names = common_pairs([(pair.b, pair.a) for pair in pairs])
    by_operation: dict[Operation, list[int]] = {}
    for place, pair in enumerate(pairs):
        by_operation.setdefault(pair.operation, []).append(place)
    if len(by_operation) < FEWEST_OPERATIONS or len(names) < FEWEST_PAIRS:
        return None
    logs = np.array([_logs(pair, names) for pair in pairs])
    means = {operation: logs[places].mean(axis=0) for operation, places in by_operation.items()}
    reference = _reference(means)
    if reference is None:
        return None
    others = {each: _mean(means, reference, without=each) for each in means}
    cases = tuple(ratio_of_pairs(of - others[pair.operation]) for pair, of in zip(pairs, logs, strict=True))
    return Relative(
        cases, {each: ratio_of_pairs(mean - others[each]) for each, mean in means.items()}, tuple(reference)
    )


def _logs(pair: Pair, names: Sequence[str]) -> np.ndarray:
    a, b = pair.a.whole, pair.b.whole
    return b.log_typical[b.places(names)] - a.log_typical[a.places(names)]


def _mean(means: Mapping[Operation, np.ndarray], of: Sequence[Operation], without: Operation) -> np.ndarray:
    return np.mean([means[each] for each in of if each != without], axis=0)


def _reference(means: Mapping[Operation, np.ndarray]) -> list[Operation] | None:
    """The operations that take the same time relative to each other; None if most of them do not."""
    left = list(means)
    fewest = max(2, math.ceil(len(left) / 2))
    while True:
        ratios = {each: ratio_of_pairs(means[each] - _mean(means, left, without=each)) for each in left}
        significance = {each: _differs(ratio) for each, ratio in ratios.items()}
        least = min(left, key=significance.__getitem__)
        if significance[least] * len(left) > LEVEL:
            return left
        if len(left) == fewest:
            return None
        left.remove(least)


def _differs(ratio: RatioEstimate) -> float:
    above, below = ratio.p_above(1.0), ratio.p_below(1.0)
    return 1.0 if above is None or below is None else min(above, below)
