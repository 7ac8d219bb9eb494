# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Answers of reproductions with made-up times, and which of their checks hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache

import pytest
from made_up import made_up

from hockney import measurement, reproductions
from hockney.cli.start import guarded
from hockney.core.case import Case
from hockney.core.record import MetricSeries, RunRecords
from hockney.machines import simulated
from hockney.report.render import render
from hockney.reproductions import Answer, Part, Reproduction
from hockney.system.bundled import catalog_with

CATALOG = catalog_with(
    measurement.bundled_catalog(), reproductions.workloads_of(reproductions.all_reproductions().values())
)
platform = cache(simulated.platform)
Time = Callable[[Part, Case], "float | None"]
Metrics = Callable[[Case, float], Mapping[str, MetricSeries]]


def no_metrics(case: Case, seconds: float) -> dict[str, MetricSeries]:
    return {}


def answers(study: Reproduction, time: Time, metrics: Metrics = no_metrics) -> dict[str, Answer]:
    found = {}
    for part in study.parts(CATALOG):
        timed = [(case, time(part, case)) for case in part.cases]
        records = [made_up(case, t, metrics(case, t)) for case, t in timed if t is not None]
        found[part.name] = Answer(part, platform(part.machine), RunRecords.of(records))
    return found


def held(study: Reproduction, time: Time, metrics: Metrics = no_metrics) -> dict[str, bool]:
    """What holds, by the code of the check."""
    given = answers(study, time, metrics)
    compared = study.compare(given)
    checks = study.checks(given, compared)
    assert study.NAME and render(study.page(given, compared, checks))
    found = {check.code: check.holds for check in checks}
    assert len(found) == len(checks)
    return found


def of(found: dict[str, bool], *codes: str) -> list[bool]:
    return [found[code] for code in codes]


def documented(name: str, folder, capsys: pytest.CaptureFixture[str]) -> dict:
    """The document of `hockney reproduce NAME --json`, and its exit code."""
    capsys.readouterr()
    code = guarded(["reproduce", name, "--out", str(folder / name), "--json", "-q"])
    caught = capsys.readouterr()
    assert code in (0, 1), caught.err
    (document,) = json.loads(caught.out)["reproductions"]
    return document | {"code": code}
