# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The launches of a run: which cases they measure, in which order, and when the run stops.

A run consists of rounds of launches; each round measures every case once (`schedule`). Rounds follow one
another, or start every `every_s` (`Rounds`). Between rounds, sizes may be added where a cost changes
(`Refinement`). After the last planned launch, cases that are not precise enough get further launches while
time remains (`imprecise_cases`).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from hockney.core.case import Case
from hockney.core.notice import Notice
from hockney.core.record import RunRecords
from hockney.core.settings import MIN_LAUNCHES, Settings
from hockney.core.units import format_seconds
from hockney.core.wording import option
from hockney.measurement.bench import Bench
from hockney.measurement.events import Listener, Waiting
from hockney.models.refined_sizes import sizes_between
from hockney.models.statistics import Observation, relative_precision
from hockney.store import Item, Plan, addition_rounds

LaunchKind = tuple[int, str, str]
"""The properties that the cases of a launch share: ranks (0: the complete layout), executable and launch
setting."""


def schedule(
    cases: Sequence[Case], launches: int, seed: int, launch_kind: Callable[[Case], LaunchKind] | None = None
) -> tuple[Item, ...]:
    """Return every case once in each of `launches` rounds. Rounds follow one another, so that a run that ends
    early has measured everything at least once. Each launch has a different order, so that drift over time
    does not look like an effect of size. `launch_kind` returns the properties that the cases of a launch
    share; by default, all cases have the same executable."""
    launch_kind = launch_kind or _default_kind
    kinds = sorted({launch_kind(case) for case in cases})
    items = []
    for round_ in range(launches):
        for number, kind in enumerate(_order_kinds(kinds, round_)):
            launch = round_ * len(kinds) + number
            launch_cases = sorted(
                (case for case in dict.fromkeys(cases) if launch_kind(case) == kind),
                key=lambda case: case.line,
            )
            random.Random(f"{seed} {launch}").shuffle(launch_cases)
            items += [Item(launch, order, case) for order, case in enumerate(launch_cases)]
    return tuple(items)


def _default_kind(case: Case) -> LaunchKind:
    return case.launched_ranks, "", case.setting


def _order_kinds(kinds: Sequence[LaunchKind], round_: int) -> list[LaunchKind]:
    """Order the launches of a round. Launches that differ only in their setting are consecutive, and each of
    them comes first equally often."""
    groups: dict[tuple[int, str], list[LaunchKind]] = {}
    for kind in kinds:
        groups.setdefault(kind[:2], []).append(kind)
    ordered_kinds = []
    for kinds_of_group in groups.values():
        start = round_ % len(kinds_of_group)
        ordered_kinds += [*kinds_of_group[start:], *kinds_of_group[:start]]
    return ordered_kinds


WAIT_STEP_S = 1.0
"""Interval between reports while waiting."""
MIN_ROUND_SHARE = 0.5
"""A late round has less time than the others, but at least this fraction of its budget."""
MAX_LATENESS = 0.05
"""A round is reported if it starts late by more than this fraction of the time between rounds."""


def remaining_rounds(plan: Plan, missing: Sequence[Item]) -> list[tuple[int, tuple[Item, ...]]]:
    """Return the remaining rounds: the number of each in the plan (from 0) and its items. A run that is not
    repeated is a single round, in which all launches share one budget."""
    if not plan.settings.every_s:
        return [(0, tuple(missing))] if missing else []
    groups = plan.groups  # looks at all items
    rounds: dict[int, list[Item]] = {}
    for item in sorted(missing, key=lambda item: (item.launch, item.order)):
        rounds.setdefault(item.launch // groups, []).append(item)
    return [(number, tuple(items)) for number, items in rounds.items()]


@dataclass
class Rounds:
    """Rounds of a run: `count` rounds, starting now, each with `budget_s` for measuring. There is one round
    if `every_s` is 0. With `skips_late_rounds`, rounds that would end after the period are skipped.

    Rounds start every `every_s`, counted from the first. A round that takes too long delays the next one but
    not later ones, as far as rounds can be shortened. Measuring one plan repeatedly shows how single runs
    scatter over minutes or hours. Consecutive launches cannot show that, because disturbances last. For that
    reason, Hanebutte and Tatsumi ('Study of Parallel Efficiency in Message Passing Environments', 1996) plot
    single runs next to their mean.
    """

    plan: Plan
    count: int
    budget_s: float
    bench: Bench
    listen: Listener
    skips_late_rounds: bool = False
    start_s: float = field(init=False)
    late_count: int = 0

    def __post_init__(self) -> None:
        self.start_s = self.bench.now()

    @property
    def every_s(self) -> float:
        return self.plan.settings.every_s

    @property
    def total_s(self) -> float:
        """The time from the start of the first round to the end of the last, if none exceeds its time."""
        return max(0, self.count - 1) * self.every_s + self.budget_s

    def begin(self, k: int, number: int) -> bool:
        """Wait until the k-th of these rounds, number `number` of the plan, is due (both from 0). Return
        False if the period ends before the round could be measured."""
        due_s = self.start_s + k * self.every_s
        late_s = self.bench.now() - due_s
        if k and self.skips_late_rounds and self._is_period_over():
            self.listen(period_over_notice(self.count - k))
            return False
        if k and late_s > MAX_LATENESS * self.every_s:
            self._report_late(number, late_s)
        while (wait_s := due_s - self.bench.now()) > 0:
            self.listen(Waiting(wait_s, number + 1, self.plan.settings.launches))
            self.bench.wait(min(wait_s, WAIT_STEP_S))
        return True

    def share_s(self, k: int, item_count: int) -> float:
        """Return the time (s) for the items of the k-th round, which starts now: their share of its budget,
        or less if the next round is due earlier."""
        if not self.every_s:
            return self.budget_s
        until_next_s = self.start_s + (k + 1) * self.every_s - self.bench.now()
        round_s = min(self.budget_s, max(MIN_ROUND_SHARE * self.budget_s, until_next_s))
        return round_s * item_count / len(self.plan.cases)

    def report_late_rounds(self) -> None:
        if self.late_count > 1:
            self.listen(rounds_late_notice(self.late_count, self.count))

    def _is_period_over(self) -> bool:
        return self.bench.now() + MIN_ROUND_SHARE * self.budget_s > self.start_s + self.total_s

    def _report_late(self, number: int, late_s: float) -> None:
        """Report the first late round; `report_late_rounds` reports the number of late rounds."""
        self.late_count += 1
        if self.late_count == 1:
            self.listen(
                Notice(
                    f"round {number + 1} starts {format_seconds(late_s, 2)} late because the previous one "
                    f"took longer than the {format_seconds(self.every_s)} between rounds; use a larger "
                    f"{option('every')}",
                    "round-late",
                )
            )


def rounds_late_notice(late_count: int, count: int) -> Notice:
    return Notice(f"{late_count} of {count} rounds started late", "rounds-late")


def period_over_notice(remaining: int) -> Notice:
    return Notice(
        f"the period is over with {remaining} {'round' if remaining == 1 else 'rounds'} left because "
        "others took "
        "longer than their budget; 'hockney resume' measures them",
        "period-over",
    )


RECOMPARE_FACTOR = 1.25
"""Open cases are found again when the number of launches has grown by this factor, as that takes time."""
RESERVED_SHARE = 0.4
"""Fraction of the budget reserved for cases that are open after the planned launches."""


@dataclass
class Goal:
    """The purpose of launches beyond the plan, other than precision. `find_open` returns the cases that need
    another launch, based on all records so far; `reserve_share` is the fraction of the budget kept for
    them."""

    find_open: Callable[[RunRecords], Collection[Case]]
    reserve_share: float = RESERVED_SHARE
    compared_launches: int = field(default=0, init=False)
    open_cases: Collection[Case] = field(default=(), init=False)

    def select_cases(self, cases: Sequence[Case], run: RunRecords) -> Sequence[Case]:
        """Return those of `cases` that need another launch."""
        if not self.compared_launches or len(run.launches) >= RECOMPARE_FACTOR * self.compared_launches:
            self.compared_launches = len(run.launches)
            self.open_cases = self.find_open(run)
        return [case for case in cases if case in self.open_cases]


def imprecise_cases(
    cases: Sequence[Case], observations: Sequence[Observation], settings: Settings
) -> tuple[Case, ...]:
    """Return the measured cases that are not yet precise enough."""
    selected_cases = set(cases)
    widths = {
        observation.case: relative_precision(observation)
        for observation in observations
        if observation.case in selected_cases
    }
    precision = settings.precision
    return tuple(case for case, width in widths.items() if width is None or width > precision)


class ExtraLaunches:
    """Selects the cases of the next launch beyond the plan: cases with the same rank count, executable and
    launch setting. `planned_counts` are the case counts of the planned launches."""

    def __init__(self, bench: Bench, planned_cases: Sequence[Case]) -> None:
        self.bench = bench
        self.planned_counts = Counter(bench.launch_kind(case) for case in planned_cases)
        self.launch_counts: Counter[LaunchKind] = Counter()

    def largest_group(self, cases: Iterable[Case]) -> tuple[Case, ...]:
        """Return the largest group of cases that can share a launch."""
        group: list[Case] = max(self._groups(cases).values(), key=len, default=[])
        return tuple(group)

    def next_group(self, cases: Iterable[Case]) -> tuple[Case, ...]:
        """Return the group with the fewest launches so far, the largest if there are several."""
        groups = self._groups(cases)
        if not groups:
            return ()
        kind = min(groups, key=lambda candidate: (self.launch_counts[candidate], -len(groups[candidate])))
        self.launch_counts[kind] += 1
        return tuple(groups[kind])

    def relative_size(self, cases: Sequence[Case]) -> float:
        """Return the number of these cases relative to a planned launch of the same kind."""
        return (
            len(cases) / max(len(cases), self.planned_counts[self.bench.launch_kind(cases[0])])
            if cases
            else 0.0
        )

    def _groups(self, cases: Iterable[Case]) -> dict[LaunchKind, list[Case]]:
        groups: dict[LaunchKind, list[Case]] = {}
        for case in cases:
            groups.setdefault(self.bench.launch_kind(case), []).append(case)
        return groups


MAX_ADDED_SHARE = 0.4
"""Maximum number of added cases relative to the planned ones, whose time they must not use up."""


class Refinement:
    """Adds cases to a run while it measures: sizes between the planned ones, where a cost changes.

    Later launches measure these cases among the planned ones, under the same conditions. They are not in
    `plan.txt`: the requested run is complete without them. `cases` are all added cases, including those of a
    resumed `run`; `new_cases` are those added by this object. No cases are added if the budget is so small
    that hockney chose the minimum number of launches.
    """

    def __init__(self, plan: Plan, bench: Bench, run: RunRecords) -> None:
        planned_cases = set(plan.cases)
        self.bench = bench
        self.max_added = int(MAX_ADDED_SHARE * len(planned_cases))
        is_minimal = plan.settings.extend and plan.settings.launches <= MIN_LAUNCHES
        self.addition_limits = (
            addition_rounds(plan.settings.launches) if plan.settings.refine and not is_minimal else {}
        )
        measured_cases = dict.fromkeys(record.parse_case() for record in run.records)
        self.cases = tuple(case for case in measured_cases if case not in planned_cases)
        self.new_cases: tuple[Case, ...] = ()

    def refine(self, rounds: int, observations: Sequence[Observation]) -> tuple[Case, ...]:
        """Add sizes where the observed costs change, after this number of rounds of launches, and return the
        added cases."""
        limit = int(self.addition_limits[rounds] * self.max_added)
        new_cases = tuple(sizes_between(observations, max(0, limit - len(self.cases))))
        self.cases += new_cases
        self.new_cases += new_cases
        return new_cases

    def cases_for_launch(self, case: Case) -> list[Case]:
        """Return the new cases that can share a launch with `case`. Cases that were added before `run` was
        resumed are among the missing items (`store.unmeasured_items`)."""
        launch_kind = self.bench.launch_kind
        return [new_case for new_case in self.new_cases if launch_kind(new_case) == launch_kind(case)]
