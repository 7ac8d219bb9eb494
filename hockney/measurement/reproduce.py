# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measures a published study again. Each part has a separate run folder, so that finished parts are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from hockney.core.case import Case
from hockney.core.errors import UsageError
from hockney.core.settings import Settings
from hockney.measurement.bench import Bench, check_start
from hockney.measurement.events import Listener
from hockney.measurement.session import create_run, measure
from hockney.store import RunFolder, unmeasured_items

PART_STUDY = "cases"
"""The study of a part: its folder is a run of ad-hoc cases, which `hockney report`, `models` and `export` can
read."""
SIMULATION_BUDGET_S = 1e6
"""Budget of a simulated part, more than any part takes. A simulated part ends after a few repetitions of each
case, because simulated repetitions are identical."""


def run_part(
    path: Path,
    machine: str,
    cases: Sequence[Case],
    prepare: Callable[[str], Bench],
    listen: Listener,
    *,
    launches: int = 1,
    budget_s: float = 0.0,
) -> tuple[RunFolder, int]:
    """Measure those of `cases` that are missing in the run at `path`, in `launches` launches within
    `budget_s` (0: unlimited). Return the folder, and the number of remaining cases.

    `prepare` creates the bench of a machine; it is called only if something must be measured. Raises
    UsageError for a folder that was created for other cases.
    """
    if (path / "plan.txt").is_file():
        folder = RunFolder.open(path)
        bench = None
        _check_plan(folder, machine, cases)
    else:
        bench = check_start(prepare(machine), cases)
        settings = Settings(
            study=PART_STUDY,
            budget_s=budget_s or SIMULATION_BUDGET_S,
            launches=launches,
            seed=1,
            machine=machine,
        )
        folder = create_run(path, cases, settings, bench)
    missing = unmeasured_items(folder.plan(), folder.read().run)
    if missing:
        outcome = measure(folder, bench or prepare(machine), listen)
        return folder, outcome.missing_count
    return folder, 0


def _check_plan(folder: RunFolder, machine: str, cases: Sequence[Case]) -> None:
    plan = folder.plan()
    if plan.settings.machine != machine or {case.line for case in plan.cases} != {c.line for c in cases}:
        raise UsageError(
            f"{folder.path} was started with other cases or on another machine",
            "its results do not belong to this reproduction",
            "choose a new folder with --out",
            code="part-of-other-cases",
            folder=str(folder.path),
        )
