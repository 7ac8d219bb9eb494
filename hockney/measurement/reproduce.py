# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A published study measured again, each part in a separate run folder, so that finished parts are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from hockney.core.case import Case
from hockney.core.errors import UsageError
from hockney.core.settings import Settings
from hockney.measurement.bench import Bench, check_start
from hockney.measurement.events import Listener
from hockney.measurement.session import begin, measure
from hockney.store import RunFolder, unmeasured_items

STUDY = "cases"
"""A part's folder is a run of ad-hoc cases: `hockney report`, `models` and `export` read it."""
BUDGET_S = 1e6
"""Time for one simulated part, more than any takes: simulated repetitions are all alike, so a part ends when
each case has its few repetitions."""


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
    """Measure those of `cases` that the run at `path` lacks, in `launches` launches within `budget_s` (0: as
    long as it takes); returns the folder, and the number of cases left.

    `prepare` creates the bench of a machine; it is called only if something is to be measured. Raises
    UsageError for a folder that was created for other cases.
    """
    if (path / "plan.txt").is_file():
        folder = RunFolder.open(path)
        bench = None
        _refuse_other_plan(folder, machine, cases)
    else:
        bench = check_start(prepare(machine), cases)
        settings = Settings(
            study=STUDY, budget_s=budget_s or BUDGET_S, launches=launches, seed=1, machine=machine
        )
        folder = begin(path, cases, settings, bench)
    todo = unmeasured_items(folder.plan(), folder.read().run)
    if todo:
        outcome = measure(folder, bench or prepare(machine), listen)
        return folder, outcome.left
    return folder, 0


def _refuse_other_plan(folder: RunFolder, machine: str, cases: Sequence[Case]) -> None:
    plan = folder.plan()
    if plan.settings.machine != machine or {case.line for case in plan.cases} != {c.line for c in cases}:
        raise UsageError(
            f"{folder.path} was started with other cases or on another machine",
            "its results do not belong to this reproduction",
            "choose a new folder with --out",
            code="part-of-other-cases",
            folder=str(folder.path),
        )
