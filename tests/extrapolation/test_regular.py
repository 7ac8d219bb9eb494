# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Well-known parallel algorithms, traced on few ranks, make their own calls on many ranks."""

from __future__ import annotations

import pytest
from extrapolation.made_programs import traced_graph
from extrapolation.regular_programs import REGULAR, UNEVEN
from extrapolation.test_structure import communication, structure_of, synthesized

from hockney.extrapolation.scaling import check_largest_run


def generated(program, counts, ranks):
    structure = structure_of(program, counts)
    check_largest_run(structure)
    made = synthesized(structure, ranks)
    assert not structure.misfits and not made.unmatched
    return communication(made)


@pytest.mark.parametrize(("program", "counts", "ranks"), REGULAR.values(), ids=list(REGULAR))
def test_algorithms_are_predicted_exactly(program, counts, ranks):
    assert generated(program, counts, ranks) == communication(traced_graph(program, ranks))


@pytest.mark.parametrize(("program", "counts", "ranks"), UNEVEN.values(), ids=list(UNEVEN))
def test_remainders_of_divisions_change_sizes_slightly(program, counts, ranks):
    made = generated(program, counts, ranks)
    expected = communication(traced_graph(program, ranks))
    assert made[2] == expected[2]
    for rows, others in zip(made[:2], expected[:2], strict=True):
        assert [row[:-1] for row in rows] == [row[:-1] for row in others]
        sizes, exact = ([float(row[-1]) for row in each] for each in (rows, others))
        assert sizes == pytest.approx(exact, rel=0.05)
        assert sum(sizes) == pytest.approx(sum(exact), rel=0.01)
