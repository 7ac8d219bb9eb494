# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A verb that takes a study or cases, and the help of a study."""

from __future__ import annotations

import click

from hockney.cli.arguments.click_extensions import Command


class QuestionCommand(Command):
    """A verb that takes a study or cases: --help after a study's name lists that study's parameters."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = [word for word in args if not word.startswith("-")]
        if words and not set(args).isdisjoint(ctx.help_option_names):
            from hockney import studies

            shelf = studies.all_studies()
            ctx.meta["study"] = next((word for word in words if word in shelf), "")
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if not ctx.meta.get("study"):
            super().format_help_text(ctx, formatter)
            return
        from hockney import studies

        study = studies.study(ctx.meta["study"])
        parameters = studies.parameters_of(study)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(f"Study {study.NAME}: {study.HELP}.")
        with formatter.section("Parameters, as NAME=VALUE after the study's name"):
            formatter.write_dl(
                [(parameter.metavar, parameter.described) for parameter in parameters] or [("none", "")]
            )
