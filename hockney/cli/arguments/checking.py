# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Options for comparing a new run with a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hockney.cli.arguments.options import COST, FILE, SHARE, combined
from hockney.core.errors import UsageError

if TYPE_CHECKING:
    from hockney.core.fit import Cost

checking = combined(
    click.option(
        "--check",
        "baselines",
        metavar="BASELINE",
        multiple=True,
        help="Compare with a run, a folder or archive of runs, or a published machine; exit code 1 if an "
        "operation is slower, 4 if the result is undecided. May be repeated.",
    ),
    click.option(
        "--tolerance",
        type=SHARE,
        help="With --check: change in time that does not matter.  [default: 5%]",
    ),
    click.option(
        "--cost",
        type=COST,
        help="With --check: which cost to compare: typical, or undisturbed (in the fastest mode).  "
        "[default: typical]",
    ),
    click.option("--junit", type=FILE, help="With --check: write a test report for CI systems."),
    click.option("--markdown", type=FILE, help="With --check: write the comparison for a pull request."),
    click.option("--report", "page", type=FILE, help="With --check: write the comparison as a page."),
)

force = click.option("--force", is_flag=True, help="With --check: accept a baseline of another machine.")

FLAGS = {
    "tolerance": "--tolerance",
    "cost": "--cost",
    "junit": "--junit",
    "markdown": "--markdown",
    "page": "--report",
}


@dataclass(frozen=True)
class CheckOptions:
    """Baseline runs and output files. The default of `tolerance` is the one of `check`."""

    baselines: tuple[str, ...]
    tolerance: float | None
    cost: Cost
    force: bool
    junit: Path | None
    markdown: Path | None
    page: Path | None


def take_check_options(
    given: dict[str, Any], *, force: bool, other_options: dict[str, bool]
) -> CheckOptions | None:
    """Remove the options of a check from `given`; returns None without --check.

    `other_options` maps options that exclude a check to whether they are used. Raises UsageError for invalid
    combinations."""
    baselines = given.pop("baselines")
    values = {name: given.pop(name) for name in FLAGS}
    if not baselines:
        used_option_names = [FLAGS[name] for name, value in values.items() if value is not None]
        if used_option_names:
            raise check_needed(used_option_names[0])
        return None
    excluded_options = [name for name, used_option_names in other_options.items() if used_option_names]
    if excluded_options:
        raise UsageError(
            f"{excluded_options[0]} and --check exclude each other",
            "a check measures at once and prints a comparison",
            "'hockney compare' compares runs that were measured before",
            code="check-excludes-option",
            option=excluded_options[0],
        )
    tolerance: float | None = values.pop("tolerance")
    cost: Cost | None = values.pop("cost")
    return CheckOptions(baselines, tolerance, cost or "typical", force, **values)


def check_needed(option: str) -> UsageError:
    return UsageError(
        f"{option} needs --check",
        "without a baseline there is no comparison",
        "name a baseline with --check",
        code="option-needs-check",
        option=option,
    )
