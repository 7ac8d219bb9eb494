# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measures a run, launch after launch. Every line is stored before the next one is read."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import msgspec

from hockney.core.case import Case, parse_canonical
from hockney.core.errors import EnvironmentProblem, join_sentences, started_runs
from hockney.core.fit import UsedSurvey
from hockney.core.notice import Notice
from hockney.core.record import RunRecords
from hockney.core.settings import Settings
from hockney.core.wording import option, plural
from hockney.launch.launcher import LaunchFailed, LaunchOptions
from hockney.measurement.bench import Bench
from hockney.measurement.budget import VISITS_PER_CASE, Budget, max_repetitions
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
from hockney.models.least_time import min_launch_seconds
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

MAX_CASE_FAILURES = 2
"""A case that failed in this many launches is excluded from later ones, because a hung case costs its
time-out. A case that is too slow is excluded at once."""
MAX_BROKEN_LAUNCHES = 5
"""After this many consecutive failed launches without a record, the cases are not the cause."""
MIN_HANG_S = 20.0
MAX_HANG_S = 60.0


class Outcome(
    msgspec.Struct,
    frozen=True,
    rename={"measured_count": "measured", "missing_count": "left", "failed_count": "failed"},
):
    """Counts of measurements: `measured_count` in this call, `missing_count` according to the store, and
    `failed_count` attempts."""

    measured_count: int
    missing_count: int
    failed_count: int
    seconds: float


def create_run(
    path: Path | None,
    cases: Sequence[Case],
    settings: Settings,
    bench: Bench,
    surveyed: UsedSurvey | None = None,
) -> RunFolder:
    """Create a run folder, complete before its first launch, with the survey that its study uses. Without
    `path`, it is created in the default location under a new name."""
    plan = Plan(settings, schedule(cases, settings.launches, settings.seed, bench.launch_kind))
    if path is None:
        return RunFolder.create_new(settings.study, plan, bench.machine, surveyed, bench.catalog)
    return RunFolder.create(path, plan, bench.machine, surveyed, bench.catalog)


def replace_plan(
    folder: RunFolder, cases: Sequence[Case], settings: Settings, bench: Bench, surveyed: UsedSurvey | None
) -> None:
    """Replace the plan of a folder that contains no records yet."""
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
    """Measure the planned cases that are missing in the records of `folder`. Failed cases are tried again,
    once. `budget_s` is the total time, including the check, or the time of each round of a run that is
    repeated over a period. By default, missing measurements get the same time as in the complete run. With a
    `share`, only the launches of that share are measured, and the outcome refers to the share. `goal` is the
    purpose of launches beyond the plan, by default the precision in the plan's settings.

    Raises EnvironmentProblem or LaunchFailed if nothing can be launched, and EnvironmentProblem without a
    `share` while shares are being measured. All results so far are kept.
    """
    started_runs.append(folder.path)
    if share is None:
        active_shares = absorb_shares(folder)
        if active_shares:
            raise EnvironmentProblem(
                f"{plural(active_shares, 'share')} of {folder.path} may still be measured",
                "their launches would be measured twice",
                "wait until all have ended, or measure a single share with --share K/N",
                code="shares-being-measured",
                path=str(folder.path),
                writers=active_shares,
            )
        return _measure(folder, bench, listen, budget_s, goal=goal)
    try:
        share_folder = PartFolder.of_share(folder, share)
        return _measure(share_folder, bench, listen, budget_s, share_folder.share_plan().items)
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
    """Measure the missing items. `all_items` share the budget of the plan's settings; by default, these are
    all expected items."""
    plan = folder.plan()
    with lock_records(folder, bench.lock_timeout_s) as appender:
        for notice in appender.reading.notices:
            listen(notice)
        missing = unmeasured_items(plan, appender.reading.run)
        if missing:
            for note in bench.launcher.describe(max(bench.launch_ranks(item.case) for item in missing)).notes:
                listen(Status(f"note: {note.text}"))
        if budget_s is None:
            all_items = all_items or expected_items(plan, appender.reading.run)
            budget_s = (
                plan.settings.budget_s
                if plan.settings.every_s
                else budget_share_s(plan, missing, all_items, bench)
            )
        return Session(plan, bench, listen, appender, budget_s, goal).run(missing)


class Session:
    """One call of `measure`, or one side of `interleaved.measure_interleaved`, which decides when to launch
    what; both sides then have the same `budget`."""

    def __init__(
        self,
        plan: Plan,
        bench: Bench,
        listen: Listener,
        appender: Appender,
        budget_s: float,
        goal: Goal | None = None,
    ) -> None:
        self.plan = plan
        self.goal = goal
        self.bench = bench
        self.listen = listen
        self.out = appender
        is_shared = bench.machine.traits.wall_clock
        # starting ranks to see whether they start is the first launch of all
        self.budget_s = budget_s if plan.settings.every_s else max(0.0, budget_s - bench.check_time_s)
        self.budget = Budget(self.budget_s, bench.now, bench.launch_cost_s, is_shared=is_shared)
        self.start_s = bench.now()
        self.out_of_time = False
        self.names = _LaunchNames(appender.reading.run)
        self.failures: Counter[Case] = Counter()
        self.measured = 0
        self.broken_launches = 0
        self.most_repetitions = max_repetitions(len(plan.items))
        self.refinement = Refinement(plan, bench, appender.reading.run)
        self.times = LaunchTimesCache()
        self.launch_budgets_s: list[float] = []
        self.launch = 0
        self.settled_cases: set[Case] = set()
        self.planned_launches = {item.launch for item in plan.items}
        self.begun_launches = {launch.index for launch in appender.reading.run.launches}
        last_launches = {item.case: item.launch for item in plan.items}
        self.last_launches = {} if plan.settings.extend else last_launches

    def run(self, missing: tuple[Item, ...]) -> Outcome:
        missing_rounds = remaining_rounds(self.plan, missing)
        skips_late_rounds = bool(self.plan.settings.through_s) and len(missing) == len(self.plan.items)
        rounds = Rounds(
            self.plan, len(missing_rounds), self.budget_s, self.bench, self.listen, skips_late_rounds
        )
        launches = len({item.launch for item in missing})
        expected_count = len(expected_items(self.plan, self.out.run()))
        self.listen(
            MeasuringBegan(
                len(missing),
                expected_count,
                launches,
                rounds.total_s,
                rounds.count,
                rounds.every_s,
                self.plan.settings.extend,
            )
        )
        for k, (number, items) in enumerate(missing_rounds):
            if not rounds.begin(k, number):
                break
            self.budget = self.budget.next_round(rounds.share_s(k, len(items)))
            if self.goal is not None and self.plan.settings.extend:
                self.budget.reserve_s = self.goal.reserve_share * self.budget.total_s
            self._measure_round(items, is_complete=bool(rounds.every_s))
            if self.out_of_time:
                break
        rounds.report_late_rounds()
        is_completion = all(item.launch in self.begun_launches for item in missing)
        if self.plan.settings.extend and not is_completion and not self.out_of_time:
            self._extend()
        self._settle([*dict.fromkeys(item.case for item in missing), *self.refinement.cases])
        seconds = self.bench.now() - self.start_s
        missing_count = len(missing_items(self.plan, self.out.run()))
        return Outcome(self.measured, missing_count, self.failures.total(), seconds)

    def _measure_round(self, missing: tuple[Item, ...], is_complete: bool) -> None:
        """Measure the launches of one round. If there are several rounds, each must be complete
        (`is_complete`), though shortened: if every round were cut off at its end, all would lack the same
        launches."""
        launches = _group_by_launch(missing)
        remaining = len(missing)
        for number, (index, items) in enumerate(launches.items()):
            if number and not is_complete and self.budget.is_exhausted(len(items)):
                self.listen(budget_used_up_notice(remaining, self.budget.cost_s))
                break
            later_launches = list(launches.values())[number:]
            if number and not self.budget.is_overrunning:
                self._refine(index, later_launches)
            added_count = self._count_added(later_launches, self.refinement.new_cases)
            self.launch_until_done(
                index, self._launch_cases(index, items), remaining + added_count, len(later_launches)
            )
            if self.out_of_time:
                break
            remaining -= len(items)

    def _count_added(self, launches: Sequence[Sequence[Item]], cases: Sequence[Case]) -> int:
        """Return the number of measurements of added `cases` in these planned launches."""
        launch_kind = self.bench.launch_kind
        return sum(launch_kind(case) == launch_kind(items[0].case) for items in launches for case in cases)

    def _refine(self, index: int, later_launches: Sequence[Sequence[Item]]) -> None:
        """Add sizes before the launch `index`, the first of `later_launches`, if a round of launches after
        which sizes are added has just ended. A launch that an earlier call started is only completed."""
        rounds, position = divmod(index, self.plan.groups)
        if not position and index not in self.begun_launches and rounds in self.refinement.addition_limits:
            added = self.refinement.refine(rounds, self._observed())
            if added:
                sizes = plural(len(added), "more size")
                workload_count = plural(len({case.workload for case in added}), "workload")
                self.listen(Status(f"measuring {sizes} of {workload_count}, where their cost changes"))
                self.listen(MeasurementsAdded(self._count_added(later_launches, added)))

    def _launch_cases(self, index: int, items: Sequence[Item]) -> list[Case]:
        """Return the cases of a planned launch in order, including added ones."""
        added_cases = set(self.refinement.cases)
        cases = [item.case for item in items if item.case not in added_cases]
        planned_additions = [item.case for item in items if item.case in added_cases]
        shuffle = random.Random(f"{self.plan.settings.seed} {index} added")
        for case in [*planned_additions, *self.refinement.cases_for_launch(items[0].case)]:
            cases.insert(shuffle.randint(0, len(cases)), case)
        return [case for case in cases if self.failures[case] < MAX_CASE_FAILURES]

    def _observed(self) -> list[Observation]:
        return observe(self.out.run(), self.bench.catalog, compute_times=self.times)

    def _extend(self) -> None:
        """Launch more than planned, while time remains, for cases that are not precise enough."""
        candidates = (*self.plan.cases, *self.refinement.cases)
        cases = [case for case in candidates if self.failures[case] < MAX_CASE_FAILURES]
        extra_launches = ExtraLaunches(self.bench, self.plan.cases)
        max_budget_s = max(self.launch_budgets_s, default=0.0)
        self.budget.reserve_s = 0.0
        for index in count(1 + max((item.launch for item in self.plan.items), default=-1)):
            if self.goal is None:
                group = extra_launches.largest_group(
                    imprecise_cases(cases, self._observed(), self.plan.settings)
                )
                budget_limit_s = max_budget_s
            else:
                group = extra_launches.next_group(self.goal.select_cases(cases, self.out.run()))
                budget_limit_s = max(self.budget.cost_s, max_budget_s * extra_launches.relative_size(group))
            if not group or self.budget.is_exhausted(len(group)):
                return
            shuffled = list(group)
            random.Random(f"{self.plan.settings.seed} {index}").shuffle(shuffled)
            count_before = self.measured
            self.launch_until_done(index, shuffled, len(shuffled), 1, max_budget_s=budget_limit_s)
            if self.out_of_time or self.measured == count_before:
                return

    def launch_until_done(
        self,
        index: int,
        cases: list[Case],
        remaining: int,
        remaining_launches: int,
        max_budget_s: float = math.inf,
    ) -> None:
        """Launch the cases. If a launch fails, record a failure of its current case and relaunch the
        remaining ones."""
        while cases:
            self.launch = index
            budget_s = min(
                max_budget_s,
                self.budget.launch_budget(len(cases), max(remaining, len(cases)), remaining_launches),
            )
            self.launch_budgets_s.append(budget_s)
            recorder = LaunchRecorder(self.bench, self.out, self._handle_event, self.budget, self.start_s)
            # rounds are compared with each other: each is complete, if late
            limit_s = 0.0 if self.plan.settings.every_s else self.budget.launch_limit(cases)
            options = self._options(index, budget_s, limit_s, cases)
            problem = recorder.launch(cases, options)
            if problem is not None and options.setting and not recorder.has_started:
                recorder.fail_all(cases, options, problem)
            self.measured += recorder.record_count
            self.failures.update(recorder.failed_cases)
            if problem is not None and problem.reason == "slow":
                self.failures[parse_canonical(problem.case)] = MAX_CASE_FAILURES
            remaining -= recorder.record_count + len(recorder.failed_cases)
            self._settle([case for case in recorder.answered_cases if self.last_launches.get(case) == index])
            cases = [case for case in cases if case not in recorder.answered_cases]
            if problem is not None and problem.reason == "time":
                self.out_of_time = True
                self.listen(
                    Notice(join_sentences(str(problem), "'hockney resume' continues"), "launch-out-of-time")
                )
                return
            self._check_launch(problem, recorder, bool(cases))
            if cases and limit_s and self.budget.is_exhausted(len(cases)):
                self.out_of_time = True
                if index in self.planned_launches:
                    self.listen(budget_used_up_notice(remaining, self.budget.cost_s))
                return

    def _handle_event(self, event: Event) -> None:
        """Handle an event of a launch. A case with one visit per launch is settled after its last launch."""
        self.listen(event)
        if isinstance(event, CaseEnded) and not self.bench.machine.traits.varies:
            case = parse_canonical(event.result.case)
            if self.launch == self.last_launches.get(case):
                self._settle([case], only_case_records=True)

    def _settle(self, cases: Sequence[Case], only_case_records: bool = False) -> None:
        """Report these cases as settled, once. With `only_case_records`, pass on only the records of each
        case."""
        settled = [case for case in cases if case not in self.settled_cases]
        if not settled:
            return
        run = self.out.run()
        for case in settled:
            self.settled_cases.add(case)
            self.listen(CaseSettled(case, _case_records(run, case) if only_case_records else run))

    def _check_launch(
        self, problem: LaunchFailed | None, recorder: LaunchRecorder, has_remaining_cases: bool
    ) -> None:
        """Report a launch's problem, and raise an exception if another launch would not help."""
        self.broken_launches = 0 if recorder.record_count or problem is None else self.broken_launches + 1
        if (
            problem is not None
            and not recorder.answered_cases
            and (problem.reason == "refused" or self.broken_launches > 1)
        ):
            raise problem
        if problem is not None and self.broken_launches >= MAX_BROKEN_LAUNCHES:
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
        if problem is not None and has_remaining_cases:
            self.listen(Notice("the remaining cases are relaunched", "cases-relaunched"))
        elif problem is None and has_remaining_cases and not recorder.answered_cases:
            raise EnvironmentProblem(
                "a launch ended without a result",
                "the engine skipped its plan",
                "run 'hockney build' to compile the engine again",
                code="launch-without-result",
            )

    def _options(self, index: int, budget_s: float, limit_s: float, cases: Sequence[Case]) -> LaunchOptions:
        """Return the options of a launch that measures these cases."""
        return LaunchOptions(
            launch=self.names.next(index),
            index=index,
            seed=self.plan.settings.seed,
            budget_s=budget_s,
            precision=self.plan.settings.precision,
            max_repetitions=self.most_repetitions,
            # after a launch that broke, run the cases one by one to find the one that breaks it
            visits=VISITS_PER_CASE if self.bench.machine.traits.varies and not self.broken_launches else 1,
            hang_s=min(MAX_HANG_S, max(MIN_HANG_S, self.plan.settings.budget_s)),
            origin=self.bench.machine.traits.origin,
            limit_s=limit_s,
            setting=cases[0].setting,
            variables=self.plan.settings.variables_of(cases[0]),
            turn=index // self.plan.groups if index in self.planned_launches else index,
            files=_files_of(cases, self.plan.settings),
        )


def _files_of(cases: Sequence[Case], settings: Settings) -> dict[str, str]:
    """Return the files that the cases name, by name."""
    if not settings.programs:
        return {}
    from hockney.models.programs.skeleton import program_files  # few runs need schedules

    return program_files(cases, settings.programs)


class _LaunchNames:
    """Generates the names of launches: the planned number, a dot, and the number of earlier launches with the
    same number."""

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


def budget_used_up_notice(remaining: int, launch_s: float) -> Notice:
    """Return the notice, where `launch_s` is the cost of a launch without its cases."""
    return Notice(
        f"the time is used up with {remaining} measurements left (a launch alone takes {launch_s:.1f} s): "
        f"use a larger {option('budget')}",
        "budget-used-up",
    )


MIN_COMPLETION_S = 0.2
"""Minimum measuring time of a launch that completes an earlier one. In the earlier launch, cases that ended
early left time to others."""


def budget_share_s(plan: Plan, missing: Sequence[Item], all_items: Sequence[Item], bench: Bench) -> float:
    """Return the time for `missing`, a part of `all_items`, including the check and starting launches. Each
    measurement gets as much time as in the complete run, but each launch gets at least `MIN_COMPLETION_S` and
    the minimum time of its cases. A simulation may use all of the run's budget, because it ends after a few
    repetitions."""
    if not bench.machine.traits.wall_clock or len(missing) == len(all_items):
        return plan.settings.budget_s
    measuring_s = plan.settings.budget_s - _start_cost_s(all_items, bench)
    share_s = measuring_s * len(missing) / max(1, len(all_items))
    launches_s = MIN_COMPLETION_S * len({item.launch for item in missing})
    return _start_cost_s(missing, bench) + max(
        share_s, launches_s, min_launch_seconds(item.case for item in missing)
    )


def _start_cost_s(items: Sequence[Item], bench: Bench) -> float:
    return bench.check_time_s + bench.launch_cost_s * len({item.launch for item in items})
