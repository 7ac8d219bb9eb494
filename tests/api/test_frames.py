# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables as data frames (pandas, polars, or neither installed) and as CSV files."""

from __future__ import annotations

import csv
import io
import sys
from types import ModuleType, SimpleNamespace

import pytest
from msgspec.structs import replace
from needs import need_module

import hockney
from hockney.api.export import frame as frame_of
from hockney.api.export import save_csv
from hockney.api.tables import Block, Rows, column, repetitions, typed
from hockney.core.record import MetricSeries, RunRecords


@pytest.fixture
def libraries(monkeypatch):
    """libraries(pandas=..., polars=...) are the only importable ones; None is not importable."""

    def install(**modules: object) -> None:
        for name in ("pandas", "polars"):
            monkeypatch.setitem(sys.modules, name, modules.get(name))

    return install


def stand_in(name: str) -> ModuleType:
    """A stand-in library that keeps the columns it receives."""
    module = ModuleType(name)
    module.DataFrame = lambda columns, schema=None: SimpleNamespace(library=name, columns=columns)
    module.Series = lambda cells, dtype: cells
    for kind in ("String", "Int64", "Float64", "Boolean"):
        setattr(module, kind, kind)
    return module


def test_summaries_in_pandas(run):
    pandas = need_module("pandas")
    frame = run.frame(library="pandas")
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == list(run.table("summaries").columns)
    pingpong = frame[(frame.workload == "pingpong") & (frame.buffers == "hot")]
    assert pingpong["bytes"].dtype == "Int64" and pingpong["bytes"].max() == 1 << 20
    assert frame[frame.workload == "barrier"]["bytes"].isna().all()
    assert pingpong.typical_s.tolist() == [
        s.typical.value for s in run.summaries if s.case.startswith("pingpong buffers=hot")
    ]
    assert pingpong.typical_s.dtype == float


def test_repetitions_and_predictions_in_pandas(run):
    need_module("pandas")
    frame = run.frame("repetitions", library="pandas")
    assert len(frame) == sum(len(record.times_s) for record in run.records)
    assert frame.groupby("case").launch.nunique().eq(4).all()
    predicted = hockney.predict(1e-3, 8, ranks=[2, 4], run=run).frame(library="pandas")
    assert predicted.ranks.tolist() == [2, 4] and predicted.speed_up.between(1, 4).all()


def test_parameters_of_the_fits(run):
    pandas = need_module("pandas")
    frame = run.frame("parameters", library="pandas")
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == sum(max(1, len(fit.parameters)) for fit in run.fits.fits)
    hot = frame[(frame.workload == "pingpong") & (frame.buffers == "hot")].set_index("symbol")
    [fit] = [f for f in run.fits.select("hockney", "pingpong") if f.subject["buffers"] == "hot"]
    assert hot.value["r_inf"] == fit.parameter("r_inf").estimate.value and hot.unit["t_0"] == "s"
    refused = frame[frame.verdict == "refused"]
    assert len(refused) and refused.value.isna().all()


def test_the_library_is_the_first_that_is_there_or_the_one_asked_for(run, libraries):
    libraries(pandas=stand_in("pandas"), polars=stand_in("polars"))
    assert run.frame().library == "pandas" and run.frame(library="polars").library == "polars"
    libraries(polars=stand_in("polars"))
    frame = run.frame()
    assert frame.library == "polars" and frame.columns == run.table("summaries").columns
    with pytest.raises(hockney.EnvironmentProblem) as missing:
        run.frame(library="pandas")
    assert (missing.value.code, missing.value.fields["wanted"]) == ("no-frame-library", "pandas")


def test_without_either_there_are_still_columns(run, libraries):
    libraries()
    with pytest.raises(hockney.EnvironmentProblem) as missing:
        run.frame()
    assert (missing.value.code, missing.value.fields["wanted"]) == ("no-frame-library", "")
    assert run.table("summaries").count == len(run.summaries)


def test_what_is_no_table_or_library(run):
    with pytest.raises(hockney.UsageError) as table:
        run.frame("medians")
    with pytest.raises(hockney.UsageError) as library:
        run.frame(library="dask")
    assert (table.value.code, library.value.code) == ("unknown-table", "unknown-frame-library")


TABLES = ("summaries", "records", "repetitions", "parameters")


@pytest.mark.parametrize("what", TABLES)
def test_polars_and_pandas_have_the_same_cells(run, what):
    polars, _ = need_module("polars"), need_module("pandas")
    frame = run.frame(what, library="polars")
    assert isinstance(frame, polars.DataFrame) and frame.height == run.table(what).count
    assert frame.to_dict(as_series=False) == {
        name: column.cells for name, column in typed(run.table(what)).items()
    }
    other = run.frame(what, library="pandas")
    assert list(other.columns) == frame.columns
    for name in frame.columns:
        gaps = other[name].isna()
        assert gaps.tolist() == frame[name].is_null().to_list()
        assert other[name][~gaps].tolist() == frame[name].drop_nulls().to_list()


def test_a_frame_for_each_record(run):
    pandas = need_module("pandas")
    frame = run.frame("records", library="pandas")
    assert len(frame) == len(run.records) and frame.groupby("case").launch_index.nunique().eq(4).all()
    repetitions = run.frame("repetitions", library="pandas")
    medians = repetitions.groupby(["case", "launch"]).time_s.median()
    pandas.testing.assert_series_equal(
        frame.set_index(["case", "launch"]).median_s.sort_index(), medians.sort_index(), check_names=False
    )
    assert (frame.low_s <= frame.median_s).all() and (frame.median_s <= frame.high_s).all()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_several_runs_can_be_joined(library, tmp_path):
    """A column has the same type if all its cells are empty, as the interval of a single launch."""
    module = need_module(library)
    frames = [
        hockney.run(
            "barrier", machine="fake", seed=1, launches=launches, budget=2, out=tmp_path / str(launches)
        ).frame("summaries", library)
        for launches in (1, 4)
    ]
    assert list(frames[0].dtypes) == list(frames[1].dtypes)
    assert frames[0]["between"].is_null().all() if library == "polars" else frames[0]["between"].isna().all()
    assert len(module.concat(frames)) == 2


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_empty_columns_and_truth_values_in_both_libraries(library):
    need_module(library)
    cells = {"place": [None, None], "nodes": [None, None], "low_s": [None, None], "preferred": [True, None]}
    shown = frame_of(Rows.of(cells), library)
    types = [str(kind) for kind in shown.dtypes]
    assert (
        types
        == {
            "pandas": ["object", "Int64", "float64", "boolean"],
            "polars": ["String", "Int64", "Float64", "Boolean"],
        }[library]
    )


def test_a_column_has_one_type():
    for cells, kind, expected in (
        ([1, None, "equal"], str, ["1", None, "equal"]),
        ([1, None, 0.5], float, [1.0, None, 0.5]),
        ([1, None], int, [1, None]),
        ([True, False], bool, [True, False]),
        ([None], float, [None]),
    ):
        found = column("x_s", cells)
        assert (found.kind, found.cells) == (kind, expected)
        assert list(map(type, found.cells)) == list(map(type, expected))
    assert column("nodes", [None]).kind is int and column("place", []).kind is str


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
