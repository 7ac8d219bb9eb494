# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A started engine: its lines as they arrive, its hangs, its end."""

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
    Launch,
    Rank,
    Record,
    Start,
    Visiting,
    decode_engine_line,
)
from hockney.core.units import format_seconds
from hockney.launch.hang_detector import HangDetector
from hockney.launch.launcher import LaunchCommand, LaunchFailed

FINISH_SECONDS, FINISH_SECONDS_PER_RANK = 8.0, 0.02
"""Time for MPI_Finalize; all results are stored by then."""

CORRUPTED_EXIT_CODE = 76
"""The exit code of a rank that received a corrupted message (engine/comm/checked_message.hpp)."""
CORRUPTED = re.compile(r"hockney-corrupted rank=(\d+) from=(\d+)")

Died = Callable[[int, str, int, tuple[str, ...]], LaunchFailed]


@dataclass
class _Seen:
    """What a launch has shown so far. `finished` counts its cases with a result, None before the line of the
    launch; `ended`: all of the plan is measured. `undecoded` is the error of a line that is not the engine's,
    `corrupted` the line of a rank that received a corrupted message."""

    finished: int | None = None
    ended: bool = False
    undecoded: LaunchFailed | None = None
    corrupted: re.Match[str] | None = None


@dataclass
class EngineReader:
    """Starts `started` and follows it. `scratch` exists while it runs; `died` creates the error of a launch
    that failed, from ranks, the case it failed on, exit code and last output."""

    started: LaunchCommand
    watch: HangDetector
    plan: Sequence[Case]
    scratch: process.Scratch
    died: Died

    @property
    def finish_s(self) -> float:
        return FINISH_SECONDS + FINISH_SECONDS_PER_RANK * self.watch.ranks

    def lines(self) -> EngineLines:
        """Yields the engine's lines, the launch's with its command; raises LaunchFailed if the job dies or
        hangs."""
        environment = dict(self.started.environment)
        with process.stream(self.started.words, environment, scratch=self.scratch) as job:
            self.watch.begun(time.monotonic())
            seen = _Seen()
            while (line := self._next_line(job, seen)) is not None:
                entry = self._read(line, job, seen)
                if entry is not None:
                    yield entry
            self._judge_end(job, seen)

    def _next_line(self, job: process.Job, seen: _Seen) -> process.OutputLine | None:
        """The next line of output, None at its end. Raises LaunchFailed, and ends the job, if it hangs."""
        try:
            deadline = self.watch.deadline
            left_s = None if deadline is None else max(0.0, deadline - time.monotonic())
            return job.line(self.finish_s if seen.ended else left_s)
        except process.OutputTimeout:
            code = job.end()
            tail = tuple(job.tail)
            if seen.ended:
                raise _not_ending(self.finish_s, job_exit=code, tail=tail) from None
            self._refuse_corrupted(seen.corrupted, code, tail)
            raise self.watch.failure(code, tail) from None

    def _read(self, line: process.OutputLine, job: process.Job, seen: _Seen) -> EngineLine | None:
        """The engine's line; None for a line of other output, and for one that cannot be decoded: it may be
        the last one, truncated by a kill. Raises LaunchFailed if it was not the last."""
        now = time.monotonic()
        if line.source == "err" or not line.text.startswith('{"kind"'):
            if line.source == "out":  # Hydra reports how ranks ended on standard output
                job.tail.append(line.text)
            seen.corrupted = seen.corrupted or CORRUPTED.search(line.text)
            self.watch.take_answer(now, line.text)
            return None
        if seen.undecoded is not None:
            raise seen.undecoded
        try:
            entry = decode_line(line.text)
        except LaunchFailed as problem:
            seen.undecoded = problem
            return None
        return self._follow(entry, now, seen)

    def _follow(self, entry: EngineLine, now: float, seen: _Seen) -> EngineLine:
        """Notes how far the launch is, and returns the line to be stored."""
        watch = self.watch
        if isinstance(entry, Launch):
            watch.launched(now)
            seen.finished = 0
            return with_command(entry, self.started)
        if isinstance(entry, Start):
            watch.started(now, entry.case, entry.position)
        elif isinstance(entry, Visiting):
            watch.visiting(now)
        elif isinstance(entry, Record | Failure):
            watch.finished(now)
            seen.finished = (seen.finished or 0) + 1
        elif isinstance(entry, End):
            seen.ended = entry.cases == watch.cases  # otherwise the plan did not arrive complete
        return entry

    def _judge_end(self, job: process.Job, seen: _Seen) -> None:
        """Raises LaunchFailed unless the launch measured all of its plan and ended."""
        waited = job.wait(self.finish_s)
        code = job.end() if waited is None else waited
        tail = tuple(job.tail)
        if seen.ended:
            if waited is None:
                raise _not_ending(self.finish_s, job_exit=code, tail=tail)
            return
        self._refuse_corrupted(seen.corrupted, code, tail)
        if seen.undecoded is not None and code == 0:
            raise seen.undecoded
        if self.watch.answered:  # the engine aborted itself
            raise self.watch.failure(code, tail)
        raise self.died(self.watch.ranks, self.watch.case or self._suspect(seen), code, tail)

    def _suspect(self, seen: _Seen) -> str:
        """The case that may have been running: launchers drop lines that they have not yet forwarded,
        possibly including a case's start. "" if the order of the cases does not show it."""
        if seen.finished is None or seen.finished >= len(self.plan) or self.watch.options.visits != 1:
            return ""
        return self.plan[seen.finished].line

    def _refuse_corrupted(self, seen: re.Match[str] | None, code: int, tail: tuple[str, ...]) -> None:
        """Raise LaunchFailed if a rank reported a corrupted message, in its output or, if the launcher
        dropped that, by its exit code."""
        if seen is None and code != CORRUPTED_EXIT_CODE:
            return
        rank, sender = (None, None) if seen is None else map(int, seen.groups())
        raise message_corrupted(self.watch.case, rank, sender, job_exit=code, tail=tail)


def decode_line(text: str) -> EngineLine:
    try:
        return decode_engine_line(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise line_not_understood(str(error)) from error


def with_command(launch: Launch, started: LaunchCommand) -> Launch:
    words = [*(f"{name}={value}" for name, value in started.environment), *started.words]
    binding, bound = reported_binding(launch.ranks, started)
    return msgspec.structs.replace(launch, command=words, binding=binding, bound=bound)


def reported_binding(ranks: Sequence[Rank], started: LaunchCommand) -> tuple[str, bool]:
    """The actual binding as reported by the ranks, and whether ranks are bound; as planned if they do not
    report it."""
    if started.placed_by_user:
        return _reported_placement(ranks, started)
    if not started.bound or not all(rank.cpus for rank in ranks):
        return started.binding, started.bound
    places = {(rank.host, rank.cpus) for rank in ranks}
    if len(places) < len(ranks):
        return not_bound_although_requested(started.binding), False
    if len({rank.host for rank in ranks}) > 1:
        return started.binding, True
    return bound_as_reported([rank.cpus for rank in ranks]), True


def _reported_placement(ranks: Sequence[Rank], started: LaunchCommand) -> tuple[str, bool]:
    """The binding of ranks placed by the user. Ranks that share their CPUs with no other are bound; a single
    rank only if it has a single CPU."""
    if not all(rank.cpus for rank in ranks):
        return started.binding, False
    apart = len({(rank.host, rank.cpus) for rank in ranks}) == len(ranks)
    bound = apart and (len(ranks) > 1 or ranks[0].cpus.isdecimal())
    if len({rank.host for rank in ranks}) > 1:
        return started.binding, bound
    return bound_as_reported([rank.cpus for rank in ranks]), bound


def _not_ending(seconds: float, *, job_exit: int, tail: tuple[str, ...]) -> LaunchFailed:
    """The error of a launch that does not end after its last result."""
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


def bound_as_reported(cpus: Sequence[str]) -> str:
    """`cpus` is every rank's affinity mask."""
    return f"rank i on cpu {' | '.join(cpus)}"


def not_bound_although_requested(binding: str) -> str:
    return f"not bound, although requested ({binding})"


def message_corrupted(
    case: str, rank: int | None, sender: int | None, *, job_exit: int, tail: tuple[str, ...]
) -> LaunchFailed:
    """`case` is "" if none was running; `rank` and `sender` are None if the launcher dropped them."""
    who = "a rank" if rank is None else f"rank {rank}"
    whom = "" if sender is None else f" from rank {sender}"
    return LaunchFailed(
        f"{who} received an internal message{whom} that was corrupted in transit",
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
