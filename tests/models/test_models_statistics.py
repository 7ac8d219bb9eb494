# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A single module defines how medians and intervals are computed; metrics are summarised like times."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from layers import modules
from models_data import CATALOG, record

from hockney.core.case import Case
from hockney.core.fit import MetricSummary
from hockney.core.record import MetricSeries, RunRecords
from hockney.models import all_models, fit_all, summarise

PACKAGE = Path(__file__).parents[2] / "hockney"
GOLDEN = Path(__file__).parents[2] / "contract/golden"
INSIDE = re.compile(r"models\.statistics\.\w|\.log_(median|times|center|unbiased)\b")
CASE = Case.of("granularity", 2, bytes=8)


def summary_of(launches: Sequence[Sequence[float]], **declared: object) -> MetricSummary:
    series = MetricSeries(
        **({"unit": "", "over_ranks": "max", "per": "repetition", "phase": False, "values": []} | declared)
    )
    records = [
        msgspec.structs.replace(
            record(CASE, str(k), [1e-6] * 10),
            metrics={"m": msgspec.structs.replace(series, values=list(values))},
        )
        for k, values in enumerate(launches)
    ]
    (summary,) = summarise(RunRecords(records=tuple(records)), CATALOG)
    return summary.metrics["m"]


def test_nobody_else_looks_into_the_statistics():
    outside = [path for path in modules(PACKAGE) if path.parent.name != "statistics"]
    assert len(outside) > 100
    assert [path.name for path in outside if INSIDE.search(path.read_text())] == []


def test_a_metric_per_repetition_has_the_robust_centre_of_its_launches_medians():
    found = summary_of([[1.0] * 10, [4.0] * 10, [2.5] * 10])
    assert found.typical.value == pytest.approx(2.5)
    assert found.typical.low < 2.5 < found.typical.high


@pytest.mark.parametrize("values", [[0.0, 0.0], [0.0, -1.0], [-3.0, -2.0, 1.0]])
def test_values_without_logarithms_are_averaged_as_they_are(values):
    found = summary_of([[value] for value in values], per="record").typical
    assert found.value == pytest.approx(np.median(values) if len(values) > 2 else np.mean(values))


def test_of_each_rank_the_largest_counts_and_all_are_kept():
    repetitions = [1.0, 5.0] * 5 + [2.0, 4.0] * 5
    found = summary_of([repetitions], over_ranks="each")
    assert found.typical.value == pytest.approx(20**0.5, rel=0.1) and len(found.by_rank) == 2
    assert found.by_rank[0] < found.by_rank[1]


def test_a_metric_without_values_has_no_summary():
    empty = MetricSeries(unit="", over_ranks="max", per="record", phase=False, values=[])
    run = RunRecords(records=(msgspec.structs.replace(record(CASE, "0", [1e-6]), metrics={"m": empty}),))
    assert summarise(run, CATALOG)[0].metrics == {}


def test_metrics_of_supersteps_have_no_summary():
    steps = MetricSeries(unit="s", over_ranks="max", per="superstep", phase=False, values=[1.0, 2.0])
    run = RunRecords(records=(msgspec.structs.replace(record(CASE, "0", [1e-6]), metrics={"m": steps}),))
    assert summarise(run, CATALOG)[0].metrics == {}


def test_models_explain_workloads_that_exist_and_each_role_once():
    explained = [(role, tuple(model.free)) for model in all_models() for role in model.roles]
    roles = [role for role, _ in explained]
    catalogs = [GOLDEN / "catalog.json", *(GOLDEN / "groups").glob("*.json")]
    declared = {w["role"] for path in catalogs for w in json.loads(path.read_text())["workloads"]}
    assert (
        {"point-to-point", "stream", "one-sided", "train", "collective", "barrier"} <= set(roles) <= declared
    )
    assert len(set(explained)) == len(explained)


def test_a_workload_that_the_catalog_lacks_is_summarised_and_not_fitted():
    cases = [Case.of("unheard_of", 2, bytes=8 << k) for k in range(6)]
    fits = fit_all(
        RunRecords(records=tuple(record(case, "0", [1e-6] * 9) for case in cases)), CATALOG, cores=4
    )
    assert len(fits.summaries) == 6 and fits.fits == []
    assert [(w.name, w.role) for w in fits.workloads] == [("unheard_of", "")]
