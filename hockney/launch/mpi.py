# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Real launches: the engine under an mpiexec."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from hockney import process
from hockney.core.case import Case
from hockney.core.cores import Cores
from hockney.core.errors import EnvironmentProblem
from hockney.core.machine import Mpi
from hockney.core.record import End, EngineLine, Failure, Launch, Rank, Record, Start, decode_engine_line
from hockney.launch.allocation import hosts
from hockney.launch.check import Hello, say_hello
from hockney.launch.command import command
from hockney.launch.explain import explain, how_it_ended
from hockney.launch.launcher import LaunchCommand, Launcher, LaunchFailed, LaunchOptions
from hockney.launch.watch import Watch

FINISH_SECONDS = 30.0  # for MPI_Finalize; all results are safe by then


class MpiLauncher(Launcher):
    """Launches `engine` with `mpi` on this host's `cores`, or wherever a batch job's mpiexec goes."""

    def __init__(
        self,
        mpi: Mpi,
        engine: Path,
        cores: Cores,
        *,
        bind: bool = True,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.mpi = mpi
        self.engine = engine
        self.cores = cores
        self.bind = bind
        self.environ = os.environ if environ is None else environ

    def describe(self, ranks: int) -> LaunchCommand:
        return self._command(ranks, "--plan", "FILE")

    def check(self, ranks: int) -> list[Hello]:
        """Start `ranks` ranks that only say who they are. Raises EnvironmentProblem with the way out."""
        return say_hello(self._command(ranks, "--hello"), self.mpi, ranks)

    def run(self, plan: Sequence[Case], ranks: int, options: LaunchOptions) -> Iterator[EngineLine]:
        with plan_file(plan, self.engine.parent) as file:
            started = self._command(ranks, *option_words(options), "--plan", str(file))
            yield from self._read(started, Watch(options, len(plan), ranks), plan, file)

    def _read(
        self, started: LaunchCommand, watch: Watch, plan: Sequence[Case], file: Path
    ) -> Iterator[EngineLine]:
        finished: int | None = None
        with process.stream(started.words, env=dict(started.environment)) as job:
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
                    file.unlink(missing_ok=True)  # read by now; so nothing is left when hockney is killed
                    watch.launched(now)
                    finished = 0
                    found = with_command(found, started)
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
            raise self._died(watch.ranks, watch.case or suspect, code, tuple(job.tail))

    def _command(self, ranks: int, *words: str) -> LaunchCommand:
        return command(
            self.mpi,
            (str(self.engine), *words),
            ranks,
            self.cores,
            bind=self.bind,
            root=hasattr(os, "geteuid") and os.geteuid() == 0,
            many_hosts=hosts(self.environ) > 1,
        )

    def _died(self, ranks: int, case: str, code: int, tail: tuple[str, ...]) -> LaunchFailed:
        known = explain(self.mpi, ranks, tail)
        what = f"the launch died during '{case}'" if case else f"the launch of {ranks} ranks died"
        what, why, todo = known or (what, how_it_ended(code, tail), "")
        reason = "died" if case or not known else "refused"
        return LaunchFailed(what, why, todo, reason=reason, case=case, code=code, tail=tail)


@contextmanager
def plan_file(plan: Sequence[Case], folder: Path) -> Iterator[Path]:
    """The plan in a file beside the engine, which every host that can start the engine can read.

    Open MPI 5's launcher does not pass on standard input as it is (see engine/app/session.cpp).
    """
    place = folder if os.access(folder, os.W_OK) else None
    try:
        descriptor, name = tempfile.mkstemp(prefix=".plan-", suffix=".txt", dir=place)
        with os.fdopen(descriptor, "w") as file:
            file.writelines(f"{case.line}\n" for case in plan)
    except OSError as error:
        raise EnvironmentProblem(
            f"cannot write to {place or tempfile.gettempdir()}",
            error.strerror or str(error),
            "make room there",
        ) from error
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def option_words(options: LaunchOptions) -> list[str]:
    """The engine's options (contract/README.md)."""
    return [
        "--launch", options.launch,
        "--index", str(options.index),
        "--origin", options.origin,
        "--budget", repr(options.budget_s),
        "--precision", repr(options.precision),
        "--max-repetitions", str(options.max_repetitions),
        "--hang", repr(options.hang_s),
    ]  # fmt: skip


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
