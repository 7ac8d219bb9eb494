# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Verification of a run's folder: whether its measurement files are unchanged, complete and correct."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from hockney.api.trusted_settings import is_own
from hockney.core.errors import HockneyError, printable
from hockney.core.machine import Machine
from hockney.core.paths import AnyPath, to_path
from hockney.core.record import RunRecords
from hockney.core.units import format_bytes
from hockney.core.wording import list_names, plural
from hockney.measurement.events import Finding
from hockney.pages.format import format_share
from hockney.store import Plan, RunFolder, Salvaged, expected_items, missing_items
from hockney.store import salvage as salvaged_lines

RECORDS = "records.jsonl"


def verify(path: AnyPath) -> list[Finding]:
    """Check every file of the run in `path`. Mismatches are bad findings; missing or unverifiable data are
    notes. Raises UsageError if there is no run."""
    folder = RunFolder.open(to_path(path))
    return list(_findings(folder))


def salvage(path: AnyPath, into: AnyPath) -> Salvaged:
    """Copy the intact lines of the run in `path` to a new run in `into`. Raises UsageError if there is no run
    or `into` exists, EnvironmentProblem if other files than records.jsonl are damaged."""
    return salvaged_lines(RunFolder.open(to_path(path)), to_path(into))


def _findings(folder: RunFolder) -> Iterator[Finding]:
    plan: Plan | None = None
    try:
        plan = folder.plan()
        yield _plan_finding(len(plan.items), is_own(plan.settings))
    except HockneyError as problem:
        yield _mismatch("plan.txt", problem)
    derived_files: dict[Path, Callable[[], object]] = {
        folder.machine_path: folder.machine,
        folder.catalog_path: folder.catalog,
        folder.survey_path: folder.surveyed,
    }
    contents: dict[Path, object] = {}
    for path, load in derived_files.items():
        try:
            if path == folder.machine_path or folder.has(path):
                contents[path] = load()
                yield Finding("good", path.name, "unchanged since the run began", "file-unchanged")
        except HockneyError as problem:
            yield _mismatch(path.name, problem)
    if plan is not None:
        yield from _record_findings(folder, plan, contents.get(folder.machine_path))
    derived = [path.name for path in folder.derived_files if path.exists()]
    if derived:
        text = "derived from the measurements, and not checked; 'hockney report' writes them again"
        yield Finding("note", list_names(derived), text, "derived-files", {"names": derived})
    yield from _foreign_file_findings(folder)


def _record_findings(folder: RunFolder, plan: Plan, machine: object) -> Iterator[Finding]:
    try:
        reading = folder.read()
    except HockneyError as problem:
        yield _mismatch(RECORDS, problem)
        return
    run, lines = reading.run, reading.count
    text = f"{plural(lines, 'line')}, all unchanged and in order"
    yield Finding("good", RECORDS, text, "records-unchanged", {"lines": lines})
    for notice in reading.notices:
        yield Finding("note", RECORDS, notice.text, notice.code)
    # printed numbers have no payload, and their launches no end
    is_copy = isinstance(machine, Machine) and (machine.traits.published or machine.traits.imported)
    if not is_copy or run.corrupted_records:
        yield from _payload_findings(run)
    ended = {close.launch for close in run.closes}
    unended = [launch.launch for launch in run.launches if launch.launch not in ended]
    if unended and not is_copy:
        text = f"launch {list_names(unended)} has no end: hockney was killed, or lines are missing at the end"
        yield Finding("note", RECORDS, text, "launches-without-end", {"launches": unended})
    missing_count, planned = len(missing_items(plan, run)), len(expected_items(plan, run))
    if missing_count:
        verb, pronoun = ("is", "it") if missing_count == 1 else ("are", "them")
        text = (
            f"{missing_count} of {planned} measurements {verb} missing; 'hockney resume' measures {pronoun}"
        )
        yield Finding(
            "note", RECORDS, text, "measurements-missing", {"left": missing_count, "planned": planned}
        )


def _payload_findings(run: RunRecords) -> Iterator[Finding]:
    verified = [record.verified for record in run.records]
    if corrupted := run.corrupted_records:
        errors = sum(record.errors for record in verified)
        first_error = f"{printable(corrupted[0].case)}: {printable(corrupted[0].verified.first)}"
        text = f"{plural(errors, 'error')} in {plural(len(corrupted), 'record')}; {first_error}"
        fields = {"records": len(corrupted), "errors": errors, "case": corrupted[0].case}
        yield Finding("bad", "payload", text, "payload-wrong", fields)
    elif verified:
        size, runs = sum(record.bytes for record in verified), sum(record.runs for record in verified)
        run_count = sum(record.of_runs for record in verified)  # 0 in records of older versions
        share = (
            f" in {runs} of {plural(run_count, 'operation')} ({format_share(runs / run_count)})"
            if run_count
            else ""
        )
        compared = f"{format_bytes(size)} compared{share}, no errors"
        text = compared if size else "none: these cases carry no payload that could arrive wrong"
        numbers = {"bytes": size, "runs": runs, "of_runs": run_count, "errors": 0}
        yield Finding("good", "payload", text, "payload-verified" if size else "no-payload", numbers)
    if run.corrupted_launches:
        launches = plural(run.corrupted_launches, "launch", "launches")
        text = f"in {launches} an internal message was corrupted in transit"
        yield Finding("bad", RECORDS, text, "launches-corrupted", {"launches": run.corrupted_launches})


def _foreign_file_findings(folder: RunFolder) -> Iterator[Finding]:
    """Findings about files that hockney does not write."""
    own_names = {path.name for path in folder.files}
    try:
        foreign_names = sorted(entry.name for entry in folder.path.iterdir() if entry.name not in own_names)
    except OSError as problem:
        yield Finding(
            "note",
            "folder",
            f"it cannot be listed ({(problem.strerror or str(problem)).lower()})",
            "folder-not-listed",
        )
        return
    if foreign_names:
        text = f"hockney did not write {list_names([printable(name) for name in foreign_names])}"
        yield Finding("note", "folder", text, "foreign-files", {"names": foreign_names})


def _plan_finding(measurements: int, is_own_plan: bool) -> Finding:
    """Finding about the plan. With `is_own_plan`, this user typed the programs that it starts."""
    text, numbers = f"{plural(measurements, 'measurement')} planned, unchanged", {"planned": measurements}
    if is_own_plan:
        return Finding("good", "plan.txt", text, "plan-unchanged", numbers)
    text += "; 'resume' does not start the programs in it, which you have not named"
    return Finding("note", "plan.txt", text, "plan-of-somebody-else", numbers)


def _mismatch(name: str, problem: HockneyError) -> Finding:
    return Finding("bad", name, str(problem), problem.code, problem.fields)
