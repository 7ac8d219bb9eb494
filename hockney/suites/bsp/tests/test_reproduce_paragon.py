# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The Paragon with made-up times: what its reproduction accepts and rejects."""

from __future__ import annotations

import pytest
from paper_answers import answers, held, of, platform
from paragon_world import PARAGON, on_paragon

from hockney.suites.bsp.reproductions import paragon

ON_PARAGON = ("unidirectional", "bidirectional", "bandwidth", "bisection")


def test_the_paragon_of_the_paper_is_accepted():
    assert of(held(paragon, on_paragon(), PARAGON.metrics), *ON_PARAGON) == [True, True, True, True]


@pytest.mark.parametrize(
    ("wrong", "holds"),
    [
        (on_paragon(start=149e-6), [False, True, False, True]),
        (on_paragon(both=222e-6), [True, False, True, True]),
        (on_paragon(link=1e9), [True, True, True, False]),
        (on_paragon(link=50e6), [True, True, True, False]),
        (lambda part, case: None, [False, False, False, False]),
    ],
)
def test_another_machine_is_not(wrong, holds):
    assert of(held(paragon, wrong, PARAGON.metrics), *ON_PARAGON) == holds


def test_a_line_of_the_paragon_saturates_where_its_links_are_full():
    """A node that sends and receives moves 44 MB/s in each direction; 175 MB/s are four of them, 8
    processors."""
    line = platform("paragon-10x1")
    model = {p: paragon.modelled(line, p) for p in paragon.LINE}
    assert model[10] == pytest.approx(model[8], rel=0.05) and model[6] > 1.4 * model[4]
    assert paragon.constant_from(model) == 8
    assert paragon.linear_to(model) == 8
    assert paragon.linear_to({p: paragon.modelled(line, p, "one") for p in paragon.LINE}) == 4


def test_fitted_rows_of_the_paragon_are_not_predictions():
    compared = paragon.compare(answers(paragon, on_paragon(), PARAGON.metrics))
    messages = [row for row in compared if row.key.startswith(("paragon/formula", "paragon/text"))]
    assert {row.status for row in messages} == {"fitted"}
    others = {row.key for row in compared if row.status == "fitted"} - {row.key for row in messages}
    assert {key.removeprefix("paragon/") for key in others} == {
        "bsp/g/4x2", "bsp/L/4x2", "bpram/l/4x2", "bsp-library/message", "matrix/communication/bsp/8",
        "sample-sort/crossover",
    }  # fmt: skip
    checks = paragon.checks(answers(paragon, on_paragon(), PARAGON.metrics), compared)
    assert {check.code for check in checks if check.fitted} == {
        "unidirectional", "bidirectional", "bandwidth",
    }, "they hold by construction"  # fmt: skip
