# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Generator of the command-line reference: the help of every verb as one Markdown page, with shared options
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


def make_reference() -> str:
    contexts = list(_command_contexts())
    counts = Counter(option for context in contexts for option in _options(context))
    by_flag: dict[str, Option] = {}
    for option in (option for option, verbs in counts.items() if verbs >= SHARED):
        by_flag.setdefault(option[0].split()[0], option)  # a flag has one meaning in the list
    common_options = list(by_flag.values())
    heading, *verbs = (_section(context, common_options) for context in contexts)
    return "\n".join([HEAD, heading, _common_section(common_options), *verbs])


def _command_contexts() -> Iterator[click.Context]:
    """Contexts of hockney, its verbs and their subcommands, in page order."""
    top_context = _make_context(app, "hockney", None)
    yield top_context
    for name in VERBS:
        context = _make_context(load(name), name, top_context)
        yield context
        if isinstance(context.command, click.Group):
            for subcommand in context.command.list_commands(context):
                if command := context.command.get_command(context, subcommand):
                    yield _make_context(command, subcommand, context)


def _make_context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=app.context_settings["help_option_names"],
    )


def _options(context: click.Context) -> dict[Option, click.Option]:
    """Visible options of the command, except --help."""
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
    """Help of the command, with only the names of its common options."""
    by_text = _options(context)
    shared_options = [option for option in common if option in by_text]
    text = _help_without(context, [by_text[option] for option in shared_options])
    names = ", ".join(
        f"`{parameter.opts[0]}`" for parameter in (by_text[option] for option in shared_options)
    )
    shared_text = f"\n[Common options](#common-options): {names}.\n" if names else ""
    return f"## {context.command_path}\n\n```text\n{text}\n```\n{shared_text}"


def _help_without(context: click.Context, options: list[click.Option]) -> str:
    for option in options:
        option.hidden = True
    try:
        return context.command.get_help(context).rstrip()
    finally:
        for option in options:
            option.hidden = False


if __name__ == "__main__":
    click.echo(make_reference(), nl=False)
