# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measuring a run: launch after launch, with every line stored before the next is read."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from hockney.core.case import Case, parse_canonical
from hockney.core.errors import EnvironmentProblem, sentences
from hockney.core.fit import Surveyed
from hockney.core.notice import Notice
from hockney.core.record import RunRecords
from hockney.core.settings import Settings
from hockney.core.wording import option, plural
from hockney.launch.launcher import LaunchFailed, LaunchOptions
from hockney.measurement.bench import Bench
from hockney.measurement.budget import VISITS, Budget, most_repetitions
from hockney.measurement.events import (
    CaseEnded,
    CaseSettled,
    Event,
    Listener,
    MeasurementsAdded,
    MeasuringBegan,
    Status,
)
from hockney.measurement.launch_recorder import LaunchRecorder
from hockney.measurement.rounds import (
    Goal,
    LaunchTurns,
    Refinement,
    Rounds,
    imprecise_cases,
    rounds_of,
    schedule,
)
from hockney.models.least_time import least_of
from hockney.models.statistics import LaunchTimesOnce, Observation, observe
from hockney.store import (
    Appender,
    Item,
    LaunchShare,
    PartFolder,
    Plan,
    RunFolder,
    absorb,
    expected,
    left,
    missing,
    writing,
)

MOST_FAILURES_OF_A_CASE = 2
"""A case that failed in two launches is left out of the later ones: a hung case costs its time-out. One that
is too slow is left out at once."""
MOST_BROKEN_LAUNCHES = 5
"""After this many failed launches without a record between them, the cases are not the cause."""
SHORTEST_HANG_S = 20.0
LONGEST_HANG_S = 60.0


@dataclass(frozen=True)
class Outcome:
    """`left` measurements were planned, `missing` are left now (according to the store), `failed` were
    attempted."""

    measured: int
    left: int
    failed: int
    seconds: float


def begin(
    path: Path | None,
    cases: Sequence[Case],
    settings: Settings,
    bench: Bench,
    surveyed: Surveyed | None = None,
) -> RunFolder:
    """Set up a run, complete before its first launch, with the survey that its study uses; without `path` in
    the default place, under a new name."""
    plan = Plan(settings, schedule(cases, settings.launches, settings.seed, bench.launch_of))
    if path is None:
        return RunFolder.create_new(settings.study, plan, bench.machine, surveyed, bench.catalog)
    return RunFolder.create(path, plan, bench.machine, surveyed, bench.catalog)


def begin_again(
    folder: RunFolder, cases: Sequence[Case], settings: Settings, bench: Bench, surveyed: Surveyed | None
) -> None:
    """Another plan in a folder that has no records yet."""
    plan = Plan(settings, schedule(cases, settings.launches, settings.seed, bench.launch_of))
    folder.begin_again(plan, bench.machine, surveyed, bench.catalog)


def measure(
    folder: RunFolder,
    bench: Bench,
    listen: Listener,
    budget_s: float | None = None,
    share: LaunchShare | None = None,
    goal: Goal | None = None,
) -> Outcome:
    """Measure what is planned in `folder` and missing from its records. Failed cases are tried again, once.
    `budget_s` is the total time, including that of the check, or that of each round of a run that is
    repeated over a period; by default, what is missing gets the time that it had in the whole run. With a
    `share`, only launches of that share are measured, and the outcome is that of the share. `goal` is what
    launches beyond the plan are for, by default the precision of the plan's settings.

    Raises EnvironmentProblem or LaunchFailed if nothing can be launched, EnvironmentProblem also without a
    `share` while others measure theirs; all results so far are kept.
    """
    if share is None:
        writers = absorb(folder)
        if writers:
            raise EnvironmentProblem(
                f"{plural(writers, 'share')} of {folder.path} may still be measured",
                "their launches would be measured twice",
                "wait until all have ended, or measure one of the shares with --share K/N",
                code="shares-being-measured",
                path=str(folder.path),
                writers=writers,
            )
        return _measure(folder, bench, listen, budget_s, goal=goal)
    try:
        part = PartFolder.part(folder, share)
        return _measure(part, bench, listen, budget_s, part.whole().items)
    finally:
        absorb(folder, own=share.file)


def _measure(
    folder: RunFolder,
    bench: Bench,
    listen: Listener,
    budget_s: float | None,
    whole: tuple[Item, ...] | None = None,
    goal: Goal | None = None,
) -> Outcome:
    """`whole` is what has the budget of the plan's settings, by default all that is expected."""
    plan = folder.plan()
    with writing(folder, bench.lock_s) as out:
        for notice in out.reading.notices:
            listen(notice)
        todo = left(plan, out.reading.run)
        if todo:
            for note in bench.launcher.describe(max(bench.ranks_of(item.case) for item in todo)).notes:
                listen(Status(f"note: {note.text}"))
        if budget_s is None:
            whole = whole or expected(plan, out.reading.run)
            budget_s = plan.settings.budget_s if plan.settings.every_s else share_of(plan, todo, whole, bench)
        return Session(plan, bench, listen, out, budget_s, goal).run(todo)


class Session:
    """One call of `measure`, or one side of `interleaved.measure_in_turns`, which decides what is launched
    when: both sides then have the same `budget`."""

    def __init__(
        self,
        plan: Plan,
        bench: Bench,
        listen: Listener,
        out: Appender,
        budget_s: float,
        goal: Goal | None = None,
    ) -> None:
        self.plan = plan
        self.goal = goal
        self.bench = bench
        self.listen = listen
        self.out = out
        shared = bench.machine.traits.wall_clock
        # starting ranks to see whether they start is the first launch of all
        self.budget_s = budget_s if plan.settings.every_s else max(0.0, budget_s - bench.checked_s)
        self.budget = Budget(self.budget_s, bench.now, bench.launch_cost_s, shared=shared)
        self.began = bench.now()
        self.out_of_time = False
        self.names = _Names(out.reading.run)
        self.failures: Counter[Case] = Counter()
        self.measured = 0
        self.broken = 0
        self.repetitions = most_repetitions(len(plan.items))
        self.refinement = Refinement(plan, bench, out.reading.run)
        self.times = LaunchTimesOnce()
        self.given_s: list[float] = []
        self.launch = 0
        self.settled: set[Case] = set()
        self.planned = {item.launch for item in plan.items}
        self.begun = {launch.index for launch in out.reading.run.launches}
        last = {item.case: item.launch for item in plan.items}
        self.last_launch = {} if plan.settings.extend else last

    def run(self, todo: tuple[Item, ...]) -> Outcome:
        work = rounds_of(self.plan, todo)
        ends = bool(self.plan.settings.through_s) and len(todo) == len(self.plan.items)
        rounds = Rounds(self.plan, len(work), self.budget_s, self.bench, self.listen, ends)
        launches = len({item.launch for item in todo})
        planned = len(expected(self.plan, self.out.run()))
        self.listen(
            MeasuringBegan(
                len(todo),
                planned,
                launches,
                rounds.total_s,
                rounds.count,
                rounds.every_s,
                self.plan.settings.extend,
            )
        )
        for k, (number, items) in enumerate(work):
            if not rounds.begin(k, number):
                break
            self.budget = self.budget.again(rounds.share_s(k, len(items)))
            if self.goal is not None and self.plan.settings.extend:
                self.budget.reserve_s = self.goal.reserve * self.budget.total_s
            self._round(items, whole=bool(rounds.every_s))
            if self.out_of_time:
                break
        rounds.end()
        completed_only = all(item.launch in self.begun for item in todo)
        if self.plan.settings.extend and not completed_only and not self.out_of_time:
            self._go_on()
        self._settle([*dict.fromkeys(item.case for item in todo), *self.refinement.cases])
        seconds = self.bench.now() - self.began
        still_left = len(missing(self.plan, self.out.run()))
        return Outcome(self.measured, still_left, self.failures.total(), seconds)

    def _round(self, todo: tuple[Item, ...], whole: bool) -> None:
        """Launch after launch. If there are several rounds, each is completed (`whole`), though shortened: if
        every round were cut off at its end, all would lack the same launches."""
        launches = _by_launch(todo)
        waiting = len(todo)
        for number, (index, items) in enumerate(launches.items()):
            if number and not whole and self.budget.exhausted(len(items)):
                self.listen(budget_used_up(waiting, self.budget.cost_s))
                break
            later = list(launches.values())[number:]
            if number and not self.budget.strained:
                self._refine(index, later)
            added = self._added_to(later, self.refinement.new)
            self.launch_until_done(index, self._cases_of(index, items), waiting + added, len(later))
            if self.out_of_time:
                break
            waiting -= len(items)

    def _added_to(self, launches: Sequence[Sequence[Item]], cases: Sequence[Case]) -> int:
        """How many measurements of added `cases` these planned launches make."""
        launch_of = self.bench.launch_of
        return sum(launch_of(case) == launch_of(items[0].case) for items in launches for case in cases)

    def _refine(self, index: int, later: Sequence[Sequence[Item]]) -> None:
        """Add sizes before the launch `index`, the first of `later`, if a round of launches after which sizes
        are added has just ended. A launch that an earlier call began is only completed."""
        rounds, within = divmod(index, self.plan.groups)
        if not within and index not in self.begun and rounds in self.refinement.additions:
            added = self.refinement.refine(rounds, self._observed())
            if added:
                self.listen(Status(_sizes_added([case.workload for case in added])))
                self.listen(MeasurementsAdded(self._added_to(later, added)))

    def _cases_of(self, index: int, items: Sequence[Item]) -> list[Case]:
        """The cases of a planned launch, in order, including added ones."""
        known = set(self.refinement.cases)
        cases = [item.case for item in items if item.case not in known]
        added = [item.case for item in items if item.case in known]
        shuffle = random.Random(f"{self.plan.settings.seed} {index} added")
        for case in [*added, *self.refinement.along_with(items[0].case)]:
            cases.insert(shuffle.randint(0, len(cases)), case)
        return [case for case in cases if self.failures[case] < MOST_FAILURES_OF_A_CASE]

    def _observed(self) -> list[Observation]:
        return observe(self.out.run(), self.bench.catalog, times=self.times)

    def _go_on(self) -> None:
        """More launches than planned, while time is left, for cases that are not precise enough."""
        known = (*self.plan.cases, *self.refinement.cases)
        cases = [case for case in known if self.failures[case] < MOST_FAILURES_OF_A_CASE]
        turns = LaunchTurns(self.bench, self.plan.cases)
        longest_s = max(self.given_s, default=0.0)
        self.budget.reserve_s = 0.0
        for index in count(1 + max((item.launch for item in self.plan.items), default=-1)):
            if self.goal is None:
                wanting = turns.most_frequent(imprecise_cases(cases, self._observed(), self.plan.settings))
                most_s = longest_s
            else:
                wanting = turns.next(self.goal.open_cases(cases, self.out.run()))
                most_s = max(self.budget.cost_s, longest_s * turns.part(wanting))
            if not wanting or self.budget.exhausted(len(wanting)):
                return
            order = list(wanting)
            random.Random(f"{self.plan.settings.seed} {index}").shuffle(order)
            before = self.measured
            self.launch_until_done(index, order, len(order), 1, most_s=most_s)
            if self.out_of_time or self.measured == before:
                return

    def launch_until_done(
        self,
        index: int,
        cases: list[Case],
        waiting: int,
        launches_left: int,
        most_s: float = math.inf,
    ) -> None:
        """If a launch fails, its current case is marked failed and the remaining cases are relaunched."""
        while cases:
            self.launch = index
            given = min(most_s, self.budget.share(len(cases), max(waiting, len(cases)), launches_left))
            self.given_s.append(given)
            watch = LaunchRecorder(self.bench, self.out, self._heard, self.budget, self.began)
            # rounds are compared with each other: each is complete, if late
            limit = 0.0 if self.plan.settings.every_s else self.budget.limit(cases)
            options = self._options(index, given, limit, cases[0])
            problem = watch.launch(cases, options)
            if problem is not None and options.setting and not watch.started:
                watch.refuse(cases, options, problem)
            self.measured += watch.recorded
            self.failures.update(watch.failed)
            if problem is not None and problem.reason == "slow":
                self.failures[parse_canonical(problem.case)] = MOST_FAILURES_OF_A_CASE
            waiting -= watch.recorded + len(watch.failed)
            self._settle([case for case in watch.answered if self.last_launch.get(case) == index])
            cases = [case for case in cases if case not in watch.answered]
            if problem is not None and problem.reason == "time":
                self.out_of_time = True
                self.listen(
                    Notice(sentences(str(problem), "'hockney resume' continues"), "launch-out-of-time")
                )
                return
            self._judge(problem, watch, bool(cases))
            if cases and limit and self.budget.exhausted(len(cases)):
                self.out_of_time = True
                if index in self.planned:
                    self.listen(budget_used_up(waiting, self.budget.cost_s))
                return

    def _heard(self, event: Event) -> None:
        """Handles an event of a launch. A case with one visit per launch is settled after its last launch."""
        self.listen(event)
        if isinstance(event, CaseEnded) and not self.bench.machine.traits.varies:
            case = parse_canonical(event.result.case)
            if self.launch == self.last_launch.get(case):
                self._settle([case], alone=True)

    def _settle(self, cases: Sequence[Case], alone: bool = False) -> None:
        """Report these cases as settled, unless already done; `alone` without the records of other cases."""
        new = [case for case in cases if case not in self.settled]
        if not new:
            return
        run = self.out.run()
        for case in new:
            self.settled.add(case)
            self.listen(CaseSettled(case, _of_case(run, case) if alone else run))

    def _judge(self, problem: LaunchFailed | None, watch: LaunchRecorder, more: bool) -> None:
        """Whether to continue after a launch; raises if another one would not help."""
        self.broken = 0 if watch.recorded or problem is None else self.broken + 1
        if problem is not None and not watch.answered and (problem.reason == "refused" or self.broken > 1):
            raise problem
        if problem is not None and self.broken >= MOST_BROKEN_LAUNCHES:
            if problem.reason == "corrupted":
                raise problem
            raise EnvironmentProblem(
                f"{self.broken} launches failed one after another",
                str(problem).rstrip("."),
                "'hockney doctor' looks for the cause; 'hockney resume' continues",
                code="launches-failed",
                count=self.broken,
                last=problem.code,
            ) from problem
        if problem is not None and not watch.failed:  # otherwise the case's failure was reported already
            self.listen(Notice(str(problem), problem.code))
        if problem is not None and more:
            self.listen(Notice("the remaining cases are relaunched", "cases-relaunched"))
        elif problem is None and more and not watch.answered:
            raise EnvironmentProblem(
                "a launch ended without a result",
                "the engine skipped its plan",
                "run 'hockney build' to compile the engine again",
                code="launch-without-result",
            )

    def _options(self, index: int, given: float, limit: float, case: Case) -> LaunchOptions:
        """The options of a launch that measures `case`, among others."""
        return LaunchOptions(
            launch=self.names.next(index),
            index=index,
            budget_s=given,
            precision=self.plan.settings.precision,
            max_repetitions=self.repetitions,
            # after a launch that broke, run the cases one by one to find the one that breaks it
            visits=VISITS if self.bench.machine.traits.varies and not self.broken else 1,
            hang_s=min(LONGEST_HANG_S, max(SHORTEST_HANG_S, self.plan.settings.budget_s)),
            origin=self.bench.machine.traits.origin,
            limit_s=limit,
            setting=case.setting,
            variables=self.plan.settings.variables_of(case),
            turn=index // self.plan.groups if index in self.planned else index,
        )


class _Names:
    """Launch names: planned number, dot, number of earlier launches with that number."""

    def __init__(self, run: RunRecords) -> None:
        named = {launch.launch for launch in run.launches} | {close.launch for close in run.closes}
        named |= {failure.launch for failure in run.failures}
        self.used = Counter(name.partition(".")[0] for name in named)

    def next(self, index: int) -> str:
        name = f"{index}.{self.used[str(index)]}"
        self.used[str(index)] += 1
        return name


def _of_case(run: RunRecords, case: Case) -> RunRecords:
    return replace(run, records=tuple(record for record in run.records if record.case == case.line))


def _by_launch(items: tuple[Item, ...]) -> dict[int, list[Item]]:
    groups: dict[int, list[Item]] = {}
    for item in sorted(items, key=lambda item: (item.launch, item.order)):
        groups.setdefault(item.launch, []).append(item)
    return groups


def _sizes_added(workloads: Sequence[str]) -> str:
    """`workloads` has the name of each added case's workload."""
    where = ", ".join(f"{count} of {name}" for name, count in Counter(workloads).items())
    return f"measuring {plural(len(workloads), 'more size')} where the cost curve changes: {where}"


def budget_used_up(left: int, launch_s: float) -> Notice:
    """`launch_s` is the cost of a launch without its cases."""
    return Notice(
        f"the time is used up with {left} measurements left (a launch alone takes {launch_s:.1f} s): "
        f"use a larger {option('budget')}",
        "budget-used-up",
    )


COMPLETING_S = 0.2
"""A launch that completes an earlier one measures at least this long: the cases of that one left time to one
another if they ended early."""


def share_of(plan: Plan, todo: Sequence[Item], whole: Sequence[Item], bench: Bench) -> float:
    """The time for `todo`, a part of the `whole` run, including that of the check and of starting launches:
    each measurement gets as long as in the whole run, but each launch at least `COMPLETING_S` and the
    shortest time that its cases can take. A simulation may use all of the run's budget: it ends after a few
    repetitions."""
    if not bench.machine.traits.wall_clock or len(todo) == len(whole):
        return plan.settings.budget_s
    measuring_s = plan.settings.budget_s - _starting_s(whole, bench)
    share_s = measuring_s * len(todo) / max(1, len(whole))
    launches_s = COMPLETING_S * len({item.launch for item in todo})
    return _starting_s(todo, bench) + max(share_s, launches_s, least_of(item.case for item in todo))


def _starting_s(items: Sequence[Item], bench: Bench) -> float:
    return bench.checked_s + bench.launch_cost_s * len({item.launch for item in items})
