# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney run: a study by name, or individual cases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hockney import lab, studies
from hockney.api import RunOptions
from hockney.cli import messages
from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import example
from hockney.cli.arguments.like import like_cases
from hockney.cli.arguments.question import QuestionCommand, asked_question
from hockney.cli.output.answer import Form, measure_and_print
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_table
from hockney.cli.output.terminal import echo
from hockney.core.catalog import Catalog, Workload
from hockney.draw.page import Table

if TYPE_CHECKING:
    from hockney.pages.columns import CaseColumn


@click.command(
    "run",
    cls=QuestionCommand,
    epilog=example(
        "hockney run pingpong bytes=0:64KiB barrier --budget 5s",
        "hockney run pingpong bytes=0:4MiB --format osu",
        "hockney run --like osu_allgatherv --like IMB-RMA/Unidir_put bytes=8,1KiB",
        "hockney run --list",
    ),
)
@click.argument("words", nargs=-1, metavar="STUDY [NAME=VALUE...]|CASE...")
@click.option("--list", "show", is_flag=True, help="List the studies and workloads with their parameters.")
@options.like
@options.force
@options.older
@options.asked
@options.out
@options.columns
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "plain", "osu"]),
    metavar="FORMAT",
    default="table",
    show_default=True,
    help="table at the end, or lines while measuring: plain (size, time, bandwidth, or --columns) or osu (as "
    "OSU's benchmarks print them).",
)
@click.option(
    "-f",
    "--full",
    is_flag=True,
    help="With --format osu: also print minimum, maximum and iterations, like OSU's -f.",
)
@options.quiet
@options.as_json
def command(
    words: tuple[str, ...],
    show: bool,
    like: tuple[str, ...],
    out: Path | None,
    columns: tuple[CaseColumn, ...],
    style: str,
    full: bool,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Run a study, or individual cases.

    A study may have parameters: hockney run granularity work=1ms:10ms. 'hockney run STUDY --help' lists them.

    A case is a workload with its parameters: pingpong bytes=8. A list of values, such as bytes=0:4MiB,
    algorithm=mpi,dissemination or ranks=2,4, makes one case per value. --ranks and --sizes apply to cases
    that do not set them.

    --repeat 20 --every 1m measures everything 20 times, once a minute; --through 8h repeats it as often as
    8 hours allow. The differences between single runs show how the machine changes over time.
    """
    if show:
        machine, mpi, bind = given["machine"], given["mpi"], given["bind"]
        _list(lab.prepare(machine, mpi, bind, ProgressReporter(quiet).say).catalog, as_json)
        return 0
    if like:
        words = like_cases(like, words, bool(given["sizes"]), ProgressReporter(quiet).say)
    question = asked_question(words, given)
    form = Form(as_json, columns, style, full)
    return measure_and_print(question, RunOptions(**given), out, quiet, form)


def _list(catalog: Catalog, as_json: bool) -> None:
    shelf = {name: each.HELP for name, each in studies.all_studies().items()}
    known = {workload.name for workload in catalog.workloads}
    others = {group: names for group, names in lab.other_groups().items() if not known.issuperset(names)}
    described = {w.name: w for group in lab.bundled_groups() for w in group.workloads}
    if as_json:
        listed = [described[name] for names in others.values() for name in names if name in described]
        print_json({"studies": shelf, "workloads": [*catalog.workloads, *listed], "groups": others})
        return
    print_table(Table("studies", "", ("study", "purpose"), tuple(shelf.items())))
    columns = ("workload", "parameters with defaults", "what is measured")
    echo()
    print_table(Table("workloads", "", columns, tuple(map(_row, catalog.workloads))))
    for group, names in others.items():
        rows = tuple(_row(described[name]) if name in described else (name, "", "") for name in names)
        echo(f"\n{messages.compiled_when_first_run(group)}")
        print_table(Table(group, "", columns, rows))


def _row(workload: Workload) -> tuple[str, str, str]:
    return workload.name, " ".join(f"{p.name}={p.default}" for p in workload.parameters), workload.help
