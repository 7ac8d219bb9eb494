# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables as data frames: pandas, polars, or neither installed."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest
from needs import need_module

import hockney
from hockney.api.export.table import one_type


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
    module.DataFrame = lambda columns: SimpleNamespace(library=name, columns=columns)
    module.array = lambda cells, dtype: (dtype, cells)
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
    [fit] = [f for f in run.fits.of("hockney", "pingpong") if f.subject["buffers"] == "hot"]
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


def test_a_column_has_one_type():
    assert one_type([1, None, "equal"]) == ["1", None, "equal"]
    mixed = one_type([1, None, 0.5])
    assert mixed == [1.0, None, 0.5] and type(mixed[0]) is float
    assert one_type([1, None]) == [1, None]
