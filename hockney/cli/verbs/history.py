# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney history: an archive of runs, and how times changed in it."""

from __future__ import annotations

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import VerbGroup, example, verb
from hockney.cli.arguments.options import MOMENT, Decorator, archive, name_filter, run_filter


@verb(
    "add",
    "hockney history add runs/mine",
    "hockney history add runs/mine --archive archive",
    action="history.add",
)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=options.PATH)
@archive
def add_command() -> None:
    """Copy runs into the archive. RUN is a run folder, or a folder of them.

    The copy appears complete or not at all, and is checked first. A run that is already in the archive is not
    copied again; if a run has grown, its later state replaces the earlier one. The copy does not contain
    report.html: 'hockney report' writes it again.
    """


@verb(
    "list",
    "hockney history list",
    "hockney history list --machine 'fake*' --since 2023-01-01",
    action="history.list_runs",
)
@archive
@run_filter
def list_command() -> None:
    """List the runs in the archive, oldest first.

    A series of times consists of the runs on one machine, which is identified by the name of its host. The
    nodes of batch jobs change, so the number in their names is ignored.
    """


@verb(
    "show",
    "hockney history show",
    "hockney history show pingpong --report changes.html",
    "hockney history show pingpong bytes=8 ranks=2 --since 2023-01-01",
    action="history.show",
)
@click.argument("case", metavar="[CASE]", nargs=-1)
@archive
@run_filter
@options.page
def show_command() -> None:
    """Show how times changed over the runs, when, and what changed in the environment.

    CASE is an operation (allreduce), which stands for the mean of its cases and for each case, or an
    operation with parameters (allreduce bytes=4KiB ranks=4). By default, all operations are shown.

    A series consists of runs, and each machine has its own series. If nothing changed in any series of a
    machine, a change is reported with a probability of at most 5%. The date and the size of each change are
    given with 95% intervals.
    """


@verb(
    "check",
    "hockney history check",
    "hockney history check runs/mine --tolerance 10% --format junit",
    action="history.check",
)
@click.argument("run", metavar="[RUN]", required=False)
@archive
@run_filter
@click.option(
    "--tolerance",
    type=options.SHARE,
    default="5%",
    show_default=True,
    help="Change in time that does not matter.",
)
@click.option(
    "--last",
    type=options.LAUNCHES,
    default="50",
    show_default=True,
    help="Compare with the last N earlier runs.",
)
@options.result_format(
    ["table", "junit", "markdown"],
    "table; junit: XML for CI systems; markdown: for a message.",
)
@options.page
def check_command() -> None:
    """Check whether the newest run is as usual, judged by the spread of earlier runs.

    RUN is a run folder or the name of a run in the archive, by default the newest run there. The run is
    compared with the earlier runs of the same machine since the last change. A time is slower or faster if it
    is outside the interval that contains 95% of such runs, by more than the tolerance. On average, at most 5%
    of the reported times are false, however many cases there are.

    Exit code 0 if no operation is slower than usual, 1 if an operation is slower or data arrived corrupted.
    Exit code 4 if there are too few earlier runs (5 are needed), if they differ too much, or if cases failed.
    """


def _keep(what: str, text: str) -> Decorator:
    return click.option(f"--keep-{what}", type=options.LAUNCHES, default=0, help=text)


@verb(
    "prune",
    "hockney history prune --keep-last 20 --keep-weekly 52 --dry-run",
    "hockney history prune --older-than 2y --keep-monthly 24",
    action="history.prune",
)
@archive
@_keep("last", "Keep the newest N runs.")
@_keep("daily", "Keep the newest run of each of the last N days with runs.")
@_keep("weekly", "Keep the newest run of each of the last N weeks with runs.")
@_keep("monthly", "Keep the newest run of each of the last N months with runs.")
@click.option(
    "--older-than",
    type=MOMENT,
    help="Remove only runs older than this date, such as 2026-01-31, or this age: 30d, 8w, 1y.",
)
@name_filter
@click.option("--dry-run", is_flag=True, help="Only print what would be removed.")
def prune_command() -> None:
    """Remove the runs that no rule keeps.

    Rules apply separately to each machine and study; a run stays if any rule keeps it. Without a rule,
    nothing is removed. Days, weeks and months begin at midnight UTC.
    """


@verb("reindex", "hockney history reindex", action="history.reindex")
@archive
def reindex_command() -> None:
    """Rebuild the archive's index from its runs.

    This is not normally necessary: a missing or damaged index is rebuilt when it is used, and runs that other
    programs added or removed are noticed.
    """


COMMANDS = {
    str(each.name): each
    for each in (
        add_command, list_command, show_command, check_command, prune_command, reindex_command,
    )
}  # fmt: skip
VERBS = {name: each.get_short_help_str(1000) for name, each in COMMANDS.items()}
load = COMMANDS.__getitem__


@click.group(
    "history",
    cls=VerbGroup,
    verbs=VERBS,
    load=load,
    measurable=set,
    epilog=example("hockney history add runs/mine", "hockney history list", "hockney history show barrier"),
)
def command() -> None:
    """Keep runs in an archive, show how times changed, and check the newest run.

    The archive is a folder of run folders, $HOCKNEY_ARCHIVE or 'history' by default. Its index, index.sqlite,
    is updated automatically. Several hosts may use the archive at the same time.
    """
