# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Every exception as an error with a code, printed as one line on stderr; the traceback of a bug goes to a
file."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import shlex
import sys
import tempfile
import traceback
from collections.abc import Iterable
from pathlib import Path

import click

from hockney.cli import interrupts
from hockney.core.errors import (
    EnvironmentProblem,
    HockneyError,
    Interrupted,
    RunInterrupted,
    UsageError,
    one_line,
    printable,
    runs_begun,
)
from hockney.core.wording import list_names

_MAX_LISTED_OPTIONS = 8


def _run_interrupted(error: BaseException) -> RunInterrupted | None:
    """The interrupt of a run that led to `error`: click has an exception of its own for Ctrl-C, and what ends
    meanwhile may raise another one."""
    current: BaseException | None = error
    while current is not None and not isinstance(current, RunInterrupted):
        current = current.__cause__ or current.__context__
    return current


def error_of(error: BaseException) -> HockneyError:
    """Any exception as an error with a code. An exception that an interrupted library raised counts as the
    interrupt."""
    interrupted = _run_interrupted(error)
    if interrupted is not None:
        return _interrupted_run(interrupts.exit_code(), interrupted.folder, interrupted.complete)
    if interrupts.received or isinstance(error, KeyboardInterrupt | click.Abort):
        if runs_begun:
            return _interrupted_run(interrupts.exit_code(), runs_begun[-1], complete=False)
        return Interrupted("interrupted", code="interrupted", exit_code=interrupts.exit_code())
    if isinstance(error, HockneyError):
        return error
    if isinstance(error, click.UsageError):
        return _usage(error)
    if isinstance(error, click.ClickException):
        return _bad_usage(error.format_message(), "hockney")
    if isinstance(error, MemoryError):
        return EnvironmentProblem(
            "there is not enough memory",
            "",
            "free some, or raise the limit (ulimit -v)",
            code="out-of-memory",
        )
    if isinstance(error, OSError) and error.filename is None and error.errno is not None:
        _discard_output()
        return EnvironmentProblem(
            "cannot write the output",
            (error.strerror or "").lower(),
            "free some space",
            code="output-not-written",
        )
    log = _traceback_file(error)
    return EnvironmentProblem(
        "this is a bug in hockney",
        f"{type(error).__name__}: {one_line(str(error))}",
        f"please report it with the file {log}" if log else "its traceback could not be written",
        code="bug",
        log=log,
    )


def end_silently() -> int:
    """The reader closed the pipe, as `head` does: exit silently."""
    _discard_output()
    return 0


def _discard_output() -> None:
    """What has not been written cannot be: Python would try again at its end, and exit with 120."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_error(error: HockneyError, *, as_json: bool) -> None:
    line = f"error: {error}"
    if as_json:
        fields = {"code": error.code, "what": error.what, "why": error.why, "remedy": error.remedy}
        line = json.dumps({"error": fields | {"exit": int(error.exit_code)}})
    elif sys.stderr.isatty():
        line = _on_terminal(line)
    with contextlib.suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)


def _on_terminal(line: str) -> str:
    """Wrapped between words, with the first word in colour."""
    from hockney.cli.output.terminal import apply_colour, width, wrap_text

    head, colon, rest = wrap_text(line, width(sys.stderr), hang="  ").partition(":")
    return apply_colour(head, head, sys.stderr) + colon + rest


def _usage(error: click.UsageError) -> HockneyError:
    """click's usage error as one of hockney's."""
    verb = error.ctx.command_path if error.ctx else "hockney"
    if isinstance(error, click.NoSuchOption):
        params = error.ctx.command.params if error.ctx else []
        visible = [each for each in params if isinstance(each, click.Option) and not each.hidden]
        options = [word for each in visible for word in each.opts if word.startswith("--")]
        arguments = [each.name or "" for each in params if isinstance(each, click.Argument)]
        return _unknown_option(error.option_name, options, arguments, verb)
    if isinstance(error, click.MissingParameter):
        name = error.param.make_metavar(error.ctx).strip("[]") if error.param and error.ctx else "an argument"
        option = f"{error.param.opts[-1]} " if isinstance(error.param, click.Option) else ""
        argument = option + name
        return UsageError(
            f"{argument} is missing",
            f"{verb} needs it",
            f"see '{verb} --help'",
            code="missing-argument",
            argument=argument,
        )
    return _bad_usage(error.format_message(), verb)


def _traceback_file(error: BaseException) -> str:
    """The path of a file with the traceback, to be sent; "" if none can be written."""
    try:
        with tempfile.NamedTemporaryFile("w", prefix="hockney-", suffix=".log", delete=False) as log:
            log.write("".join(traceback.format_exception(error)))
    except OSError:
        return ""
    return log.name


def _unknown_option(option: str, available: Iterable[str], arguments: Iterable[str], verb: str) -> UsageError:
    """`arguments` are the names of the verb's arguments, which have no option."""
    options = list(dict.fromkeys(available))
    names = {each.lstrip("-"): each for each in options}
    typed = option.lstrip("-")
    argument = next((each for each in arguments if each == typed), "")
    close = [] if argument else difflib.get_close_matches(typed, list(names), n=1)
    suggestion = names[close[0]] if close else ""
    if argument:
        remedy = f"give {argument.upper()} without an option: {verb} {argument.upper()}"
    elif suggestion:
        remedy = f"did you mean '{suggestion}'?"
    elif len(options) <= _MAX_LISTED_OPTIONS:
        remedy = f"its options are {list_names(options, _MAX_LISTED_OPTIONS)}"
    else:
        remedy = f"see '{verb} --help'"
    return UsageError(
        f"unknown option '{printable(option)}'",
        f"{verb} has no such option",
        remedy,
        code="unknown-option",
        name=option,
        suggestion=suggestion,
    )


def _bad_usage(message: str, verb: str) -> UsageError:
    """click's message, unchanged."""
    text = message.rstrip(".")
    return UsageError(text[:1].lower() + text[1:], "", f"see '{verb} --help'", code="bad-usage")


def _interrupted_run(exit_code: int, folder: Path, complete: bool) -> Interrupted:
    """`complete`: everything is measured, and only the report is missing."""
    verb, what = ("report", "writes the report") if complete else ("resume", "continues")
    return Interrupted(
        "interrupted",
        "the results so far are kept",
        f"'hockney {verb} {printable(shlex.quote(str(folder)))}' {what}",
        code="run-interrupted",
        exit_code=exit_code,
        folder=str(folder),
        complete=complete,
    )
