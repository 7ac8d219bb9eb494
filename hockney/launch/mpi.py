# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Real launches: the engine under mpiexec."""

from __future__ import annotations

import copy
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from hockney import process
from hockney.core.case import Case
from hockney.core.errors import EnvironmentProblem, printable
from hockney.core.launcher_options import NOTHING_ADDED, LauncherOptions
from hockney.core.layout import Cores, Layout
from hockney.core.machine import Mpi
from hockney.core.paths import LAUNCH_FOLDER
from hockney.core.record import EngineLines
from hockney.launch.allocation import hosts
from hockney.launch.cluster import NO_CLUSTER, Cluster
from hockney.launch.command import command, names_hosts
from hockney.launch.failures import Ending, describe_ending, ending_of, explain
from hockney.launch.hang_detector import HangDetector
from hockney.launch.launch_test import say_hello, with_starter
from hockney.launch.launcher import CheckedRanks, LaunchCommand, Launcher, LaunchFailed, LaunchOptions
from hockney.launch.reading import EngineReader
from hockney.mpi import family_of
from hockney.process import Scratch

PLAN, STOP = "plan.txt", "stop"


class MpiLauncher(Launcher):
    """Launches `engine` with `mpi` on this host's `cores`, or on the hosts of a batch job.

    `others` are the executables of workloads that it does not contain; `user` are the user's arguments of
    mpiexec. Ranks are spread as in `layout` over the hosts of `cluster`, other hosts first in every launch.
    It is the first of `ways`, if given, which start ranks differently: `check` finds the first that works.
    With `asleep`, ranks sleep while they wait for a moment or compute for a preset time.
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
        layout: Layout | None = None,
        cluster: Cluster | None = None,
        ways: Callable[[], Iterator[Cluster]] | None = None,
        asleep: bool = False,
    ) -> None:
        self.mpi = mpi
        self.engine = engine
        self.others = others or {}
        self.cores = cores
        self.bind = bind
        self.user = user
        self.layout = layout
        self.ways = ways or (lambda: iter([cluster or NO_CLUSTER]))
        self.decided = ways is None
        self._cluster = cluster
        self.asleep = asleep
        self.environ = os.environ if environ is None else environ

    def describe(self, ranks: int) -> LaunchCommand:
        return self._command(self.engine, ranks, "--plan", "FILE")

    @property
    def _on_other_hosts(self) -> bool:
        """Whether rank 0, which reads the plan, may be on another host than this program."""
        layout_far = self.layout is not None and self.layout.nodes > 1
        named = bool(self.cluster.hosts) or names_hosts(self.user)
        return layout_far or named or hosts(self.environ) > 1

    def having_environ(self, more: Mapping[str, str]) -> MpiLauncher:
        """A copy that plans as if these variables were set too."""
        other = copy.copy(self)
        other.environ = {**self.environ, **more}
        return other

    @property
    def cluster(self) -> Cluster:
        """The hosts, and what starts ranks there, as far as that is decided."""
        if self._cluster is None:
            self._cluster = next(self.ways())
        return self._cluster

    def check(self, ranks: int) -> CheckedRanks:
        """Start `ranks` ranks that only identify themselves, in the first of `ways` that works and from then
        on in that one. Raises EnvironmentProblem."""
        if self.decided:
            return self._check(ranks)
        problems: list[EnvironmentProblem] = []
        try:
            for cluster in self.ways():
                self._cluster = cluster
                try:
                    checked = self._check(ranks)
                except EnvironmentProblem as problem:
                    problems.append(problem)
                    continue
                self.decided = True
                return checked
        except EnvironmentProblem as problem:
            problems.append(problem)
        raise most_informative(problems)

    def _check(self, ranks: int) -> CheckedRanks:
        plan_folder((), self.engine.parent, self._on_other_hosts)  # a launch would fail there only later
        started = self._command(self.engine, ranks, "--hello")
        present = {*self.environ, *(name for name, _ in self.user.variables)}
        wanted = family_of(self.mpi).report_variables(self.mpi).items()
        report = [(name, value) for name, value in wanted if name not in present]
        started = replace(started, environment=(*started.environment, *report))
        return say_hello(started, self.mpi, ranks, self.cluster.srun, hosts=self.cluster.hosts)

    def run(self, plan: Sequence[Case], ranks: int, options: LaunchOptions) -> EngineLines:
        engine = program(plan, self.engine, self.others)
        scratch = plan_folder(plan, engine.parent, self._on_other_hosts, options.files)
        file, stop = scratch.folder / PLAN, scratch.folder / STOP
        waits = ("--waits", "asleep") if self.asleep else ()
        words = (*option_words(options), *waits, "--stop", str(stop), "--plan", str(file))
        started = self._command(engine, ranks, *words, variables=options.variables, turn=options.turn)
        watch = HangDetector(options, len(plan), ranks)
        with process.stoppable(stop):
            yield from EngineReader(started, watch, plan, scratch, self._died).lines()

    def _command(
        self,
        engine: Path,
        ranks: int,
        *words: str,
        variables: Sequence[tuple[str, str]] = (),
        turn: int = 0,
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
            layout=self.layout,
            cluster=self.cluster,
            turn=turn,
        )

    def _died(self, ranks: int, case: str, job_exit: int, tail: tuple[str, ...]) -> LaunchFailed:
        started = with_starter(self.mpi, self.cluster.srun)
        explanation = explain(started, ranks, tail, self.cluster.hosts)
        if explanation is not None:
            case = "" if explanation.of_machine else case
            return explanation.failure("died" if case else "refused", case, job_exit, tail)
        launcher = Path(started.mpiexec).name
        return launch_died(case, ranks, ending_of(job_exit, tail), launcher, tail)


CONNECTING = (
    "ranks-run-as-separate-jobs", "ranks-cannot-reach-launcher", "ranks-do-not-start", "ranks-missing",
)  # fmt: skip
"""Failures of one way of starting ranks, which do not explain why others fail."""


def most_informative(problems: Sequence[EnvironmentProblem]) -> EnvironmentProblem:
    """The first failure that is not about connecting ranks, or else the first."""
    return next((problem for problem in problems if problem.code not in CONNECTING), problems[0])


def program(plan: Sequence[Case], engine: Path, others: Mapping[str, Path]) -> Path:
    """The executable that runs all of `plan`."""
    programs = {others.get(case.workload, engine) for case in plan}
    if len(programs) > 1:
        raise ValueError(f"a launch has one executable, not {len(programs)}")
    return programs.pop() if programs else engine


def plan_folder(
    plan: Sequence[Case],
    engine_folder: Path,
    on_other_hosts: bool = False,
    files: Mapping[str, str | bytes] = MappingProxyType({}),
) -> Scratch:
    """The plan as file PLAN in a new folder, with the `files` that it names, and the empty file STOP, into
    which something is written to end the launch early. The folder is next to the engine, so that every host
    that can start the engine can read it, or among the temporary files of this host if the engine's folder is
    not writable and no rank is elsewhere: with ranks `on_other_hosts` EnvironmentProblem is raised then.

    The plan is a file because Open MPI 5's launcher does not forward standard input unchanged
    (engine/app/session.cpp).
    """
    parent = engine_folder
    if not os.access(engine_folder, os.W_OK):
        if on_other_hosts:
            raise EnvironmentProblem(
                f"cannot write to {printable(str(engine_folder))}",
                "ranks on other hosts read from it what a launch measures",
                "set HOCKNEY_CACHE to a folder that all hosts share and that is writable",
                code="plan-folder-not-shared",
                folder=str(engine_folder),
            )
        parent = Path(tempfile.gettempdir())
    return Scratch(parent / f"{LAUNCH_FOLDER}{uuid.uuid4().hex}", {PLAN: plan_text(plan), STOP: "", **files})


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


def launch_died(
    case: str, ranks: int, ending: Ending, launcher: str, tail: tuple[str, ...] = ()
) -> LaunchFailed:
    """`case` is "" if none was running; `launcher` is the name of the program that started the ranks."""
    return LaunchFailed(
        f"the launch died during '{case}'" if case else f"the launch of {ranks} ranks died",
        describe_ending(ending, launcher),
        code="launch-died",
        reason="died",
        case=case,
        job_exit=ending.job_exit,
        tail=tail,
        signal=ending.signal,
    )
