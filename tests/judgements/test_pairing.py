# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Interleaved runs are recognised, and their launches compared in pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from compared_runs import run, side

from hockney.core.record import SCHEMA, Close
from hockney.judgements.compare import compare
from hockney.judgements.document import comparison_document
from hockney.judgements.page import method_of_comparison
from hockney.models.statistics import MIN_QUIET_LAUNCHES

DRIFT = [float(x) for x in np.exp(0.05 * np.arange(8))]
NOISE = [1.0, 1.001, 0.999, 1.002, 0.998, 1.001, 1.0, 0.999]
SLOWER = [1.04 * drift * noise for drift, noise in zip(DRIFT, NOISE, strict=True)]
"""4% slower than DRIFT in each pair, while the machine changes by 40%."""


def drifting(numbers=range(8), scatter=DRIFT, interleaved="x", **more):
    """A run whose launches have these numbers."""
    chosen = tuple(numbers)
    return run(launches=chosen, scatter=[scatter[k] for k in chosen], interleaved=interleaved, **more)


def test_pairs_find_what_independent_launches_cannot():
    paired = compare(side("A", drifting()), side("B", drifting(scatter=SLOWER)), 0.02)
    apart = compare(side("A", drifting()), side("B", drifting(scatter=SLOWER, interleaved="y")), 0.02)
    assert paired.is_paired and not apart.is_paired
    assert {each.state for each in paired.cases} == {"slower"}
    assert {each.state for each in apart.cases} == {"undecided"}
    assert paired.cases[0].ratio.value == pytest.approx(1.04, rel=1e-3)
    assert comparison_document(paired)["paired"] and method_of_comparison(paired) != method_of_comparison(
        apart
    )


def test_the_order_of_the_launches_does_not_matter():
    """They are paired by their numbers, as after a resumed run."""
    back = drifting(reversed(range(8)), scatter=SLOWER)
    compared = compare(side("A", drifting()), side("B", back), 0.02)
    straight = compare(side("A", drifting()), side("B", drifting(scatter=SLOWER)), 0.02)
    assert compared.cases[0].ratio.low == pytest.approx(straight.cases[0].ratio.low)


def test_launches_without_a_counterpart_do_not_count():
    """Those of A that B lacks are the slowest: with them, B would be faster."""
    short = drifting(range(5), scatter=SLOWER)
    compared = compare(side("A", drifting()), side("B", short), 0.02)
    assert {each.launches for each in compared.cases} == {(5, 5)}
    assert {each.state for each in compared.cases} == {"slower"}
    assert "launches-without-counterpart" in {caveat.code for caveat in compared.caveats}


def test_hardly_any_pairs():
    """The launches count as independent."""
    other = drifting((6, 7), scatter=SLOWER)
    compared = compare(side("A", drifting(range(7))), side("B", other), 0.02)
    assert {each.launches for each in compared.cases} == {(7, 2)}


def test_of_several_launches_with_a_number_the_last_counts():
    """As after a failure, or in a resumed run."""
    twice = run(launches=(3, *range(8)), scatter=[9.0, *SLOWER], interleaved="x")
    compared = compare(side("A", drifting()), side("B", twice), 0.02)
    assert {each.launches for each in compared.cases} == {(8, 8)}
    assert compared.cases[0].ratio.value == pytest.approx(1.04, rel=1e-3)


def test_several_interleaved_comparisons_are_paired_each():
    a = side("A", drifting(interleaved="x"), drifting(interleaved="y", factor=1.5))
    b = side("B", drifting(interleaved="y", factor=1.5, scatter=SLOWER), drifting(scatter=SLOWER))
    compared = compare(a, b, 0.02)
    assert compared.is_paired and {each.launches for each in compared.cases} == {(16, 16)}
    assert {each.state for each in compared.cases} == {"slower"}


@pytest.mark.parametrize("pairs", [0, 1, 2])
def test_an_interleaved_comparison_that_was_interrupted_early(pairs):
    """Its pairs count with those of the other."""
    short = range(pairs) if pairs else (7,)
    a = side("A", drifting(), drifting(short, interleaved="y"))
    other = range(pairs) if pairs else (6,)
    b = side("B", drifting(scatter=SLOWER), drifting(other, scatter=SLOWER, interleaved="y"))
    compared = compare(a, b, 0.02)
    assert {each.launches for each in compared.cases} == {(8 + pairs, 8 + pairs)}
    assert {each.state for each in compared.cases} == {"slower"}


@pytest.mark.parametrize(("of_a", "of_b"), [("x", ""), ("x", "y"), ("", "")])
def test_other_runs_are_not_paired(of_a, of_b):
    a, b = drifting(interleaved=of_a), drifting(interleaved=of_b)
    assert not compare(side("A", a), side("B", b), 0.02).is_paired


def test_both_launches_of_a_pair_are_under_load_if_one_is():
    def loaded(of, numbers):
        closes = tuple(
            Close(schema=SCHEMA, launch=each.launch, seconds=1, exit_code=0, outside_cores=2)
            for each in of.run.launches
            if each.index in numbers
        )
        return replace(of, run=replace(of.run, closes=closes))

    a, b = loaded(drifting(), {0, 1}), loaded(drifting(scatter=SLOWER), {1, 2})
    assert {each.launches for each in compare(side("A", a), side("B", b), 0.02).cases} == {(5, 5)}
    b = loaded(drifting(scatter=SLOWER), {5, 6})
    few = compare(side("A", a), side("B", b), 0.02)
    assert MIN_QUIET_LAUNCHES > 4 and {each.launches for each in few.cases} == {(8, 8)}
