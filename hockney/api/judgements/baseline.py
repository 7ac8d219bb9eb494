# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Checks against a baseline: read its runs, measure their cases, compare.

Cases that may be slower than in the baseline get more launches. A case that looks slower is measured until
the budget ends, and not only until it looks slower: stopping at the first significant ratio would raise the
number of false alarms with each look (P. Armitage, C. K. McPherson, B. C. Rowe, J. R. Statist. Soc. A 132
(1969) 235). Cases that are the same or faster are not measured again, which only makes fewer alarms. Launches
of the new run beyond several times those of the baseline decide nothing: the interval of the ratio is then
that of the baseline."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import msgspec

from hockney import measurement, studies
from hockney.api.judgements.comparison import (
    TOLERANCE,
    Comparison,
    compare_sides,
    parts_judge,
    tolerance_share,
)
from hockney.api.judgements.history import History
from hockney.api.judgements.sides import Source, as_list, read_side, runs_of
from hockney.api.measure import SURVEY, PlannedRun, check_launch, measure_rest, plan
from hockney.api.questions import Question
from hockney.api.run_contents import Run
from hockney.api.run_options import RunOptions
from hockney.api.trusted_settings import is_own, mark_programs
from hockney.archive import is_archive
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import Inconclusive, UsageError, printable
from hockney.core.fit import Cost
from hockney.core.launch_setting import LaunchSetting, launch_settings
from hockney.core.machine import Machine
from hockney.core.notice import Notice
from hockney.core.paths import AnyPath, to_path
from hockney.core.record import RunRecords
from hockney.core.settings import Settings
from hockney.core.wording import option, plural, verb_form
from hockney.judgements.sides import MeasuredRun, Side
from hockney.measurement import Bench, Goal, Listener, ignore_event
from hockney.models.comparison import MIN_LAUNCHES, CaseVerdict
from hockney.studies import ad_hoc, published_study


@dataclass(frozen=True)
class BaselineCheck:
    """A run and its comparison with the baseline."""

    run: Run
    comparison: Comparison


def check(
    baseline: Source | Sequence[Source],
    options: RunOptions,
    question: Question | None = None,
    *,
    tolerance: float | None = None,
    cost: Cost = "typical",
    force: bool = False,
    out: AnyPath | None = None,
    listen: Listener = ignore_event,
) -> BaselineCheck:
    """Measure the cases of `baseline`, or those of `question`, and compare the new run with the baseline.

    Part of the budget is reserved for further launches of cases that are not the same after the planned ones.
    `options` select cases by ranks and sizes. Raises, before anything is measured, UsageError if the baseline
    is not a run, has no measurements, was measured on another machine (unless `force`), or has no case in
    common with `question`; EnvironmentProblem if it is damaged. Other errors are those of `run` and
    `compare`.
    """
    share = tolerance_share(tolerance, cost)
    tolerance = TOLERANCE if share is None else share
    baseline_runs = read_baseline(baseline, options, force, listen)
    options = replace(options, refine=False)
    if question is None or SURVEY not in question.parameters:
        options = replace(options, force=False)
    planned_run = plan(
        baseline_runs.question if question is None else question,
        options,
        listen=listen,
        case_source=baseline_runs if question is None else None,
    )
    side = baseline_runs.side_on(planned_run.bench.machine)
    _report_omissions(baseline_runs, planned_run, listen)
    judges_parts = parts_judge({planned_run.settings.study, *side.studies}) is not None
    measurable = baseline_runs.measurable_cases(planned_run.bench)
    if question is not None and not judges_parts and not set(planned_run.cases) & set(measurable):
        name, count = baseline_runs.name, len(planned_run.cases)
        missing_text = "not the case" if count == 1 else f"none of the {count} cases"
        raise UsageError(
            f"the baseline {name} has {missing_text} to be measured",
            "only cases with the same parameters, ranks and sizes can be compared",
            "'hockney survey --check' measures the cases of the baseline",
            code="nothing-asked-in-baseline",
            name=name,
            cases=count,
        )
    planned_run = check_launch(planned_run, options, listen, has_goal=True)
    settings = planned_run.settings
    if options.launches is None and not options.in_rounds and not planned_run.bench.machine.is_exact:
        settings = replace(settings, extend=True)
    path = None if out is None else to_path(out)
    folder = measurement.create_run(
        path, planned_run.cases, mark_programs(settings), planned_run.bench, planned_run.surveyed
    )
    goal = Goal(OpenCases(side, planned_run.bench, settings, tolerance, cost))
    run = measure_rest(folder, planned_run.bench, listen, requested=planned_run.cases, goal=goal)
    return BaselineCheck(run, Comparison(compare_sides(side, read_side("B", [run], listen), tolerance, cost)))


def _report_omissions(baseline: Baseline, planned_run: PlannedRun, listen: Listener) -> None:
    """Report the runs and cases of the baseline that are not used."""
    machine = planned_run.bench.machine
    run_count, usable_run_count = len(baseline.side.runs), len(baseline.side_on(machine).runs)
    if usable_run_count < run_count:
        listen(
            Notice(
                f"{run_count - usable_run_count} of {run_count} runs of the baseline were measured "
                f"on other machines and are left out ({option('force')} uses them too)",
                "baseline-runs-left-out",
            )
        )
    case_count, usable_case_count = (
        len(baseline.measured_cases(machine)),
        len(baseline.measurable_cases(planned_run.bench)),
    )
    if usable_case_count < case_count:
        listen(
            Notice(
                f"{case_count - usable_case_count} of {plural(case_count, 'case')} of the baseline "
                f"{baseline.name} cannot be measured here and are left out",
                "baseline-cases-left-out",
            )
        )


MAX_LAUNCH_RATIO = 4
"""Maximum ratio of launches of a case to launches in the baseline. More launches would narrow the interval of
the ratio by at most a tenth."""


@dataclass(frozen=True)
class OpenCases:
    """Finds the cases that need more launches. `side` is the baseline; the new run is measured on the
    `bench`."""

    side: Side
    bench: Bench
    settings: Settings
    tolerance: float
    cost: Cost = "typical"

    def __call__(self, run: RunRecords) -> set[Case]:
        new_run = MeasuredRun("", self.bench.machine, run, self.settings, self.bench.catalog)
        try:
            comparison = compare_sides(self.side, Side("B", (new_run,)), self.tolerance, self.cost)
        except Inconclusive:  # nothing was measured
            return set()
        return {verdict.case for verdict in comparison.cases if self._is_open(verdict)}

    def _is_open(self, verdict: CaseVerdict) -> bool:
        """Whether further launches may change the verdict."""
        baseline_launches, new_launches = verdict.launches
        if verdict.state == "unknown":
            return new_launches < MIN_LAUNCHES
        has_enough_launches = not self.side.is_exact and new_launches >= MAX_LAUNCH_RATIO * baseline_launches
        return verdict.state in ("undecided", "slower") and not has_enough_launches


MAX_RUNS_PER_MACHINE = 20
"""Maximum number of runs, the newest ones, taken from an archive for each machine."""
OTHER_MACHINE_FIELDS = ("kind", "platform", "cpu", "cores")
"""Fields that identify a machine. The host and the MPI may differ, as a check is meant to find the effect."""


@dataclass(frozen=True)
class Baseline:
    """`side` contains the baseline's runs, `question` asks for their cases, `options` are those of the new
    run. With `force`, runs from another machine are accepted."""

    side: Side
    question: Question
    options: RunOptions
    force: bool = False

    @property
    def name(self) -> str:
        return _baseline_name([run.name for run in self.side.runs])

    def side_on(self, machine: Machine) -> Side:
        """Runs that were measured on a machine like this one, and published runs.
        Raises UsageError if there is none."""
        if self.force:
            return self.side
        differences_of_run = {run.name: _machine_differences(run, machine) for run in self.side.runs}
        matching_runs = tuple(run for run in self.side.runs if not differences_of_run[run.name])
        if not matching_runs:
            name, differences = next(iter(differences_of_run.items()))
            other_count = len(differences_of_run) - 1
            others_text = {0: "", 1: ", and so was the other"}.get(
                other_count, f", and so were the {other_count} others"
            )
            raise UsageError(
                f"the baseline {name} was measured on another machine{others_text}",
                "; ".join(differences),
                f"measure a baseline on this machine, or use {option('force')}",
                code="baseline-of-another-machine",
                name=name,
                differences=differences,
                others=other_count,
            )
        return replace(self.side, runs=matching_runs)

    @property
    def refines(self) -> bool:
        """False: new sizes would have no counterpart in the baseline."""
        return False

    def cases(self, bench: Bench) -> list[Case]:
        """Measured cases, as this engine defines them, with the requested ranks and sizes. Raises UsageError
        if there is none."""
        measured, measurable = self.measured_cases(bench.machine), self.measurable_cases(bench)
        if not measurable:
            raise UsageError(
                f"no case of the baseline {self.name} can be measured here",
                f"it has {plural(len(measured), 'case')}, with more ranks than this machine has cores or of "
                "workloads that this version lacks",
                "use a baseline of this machine and version",
                code="baseline-not-measurable",
                name=self.name,
                cases=len(measured),
            )
        selected = [case for case in measurable if self._is_selected(case, bench.catalog)]
        if not selected:
            verb = verb_form(len(measurable), "has", "have")
            raise UsageError(
                f"{option('ranks')} and {option('sizes')} leave no case of the baseline {self.name}",
                f"its {plural(len(measurable), 'case')} {verb} other rank counts and sizes",
                "leave them out to measure all cases of the baseline",
                code="nothing-of-baseline",
                name=self.name,
                cases=len(measurable),
            )
        size_of = {case: bench.catalog.entry(case.workload).size_of(case) for case in selected}
        return sorted(selected, key=lambda case: (case.workload, case.ranks, size_of[case], case.line))

    def measured_cases(self, machine: Machine) -> list[Case]:
        """Cases of the runs on a machine like this one."""
        return _measured_cases(self.side_on(machine))

    def measurable_cases(self, bench: Bench) -> list[Case]:
        """Measured cases that can run here."""
        max_ranks = (
            None if not self.published else bench.layout.ranks if bench.layout else bench.machine.cores
        )
        catalog_cases = (_catalog_case(case, bench.catalog) for case in self.measured_cases(bench.machine))
        return [
            case
            for case in catalog_cases
            if case is not None and (max_ranks is None or case.ranks <= max_ranks)
        ]

    @property
    def published(self) -> bool:
        return any(run.machine.traits.published for run in self.side.runs)

    @property
    def programs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(line for run in self.side.runs for line in run.settings.programs))

    def launch_settings(self, names: Collection[str], bench: Bench) -> Sequence[LaunchSetting]:
        """Launch settings with these names that the runs declare. Raises UsageError if another user declared
        one of them, as variables may name programs."""
        declarations = [
            (run, setting)
            for run in self.side.runs
            for setting in launch_settings(run.settings.launch_settings).values()
            if setting.name in names
        ]
        for run, setting in declarations:
            if not is_own(run.settings):
                raise UsageError(
                    f"the baseline {run.name} has a launch setting of somebody else: "
                    f"{printable(setting.line)}",
                    "its variables would be set for programs that you start",
                    f"declare the setting with {option('launch_settings')} if you trust it",
                    code="foreign-setting-of-baseline",
                    name=run.name,
                    line=setting.line,
                )
        return list({setting.name: setting for _, setting in declarations}.values())

    def _is_selected(self, case: Case, catalog: Catalog) -> bool:
        size = catalog.entry(case.workload).size
        ranks, sizes = self.options.ranks, self.options.sizes
        return (not ranks or case.ranks in ranks) and (not sizes or size != "bytes" or case.bytes in sizes)


def read_baseline(
    source: Source | Sequence[Source], options: RunOptions, force: bool, listen: Listener
) -> Baseline:
    """Read the runs of a baseline. Raises UsageError if a source is not a run, EnvironmentProblem if it is
    damaged."""
    runs = runs_of("A", [run for entry in as_list(source) for run in _newest_archived_runs(entry, listen)])
    side = read_side("A", runs, listen)
    if not any(run.records for run in side.runs):
        name = _baseline_name([run.name for run in side.runs])
        raise UsageError(
            f"the baseline {name} has no measurements",
            "there is nothing to compare with",
            "remove it, or measure the rest of it with 'hockney resume'",
            code="baseline-without-measurements",
            name=name,
        )
    lines = tuple(case.line for case in _measured_cases(side))
    return Baseline(side, Question(_common_study(runs), lines), options, force)


def _newest_archived_runs(source: Source, listen: Listener) -> Sequence[Source]:
    """Newest runs of each machine if the source is an archive, otherwise the source itself."""
    if isinstance(source, Run) or not is_archive(to_path(source)):
        return [source]
    archive = History(source, listen)
    series: dict[str, list[Source]] = {}
    for entry in archive.runs():
        series.setdefault(entry.machine, []).append(archive.open(entry))
    newest = [run for runs in series.values() for run in runs[-MAX_RUNS_PER_MACHINE:]]
    return newest or [source]


def _common_study(runs: Sequence[Run | str]) -> str:
    """Name of the study of all runs if its page needs only their cases, otherwise of the study of ad-hoc
    cases."""
    names = {ad_hoc.NAME if isinstance(run, str) else _repeatable_study(run) for run in runs}
    return names.pop() if len(names) == 1 else ad_hoc.NAME


def _repeatable_study(run: Run) -> str:
    name = run.settings.study
    repeatable = name in studies.all_studies() and name != published_study.NAME
    return name if repeatable and run.folder.surveyed() is None else ad_hoc.NAME


def _measured_cases(side: Side) -> list[Case]:
    return list(dict.fromkeys(record.parse_case() for run in side.runs for record in run.records))


def _catalog_case(case: Case, catalog: Catalog) -> Case | None:
    """The case as this engine defines it; None if it is unknown."""
    try:
        return catalog.case(case.line)
    except UsageError:
        return None


def _machine_differences(run: MeasuredRun, here: Machine) -> tuple[str, ...]:
    if run.machine.traits.published:
        return ()
    all_differences = measurement.survey_differences(without_faults(run.machine), without_faults(here))
    return tuple(
        measurement.difference_text(difference, run.machine, here)
        for difference in all_differences
        if difference.field in OTHER_MACHINE_FIELDS
    )


def without_faults(machine: Machine) -> Machine:
    """The same described machine without faults and with the default seed of its noise: a check finds faults
    that appear between two runs, which do not make another machine."""
    replace_fields = msgspec.structs.replace
    platform, ethernet = machine.platform, machine.emulated
    if platform is not None:
        noise = platform.noise and replace_fields(platform.noise, seed=1)
        platform = replace_fields(platform, faults=(), noise=noise)
    if ethernet is not None:
        ethernet = replace_fields(ethernet, faults=())
    return replace_fields(machine, platform=platform, emulated=ethernet)


def _baseline_name(runs: Sequence[str]) -> str:
    """Name of the first run, and the number of further runs."""
    suffix = f" and {plural(len(runs) - 1, 'more run')}" if len(runs) > 1 else ""
    return f"{printable(runs[0])}{suffix}"
