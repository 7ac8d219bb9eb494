# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Results as documents for programs: times in seconds, dates in seconds since 1970."""

from __future__ import annotations

from typing import Any

from hockney.core.fit import Estimate
from hockney.history.result import CheckedRun, ShownHistory
from hockney.models.history import CheckedOperation, CheckedSeries, FactChange, LevelChange, RunPoint, Trend


def checked_document(checked: CheckedRun) -> dict[str, Any]:
    return {
        "verdict": checked.state,
        "tolerance": checked.tolerance,
        "run": checked.name,
        "label": checked.label,
        "machine": checked.machine,
        "at_s": checked.at_s,
        "earlier_runs": checked.earlier,
        "operations": [_operation(each) for each in checked.operations],
        "cases": [{"case": each.series.case, **_checked(each)} for each in checked.cases],
        "failed": [{"case": case, "failure": reason} for case, reason in checked.failed],
        "missing": list(checked.missing),
        "absent_operations": list(checked.absent),
        "changes": [_fact(each) for each in checked.changes],
        "wrong_records": checked.wrong,
        "warnings": list(checked.caveats),
    }


def _operation(each: CheckedOperation) -> dict[str, Any]:
    return {
        "operation": each.workload,
        "cases": len(each.cases),
        "slower": len(each.of("slower")),
        "faster": len(each.of("faster")),
        **_checked(each.mean),
        "mean_verdict": each.mean.state,
        "verdict": each.state,
    }


def _checked(each: CheckedSeries) -> dict[str, Any]:
    time = {} if not each.series.case else _estimate("time", each.new.value, "_s")
    return {
        "level": each.series.level,
        **time,
        **_estimate("ratio", each.ratio),
        "p_changed": each.p_changed,
        "noticeable": each.noticeable,
        "runs": each.runs,
        "more_runs": each.needed,
        "since_s": None if each.since is None else each.since.at.at_s,
        "verdict": each.state,
    }


def shown_document(history: ShownHistory) -> dict[str, Any]:
    return {
        "asked": history.asked,
        "runs": history.runs,
        "series": [_trend(machine, trend) for machine, trend in history.trends],
        "environment": [
            {"machine": machine, **_fact(each)} for machine, of in history.facts.items() for each in of
        ],
    }


def _trend(machine: str, trend: Trend) -> dict[str, Any]:
    unit = "_s" if trend.series.case else ""
    return {
        "machine": machine,
        "operation": trend.series.workload,
        "case": trend.series.case,
        "level": trend.series.level,
        "cases": trend.series.cases,
        "points": [_point(point, unit) for point in trend.series.points],
        "changes": [_change(each) for each in trend.changes],
    }


def _point(point: RunPoint, unit: str) -> dict[str, Any]:
    return {"run": point.run, "at_s": point.at_s, **_estimate("value", point.value, unit)}


def _change(each: LevelChange) -> dict[str, Any]:
    return {
        "run": each.at.run,
        "at_s": each.at.at_s,
        "first_s": each.first_s,
        "last_s": each.last_s,
        **_estimate("ratio", each.ratio),
    }


def _fact(each: FactChange) -> dict[str, Any]:
    return {"run": each.run, "at_s": each.at_s, "what": each.fact, "before": each.before, "after": each.after}


def _estimate(name: str, estimate: Estimate, unit: str = "") -> dict[str, float | None]:
    return {
        f"{name}{unit}": estimate.value,
        f"{name}_low{unit}": estimate.low,
        f"{name}_high{unit}": estimate.high,
    }
