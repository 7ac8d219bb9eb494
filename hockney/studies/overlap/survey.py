# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The survey's part: whether a nonblocking message pays, in one sentence, from a few cases."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.catalog import Catalog
from hockney.core.units import thin
from hockney.draw.page import Section
from hockney.pages.evidence import Evidence
from hockney.studies.overlap import figures, tables
from hockney.studies.overlap.headline import verdict
from hockney.studies.overlap.results import MESSAGE, ROLE, OverlapResults

ID = "overlap"
SIZES = 4
TESTS = (0, 16)
SMALLEST = 512
"""Shorter messages take nearly as long, so as much of them is hidden."""


def lines(sizes: tuple[int, ...], catalog: Catalog) -> Iterator[str]:
    """Of messages between two ranks."""
    few = thin(tuple(size for size in sizes if size >= SMALLEST), SIZES)
    for workload in catalog.of_role(ROLE):
        if workload.operation == MESSAGE:
            yield from (
                f"{workload.name} {workload.size}={size} buffers=hot tests={tests} sync=barrier ranks=2"
                for size in few
                for tests in TESTS
            )


def sentence(evidence: Evidence) -> str:
    """Empty if nothing of it was measured."""
    run = OverlapResults.of(evidence)
    return verdict(run) if run.points else ""


def section(evidence: Evidence) -> Section | None:
    run = OverlapResults.of(evidence)
    table = tables.best(run, run.shown)
    if table is None:
        return None
    drawn = tuple(
        figure for name in run.operations if (figure := figures.ratio(run, name, run.shown)) is not None
    )
    text = (
        "'hockney run overlap' measures more sizes, numbers of tests, collectives and MPI's progress thread."
    )
    return Section("Nonblocking messages", text=(text,), figures=drawn, tables=(table,), id=ID)
