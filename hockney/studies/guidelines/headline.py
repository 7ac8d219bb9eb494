# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""The answer in sentences: how many calls violate a guideline, the largest violations, and open
comparisons."""

from __future__ import annotations

from hockney.core.wording import list_names, plural, verb_form
from hockney.models.guidelines import GuidelineVerdicts, JudgedComparison
from hockney.pages.format import ratio_interval_suffix
from hockney.studies.guidelines.columns import alternative_text, call_text, rule_text

MAX_SENTENCES = 3


def headline(verdicts: GuidelineVerdicts) -> tuple[str, ...]:
    """The result first, then the largest violations, then what is unknown."""
    if not verdicts.judged:
        return ("No guideline could be judged: the run has no collective next to another way to its result.",)
    result, *remaining_sentences = count_sentences(verdicts)
    return (result, *map(_violation_sentence, verdicts.worst[:MAX_SENTENCES]), *remaining_sentences)


def count_sentences(verdicts: GuidelineVerdicts) -> tuple[str, ...]:
    """The sentences on the result, without single violations."""
    return (_result_sentence(verdicts), *_unknown_sentences(verdicts))


def _result_sentence(verdicts: GuidelineVerdicts) -> str:
    calls = plural(len({entry.left for entry in verdicts.judged}), "call")
    limit = f"more than {verdicts.factor:.4g} times as long as"
    worst = verdicts.worst
    rules = len({entry.rule for entry in verdicts.violated})
    rules_text = plural(len(verdicts.rules), "guideline")
    if worst:
        return (
            f"{len(worst)} of {calls} take {limit} another way to the same result: "
            f"{rules} of {rules_text} {'is' if rules == 1 else 'are'} violated."
        )
    held_count = len(verdicts.of("holds"))
    count = plural(len(verdicts.judged), "comparison")
    if not verdicts.conclusive:
        return f"Inconclusive: only {held_count} of {count} are decided, without a violation."
    return (
        f"No violation: {held_count} of {count} show that a call does not take {limit} another way to the "
        "same "
        f"result ({calls}, {rules_text})."
    )


def _violation_sentence(violation: JudgedComparison) -> str:
    ranks = plural(violation.left.ranks, "rank")
    bounds = ratio_interval_suffix(violation.ratio)
    alternative = alternative_text(violation.comparison)
    return (
        f"{call_text(violation.left)} on {ranks} takes {violation.ratio.value:.2f} times as long as "
        f"{alternative}{bounds}."
    )


def _unknown_sentences(verdicts: GuidelineVerdicts) -> list[str]:
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
