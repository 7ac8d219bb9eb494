# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison as a document for programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hockney.comparison import effect_wording
from hockney.comparison.result import ComparedSides, Unmatched
from hockney.comparison.side import Side
from hockney.comparison.wording import labels, operation, overall
from hockney.core.case import Case
from hockney.core.fit import Estimate
from hockney.models.comparison import CaseVerdict, OperationVerdict
from hockney.models.statistics import MachineModes
from hockney.mpi import title_of


def document(compared: ComparedSides) -> dict[str, Any]:
    """Times in seconds; ratios are B / A."""
    name = labels(compared)
    return {
        "verdict": compared.state,
        "sentence": overall(compared),
        "tolerance": compared.tolerance,
        "cost": compared.cost,
        "tests": compared.judged.tests,
        "paired": compared.paired,
        "effect": effect_wording.document(compared),
        "reference": [{"operation": each, "level": level} for each, level in compared.judged.reference],
        "modes": [_modes(each) for each in compared.judged.modes],
        "a": _side(compared.a),
        "b": _side(compared.b),
        "differences": [{"what": each.name, "a": each.a, "b": each.b} for each in compared.differences],
        "warnings": list(compared.caveats),
        "operations": [_operation(each, compared, name) for each in compared.operations],
        "cases": [_case(each) for each in compared.cases],
        "only_a": [_unmatched(each) for each in compared.only_a],
        "only_b": [_unmatched(each) for each in compared.only_b],
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
        "exchanged_pairs": each.exchanged,
        "factor": each.factor,
        "a_slow": each.slow[0],
        "b_slow": each.slow[1],
        "b_slow_pairs": each.split[0],
        "a_slow_pairs": each.split[1],
    }


def _operation(
    each: OperationVerdict, compared: ComparedSides, name: Callable[[Case], str]
) -> dict[str, Any]:
    counted = {state: len(each.of(state)) for state in ("slower", "faster", "same", "undecided", "unknown")}
    return {
        "operation": each.workload,
        "level": each.level,
        "cases": len(each.cases),
        **counted,
        **_estimate("mean_ratio", each.ratio),
        **_estimate("relative_ratio", each.relative),
        "p_changed": each.p_changed,
        "p_same": each.p_same,
        **_excluded(each),
        "mean_verdict": each.mean_state,
        "verdict": each.state,
        "sentence": operation(each, compared, name),
    }


def _case(each: CaseVerdict) -> dict[str, Any]:
    more = each.more_launches
    return {
        "case": each.case.line,
        "level": each.level,
        **_estimate("a", each.a, "_s"),
        **_estimate("b", each.b, "_s"),
        **_estimate("ratio", each.ratio),
        **_estimate("relative_ratio", each.relative),
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


def _estimate(name: str, estimate: Estimate | None, unit: str = "") -> dict[str, float | None]:
    value, low, high = (None,) * 3 if estimate is None else (estimate.value, estimate.low, estimate.high)
    return {f"{name}{unit}": value, f"{name}_low{unit}": low, f"{name}_high{unit}": high}


def _unmatched(each: Unmatched) -> dict[str, Any]:
    return {"case": each.case.line, "failure": each.failure, "expected": each.expected}
