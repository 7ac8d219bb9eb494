# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Judgements and histories as JSON documents: times in seconds, dates in seconds since 1970."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hockney.core.fit import estimate_fields
from hockney.judgements.comparison import (
    ComparedSides,
    Label,
    UnmatchedCase,
    comparison_labels,
    operation_sentence,
)
from hockney.judgements.environment import Difference
from hockney.judgements.history import CheckedRun, SelectedHistory
from hockney.judgements.sides import Side
from hockney.models.comparison import CaseVerdict, OperationVerdict, Parts
from hockney.models.history import CheckedOperation, CheckedSeries, FactChange, LevelChange, RunPoint, Trend
from hockney.models.statistics import MachineModes
from hockney.mpi import title_of


def comparison_document(comparison: ComparedSides) -> dict[str, Any]:
    """Return the comparison as a document: times in seconds, ratios as B / A."""
    label = comparison_labels(comparison)
    return {
        "verdict": comparison.state,
        "sentence": comparison.overall_sentence,
        "tolerance": comparison.tolerance,
        "cost": comparison.cost,
        "tests": comparison.judged_cases.tests,
        "paired": comparison.is_paired,
        "effect": _effect_document(comparison),
        "reference": [
            {"operation": item, "level": level} for item, level in comparison.judged_cases.reference
        ],
        "modes": [_modes_document(item) for item in comparison.judged_cases.modes],
        "a": _side_document(comparison.a),
        "b": _side_document(comparison.b),
        "differences": _difference_documents(comparison.differences),
        "warnings": list(comparison.caveats),
        "operations": [_operation_document(item, comparison, label) for item in comparison.operations],
        "cases": [_case_document(item) for item in comparison.cases],
        "only_a": [_unmatched_document(item) for item in comparison.only_a],
        "only_b": [_unmatched_document(item) for item in comparison.only_b],
        **_parts_document(comparison.judged_cases.parts),
    }


def _parts_document(parts: Parts | None) -> dict[str, Any]:
    if parts is None:
        return {}
    return {
        "parts_only_a": list(parts.only_a),
        "parts_only_b": list(parts.only_b),
        "notes": list(parts.notes),
    }


def _side_document(side: Side) -> dict[str, Any]:
    return {
        "runs": [run.name for run in side.runs],
        "labels": list(side.labels),
        "hosts": list(dict.fromkeys(run.machine.host for run in side.runs)),
        "mpi": list(dict.fromkeys(title_of(run.machine.mpi) for run in side.runs if run.machine.mpi)),
        "launches": side.launch_count,
        "loaded_launches": side.loaded_count,
        "wrong_records": side.wrong_count,
    }


def _modes_document(modes: MachineModes) -> dict[str, Any]:
    """Return the modes of the machine. `b_slow_pairs` counts the pairs in which only B was slow."""
    return {
        "pairs": modes.pairs,
        "exchanged_pairs": modes.exchanged_count,
        "factor": modes.factor,
        "a_slow": modes.slow_counts[0],
        "b_slow": modes.slow_counts[1],
        "b_slow_pairs": modes.split_counts[0],
        "a_slow_pairs": modes.split_counts[1],
    }


def _operation_document(verdict: OperationVerdict, comparison: ComparedSides, label: Label) -> dict[str, Any]:
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
        **_excluded_fields(verdict),
        "mean_verdict": verdict.mean_state,
        "verdict": verdict.state,
        "sentence": operation_sentence(verdict, comparison, label),
    }


def case_fields(verdict: CaseVerdict) -> dict[str, Any]:
    """Return the fields that documents and tables of cases share: times in seconds, ratios as B / A."""
    return {
        "level": verdict.level,
        **estimate_fields("a", verdict.a, "_s"),
        **estimate_fields("b", verdict.b, "_s"),
        **estimate_fields("ratio", verdict.ratio),
        **estimate_fields("relative_ratio", verdict.relative),
        "a_launches": verdict.launches[0],
        "b_launches": verdict.launches[1],
        "p_changed": verdict.p_changed,
        "p_same": verdict.p_same,
    }


def _case_document(verdict: CaseVerdict) -> dict[str, Any]:
    launches = verdict.more_launches
    return {
        "case": verdict.case.line,
        **({"part": verdict.part} if verdict.part else {}),
        **case_fields(verdict),
        **_excluded_fields(verdict),
        **_delay_fields(verdict),
        "verdict": verdict.state,
        "more_launches": None if launches is None else {"a": launches[0], "b": launches[1]},
    }


def _delay_fields(verdict: CaseVerdict) -> dict[str, int]:
    """Return the delayed and all repetitions of a part that was judged by them."""
    return {
        f"{side}_{key}": value
        for side, counts in zip("ab", verdict.delays or (), strict=False)
        for key, value in (("delayed", counts.delayed), ("repetitions", counts.repetitions))
    }


def _excluded_fields(verdict: CaseVerdict | OperationVerdict) -> dict[str, int]:
    """Return the numbers of pairs excluded because B was far slower or far faster."""
    return {"excluded_slower": verdict.excluded[0], "excluded_faster": verdict.excluded[1]}


def _difference_documents(differences: Iterable[Difference]) -> list[dict[str, str]]:
    return [{"what": difference.name, "a": difference.a, "b": difference.b} for difference in differences]


def _effect_document(comparison: ComparedSides) -> dict[str, Any] | None:
    """Return the effect as a document, or None unless launches alternated. Bounds are factors above 1, in
    either direction."""
    effect = comparison.judged_cases.effect
    if effect is None:
        return None
    clearest = effect.clearest
    return {
        "verdict": effect.state,
        "p": effect.p,
        "clearest_operation": "" if clearest is None else _workload_name(clearest),
        "clearest_case": clearest.case.line if isinstance(clearest, CaseVerdict) else "",
        "operation_bound": effect.bound,
        "widest_operation": "" if effect.widest is None else effect.widest.workload,
        "case_bound": effect.case_bound,
        "widest_case": "" if effect.widest_case is None else effect.widest_case.case.line,
        "reported": _difference_documents(comparison.reported_differences),
        "sentences": list(comparison.effect_sentences),
    }


def _workload_name(verdict: CaseVerdict | OperationVerdict) -> str:
    return verdict.case.workload if isinstance(verdict, CaseVerdict) else verdict.workload


def _unmatched_document(unmatched: UnmatchedCase) -> dict[str, Any]:
    return {"case": unmatched.case.line, "failure": unmatched.failure, "expected": unmatched.is_expected}


def check_document(check: CheckedRun) -> dict[str, Any]:
    return {
        "verdict": check.state,
        "tolerance": check.tolerance,
        "run": check.name,
        "label": check.label,
        "machine": check.machine,
        "at_s": check.at_s,
        "earlier_runs": check.earlier_count,
        "operations": [_checked_operation_document(item) for item in check.operations],
        "cases": [{"case": item.series.case, **_series_fields(item)} for item in check.cases],
        "failed": [{"case": case, "failure": reason} for case, reason in check.failed_cases],
        "missing": list(check.missing_cases),
        "absent_operations": list(check.lost_operations),
        "changes": [_fact_document(item) for item in check.environment_changes],
        "wrong_records": check.wrong_count,
        "warnings": list(check.caveats),
    }


def _checked_operation_document(operation: CheckedOperation) -> dict[str, Any]:
    return {
        "operation": operation.workload,
        "cases": len(operation.cases),
        "slower": len(operation.cases_with("slower")),
        "faster": len(operation.cases_with("faster")),
        **_series_fields(operation.mean),
        "mean_verdict": operation.mean.state,
        "verdict": operation.state,
    }


def _series_fields(series: CheckedSeries) -> dict[str, Any]:
    time = {} if not series.series.case else estimate_fields("time", series.new.value, "_s")
    return {
        "level": series.series.level,
        **time,
        **estimate_fields("ratio", series.ratio),
        "p_changed": series.p_changed,
        "noticeable": series.noticeable,
        "runs": series.runs,
        "more_runs": series.needed,
        "since_s": None if series.since is None else series.since.at.at_s,
        "verdict": series.state,
    }


def history_document(history: SelectedHistory) -> dict[str, Any]:
    return {
        "asked": history.query,
        "runs": history.runs,
        "series": [_trend_document(machine, trend) for machine, trend in history.trends],
        "environment": [
            {"machine": machine, **_fact_document(change)}
            for machine, machine_facts in history.facts.items()
            for change in machine_facts
        ],
    }


def _trend_document(machine: str, trend: Trend) -> dict[str, Any]:
    unit = "_s" if trend.series.case else ""
    return {
        "machine": machine,
        "operation": trend.series.workload,
        "case": trend.series.case,
        "level": trend.series.level,
        "cases": trend.series.cases,
        "points": [_point_document(point, unit) for point in trend.series.points],
        "changes": [_change_document(change) for change in trend.changes],
    }


def _point_document(point: RunPoint, unit: str) -> dict[str, Any]:
    return {"run": point.run, "at_s": point.at_s, **estimate_fields("value", point.value, unit)}


def _change_document(change: LevelChange) -> dict[str, Any]:
    return {
        "run": change.at.run,
        "at_s": change.at.at_s,
        "first_s": change.first_s,
        "last_s": change.last_s,
        **estimate_fields("ratio", change.ratio),
    }


def _fact_document(change: FactChange) -> dict[str, Any]:
    return {
        "run": change.run,
        "at_s": change.at_s,
        "what": change.fact,
        "before": change.before,
        "after": change.after,
    }
