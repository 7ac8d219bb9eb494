# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Check of a run against earlier runs of its machine, for programs and notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hockney.api.judgements.comparison import JudgementResult
from hockney.api.judgements.sides import catalog_of
from hockney.api.judgements.trends import dated_runs, run_times
from hockney.api.run_contents import Run
from hockney.archive import Archive, ArchivedRun, describe
from hockney.core.case import parse_canonical
from hockney.core.errors import Inconclusive, UsageError, printable
from hockney.core.paths import PLAN, AnyPath, to_path
from hockney.core.record import RunRecords
from hockney.core.wording import plural
from hockney.draw.page import Caveat
from hockney.judgements.history import CheckedRun
from hockney.judgements.sides import find_missing_cases, is_same_study
from hockney.measurement import Listener, ignore_event
from hockney.models.history import CheckedOperation, CheckedSeries, CheckState, DatedRun, fact_changes
from hockney.models.history import check_run as judged
from hockney.models.statistics import loaded_launches
from hockney.store import RunFolder

if TYPE_CHECKING:
    from hockney.draw.page import Page


@dataclass(frozen=True, repr=False)
class Check(JudgementResult):
    """Comparison of a run with the earlier runs of an archive."""

    checked: CheckedRun

    @property
    def judgement(self) -> CheckedRun:
        return self.checked

    @property
    def verdict(self) -> CheckState:
        """Verdict on the run: slower, faster or usual; undecided if the runs differ too much or cases are
        missing; unknown if there are too few runs."""
        return self.checked.state

    @property
    def operations(self) -> tuple[CheckedOperation, ...]:
        return self.checked.operations

    @property
    def cases(self) -> tuple[CheckedSeries, ...]:
        return self.checked.cases

    @property
    def document(self) -> dict[str, Any]:
        """Document that `hockney history check --json` prints."""
        from hockney.judgements.document import check_document

        return check_document(self.checked)

    @cached_property
    def page(self) -> Page:
        from hockney.judgements.page import check_page

        return check_page(self.checked)

    def __repr__(self) -> str:
        return f"<Check of {self.checked.name}: {self.verdict}>"

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        from hockney.report import notebook

        return notebook.summary(
            self.checked.answer_sentences, self.checked.caveats, [self.checked.operations_table]
        )


def check_run(
    archive: Archive,
    entries: Sequence[ArchivedRun],
    run: AnyPath | Run | ArchivedRun | None,
    tolerance: float,
    last: int,
    listen: Listener,
) -> Check:
    entry, folder = _find_run(archive, entries, run)
    records = folder.read().run
    if not records.records and not records.failures:
        raise Inconclusive(
            f"the run '{printable(entry.name)}' has no measurements",
            "",
            "'hockney resume' measures them",
            code="checked-run-empty",
            name=entry.name,
        )
    corrupted = len(records.corrupted_records) + records.corrupted_launches
    earlier_entries = [each for each in entries if _is_earlier(each, entry)][-last:]
    runs = dated_runs(archive, earlier_entries, listen)
    earlier_runs = [runs[each.name] for each in earlier_entries if each.name in runs]
    times = dated_runs(archive, [entry], ignore_event).get(entry.name) if entry in entries else None
    times = times or DatedRun(entry.name, entry.started_s, run_times(folder))
    measured_cases = {record.case for record in records.records}
    failed = {each.case: each.reason for each in records.failures if each.case not in measured_cases}
    missing, lost_operations = _missing_cases(
        folder, records, [each for each in earlier_entries if each.name in runs], runs
    )
    return Check(
        CheckedRun(
            name=entry.name,
            label=entry.label,
            machine=entry.machine,
            at_s=entry.started_s,
            earlier_count=len(earlier_runs),
            tolerance=tolerance,
            operations=judged(earlier_runs, times, tolerance),
            failed_cases=tuple(failed.items()),
            environment_changes=tuple(fact_changes([*earlier_runs[-1:], times])),
            caveats=tuple(_caveats(records, entry, corrupted)),
            wrong_count=corrupted,
            missing_cases=tuple(sorted(missing - failed.keys())),
            lost_operations=lost_operations,
        )
    )


def _find_run(
    archive: Archive, entries: Sequence[ArchivedRun], run: AnyPath | Run | ArchivedRun | None
) -> tuple[ArchivedRun, RunFolder]:
    if run is None:
        return entries[-1], archive.folder(entries[-1])
    if isinstance(run, ArchivedRun):
        return run, archive.folder(run)
    if isinstance(run, Run):
        return _archive_entry(entries, describe(run.folder)), run.folder
    path = to_path(run)
    named_entries = [entry for entry in entries if entry.name == str(run)]
    if named_entries:
        return named_entries[0], archive.folder(named_entries[0])
    if (archive.path / path.name / PLAN).is_file() and str(run) == path.name:
        path = archive.path / path.name  # of a future date
    if not (path / PLAN).is_file():
        raise UsageError(
            f"'{printable(str(run))}' is neither a run nor the name of a run in "
            f"'{printable(str(archive.path))}'",
            "",
            "'hockney history list' prints the names",
            code="run-not-in-archive",
            name=str(run),
        )
    folder = RunFolder.open(Path(path))
    return _archive_entry(entries, describe(folder)), folder


def _archive_entry(entries: Sequence[ArchivedRun], description: ArchivedRun) -> ArchivedRun:
    """Entry of this run in the archive, if it is there in the same state."""
    candidates = (
        entry
        for entry in entries
        if (entry.identity, entry.bytes) == (description.identity, description.bytes)
    )
    return next(candidates, description)


def _is_earlier(other: ArchivedRun, entry: ArchivedRun) -> bool:
    """Whether `other` is an earlier run of the same machine, and not a state of the same run."""
    return (
        (other.machine, other.origin) == (entry.machine, entry.origin)
        and other.identity != entry.identity
        and (other.started_s, other.name) < (entry.started_s, entry.name)
    )


def _missing_cases(
    folder: RunFolder, read: RunRecords, earlier: Sequence[ArchivedRun], runs: Mapping[str, DatedRun]
) -> tuple[set[str], tuple[str, ...]]:
    """Missing cases of a run, including failed ones, and the operations that it lacks although the previous
    run of its study has them."""
    plan, catalog = folder.plan(), catalog_of(folder)
    study, workload_names = plan.settings.study, {workload.name for workload in catalog.workloads}
    last_run = [runs[each.name] for each in earlier if each.study == study][-1:]
    earlier_cases = {parse_canonical(time.case) for run in last_run for time in run.times.times}
    measured_cases = {record.parse_case() for record in read.records}
    missing = find_missing_cases(
        {*earlier_cases, *plan.cases},
        measured_cases,
        set(plan.cases),
        lambda case: catalog.entry(case.workload).size_of(case) if case.workload in workload_names else 0.0,
        same_study=is_same_study([study], [study]),
    )
    lost_operations = {case.workload for case in earlier_cases} - {case.workload for case in measured_cases}
    return {case.line for case in missing}, tuple(sorted(lost_operations))


def _caveats(run: RunRecords, entry: ArchivedRun, corrupted: int) -> list[Caveat]:
    caveats = []
    if corrupted:
        caveats.append(
            Caveat(
                "checked-run-wrong",
                f"data arrived corrupted in {plural(corrupted, 'record')} of the run",
                "all its times",
                "Examine it with 'hockney verify'.",
            )
        )
    if entry.left:
        caveats.append(
            Caveat(
                "checked-run-unfinished",
                f"{plural(entry.left, 'measurement')} of the run {'is' if entry.left == 1 else 'are'} "
                "missing",
                "cases with few launches",
                "'hockney resume' measures them.",
            )
        )
    if loaded_count := len(loaded_launches(run)):
        caveats.append(
            Caveat(
                "checked-run-loaded",
                f"other programs ran during {loaded_count} of its "
                f"{plural(len(run.launches), 'launch', 'launches')}",
                "all its times",
                "Check a run that was measured while the machine was idle.",
            )
        )
    return caveats
