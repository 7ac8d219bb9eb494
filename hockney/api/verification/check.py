# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Checks a run's folder: whether its measurement files are unchanged, complete and correct."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from hockney.api.trusted_settings import is_own
from hockney.api.verification import messages
from hockney.core.errors import HockneyError
from hockney.core.machine import Machine
from hockney.core.paths import AnyPath, to_path
from hockney.lab.finding import Finding
from hockney.store import Plan, Reading, RunFolder, Salvaged, expected, missing
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
        yield messages.verified_plan(len(plan.items), folder.sums.sealed, is_own(plan.settings))
    except HockneyError as problem:
        yield messages.does_not_fit("plan.txt", problem)
    others: dict[Path, Callable[[], object]] = {
        folder.machine_path: folder.machine,
        folder.catalog_path: folder.catalog,
        folder.survey_path: folder.surveyed,
    }
    loaded: dict[Path, object] = {}
    for path, load in others.items():
        try:
            if path == folder.machine_path or folder.has(path):
                loaded[path] = load()
                yield messages.verified_file(path.name)
        except HockneyError as problem:
            yield messages.does_not_fit(path.name, problem)
    if plan is not None:
        yield from _records(folder, plan, loaded.get(folder.machine_path))
    derived = [path.name for path in folder.derived_files if path.exists()]
    if derived:
        yield messages.derived_files(derived)
    yield from _strangers(folder)


def _records(folder: RunFolder, plan: Plan, machine: object) -> Iterator[Finding]:
    try:
        reading = folder.read()
    except HockneyError as problem:
        yield messages.does_not_fit("records.jsonl", problem)
        return
    yield messages.verified_records(reading.count, reading.sealed)
    for notice in reading.notices:
        yield messages.noticed("records.jsonl", notice)
    copied = isinstance(machine, Machine) and (machine.traits.published or machine.traits.imported)
    if not copied or reading.run.wrong:  # printed numbers have no payload, and their launches no end
        yield from _payload(reading)
    ended = {close.launch for close in reading.run.closes}
    unended = [launch.launch for launch in reading.run.launches if launch.launch not in ended]
    if unended and not copied:
        yield messages.launches_without_end(unended)
    left = len(missing(plan, reading.run))
    if left:
        yield messages.measurements_missing(left, len(expected(plan, reading.run)))


def _payload(reading: Reading) -> Iterator[Finding]:
    run = reading.run
    verified = [record.verified for record in run.records]
    if run.wrong:
        errors = sum(each.errors for each in verified)
        yield messages.payload_wrong(len(run.wrong), errors, run.wrong[0].case, run.wrong[0].verified.first)
    elif verified:
        compared, runs = sum(each.bytes for each in verified), sum(each.runs for each in verified)
        yield messages.payload_verified(compared, runs, sum(each.of_runs for each in verified))
    if run.corrupted:
        yield messages.launches_corrupted(run.corrupted)


def _strangers(folder: RunFolder) -> Iterator[Finding]:
    """Files that hockney does not write there."""
    own = {path.name for path in folder.files}
    try:
        found = sorted(entry.name for entry in folder.path.iterdir() if entry.name not in own)
    except OSError as problem:
        yield messages.folder_not_listed(problem.strerror or str(problem))
        return
    if found:
        yield messages.foreign_files(found)
