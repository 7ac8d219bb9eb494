# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of the command line's errors."""

from __future__ import annotations

import shlex
from pathlib import Path

from hockney.core.errors import printable, sentences
from hockney.core.wording import plural

"""A verb with no more options than this has them listed in an error about an unknown one."""


# lines on stdout


def warning(text: str, touches: str, remedy: str) -> str:
    """A caveat as one line, without "warning" at its beginning."""
    return sentences(text, f"affects {touches}", remedy)


def missing(count: str, folder: Path) -> str:
    """`count` is the number of measurements, as text."""
    return f"missing: {count}; 'hockney resume {folder}' measures them"


def reading_run(run: Path | str) -> str:
    return f"reading {printable(str(run))}"


def fitting() -> str:
    return "fitting the models"


def writing_report() -> str:
    return "writing the report"


def examining() -> str:
    return "examining this machine"


def run_to_be_named(folder: Path) -> str:
    where = printable(shlex.quote(str(folder)))
    return f"commands without RUN only look in runs; for this run: hockney report {where}"


def more_cases(count: int) -> str:
    return f"... and {plural(count, 'more case')}; --all lists all."


def runs_listed(shown: int, all_runs: int, path: str) -> str:
    """Below the list of the archive's runs."""
    of = "" if shown == all_runs else f" of {all_runs}"
    return f"{shown}{of} {'run' if all_runs == 1 else 'runs'} in {printable(path)}"
