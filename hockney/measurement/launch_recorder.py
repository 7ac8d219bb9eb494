# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One launch: its lines go into the store as they arrive, followed by how it ended."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Literal

from msgspec.structs import replace

from hockney.core.case import Case, parse_canonical
from hockney.core.errors import Exit, one_line
from hockney.core.record import SCHEMA, Close, EngineLine, Failure, Launch, Record, Start
from hockney.launch.launcher import Launcher, LaunchFailed, LaunchOptions, Reason
from hockney.measurement.bench import Bench
from hockney.measurement.budget import Budget
from hockney.measurement.events import CaseBegan, CaseEnded, LaunchBegan, LaunchEnded, Listener
from hockney.store import Appender


class LaunchRecorder:
    """Runs launches and stores their results. After `launch`, `answered` cases have a record or a failure,
    `failed` a failure. `began` is the start of measuring by the bench's clock."""

    def __init__(self, bench: Bench, out: Appender, listen: Listener, budget: Budget, began: float) -> None:
        self.bench = bench
        self.out = out
        self.listen = listen
        self.budget = budget
        self.began = began
        self.answered: set[Case] = set()
        self.failed: list[Case] = []
        self.recorded = 0
        self._running = ""
        self._first_start: float | None = None
        self._last_result = 0.0

    def launch(self, cases: Sequence[Case], options: LaunchOptions) -> LaunchFailed | None:
        """Run the cases; a returned failure is already stored, unless only time was lacking. A Close line
        ends the launch however it ended, also on Ctrl-C. The time taken by a simulation is not stored as a
        property of the simulated machine."""
        ranks = max(map(self.bench.ranks_of, cases))
        self.listen(LaunchBegan(options.launch, ranks, len(cases), options.budget_s))
        began, before = self.bench.now(), self.bench.moment()
        problem: LaunchFailed | None = None
        code: int = Exit.INTERRUPTED
        reason: Reason | Literal[""] = ""
        try:
            with contextlib.closing(lines_of(self.bench.launcher, cases, ranks, options)) as lines:
                for line in lines:
                    self._take(line)
            code = 0
            reason = "time" if options.limit_s and len(self.answered) < len(cases) else ""
        except LaunchFailed as failed:
            problem, code, reason = failed, failed.job_exit, failed.reason
            self._blame(failed, options.launch)
        finally:
            ended = self.bench.now()
            load = self.bench.load(before)
            self.out.append(
                Close(
                    schema=SCHEMA,
                    launch=options.launch,
                    seconds=ended - began if self.bench.machine.traits.wall_clock else 0.0,
                    exit_code=code,
                    outside_cores=load.outside_cores,
                    steal=load.steal,
                    reason=reason,
                )
            )
        hung_s = options.hang_s if problem is not None and problem.reason in ("hung", "slow") else 0.0
        self.budget.excuse(hung_s)
        measuring = 0.0 if self._first_start is None else self._last_result - self._first_start - hung_s
        self.budget.spent(options.budget_s, max(0.0, measuring), ended - began - hung_s, len(self.answered))
        self.listen(LaunchEnded(options.launch, ended - began))
        return problem

    def _take(self, line: EngineLine) -> None:
        if isinstance(line, Launch):
            self.out.append(line)
        elif isinstance(line, Start):
            self._running = line.case
            if self._first_start is None:
                self._first_start = self.bench.now()
            self.listen(CaseBegan(line.case))
        elif isinstance(line, Record | Failure):
            self.out.append(line)
            self._answer(line)

    def _answer(self, line: Record | Failure) -> None:
        case = parse_canonical(line.case)
        self.answered.add(case)
        self._running = ""
        self._last_result = self.bench.now()
        if isinstance(line, Failure):
            self.failed.append(case)
        else:
            self.recorded += 1
        self.listen(CaseEnded(line, self.bench.now() - self.began))

    @property
    def started(self) -> bool:
        """Whether any case began."""
        return self._first_start is not None

    def refuse(self, cases: Sequence[Case], options: LaunchOptions, problem: LaunchFailed) -> None:
        """Record a failure for each case: none can be measured with their launch setting, with which no rank
        starts, or MPI_Init fails."""
        for case in cases:
            self._fail(case.line, options.launch, problem)

    def _blame(self, failed: LaunchFailed, launch: str) -> None:
        """The case that was running when the launch broke has no result, unless it cannot be the reason."""
        case = failed.case or self._running
        if failed.reason in ("time", "refused") or not case or parse_canonical(case) in self.answered:
            return
        self._fail(case, launch, failed)

    def _fail(self, case: str, launch: str, failed: LaunchFailed) -> None:
        assert failed.reason != "time", "no case is at fault"
        line = Failure(
            schema=SCHEMA,
            launch=launch,
            case=case,
            reason=failed.reason,
            message=one_line(str(failed)),
            silent_ranks=list(failed.silent_ranks),
        )
        self.out.append(line)
        self._answer(line)


def lines_of(
    launcher: Launcher, cases: Sequence[Case], ranks: int, options: LaunchOptions
) -> Generator[EngineLine, None, None]:
    """The lines of a launch of `cases` on `ranks` ranks, which have the setting of `options`. Closing it ends
    the launch."""
    plain = [case.with_setting("") for case in cases]
    lines = launcher.run(plain, ranks, options)
    try:
        yield from _labelled(lines, options) if options.setting else lines
    except LaunchFailed as failed:
        if options.setting and failed.case:
            failed.case = _under(failed.case, options.setting)
        raise
    finally:
        _close(lines)


def _close(lines: Iterable[EngineLine]) -> None:
    with contextlib.suppress(AttributeError):
        lines.close()  # type: ignore[attr-defined]


def _labelled(lines: Iterator[EngineLine], options: LaunchOptions) -> Iterator[EngineLine]:
    for line in lines:
        if isinstance(line, Launch):
            yield replace(line, setting=options.setting, variables=dict(options.variables))
        elif isinstance(line, Start | Record | Failure):
            yield replace(line, case=_under(line.case, options.setting))
        else:
            yield line


def _under(line: str, setting: str) -> str:
    return parse_canonical(line).with_setting(setting).line
