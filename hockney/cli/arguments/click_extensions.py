# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""click's commands with our manners: unknown names get "did you mean", every help ends in an example."""

from __future__ import annotations

from typing import Any

import click

from hockney.cli import messages


class _Example:
    """Keeps the lines of the epilog as they are: an example must be fit to copy."""

    epilog: str | None

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.epilog:
            formatter.write_paragraph()
            formatter.write(self.epilog.strip() + "\n")


class Command(_Example, click.Command):
    pass


class Group(_Example, click.Group):
    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in self.commands:
            raise messages.unknown_command(name, self.commands)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


def example(*lines: str) -> str:
    return "Example:\n\n" + "\n".join(f"  {line}" for line in lines)
