# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of exceptions to errors with a code, printed as one line on stderr. The traceback of a bug is
written to a file."""

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
    started_runs,
)
from hockney.core.wording import list_names

_MAX_LISTED_OPTIONS = 8


def _find_interrupt(error: BaseException) -> RunInterrupted | None:
    """Find the interrupt of a run that led to `error`: click converts Ctrl-C to another exception, and
    cleanup may raise further ones."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, RunInterrupted):
        cause = cause.__cause__ or cause.__context__
    return cause


def error_of(error: BaseException) -> HockneyError:
    """Convert an exception to an error with a code. An exception raised by an interrupted library counts as
    the interrupt."""
    interrupt = _find_interrupt(error)
    if interrupt is not None:
        return _interrupted_run_error(interrupts.exit_code(), interrupt.folder, interrupt.complete)
    if interrupts.received_signals or isinstance(error, KeyboardInterrupt | click.Abort):
        if started_runs:
            return _interrupted_run_error(interrupts.exit_code(), started_runs[-1], complete=False)
        return Interrupted("interrupted", code="interrupted", exit_code=interrupts.exit_code())
    if isinstance(error, HockneyError):
        return error
    if isinstance(error, click.UsageError):
        return _usage_error(error)
    if isinstance(error, click.ClickException):
        return _invalid_usage_error(error.format_message(), "hockney")
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
    log_path = _traceback_file(error)
    return EnvironmentProblem(
        "this is a bug in hockney",
        f"{type(error).__name__}: {one_line(str(error))}",
        f"please report it with the file {log_path}" if log_path else "its traceback could not be written",
        code="bug",
        log=log_path,
    )


def end_silently() -> int:
    """Exit silently after the reader closed the pipe, as `head` does."""
    _discard_output()
    return 0


def _discard_output() -> None:
    """Discard unwritten output. Otherwise Python would retry at exit and end with exit code 120."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_error(error: HockneyError, *, as_json: bool) -> None:
    line = f"error: {error}"
    if as_json:
        fields = {"code": error.code, "what": error.what, "why": error.why, "remedy": error.remedy}
        line = json.dumps({"error": fields | {"exit": int(error.exit_code)}})
    elif sys.stderr.isatty():
        line = _format_for_terminal(line)
    with contextlib.suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)


def _format_for_terminal(line: str) -> str:
    """Wrap a line between words and colour the first word."""
    from hockney.cli.output.terminal import apply_colour, width, wrap_text

    first_word, colon, remainder = wrap_text(line, width(sys.stderr), hang="  ").partition(":")
    return apply_colour(first_word, first_word, sys.stderr) + colon + remainder


def _usage_error(error: click.UsageError) -> HockneyError:
    """Convert click's usage error."""
    verb = error.ctx.command_path if error.ctx else "hockney"
    if isinstance(error, click.NoSuchOption):
        params = error.ctx.command.params if error.ctx else []
        visible = [each for each in params if isinstance(each, click.Option) and not each.hidden]
        options = [word for each in visible for word in each.opts if word.startswith("--")]
        arguments = [each.name or "" for each in params if isinstance(each, click.Argument)]
        return _unknown_option_error(error.option_name, options, arguments, verb)
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
    return _invalid_usage_error(error.format_message(), verb)


def _traceback_file(error: BaseException) -> str:
    """Write the traceback for a bug report and return the path of the file; "" if it cannot be written."""
    try:
        with tempfile.NamedTemporaryFile("w", prefix="hockney-", suffix=".log", delete=False) as log_path:
            log_path.write("".join(traceback.format_exception(error)))
    except OSError:
        return ""
    return log_path.name


def _unknown_option_error(
    option: str, available: Iterable[str], arguments: Iterable[str], verb: str
) -> UsageError:
    """Error for an unknown option. `arguments` are the names of the verb's positional arguments."""
    options = list(dict.fromkeys(available))
    names = {name.lstrip("-"): name for name in options}
    typed = option.lstrip("-")
    argument = next((name for name in arguments if name == typed), "")
    close_matches = [] if argument else difflib.get_close_matches(typed, list(names), n=1)
    suggestion = names[close_matches[0]] if close_matches else ""
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


def _invalid_usage_error(message: str, verb: str) -> UsageError:
    """Error with click's message."""
    text = message.rstrip(".")
    return UsageError(text[:1].lower() + text[1:], "", f"see '{verb} --help'", code="bad-usage")


def _interrupted_run_error(exit_code: int, folder: Path, complete: bool) -> Interrupted:
    """Error for an interrupted run. If it is `complete`, only the report is missing."""
    verb, state_text = ("report", "writes the report") if complete else ("resume", "continues")
    return Interrupted(
        "interrupted",
        "the results so far are kept",
        f"'hockney {verb} {printable(shlex.quote(str(folder)))}' {state_text}",
        code="run-interrupted",
        exit_code=exit_code,
        folder=str(folder),
        complete=complete,
    )
