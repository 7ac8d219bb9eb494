# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The command line's reference: every verb's help as one Markdown page, with options that several verbs share
described once.

python -m hockney.cli.reference > docs/reference/cli.md
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import click

from hockney.cli.verbs import VERBS, app, load

HEAD = """\
# Command line

Generated from the commands by `python -m hockney.cli.reference`.

Results go to stdout, diagnostics to stderr.
`--json` prints documents for programs, and `NO_COLOR` is respected.
Text fits the width of the terminal or `COLUMNS`; in a pipe without `COLUMNS`, each table row is one line.
[Columns](../columns.md) describes `--columns` and `--format`.
"""
WIDTH = 100
SHARED = 3
"""An option that at least this number of verbs describe in the same words is described once."""
Option = tuple[str, str]
"""How an option is written, and its help."""


def reference() -> str:
    contexts = list(_contexts())
    counts = Counter(option for context in contexts for option in _options(context))
    by_flag: dict[str, Option] = {}
    for option in (option for option, verbs in counts.items() if verbs >= SHARED):
        by_flag.setdefault(option[0].split()[0], option)  # a flag has one meaning in the list
    common = list(by_flag.values())
    head, *verbs = (_section(context, common) for context in contexts)
    return "\n".join([HEAD, head, _common_section(common), *verbs])


def _contexts() -> Iterator[click.Context]:
    """The contexts of hockney itself, its verbs and their subcommands, in the order of the page."""
    top = _context(app, "hockney", None)
    yield top
    for name in VERBS:
        context = _context(load(name), name, top)
        yield context
        if isinstance(context.command, click.Group):
            for each in context.command.list_commands(context):
                if command := context.command.get_command(context, each):
                    yield _context(command, each, context)


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=app.context_settings["help_option_names"],
    )


def _options(context: click.Context) -> dict[Option, click.Option]:
    """The command's options that its help shows, except --help."""
    by_text = {}
    for parameter in context.command.params:
        record = parameter.get_help_record(context)
        if record is not None and isinstance(parameter, click.Option):
            by_text[record] = parameter
    return by_text


def _common_section(common: list[Option]) -> str:
    formatter = click.HelpFormatter(width=WIDTH)
    formatter.write_dl(common)
    return f"## Common options\n\n```text\n{formatter.getvalue().rstrip()}\n```\n"


def _section(context: click.Context, common: list[Option]) -> str:
    """The command's help, with only the names of its common options."""
    by_text = _options(context)
    shared = [option for option in common if option in by_text]
    text = _help_without(context, [by_text[option] for option in shared])
    names = ", ".join(f"`{parameter.opts[0]}`" for parameter in (by_text[option] for option in shared))
    also = f"\n[Common options](#common-options): {names}.\n" if names else ""
    return f"## {context.command_path}\n\n```text\n{text}\n```\n{also}"


def _help_without(context: click.Context, options: list[click.Option]) -> str:
    for each in options:
        each.hidden = True
    try:
        return context.command.get_help(context).rstrip()
    finally:
        for each in options:
            each.hidden = False


if __name__ == "__main__":
    click.echo(reference(), nl=False)
