# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs one launch. Its lines are stored as they arrive, followed by how the launch ended."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from msgspec.structs import replace

from hockney.core.case import Case, parse_canonical
from hockney.core.errors import ExitCode, one_line
from hockney.core.record import SCHEMA, Close, EngineLine, Failure, Launch, Record, Start
from hockney.launch.launcher import Launcher, LaunchFailed, LaunchOptions, Reason
from hockney.measurement.bench import Bench
from hockney.measurement.budget import Budget
from hockney.measurement.events import CaseBegan, CaseEnded, LaunchBegan, LaunchEnded, Listener
from hockney.store import Appender


@dataclass
class LaunchRecorder:
    """Runs a launch and stores its results. After `launch`, `answered_cases` have a record or a failure, and
    `failed_cases` a failure. `start_s` is the start of measuring by the bench's clock."""

    bench: Bench
    appender: Appender
    listen: Listener
    budget: Budget
    start_s: float
    answered_cases: set[Case] = field(default_factory=set)
    failed_cases: list[Case] = field(default_factory=list)
    record_count: int = 0
    _running_case: str = ""
    _first_start_s: float | None = None
    _last_result_s: float = 0.0

    def launch(self, cases: Sequence[Case], options: LaunchOptions) -> LaunchFailed | None:
        """Run the cases and return a failure, which is already stored unless only time was lacking. A Close
        line ends the launch in any case, even after Ctrl-C. The time that a simulation took is not stored,
        because it is not a property of the simulated machine."""
        ranks = max(map(self.bench.launch_ranks, cases))
        self.listen(LaunchBegan(options.launch, ranks, len(cases), options.budget_s))
        launch_start_s, load_before = self.bench.now(), self.bench.load_snapshot()
        problem: LaunchFailed | None = None
        code: int = ExitCode.INTERRUPTED
        reason: Reason | Literal[""] = ""
        try:
            with contextlib.closing(launch_lines(self.bench.launcher, cases, ranks, options)) as lines:
                for line in lines:
                    self._handle_line(line)
            code = 0
            reason = "time" if options.limit_s and len(self.answered_cases) < len(cases) else ""
        except LaunchFailed as failure:
            problem, code, reason = failure, failure.job_exit, failure.reason
            self._record_running_case(failure, options.launch)
        finally:
            end_s = self.bench.now()
            load = self.bench.load(load_before)
            self.appender.append(
                Close(
                    schema=SCHEMA,
                    launch=options.launch,
                    seconds=end_s - launch_start_s if self.bench.machine.traits.wall_clock else 0.0,
                    exit_code=code,
                    outside_cores=load.outside_cores,
                    steal=load.steal,
                    reason=reason,
                )
            )
        hung_s = options.hang_s if problem is not None and problem.reason in ("hung", "slow") else 0.0
        self.budget.exclude(hung_s)
        measuring_s = (
            0.0 if self._first_start_s is None else self._last_result_s - self._first_start_s - hung_s
        )
        self.budget.record_launch(
            options.budget_s, max(0.0, measuring_s), end_s - launch_start_s - hung_s, len(self.answered_cases)
        )
        self.listen(LaunchEnded(options.launch, end_s - launch_start_s))
        return problem

    def _handle_line(self, line: EngineLine) -> None:
        if isinstance(line, Launch):
            self.appender.append(line)
        elif isinstance(line, Start):
            self._running_case = line.case
            if self._first_start_s is None:
                self._first_start_s = self.bench.now()
            self.listen(CaseBegan(line.case))
        elif isinstance(line, Record | Failure):
            self.appender.append(line)
            self._mark_answered(line)

    def _mark_answered(self, line: Record | Failure) -> None:
        case = parse_canonical(line.case)
        self.answered_cases.add(case)
        self._running_case = ""
        self._last_result_s = self.bench.now()
        if isinstance(line, Failure):
            self.failed_cases.append(case)
        else:
            self.record_count += 1
        self.listen(CaseEnded(line, self.bench.now() - self.start_s))

    @property
    def has_started(self) -> bool:
        """Whether any case started."""
        return self._first_start_s is not None

    def fail_all(self, cases: Sequence[Case], options: LaunchOptions, problem: LaunchFailed) -> None:
        """Record a failure for each case, because no rank starts or MPI_Init fails with their launch
        setting."""
        for case in cases:
            self._record_failure(case.line, options.launch, problem)

    def _record_running_case(self, failure: LaunchFailed, launch: str) -> None:
        """Record a failure of the case that was running when the launch broke, unless the case cannot be the
        cause."""
        case = failure.case or self._running_case
        if failure.reason in ("time", "refused") or not case:
            return
        if parse_canonical(case) not in self.answered_cases:
            self._record_failure(case, launch, failure)

    def _record_failure(self, case: str, launch: str, failure: LaunchFailed) -> None:
        assert failure.reason != "time", "no case is at fault"
        line = Failure(
            schema=SCHEMA,
            launch=launch,
            case=case,
            reason=failure.reason,
            message=one_line(str(failure)),
            silent_ranks=list(failure.silent_ranks),
        )
        self.appender.append(line)
        self._mark_answered(line)


def launch_lines(
    launcher: Launcher, cases: Sequence[Case], ranks: int, options: LaunchOptions
) -> Generator[EngineLine, None, None]:
    """Launch `cases` on `ranks` ranks with the setting of `options`, and yield the engine's lines. The engine
    gets its cases without the setting, which is added to the lines that it returns. Closing the generator
    ends the launch."""
    plain_cases = [case.with_setting("") for case in cases]
    lines = launcher.run(plain_cases, ranks, options)
    try:
        yield from _lines_with_setting(lines, options) if options.setting else lines
    except LaunchFailed as failed:
        if options.setting and failed.case:
            failed.case = _with_setting(failed.case, options.setting)
        raise
    finally:
        _close(lines)


def _close(lines: Iterable[EngineLine]) -> None:
    with contextlib.suppress(AttributeError):
        lines.close()  # type: ignore[attr-defined]


def _lines_with_setting(lines: Iterator[EngineLine], options: LaunchOptions) -> Iterator[EngineLine]:
    for line in lines:
        if isinstance(line, Launch):
            yield replace(line, setting=options.setting, variables=dict(options.variables))
        elif isinstance(line, Start | Record | Failure):
            yield replace(line, case=_with_setting(line.case, options.setting))
        else:
            yield line


def _with_setting(line: str, setting: str) -> str:
    return parse_canonical(line).with_setting(setting).line
