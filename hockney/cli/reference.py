# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The command line's reference: every verb's help as one Markdown page.

python -m hockney.cli.reference > docs/reference/cli.md
"""

from __future__ import annotations

import click

from hockney.cli.app import app
from hockney.cli.verbs import VERBS, load

HEAD = """\
# Command line

Generated from the commands by `python -m hockney.cli.reference`.

Results go to stdout, diagnostics to stderr.
`--json` prints documents for programs, and `NO_COLOR` is respected.
Text is laid out for the terminal or for `COLUMNS`; in a pipe without `COLUMNS`, each table row is one line.
[Columns](../columns.md) describes `--columns` and `--format`.
"""
WIDTH = 100


def reference() -> str:
    parts = [HEAD, _section("hockney", app, None)]
    parent = click.Context(app, info_name="hockney")
    for name in VERBS:
        command = load(name)
        parts.append(_section(f"hockney {name}", command, parent))
        if isinstance(command, click.Group):
            group = click.Context(command, info_name=name, parent=parent)
            subcommands = {each: command.get_command(group, each) for each in command.list_commands(group)}
            parts += [_section(f"hockney {name} {each}", of, group) for each, of in subcommands.items() if of]
    return "\n".join(parts)


def _section(title: str, command: click.Command, parent: click.Context | None) -> str:
    context = click.Context(
        command,
        info_name=title.split()[-1],
        parent=parent,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=app.context_settings["help_option_names"],
    )
    return f"## {title}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"


if __name__ == "__main__":
    click.echo(reference(), nl=False)
