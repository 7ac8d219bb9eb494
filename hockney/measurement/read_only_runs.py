# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Creates run folders with numbers that hockney did not measure, for everything that reads runs: the numbers
of a published machine, and those printed by another benchmark."""

from __future__ import annotations

from pathlib import Path

from hockney import reference
from hockney.core.catalog import Catalog
from hockney.core.machine import Machine
from hockney.core.record import RunRecords
from hockney.core.settings import Settings
from hockney.measurement.kinds.published import reference as published_reference
from hockney.store import Item, Plan, RunFolder, default_path
from hockney.system.bundled import bundled_catalog


def write_run(
    path: Path,
    study: str,
    reference: str,
    machine: Machine,
    run: RunRecords,
    catalog: Catalog,
    label: str = "",
) -> RunFolder:
    """Write a run into `path`, new or empty. Its plan contains the cases of `run`, all complete; `reference`
    names the machine."""
    launch_indices = {launch.launch: launch.index for launch in run.launches}
    items = tuple(Item(launch_indices[r.launch], r.position, r.parse_case()) for r in run.records)
    settings = Settings(
        study=study, budget_s=0.0, launches=len(run.launches), bind=False, machine=reference, label=label
    )
    folder = RunFolder.create(path, Plan(settings, items), machine, catalog=catalog)
    with folder.append() as appender:
        for launch in run.launches:
            appender.append(launch)
        for record in run.records:
            appender.append(record)
    return folder


PUBLISHED_STUDY = "published"


def export_published(name: str, path: Path | None = None) -> RunFolder:
    """Write the printed numbers of the machine `name` as a run into `path` (default: a new folder in runs/).

    Raises UsageError for an unknown name, and Inconclusive if no printed number corresponds to a case.
    """
    catalog = bundled_catalog()
    machine, run = reference.run_of(reference.paper_of(name), catalog)
    path = default_path(f"published-{name}") if path is None else path
    return write_run(path, PUBLISHED_STUDY, published_reference(name), machine, run, catalog)
