# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney report: the page of a run, and its figures as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hockney import api
from hockney.api import Run
from hockney.cli.output.progress import ProgressReporter, load_and_note
from hockney.cli.output.tables import print_json, print_unwrapped
from hockney.core.errors import UsageError, printable
from hockney.core.fit import Cost
from hockney.profiles.manifest import is_profile

if TYPE_CHECKING:
    from hockney.api import Profile


def action(run: Path | Run, figures: Path | None, cost: Cost, quiet: bool, as_json: bool) -> int:
    if isinstance(run, Path) and is_profile(run):
        loaded_run: Run | Profile = _report_profile(run, cost)
    else:
        loaded_run = load_and_note(run, cost, quiet=quiet, fits_models=True)
    with ProgressReporter(quiet).show_step("writing the report"):
        written_paths = [loaded_run.report()]
        if figures is not None:
            written_paths += loaded_run.figures(figures)
    if as_json:
        print_json({"files": [printable(str(path)) for path in written_paths], "cost": cost})
    else:
        for path in written_paths:
            print_unwrapped(str(path))
    return 0


def _report_profile(folder: Path, cost: Cost) -> Profile:
    if cost != "typical":
        raise UsageError(
            f"--cost {cost} does not apply to a profile",
            "a profile has one time for each call",
            "leave it out",
            code="cost-of-profile",
            cost=cost,
        )
    return api.load_profile(folder)
