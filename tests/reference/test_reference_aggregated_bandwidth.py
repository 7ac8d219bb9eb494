# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The definitions of aggregated bandwidth give the peaks that the paper's text prints."""

from __future__ import annotations

import pytest

from hockney import reference
from hockney.reference.aggregated_bandwidth import DEFINITIONS, SOURCE

PAPER = reference.published(SOURCE)
MB = 1 << 20


def rate(operation, processes):
    time = PAPER.row(f"t3e/table/{operation}/1MB/{processes}").si
    return DEFINITIONS[operation].of_buffer(MB, processes, time)


def test_every_operation_of_the_paper_has_a_definition():
    assert set(DEFINITIONS) == {row.workload for row in PAPER.rows if row.key.startswith("t3e/table/")}


def test_the_tables_give_the_peaks_of_the_text():
    assert rate("bcast", 256) > PAPER.row("t3e/text/bcast-peak").si
    assert rate("gather", 256) == pytest.approx(PAPER.row("t3e/text/gather-peak").si, rel=0.02)
    assert rate("alltoall", 32) == pytest.approx(PAPER.row("t3e/text/alltoall-peak/low").si, rel=0.08)
    assert rate("alltoall", 256) == pytest.approx(PAPER.row("t3e/text/alltoall-peak/high").si, rel=0.02)


@pytest.mark.parametrize(
    ("operation", "buffer", "total"),
    [
        ("bcast", 100, 400),
        ("gather", 400, 400),
        ("scatter", 400, 400),
        ("alltoall", 400, 1600),
        ("reduce", 100, 400),
        ("allreduce", 100, 400),
    ],
)
def test_blocks_of_four_ranks(operation, buffer, total):
    definition = DEFINITIONS[operation]
    assert definition.buffer_bytes(100, 4) == buffer
    assert definition.total_bytes(buffer, 4) == total
    assert definition.of_block(100, 4, 2.0) == definition.of_buffer(buffer, 4, 2.0) == total / 2


def test_the_engines_cases_of_the_tables_have_the_papers_sizes():
    """Where the size divides among the processes, the case's blocks are the printed buffer."""
    for row in PAPER.rows:
        if row.key.startswith("t3e/table/") and row.bytes == MB:
            block = int(row.case.partition("bytes=")[2].split()[0])
            assert DEFINITIONS[row.workload].buffer_bytes(block, row.ranks) == row.bytes
