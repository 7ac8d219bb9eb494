# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One spelling for words that are also names in MPI."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "docs").rglob("*.ipynb")),
    *sorted((ROOT / "contract").rglob("*.json")),
    *sorted((ROOT / "hockney").rglob("*.toml")),
]
BRITISH = "neighbour"


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_neighbors_are_spelled_as_in_mpi(file):
    """As in MPI_Neighbor_allgather. The catalogs have the help of workloads, docs/reference of commands."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if BRITISH in line.lower()]
    assert lines == []
