# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Every case once per launch, launches by rank count, a different order each time."""

from hypothesis import given
from hypothesis import strategies as st

from hockney.core.case import Case
from hockney.core.settings import Settings
from hockney.measurement import schedule
from hockney.store import Plan

CASES = [Case.of("barrier", ranks, sync=sync) for ranks in (2, 4, 8) for sync in ("barrier", "window")]
CASES += [Case.of("pingpong", 2, bytes=b, buffers="hot") for b in range(20)]


@given(st.integers(1, 6), st.integers(0, 2**63))
def test_every_case_once_in_each_round(launches, seed):
    items = schedule(CASES, launches, seed)
    assert len(items) == len(CASES) * launches
    for round_ in range(launches):
        launched = [item for item in items if item.launch // 3 == round_]
        assert {item.case for item in launched} == set(CASES)
    for launch in range(3 * launches):
        launched = [item for item in items if item.launch == launch]
        assert len({item.case.ranks for item in launched}) == 1
        assert [item.order for item in launched] == list(range(len(launched)))


def test_orders_differ_between_launches_but_not_between_calls():
    items = schedule(CASES, 2, 1)
    orders = [[i.case for i in items if i.launch == launch] for launch in (0, 3)]
    assert sorted(orders[0]) == sorted(orders[1]) and orders[0] != orders[1]
    assert items == schedule(list(reversed(CASES)), 2, 1), "the order asked in does not matter"
    assert items != schedule(CASES, 2, 2)


def test_a_launch_has_one_executable():
    def launch_of(case):
        return case.ranks, "other" if case.workload == CASES[0].workload else "main", ""

    items = schedule(CASES, 2, 1, launch_of)
    kinds = {item.launch: set() for item in items}
    for item in items:
        kinds[item.launch].add(launch_of(item.case))
    assert all(len(kind) == 1 for kind in kinds.values())
    in_a_round = len({launch_of(case) for case in CASES})
    assert set(kinds) == set(range(2 * in_a_round))
    assert Plan(Settings("cases", launches=2), items).groups == in_a_round
