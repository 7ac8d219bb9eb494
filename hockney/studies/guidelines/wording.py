# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Both sides of a guideline in words, and the answer in sentences."""

from __future__ import annotations

from hockney.core.case import USUAL_VALUES, Case
from hockney.core.fit import ExactValue
from hockney.core.wording import list_names, plural
from hockney.models.guidelines import Guideline, GuidelineComparison, Judged, MeasuredTerm, Verdicts
from hockney.pages.format import quantity, ratio_bounds

APART = ("bytes", "sync")
"""Parameters that are shown apart from the others; the second one is the same on both sides."""
MOST_SENTENCES = 3


def call(case: Case) -> str:
    """ "bcast 64 KiB", with its parameters if they are not the usual ones."""
    words = [f"{k}={v}" for k, v in case.parameters if k not in APART and v != USUAL_VALUES.get(k)]
    return " ".join([case.workload, quantity(case.bytes, "B"), *words])


def alternative(comparison: GuidelineComparison) -> str:
    """ "scatter 32 KiB + allgather 32 KiB", "4 x bcast 16 KiB", "bcast algorithm=chain"."""
    if comparison.rule.kind == "algorithm":
        case = comparison.parts[0].case
        return f"{case.workload} algorithm={case['algorithm']}"
    return " + ".join(map(_part, comparison.parts))


def _part(part: MeasuredTerm) -> str:
    if part.copies:
        return "local copies"
    return call(part.case) if part.count == 1 else f"{part.count} x {call(part.case)}"


def in_short(rule: Guideline) -> str:
    """ "gather <= reduce", without sizes."""
    if rule.kind != "emulation":
        return {"algorithm": "user-level algorithms", "monotony": "monotony", "split": "split"}[rule.kind]
    return f"{rule.operation} <= {' + '.join(t.workload for t in rule.terms if not t.copies)}"


def probability(each: Judged) -> str:
    """Adjusted; empty for exact times, and if unknown."""
    if each.p is None or isinstance(each.ratio, ExactValue):
        return ""
    return "<0.001" if each.p < 0.001 else f"{each.p:.3f}"


def answer(verdicts: Verdicts) -> tuple[str, ...]:
    """The result first, then the largest violations, then what is not known."""
    if not verdicts.judged:
        return ("No guideline could be judged: the run has no collective next to another way to its result.",)
    result, *rest = counted(verdicts)
    return (result, *map(_violation, verdicts.worst[:MOST_SENTENCES]), *rest)


def counted(verdicts: Verdicts) -> tuple[str, ...]:
    """The same without single violations."""
    return (_result(verdicts), *_unknown(verdicts))


def _result(verdicts: Verdicts) -> str:
    calls = plural(len({each.left for each in verdicts.judged}), "call")
    limit = f"more than {verdicts.factor:.4g} times as long as"
    worst = verdicts.worst
    rules = len({each.rule for each in verdicts.violated})
    judged = plural(len(verdicts.rules), "guideline")
    if worst:
        return (
            f"{len(worst)} of {calls} take {limit} another way to the same result: "
            f"{rules} of {judged} {'is' if rules == 1 else 'are'} violated."
        )
    held = len(verdicts.of("holds"))
    count = plural(len(verdicts.judged), "comparison")
    if not verdicts.conclusive:
        return f"Inconclusive: only {held} of {count} are decided, without a violation."
    return (
        f"No violation: {held} of {count} show that a call does not take {limit} another way to the same "
        f"result ({calls}, {judged})."
    )


def _violation(each: Judged) -> str:
    ranks = plural(each.left.ranks, "rank")
    bounds = ratio_bounds(each.ratio)
    other = alternative(each.comparison)
    return f"{call(each.left)} on {ranks} takes {each.ratio.value:.2f} times as long as {other}{bounds}."


def _unknown(verdicts: Verdicts) -> list[str]:
    count = len(verdicts.judged)
    undecided, unknown = len(verdicts.of("undecided")), len(verdicts.of("unknown"))
    texts = []
    if undecided:
        texts.append(
            f"{undecided} of {plural(count, 'comparison')} are undecided: more launches may decide them."
        )
    if unknown:
        texts.append(f"{unknown} of {plural(count, 'comparison')} have no interval: measure more launches.")
    if verdicts.lacking:
        rules = list_names([in_short(rule) for rule in verdicts.lacking], 5)
        texts.append(f"Not judged, because no cases match: {rules}.")
    return texts
