# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables as CSV files: the same cells as in columns, whatever blocks they are stored in."""

from __future__ import annotations

import csv
import io

from msgspec.structs import replace

from hockney.api.export import save_csv
from hockney.api.tables import Block, Rows, repetitions
from hockney.core.record import MetricSeries, RunRecords


def written(table: Rows, folder) -> str:
    save_csv(table, str(folder / "t.csv"))
    return (folder / "t.csv").read_text()


def by_columns(table: Rows) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(zip(*table.columns.values(), strict=True))
    return text.getvalue()


def test_a_block_is_written_as_its_columns(tmp_path):
    cells = {"a": 'one, "two"', "b": [1, 2.5, None], "c": None, "d": ["x", "y\nz", ""], "e": 1e-9}
    table = Rows(
        (*"abcdef",), (Block(3, cells), Block(0, {"a": "", "b": []}), Block(1, {"f": 3, "b": [True]}))
    )
    assert table.count == 4 and table.columns["f"] == [None] * 3 + [3]
    assert table.columns["a"] == ['one, "two"'] * 3 + [None]
    assert written(table, tmp_path) == by_columns(table)


def test_the_repetitions_of_a_run_are_written_as_their_columns(run, tmp_path):
    table = run.table()
    assert len(table.blocks) == len(run.records) and table.count == sum(len(r.times_s) for r in run.records)
    assert table.columns["time_s"] == [time for r in run.records for time in r.times_s]
    assert written(table, tmp_path) == by_columns(table)


def test_metrics_of_ranks_and_of_the_whole_record_have_columns(run):
    first, second = run.records[:2]
    count = len(first.times_s)
    metrics = {
        "each": MetricSeries(
            unit="s", over_ranks="each", per="repetition", phase=False, values=[1, 2] * count
        ),
        "once": MetricSeries(unit="B", over_ranks="max", per="record", phase=False, values=[5.0]),
        "both": MetricSeries(unit="", over_ranks="each", per="record", phase=False, values=[7.0, 8.0]),
        "cut": MetricSeries(
            unit="", over_ranks="max", per="repetition", phase=False, values=[1.0] * (count + 1)
        ),
        "steps": MetricSeries(unit="", over_ranks="max", per="superstep", phase=False, values=[1.0] * count),
    }
    table = repetitions(RunRecords(run.reading.run.launches, (replace(first, metrics=metrics), second)))
    left = [None] * len(second.times_s)
    assert {name: cells for name, cells in table.columns.items() if name.startswith("metric_")} == {
        "metric_each_s_rank0": [1] * count + left,
        "metric_each_s_rank1": [2] * count + left,
        "metric_once_bytes": [5.0] * count + left,
        "metric_both_rank0": [7.0] * count + left,
        "metric_both_rank1": [8.0] * count + left,
    }


def test_metrics_of_named_phases_have_a_column_for_each_phase(run):
    first, second = run.records[:2]

    def of(values: list[float]) -> MetricSeries:
        return MetricSeries(unit="s", over_ranks="mean", per="superstep", phase=False, values=values)

    metrics = {"phase_waiting": of([1.0, 2.0]), "steps": of([1.0, 2.0, 3.0])}
    named = replace(first, metrics=metrics, labels={"phases": "lower sweep,right-hand side"})
    table = repetitions(RunRecords(run.reading.run.launches, (named, second)))
    count, left = len(first.times_s), [None] * len(second.times_s)
    assert {name: cells for name, cells in table.columns.items() if name.startswith("metric_")} == {
        "metric_phase_waiting_s_lower_sweep": [1.0] * count + left,
        "metric_phase_waiting_s_right_hand_side": [2.0] * count + left,
    }
