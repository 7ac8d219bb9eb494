# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""The answer in sentences: how often an algorithm is faster than MPI's own choice, and the largest gain."""

from __future__ import annotations

from hockney.core.settings import Settings
from hockney.core.units import format_percent
from hockney.core.wording import plural
from hockney.models.tuning.rules import format_ratio
from hockney.pages.format import quantity
from hockney.studies.needed_budget import remedy
from hockney.studies.tuning.results import Tuning


def headline(tuning: Tuning, settings: Settings) -> tuple[str, ...]:
    """State how often another algorithm is faster and by how much at best, how often that is undecided, and
    the budget that would decide it."""
    if not tuning.deciding_choices:
        return ("Nothing was measured.",)
    faster, undecided, unknown = (
        tuning.count_with_states(state) for state in ("faster", "undecided", "unknown")
    )
    combinations = f"{plural(len(tuning.deciding_choices), 'combination')} of operation, ranks and size"
    sentence = f"Another algorithm than MPI's own choice is faster at {faster} of {combinations}"
    if not faster:
        sentence = f"No algorithm is faster than MPI's own choice at any of {combinations}"
    if undecided:
        sentence += f"; {undecided} {'is' if undecided == 1 else 'are'} undecided"
    if unknown:
        sentence += f"; {unknown} {'has' if unknown == 1 else 'have'} no interval"
    sentences = [
        f"{sentence}." if tuning.conclusive else f"Inconclusive: {sentence[0].lower()}{sentence[1:]}."
    ]
    best_rule = min(tuning.named_rules(), key=lambda rule_entry: rule_entry[2].best.high or 0.0, default=None)
    if best_rule is not None:
        owner, name, rule = best_rule
        size = rule.sizes[rule.ratios.index(rule.best)]
        sentences.append(
            f"The largest gain: {sized_operation(rule.operation, size)} on "
            f"{plural(rule.ranks, 'rank')} by {owner}'s {name} takes {format_ratio(rule.best)} of the time."
        )
    if undecided:
        sentences.append(
            "Undecided: the interval of a ratio does not show whether an algorithm is faster by "
            f"{format_percent(tuning.effect)}, so MPI's own choice is kept."
        )
    if undecided or unknown:
        sentences.append(remedy(tuning.budget_multiple, tuning.launches, settings))
    return tuple(sentences)


def sized_operation(operation: str, size: int) -> str:
    """The text, such as "bcast of 8 B", or "barrier", which has no size."""
    return f"{operation} of {quantity(size, 'B')}" if size else operation
