# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""The answer in sentences: how many calls violate a guideline, the largest violations, what is undecided."""

from __future__ import annotations

from hockney.core.wording import list_names, plural, verb_form
from hockney.models.guidelines import Judged, Verdicts
from hockney.pages.format import ratio_interval_suffix
from hockney.studies.guidelines.columns import alternative_text, call_text, rule_text

MAX_SENTENCES = 3


def headline(verdicts: Verdicts) -> tuple[str, ...]:
    """The result first, then the largest violations, then what is not known."""
    if not verdicts.judged:
        return ("No guideline could be judged: the run has no collective next to another way to its result.",)
    result, *rest = counts(verdicts)
    return (result, *map(_violation, verdicts.worst[:MAX_SENTENCES]), *rest)


def counts(verdicts: Verdicts) -> tuple[str, ...]:
    """The sentences on the result, without single violations."""
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
    bounds = ratio_interval_suffix(each.ratio)
    other = alternative_text(each.comparison)
    return f"{call_text(each.left)} on {ranks} takes {each.ratio.value:.2f} times as long as {other}{bounds}."


def _unknown(verdicts: Verdicts) -> list[str]:
    count = len(verdicts.judged)
    undecided, unknown = len(verdicts.of("undecided")), len(verdicts.of("unknown"))
    texts = []
    if undecided:
        texts.append(
            f"{undecided} of {plural(count, 'comparison')} "
            f"{verb_form(undecided, 'is', 'are')} undecided: more launches may help."
        )
    if unknown:
        texts.append(
            f"{unknown} of {plural(count, 'comparison')} {verb_form(unknown, 'has', 'have')} no interval: "
            "measure more launches."
        )
    if verdicts.lacking:
        rules = list_names([rule_text(rule) for rule in verdicts.lacking], 5)
        texts.append(f"Not judged, because no cases match: {rules}.")
    return texts
