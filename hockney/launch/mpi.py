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
from hockney.core.launcher_options import NO_LAUNCHER_OPTIONS, LauncherOptions
from hockney.core.layout import Cores, Layout
from hockney.core.machine import Mpi
from hockney.core.paths import LAUNCH_FOLDER
from hockney.core.record import EngineLines
from hockney.launch.allocation import count_hosts
from hockney.launch.cluster import NO_CLUSTER, Cluster
from hockney.launch.command import command, names_hosts
from hockney.launch.failures import Ending, describe_ending, explain, parse_ending
from hockney.launch.hang_detector import HangDetector
from hockney.launch.launch_test import say_hello, with_starter
from hockney.launch.launcher import CheckedRanks, LaunchCommand, Launcher, LaunchFailed, LaunchOptions
from hockney.launch.reading import EngineReader
from hockney.mpi import family_of
from hockney.process import Scratch

PLAN_FILE, STOP_FILE = "plan.txt", "stop"


class MpiLauncher(Launcher):
    """Launches `engine` with `mpi` on this host's `cores`, or on the hosts of a batch job.

    `group_engines` are the executables of workloads that `engine` does not contain. `user` are the user's
    arguments of mpiexec. Ranks are spread as in `layout` over the hosts of `cluster`, beginning with other
    hosts in every launch. `clusters` yields the same cluster with each available launcher; `check` finds the
    first one that works. With `asleep`, ranks sleep while they wait for a moment or compute for a preset
    time.
    """

    def __init__(
        self,
        mpi: Mpi,
        engine: Path,
        cores: Cores,
        *,
        bind: bool = True,
        environ: Mapping[str, str] | None = None,
        group_engines: Mapping[str, Path] | None = None,
        user: LauncherOptions = NO_LAUNCHER_OPTIONS,
        layout: Layout | None = None,
        cluster: Cluster | None = None,
        clusters: Callable[[], Iterator[Cluster]] | None = None,
        asleep: bool = False,
    ) -> None:
        self.mpi = mpi
        self.engine = engine
        self.group_engines = group_engines or {}
        self.cores = cores
        self.bind = bind
        self.user = user
        self.layout = layout
        self.candidate_clusters = clusters or (lambda: iter([cluster or NO_CLUSTER]))
        self.decided = clusters is None
        self._cluster = cluster
        self.asleep = asleep
        self.environ = os.environ if environ is None else environ

    def describe(self, ranks: int) -> LaunchCommand:
        return self._command(self.engine, ranks, "--plan", "FILE")

    @property
    def _on_other_hosts(self) -> bool:
        """Whether rank 0, which reads the plan, may run on another host than this program."""
        has_many_nodes = self.layout is not None and self.layout.nodes > 1
        has_host_names = bool(self.cluster.hosts) or names_hosts(self.user)
        return has_many_nodes or has_host_names or count_hosts(self.environ) > 1

    def with_environ(self, variables: Mapping[str, str]) -> MpiLauncher:
        """Return a copy that plans as if these variables were set too."""
        launcher = copy.copy(self)
        launcher.environ = {**self.environ, **variables}
        return launcher

    @property
    def cluster(self) -> Cluster:
        """The hosts and their launcher, as far as they are decided."""
        if self._cluster is None:
            self._cluster = next(self.candidate_clusters())
        return self._cluster

    def check(self, ranks: int) -> CheckedRanks:
        """Start `ranks` ranks that only identify themselves, with the first of `clusters` that works. Later
        launches use the same one. Raises EnvironmentProblem."""
        if self.decided:
            return self._check(ranks)
        problems: list[EnvironmentProblem] = []
        try:
            for cluster in self.candidate_clusters():
                self._cluster = cluster
                try:
                    checked_ranks = self._check(ranks)
                except EnvironmentProblem as problem:
                    problems.append(problem)
                    continue
                self.decided = True
                return checked_ranks
        except EnvironmentProblem as problem:
            problems.append(problem)
        raise most_informative_problem(problems)

    def _check(self, ranks: int) -> CheckedRanks:
        plan_folder((), self.engine.parent, self._on_other_hosts)  # a launch would fail there only later
        launch_command = self._command(self.engine, ranks, "--hello")
        set_names = {*self.environ, *(name for name, _ in self.user.variables)}
        report_variables = family_of(self.mpi).report_variables(self.mpi).items()
        added_variables = [(name, value) for name, value in report_variables if name not in set_names]
        launch_command = replace(launch_command, environment=(*launch_command.environment, *added_variables))
        return say_hello(launch_command, self.mpi, ranks, self.cluster.srun, hosts=self.cluster.hosts)

    def run(self, plan: Sequence[Case], ranks: int, options: LaunchOptions) -> EngineLines:
        engine = select_engine(plan, self.engine, self.group_engines)
        scratch = plan_folder(plan, engine.parent, self._on_other_hosts, options.files)
        plan_file, stop_file = scratch.folder / PLAN_FILE, scratch.folder / STOP_FILE
        waits = ("--waits", "asleep") if self.asleep else ()
        words = (*option_words(options), *waits, "--stop", str(stop_file), "--plan", str(plan_file))
        launch_command = self._command(engine, ranks, *words, variables=options.variables, turn=options.turn)
        detector = HangDetector(options, len(plan), ranks)
        with process.stoppable(stop_file):
            yield from EngineReader(launch_command, detector, plan, scratch, self._explain_death).lines()

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
            many_hosts=count_hosts(self.environ) > 1,
            environ=self.environ,
            user=self.user.with_variables(variables),
            layout=self.layout,
            cluster=self.cluster,
            turn=turn,
        )

    def _explain_death(self, ranks: int, case: str, job_exit: int, tail: tuple[str, ...]) -> LaunchFailed:
        starter = with_starter(self.mpi, self.cluster.srun)
        explanation = explain(starter, ranks, tail, self.cluster.hosts)
        if explanation is not None:
            case = "" if explanation.machine_failed else case
            return explanation.failure("died" if case else "refused", case, job_exit, tail)
        launcher = Path(starter.mpiexec).name
        return launch_died(case, ranks, parse_ending(job_exit, tail), launcher, tail)


CONNECTION_PROBLEMS = (
    "ranks-run-as-separate-jobs", "ranks-cannot-reach-launcher", "ranks-do-not-start", "ranks-missing",
)  # fmt: skip
"""Failures of one launcher that do not explain why others fail."""


def most_informative_problem(problems: Sequence[EnvironmentProblem]) -> EnvironmentProblem:
    """Return the first failure that is not about connecting ranks, or else the first."""
    return next((problem for problem in problems if problem.code not in CONNECTION_PROBLEMS), problems[0])


def select_engine(plan: Sequence[Case], engine: Path, group_engines: Mapping[str, Path]) -> Path:
    """Return the executable that runs all of `plan`."""
    programs = {group_engines.get(case.workload, engine) for case in plan}
    if len(programs) > 1:
        raise ValueError(f"a launch has one executable, not {len(programs)}")
    return programs.pop() if programs else engine


def plan_folder(
    plan: Sequence[Case],
    engine_folder: Path,
    on_other_hosts: bool = False,
    files: Mapping[str, str | bytes] = MappingProxyType({}),
) -> Scratch:
    """Return a new folder with the plan as PLAN_FILE, the `files` that it names, and the empty STOP_FILE;
    writing to the latter ends the launch early. The folder is next to the engine, so that every host that can
    start the engine can read it. If the engine's folder is not writable, the folder is among the temporary
    files of this host, unless ranks run `on_other_hosts`: then EnvironmentProblem is raised.

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
    return Scratch(
        parent / f"{LAUNCH_FOLDER}{uuid.uuid4().hex}", {PLAN_FILE: plan_text(plan), STOP_FILE: "", **files}
    )


def plan_text(plan: Sequence[Case]) -> str:
    """Format the plan as the engine reads it."""
    return "".join(f"{case.line}\n" for case in plan)


MAX_ENGINE_INTEGER = 2**53
"""Greater whole numbers are not exact in the engine."""


def option_words(options: LaunchOptions) -> list[str]:
    """Return the engine's options (contract/README.md)."""
    limit = ["--limit", repr(options.limit_s)] if options.limit_s else []
    return [
        "--launch", options.launch,
        "--index", str(options.index),
        "--seed", str(options.seed % MAX_ENGINE_INTEGER),
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
    """Return the error of a launch that died. `case` is "" if none was running; `launcher` is the name of the
    program that started the ranks."""
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
