# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Judgements and series as documents for programs: times in seconds, dates in seconds since 1970."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from hockney.core.case import Case
from hockney.core.fit import estimate_fields
from hockney.judgements.comparison import ComparedSides, Unmatched, labels, operation
from hockney.judgements.environment import Difference
from hockney.judgements.history import CheckedRun, ShownHistory
from hockney.judgements.sides import Side
from hockney.models.comparison import CaseVerdict, OperationVerdict
from hockney.models.history import CheckedOperation, CheckedSeries, FactChange, LevelChange, RunPoint, Trend
from hockney.models.statistics import MachineModes
from hockney.mpi import title_of


def comparison_document(comparison: ComparedSides) -> dict[str, Any]:
    """Times in seconds; ratios are B / A."""
    name = labels(comparison)
    return {
        "verdict": comparison.state,
        "sentence": comparison.overall,
        "tolerance": comparison.tolerance,
        "cost": comparison.cost,
        "tests": comparison.judged.tests,
        "paired": comparison.paired,
        "effect": _effect(comparison),
        "reference": [{"operation": each, "level": level} for each, level in comparison.judged.reference],
        "modes": [_modes(each) for each in comparison.judged.modes],
        "a": _side(comparison.a),
        "b": _side(comparison.b),
        "differences": _differences(comparison.differences),
        "warnings": list(comparison.caveats),
        "operations": [_compared_operation(each, comparison, name) for each in comparison.operations],
        "cases": [_case(each) for each in comparison.cases],
        "only_a": [_unmatched(each) for each in comparison.only_a],
        "only_b": [_unmatched(each) for each in comparison.only_b],
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "runs": [run.name for run in side.runs],
        "labels": list(side.labels),
        "hosts": list(dict.fromkeys(run.machine.host for run in side.runs)),
        "mpi": list(dict.fromkeys(title_of(run.machine.mpi) for run in side.runs if run.machine.mpi)),
        "launches": side.launches,
        "loaded_launches": side.loaded,
        "wrong_records": side.wrong,
    }


def _modes(each: MachineModes) -> dict[str, Any]:
    """`b_slow_pairs`: those in which only B was slow."""
    return {
        "pairs": each.pairs,
        "exchanged_pairs": each.exchanged_count,
        "factor": each.factor,
        "a_slow": each.slow_counts[0],
        "b_slow": each.slow_counts[1],
        "b_slow_pairs": each.split_counts[0],
        "a_slow_pairs": each.split_counts[1],
    }


def _compared_operation(
    verdict: OperationVerdict, comparison: ComparedSides, name: Callable[[Case], str]
) -> dict[str, Any]:
    counts = {state: len(verdict.of(state)) for state in ("slower", "faster", "same", "undecided", "unknown")}
    return {
        "operation": verdict.workload,
        "level": verdict.level,
        "cases": len(verdict.cases),
        **counts,
        **estimate_fields("mean_ratio", verdict.ratio),
        **estimate_fields("relative_ratio", verdict.relative),
        "p_changed": verdict.p_changed,
        "p_same": verdict.p_same,
        **_excluded(verdict),
        "mean_verdict": verdict.mean_state,
        "verdict": verdict.state,
        "sentence": operation(verdict, comparison, name),
    }


def _case(each: CaseVerdict) -> dict[str, Any]:
    more = each.more_launches
    return {
        "case": each.case.line,
        "level": each.level,
        **estimate_fields("a", each.a, "_s"),
        **estimate_fields("b", each.b, "_s"),
        **estimate_fields("ratio", each.ratio),
        **estimate_fields("relative_ratio", each.relative),
        "a_launches": each.launches[0],
        "b_launches": each.launches[1],
        "p_changed": each.p_changed,
        "p_same": each.p_same,
        **_excluded(each),
        "verdict": each.state,
        "more_launches": None if more is None else {"a": more[0], "b": more[1]},
    }


def _excluded(each: CaseVerdict | OperationVerdict) -> dict[str, int]:
    """Pairs of launches without a weight, in which B was far slower, and far faster."""
    return {"excluded_slower": each.excluded[0], "excluded_faster": each.excluded[1]}


def _differences(differences: Iterable[Difference]) -> list[dict[str, str]]:
    return [{"what": each.name, "a": each.a, "b": each.b} for each in differences]


def _effect(comparison: ComparedSides) -> dict[str, Any] | None:
    """The effect, for programs; bounds are factors above 1, either way. None unless launches took turns."""
    effect = comparison.judged.effect
    if effect is None:
        return None
    clearest = effect.clearest
    return {
        "verdict": effect.state,
        "p": effect.p,
        "clearest_operation": "" if clearest is None else _workload(clearest),
        "clearest_case": clearest.case.line if isinstance(clearest, CaseVerdict) else "",
        "operation_bound": effect.bound,
        "widest_operation": "" if effect.widest is None else effect.widest.workload,
        "case_bound": effect.case_bound,
        "widest_case": "" if effect.widest_case is None else effect.widest_case.case.line,
        "reported": _differences(comparison.reported),
        "sentences": list(comparison.effect_sentences),
    }


def _workload(verdict: CaseVerdict | OperationVerdict) -> str:
    return verdict.case.workload if isinstance(verdict, CaseVerdict) else verdict.workload


def _unmatched(each: Unmatched) -> dict[str, Any]:
    return {"case": each.case.line, "failure": each.failure, "expected": each.expected}


def checked_document(checked: CheckedRun) -> dict[str, Any]:
    return {
        "verdict": checked.state,
        "tolerance": checked.tolerance,
        "run": checked.name,
        "label": checked.label,
        "machine": checked.machine,
        "at_s": checked.at_s,
        "earlier_runs": checked.earlier,
        "operations": [_checked_operation(each) for each in checked.operations],
        "cases": [{"case": each.series.case, **_checked(each)} for each in checked.cases],
        "failed": [{"case": case, "failure": reason} for case, reason in checked.failed],
        "missing": list(checked.missing),
        "absent_operations": list(checked.lost_operations),
        "changes": [_fact(each) for each in checked.changes],
        "wrong_records": checked.wrong,
        "warnings": list(checked.caveats),
    }


def _checked_operation(each: CheckedOperation) -> dict[str, Any]:
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
    time = {} if not each.series.case else estimate_fields("time", each.new.value, "_s")
    return {
        "level": each.series.level,
        **time,
        **estimate_fields("ratio", each.ratio),
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
            {"machine": machine, **_fact(each)}
            for machine, machine_facts in history.facts.items()
            for each in machine_facts
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
    return {"run": point.run, "at_s": point.at_s, **estimate_fields("value", point.value, unit)}


def _change(each: LevelChange) -> dict[str, Any]:
    return {
        "run": each.at.run,
        "at_s": each.at.at_s,
        "first_s": each.first_s,
        "last_s": each.last_s,
        **estimate_fields("ratio", each.ratio),
    }


def _fact(each: FactChange) -> dict[str, Any]:
    return {"run": each.run, "at_s": each.at_s, "what": each.fact, "before": each.before, "after": each.after}
