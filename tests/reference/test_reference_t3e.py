# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The T3E's table of collectives, copied from the paper a second time: microseconds on 32, 64, 128, 256
processes."""

from __future__ import annotations

import pytest

from hockney import reference

TABLE = """
bcast      8       31.6    38.6   41.52    46.7
gather     8     110.75   229.4     450     877
scatter    8       90.2     184     393     816
alltoall   8        230     472     989    1997
reduce     8       45.8    57.2    94.3    98.2
allreduce  8         85    58.8     114   104.5
bcast      1KB       35      42      78      90
gather     1KB       52     108     455     880
scatter    1KB       88     172     675     816
alltoall   1KB      171     327    1323    2016
reduce     1KB      181     217     246     278
allreduce  1KB      199     253     277     347
bcast      1MB    18920   21575   31793   36133
gather     1MB     6236    6395    4317    4267
scatter    1MB     6096    6191    4424    5222
alltoall   1MB    18085   21885   29315   26491
reduce     1MB   142858  170491  196300  224312
allreduce  1MB   163649  191593  223817  256235
"""
ROWS = [line.split() for line in TABLE.strip().splitlines()]


@pytest.mark.parametrize(("operation", "size", "times"), [(row[0], row[1], row[2:]) for row in ROWS])
def test_times_are_as_printed(operation, size, times):
    paper = reference.published("t3e")
    found = [paper.row(f"t3e/table/{operation}/{size}/{p}") for p in (32, 64, 128, 256)]
    assert [row.value for row in found] == [float(time) for time in times]
    assert {(row.unit, row.quantity, row.workload) for row in found} == {("us", "time", operation)}


def test_there_are_no_other_times():
    printed = [row for row in reference.published("t3e").rows if row.key.startswith("t3e/table/")]
    assert len(printed) == sum(len(row) - 2 for row in ROWS) == 72
