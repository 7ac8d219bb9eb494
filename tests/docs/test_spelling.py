# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One spelling for words that are also names in MPI."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "docs").rglob("*.ipynb")),
    *sorted((ROOT / "hockney").rglob("*.md")),
    *sorted((ROOT / "contract").rglob("*.json")),
    *sorted((ROOT / "hockney").rglob("*.toml")),
]
BRITISH = "neighbour"


def test_neighbors_are_spelled_as_in_mpi():
    """As in MPI_Neighbor_allgather. The catalogs have the help of workloads, docs/reference of commands."""
    lines = [
        f"{file.relative_to(ROOT)}: {line}"
        for file in TEXTS
        for line in file.read_text(encoding="utf-8").splitlines()
        if BRITISH in line.lower()
    ]
    assert lines == []
