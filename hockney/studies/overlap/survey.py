# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The survey's part: a sentence on whether a nonblocking message pays, from a few cases."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.catalog import Catalog
from hockney.core.units import thin_out
from hockney.draw.page import Section
from hockney.pages.evidence import Evidence
from hockney.pages.levels import evidence_level_phrase, with_level, with_level_prefix
from hockney.studies.overlap import columns, figures
from hockney.studies.overlap.headline import verdict_sentence
from hockney.studies.overlap.results import MESSAGE_OPERATION, OVERLAP_ROLE, OverlapResults

SECTION_ID = "overlap"
TESTS = (0, 16)
MIN_SIZE = 512
"""Shorter messages take nearly as long, so the same part of them is hidden."""


def message_lines(sizes: tuple[int, ...], catalog: Catalog, max_sizes: int) -> Iterator[str]:
    """The cases of messages between two ranks, with at most this number of sizes."""
    chosen_sizes = thin_out(tuple(size for size in sizes if size >= MIN_SIZE), max_sizes)
    for workload in catalog.with_role(OVERLAP_ROLE):
        if workload.operation == MESSAGE_OPERATION:
            yield from (
                f"{workload.name} {workload.size}={size} buffers=hot tests={tests} sync=barrier ranks=2"
                for size in chosen_sizes
                for tests in TESTS
            )


def sentences(evidence: Evidence) -> tuple[str, ...]:
    """A verdict for each level at which ranks meet; none for a level without measurements."""
    runs = ((OverlapResults.of(level), evidence_level_phrase(level)) for level in evidence.levels)
    return tuple(with_level_prefix(verdict_sentence(run), placement) for run, placement in runs if run.points)


def section(evidence: Evidence) -> Section | None:
    results_by_level = [(level, OverlapResults.of(level)) for level in evidence.levels]
    tables_by_level = [
        (level, table)
        for level, run in results_by_level
        if (table := columns.best_tests_table(run, run.default_ranks)) is not None
    ]
    if not tables_by_level:
        return None
    ratio_figures = tuple(
        with_level(figure, level)
        for level, run in results_by_level
        for name in run.operations
        if (figure := figures.ratio_figure(run, name, run.default_ranks)) is not None
    )
    text = (
        "'hockney run overlap' measures more sizes, numbers of tests, collectives and MPI's progress thread."
    )
    return Section(
        "Nonblocking messages",
        text=(text,),
        figures=ratio_figures,
        tables=tuple(with_level(table, level) for level, table in tables_by_level),
        id=SECTION_ID,
    )
