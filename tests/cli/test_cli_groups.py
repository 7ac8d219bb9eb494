# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Workloads that are compiled when first run: listed before, measured, fitted by their role, shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hockney import build, measurement
from hockney.core.program_cases import REPLAY


def test_they_are_listed_with_their_parameters_before_they_are_compiled(hockney):
    listed = json.loads(hockney("run", "--list", "--json").out)
    described = {w["name"]: w for w in listed["workloads"]}
    for group, names in build.groups(build.source_folder()).items():
        assert listed["groups"][group] == list(names)
        assert {described[name]["group"] for name in names} == {group}
    first_words = {line.split(" ", 1)[0] for line in hockney("run", "--list").out.splitlines()}
    assert set(described) <= first_words


def test_no_two_workloads_have_one_name():
    names = [
        w.name
        for catalog in (measurement.bundled_catalog(), *measurement.bundled_groups())
        for w in catalog.workloads
    ]
    assert len(names) == len(set(names))


def test_a_survey_measures_none_of_them(hockney):
    cases = json.loads(hockney("plan", "survey", "--json").out)["cases"]
    listed = {name for names in build.groups(build.source_folder()).values() for name in names}
    assert not listed & {line.split()[0] for line in cases}


FAST = ("annealing", "npb", "onesided")
"""Groups whose pages the fast tier renders."""


def catalogs() -> list[object]:
    each = [catalog for catalog in measurement.bundled_groups() if catalog.workloads[0].name != REPLAY]
    names = [catalog.workloads[0].group.removeprefix("hockney-") for catalog in each]
    return [
        pytest.param(catalog, id=name, marks=() if name in FAST else pytest.mark.slow)
        for catalog, name in zip(each, names, strict=True)
    ]


@pytest.mark.page
@pytest.mark.parametrize("catalog", catalogs())
def test_every_one_of_them_is_on_the_page_with_its_metrics(hockney, catalog):
    done = hockney("run", *(w.name for w in catalog.workloads), "--ranks", "2", "--out", "r", "-q", "--json")
    summaries = {s["case"].split()[0]: s for s in json.loads(done.out)["summaries"]}
    page = Path("r/report.html").read_text()
    for workload in catalog.workloads:
        typical = {metric.name for metric in workload.metrics if metric.per != "superstep"}
        assert set(summaries[workload.name]["metrics"]) == typical
        assert workload.name in page
