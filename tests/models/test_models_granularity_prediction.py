# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predictions: intervals from the messages', shared cores, the best number of ranks, limits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.models.applications.grain_prediction import REPORTED_EFFICIENCIES, predict
from hockney.models.applications.granularity import Algorithm, efficiency, required_work, times
from hockney.models.applications.point_to_point_costs import CostPiece, PointToPointCosts, RelativeBounds

MACHINE = PointToPointCosts(
    "m",
    "M",
    (CostPiece(0, 1e-3, 1e-6),),
    True,
    "",
    band=(RelativeBounds(0, 0.8, 1.1), RelativeBounds(1000, 0.9, 1.3)),
    max_size=1000,
)


@given(
    st.floats(1e-4, 1e3), st.integers(0, 2000), st.sampled_from([0.0, 0.01, 1.0]), st.floats(0, 10),
    st.floats(1, 2), st.integers(2, 64),
)  # fmt: skip
def test_intervals_are_those_of_the_messages(work, size, serial, exchanges, imbalance, ranks):
    algorithm = Algorithm(work, size, serial, exchanges, imbalance)
    found = predict(algorithm, MACHINE, [1, ranks])
    short, long = MACHINE.bounds(size)
    (row,) = [each for each in found.rows if each.ranks == ranks]
    quick, slow = (times(algorithm, MACHINE, ranks, factor) for factor in (short, long))
    assert (row.time.low, row.time.high) == (quick.total, slow.total)
    assert row.efficiency.low == pytest.approx(slow.efficiency)
    assert row.efficiency.high == pytest.approx(quick.efficiency)
    assert row.communication.high == pytest.approx(slow.communication_share)
    for needed in (*found.break_even, *found.needed):
        now = required_work(needed.efficiency, algorithm, MACHINE, ranks)
        assert (needed.work is None) == (now is None)
        if now is not None:
            assert needed.work.value == now and needed.work.low <= now <= needed.work.high
            assert needed.work.high == required_work(needed.efficiency, algorithm, MACHINE, ranks, long)
    for change in found.changes:
        at = change.efficiency
        assert at.low <= at.value <= at.high and at.value == change.lever.efficiency
    assert found.best.fastest_bounds[0] <= found.best.fastest.ranks <= found.best.fastest_bounds[1]


def test_without_a_band_there_are_no_intervals():
    found = predict(Algorithm(1.0, 8), replace(MACHINE, band=()), [2, 4])
    every = [found.one_way, *(row.time for row in found.rows), *(n.work for n in found.needed)]
    assert all(each.low is None and each.high is None for each in every)


def test_one_rank_needs_nothing():
    found = predict(Algorithm(1.0, 8), MACHINE, [1])
    assert found.rows[0].efficiency.value == 1 and not found.needed and not found.changes
    assert found.changed_ranks == 0


def test_ranks_beyond_the_cores_share_them():
    algorithm = Algorithm(1.0, 8, serial=0.1)
    found = predict(algorithm, replace(MACHINE, max_ranks=4), [2, 4, 8])
    two, four, eight = found.rows
    assert (two.shared_by, four.shared_by, eight.shared_by) == (1, 1, 2)
    assert four.efficiency.value == efficiency(algorithm, MACHINE, 4)
    assert eight.efficiency.value < efficiency(algorithm, MACHINE, 8)
    assert eight.efficiency.value <= 4 / 8 and eight.speed_up.value < 4
    assert found.changed_ranks == 4, "levers are told for ranks with a core each"
    assert found.best.max_ranks == 4 and found.best.fastest.ranks <= 4
    crowded = predict(algorithm, replace(MACHINE, max_ranks=1), [2, 4])
    assert crowded.changed_ranks == 0 and crowded.changes == ()
    assert crowded.best.max_ranks == crowded.best.fastest.ranks == 1


def test_every_wanted_efficiency_is_answered_for_every_number_of_ranks():
    found = predict(Algorithm(1.0, 100, serial=0.05), MACHINE, [2, 16])
    assert [(each.ranks, each.efficiency) for each in found.needed] == [
        (n, w) for n in (2, 16) for w in REPORTED_EFFICIENCIES
    ]
    assert [(each.ranks, each.efficiency) for each in found.break_even] == [(2, 1 / 2), (16, 1 / 16)]
    never = [each for each in found.needed if each.work is None]
    assert {(each.ranks, each.efficiency) for each in never} == {(16, 0.8), (16, 0.9)}
    assert all(each.ceiling == pytest.approx(1 / 1.75) for each in never)
