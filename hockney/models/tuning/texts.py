# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The table of hockney's library (engine/include/hockney/coll.hpp)."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.fit import Estimate
from hockney.models.tuning.rules import ChoiceRule

HEADING = "hockney-choices 1"


def choices(rules: Sequence[ChoiceRule], comments: Sequence[str]) -> str:
    """The text of a table; each rule is preceded by its gain."""
    lines = [HEADING, *(f"# {comment}" for comment in comments)]
    for rule in rules:
        sizes = span(rule.first, rule.last)
        lines.append(f"# {gain(rule)}")
        lines.append(f"{rule.operation} ranks={rule.ranks} bytes={sizes} algorithm={rule.algorithm}")
    return "\n".join(lines) + "\n"


def gain(rule: ChoiceRule) -> str:
    """The time relative to MPI's own choice, at the sizes that gain most and least."""
    if len(rule.ratios) == 1:
        return f"{bracketed(rule.worst)} of the time of MPI's own choice"
    return f"{bracketed(rule.best)} to {bracketed(rule.worst)} of the time of MPI's own choice"


def bracketed(ratio: Estimate) -> str:
    if ratio.low is None or ratio.high is None:
        return f"{ratio.value:.2f}"
    return f"{ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}:{last}"
