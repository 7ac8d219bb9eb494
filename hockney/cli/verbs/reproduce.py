# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney reproduce: a paper's printed numbers beside what its machine, simulated, does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from hockney import lab, report, simulated
from hockney import reproductions as shelf
from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example
from hockney.cli.output.progress import Talk
from hockney.cli.output.tables import print_json, print_line, text_table
from hockney.core.catalog import Catalog
from hockney.core.errors import HockneyError, UsageError, printable
from hockney.draw.page import Table
from hockney.lab import Bench
from hockney.reproductions import Answer, Compared, Limit, Part, Reproduction, pages, tallies
from hockney.store import default_path

ALL = "all"
ANSWER_IS_NO = 1
INCONCLUSIVE = 4
FAKE_CORES = 512
"""A fake machine as large as the largest of the papers' ones."""


@click.command("reproduce", cls=Command, epilog=example("hockney reproduce --list"))
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--list", "show", is_flag=True, help="List what can be reproduced.")
@click.option(
    "--out",
    type=options.PATH,
    metavar="DIR",
    help="A folder for the runs and the page; one begun before goes on.  [default: runs/reproduce-NAME-TIME]",
)
@click.option(
    "--figures", type=options.PATH, metavar="DIR", help="Write each figure as SVG and PNG into DIR as well."
)
@options.quiet
@options.as_json
@click.option("--machine", default="", hidden=True, help="fake: a machine for tests instead of all.")
def command(
    names: tuple[str, ...],
    show: bool,
    out: Path | None,
    figures: Path | None,
    quiet: bool,
    as_json: bool,
    machine: str,
) -> int:
    """Measure papers again on their machines, simulated by SimGrid.

    NAME is a paper's machine (t3e, paragon ...) or all. For every printed number: published, simulated, the
    model's, the error, and whether the machine's description was fitted to it or predicts it. The page has
    the paper's figures redrawn. Exit code 1 when a reproduction's own limits do not hold.
    """
    if show:
        _list(as_json)
        return 0
    if not names:
        raise UsageError("nothing to reproduce", "a paper is wanted", "'hockney reproduce --list' shows all")
    if machine and not lab.kind_of(machine).TRAITS.invented:
        raise UsageError(
            "a reproduction chooses its machines", "they are those of its paper", "leave out --machine"
        )
    every = shelf.all_reproductions()
    asked = [shelf.reproduction(name) for name in dict.fromkeys(names) if name != ALL]
    asked = list(every.values()) if ALL in names else asked
    out = out or default_path(f"reproduce-{ALL if len(asked) > 1 else asked[0].NAME}")
    work = _Work(machine, figures, Talk(quiet))
    done = [work.reproduce(each, out / each.NAME if len(asked) > 1 else out) for each in asked]
    if as_json:
        print_json({"reproductions": [_document(each) for each in done]})
    else:
        for each in done:
            _tell(each)
    if any(each.left for each in done):
        return INCONCLUSIVE
    return 0 if all(limit.holds for each in done for limit in each.limits) else ANSWER_IS_NO


@dataclass(frozen=True)
class _Done:
    study: Reproduction
    out: Path
    files: Sequence[Path]
    compared: Sequence[Compared]
    limits: Sequence[Limit]
    left: int


class _Work:
    """Benches, one a machine: finding SimGrid and compiling the engine are done once."""

    def __init__(self, machine: str, figures: Path | None, talk: Talk) -> None:
        self.machine = machine
        self.figures = figures
        self.talk = talk
        self.benches: dict[str, Bench] = {}

    def reproduce(self, study: Reproduction, out: Path) -> _Done:
        answers: dict[str, Answer] = {}
        left = 0
        parts = study.parts(self.catalog())
        for number, part in enumerate(parts, 1):
            self.talk.say(f"{study.NAME}, part {number} of {len(parts)}: {part.name} on {part.machine}")
            answers[part.name], missing = self._answer(part, out)
            left += missing
        compared = study.compare(answers)
        limits = study.limits(compared)
        page = study.page(answers, compared, limits)
        files = [report.write(page, out / "report.html")]
        if self.figures is not None:
            files += report.figures(page, self.figures)
        return _Done(study, out, files, compared, limits, left)

    def catalog(self) -> Catalog:
        """What the engine can run, known without an engine: workloads are the same on every machine."""
        return lab.bundled_catalog()

    def _answer(self, part: Part, out: Path) -> tuple[Answer, int]:
        words = self.machine or lab.simulated_reference(part.machine)
        talk = Talk(self.talk.quiet)
        try:
            with talk:
                folder, left = lab.run_part(out / part.name, words, part.cases, self.bench, talk)
        except (HockneyError, KeyboardInterrupt, SystemExit):
            if (out / part.name).exists():
                talk.say(f"what was measured is kept: give --out {out} again")
            raise
        reading = folder.read()
        for notice in reading.notices:
            talk.say(f"note: {notice}")
        platform = folder.machine().platform or simulated.platform(part.machine)
        return Answer(part, platform, reading.run), left

    def bench(self, words: str) -> Bench:
        if words not in self.benches:
            self.benches[words] = lab.prepare(words, "", False, self.talk.say, FAKE_CORES)
        return self.benches[words]


def _tell(done: _Done) -> None:
    print_line(f"{done.study.NAME}: {done.study.TITLE}")
    click.echo()
    names = dict.fromkeys(row.table for row in done.compared)
    for name in names:
        rows = [row for row in done.compared if row.table == name]
        shown = pages.table(name, rows)
        click.echo(text_table(replace(shown, columns=(name or shown.columns[0], *shown.columns[1:]))))
        click.echo()
    for sentence in pages.tally_words(done.compared):
        print_line(sentence)
    for limit in done.limits:
        print_line(pages.limit_words(limit))
    for path in done.files:
        print_line(f"{'report' if path == done.files[0] else 'figure'}: {path}")
    click.echo()


def _document(done: _Done) -> dict[str, object]:
    return {
        "name": done.study.NAME,
        "title": done.study.TITLE,
        "paper": done.study.PAPER,
        "out": printable(str(done.out)),
        "report": printable(str(done.files[0])),
        "figures": [printable(str(path)) for path in done.files[1:]],
        "compared": [row_document(row) for row in done.compared],
        "tallies": tallies(done.compared),
        "limits": done.limits,
        "left": done.left,
    }


def row_document(row: Compared) -> dict[str, object]:
    names = (
        "key",
        "table",
        "what",
        "published",
        "simulated",
        "model",
        "unit",
        "error",
        "status",
        "mechanism",
        "note",
    )
    return {name: getattr(row, name) for name in names}


def _list(as_json: bool) -> None:
    every = shelf.all_reproductions()
    if as_json:
        print_json(
            {"reproductions": [{"name": s.NAME, "title": s.TITLE, "paper": s.PAPER} for s in every.values()]}
        )
        return
    rows = tuple((s.NAME, s.TITLE, s.PAPER) for s in every.values())
    click.echo(text_table(Table("reproductions", "", ("name", "what", "paper"), rows)))
