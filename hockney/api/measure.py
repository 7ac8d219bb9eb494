# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measuring: from a question to a run, and resuming an interrupted one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hockney import lab, studies
from hockney.api import messages
from hockney.api.least_budget import budget_warning, least_budget_s
from hockney.api.questions import Question, question, refuse_unknown
from hockney.api.run_contents import Run
from hockney.api.run_options import RunOptions, refuse_long_rounds
from hockney.api.trusted_settings import marked, refuse_foreign
from hockney.core.case import Case
from hockney.core.catalog import Catalog, Workload
from hockney.core.errors import HockneyError, UsageError, keeping
from hockney.core.notice import Notice
from hockney.core.paths import AnyPath, to_path
from hockney.core.settings import Settings
from hockney.core.survey_reference import Surveyed
from hockney.lab import Bench, CasesChosen, Listener, Outcome, Status, Working, notifier, silent
from hockney.store import RunFolder, left
from hockney.studies import Options

DEFAULT = RunOptions()
SURVEY = "survey"
"""The study's parameter that names the run of a survey."""


@dataclass(frozen=True)
class Planned:
    """What would run, on which bench. `surveyed` is the survey that the study uses, if any;
    `least_budget_s` the minimum of the budget, which replaces a smaller one."""

    settings: Settings
    cases: tuple[Case, ...]
    bench: Bench
    surveyed: Surveyed | None
    least_budget_s: float = 0.0

    @property
    def warning(self) -> Notice | None:
        """That the budget is too small, if it is."""
        return budget_warning(self.settings, self.least_budget_s, self.cases)

    @property
    def affordable(self) -> Settings:
        """The settings with the minimum instead of a smaller budget."""
        return replace(self.settings, budget_s=max(self.settings.budget_s, self.least_budget_s))


def survey(options: RunOptions = DEFAULT, *, out: AnyPath | None = None, listen: Listener = silent) -> Run:
    """Measure what message passing costs; see `run`."""
    return run(Question(SURVEY), options, out=out, listen=listen)


def run(
    asked: Question | str | Sequence[str],
    options: RunOptions = DEFAULT,
    *,
    out: AnyPath | None = None,
    listen: Listener = silent,
) -> Run:
    """Measure a study or cases into the folder `out` (default: a new one in runs), and fit models.

    Raises UsageError before anything is written; EnvironmentProblem or LaunchFailed if nothing can be
    launched. Measurements so far are kept then, and on Ctrl-C, which raises RunInterrupted; `resume`
    continues.
    """
    if options.every is not None and not options.every_s:
        listen(messages.rounds_follow_at_once())
    planned = plan(asked, options, listen=listen)
    bench = lab.check(planned.bench, planned.cases)
    planned = _within_budget(replace(planned, bench=bench))
    if planned.warning is not None:
        listen(planned.warning)
    listen(CasesChosen(planned.cases, _workloads(planned)))
    settings = planned.affordable
    if not options.rounds:
        settings = replace(settings, launches=bench.launch_count(settings.budget_s, planned.cases))
    path = None if out is None else to_path(out)
    folder = lab.begin(path, planned.cases, marked(settings), bench, planned.surveyed)
    return _measured(folder, bench, listen, asked=planned.cases)


def _workloads(planned: Planned) -> tuple[Workload, ...]:
    names = dict.fromkeys(case.workload for case in planned.cases)
    return tuple(planned.bench.catalog.entry(name) for name in names)


def plan(
    asked: Question | str | Sequence[str], options: RunOptions = DEFAULT, *, listen: Listener = silent
) -> Planned:
    """What `run` would measure. The engine is compiled if necessary, but nothing is launched."""
    wanted = asked if isinstance(asked, Question) else question(asked)
    parameters = wanted.values()
    surveyed = _survey(parameters.get(SURVEY), options, listen)
    notify = notifier(listen)
    bench = lab.prepare(
        options.machine, options.mpi, options.bind, notify, wanted.needed, launcher=options.launcher
    )
    if surveyed is not None:
        surveyed = lab.take_survey(surveyed, bench.machine, options.force)
    refuse_unknown(wanted, {w.name for w in bench.catalog.workloads})
    lab.check_ranks(bench, max(options.ranks, default=0))  # before a study plans for this many
    narrowed = Options(
        ranks=options.ranks,
        sizes=options.sizes,
        cases=wanted.cases,
        parameters=parameters,
        surveyed=surveyed,
        budget_s=options.budget,
    )
    study = studies.study(wanted.study)
    cases = study.plan(narrowed, bench.catalog, bench.machine)
    lab.check_memory(bench, cases)
    settings = options.settings(wanted.study, refine=studies.refines(study))
    used = {case.setting for case in cases}
    declared = studies.launch_settings(study, narrowed, bench.machine)
    more = tuple(setting.line for setting in declared if setting.name in used)
    settings = replace(settings, launch_settings=(*settings.launch_settings, *more))
    lab.check_settings(bench, cases, settings)
    if not settings.launches:
        settings = replace(settings, launches=bench.launch_count(settings.budget_s, cases))
    return _within_budget(Planned(settings, tuple(cases), bench, surveyed))


def _within_budget(planned: Planned) -> Planned:
    """With the minimum of its budget, by what is known now of the cost of a launch. Raises UsageError."""
    least_s = least_budget_s(planned.settings, planned.bench, planned.cases)
    return replace(planned, least_budget_s=least_s)


def _survey(path: Path | None, options: RunOptions, listen: Listener) -> Surveyed | None:
    if path is None:
        if options.force:
            raise messages.force_without_survey()
        return None
    surveyed, notices = lab.survey_of(path)
    for notice in notices:
        listen(notice)
    return surveyed


def resume(
    path: AnyPath,
    *,
    budget: float | None = None,
    mpi: str = "",
    machine: str = "",
    mpiexec_args: str = "",
    variables: tuple[str, ...] = (),
    launch_settings: tuple[str, ...] = (),
    listen: Listener = silent,
) -> Run:
    """Measure the rest of the run in `path`; failed cases are tried once more.

    `budget` (s) is the time for everything that is left, or for each remaining round; the default is its
    share of the run's. `mpi`, `machine`, `mpiexec_args`, `variables` and `launch_settings` replace those of
    the plan. Raises the same errors as `run`, and UsageError if the plan names programs that this user has
    not typed.
    """
    path = to_path(path)
    folder = RunFolder.open(path)
    planned = folder.plan()
    settings = planned.settings
    given = {"--mpi": mpi, "--mpiexec-args": mpiexec_args, "-x": variables, "--setting": launch_settings}
    refuse_foreign(settings, path, [option for option, value in given.items() if value])
    settings = replace(
        settings,
        mpi=mpi or settings.mpi,
        machine=machine or settings.machine,
        mpiexec_args=mpiexec_args or settings.mpiexec_args,
        variables=variables or settings.variables,
        launch_settings=launch_settings or settings.launch_settings,
    )
    before = folder.machine()
    records = folder.read().run
    if budget is not None and settings.every_s:
        refuse_long_rounds(budget, settings.every_s)
    notify = notifier(listen)
    cases = planned.cases
    workloads = {case.workload for case in cases}
    bench = lab.prepare(
        settings.machine,
        settings.mpi,
        settings.bind,
        notify,
        workloads,
        launcher=settings.launcher,
    )
    for case in cases:
        _refuse_unusable(case, bench.catalog, folder)
    lab.check_settings(bench, cases, settings)
    if left(planned, records):
        bench = lab.check(bench, cases)
        for difference in lab.differences(before, bench.machine):
            field = lab.name_of(difference)
            listen(messages.bench_changed(field, difference.left, difference.right))
    return _measured(folder, bench, listen, budget)


def _refuse_unusable(case: Case, catalog: Catalog, folder: RunFolder) -> None:
    """Raises EnvironmentProblem for a case of a plan that could not have been requested."""
    try:
        catalog.case(case.line)
    except UsageError as problem:
        raise messages.planned_case_not_usable(folder.plan_path, case.line, problem) from problem


def _measured(
    folder: RunFolder,
    bench: Bench,
    listen: Listener,
    budget_s: float | None = None,
    asked: tuple[Case, ...] = (),
) -> Run:
    try:
        with keeping(folder.path, complete=False):
            outcome: Outcome = lab.measure(folder, bench, listen, budget_s)
    except HockneyError:
        listen(Status(messages.records_kept(folder.path)))
        raise
    with keeping(folder.path, complete=not outcome.left):
        listen(Working(messages.fitting()))
        made = Run(folder, outcome, asked=asked)
        made.save_fits()
        listen(Working(""))
    return made
