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
from dataclasses import dataclass, field, replace

from hockney import measurement, studies
from hockney.api.judgements.comparison import TOLERANCE, Comparison, tolerance_share
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
from hockney.judgements.compare import compare
from hockney.judgements.sides import MeasuredRun, Side
from hockney.measurement import Bench, Goal, Listener, ignore_event
from hockney.models.comparison import FEWEST_LAUNCHES, CaseVerdict
from hockney.studies import ad_hoc, published_study

RESERVE = 0.4
"""Fraction of the budget that is kept for cases that are not the same after the planned launches."""


@dataclass(frozen=True)
class BaselineCheck:
    """A run, and its comparison with the baseline."""

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

    The planned launches leave a part of the budget, in which cases follow that are not the same by then.
    `options` select among the cases by their ranks and sizes. Raises, before anything is measured, UsageError
    for what is no run, for a baseline without measurements or of another machine (unless `force`), and if
    nothing that would be measured is in the baseline; EnvironmentProblem for a damaged one. Otherwise as
    `run` and `compare`.
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
    if question is not None and not set(planned_run.cases) & set(
        baseline_runs.measurable_cases(planned_run.bench)
    ):
        name, count = baseline_runs.name, len(planned_run.cases)
        none = "not the case" if count == 1 else f"none of the {count} cases"
        raise UsageError(
            f"the baseline {name} has {none} to be measured",
            "only cases with the same parameters, ranks and sizes can be compared",
            "'hockney survey --check' measures the cases of the baseline",
            code="nothing-asked-in-baseline",
            name=name,
            cases=count,
        )
    planned_run = check_launch(planned_run, options, listen, RESERVE)
    settings = planned_run.settings
    if options.launches is None and not options.in_rounds and not planned_run.bench.machine.is_exact:
        settings = replace(settings, extend=True)
    path = None if out is None else to_path(out)
    folder = measurement.begin(
        path, planned_run.cases, mark_programs(settings), planned_run.bench, planned_run.surveyed
    )
    goal = Goal(OpenCases(side, planned_run.bench, settings, tolerance, cost), RESERVE)
    run = measure_rest(folder, planned_run.bench, listen, requested=planned_run.cases, goal=goal)
    return BaselineCheck(run, Comparison(compare(side, read_side("B", [run], listen), tolerance, cost)))


def _report_omissions(baseline: Baseline, planned_run: PlannedRun, listen: Listener) -> None:
    """What of the baseline is left out."""
    machine = planned_run.bench.machine
    runs, alike = len(baseline.side.runs), len(baseline.side_on(machine).runs)
    if alike < runs:
        listen(
            Notice(
                f"{runs - alike} of {runs} runs of the baseline were measured on other machines and are left "
                f"out ({option('force')} uses them too)",
                "baseline-runs-left-out",
            )
        )
    cases, usable = len(baseline.measured_cases(machine)), len(baseline.measurable_cases(planned_run.bench))
    if usable < cases:
        listen(
            Notice(
                f"{cases - usable} of {plural(cases, 'case')} of the baseline {baseline.name} cannot be "
                "measured here and are left out",
                "baseline-cases-left-out",
            )
        )


RECOMPARE_FACTOR = 1.25
"""The comparison is repeated when there are this many times as many launches: it takes time, too."""
MAX_LAUNCH_RATIO = 4
"""Launches of a case for each one in the baseline: with more, the interval of the ratio shrinks by a tenth at
most."""


@dataclass
class OpenCases:
    """`side` is the baseline; the new run is measured on the `bench`."""

    side: Side
    bench: Bench
    settings: Settings
    tolerance: float
    cost: Cost = "typical"
    compared_launches: int = field(default=0, init=False)
    open_cases: set[Case] = field(default_factory=set, init=False)

    def __call__(self, cases: Sequence[Case], run: RunRecords) -> Sequence[Case]:
        if not self.compared_launches or len(run.launches) >= RECOMPARE_FACTOR * self.compared_launches:
            self.compared_launches = len(run.launches)
            self.open_cases = self._compare(run)
        return [case for case in cases if case in self.open_cases]

    def _compare(self, run: RunRecords) -> set[Case]:
        new = MeasuredRun("", self.bench.machine, run, self.settings, self.bench.catalog)
        try:
            compared = compare(self.side, Side("B", (new,)), self.tolerance, self.cost)
        except Inconclusive:  # nothing was measured
            return set()
        return {each.case for each in compared.cases if self._is_open(each)}

    def _is_open(self, each: CaseVerdict) -> bool:
        """A ratio without an interval gets one only by launches that are missing here."""
        before, now = each.launches
        if each.state == "unknown":
            return now < FEWEST_LAUNCHES
        has_enough_launches = not self.side.exact and now >= MAX_LAUNCH_RATIO * before
        return each.state in ("undecided", "slower") and not has_enough_launches


MAX_RUNS_PER_MACHINE = 20
"""The number of runs taken from an archive for each machine: the newest ones."""
OTHER_MACHINE_FIELDS = ("kind", "platform", "cpu", "cores")
"""Differences after which times are those of another machine. Hosts of the same kind, and the MPI, may
differ: whether that makes a difference is what a check is to find."""


@dataclass(frozen=True)
class Baseline:
    """`side`: the named runs; `question`: what they measured; `options`: the options of the run to compare;
    `force`: accept runs from another machine."""

    side: Side
    question: Question
    options: RunOptions
    force: bool = False

    @property
    def name(self) -> str:
        return _baseline_name([run.name for run in self.side.runs])

    def side_on(self, machine: Machine) -> Side:
        """The runs that were measured on a machine like this one; a published one was named on purpose.
        Raises UsageError if there is none."""
        if self.force:
            return self.side
        differences_of_run = {run.name: _differences(run, machine) for run in self.side.runs}
        alike = tuple(run for run in self.side.runs if not differences_of_run[run.name])
        if not alike:
            name, differences = next(iter(differences_of_run.items()))
            others = len(differences_of_run) - 1
            also = {0: "", 1: ", and so was the other"}.get(others, f", and so were the {others} others")
            raise UsageError(
                f"the baseline {name} was measured on another machine{also}",
                "; ".join(differences),
                f"measure a baseline on this machine, or use {option('force')}",
                code="baseline-of-another-machine",
                name=name,
                differences=differences,
                others=others,
            )
        return replace(self.side, runs=alike)

    @property
    def refines(self) -> bool:
        """New sizes would have no counterpart in the baseline."""
        return False

    def cases(self, bench: Bench) -> list[Case]:
        """The measured cases, as this engine defines them, on the ranks and sizes that were asked for. Raises
        UsageError if none is left."""
        measured, possible = self.measured_cases(bench.machine), self.measurable_cases(bench)
        if not possible:
            raise UsageError(
                f"no case of the baseline {self.name} can be measured here",
                f"it has {plural(len(measured), 'case')}, with more ranks than this machine has cores or of "
                "workloads that this version lacks",
                "use a baseline of this machine and version",
                code="baseline-not-measurable",
                name=self.name,
                cases=len(measured),
            )
        wanted = [case for case in possible if self._is_selected(case, bench.catalog)]
        if not wanted:
            has = verb_form(len(possible), "has", "have")
            raise UsageError(
                f"{option('ranks')} and {option('sizes')} leave no case of the baseline {self.name}",
                f"its {plural(len(possible), 'case')} {has} other rank counts and sizes",
                "leave them out to measure all cases of the baseline",
                code="nothing-of-baseline",
                name=self.name,
                cases=len(possible),
            )
        size = {case: bench.catalog.entry(case.workload).size_of(case) for case in wanted}
        return sorted(wanted, key=lambda case: (case.workload, case.ranks, size[case], case.line))

    def measured_cases(self, machine: Machine) -> list[Case]:
        """The cases of the runs on a machine like this one."""
        return _measured_cases(self.side_on(machine))

    def measurable_cases(self, bench: Bench) -> list[Case]:
        """The measured cases that can run here."""
        most = None if not self.published else bench.layout.ranks if bench.layout else bench.machine.cores
        usable = (_catalog_case(case, bench.catalog) for case in self.measured_cases(bench.machine))
        return [case for case in usable if case is not None and (most is None or case.ranks <= most)]

    @property
    def published(self) -> bool:
        return any(run.machine.traits.published for run in self.side.runs)

    @property
    def programs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(line for run in self.side.runs for line in run.settings.programs))

    def launch_settings(self, names: Collection[str], bench: Bench) -> Sequence[LaunchSetting]:
        """The launch settings with these names that the runs declare. Raises UsageError if another user has
        declared one of them: variables may name programs."""
        declared = [
            (run, setting)
            for run in self.side.runs
            for setting in launch_settings(run.settings.launch_settings).values()
            if setting.name in names
        ]
        for run, setting in declared:
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
        return list({setting.name: setting for _, setting in declared}.values())

    def _is_selected(self, case: Case, catalog: Catalog) -> bool:
        size = catalog.entry(case.workload).size
        ranks, sizes = self.options.ranks, self.options.sizes
        return (not ranks or case.ranks in ranks) and (not sizes or size != "bytes" or case.bytes in sizes)


def read_baseline(
    source: Source | Sequence[Source], options: RunOptions, force: bool, listen: Listener
) -> Baseline:
    """Raises UsageError for what is no run, EnvironmentProblem if one is damaged."""
    runs = runs_of("A", [run for one in as_list(source) for run in _newest_archived_runs(one, listen)])
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
    """The newest runs of each machine, if it is an archive."""
    if isinstance(source, Run) or not is_archive(to_path(source)):
        return [source]
    archive = History(source, listen)
    series: dict[str, list[Source]] = {}
    for entry in archive.runs():
        series.setdefault(entry.machine, []).append(archive.open(entry))
    newest = [run for runs in series.values() for run in runs[-MAX_RUNS_PER_MACHINE:]]
    return newest or [source]


def _common_study(runs: Sequence[Run | str]) -> str:
    """The study of all runs, if its page needs nothing but their cases; otherwise the study of ad-hoc
    cases."""
    names = {ad_hoc.NAME if isinstance(run, str) else _study_of(run) for run in runs}
    return names.pop() if len(names) == 1 else ad_hoc.NAME


def _study_of(run: Run) -> str:
    name = run.settings.study
    repeatable = name in studies.all_studies() and name != published_study.NAME
    return name if repeatable and run.folder.surveyed() is None else ad_hoc.NAME


def _measured_cases(side: Side) -> list[Case]:
    return list(dict.fromkeys(record.parse_case() for run in side.runs for record in run.records))


def _catalog_case(case: Case, catalog: Catalog) -> Case | None:
    """The case as this engine defines it; None if it does not know it."""
    try:
        return catalog.case(case.line)
    except UsageError:
        return None


def _differences(run: MeasuredRun, here: Machine) -> tuple[str, ...]:
    if run.machine.traits.published:
        return ()
    all_differences = measurement.survey_differences(run.machine, here)
    return tuple(
        measurement.difference_text(each, run.machine, here)
        for each in all_differences
        if each.field in OTHER_MACHINE_FIELDS
    )


def _baseline_name(runs: Sequence[str]) -> str:
    """The first run, and how many more there are."""
    more = f" and {plural(len(runs) - 1, 'more run')}" if len(runs) > 1 else ""
    return f"{printable(runs[0])}{more}"
