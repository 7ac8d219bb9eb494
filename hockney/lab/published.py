# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A published machine as a run folder, for everything that reads runs."""

from __future__ import annotations

from pathlib import Path

from hockney import reference
from hockney.core.settings import Settings
from hockney.lab.kinds.published import reference as published_reference
from hockney.store import Item, Plan, RunFolder
from hockney.system.bundled import bundled_catalog

STUDY = "published"


def export_published(name: str, path: Path) -> RunFolder:
    """Write the printed numbers of the machine `name` as a run into `path`, new or empty.

    Raises UsageError for an unknown name, Inconclusive if no printed number corresponds to a case.
    """
    catalog = bundled_catalog()
    machine, run = reference.run_of(reference.paper_of(name), catalog)
    index = {launch.launch: launch.index for launch in run.launches}
    items = tuple(Item(index[r.launch], r.position, r.parsed_case()) for r in run.records)
    settings = Settings(
        study=STUDY, budget_s=0.0, launches=len(run.launches), bind=False, machine=published_reference(name)
    )
    folder = RunFolder.create(path, Plan(settings, items), machine, catalog=catalog)
    with folder.append() as out:
        for line in (*run.launches, *run.records):
            out.append(line)
    return folder
