# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A published machine as a run folder, for everything that reads runs."""

from __future__ import annotations

from pathlib import Path

from hockney import reference
from hockney.measurement.kinds.published import reference as published_reference
from hockney.measurement.read_only_runs import write_run
from hockney.store import RunFolder, default_path
from hockney.system.bundled import bundled_catalog

STUDY = "published"


def export_published(name: str, path: Path | None = None) -> RunFolder:
    """Write the printed numbers of the machine `name` as a run into `path` (default: a new folder in runs/).

    Raises UsageError for an unknown name, Inconclusive if no printed number corresponds to a case.
    """
    catalog = bundled_catalog()
    machine, run = reference.run_of(reference.paper_of(name), catalog)
    path = default_path(f"published-{name}") if path is None else path
    return write_run(path, STUDY, published_reference(name), machine, run, catalog)
