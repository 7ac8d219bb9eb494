# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether what differs between two interleaved sides has any effect, in sentences and for programs."""

from __future__ import annotations

from typing import Any

from hockney.comparison.environment import Difference
from hockney.comparison.result import ComparedSides
from hockney.comparison.wording import labels, ratio_ends, relative
from hockney.core.units import format_percent
from hockney.core.wording import listing
from hockney.models.comparison import CaseVerdict, Effect, OperationVerdict


def sentences(compared: ComparedSides) -> tuple[str, ...]:
    """The effect on times, and whether MPI reports anything else on side B; empty unless launches took
    turns."""
    found = compared.judged.effect
    return () if found is None else (_times(found, compared), _reported(found, compared.reported))


def _times(found: Effect, compared: ComparedSides) -> str:
    if found.state == "found" and found.clearest is not None:
        return f"What differs has an effect, most clearly on {_name(found.clearest, compared)}."
    if found.bound is None or found.widest is None:
        return "Whether what differs has any effect is unknown: a ratio has no interval."
    title = _title(found.widest, compared)
    mean = f"the mean of an operation differs by {_percent(found.bound)} at most ({title})"
    case = ""
    if found.case_bound is not None and found.widest_case is not None and len(compared.cases) > 1:
        name = labels(compared)(found.widest_case.case)
        case = f", a single case by {_percent(found.case_bound)} at most ({name})"
    start = "No effect found" if found.state == "none" else "Whether there is any effect is undecided"
    return f"{start}: {mean}{case}."


def _reported(found: Effect, reported: tuple[Difference, ...]) -> str:
    if reported:
        changes = listing([f"{each.name} ({each.a}; {each.b})" for each in reported])
        return f"MPI reports a difference: {changes}."
    unused = "; the setting may not be in use" if found.state == "none" else ""
    return f"What MPI and its launches report does not differ{unused}."


def _name(of: CaseVerdict | OperationVerdict, compared: ComparedSides) -> str:
    if isinstance(of, CaseVerdict):
        name = labels(compared)(of.case)
        return f"{name}: {of.ratio.value:.3f} (95%: {ratio_ends(of.ratio)}){relative(of)}"
    mean = f"{of.ratio.value:.3f} on average (95%: {ratio_ends(of.ratio)})"
    return f"{_title(of, compared)}: {mean}{relative(of)}"


def _title(of: OperationVerdict, compared: ComparedSides) -> str:
    return f"{of.workload} {of.level}".strip() if compared.several_levels else of.workload


def _percent(bound: float) -> str:
    return format_percent(round(bound - 1, 3))


def document(compared: ComparedSides) -> dict[str, Any] | None:
    """The effect, for programs; bounds are factors above 1, either way. None unless launches took turns."""
    found = compared.judged.effect
    if found is None:
        return None
    clearest = found.clearest
    return {
        "verdict": found.state,
        "p": found.p,
        "clearest_operation": "" if clearest is None else _workload(clearest),
        "clearest_case": clearest.case.line if isinstance(clearest, CaseVerdict) else "",
        "operation_bound": found.bound,
        "widest_operation": "" if found.widest is None else found.widest.workload,
        "case_bound": found.case_bound,
        "widest_case": "" if found.widest_case is None else found.widest_case.case.line,
        "reported": [{"what": each.name, "a": each.a, "b": each.b} for each in compared.reported],
        "sentences": list(sentences(compared)),
    }


def _workload(of: CaseVerdict | OperationVerdict) -> str:
    return of.case.workload if isinstance(of, CaseVerdict) else of.workload
