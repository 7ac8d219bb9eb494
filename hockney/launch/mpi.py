# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Real launches: the engine under mpiexec."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hockney.core.binding import Cores
from hockney.core.case import Case
from hockney.core.launcher_options import NOTHING_ADDED, LauncherOptions
from hockney.core.machine import Mpi
from hockney.core.paths import LAUNCH_FOLDER
from hockney.core.record import EngineLine
from hockney.launch.allocation import hosts
from hockney.launch.command import command
from hockney.launch.ending import ending_of
from hockney.launch.explain import explain
from hockney.launch.hang_detector import HangDetector
from hockney.launch.launch_test import say_hello
from hockney.launch.launcher import CheckedRanks, LaunchCommand, Launcher, LaunchFailed, LaunchOptions
from hockney.launch.messages import failures
from hockney.launch.reading import EngineReader
from hockney.launch.transport import report_variables
from hockney.process import Scratch

PLAN = "plan.txt"


class MpiLauncher(Launcher):
    """Launches `engine` with `mpi` on this host's `cores`, or on the hosts of a batch job.

    `others` are the executables of workloads that it does not contain; `user` are the user's arguments of
    mpiexec.
    """

    def __init__(
        self,
        mpi: Mpi,
        engine: Path,
        cores: Cores,
        *,
        bind: bool = True,
        environ: Mapping[str, str] | None = None,
        others: Mapping[str, Path] | None = None,
        user: LauncherOptions = NOTHING_ADDED,
    ) -> None:
        self.mpi = mpi
        self.engine = engine
        self.others = others or {}
        self.cores = cores
        self.bind = bind
        self.user = user
        self.environ = os.environ if environ is None else environ

    def describe(self, ranks: int) -> LaunchCommand:
        return self._command(self.engine, ranks, "--plan", "FILE")

    def check(self, ranks: int) -> CheckedRanks:
        """Start `ranks` ranks that only identify themselves. Raises EnvironmentProblem."""
        started = self._command(self.engine, ranks, "--hello")
        present = {*self.environ, *(name for name, _ in self.user.variables)}
        report = report_variables(self.mpi, present)
        started = replace(started, environment=(*started.environment, *report.items()))
        return say_hello(started, self.mpi, ranks)

    def run(self, plan: Sequence[Case], ranks: int, options: LaunchOptions) -> Iterator[EngineLine]:
        engine = program(plan, self.engine, self.others)
        scratch = plan_folder(plan, engine.parent)
        file = scratch.folder / PLAN
        words = (*option_words(options), "--plan", str(file))
        started = self._command(engine, ranks, *words, variables=options.variables)
        watch = HangDetector(options, len(plan), ranks)
        yield from EngineReader(started, watch, plan, scratch, self._died).lines()

    def _command(
        self, engine: Path, ranks: int, *words: str, variables: Sequence[tuple[str, str]] = ()
    ) -> LaunchCommand:
        return command(
            self.mpi,
            (str(engine), *words),
            ranks,
            self.cores,
            bind=self.bind,
            root=hasattr(os, "geteuid") and os.geteuid() == 0,
            many_hosts=hosts(self.environ) > 1,
            environ=self.environ,
            user=self.user.having(variables),
        )

    def _died(self, ranks: int, case: str, job_exit: int, tail: tuple[str, ...]) -> LaunchFailed:
        explanation = explain(self.mpi, ranks, tail)
        if explanation is not None:
            return explanation.failure("died" if case else "refused", case, job_exit, tail)
        return failures.launch_died(case, ranks, ending_of(job_exit, tail), tail)


def program(plan: Sequence[Case], engine: Path, others: Mapping[str, Path]) -> Path:
    """The executable that runs all of `plan`."""
    programs = {others.get(case.workload, engine) for case in plan}
    if len(programs) > 1:
        raise ValueError(f"a launch has one executable, not {len(programs)}")
    return programs.pop() if programs else engine


def plan_folder(plan: Sequence[Case], beside: Path) -> Scratch:
    """The plan as file PLAN in a new folder. It is next to the engine, so that every host that can start the
    engine can read it, or among the temporary files if the engine's folder is not writable.

    It is a file because Open MPI 5's launcher does not forward standard input unchanged
    (engine/app/session.cpp).
    """
    place = beside if os.access(beside, os.W_OK) else Path(tempfile.gettempdir())
    return Scratch(place / f"{LAUNCH_FOLDER}{uuid.uuid4().hex}", {PLAN: plan_text(plan)})


def plan_text(plan: Sequence[Case]) -> str:
    """The plan as the engine reads it."""
    return "".join(f"{case.line}\n" for case in plan)


def option_words(options: LaunchOptions) -> list[str]:
    """The engine's options (contract/README.md)."""
    limit = ["--limit", repr(options.limit_s)] if options.limit_s else []
    return [
        "--launch", options.launch,
        "--index", str(options.index),
        "--origin", options.origin,
        "--budget", repr(options.budget_s),
        "--precision", repr(options.precision),
        "--max-repetitions", str(options.max_repetitions),
        "--visits", str(options.visits),
        "--hang", repr(options.hang_s),
        *limit,
    ]  # fmt: skip
