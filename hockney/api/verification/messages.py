# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of findings about a run's folder."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.errors import HockneyError, printable
from hockney.core.notice import Notice
from hockney.core.units import format_bytes
from hockney.core.wording import listing, plural
from hockney.lab.finding import Finding
from hockney.pages.format import percent


def verified_plan(measurements: int, sealed: bool, own: bool) -> Finding:
    """`sealed`: it has a checksum; `own`: this user typed the programs that it starts."""
    planned = f"{plural(measurements, 'measurement')} planned"
    if not sealed:
        text = f"{planned}; an older hockney wrote it without checksums, so changes cannot be detected"
    elif not own:
        text = f"{planned}, unchanged; 'resume' does not start the programs in it, which you have not named"
    else:
        text = f"{planned}, unchanged"
    code = "plan-without-checksum" if not sealed else "plan-unchanged" if own else "plan-of-somebody-else"
    return Finding("good" if sealed and own else "note", "plan.txt", text, code, {"planned": measurements})


def verified_file(name: str) -> Finding:
    return Finding("good", name, "unchanged since the run began", "file-unchanged")


def does_not_fit(name: str, problem: HockneyError) -> Finding:
    return Finding("bad", name, str(problem), problem.code, problem.fields)


def verified_records(lines: int, sealed: int) -> Finding:
    if sealed < lines:
        text = f"{lines} lines, of which an older hockney wrote {lines - sealed} without checksums"
        return Finding(
            "note", "records.jsonl", text, "records-without-checksum", {"lines": lines, "sealed": sealed}
        )
    text = f"{plural(lines, 'line')}, all unchanged and in order"
    return Finding("good", "records.jsonl", text, "records-unchanged", {"lines": lines})


def noticed(name: str, notice: Notice) -> Finding:
    return Finding("note", name, notice.text, notice.code)


def launches_without_end(launches: Sequence[str]) -> Finding:
    text = f"launch {listing(launches)} has no end: hockney was killed, or lines are missing at the end"
    return Finding("note", "records.jsonl", text, "launches-without-end", {"launches": list(launches)})


def measurements_missing(left: int, planned: int) -> Finding:
    are, them = ("is", "it") if left == 1 else ("are", "them")
    text = f"{left} of {planned} measurements {are} missing; 'hockney resume' measures {them}"
    return Finding("note", "records.jsonl", text, "measurements-missing", {"left": left, "planned": planned})


def payload_verified(size: int, runs: int, of_runs: int) -> Finding:
    """`size` bytes were compared, in `runs` of `of_runs` operations; 0 of 0 in records of older versions."""
    counted = f" in {runs} of {plural(of_runs, 'operation')} ({percent(runs / of_runs)})" if of_runs else ""
    if size:
        text = f"{format_bytes(size)} compared{counted}, no errors"
    else:
        text = "none: these cases carry no payload that could arrive wrong"
    fields = {"bytes": size, "runs": runs, "of_runs": of_runs, "errors": 0}
    return Finding("good", "payload", text, "payload-verified" if size else "no-payload", fields)


def payload_wrong(records: int, errors: int, case: str, first: str) -> Finding:
    text = f"{plural(errors, 'error')} in {plural(records, 'record')}; {printable(case)}: {printable(first)}"
    fields = {"records": records, "errors": errors, "case": case}
    return Finding("bad", "payload", text, "payload-wrong", fields)


def launches_corrupted(launches: int) -> Finding:
    text = f"in {plural(launches, 'launch', 'launches')} an internal message was corrupted in transit"
    return Finding("bad", "records.jsonl", text, "launches-corrupted", {"launches": launches})


def folder_not_listed(reason: str) -> Finding:
    return Finding("note", "folder", f"it cannot be listed ({reason.lower()})", "folder-not-listed")


def derived_files(names: Sequence[str]) -> Finding:
    text = "derived from the measurements, and not checked; 'hockney report' writes them again"
    return Finding("note", listing(names), text, "derived-files", {"names": list(names)})


def foreign_files(names: Sequence[str]) -> Finding:
    text = f"hockney did not write {listing([printable(name) for name in names])}"
    return Finding("note", "folder", text, "foreign-files", {"names": list(names)})
