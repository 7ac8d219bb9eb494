# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A running engine: its lines as they arrive, its hangs, and its end."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from hockney import process
from hockney.core.case import Case
from hockney.core.record import (
    End,
    EngineLine,
    EngineLines,
    Failure,
    FirstVisitsComplete,
    Launch,
    Rank,
    Record,
    Start,
    decode_engine_line,
)
from hockney.core.units import format_seconds
from hockney.launch.hang_detector import HangDetector
from hockney.launch.launcher import LaunchCommand, LaunchFailed

FINISH_SECONDS, FINISH_SECONDS_PER_RANK = 8.0, 0.02
"""Time for MPI_Finalize. All results have been stored before."""

CORRUPTED_EXIT_CODE = 76
"""Exit code of a rank that received a corrupted message (engine/comm/checked_message.hpp)."""
CORRUPTED = re.compile(r"hockney-corrupted rank=(\d+) from=(\d+)")

DeathExplainer = Callable[[int, str, int, tuple[str, ...]], LaunchFailed]


@dataclass
class _Progress:
    """Progress of a launch. `finished_cases` is the number of cases with a result, None before the first line
    of the launch. With `ended`, the whole plan was measured. `decode_error` is the error of a line that
    cannot be decoded, `corruption` the line of a rank that received a corrupted message."""

    finished_cases: int | None = None
    ended: bool = False
    decode_error: LaunchFailed | None = None
    corruption: re.Match[str] | None = None


@dataclass
class EngineReader:
    """Starts `command` and follows it. `scratch` exists while it runs. `explain_death` creates the error of a
    failed launch, from the number of ranks, the case it failed on, the exit code and the last output."""

    command: LaunchCommand
    detector: HangDetector
    plan: Sequence[Case]
    scratch: process.Scratch
    explain_death: DeathExplainer

    @property
    def finish_s(self) -> float:
        return FINISH_SECONDS + FINISH_SECONDS_PER_RANK * self.detector.ranks

    def lines(self) -> EngineLines:
        """Yield the engine's lines; the line of the launch includes its command. Raises LaunchFailed if the
        job dies or hangs."""
        environment = dict(self.command.environment)
        with process.stream(self.command.words, environment, scratch=self.scratch) as job:
            self.detector.on_start(time.monotonic())
            progress = _Progress()
            while (line := self._next_line(job, progress)) is not None:
                entry = self._read(line, job, progress)
                if entry is not None:
                    yield entry
            self._check_end(job, progress)

    def _next_line(self, job: process.Job, progress: _Progress) -> process.OutputLine | None:
        """Return the next line of output, None at its end. If the job hangs, ends it and raises
        LaunchFailed."""
        try:
            deadline = self.detector.deadline
            remaining_s = None if deadline is None else max(0.0, deadline - time.monotonic())
            return job.line(self.finish_s if progress.ended else remaining_s)
        except process.OutputTimeout:
            code = job.end()
            tail = tuple(job.tail)
            if progress.ended:
                raise _launch_not_ending(self.finish_s, job_exit=code, tail=tail) from None
            self._raise_if_corrupted(progress.corruption, code, tail)
            raise self.detector.failure(code, tail) from None

    def _read(self, line: process.OutputLine, job: process.Job, progress: _Progress) -> EngineLine | None:
        """Return the engine's line. Returns None for other output, and for a line that cannot be decoded, as
        a kill may truncate the last line. Raises LaunchFailed if such a line was not the last."""
        now = time.monotonic()
        if line.source == "err" or not line.text.startswith('{"kind"'):
            if line.source == "out":  # Hydra reports how ranks ended on standard output
                job.tail.append(line.text)
            progress.corruption = progress.corruption or CORRUPTED.search(line.text)
            self.detector.take_answer(now, line.text)
            return None
        if progress.decode_error is not None:
            raise progress.decode_error
        try:
            entry = decode_line(line.text)
        except LaunchFailed as problem:
            progress.decode_error = problem
            return None
        return self._follow(entry, now, progress)

    def _follow(self, entry: EngineLine, now: float, progress: _Progress) -> EngineLine:
        """Update the progress, and return the line to store."""
        detector = self.detector
        if isinstance(entry, Launch):
            detector.on_launch(now)
            progress.finished_cases = 0
            return with_command(entry, self.command)
        if isinstance(entry, Start):
            detector.on_case_start(now, entry.case, entry.position)
        elif isinstance(entry, FirstVisitsComplete):
            detector.on_visits(now)
        elif isinstance(entry, Record | Failure):
            detector.on_case_end(now)
            progress.finished_cases = (progress.finished_cases or 0) + 1
        elif isinstance(entry, End):
            progress.ended = entry.cases == detector.cases  # otherwise the plan did not arrive complete
        return entry

    def _check_end(self, job: process.Job, progress: _Progress) -> None:
        """Raise LaunchFailed unless the launch measured its whole plan and ended."""
        exit_code = job.wait(self.finish_s)
        code = job.end() if exit_code is None else exit_code
        tail = tuple(job.tail)
        if progress.ended:
            if exit_code is None:
                raise _launch_not_ending(self.finish_s, job_exit=code, tail=tail)
            return
        self._raise_if_corrupted(progress.corruption, code, tail)
        if progress.decode_error is not None and code == 0:
            raise progress.decode_error
        if self.detector.phases_by_rank:  # the engine aborted itself
            raise self.detector.failure(code, tail)
        raise self.explain_death(
            self.detector.ranks, self.detector.case or self._guess_case(progress), code, tail
        )

    def _guess_case(self, progress: _Progress) -> str:
        """Return the case that may have been running. Launchers drop lines that they have not forwarded yet,
        which may include the start of a case. "" if the order of the cases does not show it."""
        if (
            progress.finished_cases is None
            or progress.finished_cases >= len(self.plan)
            or self.detector.options.visits != 1
        ):
            return ""
        return self.plan[progress.finished_cases].line

    def _raise_if_corrupted(self, corruption: re.Match[str] | None, code: int, tail: tuple[str, ...]) -> None:
        """Raise LaunchFailed if a rank reported a corrupted message, in its output or, if the launcher
        dropped that, by its exit code."""
        if corruption is None and code != CORRUPTED_EXIT_CODE:
            return
        rank, sender = (None, None) if corruption is None else map(int, corruption.groups())
        raise message_corrupted(self.detector.case, rank, sender, job_exit=code, tail=tail)


def decode_line(text: str) -> EngineLine:
    try:
        return decode_engine_line(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise line_not_understood(str(error)) from error


def with_command(launch: Launch, command: LaunchCommand) -> Launch:
    words = [*(f"{name}={value}" for name, value in command.environment), *command.words]
    binding, bound = reported_binding(launch.ranks, command)
    return msgspec.structs.replace(launch, command=words, binding=binding, bound=bound)


def reported_binding(ranks: Sequence[Rank], command: LaunchCommand) -> tuple[str, bool]:
    """Return the binding as reported by the ranks, and whether ranks are bound. If they do not report it, the
    planned binding is returned."""
    if command.placed_by_user:
        return _reported_placement(ranks, command)
    if not command.bound or not all(rank.cpus for rank in ranks):
        return command.binding, command.bound
    places = {(rank.host, rank.cpus) for rank in ranks}
    if len(places) < len(ranks):
        return missing_binding_text(command.binding), False
    if len({rank.host for rank in ranks}) > 1:
        return command.binding, True
    return reported_binding_text([rank.cpus for rank in ranks]), True


def _reported_placement(ranks: Sequence[Rank], command: LaunchCommand) -> tuple[str, bool]:
    """Return the binding of ranks placed by the user. Ranks that share no CPU are bound; a single rank is
    bound only if it has a single CPU."""
    if not all(rank.cpus for rank in ranks):
        return command.binding, False
    are_disjoint = len({(rank.host, rank.cpus) for rank in ranks}) == len(ranks)
    bound = are_disjoint and (len(ranks) > 1 or ranks[0].cpus.isdecimal())
    if len({rank.host for rank in ranks}) > 1:
        return command.binding, bound
    return reported_binding_text([rank.cpus for rank in ranks]), bound


def _launch_not_ending(seconds: float, *, job_exit: int, tail: tuple[str, ...]) -> LaunchFailed:
    """Return the error of a launch that does not end after its last result."""
    return LaunchFailed(
        f"a launch did not finish within {format_seconds(seconds)} of its last result",
        "a rank or the launcher may have been stopped",
        "the job was stopped; all its results are kept",
        code="launch-not-ending",
        reason="hung",
        job_exit=job_exit,
        tail=tail,
        seconds=seconds,
    )


def reported_binding_text(cpus: Sequence[str]) -> str:
    """Describe the binding by every rank's affinity mask."""
    return f"rank i on cpu {' | '.join(cpus)}"


def missing_binding_text(binding: str) -> str:
    return f"not bound, although requested ({binding})"


def message_corrupted(
    case: str, rank: int | None, sender: int | None, *, job_exit: int, tail: tuple[str, ...]
) -> LaunchFailed:
    """Return the error of a corrupted message. `case` is "" if none was running; `rank` and `sender` are None
    if the launcher dropped them."""
    receiver = "a rank" if rank is None else f"rank {rank}"
    origin = "" if sender is None else f" from rank {sender}"
    return LaunchFailed(
        f"{receiver} received an internal message{origin} that was corrupted in transit",
        "this MPI or this network cannot be trusted",
        code="message-corrupted",
        reason="corrupted",
        case=case,
        job_exit=job_exit,
        tail=tail,
        rank=rank,
        sender=sender,
    )


def line_not_understood(reason: str) -> LaunchFailed:
    return LaunchFailed(
        "the engine wrote a line that hockney does not understand",
        reason,
        "run 'hockney build' to compile the engine again",
        code="engine-line-not-understood",
    )
