# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Well-known parallel algorithms, traced on few ranks, make their own calls on many ranks."""

from __future__ import annotations

import pytest
from extrapolation.made_programs import traced_graph
from extrapolation.regular_programs import COINCIDENCES, REFUSED, REGULAR, TAGGED, UNEVEN, neighbors_in_pairs
from extrapolation.test_structure import communication, structure_of, synthesized

from hockney.core.errors import Inconclusive
from hockney.extrapolation.scaling import check_largest_run


def prediction(program, counts, ranks):
    """The calls; None if the prediction is refused."""
    structure = structure_of(program, counts)
    check_largest_run(structure)
    try:
        made = synthesized(structure, ranks)
    except Inconclusive as error:
        assert error.code in ("unknown-role", "unknown-direction", "ambiguous-partners")
        return None
    return None if structure.misfits or made.unmatched else communication(made)


def generated(program, counts, ranks):
    made = prediction(program, counts, ranks)
    assert made is not None
    return made


@pytest.mark.parametrize(("program", "counts", "ranks"), COINCIDENCES.values(), ids=list(COINCIDENCES))
def test_patterns_that_agree_on_few_ranks_are_told_apart_or_refused(program, counts, ranks):
    made = prediction(program, counts, ranks)
    assert made is None or made == communication(traced_graph(program, ranks))


@pytest.mark.parametrize(("program", "counts", "ranks"), REFUSED.values(), ids=list(REFUSED))
def test_programs_without_a_known_pattern_are_refused(program, counts, ranks):
    assert prediction(program, counts, ranks) is None


def test_ambiguous_partners_name_the_ranks_to_trace():
    structure = structure_of(neighbors_in_pairs, (2, 4, 8))
    with pytest.raises(Inconclusive) as caught:
        synthesized(structure, 64)
    assert caught.value.code == "ambiguous-partners" and caught.value.fields["trace"] == [16, 32]
    structure = structure_of(neighbors_in_pairs, (2, 4, 8, 16))
    assert communication(synthesized(structure, 64)) == communication(traced_graph(neighbors_in_pairs, 64))


@pytest.mark.parametrize(("program", "counts", "ranks"), REGULAR.values(), ids=list(REGULAR))
def test_algorithms_are_predicted_exactly(program, counts, ranks):
    assert generated(program, counts, ranks) == communication(traced_graph(program, ranks))


@pytest.mark.parametrize(("program", "counts", "ranks"), TAGGED.values(), ids=list(TAGGED))
def test_messages_with_other_tags_on_each_rank_find_their_receives(program, counts, ranks):
    made, expected = generated(program, counts, ranks), communication(traced_graph(program, ranks))
    assert made[1:] == expected[1:]
    without_tags = [sorted((row[0], row[1], row[3]) for row in each[0]) for each in (made, expected)]
    assert without_tags[0] == without_tags[1]


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
