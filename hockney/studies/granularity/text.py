# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Lengths, shares and errors of efficiencies as text for the pages of this study."""

from __future__ import annotations

from hockney.core.fit import Estimate
from hockney.pages.format import quantity

WORD = 4
"""Bytes per word in the paper."""


def length(size: int) -> str:
    """ "10000 words" if the paper would count words (1, 10, 100, ...), otherwise bytes."""
    words, odd = divmod(size, WORD)
    if not odd and words and str(words).strip("0") == "1":
        return f"{words} word{'s' if words > 1 else ''}"
    return quantity(size, "B")


def plain(size: int) -> str:
    """ "40000 B", "4 KiB": exact, for readers who do not count in the paper's words."""
    return quantity(size, "B") if size % 1024 == 0 else f"{size} B"


def points(value: float) -> str:
    """A difference of two efficiencies in percentage points, with one decimal at most."""
    return f"{100 * value:.1f}".removesuffix(".0")


def share(value: float) -> str:
    """An efficiency or a fraction in percent with one decimal."""
    return f"{100 * value:.1f}%"


def bounds(estimate: Estimate) -> str:
    """ "88.1% to 88.6%"."""
    if estimate.low is None or estimate.high is None:
        return "unknown"
    return f"{share(estimate.low)} to {share(estimate.high)}"


def with_interval(estimate: Estimate) -> str:
    """ "88.3% (95%: 88.1% to 88.6%)"; just the value where both ends look the same."""
    if estimate.low is None and estimate.high is None:
        return f"{share(estimate.value)} (no interval)"
    ends = {share(end) for end in (estimate.low, estimate.high) if end is not None}
    value = share(estimate.value)
    return f"{value} (95%: {bounds(estimate)})" if ends - {value} else value


def change(value: float | None) -> str:
    """A difference of two efficiencies in percentage points, as "+1.2"; empty if unknown."""
    if value is None:
        return ""
    return f"{100 * value:+.1f}" if abs(value) >= 5e-4 else "0.0"
