# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""The answer in sentences: how often an algorithm is faster than MPI's own choice, and the largest gain."""

from __future__ import annotations

from hockney.core.settings import Settings
from hockney.core.units import format_percent
from hockney.core.wording import plural
from hockney.models.tuning.rules import bracketed
from hockney.pages.format import quantity
from hockney.studies.needed_budget import remedy
from hockney.studies.tuning.results import Tuning


def headline(tuning: Tuning, settings: Settings) -> tuple[str, ...]:
    """States how often another algorithm is faster and by how much at best, how often that is undecided, and
    the budget that would decide it."""
    if not tuning.deciding:
        return ("Nothing was measured.",)
    faster, undecided, unknown = (tuning.count(state) for state in ("faster", "undecided", "unknown"))
    where = f"{plural(len(tuning.deciding), 'combination')} of operation, ranks and size"
    text = f"Another algorithm than MPI's own choice is faster at {faster} of {where}"
    if not faster:
        text = f"No algorithm is faster than MPI's own choice at any of {where}"
    if undecided:
        text += f"; {undecided} {'is' if undecided == 1 else 'are'} undecided"
    if unknown:
        text += f"; {unknown} {'has' if unknown == 1 else 'have'} no interval"
    texts = [f"{text}." if tuning.conclusive else f"Inconclusive: {text[0].lower()}{text[1:]}."]
    most = min(tuning.named(), key=lambda each: each[2].best.high or 0.0, default=None)
    if most is not None:
        whose, name, rule = most
        size = rule.sizes[rule.ratios.index(rule.best)]
        texts.append(
            f"The largest gain: {sized_operation(rule.operation, size)} on "
            f"{plural(rule.ranks, 'rank')} by {whose}'s {name} takes {bracketed(rule.best)} of the time."
        )
    if undecided:
        texts.append(
            "Undecided: the interval of a ratio does not show whether an algorithm is faster by "
            f"{format_percent(tuning.effect)}, so MPI's own choice is kept."
        )
    if undecided or unknown:
        texts.append(remedy(tuning.times, tuning.launches, settings))
    return tuple(texts)


def sized_operation(operation: str, size: int) -> str:
    """ "bcast of 8 B", or "barrier", which has no size."""
    return f"{operation} of {quantity(size, 'B')}" if size else operation
