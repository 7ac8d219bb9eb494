# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of an archive as a table, and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from hockney.archive import ArchivedRun, Contents
from hockney.core.units import date_text
from hockney.draw.page import Table


def run_table(entries: Sequence[ArchivedRun]) -> Table:
    """A row for each run; columns that are empty for all of them are left out."""
    columns = {
        "date (UTC)": [date_text(each.started_s) for each in entries],
        "run": [each.name for each in entries],
        "machine": [each.machine for each in entries],
        "MPI": [each.mpi for each in entries],
        "study": [each.study for each in entries],
        "label": [each.label for each in entries],
        "cases": [str(each.cases) for each in entries],
        "launches": [str(each.launches) for each in entries],
        "failures": [str(each.failures or "") for each in entries],
        "missing": [str(each.left or "") for each in entries],
    }
    shown = {title: cells for title, cells in columns.items() if any(cells)}
    numeric = [k for k, title in enumerate(shown) if title in ("cases", "launches", "failures", "missing")]
    return Table("runs", "Runs", tuple(shown), tuple(zip(*shown.values(), strict=True)), tuple(numeric))


def document(path: Path, chosen: Sequence[ArchivedRun], contents: Contents) -> dict[str, Any]:
    """The chosen ones of the runs, and all those that are left out."""
    parts = {"runs": chosen, "damaged": contents.damaged, "future": contents.future}
    listed = {name: [msgspec.structs.asdict(each) for each in of] for name, of in parts.items()}
    return {"archive": str(path), **listed}
