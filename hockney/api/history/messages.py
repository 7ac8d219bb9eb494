# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about dates and selections of an archive's runs."""

from __future__ import annotations

from collections.abc import Iterable

from hockney.core.errors import HockneyError, Inconclusive, UsageError, printable, unknown
from hockney.core.notice import Notice
from hockney.core.wording import plural


def not_a_date(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a date",
        "",
        "use for example 2026-01-31, 2026-01-31T09:30, or 30d for the last 30 days",
        code="not-a-date",
        text=text,
    )


def no_run_selected(path: str, runs: int) -> Inconclusive:
    """The archive has so many `runs`."""
    why = "it is empty" if not runs else f"none of its {plural(runs, 'run')} matches"
    remedy = "add runs: hockney history add RUN" if not runs else "select others: hockney history list"
    return Inconclusive(
        f"there is no such run in '{printable(path)}'", why, remedy, code="no-run-selected", runs=runs
    )


def run_without_measurements(name: str) -> Inconclusive:
    return Inconclusive(
        f"the run '{printable(name)}' has no measurements",
        "",
        "'hockney resume' measures them",
        code="checked-run-empty",
        name=name,
    )


def no_measurements(runs: int) -> Inconclusive:
    return Inconclusive(
        "there is nothing to show",
        f"{plural(runs, 'selected run')} {'has' if runs == 1 else 'have'} no measurements",
        "add other runs: hockney history add RUN",
        code="shown-runs-empty",
        runs=runs,
    )


def skipped(error: HockneyError) -> Notice:
    return Notice(f"left out: {error.what}", "run-not-added")


def added(run: str, name: str) -> str:
    return f"added {printable(run)} as {printable(name)}"


def already_there(run: str, name: str) -> str:
    return f"{printable(run)} is in the archive already: {printable(name)}"


def replaced(names: int) -> str:
    return f"it replaces {plural(names, 'earlier state')} of the same run"


def no_rule() -> UsageError:
    return UsageError(
        "no rule says which runs to remove",
        "without one, all of them would be",
        "use for example --keep-last 10, --keep-daily 30 or --older-than 1y",
        code="prune-without-rule",
    )


def negative_count(name: str, value: int) -> UsageError:
    return UsageError(
        f"{name} is {value}", "it is a number of runs", "use 1 or more", code="prune-negative", name=name
    )


def unknown_operation(name: str, available: Iterable[str]) -> UsageError:
    return unknown("operation", name, available, code="unknown-archived-operation")


def unknown_case(text: str, cases: int) -> UsageError:
    """The archive has so many `cases` of the operation."""
    return UsageError(
        f"no case in the archive matches '{printable(text)}'",
        f"it has {plural(cases, 'case')} of this operation",
        "leave out some words; 'hockney history show OPERATION' lists its cases",
        code="unknown-archived-case",
        text=text,
    )


def run_not_in_archive(name: str, path: str) -> UsageError:
    return UsageError(
        f"'{printable(name)}' is neither a run nor the name of one in '{printable(path)}'",
        "",
        "'hockney history list' prints the names",
        code="run-not-in-archive",
        name=name,
    )


def no_earlier_window(last: int) -> UsageError:
    return UsageError(
        f"last is {last}", "a check needs earlier runs", "use for example 50", code="check-without-window"
    )
