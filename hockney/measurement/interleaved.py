# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measures two runs in alternating launches. Launch k of one runs right before or after launch k of the
other, with the same cases in the same order.

A machine drifts by more than most settings change it. In each pair of launches, either side comes first
equally often (ABBA or BAAB, at random), so that drift during a pair cancels too.
"""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, groupby, islice
from pathlib import Path

from hockney.core.case import Case
from hockney.core.errors import HockneyError
from hockney.core.settings import MIN_LAUNCHES, Settings
from hockney.measurement.bench import Bench
from hockney.measurement.budget import BUSY_FACTOR, TYPICAL_LAUNCH_COST_S, Budget
from hockney.measurement.events import Listener, MeasuringBegan, Status
from hockney.measurement.rounds import schedule
from hockney.measurement.session import MAX_CASE_FAILURES, Outcome, Session, budget_used_up_notice
from hockney.models.least_time import min_launch_seconds
from hockney.store import SIDES, Plan, RunFolder, create_pair, missing_items, unmeasured_items

COST_SHARE = 0.7
"""Fraction of the budget for starting and ending launches."""
MIN_CASE_S = 5e-3
"""Minimum time of a case in a launch. Differences between launches limit the precision of a comparison, and a
machine may change its speed after some seconds, so many pairs of short launches are better than a few long
ones."""
MAX_PAIRS = 200
PLANNED_SHARE = 0.95
"""Fraction of the affordable pairs to plan. More follow while time remains; if launches take longer than
expected, the plan is completed nevertheless."""


@dataclass(frozen=True)
class InterleavedSide:
    """One of the two runs of an interleaved comparison."""

    folder: RunFolder
    bench: Bench


def pair_count(budget_s: float, benches: Sequence[Bench], cases: Sequence[Case]) -> int:
    """Return the number of launches of each case and side that fit into the budget of both sides."""
    groups = max(1, len({benches[0].launch_kind(case) for case in cases}))
    cost_s = sum(bench.launch_cost_s or TYPICAL_LAUNCH_COST_S for bench in benches)
    round_s = max(MIN_CASE_S * max(1, len(cases)), BUSY_FACTOR * min_launch_seconds(cases)) * len(benches)
    affordable_by_cost = COST_SHARE * budget_s / (groups * max(cost_s, 0.02))
    affordable = min(affordable_by_cost, PLANNED_SHARE * budget_s / (groups * cost_s + round_s))
    return int(max(MIN_LAUNCHES, min(affordable, MAX_PAIRS)))


def leading_side(seed: int, kind: object, round_: int) -> int:
    """Return the side (0 or 1) that comes first in this round, in launches of this kind
    (`Bench.launch_kind`). Two rounds form a block: ABBA or BAAB."""
    block, second = divmod(round_, 2)
    return random.Random(f"{seed} {kind} {block} first").randrange(2) ^ second


def begin_interleaved(
    path: Path | None, cases: Sequence[Case], settings: Sequence[Settings], benches: Sequence[Bench]
) -> tuple[InterleavedSide, ...]:
    """Set up both runs in the folder `path` (default: a new one in the default location), with the same cases
    in the same order."""
    items = schedule(cases, settings[0].launches, settings[0].seed, benches[0].launch_kind)
    sides = {name: (Plan(settings[k], items), benches[k]) for k, name in enumerate(SIDES)}

    def create(side: str, position: Path) -> RunFolder:
        plan, bench = sides[side]
        return RunFolder.create(position, plan, bench.machine, None, bench.catalog)

    return tuple(
        InterleavedSide(folder, bench)
        for folder, bench in zip(create_pair(path, create), benches, strict=True)
    )


def measure_interleaved(
    sides: Sequence[InterleavedSide], listen: Listener, budget_s: float, extra: bool = False
) -> tuple[Outcome, ...]:
    """Measure the planned cases that are missing in the records of the two folders. A case that is missing on
    one side is measured on both. `budget_s` is the time for both sides. With `extend` in the settings, pairs
    of launches follow while time remains; with `extra`, they follow even if nothing is missing.

    Raises EnvironmentProblem or LaunchFailed if nothing can be launched; all results so far are kept.
    """
    with ExitStack() as stack:
        sessions = []
        for side in sides:
            appender = stack.enter_context(side.folder.append())
            for notice in appender.reading.notices:
                listen(notice)
            sessions.append(Session(side.folder.plan(), side.bench, listen, appender, budget_s))
        return _InterleavedSession(sessions, listen, budget_s).run(extra)


class _InterleavedSession:
    """One call of `measure_interleaved`."""

    def __init__(self, sessions: Sequence[Session], listen: Listener, budget_s: float) -> None:
        self.sessions = sessions
        self.plan: Plan = sessions[0].plan
        self.listen = listen
        benches = [session.bench for session in sessions]
        checked_s = sum(bench.check_time_s for bench in benches)
        self.budget = Budget(
            max(0.0, budget_s - checked_s),
            benches[0].now,
            sum(bench.launch_cost_s for bench in benches) / len(benches),
            is_shared=any(bench.machine.traits.wall_clock for bench in benches),
        )
        for session in sessions:
            session.budget = self.budget
        self.start_s = benches[0].now()

    def run(self, extra: bool) -> tuple[Outcome, ...]:
        missing_launches = self._missing_cases()
        extra_launches = (
            self._extra_launches() if extra or (self.plan.settings.extend and missing_launches) else iter(())
        )
        if extra and not missing_launches:
            missing_launches = dict(islice(extra_launches, 1))
        remaining = len(self.sessions) * sum(map(len, missing_launches.values()))
        planned_count = sum(len(session.plan.items) for session in self.sessions)
        is_extended = extra or self.plan.settings.extend
        launch_count = len(self.sessions) * len(missing_launches)
        self.listen(
            MeasuringBegan(remaining, planned_count, launch_count, self.budget.total_s, extend=is_extended)
        )
        if missing_launches:
            self._report_notes(missing_launches)
        remaining_pairs = len(missing_launches)
        for launch, cases in chain(missing_launches.items(), extra_launches):
            runnable = [case for case in cases if not self._is_given_up(case)]
            if remaining_pairs < len(missing_launches) and self.budget.is_exhausted(
                len(runnable), len(self.sessions)
            ):
                if remaining_pairs > 0:
                    self.listen(budget_used_up_notice(remaining, self.budget.cost_s))
                break
            self._launch_pair(launch, runnable, remaining, remaining_pairs)
            remaining -= len(self.sessions) * len(cases)
            remaining_pairs -= 1
            if any(session.out_of_time for session in self.sessions):
                break
        return tuple(map(self._outcome, self.sessions))

    def _missing_cases(self) -> dict[int, list[Case]]:
        """Return the cases that are missing on either side, in the planned order, by the number of the
        launch."""
        missing_keys = {
            (item.launch, item.case)
            for session in self.sessions
            for item in unmeasured_items(session.plan, session.out.reading.run)
        }
        cases: dict[int, list[Case]] = {}
        for item in sorted(self.plan.items, key=lambda item: (item.launch, item.order)):
            if (item.launch, item.case) in missing_keys:
                cases.setdefault(item.launch, []).append(item.case)
        return cases

    def _extra_launches(self) -> Iterator[tuple[int, list[Case]]]:
        """Yield launches after the planned ones, up to MAX_PAIRS."""
        settings, bench = self.plan.settings, self.sessions[0].bench
        groups = self.plan.groups
        begun_launches = max(
            (launch for session in self.sessions for launch in session.begun_launches), default=-1
        )
        rounds = max(settings.launches, 1 + begun_launches // groups)
        if rounds >= MAX_PAIRS:
            return
        for launch, items in groupby(
            schedule(self.plan.cases, MAX_PAIRS, settings.seed, bench.launch_kind), lambda item: item.launch
        ):
            if launch >= groups * rounds:
                yield launch, [item.case for item in items]

    def _launch_pair(self, launch: int, cases: list[Case], remaining: int, remaining_pairs: int) -> None:
        """Run one launch of each side with the same time. `remaining` counts the planned measurements that
        are missing, `remaining_pairs` the planned pairs."""
        if not cases:
            return
        side_count = len(self.sessions)
        budgets_s = [budget_s for session in self.sessions for budget_s in session.launch_budgets_s]
        is_planned = remaining_pairs > 0 or not budgets_s
        max_budget_s = math.inf if is_planned else max(budgets_s)
        kind = self.sessions[0].bench.launch_kind(cases[0])
        leader = leading_side(self.plan.settings.seed, kind, launch // self.plan.groups)
        for position in range(side_count):
            session = self.sessions[leader ^ position]
            done = position * len(cases)
            remaining_here = (remaining if is_planned else side_count * len(cases)) - done
            remaining_launches = side_count * max(1, remaining_pairs) - position
            with self._synchronised_clocks(session):
                try:
                    session.launch_until_done(
                        launch, list(cases), remaining_here, remaining_launches, max_budget_s
                    )
                except HockneyError as problem:
                    problem.what = f"{SIDES[leader ^ position].upper()}: {problem.what}"
                    raise
            max_budget_s = session.launch_budgets_s[-1]
            if session.out_of_time:
                return

    @contextlib.contextmanager
    def _synchronised_clocks(self, running_session: Session) -> Iterator[None]:
        """Make machines with separate clocks wait for the running one."""
        other_sessions = [
            session for session in self.sessions if session.bench.now != running_session.bench.now
        ]
        starts_s = [session.bench.now() for session in other_sessions]
        pair_start_s = running_session.bench.now()
        yield
        elapsed_s = running_session.bench.now() - pair_start_s
        for session, start_s in zip(other_sessions, starts_s, strict=True):
            session.bench.wait(max(0.0, elapsed_s - (session.bench.now() - start_s)))

    def _is_given_up(self, case: Case) -> bool:
        """Check whether the case failed too often on one side; then it is not measured on the other side
        either."""
        return any(session.failures[case] >= MAX_CASE_FAILURES for session in self.sessions)

    def _report_notes(self, missing_launches: dict[int, list[Case]]) -> None:
        texts = []
        for session in self.sessions:
            ranks = max(
                session.bench.launch_ranks(case) for cases in missing_launches.values() for case in cases
            )
            texts += [note.text for note in session.bench.launcher.describe(ranks).notes]
        for text in dict.fromkeys(texts):
            self.listen(Status(f"note: {text}"))

    def _outcome(self, session: Session) -> Outcome:
        seconds = session.bench.now() - self.start_s
        missing_count = len(missing_items(session.plan, session.out.run()))
        return Outcome(session.measured, missing_count, session.failures.total(), seconds)
