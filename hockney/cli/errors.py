# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever goes wrong becomes one line on stderr and an exit code; a traceback goes to a file."""

from __future__ import annotations

import contextlib
import difflib
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Sequence
from types import FrameType

import click

from hockney.core.errors import HockneyError, UsageError, one_line

INTERRUPTED = 130
OUR_FAULT = 3


def guarded(arguments: Sequence[str] | None) -> int:
    """Run the command line and return its exit code."""
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, _terminated)
    with contextlib.suppress(AttributeError, ValueError):  # another kind of stream
        # a host's name need not fit the terminal's encoding
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        from hockney.cli.app import app

        code = app.main(args=arguments, prog_name="hockney", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except HockneyError as error:
        return _tell(str(error), error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr, flush=True)
        return UsageError.exit_code
    except click.UsageError as error:
        return _tell(str(_usage(error)), UsageError.exit_code)
    except click.ClickException as error:
        return _tell(one_line(error.format_message()), UsageError.exit_code)
    except (KeyboardInterrupt, click.Abort):
        return _tell("interrupted", INTERRUPTED)
    except BrokenPipeError:
        return _reader_has_gone()
    except SystemExit as end:  # click's way to say the same, or SIGTERM
        return _reader_has_gone() if end.code == 1 else int(end.code or 0)
    except OSError as error:
        if error.filename is None and error.errno is not None:
            return _tell(
                f"cannot write the output ({(error.strerror or '').lower()}) free some space", OUR_FAULT
            )
        return _tell(_bug(error), OUR_FAULT)
    except Exception as error:
        return _tell(_bug(error), OUR_FAULT)


def _reader_has_gone() -> int:
    """Whoever read stdout has enough, as `head` does; say nothing more, also not at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _tell(problem: str, code: int) -> int:
    with contextlib.suppress(OSError, ValueError):
        print(f"error: {problem}", file=sys.stderr, flush=True)
    return code


def _usage(error: click.UsageError) -> UsageError:
    """click's complaint in our grammar."""
    verb = error.ctx.command_path if error.ctx else "hockney"
    see = f"see '{verb} --help'"
    if isinstance(error, click.NoSuchOption):
        known = [word for p in (error.ctx.command.params if error.ctx else ()) for word in p.opts]
        close = difflib.get_close_matches(error.option_name, known, n=1)
        todo = f"did you mean '{close[0]}'?" if close else see
        return UsageError(f"unknown option '{error.option_name}'", f"{verb} has no such option", todo)
    if isinstance(error, click.MissingParameter):
        name = error.param.make_metavar(error.ctx) if error.param and error.ctx else "an argument"
        return UsageError(f"{name.strip('[]')} is missing", f"{verb} needs it", see)
    message = error.format_message().rstrip(".")
    return UsageError(message[:1].lower() + message[1:], "", see)


def _bug(error: Exception) -> str:
    """Keep the traceback where it can be sent from."""
    try:
        with tempfile.NamedTemporaryFile("w", prefix="hockney-", suffix=".log", delete=False) as log:
            log.write("".join(traceback.format_exception(error)))
        where = f"please send {log.name} with what you did"
    except OSError:
        where = "its traceback could not be kept"
    return f"{type(error).__name__}: {one_line(str(error))} (this is a bug in hockney) {where}"


def _terminated(number: int, frame: FrameType | None) -> None:
    """SIGTERM ends as Ctrl-C does: the launch's processes are ended, the run stays usable."""
    raise SystemExit(128 + number)
