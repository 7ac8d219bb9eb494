# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney plan: what would run, without running it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from hockney import lab
from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example
from hockney.cli.arguments.run_options import Asked
from hockney.cli.output.progress import Talk
from hockney.cli.output.tables import print_json, print_line, text_table
from hockney.cli.run_flow import cases_of, known_here, survey_of, workloads_of
from hockney.cli.verbs.run import question
from hockney.core.case import Case
from hockney.core.units import format_bytes, format_seconds
from hockney.draw.page import Table
from hockney.store import Settings


@click.command(
    "plan",
    cls=Command,
    epilog=example("hockney plan --budget 5m", "hockney plan allreduce bytes=0:1MiB ranks=2 --cases"),
)
@click.argument("words", nargs=-1, metavar="[STUDY|CASE...]")
@click.option("--cases", "lines", is_flag=True, help="Only the cases, one canonical line each.")
@options.grain
@options.asked
@options.as_json
def command(words: tuple[str, ...], lines: bool, as_json: bool, **asked: Any) -> int:
    """Show what would run: cases, launches, bytes, time. The default is the survey."""
    want = Asked(**asked)
    study, typed = question(words or ("survey",))
    talk = Talk(False)
    surveyed = survey_of(study, want, talk)
    bench = lab.prepare(want.machine, want.mpi, want.bind, talk.say, workloads_of(typed))
    cases = cases_of(study, want, typed, bench, known_here(surveyed, want, bench))
    settings = want.settings(study)
    launches = settings.launches * len({(case.ranks, bench.group_of(case)) for case in cases})
    if as_json:
        document = {"study": study, "cases": [case.line for case in cases], "launches": launches}
        document |= {"bytes": payload(cases), "largest_bytes": _largest(cases), "budget_s": settings.total_s}
        if settings.every_s:
            document |= {"rounds": settings.launches, "every_s": settings.every_s}
        print_json(document)
    elif lines:
        for case in cases:
            click.echo(case.line)
    else:
        _table(cases)
        print_line(
            f"{len(cases)} cases, each in {settings.launches} of {launches} launches; one repetition of "
            f"every case moves {format_bytes(payload(cases))}, the largest message is "
            f"{format_bytes(_largest(cases))}; "
            f"at most {format_seconds(settings.total_s)} of measuring{_period(settings)}."
        )
    return 0


def _period(settings: Settings) -> str:
    if not settings.every_s:
        return ""
    through = (settings.launches - 1) * settings.every_s + settings.budget_s
    return (
        f", in rounds that begin {format_seconds(settings.every_s)} after one another, "
        f"{format_seconds(through)} from first to last"
    )


def payload(cases: Sequence[Case]) -> int:
    """Bytes that one rank hands over in one repetition of every case."""
    total = 0
    for case in cases:
        total += case.size * int(case.number("window", case.number("messages", 1)))
    return total


def _largest(cases: Sequence[Case]) -> int:
    return max((case.size for case in cases), default=0)


def _table(cases: Sequence[Case]) -> None:
    groups: dict[tuple[str, int], list[Case]] = {}
    for case in cases:
        groups.setdefault((case.workload, case.ranks), []).append(case)
    rows = tuple(
        (name, str(ranks), str(len(found)), format_bytes(_largest(found)))
        for (name, ranks), found in groups.items()
    )
    click.echo(
        text_table(Table("plan", "", ("workload", "ranks", "cases", "largest"), rows, numeric=(1, 2, 3)))
    )
    click.echo()
