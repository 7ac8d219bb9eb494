# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The table of the pieces of a ping-pong."""

from __future__ import annotations

import pytest

from hockney.core.fit import Estimate, Fit, FittedSegment
from hockney.pages.point_to_point import segments_table


@pytest.mark.parametrize(
    ("low", "high", "bounds"),
    [
        (0.5e-10, 2e-10, "(95%: 5.00 GB/s to 20.0 GB/s)"),
        (0.0, 2e-10, "(95%: at least 5.00 GB/s)"),
        (None, 2e-10, "(95%: at least 5.00 GB/s)"),
        (None, None, "(no interval)"),
        (1e-10, 1e-10, ""),
    ],
)
def test_a_bandwidth_has_the_interval_of_the_time_per_byte(low, high, bounds):
    piece = FittedSegment(
        first=0, beyond=None, latency=Estimate(1e-6, 1e-6, 1e-6), per_byte=Estimate(1e-10, low, high)
    )
    table = segments_table(
        Fit(model="hockney", line="pingpong", parameters=[], verdict="good", why="", segments=[piece])
    )
    [row] = table.rows
    assert row[table.columns.index("bandwidth")] == f"10.0 GB/s {bounds}".rstrip()


def test_without_a_time_per_byte_there_is_no_bandwidth():
    piece = FittedSegment(
        first=0, beyond=None, latency=Estimate(1e-6, 1e-6, 1e-6), per_byte=Estimate(0.0, 0.0, 1e-10)
    )
    table = segments_table(
        Fit(model="hockney", line="pingpong", parameters=[], verdict="good", why="", segments=[piece])
    )
    assert table.rows[0][table.columns.index("bandwidth")] == ""
