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
from hockney.core.errors import EnvironmentProblem, runs_begun, sentences
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
    ExtraLaunches,
    Goal,
    Refinement,
    Rounds,
    imprecise_cases,
    remaining_rounds,
    schedule,
)
from hockney.models.least_time import least_of
from hockney.models.statistics import LaunchTimesCache, Observation, observe
from hockney.store import (
    Appender,
    Item,
    LaunchShare,
    PartFolder,
    Plan,
    RunFolder,
    absorb_shares,
    expected_items,
    lock_records,
    missing_items,
    unmeasured_items,
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
    """Counts of measurements: `measured` in this call, `left` to be made (according to the store), and failed
    attempts (`failed`)."""

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
    plan = Plan(settings, schedule(cases, settings.launches, settings.seed, bench.launch_kind))
    if path is None:
        return RunFolder.create_new(settings.study, plan, bench.machine, surveyed, bench.catalog)
    return RunFolder.create(path, plan, bench.machine, surveyed, bench.catalog)


def replace_plan(
    folder: RunFolder, cases: Sequence[Case], settings: Settings, bench: Bench, surveyed: Surveyed | None
) -> None:
    """Replace the plan of a folder that has no records yet."""
    plan = Plan(settings, schedule(cases, settings.launches, settings.seed, bench.launch_kind))
    folder.replace_plan(plan, bench.machine, surveyed, bench.catalog)


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
    runs_begun.append(folder.path)
    if share is None:
        writers = absorb_shares(folder)
        if writers:
            raise EnvironmentProblem(
                f"{plural(writers, 'share')} of {folder.path} may still be measured",
                "their launches would be measured twice",
                "wait until all have ended, or measure a single share with --share K/N",
                code="shares-being-measured",
                path=str(folder.path),
                writers=writers,
            )
        return _measure(folder, bench, listen, budget_s, goal=goal)
    try:
        part = PartFolder.of_share(folder, share)
        return _measure(part, bench, listen, budget_s, part.share_plan().items)
    finally:
        absorb_shares(folder, own_file=share.file)


def _measure(
    folder: RunFolder,
    bench: Bench,
    listen: Listener,
    budget_s: float | None,
    all_items: tuple[Item, ...] | None = None,
    goal: Goal | None = None,
) -> Outcome:
    """`all_items` are the items that share the budget of the plan's settings; by default, all expected
    items."""
    plan = folder.plan()
    with lock_records(folder, bench.lock_s) as out:
        for notice in out.reading.notices:
            listen(notice)
        todo = unmeasured_items(plan, out.reading.run)
        if todo:
            for note in bench.launcher.describe(max(bench.ranks_of(item.case) for item in todo)).notes:
                listen(Status(f"note: {note.text}"))
        if budget_s is None:
            all_items = all_items or expected_items(plan, out.reading.run)
            budget_s = (
                plan.settings.budget_s
                if plan.settings.every_s
                else budget_share_s(plan, todo, all_items, bench)
            )
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
        self.start_s = bench.now()
        self.out_of_time = False
        self.names = _Names(out.reading.run)
        self.failures: Counter[Case] = Counter()
        self.measured = 0
        self.broken_launches = 0
        self.most_repetitions = most_repetitions(len(plan.items))
        self.refinement = Refinement(plan, bench, out.reading.run)
        self.times = LaunchTimesCache()
        self.launch_budgets_s: list[float] = []
        self.launch = 0
        self.settled_cases: set[Case] = set()
        self.planned_launches = {item.launch for item in plan.items}
        self.begun_launches = {launch.index for launch in out.reading.run.launches}
        last = {item.case: item.launch for item in plan.items}
        self.last_launches = {} if plan.settings.extend else last

    def run(self, todo: tuple[Item, ...]) -> Outcome:
        work = remaining_rounds(self.plan, todo)
        ends = bool(self.plan.settings.through_s) and len(todo) == len(self.plan.items)
        rounds = Rounds(self.plan, len(work), self.budget_s, self.bench, self.listen, ends)
        launches = len({item.launch for item in todo})
        planned = len(expected_items(self.plan, self.out.run()))
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
            self.budget = self.budget.next_round(rounds.share_s(k, len(items)))
            if self.goal is not None and self.plan.settings.extend:
                self.budget.reserve_s = self.goal.reserve * self.budget.total_s
            self._measure_round(items, complete=bool(rounds.every_s))
            if self.out_of_time:
                break
        rounds.end()
        completed_only = all(item.launch in self.begun_launches for item in todo)
        if self.plan.settings.extend and not completed_only and not self.out_of_time:
            self._extend()
        self._settle([*dict.fromkeys(item.case for item in todo), *self.refinement.cases])
        seconds = self.bench.now() - self.start_s
        still_left = len(missing_items(self.plan, self.out.run()))
        return Outcome(self.measured, still_left, self.failures.total(), seconds)

    def _measure_round(self, todo: tuple[Item, ...], complete: bool) -> None:
        """Measure the launches of one round. If there are several rounds, each is completed (`complete`),
        though shortened: if every round were cut off at its end, all would lack the same launches."""
        launches = _group_by_launch(todo)
        waiting = len(todo)
        for number, (index, items) in enumerate(launches.items()):
            if number and not complete and self.budget.exhausted(len(items)):
                self.listen(budget_used_up_notice(waiting, self.budget.cost_s))
                break
            later = list(launches.values())[number:]
            if number and not self.budget.overrunning:
                self._refine(index, later)
            added = self._count_added(later, self.refinement.new)
            self.launch_until_done(index, self._launch_cases(index, items), waiting + added, len(later))
            if self.out_of_time:
                break
            waiting -= len(items)

    def _count_added(self, launches: Sequence[Sequence[Item]], cases: Sequence[Case]) -> int:
        """The number of measurements of added `cases` in these planned launches."""
        launch_kind = self.bench.launch_kind
        return sum(launch_kind(case) == launch_kind(items[0].case) for items in launches for case in cases)

    def _refine(self, index: int, later: Sequence[Sequence[Item]]) -> None:
        """Add sizes before the launch `index`, the first of `later`, if a round of launches after which sizes
        are added has just ended. A launch that an earlier call began is only completed."""
        rounds, within = divmod(index, self.plan.groups)
        if not within and index not in self.begun_launches and rounds in self.refinement.additions:
            added = self.refinement.refine(rounds, self._observed())
            if added:
                sizes = plural(len(added), "more size")
                where = plural(len({case.workload for case in added}), "workload")
                self.listen(Status(f"measuring {sizes} of {where}, where their cost changes"))
                self.listen(MeasurementsAdded(self._count_added(later, added)))

    def _launch_cases(self, index: int, items: Sequence[Item]) -> list[Case]:
        """The cases of a planned launch, in order, including added ones."""
        extra = set(self.refinement.cases)
        cases = [item.case for item in items if item.case not in extra]
        added = [item.case for item in items if item.case in extra]
        shuffle = random.Random(f"{self.plan.settings.seed} {index} added")
        for case in [*added, *self.refinement.added_for(items[0].case)]:
            cases.insert(shuffle.randint(0, len(cases)), case)
        return [case for case in cases if self.failures[case] < MOST_FAILURES_OF_A_CASE]

    def _observed(self) -> list[Observation]:
        return observe(self.out.run(), self.bench.catalog, compute_times=self.times)

    def _extend(self) -> None:
        """Launch more than planned, while time is left, for cases that are not precise enough."""
        candidates = (*self.plan.cases, *self.refinement.cases)
        cases = [case for case in candidates if self.failures[case] < MOST_FAILURES_OF_A_CASE]
        turns = ExtraLaunches(self.bench, self.plan.cases)
        longest_s = max(self.launch_budgets_s, default=0.0)
        self.budget.reserve_s = 0.0
        for index in count(1 + max((item.launch for item in self.plan.items), default=-1)):
            if self.goal is None:
                selected = turns.largest_group(imprecise_cases(cases, self._observed(), self.plan.settings))
                most_s = longest_s
            else:
                selected = turns.next(self.goal.open_cases(cases, self.out.run()))
                most_s = max(self.budget.cost_s, longest_s * turns.part(selected))
            if not selected or self.budget.exhausted(len(selected)):
                return
            order = list(selected)
            random.Random(f"{self.plan.settings.seed} {index}").shuffle(order)
            count_before = self.measured
            self.launch_until_done(index, order, len(order), 1, most_s=most_s)
            if self.out_of_time or self.measured == count_before:
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
            budget_s = min(most_s, self.budget.share(len(cases), max(waiting, len(cases)), launches_left))
            self.launch_budgets_s.append(budget_s)
            recorder = LaunchRecorder(self.bench, self.out, self._handle_event, self.budget, self.start_s)
            # rounds are compared with each other: each is complete, if late
            limit_s = 0.0 if self.plan.settings.every_s else self.budget.limit(cases)
            options = self._options(index, budget_s, limit_s, cases)
            problem = recorder.launch(cases, options)
            if problem is not None and options.setting and not recorder.started:
                recorder.fail_all(cases, options, problem)
            self.measured += recorder.record_count
            self.failures.update(recorder.failed_cases)
            if problem is not None and problem.reason == "slow":
                self.failures[parse_canonical(problem.case)] = MOST_FAILURES_OF_A_CASE
            waiting -= recorder.record_count + len(recorder.failed_cases)
            self._settle([case for case in recorder.answered_cases if self.last_launches.get(case) == index])
            cases = [case for case in cases if case not in recorder.answered_cases]
            if problem is not None and problem.reason == "time":
                self.out_of_time = True
                self.listen(
                    Notice(sentences(str(problem), "'hockney resume' continues"), "launch-out-of-time")
                )
                return
            self._check_launch(problem, recorder, bool(cases))
            if cases and limit_s and self.budget.exhausted(len(cases)):
                self.out_of_time = True
                if index in self.planned_launches:
                    self.listen(budget_used_up_notice(waiting, self.budget.cost_s))
                return

    def _handle_event(self, event: Event) -> None:
        """Handles an event of a launch. A case with one visit per launch is settled after its last launch."""
        self.listen(event)
        if isinstance(event, CaseEnded) and not self.bench.machine.traits.varies:
            case = parse_canonical(event.result.case)
            if self.launch == self.last_launches.get(case):
                self._settle([case], own_records=True)

    def _settle(self, cases: Sequence[Case], own_records: bool = False) -> None:
        """Report these cases as settled, once; with `own_records`, pass on only the records of each case."""
        new = [case for case in cases if case not in self.settled_cases]
        if not new:
            return
        run = self.out.run()
        for case in new:
            self.settled_cases.add(case)
            self.listen(CaseSettled(case, _case_records(run, case) if own_records else run))

    def _check_launch(self, problem: LaunchFailed | None, recorder: LaunchRecorder, more: bool) -> None:
        """Report a launch's problem; raise if another launch would not help."""
        self.broken_launches = 0 if recorder.record_count or problem is None else self.broken_launches + 1
        if (
            problem is not None
            and not recorder.answered_cases
            and (problem.reason == "refused" or self.broken_launches > 1)
        ):
            raise problem
        if problem is not None and self.broken_launches >= MOST_BROKEN_LAUNCHES:
            if problem.reason == "corrupted":
                raise problem
            raise EnvironmentProblem(
                f"{self.broken_launches} launches failed one after another",
                str(problem).rstrip("."),
                "'hockney doctor' looks for the cause; 'hockney resume' continues",
                code="launches-failed",
                count=self.broken_launches,
                last=problem.code,
            ) from problem
        if (
            problem is not None and not recorder.failed_cases
        ):  # otherwise the case's failure was reported already
            self.listen(Notice(str(problem), problem.code))
        if problem is not None and more:
            self.listen(Notice("the remaining cases are relaunched", "cases-relaunched"))
        elif problem is None and more and not recorder.answered_cases:
            raise EnvironmentProblem(
                "a launch ended without a result",
                "the engine skipped its plan",
                "run 'hockney build' to compile the engine again",
                code="launch-without-result",
            )

    def _options(self, index: int, budget_s: float, limit_s: float, cases: Sequence[Case]) -> LaunchOptions:
        """The options of a launch that measures these cases."""
        return LaunchOptions(
            launch=self.names.next(index),
            index=index,
            budget_s=budget_s,
            precision=self.plan.settings.precision,
            max_repetitions=self.most_repetitions,
            # after a launch that broke, run the cases one by one to find the one that breaks it
            visits=VISITS if self.bench.machine.traits.varies and not self.broken_launches else 1,
            hang_s=min(LONGEST_HANG_S, max(SHORTEST_HANG_S, self.plan.settings.budget_s)),
            origin=self.bench.machine.traits.origin,
            limit_s=limit_s,
            setting=cases[0].setting,
            variables=self.plan.settings.variables_of(cases[0]),
            turn=index // self.plan.groups if index in self.planned_launches else index,
            files=_files_of(cases, self.plan.settings),
        )


def _files_of(cases: Sequence[Case], settings: Settings) -> dict[str, str]:
    """The files that the cases name, by their names."""
    if not settings.programs:
        return {}
    from hockney.models.programs.skeleton import program_files  # few runs need schedules

    return program_files(cases, settings.programs)


class _Names:
    """Makes the names of launches: the planned number, a dot, and the number of earlier launches with it."""

    def __init__(self, run: RunRecords) -> None:
        names = {launch.launch for launch in run.launches} | {close.launch for close in run.closes}
        names |= {failure.launch for failure in run.failures}
        self.launch_counts = Counter(name.partition(".")[0] for name in names)

    def next(self, index: int) -> str:
        name = f"{index}.{self.launch_counts[str(index)]}"
        self.launch_counts[str(index)] += 1
        return name


def _case_records(run: RunRecords, case: Case) -> RunRecords:
    return replace(run, records=tuple(record for record in run.records if record.case == case.line))


def _group_by_launch(items: tuple[Item, ...]) -> dict[int, list[Item]]:
    groups: dict[int, list[Item]] = {}
    for item in sorted(items, key=lambda item: (item.launch, item.order)):
        groups.setdefault(item.launch, []).append(item)
    return groups


def budget_used_up_notice(left: int, launch_s: float) -> Notice:
    """`launch_s` is the cost of a launch without its cases."""
    return Notice(
        f"the time is used up with {left} measurements left (a launch alone takes {launch_s:.1f} s): "
        f"use a larger {option('budget')}",
        "budget-used-up",
    )


COMPLETING_S = 0.2
"""A launch that completes an earlier one measures at least this long: the cases of that one left time to one
another if they ended early."""


def budget_share_s(plan: Plan, todo: Sequence[Item], all_items: Sequence[Item], bench: Bench) -> float:
    """The time for `todo`, a part of `all_items`, including that of the check and of starting launches:
    each measurement gets as long as in the whole run, but each launch at least `COMPLETING_S` and the
    shortest time that its cases can take. A simulation may use all of the run's budget: it ends after a few
    repetitions."""
    if not bench.machine.traits.wall_clock or len(todo) == len(all_items):
        return plan.settings.budget_s
    measuring_s = plan.settings.budget_s - _start_cost_s(all_items, bench)
    share_s = measuring_s * len(todo) / max(1, len(all_items))
    launches_s = COMPLETING_S * len({item.launch for item in todo})
    return _start_cost_s(todo, bench) + max(share_s, launches_s, least_of(item.case for item in todo))


def _start_cost_s(items: Sequence[Item], bench: Bench) -> float:
    return bench.checked_s + bench.launch_cost_s * len({item.launch for item in items})
