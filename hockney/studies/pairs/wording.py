# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Names of places, streams and rates, for readers."""

from __future__ import annotations

from collections.abc import Mapping

from hockney.core.fit import Estimate, ExactValue
from hockney.core.layout import NETWORK
from hockney.core.units import format_significant
from hockney.draw.amount import Amount
from hockney.models.significance import Verdict
from hockney.pages.format import no_interval
from hockney.studies.pairs.plan import APART, BOTH, between
from hockney.studies.pairs.results import Saturation, Way

SLOWED: Mapping[Verdict, str] = {
    "slower": "slower",
    "faster": "faster",
    "alike": "no difference",
    "undecided": "undecided",
    "unknown": "no interval",
}
GAINED: Mapping[Verdict, str] = {
    "faster": "more",
    "slower": "less",
    "alike": "no more",
    "undecided": "undecided",
    "unknown": "",
}


def titled(way: Way) -> str:
    """The way as a title: "Between nodes, both directions"."""
    where = between(way.level)
    return where[0].upper() + where[1:] + (", both directions" if way.direction == BOTH else "")


def named(way: Way) -> str:
    """The way in names of figures and tables."""
    parts = (way.level or "ranks", way.direction if way.streams else "pingpong")
    return "-".join(part for part in parts if part)


def what_saturates(way: Way) -> str:
    return "the network" if way.level in (NETWORK, APART) else "the shared path"


def saturated_text(found: Saturation) -> str:
    """The saturation as a cell of a table."""
    if found.reached is None:
        return "undecided"
    if found.pairs == 1:
        return "more pairs not measured"
    return f"from {found.pairs}" if found.reached else f"not up to {found.pairs}"


def rate_text(rate: float) -> str:
    """ "3.21 million", of messages a second."""
    return f"{format_significant(rate / 1e6, 3)} million" if rate >= 1e5 else f"{rate:.0f}"


def rate_amount(rate: float) -> Amount:
    return Amount(f"{rate_text(rate)}/s", (rate,), "1/s")


def rate_interval(rate: Estimate) -> str:
    """ "3.21 to 3.25 million"."""
    if isinstance(rate, ExactValue):
        return no_interval(rate)
    if rate.low is None or rate.high is None:
        return ""
    low, high = rate_text(rate.low), rate_text(rate.high)
    unit = " million"
    return f"{low.removesuffix(unit) if high.endswith(unit) else low} to {high}"
