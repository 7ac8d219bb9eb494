# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which launches a run makes, in which order, and when it stops.

A run is rounds of launches; each round measures every case once (`schedule`). Rounds follow one another, or
begin every `every_s` (`Rounds`). Between rounds, sizes may be added where a cost changes (`Refinement`).
After the last planned launch, cases that are not precise enough get more, while time is left
(`imprecise_cases`)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from hockney.core.case import Case
from hockney.core.notice import Notice
from hockney.core.record import RunRecords
from hockney.core.settings import FEWEST_LAUNCHES, Settings
from hockney.core.units import format_seconds
from hockney.core.wording import option
from hockney.measurement.bench import Bench
from hockney.measurement.events import Listener, Waiting
from hockney.models.refined_sizes import sizes_between
from hockney.models.statistics import Observation, relative_precision
from hockney.store import Item, Plan, addition_rounds

LaunchKind = tuple[int, str, str]
"""What the cases of a launch share: ranks (0: the whole layout), executable and launch setting."""


def schedule(
    cases: Sequence[Case], launches: int, seed: int, launch_kind: Callable[[Case], LaunchKind] | None = None
) -> tuple[Item, ...]:
    """Every case once in each of `launches` rounds. Rounds follow one another, so that a run ended early has
    measured everything at least once; each launch has a different order, so that drift over time does not
    look like an effect of size. `launch_kind` returns what the cases of a launch share; by default, all cases
    have the same executable.
    """
    launch_kind = launch_kind or _default_kind
    kinds = sorted({launch_kind(case) for case in cases})
    items = []
    for round_ in range(launches):
        for number, kind in enumerate(_rotate(kinds, round_)):
            launch = round_ * len(kinds) + number
            shuffled = sorted(
                (case for case in dict.fromkeys(cases) if launch_kind(case) == kind),
                key=lambda case: case.line,
            )
            random.Random(f"{seed} {launch}").shuffle(shuffled)
            items += [Item(launch, order, case) for order, case in enumerate(shuffled)]
    return tuple(items)


def _default_kind(case: Case) -> LaunchKind:
    return case.launched_ranks, "", case.setting


def _rotate(kinds: Sequence[LaunchKind], round_: int) -> list[LaunchKind]:
    """Order the launches of a round: those that differ only by their setting are consecutive, and each of
    them comes first equally often."""
    groups: dict[tuple[int, str], list[LaunchKind]] = {}
    for kind in kinds:
        groups.setdefault(kind[:2], []).append(kind)
    order = []
    for group in groups.values():
        first = round_ % len(group)
        order += [*group[first:], *group[:first]]
    return order


WAIT_STEP_S = 1.0
"""How often a wait is reported."""
LEAST_SHARE = 0.5
"""A late round has less time than the others, but never less than this fraction of its budget."""
LATE_SHARE = 0.05
"""A round that begins later than due by this fraction of the distance between rounds is reported."""


def remaining_rounds(plan: Plan, todo: Sequence[Item]) -> list[tuple[int, tuple[Item, ...]]]:
    """The remaining work by rounds: the number of each in the plan, from 0, and its items. A run that is not
    repeated is one round: all its launches share one budget."""
    if not plan.settings.every_s:
        return [(0, tuple(todo))] if todo else []
    groups = plan.groups  # looks at all items
    rounds: dict[int, list[Item]] = {}
    for item in sorted(todo, key=lambda item: (item.launch, item.order)):
        rounds.setdefault(item.launch // groups, []).append(item)
    return [(number, tuple(items)) for number, items in rounds.items()]


@dataclass
class Rounds:
    """`count` rounds, starting now, each with `budget_s` for measuring; one round if `every_s` is 0. With
    `ends`, rounds that would end after the period are skipped.

    Rounds begin every `every_s`, counted from the first, so that a round that takes too long delays the next
    one but not those after it, as far as they can be shortened. Measuring one plan again and again shows how
    single runs scatter over minutes or hours, which consecutive launches cannot, because disturbances last.
    Hanebutte and Tatsumi ('Study of Parallel Efficiency in Message Passing Environments', 1996) plot single
    runs next to their mean for that reason."""

    plan: Plan
    count: int
    budget_s: float
    bench: Bench
    listen: Listener
    ends: bool = False
    start_s: float = field(init=False)
    late: int = 0

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
        """Wait until the k-th of these rounds, the plan's `number`, is due (both from 0); False if the period
        ends before it could be measured."""
        due = self.start_s + k * self.every_s
        late_s = self.bench.now() - due
        if k and self.ends and self._is_period_over():
            self.listen(period_over_notice(self.count - k))
            return False
        if k and late_s > LATE_SHARE * self.every_s:
            self._report_late(number, late_s)
        while (ahead := due - self.bench.now()) > 0:
            self.listen(Waiting(ahead, number + 1, self.plan.settings.launches))
            self.bench.wait(min(ahead, WAIT_STEP_S))
        return True

    def share_s(self, k: int, items: int) -> float:
        """Seconds for `items` of the k-th round, which begins now: their share of its budget, or less if the
        next round is due earlier."""
        if not self.every_s:
            return self.budget_s
        until_next = self.start_s + (k + 1) * self.every_s - self.bench.now()
        round_s = min(self.budget_s, max(LEAST_SHARE * self.budget_s, until_next))
        return round_s * items / len(self.plan.cases)

    def end(self) -> None:
        if self.late > 1:
            self.listen(rounds_late_notice(self.late, self.count))

    def _is_period_over(self) -> bool:
        return self.bench.now() + LEAST_SHARE * self.budget_s > self.start_s + self.total_s

    def _report_late(self, number: int, late_s: float) -> None:
        """Report the first late round; `end` reports how many there were."""
        self.late += 1
        if self.late == 1:
            self.listen(
                Notice(
                    f"round {number + 1} starts {format_seconds(late_s, 2)} late because the previous one "
                    f"took longer than the {format_seconds(self.every_s)} between rounds; use a larger "
                    f"{option('every')}",
                    "round-late",
                )
            )


def rounds_late_notice(late: int, count: int) -> Notice:
    return Notice(f"{late} of {count} rounds started late", "rounds-late")


def period_over_notice(left: int) -> Notice:
    return Notice(
        f"the period is over with {left} {'round' if left == 1 else 'rounds'} left because others took "
        "longer than their budget; 'hockney resume' measures them",
        "period-over",
    )


@dataclass(frozen=True)
class Goal:
    """The purpose of launches beyond the plan, other than precision. `open_cases` returns the cases that need
    another launch, judged by all records so far; `reserve` is the fraction of the budget kept for them."""

    open_cases: Callable[[Sequence[Case], RunRecords], Sequence[Case]]
    reserve: float


def imprecise_cases(
    cases: Sequence[Case], observations: Sequence[Observation], settings: Settings
) -> tuple[Case, ...]:
    """The measured cases that are not yet precise enough."""
    wanted_cases = set(cases)
    widths = {
        observation.case: relative_precision(observation)
        for observation in observations
        if observation.case in wanted_cases
    }
    precision = settings.precision
    return tuple(case for case, width in widths.items() if width is None or width > precision)


class ExtraLaunches:
    """Chooses the open cases that the next launch beyond the plan measures: all of them share their rank
    count, executable and launch setting. `planned` are the cases of the planned launches."""

    def __init__(self, bench: Bench, planned: Sequence[Case]) -> None:
        self.bench = bench
        self.planned = Counter(bench.launch_kind(case) for case in planned)
        self.made: Counter[LaunchKind] = Counter()

    def largest_group(self, cases: Iterable[Case]) -> tuple[Case, ...]:
        """The largest group of cases that can share a launch."""
        largest: list[Case] = max(self._groups(cases).values(), key=len, default=[])
        return tuple(largest)

    def next(self, cases: Iterable[Case]) -> tuple[Case, ...]:
        """The group with the fewest launches so far; the largest of several."""
        groups = self._groups(cases)
        if not groups:
            return ()
        kind = min(groups, key=lambda each: (self.made[each], -len(groups[each])))
        self.made[kind] += 1
        return tuple(groups[kind])

    def part(self, cases: Sequence[Case]) -> float:
        """The number of these cases relative to those of a planned launch of the same kind."""
        return len(cases) / max(len(cases), self.planned[self.bench.launch_kind(cases[0])]) if cases else 0.0

    def _groups(self, cases: Iterable[Case]) -> dict[LaunchKind, list[Case]]:
        groups: dict[LaunchKind, list[Case]] = {}
        for case in cases:
            groups.setdefault(self.bench.launch_kind(case), []).append(case)
        return groups


MOST_ADDED_SHARE = 0.4
"""The maximum number of added cases relative to the planned ones, whose time they must not use up."""


class Refinement:
    """Cases that a run adds while it measures: sizes between the planned ones, around changes of a cost.

    Later launches measure them among the planned cases, under the same conditions. They are not in
    `plan.txt`: the requested run is complete without them. `cases` are all added cases, including those of
    `run`, which is resumed; `new` are those added by this object. None are added if the budget is so small
    that hockney chose the fewest launches."""

    def __init__(self, plan: Plan, bench: Bench, run: RunRecords) -> None:
        planned = set(plan.cases)
        self.bench = bench
        self.most = int(MOST_ADDED_SHARE * len(planned))
        minimal = plan.settings.extend and plan.settings.launches <= FEWEST_LAUNCHES
        self.additions = (
            addition_rounds(plan.settings.launches) if plan.settings.refine and not minimal else {}
        )
        measured = dict.fromkeys(record.parse_case() for record in run.records)
        self.cases = tuple(case for case in measured if case not in planned)
        self.new: tuple[Case, ...] = ()

    def refine(self, rounds: int, observations: Sequence[Observation]) -> tuple[Case, ...]:
        """Add sizes around changes of the observed costs after this number of rounds of launches; returns the
        added cases."""
        limit = int(self.additions[rounds] * self.most)
        new = tuple(sizes_between(observations, max(0, limit - len(self.cases))))
        self.cases += new
        self.new += new
        return new

    def added_for(self, case: Case) -> list[Case]:
        """New cases that can share a launch with `case`. Cases that were added before `run` was resumed are
        among the missing items (`store.unmeasured_items`)."""
        launch_kind = self.bench.launch_kind
        return [added for added in self.new if launch_kind(added) == launch_kind(case)]
