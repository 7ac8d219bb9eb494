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
from hockney.models.statistics import Observation, precision_of
from hockney.store import Item, Plan, additions

Kind = tuple[int, str, str]
"""What the cases of a launch share: ranks (0: the whole layout), executable and launch setting."""


def schedule(
    cases: Sequence[Case], launches: int, seed: int, launch_of: Callable[[Case], Kind] | None = None
) -> tuple[Item, ...]:
    """Every case once in each of `launches` rounds. Rounds come one after another, so that a run ended early
    has measured everything at least once; each launch has a different order, so that drift over time does not
    look like an effect of size. `launch_of` gives what the cases of a launch share; by default, all have one
    executable.
    """
    launch_of = launch_of or _with_one_executable
    kinds = sorted({launch_of(case) for case in cases})
    items = []
    for round_ in range(launches):
        for number, kind in enumerate(_in_turns(kinds, round_)):
            launch = round_ * len(kinds) + number
            shuffled = sorted(
                (case for case in dict.fromkeys(cases) if launch_of(case) == kind),
                key=lambda case: case.line,
            )
            random.Random(f"{seed} {launch}").shuffle(shuffled)
            items += [Item(launch, order, case) for order, case in enumerate(shuffled)]
    return tuple(items)


def _with_one_executable(case: Case) -> Kind:
    return case.launched_ranks, "", case.setting


def _in_turns(kinds: Sequence[Kind], round_: int) -> list[Kind]:
    """Launches that differ only by their setting follow one another, and each comes first equally often."""
    alike: dict[tuple[int, str], list[Kind]] = {}
    for kind in kinds:
        alike.setdefault(kind[:2], []).append(kind)
    turned = []
    for same in alike.values():
        first = round_ % len(same)
        turned += [*same[first:], *same[:first]]
    return turned


SLICE_S = 1.0
"""How often a wait is reported."""
LEAST_SHARE = 0.5
"""A late round has less time than the others, but never less than this fraction of its budget."""
LATE_SHARE = 0.05
"""A round that begins later than due by this fraction of the distance between rounds is reported."""


def rounds_of(plan: Plan, todo: Sequence[Item]) -> list[tuple[int, tuple[Item, ...]]]:
    """The remaining work by rounds: each one's number in the plan, from 0, and its items. A run that is not
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
    """`count` rounds from now on, each with `budget_s` for measuring. There is one if `every_s` is 0. With
    `ends`, their total time is that in which all would fit if none were late."""

    plan: Plan
    count: int
    budget_s: float
    bench: Bench
    listen: Listener
    ends: bool = False
    began: float = field(init=False)
    late: int = 0

    def __post_init__(self) -> None:
        self.began = self.bench.now()

    @property
    def every_s(self) -> float:
        return self.plan.settings.every_s

    @property
    def total_s(self) -> float:
        """The time from the first round's beginning to the last one's end, if none exceeds its time."""
        return max(0, self.count - 1) * self.every_s + self.budget_s

    def begin(self, k: int, number: int) -> bool:
        """Wait until the k-th of these rounds, the plan's `number`, is due (both from 0); False if the period
        is over before."""
        due = self.began + k * self.every_s
        late_s = self.bench.now() - due
        if k and self.ends and self._over():
            self.listen(period_over(self.count - k))
            return False
        if k and late_s > LATE_SHARE * self.every_s:
            self._report_late(number, late_s)
        while (ahead := due - self.bench.now()) > 0:
            self.listen(Waiting(ahead, number + 1, self.plan.settings.launches))
            self.bench.wait(min(ahead, SLICE_S))
        return True

    def share_s(self, k: int, items: int) -> float:
        """The time for `items` of the k-th round, which begins now: their share of its budget, less if the
        next round is due earlier."""
        if not self.every_s:
            return self.budget_s
        until_next = self.began + (k + 1) * self.every_s - self.bench.now()
        whole = min(self.budget_s, max(LEAST_SHARE * self.budget_s, until_next))
        return whole * items / len(self.plan.cases)

    def end(self) -> None:
        if self.late > 1:
            self.listen(rounds_late(self.late, self.count))

    def _over(self) -> bool:
        return self.bench.now() + LEAST_SHARE * self.budget_s > self.began + self.total_s

    def _report_late(self, number: int, late_s: float) -> None:
        """Reported once; `end` counts repeated occurrences."""
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


def rounds_late(late: int, count: int) -> Notice:
    return Notice(f"{late} of {count} rounds started late", "rounds-late")


def period_over(left: int) -> Notice:
    return Notice(
        f"the period is over with {left} {'round' if left == 1 else 'rounds'} left because others took "
        "longer than their budget; 'hockney resume' measures them",
        "period-over",
    )


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


MOST_SHARE = 0.4
"""Maximum relative to the planned cases, whose time must not be used up by added ones."""


class Refinement:
    """`cases` are those added so far, including those of `run`, which a resumed run continues with; `new` are
    those added here. If the budget is so small that hockney chose the fewest launches, the planned cases need
    all of it."""

    def __init__(self, plan: Plan, bench: Bench, run: RunRecords) -> None:
        planned = set(plan.cases)
        self.bench = bench
        self.most = int(MOST_SHARE * len(planned))
        few = plan.settings.extend and plan.settings.launches <= FEWEST_LAUNCHES
        self.additions = additions(plan.settings.launches) if plan.settings.refine and not few else {}
        measured = dict.fromkeys(record.parse_case() for record in run.records)
        self.cases = tuple(case for case in measured if case not in planned)
        self.new: tuple[Case, ...] = ()

    def refine(self, rounds: int, observations: Sequence[Observation]) -> tuple[Case, ...]:
        """Add sizes around changes of the observed costs after this number of rounds of launches; returns the
        added cases."""
        most = int(self.additions[rounds] * self.most)
        added = tuple(sizes_between(observations, max(0, most - len(self.cases))))
        self.cases += added
        self.new += added
        return added

    def along_with(self, case: Case) -> list[Case]:
        """The cases added here that a later launch, which measures `case`, measures as well. What `run` lacks
        of those added before is among the work left (`store.left`)."""
        launch_of = self.bench.launch_of
        return [added for added in self.new if launch_of(added) == launch_of(case)]
