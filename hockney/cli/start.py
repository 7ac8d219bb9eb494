# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One invocation of the command line, from its arguments to its exit code: `guarded`."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Sequence

import click

from hockney.cli import interrupts
from hockney.cli.errors import end_silently, error_of, print_error
from hockney.core.errors import EnvironmentProblem, ExitCode, HockneyError, started_runs
from hockney.core.wording import name_options_as_flags

MIN_ADDRESS_SPACE_BYTES = 400_000_000
"""The minimum address space. With less, OpenBLAS, which numpy loads, hangs or aborts."""


def guarded(arguments: Sequence[str] | None) -> int:
    """Run the command line, print any error, and return the exit code."""
    complete_environment()
    with name_options_as_flags():
        code, error = run_command(arguments)
    if error is not None:
        words = sys.argv[1:] if arguments is None else arguments
        print_error(error, as_json="--json" in words)
    return code


def run_command(arguments: Sequence[str] | None) -> tuple[int, HockneyError | None]:
    """Run the command line. Returns its exit code and the error to print, if any."""
    with contextlib.suppress(AttributeError, ValueError):  # another kind of stream
        # a host's name may not be representable in the terminal's encoding
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    started_runs.clear()
    try:
        interrupts.answer_signals()
        limit = memory_limit()
        if limit is not None:
            raise EnvironmentProblem(
                f"the limit on memory is {limit // 1_000_000} MB",
                f"hockney needs {MIN_ADDRESS_SPACE_BYTES // 1_000_000} MB",
                "raise it (ulimit -v)",
                code="memory-limit",
                limit=limit,
                least=MIN_ADDRESS_SPACE_BYTES,
            )
        from hockney.cli.verbs import app

        code = app.main(args=arguments, prog_name="hockney", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else ExitCode.SUCCESS, None
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr, flush=True)
        return ExitCode.USAGE, None
    except BrokenPipeError:
        return (interrupts.exit_code() if interrupts.received_signals else end_silently()), None
    except SystemExit as end:  # click's equivalent
        if interrupts.received_signals:
            return interrupts.exit_code(), None
        return end_silently() if end.code == 1 else int(end.code or 0), None
    except (Exception, KeyboardInterrupt) as error:
        if interrupts.received_signals:
            interrupts.ignore_signals()  # one more would leave no line
        problem = error_of(error)
        return problem.exit_code, problem


def memory_limit() -> int | None:
    """Limit on the address space (bytes) if it is too small, otherwise None."""
    with contextlib.suppress(ImportError, OSError):
        import resource

        limit_bytes, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit_bytes != resource.RLIM_INFINITY and limit_bytes < MIN_ADDRESS_SPACE_BYTES:
            return limit_bytes
    return None


def complete_environment() -> None:
    """Ensure open standard streams and a home folder, which may be missing under cron and in services and
    containers. MPI programs do not start without them."""
    _open_streams()
    if not os.environ.get("HOME"):
        home = os.path.expanduser("~")  # unexpanded, if the user has no entry
        os.environ["HOME"] = home if os.path.isabs(home) else tempfile.gettempdir()


def _open_streams() -> None:
    """Replace closed standard streams by the null device. Otherwise the next file to be opened would get the
    number of a closed stream and receive its messages."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # uses the lowest free number
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
