# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a tuning run decides, from hockney's algorithms and Open MPI's together."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from hockney.core.fit import Estimate
from hockney.models.tuning.rules import AlgorithmRatio, Point, derive_rules
from hockney.studies.tuning.figures import choices_figure
from hockney.studies.tuning.results import HOCKNEY, OPEN_MPI, Tuning


def test_a_combination_has_the_first_state_of_both_kinds_of_algorithms():
    def point(size: int, name: str, low: float, high: float) -> Point:
        return Point("bcast", 2, size, (AlgorithmRatio(name, Estimate((low * high) ** 0.5, low, high)),))

    ours = (point(8, "chain", 0.7, 1.2), point(64, "chain", 0.99, 1.2), point(512, "chain", 0.98, 1.0))
    theirs = (point(8, "tuned2", 0.7, 0.8), point(64, "tuned2", 0.6, 1.1))
    found = Tuning(ours, (), theirs, tuple(derive_rules(theirs)), launches=10)
    assert [(each.combination[2], each.state, each.owner) for each in found.deciding_choices] == [
        (8, "faster", OPEN_MPI),
        (64, "undecided", OPEN_MPI),
        (512, "not faster", HOCKNEY),
    ]
    assert found.deciding_choices[0].algorithm_name("tuned2") == "chain" and found.conclusive
    assert not replace(found, points=ours[:1], internal_points=theirs[1:]).conclusive
    needed = (math.log(1.1 / 0.66**0.5) / math.log(0.95 / 0.66**0.5)) ** 2
    assert found.budget_multiple == pytest.approx(needed)
    drawn = choices_figure(found)
    assert [(s.name, len(s.x), s.hollow) for s in drawn.series] == [
        ("faster", 1, False),
        ("not faster", 1, False),
        ("undecided", 1, True),
    ]
    assert drawn.x.names == ("bcast",)
