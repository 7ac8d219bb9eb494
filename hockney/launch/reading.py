# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One started engine: its lines as they come, its silence, its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import msgspec

from hockney import process
from hockney.core.case import Case
from hockney.core.record import End, EngineLine, Failure, Launch, Rank, Record, Start, decode_engine_line
from hockney.launch.hang_detector import HangDetector
from hockney.launch.launcher import LaunchCommand, LaunchFailed

FINISH_SECONDS = 30.0  # for MPI_Finalize; all results are safe by then

Died = Callable[[int, str, int, tuple[str, ...]], LaunchFailed]


class EngineReader:
    """Starts `started` and follows it. `begun` is called when the engine has read its plan; `died` tells of a
    launch that broke: ranks, the case it broke on, exit code, last words; `cwd` is the folder it is started
    in."""

    def __init__(
        self,
        started: LaunchCommand,
        watch: HangDetector,
        plan: Sequence[Case],
        begun: Callable[[], None],
        died: Died,
        cwd: str | None = None,
    ) -> None:
        self.started = started
        self.watch = watch
        self.plan = plan
        self.begun = begun
        self.died = died
        self.cwd = cwd

    def lines(self) -> Iterator[EngineLine]:
        """The engine's lines, the launch's with its command; raises LaunchFailed when it dies or hangs."""
        watch, plan = self.watch, self.plan
        finished: int | None = None
        with process.stream(self.started.words, env=dict(self.started.environment), cwd=self.cwd) as job:
            watch.begun(time.monotonic())
            ended = False
            while True:
                try:
                    patience = FINISH_SECONDS if ended else until(watch.deadline)
                    line = job.line(patience)
                except process.Quiet:
                    code = job.end()
                    if ended:
                        return
                    raise watch.failure(code, tuple(job.tail)) from None
                if line is None:
                    break
                now = time.monotonic()
                if line.source == "err" or not line.text.startswith('{"kind"'):
                    if line.source == "out":  # Hydra tells how ranks ended on standard output
                        job.tail.append(line.text)
                    watch.heard(now, line.text)
                    continue
                found = understood(line.text)
                if isinstance(found, Launch):
                    self.begun()
                    watch.launched(now)
                    finished = 0
                    found = with_command(found, self.started)
                elif isinstance(found, Start):
                    watch.started(now, found.case, found.position)
                elif isinstance(found, Record | Failure):
                    watch.finished(now)
                    finished = (finished or 0) + 1
                elif isinstance(found, End):
                    ended = found.cases == watch.cases  # else the plan did not arrive whole
                yield found
            code = job.wait(FINISH_SECONDS)
            if ended:
                return
            code = job.end() if code is None else code
            if watch.answered:  # the engine gave itself up
                raise watch.failure(code, tuple(job.tail))
            # launchers drop lines that they have not yet passed on, also that a case was started
            suspect = plan[finished].line if finished is not None and finished < len(plan) else ""
            raise self.died(watch.ranks, watch.case or suspect, code, tuple(job.tail))


def until(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())


def understood(text: str) -> EngineLine:
    try:
        return decode_engine_line(text)
    except msgspec.DecodeError as error:
        raise LaunchFailed(
            "the engine wrote a line that hockney does not understand",
            str(error),
            "run 'hockney build' to compile it again",
        ) from error


def with_command(launch: Launch, started: LaunchCommand) -> Launch:
    words = [*(f"{name}={value}" for name, value in started.environment), *started.words]
    return msgspec.structs.replace(launch, command=words, binding=seen_binding(launch.ranks, started.binding))


def seen_binding(ranks: Sequence[Rank], planned: str) -> str:
    """The binding as the ranks report it, which is what counts; `planned` where they do not tell."""
    if not all(rank.cpus for rank in ranks):
        return planned
    places = [(rank.host, rank.cpus) for rank in ranks]
    if len(set(places)) == len(places) and not planned.startswith("none"):
        hosts = len({rank.host for rank in ranks})
        return "rank i on cpu " + " | ".join(rank.cpus for rank in ranks) if hosts == 1 else planned
    if planned.startswith("none"):
        return planned
    return f"none, although asked for ({planned})"
