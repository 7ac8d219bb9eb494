# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measuring two runs in alternating launches: launch k of one right before or after launch k of the
other, with the same cases in the same order.

A machine drifts by more than most settings change it. Of each pair of launches, either side comes first
equally often (ABBA or BAAB, at random), so that drift during a pair cancels too."""

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
from hockney.core.settings import FEWEST_LAUNCHES, Settings
from hockney.measurement.bench import Bench
from hockney.measurement.budget import RESERVE, TYPICAL_COST_S, Budget
from hockney.measurement.events import Listener, MeasuringBegan, Status
from hockney.measurement.rounds import schedule
from hockney.measurement.session import MOST_FAILURES_OF_A_CASE, Outcome, Session, budget_used_up_notice
from hockney.models.least_time import least_of
from hockney.store import SIDES, Plan, RunFolder, create_pair, missing_items, unmeasured_items

COST_SHARE = 0.7
"""Fraction of the budget for starting and ending launches."""
CASE_S = 5e-3
"""Time of a case in a launch. Differences between launches limit the precision of a comparison, and a machine
may change its speed after some seconds, so that many pairs of short launches are better than a few long
ones."""
MOST_PAIRS = 200
PLANNED_SHARE = 0.95
"""Fraction of the pairs that fit. More follow while time is left; if launches take longer than expected, the
plan is finished all the same."""


@dataclass(frozen=True)
class InterleavedSide:
    """One of the two runs."""

    folder: RunFolder
    bench: Bench


def pair_count(budget_s: float, benches: Sequence[Bench], cases: Sequence[Case]) -> int:
    """The number of launches of each case and side to plan for the budget of both sides."""
    groups = max(1, len({benches[0].launch_kind(case) for case in cases}))
    cost_s = sum(bench.launch_cost_s or TYPICAL_COST_S for bench in benches)
    round_s = max(CASE_S * max(1, len(cases)), RESERVE * least_of(cases)) * len(benches)
    by_cost = COST_SHARE * budget_s / (groups * max(cost_s, 0.02))
    affordable = min(by_cost, PLANNED_SHARE * budget_s / (groups * cost_s + round_s))
    return int(max(FEWEST_LAUNCHES, min(affordable, MOST_PAIRS)))


def first_side(seed: int, kind: object, round_: int) -> int:
    """The side (0 or 1) that is first in this round, in launches of this kind (`Bench.launch_of`). Two rounds
    are a block: ABBA or BAAB."""
    block, second = divmod(round_, 2)
    return random.Random(f"{seed} {kind} {block} first").randrange(2) ^ second


def begin_interleaved(
    path: Path | None, cases: Sequence[Case], settings: Sequence[Settings], benches: Sequence[Bench]
) -> tuple[InterleavedSide, ...]:
    """Set up both runs in the folder `path`, by default a new one in the default place, with the same cases
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
    sides: Sequence[InterleavedSide], listen: Listener, budget_s: float, more: bool = False
) -> tuple[Outcome, ...]:
    """Measure what is planned in the two folders and missing from their records. What only one of them
    lacks is measured on both sides. `budget_s` is for both. With `extend` in the settings, pairs of
    launches follow while time is left; with `more`, also if nothing is missing.

    Raises EnvironmentProblem or LaunchFailed if nothing can be launched; all results so far are kept.
    """
    with ExitStack() as stack:
        sessions = []
        for side in sides:
            out = stack.enter_context(side.folder.append())
            for notice in out.reading.notices:
                listen(notice)
            sessions.append(Session(side.folder.plan(), side.bench, listen, out, budget_s))
        return _InterleavedSession(sessions, listen, budget_s).run(more)


class _InterleavedSession:
    """One call of `measure_interleaved`."""

    def __init__(self, sessions: Sequence[Session], listen: Listener, budget_s: float) -> None:
        self.sessions = sessions
        self.plan: Plan = sessions[0].plan
        self.listen = listen
        benches = [session.bench for session in sessions]
        checked_s = sum(bench.checked_s for bench in benches)
        self.budget = Budget(
            max(0.0, budget_s - checked_s),
            benches[0].now,
            sum(bench.launch_cost_s for bench in benches) / len(benches),
            shared=any(bench.machine.traits.wall_clock for bench in benches),
        )
        for session in sessions:
            session.budget = self.budget
        self.start_s = benches[0].now()

    def run(self, more: bool) -> tuple[Outcome, ...]:
        todo = self._missing_cases()
        longer = self._extra_launches() if more or (self.plan.settings.extend and todo) else iter(())
        if more and not todo:
            todo = dict(islice(longer, 1))
        waiting = len(self.sessions) * sum(map(len, todo.values()))
        planned = sum(len(session.plan.items) for session in self.sessions)
        extend = more or self.plan.settings.extend
        launches = len(self.sessions) * len(todo)
        self.listen(MeasuringBegan(waiting, planned, launches, self.budget.total_s, extend=extend))
        if todo:
            self._report_notes(todo)
        pairs_left = len(todo)
        for launch, cases in chain(todo.items(), longer):
            runnable = [case for case in cases if not self._is_given_up(case)]
            if pairs_left < len(todo) and self.budget.exhausted(len(runnable), len(self.sessions)):
                if pairs_left > 0:
                    self.listen(budget_used_up_notice(waiting, self.budget.cost_s))
                break
            self._launch_pair(launch, runnable, waiting, pairs_left)
            waiting -= len(self.sessions) * len(cases)
            pairs_left -= 1
            if any(session.out_of_time for session in self.sessions):
                break
        return tuple(map(self._outcome, self.sessions))

    def _missing_cases(self) -> dict[int, list[Case]]:
        """The cases that either side lacks, in the planned order, by the number of the launch."""
        lacking = {
            (item.launch, item.case)
            for session in self.sessions
            for item in unmeasured_items(session.plan, session.out.reading.run)
        }
        cases: dict[int, list[Case]] = {}
        for item in sorted(self.plan.items, key=lambda item: (item.launch, item.order)):
            if (item.launch, item.case) in lacking:
                cases.setdefault(item.launch, []).append(item.case)
        return cases

    def _extra_launches(self) -> Iterator[tuple[int, list[Case]]]:
        """Launches after those planned, up to MOST_PAIRS."""
        settings, bench = self.plan.settings, self.sessions[0].bench
        groups = self.plan.groups
        begun_launches = max(
            (launch for session in self.sessions for launch in session.begun_launches), default=-1
        )
        rounds = max(settings.launches, 1 + begun_launches // groups)
        if rounds >= MOST_PAIRS:
            return
        for launch, items in groupby(
            schedule(self.plan.cases, MOST_PAIRS, settings.seed, bench.launch_kind), lambda item: item.launch
        ):
            if launch >= groups * rounds:
                yield launch, [item.case for item in items]

    def _launch_pair(self, launch: int, cases: list[Case], waiting: int, pairs_left: int) -> None:
        """One launch of each side, with the same time; `waiting` measurements and `pairs_left` pairs are left
        of those planned."""
        if not cases:
            return
        sides = len(self.sessions)
        budgets_s = [budget_s for session in self.sessions for budget_s in session.launch_budgets_s]
        planned = pairs_left > 0 or not budgets_s
        most_s = math.inf if planned else max(budgets_s)
        kind = self.sessions[0].bench.launch_kind(cases[0])
        first = first_side(self.plan.settings.seed, kind, launch // self.plan.groups)
        for position in range(sides):
            session = self.sessions[first ^ position]
            measured = position * len(cases)
            left_here = (waiting if planned else sides * len(cases)) - measured
            launches_left = sides * max(1, pairs_left) - position
            with self._synchronised_clocks(session):
                try:
                    session.launch_until_done(launch, list(cases), left_here, launches_left, most_s)
                except HockneyError as problem:
                    problem.what = f"{SIDES[first ^ position].upper()}: {problem.what}"
                    raise
            most_s = session.launch_budgets_s[-1]
            if session.out_of_time:
                return

    @contextlib.contextmanager
    def _synchronised_clocks(self, running: Session) -> Iterator[None]:
        """Machines with separate clocks wait for the one that is running."""
        others = [session for session in self.sessions if session.bench.now != running.bench.now]
        starts_s = [session.bench.now() for session in others]
        pair_start_s = running.bench.now()
        yield
        elapsed_s = running.bench.now() - pair_start_s
        for session, start_s in zip(others, starts_s, strict=True):
            session.bench.wait(max(0.0, elapsed_s - (session.bench.now() - start_s)))

    def _is_given_up(self, case: Case) -> bool:
        """A case that fails on one side is not measured on the other either."""
        return any(session.failures[case] >= MOST_FAILURES_OF_A_CASE for session in self.sessions)

    def _report_notes(self, todo: dict[int, list[Case]]) -> None:
        notes = []
        for session in self.sessions:
            ranks = max(session.bench.ranks_of(case) for cases in todo.values() for case in cases)
            notes += [note.text for note in session.bench.launcher.describe(ranks).notes]
        for text in dict.fromkeys(notes):
            self.listen(Status(f"note: {text}"))

    def _outcome(self, session: Session) -> Outcome:
        seconds = session.bench.now() - self.start_s
        still_left = len(missing_items(session.plan, session.out.run()))
        return Outcome(session.measured, still_left, session.failures.total(), seconds)
