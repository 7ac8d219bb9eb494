# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a case needs another launch, beyond those of the plan: decided by the interval that is printed, not
by that of one launch, or by another goal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hockney.core.case import Case
from hockney.core.record import RunRecords
from hockney.core.settings import Settings
from hockney.measurement.bench import Bench
from hockney.measurement.launch_order import Kind
from hockney.models.statistics import Observation, precision_of


@dataclass(frozen=True)
class Goal:
    """What the launches beyond the plan are for, other than precision. `open_cases` returns those of the
    cases that need more of them, by all records so far; `reserve` is the fraction of the budget that is kept
    for them."""

    open_cases: Callable[[Sequence[Case], RunRecords], Sequence[Case]]
    reserve: float


def imprecise_cases(
    cases: Sequence[Case], observations: Sequence[Observation], settings: Settings
) -> tuple[Case, ...]:
    """The measured cases that are not yet precise enough."""
    known = set(cases)
    reached = {seen.case: precision_of(seen) for seen in observations if seen.case in known}
    wanted = settings.precision
    return tuple(case for case, width in reached.items() if width is None or width > wanted)


class LaunchTurns:
    """Chooses the open cases that the next launch beyond the plan measures: all of them share their rank
    count, executable and launch setting. `planned` are the cases of the planned launches."""

    def __init__(self, bench: Bench, planned: Sequence[Case]) -> None:
        self.bench = bench
        self.planned = Counter(bench.launch_of(case) for case in planned)
        self.made: Counter[Kind] = Counter()

    def most_frequent(self, cases: Iterable[Case]) -> tuple[Case, ...]:
        """The largest group."""
        largest: list[Case] = max(self._groups(cases).values(), key=len, default=[])
        return tuple(largest)

    def next(self, cases: Iterable[Case]) -> tuple[Case, ...]:
        """The group that had the fewest launches here; of several, the largest."""
        groups = self._groups(cases)
        if not groups:
            return ()
        kind = min(groups, key=lambda each: (self.made[each], -len(groups[each])))
        self.made[kind] += 1
        return tuple(groups[kind])

    def part(self, cases: Sequence[Case]) -> float:
        """The number of these cases relative to those of a planned launch of the same kind."""
        return len(cases) / max(len(cases), self.planned[self.bench.launch_of(cases[0])]) if cases else 0.0

    def _groups(self, cases: Iterable[Case]) -> dict[Kind, list[Case]]:
        groups: dict[Kind, list[Case]] = {}
        for case in cases:
            groups.setdefault(self.bench.launch_of(case), []).append(case)
        return groups
