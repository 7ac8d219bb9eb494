# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The survey's part: whether a nonblocking message pays, in one sentence, from a few cases."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.catalog import Catalog
from hockney.core.units import thin_out
from hockney.draw.page import Section
from hockney.pages.evidence import Evidence
from hockney.pages.levels import evidence_level_phrase, with_level, with_level_prefix
from hockney.studies.overlap import columns, figures
from hockney.studies.overlap.headline import verdict
from hockney.studies.overlap.results import MESSAGE, ROLE, OverlapResults

ID = "overlap"
TESTS = (0, 16)
SMALLEST = 512
"""Shorter messages take nearly as long, so as much of them is hidden."""


def lines(sizes: tuple[int, ...], catalog: Catalog, max_sizes: int) -> Iterator[str]:
    """The cases of messages between two ranks, of this number of sizes at most."""
    thinned = thin_out(tuple(size for size in sizes if size >= SMALLEST), max_sizes)
    for workload in catalog.with_role(ROLE):
        if workload.operation == MESSAGE:
            yield from (
                f"{workload.name} {workload.size}={size} buffers=hot tests={tests} sync=barrier ranks=2"
                for size in thinned
                for tests in TESTS
            )


def sentences(evidence: Evidence) -> tuple[str, ...]:
    """A verdict for each level at which ranks meet; none for a level without measurements."""
    runs = ((OverlapResults.of(level), evidence_level_phrase(level)) for level in evidence.levels)
    return tuple(with_level_prefix(verdict(run), words) for run, words in runs if run.points)


def section(evidence: Evidence) -> Section | None:
    parts = [(level, OverlapResults.of(level)) for level in evidence.levels]
    best = [(level, table) for level, run in parts if (table := columns.best(run, run.shown)) is not None]
    if not best:
        return None
    drawn = tuple(
        with_level(figure, level)
        for level, run in parts
        for name in run.operations
        if (figure := figures.ratio(run, name, run.shown)) is not None
    )
    text = (
        "'hockney run overlap' measures more sizes, numbers of tests, collectives and MPI's progress thread."
    )
    return Section(
        "Nonblocking messages",
        text=(text,),
        figures=drawn,
        tables=tuple(with_level(table, level) for level, table in best),
        id=ID,
    )
