# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measurement of runs: planning, measuring, and resuming after an interruption."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from hockney import measurement, models, studies
from hockney.api.questions import Question, parse_question, refuse_unknown
from hockney.api.run_contents import Run
from hockney.api.run_options import NO_REPLACEMENTS, Replacements, RunOptions, refuse_long_rounds
from hockney.api.trusted_settings import mark_programs, refuse_foreign
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import (
    EnvironmentProblem,
    HockneyError,
    RunInterrupted,
    UsageError,
    attach_run_to_interrupt,
    printable,
)
from hockney.core.fit import UsedSurvey
from hockney.core.launch_setting import LaunchSetting, launch_settings
from hockney.core.layout import THIS_HOST, HostOptions
from hockney.core.machine import Machine
from hockney.core.notice import Notice
from hockney.core.paths import PLAN, AnyPath, to_path
from hockney.core.record import RunRecords
from hockney.core.settings import Settings
from hockney.core.units import format_seconds, format_time_option
from hockney.core.wording import option, plural, verb_form
from hockney.measurement import (
    RESERVED_SHARE,
    Bench,
    CasesChosen,
    Goal,
    Listener,
    Outcome,
    Status,
    Working,
    ignore_event,
    notifier,
)
from hockney.store import LaunchShare, RunFolder, missing_items, unmeasured_items
from hockney.studies import Options

DEFAULT_OPTIONS = RunOptions()
SURVEY = "survey"
TOPOLOGY = "topology"
"""The parameter of studies that names a file with the switches between nodes."""
"""The study's parameter that names the run of a survey."""


@dataclass(frozen=True)
class PlannedRun:
    """A planned run with its bench. `surveyed` is the survey that the study uses, if any; `least_budget_s` is
    the minimum budget, which replaces a smaller one."""

    settings: Settings
    cases: tuple[Case, ...]
    bench: Bench
    surveyed: UsedSurvey | None
    least_budget_s: float = 0.0

    @property
    def warning(self) -> Notice | None:
        """A warning if the budget is too small."""
        return budget_warning(self.settings, self.least_budget_s, self.cases)

    @property
    def affordable_settings(self) -> Settings:
        """Settings with at least the minimum budget."""
        return replace(self.settings, budget_s=max(self.settings.budget_s, self.least_budget_s))


class CaseSource(Protocol):
    """Source of a plan's cases: a study or a substitute for one."""

    @property
    def refines(self) -> bool:
        """Whether sizes are added between those of the cases."""
        ...

    def cases(self, bench: Bench) -> list[Case]: ...

    @property
    def programs(self) -> tuple[str, ...]:
        """Descriptions of programs that the cases name (`Settings.programs`)."""
        ...

    def launch_settings(self, names: Collection[str], bench: Bench) -> Sequence[LaunchSetting]:
        """Launch settings that the source declares, at least those with these names."""
        ...


@dataclass(frozen=True)
class _StudyCases:
    """Case source for a study."""

    study: studies.Study
    options: Options

    @property
    def refines(self) -> bool:
        return self.study.REFINES

    def cases(self, bench: Bench) -> list[Case]:
        return studies.plan_study(self.study, self.options, bench.catalog, bench.machine)

    @property
    def programs(self) -> tuple[str, ...]:
        return self.options.programs

    def launch_settings(self, names: Collection[str], bench: Bench) -> Sequence[LaunchSetting]:
        return self.study.launch_settings(self.options, bench.machine)


def survey(
    options: RunOptions = DEFAULT_OPTIONS, *, out: AnyPath | None = None, listen: Listener = ignore_event
) -> Run:
    """Run a survey of message-passing costs; see `run`."""
    return run(Question(SURVEY), options, out=out, listen=listen)


def run(
    question: Question | str | Sequence[str],
    options: RunOptions = DEFAULT_OPTIONS,
    *,
    out: AnyPath | None = None,
    listen: Listener = ignore_event,
) -> Run:
    """Measure a study or cases, store them in the folder `out` (default: a new one in runs), and fit models.

    Raises UsageError before anything is written; EnvironmentProblem or LaunchFailed if nothing can be
    launched. Earlier measurements are kept, also on Ctrl-C, which raises RunInterrupted. `resume` continues
    the run.
    """
    planned_run = plan_and_check(question, options, listen)
    path = None if out is None else to_path(out)
    is_new = path is not None and not (path / PLAN).exists()
    folder = None
    try:
        folder = measurement.create_run(
            path,
            planned_run.cases,
            mark_programs(planned_run.settings),
            planned_run.bench,
            planned_run.surveyed,
        )
        return measure_rest(folder, planned_run.bench, listen, requested=planned_run.cases)
    except RunInterrupted:
        raise
    except KeyboardInterrupt as end:  # between any two steps
        if folder is not None:
            raise RunInterrupted(folder.path, complete=False) from end
        if path is not None and is_new and (path / PLAN).exists():
            raise RunInterrupted(path, complete=False) from end
        raise


def plan_and_check(
    question: Question | str | Sequence[str], options: RunOptions, listen: Listener
) -> PlannedRun:
    """Plan the measurements of `run` and start its ranks once."""
    if options.every is not None and not options.every_s:
        listen(
            Notice(
                "simulated time does not advance between rounds, so rounds follow each other immediately",
                "rounds-follow-at-once",
            )
        )
    return check_launch(plan(question, options, listen=listen), options, listen)


def check_launch(
    planned_run: PlannedRun, options: RunOptions, listen: Listener, has_goal: bool = False
) -> PlannedRun:
    """Start the ranks of a planned run once and adjust the plan. If the run or its study has a goal, a part
    of the budget is left unplanned."""
    bench = measurement.check_start(planned_run.bench, planned_run.cases)
    planned_run = _with_min_budget(replace(planned_run, bench=bench))
    if planned_run.warning is not None:
        listen(planned_run.warning)
    listen(selection_text(planned_run.cases, bench.catalog))
    settings = planned_run.affordable_settings
    if not options.launch_count:
        study = studies.find_study(settings.study)
        is_reserved = has_goal or study.open_cases is not None
        budget_s = (1 - RESERVED_SHARE * is_reserved) * settings.budget_s
        launches = bench.launch_count(budget_s, planned_run.cases, study.LAUNCHES)
        settings = replace(settings, launches=launches)
    return replace(planned_run, settings=settings)


def selection_text(cases: tuple[Case, ...], catalog: Catalog) -> CasesChosen:
    names = dict.fromkeys(case.workload for case in cases)
    return CasesChosen(cases, tuple(catalog.entry(name) for name in names))


def plan(
    question: Question | str | Sequence[str],
    options: RunOptions = DEFAULT_OPTIONS,
    *,
    listen: Listener = ignore_event,
    for_job: bool = False,
    case_source: CaseSource | None = None,
    plan_only: bool = False,
) -> PlannedRun:
    """Plan the measurements of `run`. The engine is compiled if necessary, except for a simulated machine
    with `plan_only`. Nothing is measured, but ranks are started once to find the levels at which they
    communicate if there are several nodes or if the study needs these levels. A plan `for_job` is for other
    hosts of the same kind and starts nothing. Cases from a `case_source` replace those of the study."""
    parsed_question = parse_question(question)
    surveyed = _read_survey(parsed_question.values().get(SURVEY), options, listen)
    bench = _prepare_bench(parsed_question, options, listen, for_job=for_job, plan_only=plan_only)
    topology = parsed_question.values().get(TOPOLOGY)
    if topology is not None:
        bench = measurement.add_topology(bench, topology)
    if surveyed is not None:
        surveyed = measurement.accept_survey(surveyed, bench.machine, options.force)
    source = case_source or _study_cases(parsed_question, options, bench, surveyed)
    measurement.check_ranks(bench, max(options.ranks, default=0))  # before a study plans for this many
    study = studies.find_study(parsed_question.study)
    settings = options.settings(
        study.NAME, refine=source.refines, simulated_launches=study.SIMULATED_LAUNCHES
    )
    cases = source.cases(bench)
    used_settings = {case.setting for case in cases}
    undeclared_names = used_settings - {"", *launch_settings(settings.launch_settings)}
    declared_settings = source.launch_settings(undeclared_names, bench)
    measurement.check_memory(bench, cases)
    measurement.check_network(bench, cases, settings.assume_network)
    declared_lines = tuple(setting.line for setting in declared_settings if setting.name in used_settings)
    settings = replace(
        settings,
        launch_settings=(*settings.launch_settings, *declared_lines),
        programs=source.programs,
    )
    measurement.check_settings(bench, cases, settings)
    if not settings.launches:
        study = studies.find_study(settings.study)
        settings = replace(settings, launches=bench.launch_count(settings.budget_s, cases, study.LAUNCHES))
    return _with_min_budget(PlannedRun(settings, tuple(cases), bench, surveyed))


def _prepare_bench(
    question: Question, options: RunOptions, listen: Listener, *, for_job: bool, plan_only: bool
) -> Bench:
    """Prepare a bench with the levels at which its ranks communicate; see `plan`."""
    bench = measurement.prepare(
        options.machine,
        options.mpi,
        options.bind,
        notifier(listen),
        question.needed,
        launcher=options.launcher_options,
        hosts=THIS_HOST if for_job else options.host_options,
        plans_only=plan_only,
    )
    if for_job:
        return measurement.bench_for_job(bench, options.layout)
    return measurement.find_levels(bench, within_node=studies.find_study(question.study).ASKS_FOR_LEVELS)


def _study_cases(
    question: Question, options: RunOptions, bench: Bench, surveyed: UsedSurvey | None
) -> _StudyCases:
    """Cases of the study. Raises UsageError for a case with an unknown workload."""
    refuse_unknown(question, {workload.name for workload in bench.catalog.workloads})
    study_options = Options(
        ranks=options.ranks,
        sizes=options.sizes,
        cases=question.cases,
        programs=question.programs,
        parameters=question.values(),
        survey=surveyed,
        budget_s=options.budget,
    )
    return _StudyCases(studies.find_study(question.study), study_options)


def _with_min_budget(planned_run: PlannedRun) -> PlannedRun:
    """Copy of the plan with its minimum budget, based on the current estimate of a launch's cost. Raises
    UsageError for a budget far below it."""
    min_s = min_budget_s(planned_run.settings, planned_run.bench, planned_run.cases)
    return replace(planned_run, least_budget_s=min_s)


def _read_survey(path: Path | None, options: RunOptions, listen: Listener) -> UsedSurvey | None:
    if path is None:
        if options.force:
            raise UsageError(
                f"{option('force')} has no effect without survey=RUN",
                "it accepts a survey of another machine",
                "leave it out",
                code="force-without-survey",
            )
        return None
    surveyed, notices = measurement.read_survey(path)
    for notice in notices:
        listen(notice)
    return surveyed


def resume(
    path: AnyPath,
    *,
    budget: float | None = None,
    replacements: Replacements = NO_REPLACEMENTS,
    share: LaunchShare | None = None,
    listen: Listener = ignore_event,
) -> Run:
    """Measure the remaining cases of the run in `path`, or a `share` of its launches. Failed cases are
    retried once. `budget` (s) is the time for all remaining cases, or for each remaining round (default: the
    remaining share of the original budget). `replacements` override options of the plan. Raises the same
    errors as `run`, and UsageError if the plan names programs that this user has not typed."""
    path = to_path(path)
    folder = RunFolder.open(path)
    stored_plan = folder.plan()
    settings = stored_plan.settings
    refuse_foreign(settings, path, replacements.given)
    settings = replace(settings, **replacements.given)
    if budget is not None and settings.every_s:
        refuse_long_rounds(budget, settings.every_s)
    bench = resumed_bench(folder, settings, listen, is_other_machine="machine" in replacements.given)
    return measure_rest(folder, bench, listen, budget, share=share)


def resumed_bench(
    folder: RunFolder,
    settings: Settings,
    listen: Listener,
    *,
    is_other_machine: bool = False,
    extend: bool = False,
) -> Bench:
    """Bench for the remaining cases of the run in `folder`. Its ranks are started once if measurements are
    missing or with `extend`. With `is_other_machine`, the machine may differ from the original one.
    Raises the same errors as `resume`."""
    old_machine = folder.machine()
    stored_plan, records = folder.plan(), folder.read().run
    cases = stored_plan.cases
    has_missing = extend or bool(unmeasured_items(stored_plan, records))
    bench = measurement.prepare(
        settings.machine,
        settings.mpi,
        settings.bind,
        notifier(listen),
        {case.workload for case in cases},
        launcher=settings.launcher,
        hosts=original_host_options(settings, old_machine)
        if has_missing and not is_other_machine
        else settings.host_options,
        ethernet=None if is_other_machine else old_machine.emulated,
    )
    for case in cases:
        _refuse_unusable(case, bench.catalog, folder)
    measurement.check_settings(bench, cases, settings)
    if has_missing:
        bench = measurement.check_start(bench, cases)
        for difference in measurement.resume_differences(old_machine, bench.machine):
            listen(bench_change_notice(difference.name, difference.left, difference.right))
    return bench


def original_host_options(settings: Settings, old_machine: Machine) -> HostOptions:
    """Host options of a run's settings, with the original number of nodes and ranks per node. Without these
    options the job determined them, and a job of another shape would add incompatible records. On one node,
    the launcher chooses the number of ranks."""
    hosts, layout = settings.host_options, old_machine.layout
    if not old_machine.traits.chosen_by_default:
        return hosts
    if layout is None or layout.nodes == 1:
        return replace(hosts, nodes=hosts.nodes or 1) if old_machine.traits.uses_mpiexec else hosts
    return replace(
        hosts,
        nodes=hosts.nodes or layout.nodes,
        ranks_per_node=hosts.ranks_per_node or layout.ranks_per_node,
    )


def _refuse_unusable(case: Case, catalog: Catalog, folder: RunFolder) -> None:
    """Raise EnvironmentProblem for a case of a plan that could not have been requested."""
    try:
        catalog.case(case.line)
    except UsageError as problem:
        raise EnvironmentProblem(
            f"'{printable(case.line)}' in {printable(str(folder.plan_path))} cannot be measured",
            str(problem),
            "the file may have been edited by hand; measure again",
            code="planned-case-not-usable",
            case=case.line,
            problem=problem.code,
        ) from problem


def measure_rest(
    folder: RunFolder,
    bench: Bench,
    listen: Listener,
    budget_s: float | None = None,
    requested: tuple[Case, ...] = (),
    share: LaunchShare | None = None,
    goal: Goal | None = None,
) -> Run:
    """Measure the missing cases in `folder` and fit models. With a `share`, models are fitted only if nothing
    else is missing."""
    try:
        with attach_run_to_interrupt(folder.path, complete=False):
            goal = goal or _study_goal(folder, bench)
            outcome: Outcome = measurement.measure(folder, bench, listen, budget_s, share, goal)
    except HockneyError:
        listen(Status(records_kept_text(folder.path)))
        raise
    if share is not None and missing_items(folder.plan(), folder.read().run):
        return Run(folder, outcome, requested=requested)
    with attach_run_to_interrupt(folder.path, complete=not outcome.missing_count):
        listen(Working("fitting the models"))
        run = Run(folder, outcome, requested=requested)
        run.save_fits()
        listen(Working(""))
    return run


def _study_goal(folder: RunFolder, bench: Bench) -> Goal | None:
    """The goal of the study's launches beyond the plan, if it has one."""
    settings = folder.plan().settings
    open_cases = studies.find_study(settings.study).open_cases
    if open_cases is None:
        return None

    def find_open(run: RunRecords) -> Collection[Case]:
        fits = models.fit_all(run, bench.catalog, cores=run.cores(bench.machine))
        evidence = studies.Evidence(
            fits=fits, run=run, machine=bench.machine, settings=settings, planned_count=0
        )
        return open_cases(evidence)

    return Goal(find_open)


def bench_change_notice(field: str, old: object, new: object) -> Notice:
    return Notice(f"{field} was {old} when the run began and is {new} now", "machine-changed")


def records_kept_text(folder: Path) -> str:
    return f"the results so far are kept; continue with: hockney resume {folder}"


REFUSED_FRACTION = 0.1
"""A budget below this fraction of the minimum is a mistake, such as 5ms for 5m."""


def min_budget_s(settings: Settings, bench: Bench, cases: Sequence[Case]) -> float:
    """Minimum budget for `cases` in seconds, at most the time between rounds; 0 if there is none. Raises
    UsageError if the budget is far below it."""
    min_s = bench.min_budget(settings, cases)
    if settings.budget_s < REFUSED_FRACTION * min_s:
        raise UsageError(
            f"{option('budget', format_time_option(settings.budget_s))} is far too small",
            f"{plural(len(cases), 'case')} {verb_form(len(cases), 'needs', 'need')} at least "
            f"{format_seconds(min_s, 2)}",
            f"use {option('budget', format_time_option(min_s))} or more, or fewer cases",
            code="budget-far-too-small",
            budget_s=settings.budget_s,
            least_s=min_s,
        )
    return min(min_s, settings.every_s or min_s)


def budget_warning(settings: Settings, min_s: float, cases: Sequence[Case]) -> Notice | None:
    """Warning that the minimum replaces the requested budget; None if the budget suffices."""
    if settings.budget_s >= min_s:
        return None
    return Notice(
        f"{option('budget', format_time_option(settings.budget_s))} is below the minimum of about "
        f"{format_time_option(min_s)} for {plural(len(cases), 'case')}, which is used instead",
        "budget-raised",
    )
