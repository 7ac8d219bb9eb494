# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney run: a study by name, or cases as typed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hockney import lab, studies
from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example
from hockney.cli.arguments.run_options import Asked
from hockney.cli.output.progress import Talk
from hockney.cli.output.tables import print_json, text_table
from hockney.cli.run_flow import ask
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError
from hockney.draw.page import Table
from hockney.studies import ad_hoc as typed_cases
from hockney.studies import published_study


@click.command(
    "run",
    cls=Command,
    epilog=example("hockney run pingpong bytes=0:64KiB barrier --budget 5s", "hockney run --list"),
)
@click.argument("words", nargs=-1, metavar="STUDY|CASE...")
@click.option(
    "--list", "show", is_flag=True, help="List the studies, and the workloads that cases are made of."
)
@options.grain
@options.asked
@options.out
@options.quiet
@options.as_json
def command(
    words: tuple[str, ...], show: bool, out: Path | None, quiet: bool, as_json: bool, **asked: Any
) -> int:
    """Run a study, or single cases.

    A case is a workload and its parameters: pingpong bytes=8. Where it lists several values, as
    bytes=0:4MiB, work=1ms,2ms or ranks=2,4, each is a case. --ranks and --sizes hold where a case names none.

    --repeat 20 --every 1m measures everything once a minute, --through 8h as often as fits: what the
    machine does meanwhile shows in how single runs differ.
    """
    want = Asked(**asked)
    if show:
        _list(lab.prepare(want.machine, want.mpi, want.bind, Talk(quiet).say).catalog, as_json)
        return 0
    study, cases = question(words)
    return ask(study, want, cases, out, quiet, as_json)


def question(words: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The study asked for, or the study of typed cases with these."""
    if not words:
        raise UsageError("nothing to run", "a study or a case is wanted", "'hockney run --list' shows all")
    cases = join_cases(words)
    if cases[0] == typed_cases.NAME:
        raise UsageError(
            f"study '{cases[0]}' is not run by its name",
            "it is what cases make that are typed",
            "for example 'hockney run pingpong bytes=8'",
        )
    if cases[0] == published_study.NAME:
        published_study.refuse()
    if cases[0] in studies.all_studies():
        if len(cases) > 1 or " " in cases[0]:
            raise UsageError(
                f"study '{cases[0]}' takes no cases", "it plans its own", f"run '{cases[0]}' alone"
            )
        return cases[0], ()
    return typed_cases.NAME, cases


def join_cases(words: tuple[str, ...]) -> tuple[str, ...]:
    """NAME=VALUE belongs to the case before it; a quoted line is a case of its own."""
    cases: list[str] = []
    for word in words:
        if "=" in word.split(maxsplit=1)[0] if word.split() else False:
            if not cases:
                raise UsageError(
                    f"'{word}' stands before any case", "it is a parameter", "name a workload first"
                )
            cases[-1] += f" {word}"
        else:
            cases.append(word)
    return tuple(cases)


def _list(catalog: Catalog, as_json: bool) -> None:
    shelf = {name: each.HELP for name, each in studies.all_studies().items()}
    known = {workload.name for workload in catalog.workloads}
    others = {group: names for group, names in lab.other_groups().items() if not known.issuperset(names)}
    if as_json:
        print_json({"studies": shelf, "workloads": catalog.workloads, "groups": others})
        return
    click.echo(text_table(Table("studies", "", ("study", "what it asks"), tuple(shelf.items()))))
    click.echo()
    rows = [
        (w.name, " ".join(f"{p.name}={p.default}" for p in w.parameters), w.help) for w in catalog.workloads
    ]
    rows += [
        (name, "", f"compiled when first run, into {group}") for group in others for name in others[group]
    ]
    click.echo(
        text_table(
            Table("workloads", "", ("workload", "parameters with defaults", "what is measured"), tuple(rows))
        )
    )
