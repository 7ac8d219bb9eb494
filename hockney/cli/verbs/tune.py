# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney tune: tables of collective algorithms for other programs, from the records of a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from hockney import api
from hockney.api import Run
from hockney.api.tuning import Gain, Tuned, check, tune
from hockney.api.tuning import messages as texts
from hockney.cli import messages
from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example
from hockney.cli.output.caveats import print_caveats
from hockney.cli.output.load import load_and_note
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_line, print_table, print_whole
from hockney.core.errors import Exit, printable
from hockney.draw.page import Caveat, Table
from hockney.models.tuning.rules import EFFECT
from hockney.models.tuning.texts import bracketed
from hockney.pages.format import quantity
from hockney.studies.tuning import NAME
from hockney.studies.tuning.page import headline, rules_table


@click.command(
    "tune",
    cls=Command,
    epilog=example("hockney run tuning --ranks 2 --budget 5m", "hockney tune --out tuned --check"),
)
@click.argument("run", type=options.PATH, required=False)
@click.option("--out", type=options.PATH, metavar="FOLDER", required=True, help="Write the tables here.")
@click.option(
    "--effect",
    type=options.PRECISION,
    metavar="FRACTION",
    default=None,
    help="Minimum gain for which another algorithm is used.  [default: 5%]",
)
@click.option("--check", "checked", is_flag=True, help="Measure with and without the tables, in turns.")
@click.option(
    "--library",
    type=options.PATH,
    metavar="PREFIX",
    help="With --check: where 'hockney build --library' has installed the library.",
)
@click.option(
    "--budget",
    type=options.BUDGET,
    metavar="TIME",
    default="60s",
    show_default=True,
    help="With --check: time for all launches.",
)
@options.quiet
@options.as_json
def command(
    run: Path | None,
    out: Path,
    effect: float | None,
    checked: bool,
    library: Path | None,
    budget: float,
    quiet: bool,
    as_json: bool,
) -> int:
    """Write tables of the fastest collective algorithms, for use by other programs.

    Uses RUN, or the newest run of 'hockney run tuning' in runs/. An algorithm other than MPI's own choice is
    used only where the 95% interval of the ratio of their times shows a gain of at least --effect. Writes
    hockney.choices for hockney's library (docs/library.md) and, if Open MPI's own algorithms were measured,
    openmpi-rules.conf for Open MPI (docs/tuning.md).

    With --check: measures all sizes in the tables again, with and without the tables. Exit code 1 if a table
    makes one of them slower, 4 if no gain was confirmed.
    """
    if library is not None and not checked:
        raise texts.library_without_check()
    reporter = ProgressReporter(quiet)
    loaded = load_and_note(run or api.newest_run(NAME, reporter).path, quiet=quiet)
    with reporter.doing(messages.fitting()):
        tuned = tune(loaded, out, EFFECT if effect is None else effect)
    if not as_json:
        _print(tuned)
        print_caveats(_load(loaded))
    gains: list[Gain] = []
    if checked:
        with reporter:
            measured, gains = check(loaded, tuned, budget, library, listen=reporter)
        if not as_json:
            print_table(_table(gains))
            print_whole(f"run: {measured.path}")
            for sentence in _verdict(gains, library is None and bool(tuned.found.rules)):
                print_line(sentence)
            print_caveats(_load(measured))
    if as_json:
        print_json(_document(tuned, gains))
    if any(gain.slower for gain in gains):
        return Exit.ANSWER_IS_NO
    return Exit.INCONCLUSIVE if checked and not any(gain.faster for gain in gains) else Exit.FINE


def _verdict(gains: list[Gain], unchecked: bool) -> Iterator[str]:
    """`unchecked`: hockney's own table was left out."""
    yield texts.gains_confirmed(sum(gain.faster for gain in gains), len(gains))
    slower = [f"{g.operation} of {quantity(g.size, 'B')} ({g.table})" for g in gains if g.slower]
    if slower:
        yield texts.rules_slower(slower)
    if unchecked:
        yield texts.choices_unchecked()


def _load(run: Run) -> list[Caveat]:
    """What other programs did meanwhile."""
    return [caveat for caveat in run.caveats if caveat.code == "load"]


def _print(tuned: Tuned) -> None:
    if any(tuned.found.named()):
        print_table(rules_table(tuned.found))
    for sentence in headline(tuned.found):
        print_line(sentence)
    for path in _files(tuned):
        print_whole(f"table: {path}")


def _files(tuned: Tuned) -> list[Path]:
    return [path for path in (tuned.choices_file, tuned.rules_file) if path is not None]


def _table(gains: list[Gain]) -> Table:
    rows = tuple(
        (
            gain.operation,
            str(gain.ranks),
            quantity(gain.size, "B"),
            gain.table,
            quantity(gain.seconds[0], "s"),
            quantity(gain.seconds[1], "s"),
            bracketed(gain.ratio),
        )
        for gain in gains
    )
    columns = ("operation", "ranks", "bytes", "table", "without", "with it", "ratio [95% interval]")
    return Table("gains", "", columns, rows, numeric=(1, 2, 4, 5, 6), parameters=(1,))


def _document(tuned: Tuned, gains: list[Gain]) -> dict[str, object]:
    return {
        "files": [printable(str(path)) for path in _files(tuned)],
        "rules": [
            {
                "of": whose,
                "operation": rule.operation,
                "ranks": rule.ranks,
                "algorithm": name,
                "sizes": rule.sizes,
                "ratios": rule.ratios,
            }
            for whose, name, rule in tuned.found.named()
        ],
        "gains": gains,
    }
