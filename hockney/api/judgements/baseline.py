# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The baseline of a check: its runs that apply to this machine, and their cases."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from hockney import measurement, studies
from hockney.api.judgements.history import History
from hockney.api.judgements.sides import Source, listed, read_side, runs_of
from hockney.api.questions import Question
from hockney.api.run_contents import Run
from hockney.api.run_options import RunOptions
from hockney.api.trusted_settings import is_own
from hockney.archive import is_archive
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError, printable
from hockney.core.launch_setting import LaunchSetting, launch_settings
from hockney.core.machine import Machine
from hockney.core.option_names import option
from hockney.core.paths import to_path
from hockney.core.wording import plural
from hockney.judgements.sides import MeasuredRun, Side
from hockney.measurement import Bench, Listener
from hockney.studies import ad_hoc, published_study

MOST_RUNS = 20
"""Of an archive: the newest ones of each machine."""
ANOTHER = ("kind", "platform", "cpu", "cores")
"""Differences after which times are those of another machine. Hosts of the same kind, and the MPI, may
differ: whether that makes a difference is what a check is to find."""


@dataclass(frozen=True)
class Baseline:
    """`side` has the runs that were named, `question` what they measured. `options` are those of the run to
    be compared, and `force` accepts runs of another machine."""

    side: Side
    question: Question
    options: RunOptions
    force: bool = False

    @property
    def name(self) -> str:
        return _baseline_name([run.name for run in self.side.runs])

    def on(self, machine: Machine) -> Side:
        """The runs that were measured on a machine like this one; a published one was named on purpose.
        Raises UsageError if there is none."""
        if self.force:
            return self.side
        found = {run.name: _differences(run, machine) for run in self.side.runs}
        alike = tuple(run for run in self.side.runs if not found[run.name])
        if not alike:
            name, differences = next(iter(found.items()))
            raise _baseline_of_another_machine(name, differences, len(found) - 1)
        return replace(self.side, runs=alike)

    def cases(self, bench: Bench) -> list[Case]:
        """The measured cases, as this engine defines them, on the ranks and sizes that were asked for. Raises
        UsageError if none is left."""
        measured, possible = self.measured_on(bench.machine), self.measurable(bench)
        if not possible:
            raise _baseline_not_measurable(self.name, len(measured))
        wanted = [case for case in possible if self._wanted(case, bench.catalog)]
        if not wanted:
            raise _nothing_of_baseline(self.name, len(possible))
        size = {case: bench.catalog.entry(case.workload).size_of(case) for case in wanted}
        return sorted(wanted, key=lambda case: (case.workload, case.ranks, size[case], case.line))

    def measured_on(self, machine: Machine) -> list[Case]:
        """The cases of the runs on a machine like this one."""
        return _measured(self.on(machine))

    def measurable(self, bench: Bench) -> list[Case]:
        """The measured cases that can run here."""
        most = None if not self.published else bench.layout.ranks if bench.layout else bench.machine.cores
        usable = (_usable(case, bench.catalog) for case in self.measured_on(bench.machine))
        return [case for case in usable if case is not None and (most is None or case.ranks <= most)]

    @property
    def published(self) -> bool:
        return any(run.machine.traits.published for run in self.side.runs)

    def launch_settings(self, names: Collection[str]) -> Sequence[LaunchSetting]:
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

    def _wanted(self, case: Case, catalog: Catalog) -> bool:
        size = catalog.entry(case.workload).size
        ranks, sizes = self.options.ranks, self.options.sizes
        return (not ranks or case.ranks in ranks) and (not sizes or size != "bytes" or case.bytes in sizes)


def read_baseline(
    source: Source | Sequence[Source], options: RunOptions, force: bool, listen: Listener
) -> Baseline:
    """Raises UsageError for what is no run, EnvironmentProblem if one is damaged."""
    runs = runs_of("A", [run for one in listed(source) for run in _of_archive(one, listen)])
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
    lines = tuple(case.line for case in _measured(side))
    return Baseline(side, Question(_study(runs), lines), options, force)


def _of_archive(source: Source, listen: Listener) -> Sequence[Source]:
    """The newest runs of each machine, if it is an archive."""
    if isinstance(source, Run) or not is_archive(to_path(source)):
        return [source]
    archive = History(source, listen)
    series: dict[str, list[Source]] = {}
    for entry in archive.runs():
        series.setdefault(entry.machine, []).append(archive.open(entry))
    newest = [run for runs in series.values() for run in runs[-MOST_RUNS:]]
    return newest or [source]


def _study(runs: Sequence[Run | str]) -> str:
    """The study of all runs, if its page needs nothing but their cases; otherwise the study of ad-hoc
    cases."""
    names = {ad_hoc.NAME if isinstance(run, str) else _study_of(run) for run in runs}
    return names.pop() if len(names) == 1 else ad_hoc.NAME


def _study_of(run: Run) -> str:
    name = run.settings.study
    known = name in studies.all_studies() and name != published_study.NAME
    return name if known and run.folder.surveyed() is None else ad_hoc.NAME


def _measured(side: Side) -> list[Case]:
    return list(dict.fromkeys(record.parsed_case() for run in side.runs for record in run.records))


def _usable(case: Case, catalog: Catalog) -> Case | None:
    """The case as this engine defines it; None if it does not know it."""
    try:
        return catalog.case(case.line)
    except UsageError:
        return None


def _differences(run: MeasuredRun, here: Machine) -> tuple[str, ...]:
    if run.machine.traits.published:
        return ()
    found = measurement.unlike(run.machine, here)
    return tuple(measurement.in_words(each, run.machine, here) for each in found if each.field in ANOTHER)


def _baseline_name(runs: Sequence[str]) -> str:
    """The first run, and how many more there are."""
    more = f" and {plural(len(runs) - 1, 'more run')}" if len(runs) > 1 else ""
    return f"{printable(runs[0])}{more}"


def _baseline_of_another_machine(name: str, differences: Sequence[str], others: int) -> UsageError:
    also = f", and so were the {others} others" if others > 1 else ", and so was the other" if others else ""
    return UsageError(
        f"the baseline {name} was measured on another machine{also}",
        "; ".join(differences),
        f"measure a baseline on this machine, or use {option('force')}",
        code="baseline-of-another-machine",
        name=name,
        differences=tuple(differences),
        others=others,
    )


def _baseline_not_measurable(name: str, cases: int) -> UsageError:
    return UsageError(
        f"no case of the baseline {name} can be measured here",
        f"it has {plural(cases, 'case')}, with more ranks than this machine has cores or of workloads that "
        "this version lacks",
        "use a baseline of this machine and version",
        code="baseline-not-measurable",
        name=name,
        cases=cases,
    )


def _nothing_of_baseline(name: str, cases: int) -> UsageError:
    return UsageError(
        f"{option('ranks')} and {option('sizes')} leave no case of the baseline {name}",
        f"its {plural(cases, 'case')} {'has' if cases == 1 else 'have'} other rank counts and sizes",
        "leave them out to measure all cases of the baseline",
        code="nothing-of-baseline",
        name=name,
        cases=cases,
    )
