# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether what differs between interleaved runs has any effect."""

from __future__ import annotations

import html
import json

import numpy as np
import pytest
from compared_runs import MACHINE, changed, run, side

from hockney.api.judgements import comparison
from hockney.judgements.compare import compare
from hockney.judgements.document import comparison_document
from hockney.judgements.judgement import escape_markdown, junit_report, markdown_report
from hockney.judgements.page import comparison_page

COUNT = 12


def compared(shift=0.0, noise=0.002, tolerance=0.02, machine=MACHINE, launches=COUNT, **more):
    """B takes exp(shift) times as long; each launch differs by `noise`."""
    rng = np.random.default_rng(7)
    scatter = [np.exp(rng.normal(middle, noise, launches)).tolist() for middle in (0.0, shift)]
    a = run(launches=launches, scatter=scatter[0], interleaved="x")
    b = run(launches=launches, scatter=scatter[1], interleaved="x", machine=machine, **more)
    return compare(side("A", a), side("B", b), tolerance)


@pytest.mark.parametrize(
    ("shift", "noise", "state"),
    [(0.0, 0.002, "none"), (0.01, 0.002, "found"), (0.1, 0.02, "found"), (0.0, 0.1, "undecided")],
)
def test_the_state(shift, noise, state):
    """1% is found although it is within the tolerance: an effect needs none."""
    assert compared(shift, noise).effect.state == state


def test_what_is_found():
    found = compared(0.01).effect
    assert found.p < 0.001 and found.clearest.ratio.value == pytest.approx(1.01, abs=0.003)
    faster = compared(-0.01).effect
    assert faster.state == "found" and faster.bound == pytest.approx(1.01, abs=0.004)


def test_the_largest_effect_that_is_still_possible():
    none = compared()
    assert none.effect.clearest is None and 1 < none.effect.bound <= 1.02
    ends = [abs(np.log(end)) for each in none.cases for end in (each.ratio.low, each.ratio.high)]
    assert none.effect.case_bound == pytest.approx(np.exp(max(ends)))
    assert compared(noise=0.02).effect.bound > none.effect.bound
    unknown = compared(launches=1).effect
    assert (unknown.state, unknown.p, unknown.bound) == ("undecided", None, None)


def test_what_mpi_reports():
    tcp = changed(transport={"within a node": "tcp"})
    assert [each.name for each in compared(machine=tcp).reported_differences] == ["transport"]
    asked = compared(variables=("UCX_TLS=tcp",))
    assert [each.name for each in asked.differences] == ["variables"] and asked.reported_differences == ()


def test_pairs_in_which_only_one_side_was_slow():
    """B takes 2.8 times as long in four of 24 launches; the others are the same."""
    slow = [2.8 if k % 6 == 0 else 1 + 0.001 * (k % 3) for k in range(24)]
    a = run(launches=24, scatter=[1 + 0.001 * (k % 5) for k in range(24)], interleaved="x")
    made = compare(side("A", a), side("B", run(launches=24, scatter=slow, interleaved="x")), 0.02)
    assert made.state == made.effect.state == "undecided"
    (caveat,) = (each for each in made.caveats if each.code == "pairs-excluded-on-one-side")
    assert "B in 4 of 24 pairs" in caveat.text
    written = comparison_document(made)
    assert {(each["excluded_slower"], each["excluded_faster"]) for each in written["cases"]} == {(4, 0)}
    assert written["operations"][0]["excluded_slower"] == 4
    assert all(
        "4 of 24" in text for text in (junit_report(made), markdown_report(made), str(comparison_page(made)))
    )


@pytest.mark.parametrize("kind", [{}, {"shift": 0.01}, {"noise": 0.1}, {"launches": 1}])
def test_it_is_in_every_output(kind):
    made = compared(**kind)
    first = made.effect_sentences[0]
    assert first in html.unescape(comparison._comparison_html(made))
    assert first in {text for section in comparison_page(made).sections for text in section.text}
    assert first in html.unescape(junit_report(made)) and escape_markdown(first) in markdown_report(made)
    written = json.loads(json.dumps(comparison_document(made)["effect"]))
    assert written["verdict"] == made.effect.state and written["sentences"][0] == first


def test_ordinary_comparisons_have_none():
    made = compare(side("A"), side("B"), 0.05)
    assert made.effect is None and comparison_document(made)["effect"] is None and made.effect_sentences == ()
