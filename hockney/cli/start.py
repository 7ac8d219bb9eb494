# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One use of the command line, from its words to its exit code: `guarded`."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Sequence

import click

from hockney.cli import interrupts
from hockney.cli.errors import end_silently, error_of, print_error
from hockney.core.errors import EnvironmentProblem, ExitCode, HockneyError, runs_begun
from hockney.core.wording import as_flags

LEAST_BYTES = 400_000_000
"""The minimum address space. With less, OpenBLAS, which numpy loads, hangs or aborts."""


def guarded(arguments: Sequence[str] | None) -> int:
    """Run the command line, print its error if it has one, and return its exit code."""
    complete_surroundings()
    with as_flags():
        code, error = run_command(arguments)
    if error is not None:
        words = sys.argv[1:] if arguments is None else arguments
        print_error(error, as_json="--json" in words)
    return code


def run_command(arguments: Sequence[str] | None) -> tuple[int, HockneyError | None]:
    """Run the command line: its exit code, and the error to be printed."""
    with contextlib.suppress(AttributeError, ValueError):  # another kind of stream
        # a host's name may not be representable in the terminal's encoding
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    runs_begun.clear()
    try:
        interrupts.answer()
        limit = memory_limit()
        if limit is not None:
            raise EnvironmentProblem(
                f"the limit on memory is {limit // 1_000_000} MB",
                f"hockney needs {LEAST_BYTES // 1_000_000} MB",
                "raise it (ulimit -v)",
                code="memory-limit",
                limit=limit,
                least=LEAST_BYTES,
            )
        from hockney.cli.verbs import app

        code = app.main(args=arguments, prog_name="hockney", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else ExitCode.FINE, None
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr, flush=True)
        return ExitCode.USAGE, None
    except BrokenPipeError:
        return (interrupts.exit_code() if interrupts.received else end_silently()), None
    except SystemExit as end:  # click's equivalent
        if interrupts.received:
            return interrupts.exit_code(), None
        return end_silently() if end.code == 1 else int(end.code or 0), None
    except (Exception, KeyboardInterrupt) as error:
        if interrupts.received:
            interrupts.ignore()  # one more would leave no line
        problem = error_of(error)
        return problem.exit_code, problem


def memory_limit() -> int | None:
    """The limit on address space (bytes), if it is too small to work with, otherwise None."""
    with contextlib.suppress(ImportError, OSError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY and limit < LEAST_BYTES:
            return limit
    return None


def complete_surroundings() -> None:
    """Ensures open standard streams and a home folder, of which cron, services and containers may omit parts:
    MPI's programs do not start without them."""
    _open_streams()
    if not os.environ.get("HOME"):
        home = os.path.expanduser("~")  # unexpanded, if the user has no entry
        os.environ["HOME"] = home if os.path.isabs(home) else tempfile.gettempdir()


def _open_streams() -> None:
    """Replaces closed streams with ones that read nothing and discard all output. Otherwise the next file to
    be opened would get the number of a closed stream, and messages would go into that file."""
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
