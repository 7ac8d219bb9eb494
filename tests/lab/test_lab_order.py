# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Every case once a launch, launches by rank count, another order each time."""

from hypothesis import given
from hypothesis import strategies as st

from hockney.core.case import Case
from hockney.lab import schedule

CASES = [Case.of("barrier", ranks, sync=sync) for ranks in (2, 4, 8) for sync in ("barrier", "window")]
CASES += [Case.of("pingpong", 2, bytes=b, buffers="hot") for b in range(20)]


@given(st.integers(1, 6), st.integers(0, 2**63))
def test_every_case_once_in_each_round(launches, seed):
    items = schedule(CASES, launches, seed)
    assert len(items) == len(CASES) * launches
    for round_ in range(launches):
        mine = [item for item in items if item.launch // 3 == round_]
        assert {item.case for item in mine} == set(CASES)
    for launch in range(3 * launches):
        mine = [item for item in items if item.launch == launch]
        assert len({item.case.ranks for item in mine}) == 1
        assert [item.order for item in mine] == list(range(len(mine)))


def test_orders_differ_between_launches_but_not_between_calls():
    items = schedule(CASES, 2, 1)
    orders = [[i.case for i in items if i.launch == launch] for launch in (0, 3)]
    assert sorted(orders[0]) == sorted(orders[1]) and orders[0] != orders[1]
    assert items == schedule(list(reversed(CASES)), 2, 1), "the order asked in does not matter"
    assert items != schedule(CASES, 2, 2)
