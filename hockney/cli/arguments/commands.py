# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Click commands with hockney's help and errors: unknown names get suggestions, and every help text ends in
an example."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click
from click.core import augment_usage_errors

from hockney.cli.arguments.options import as_json, quiet
from hockney.core.errors import UsageError, printable, unknown
from hockney.core.units import normalize_time

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class _ExampleEpilog:
    """Keeps the lines of the epilog as they are, so that examples can be copied."""

    epilog: str | None

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.epilog:
            formatter.write_paragraph()
            formatter.write(self.epilog.strip() + "\n")


class Command(_ExampleEpilog, click.Command):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for option, number, argument in zip(args, args[1:], args[2:], strict=False):
            is_time = (
                normalize_time(f"{number} {argument}")
                if option.startswith("--") and argument.isalpha()
                else ""
            )
            if is_time:
                raise UsageError(
                    f"{option} {printable(f'{number} {argument}')} is not a time",
                    "the unit follows the number without a space",
                    f"use {option} {is_time}",
                    code="time-in-two-words",
                    option=option,
                    text=f"{number} {argument}",
                    suggestion=is_time,
                )
        with augment_usage_errors(ctx):  # an option without its value is otherwise reported without the verb
            return super().parse_args(ctx, args)


class VerbGroup(_ExampleEpilog, click.Group):
    """A group of lazily imported verbs. `verbs` maps their names to a sentence of help, `measurable` returns
    the names of studies and workloads."""

    def __init__(
        self,
        *args: Any,
        verbs: Mapping[str, str],
        load: Callable[[str], click.Command],
        measurable: Callable[[], Collection[str]],
        **kwargs: Any,
    ):
        super().__init__(*args, **kwargs)
        self.verbs = verbs
        self.load = load
        self.measurable = measurable

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            verbs_typed = [word for word in words if word in self.verbs]
            for verb in verbs_typed[:1] or self.verbs:
                if any(error.option_name in option.opts for option in self.load(verb).params):
                    raise UsageError(
                        f"{error.option_name} is before the command",
                        "options follow the command that they belong to",
                        f"use 'hockney {verb} {error.option_name}'",
                        code="option-before-verb",
                        option=error.option_name,
                        verb=verb,
                    ) from error
            raise

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return self.load(cmd_name) if cmd_name in self.verbs else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in self.verbs:
            if name in self.measurable():
                raise UsageError(
                    f"unknown command '{name}'",
                    "studies and workloads are measured with 'hockney run'",
                    f"use 'hockney run {name}'",
                    code="study-as-command",
                    name=name,
                    suggestion=f"run {name}",
                )
            raise unknown("command", name, self.verbs, code="unknown-command")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.verbs.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = [name for name in self.verbs if name.startswith(incomplete)]
        short_helps = {
            name: click.Command(name, help=self.verbs[name]).get_short_help_str() for name in names
        }
        items = [CompletionItem(name, help=short_helps[name]) for name in names]
        return items + click.Command.shell_complete(self, ctx, incomplete)


def typed_options(ctx: click.Context) -> dict[str, str]:
    """Options on the command line by parameter name, without those from the environment."""
    by_name = {parameter.name: parameter.opts[0] for parameter in ctx.command.params if parameter.name}
    command_line = click.core.ParameterSource.COMMANDLINE
    return {
        name: option for name, option in by_name.items() if ctx.get_parameter_source(name) is command_line
    }


def example(*lines: str) -> str:
    return "Example:\n\n" + "\n".join(f"  {line}" for line in lines)


def verb(
    name: str,
    *examples: str,
    action: str = "",
    cls: type[click.Command] = Command,
    json: bool = True,
    **settings: Any,
) -> Callable[[Any], click.Command]:
    """Convert a function with options, help and no body to a command. The command imports and calls `action`,
    a MODULE.FUNCTION in `hockney.cli.actions` (default: NAME.action). Every command has --quiet and, with
    `json`, --json."""
    module, _, function_name = (action or f"{name}.action").partition(".")

    def make_command(function: Any) -> click.Command:
        def run(**given: Any) -> int:
            return int(getattr(import_module(f"hockney.cli.actions.{module}"), function_name)(**given))

        for option in (as_json, quiet) if json else (quiet,):
            option(run)
        run.__doc__ = function.__doc__
        vars(run)["__click_params__"] += getattr(function, "__click_params__", [])
        return click.command(name, cls=cls, epilog=example(*examples), **settings)(run)

    return make_command


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

        study = studies.find_study(ctx.meta["study"])
        parameters = study.PARAMETERS
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(f"Study {study.NAME}: {study.HELP}.")
        with formatter.section("Parameters, as NAME=VALUE after the study's name"):
            formatter.write_dl(
                [(parameter.metavar, parameter.description) for parameter in parameters] or [("none", "")]
            )


SEPARATOR = "--"
_MARK = "\0"
"""No argument of a program contains it."""


class TwoSidesCommand(Command):
    """A command with an argument `sides`, a list that keeps SEPARATOR; options may follow it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [_MARK if word == SEPARATOR else word for word in args])

    def invoke(self, ctx: click.Context) -> Any:
        ctx.params["sides"] = tuple(SEPARATOR if word == _MARK else word for word in ctx.params["sides"])
        return super().invoke(ctx)
