# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A command whose arguments are two lists, separated by --."""

from __future__ import annotations

from typing import Any

import click

from hockney.cli.arguments.click_extensions import Command

SEPARATOR = "--"
_MARK = "\0"
"""No argument of a program contains it."""


class TwoSides(Command):
    """A command with an argument `sides`, a list that keeps SEPARATOR; options may follow it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [_MARK if word == SEPARATOR else word for word in args])

    def invoke(self, ctx: click.Context) -> Any:
        ctx.params["sides"] = tuple(SEPARATOR if w == _MARK else w for w in ctx.params["sides"])
        return super().invoke(ctx)
