# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney plan: what would run, without running it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from hockney import api
from hockney.api import RunOptions
from hockney.cli.arguments.options import like_cases
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_line, print_table
from hockney.cli.output.terminal import echo
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.settings import Settings
from hockney.core.units import format_bytes, format_seconds
from hockney.core.wording import plural
from hockney.draw.page import Table


def action(
    words: tuple[str, ...], lines: bool, like: tuple[str, ...], quiet: bool, as_json: bool, **given: Any
) -> int:
    if like:
        words = like_cases(like, words, bool(given["sizes"]), ProgressReporter(quiet).say)
    question = api.parse_question(words or ("survey",))
    with ProgressReporter(quiet) as reporter:
        planned_run = api.plan(question, RunOptions(**given), listen=reporter, plan_only=True)
        if planned_run.warning is not None:
            reporter(planned_run.warning)
    cases, settings = planned_run.cases, planned_run.affordable_settings
    launches = settings.launches * len({planned_run.bench.launch_kind(case) for case in cases})
    if as_json:
        document = {"study": settings.study, "cases": [case.line for case in cases], "launches": launches}
        document |= {
            "bytes": payload(cases, planned_run.bench.catalog),
            "largest_bytes": _largest(cases),
            "budget_s": settings.total_s,
            "least_budget_s": planned_run.least_budget_s,
            "notices": [] if planned_run.warning is None else [planned_run.warning],
        }
        if settings.every_s:
            document |= {"rounds": settings.launches, "every_s": settings.every_s}
        print_json(document)
    elif lines:
        for case in cases:
            click.echo(case.line)
    else:
        _print_cases(cases)
        print_line(
            f"{plural(len(cases), 'case')}, {_launches_text(len(cases), settings.launches, launches)}; "
            f"{_moved_text(cases, planned_run.bench.catalog)}"
            f"at most {format_seconds(settings.total_s)} of measuring{_period_text(settings)}."
        )
    return 0


def _launches_text(cases: int, launches_per_case: int, launches: int) -> str:
    prefix = "" if launches_per_case == launches else f"{launches_per_case} of "
    return f"{'each ' if cases > 1 else ''}in {prefix}{plural(launches, 'launch', 'launches')}"


def _moved_text(cases: Sequence[Case], catalog: Catalog) -> str:
    """Text about the bytes moved; "" if the cases have no size."""
    largest_bytes = _largest(cases)
    if not largest_bytes:
        return ""
    return (
        f"one repetition of every case moves {format_bytes(payload(cases, catalog))}, the largest message is "
        f"{format_bytes(largest_bytes)}; "
    )


def _period_text(settings: Settings) -> str:
    if not settings.every_s:
        return ""
    period_s = (settings.launches - 1) * settings.every_s + settings.budget_s
    return (
        f", in rounds that begin {format_seconds(settings.every_s)} after one another, "
        f"{format_seconds(period_s)} from first to last"
    )


def payload(cases: Sequence[Case], catalog: Catalog) -> int:
    """Bytes that one rank sends in one repetition of every case."""
    return sum(case.bytes * catalog.entry(case.workload).message_count(case) for case in cases)


def _largest(cases: Sequence[Case]) -> int:
    return max((case.bytes for case in cases), default=0)


def _print_cases(cases: Sequence[Case]) -> None:
    groups: dict[tuple[str, int], list[Case]] = {}
    for case in cases:
        groups.setdefault((case.workload, case.ranks), []).append(case)
    rows = tuple(
        (name, str(ranks), str(len(group)), format_bytes(_largest(group)))
        for (name, ranks), group in groups.items()
    )
    print_table(
        Table("plan", "", ("workload", "ranks", "cases", "largest"), rows, numeric=(1, 2, 3), parameters=(1,))
    )
    echo()
