# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Comparing with printed numbers: which ones count as predictions, and when limits hold."""

from __future__ import annotations

from dataclasses import replace

import pytest
from models_data import record

from hockney import measurement, reproductions
from hockney.core.case import Case
from hockney.core.errors import UsageError
from hockney.core.platform import Network, Origin, Platform, Segment
from hockney.core.record import RunRecords
from hockney.reproductions import Answer, ComparedNumber, Part, Statement, pages, status_of, tally_by_status
from hockney.system.bundled import catalog_with


def platform(*rows: str) -> Platform:
    return Platform(
        name="m",
        title="M",
        network=Network(shape="switch"),
        segments=(Segment(latency_s=1e-6),),
        origins=(Origin(key="segments", status="fitted", source="", rows=rows),),
    )


def row(
    simulated: float | None, published: float = 1.0, status: reproductions.Status = "predicted"
) -> ComparedNumber:
    return ComparedNumber("k", "a number", published, simulated, None, "s", status)


@pytest.mark.parametrize(
    ("used", "mechanism", "status"),
    [
        ("p/table/bcast/8/32", "", "fitted"),
        ("p/table", "", "fitted"),
        ("p/table/", "hardware barrier", "fitted"),
        ("p/tab", "", "predicted"),
        ("p/table/bcast/8/3", "hardware barrier", "variant"),
    ],
)
def test_a_row_that_was_used_is_no_prediction(used, mechanism, status):
    assert status_of(platform(used), "p/table/bcast/8/32", mechanism) == status


def test_statuses_are_counted_apart():
    rows = [row(1.009), row(0.96), row(1.3), row(None), row(1.0, status="fitted")]
    predicted, fitted = tally_by_status(rows)
    assert (predicted.status, predicted.rows, predicted.within, predicted.missing) == (
        "predicted",
        4,
        (1, 2, 2),
        1,
    )
    assert (fitted.status, fitted.rows, fitted.within, fitted.missing) == ("fitted", 1, (1, 1, 1), 0)


def test_the_table_of_agreement_has_a_row_for_each_status():
    rows = [row(1.009), row(0.96), row(1.3), row(None), row(1.0, status="fitted")]
    table = pages.tally_table(rows)
    assert [cells[1:] for cells in table.rows] == [("4", "1", "2", "2", "1"), ("1", "1", "1", "1", "")]
    assert len({cells[0] for cells in table.rows}) == 2 and all(
        len(c) == len(table.columns) for c in table.rows
    )
    complete = pages.tally_table([row(1.009)])
    assert len(complete.columns) == len(table.columns) - 1, "everything was simulated"


def test_the_overview_has_one_band_around_equality():
    """A line with a legend entry for each edge would need a key."""
    figure = pages.overview_figure("p", [row(1.1), row(2.0), row(0.9, 1.5)])
    (equal,) = (series for series in figure.series if series.kind == "line")
    assert equal.x == equal.y == (0.9, 2.0)
    assert equal.low == pytest.approx((0.675, 1.5)) and equal.high == pytest.approx((1.125, 2.5))


ALL = Statement("all", "table 1", "all within 5%")


def test_a_check_needs_every_row():
    assert ALL.within([row(1.04), row(0.96)], 0.05).holds
    assert not ALL.within([row(1.04), row(0.94)], 0.05).holds
    assert not ALL.within([row(1.04), row(None)], 0.05).holds
    assert not ALL.within([], 0.05).holds


def test_the_error_says_which_row_is_worst():
    assert "6.00%" in ALL.within([row(1.04), row(0.94)], 0.05).found


def test_bounds_and_a_zero_that_is_met_are_no_agreement():
    zero = replace(row(0.0), published=0.0)
    (counted,) = tally_by_status([row(1.0), replace(row(1.0), bound=True), zero])
    assert counted.rows == 1


def test_an_answer_is_the_one_case_that_has_the_words():
    cases = tuple(Case.of("pingpong", 2, bytes=b, buffers="hot") for b in (0, 8))
    answer = Answer(Part("pp", "m", cases), platform(), RunRecords.of([record(cases[1], "0.0", [3, 1, 2])]))
    assert answer.seconds("pingpong", bytes=8, ranks=2) == 2.0
    assert answer.seconds("pingpong", bytes=0) is None
    with pytest.raises(LookupError, match="2 cases"):
        answer.seconds("pingpong", ranks=2)


def test_an_unknown_reproduction_is_named():
    workloads = reproductions.workloads_of(reproductions.all_reproductions().values())
    with pytest.raises(UsageError) as caught:
        reproductions.reproduction("nothing", catalog_with(measurement.bundled_catalog(), workloads))
    assert caught.value.code == "unknown-reproduction"


def test_a_table_has_no_empty_column_and_does_not_repeat_its_name():
    rows = [ComparedNumber("k", "a number", 1.0, 1.1, None, "s", "variant", "a bus", table="on a bus")]
    shown = pages.comparison_table("on a bus", rows)
    assert shown.columns == ("printed number", "published", "simulated", "error", "status")
    assert shown.rows == (("a number", "1.000 s", "1.100 s", "+10.0%", "variant"),)
    assert shown.numeric == (1, 2, 3)
    assert pages.comparison_table("", rows).rows[0][-1] == "a bus"
    assert pages.comparison_table("", [replace(rows[0], published=307.6)]).rows[0][1] == "307.6 s", (
        "as a paper has it"
    )
