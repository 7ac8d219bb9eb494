# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Checks a run's folder: whether its measurement files are unchanged, complete and correct."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hockney.api.trusted_settings import is_own
from hockney.core.errors import HockneyError, printable
from hockney.core.machine import Machine
from hockney.core.paths import AnyPath, to_path
from hockney.core.units import format_bytes
from hockney.core.wording import list_names, plural
from hockney.measurement.events import Finding
from hockney.pages.format import percent
from hockney.store import Plan, Reading, RunFolder, Salvaged, expected_items, missing_items
from hockney.store import salvage as salvaged_lines


def verify(path: AnyPath) -> list[Finding]:
    """Findings about every file of the run in `path`: bad ones for mismatches, notes about what is missing or
    cannot be checked. Raises UsageError if there is no run."""
    folder = RunFolder.open(to_path(path))
    return list(_findings(folder))


def salvage(path: AnyPath, into: AnyPath) -> Salvaged:
    """A new run in `into` with the intact lines of the run in `path`. Raises UsageError if there is no run or
    `into` is not new, EnvironmentProblem if more than records.jsonl is damaged."""
    return salvaged_lines(RunFolder.open(to_path(path)), to_path(into))


def _findings(folder: RunFolder) -> Iterator[Finding]:
    plan: Plan | None = None
    try:
        plan = folder.plan()
        yield _plan_finding(len(plan.items), is_own(plan.settings))
    except HockneyError as problem:
        yield _mismatch("plan.txt", problem)
    others: dict[Path, Callable[[], object]] = {
        folder.machine_path: folder.machine,
        folder.catalog_path: folder.catalog,
        folder.survey_path: folder.surveyed,
    }
    contents: dict[Path, object] = {}
    for path, load in others.items():
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
        yield _derived_files(derived)
    yield from _foreign_file_findings(folder)


def _record_findings(folder: RunFolder, plan: Plan, machine: object) -> Iterator[Finding]:
    try:
        reading = folder.read()
    except HockneyError as problem:
        yield _mismatch("records.jsonl", problem)
        return
    text = f"{plural(reading.count, 'line')}, all unchanged and in order"
    yield Finding("good", "records.jsonl", text, "records-unchanged", {"lines": reading.count})
    for notice in reading.notices:
        yield Finding("note", "records.jsonl", notice.text, notice.code)
    copied = isinstance(machine, Machine) and (machine.traits.published or machine.traits.imported)
    if (
        not copied or reading.run.corrupted_records
    ):  # printed numbers have no payload, and their launches no end
        yield from _payload_findings(reading)
    ended = {close.launch for close in reading.run.closes}
    unended = [launch.launch for launch in reading.run.launches if launch.launch not in ended]
    if unended and not copied:
        yield _unended_launches(unended)
    left = len(missing_items(plan, reading.run))
    if left:
        yield _missing_measurements(left, len(expected_items(plan, reading.run)))


def _payload_findings(reading: Reading) -> Iterator[Finding]:
    run = reading.run
    verified = [record.verified for record in run.records]
    if run.corrupted_records:
        errors = sum(each.errors for each in verified)
        yield _payload_wrong(
            len(run.corrupted_records),
            errors,
            run.corrupted_records[0].case,
            run.corrupted_records[0].verified.first,
        )
    elif verified:
        compared, runs = sum(each.bytes for each in verified), sum(each.runs for each in verified)
        yield _payload_verified(compared, runs, sum(each.of_runs for each in verified))
    if run.corrupted_launches:
        yield _launches_corrupted(run.corrupted_launches)


def _foreign_file_findings(folder: RunFolder) -> Iterator[Finding]:
    """Files that hockney does not write there."""
    own = {path.name for path in folder.files}
    try:
        foreign_names = sorted(entry.name for entry in folder.path.iterdir() if entry.name not in own)
    except OSError as problem:
        yield Finding(
            "note",
            "folder",
            f"it cannot be listed ({(problem.strerror or str(problem)).lower()})",
            "folder-not-listed",
        )
        return
    if foreign_names:
        yield _foreign_files(foreign_names)


def _plan_finding(measurements: int, own: bool) -> Finding:
    """`own`: this user typed the programs that it starts."""
    text, numbers = f"{plural(measurements, 'measurement')} planned, unchanged", {"planned": measurements}
    if own:
        return Finding("good", "plan.txt", text, "plan-unchanged", numbers)
    text += "; 'resume' does not start the programs in it, which you have not named"
    return Finding("note", "plan.txt", text, "plan-of-somebody-else", numbers)


def _mismatch(name: str, problem: HockneyError) -> Finding:
    return Finding("bad", name, str(problem), problem.code, problem.fields)


def _unended_launches(launches: Sequence[str]) -> Finding:
    text = f"launch {list_names(launches)} has no end: hockney was killed, or lines are missing at the end"
    return Finding("note", "records.jsonl", text, "launches-without-end", {"launches": list(launches)})


def _missing_measurements(left: int, expected: int) -> Finding:
    are, them = ("is", "it") if left == 1 else ("are", "them")
    text = f"{left} of {expected} measurements {are} missing; 'hockney resume' measures {them}"
    return Finding("note", "records.jsonl", text, "measurements-missing", {"left": left, "planned": expected})


def _payload_verified(size: int, runs: int, of_runs: int) -> Finding:
    """`size` bytes were compared, in `runs` of `of_runs` operations; 0 of 0 in records of older versions."""
    counted = f" in {runs} of {plural(of_runs, 'operation')} ({percent(runs / of_runs)})" if of_runs else ""
    if size:
        text = f"{format_bytes(size)} compared{counted}, no errors"
    else:
        text = "none: these cases carry no payload that could arrive wrong"
    fields = {"bytes": size, "runs": runs, "of_runs": of_runs, "errors": 0}
    return Finding("good", "payload", text, "payload-verified" if size else "no-payload", fields)


def _payload_wrong(records: int, errors: int, case: str, first: str) -> Finding:
    text = f"{plural(errors, 'error')} in {plural(records, 'record')}; {printable(case)}: {printable(first)}"
    fields = {"records": records, "errors": errors, "case": case}
    return Finding("bad", "payload", text, "payload-wrong", fields)


def _launches_corrupted(launches: int) -> Finding:
    text = f"in {plural(launches, 'launch', 'launches')} an internal message was corrupted in transit"
    return Finding("bad", "records.jsonl", text, "launches-corrupted", {"launches": launches})


def _derived_files(names: Sequence[str]) -> Finding:
    text = "derived from the measurements, and not checked; 'hockney report' writes them again"
    return Finding("note", list_names(names), text, "derived-files", {"names": list(names)})


def _foreign_files(names: Sequence[str]) -> Finding:
    text = f"hockney did not write {list_names([printable(name) for name in names])}"
    return Finding("note", "folder", text, "foreign-files", {"names": list(names)})
