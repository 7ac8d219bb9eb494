# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What messages of a node cost that set out at once: they share its connection, or its memory.

By the max-rate model (`hockney/models/fits/sharing.py`), k messages of n bytes each take

    T = max(b(n), b(0) + (k - 1) g_N + k n / R_N)

where b is the time of one alone, R_N the rate that they share, and g_N the least time between two of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from hockney.core.case import PLACE, parse_canonical
from hockney.core.fit import Estimate, Fit, Fits
from hockney.core.layout import NODE
from hockney.models.max_rate import GAP, MODEL, PAIRS, RATE

USABLE = ("good", "fair")
STREAM = "pairs_stream"


@dataclass(frozen=True)
class NodeSharing:
    """The rate in B/s (infinite if nothing was saturated by `pairs` pairs, the most that were measured), and
    the gap in seconds; `ends` of the rate's 95% interval."""

    rate: float
    gap_s: float
    pairs: int
    ends: tuple[float, float]

    def at(self, *, slow: bool) -> NodeSharing:
        """The same sharing with the rate at an end of its interval: the lower one if `slow`."""
        if not math.isfinite(self.rate):
            return self
        return replace(self, rate=self.ends[0] if slow else self.ends[1])

    @property
    def estimate(self) -> Estimate:
        """The rate; if nothing was saturated, the least that it may be, without an upper end."""
        low, high = self.ends
        return Estimate(low, low, None) if math.isinf(self.rate) else Estimate(self.rate, low, high)

    @property
    def limited(self) -> bool:
        """Whether a limit is known that messages at once can reach."""
        return math.isfinite(self.rate) or self.gap_s > 0

    def limit_s(self, size: float, at_once: float, latency_s: float) -> float:
        """The least time of messages that set out at once, by their number."""
        return latency_s + (at_once - 1) * self.gap_s + at_once * size / self.rate


def of_fit(fit: Fit) -> NodeSharing:
    known = {p.symbol: p.estimate for p in fit.parameters}
    rate, gap = known[RATE], known.get(GAP, Estimate(0.0, 0.0, 0.0))
    pairs = int(fit.ranges[PAIRS][1])
    if rate.high is None:
        return NodeSharing(math.inf, gap.value, pairs, (rate.low or rate.value, math.inf))
    return NodeSharing(rate.value, gap.value, pairs, (rate.low or rate.value, rate.high))


def measured_sharing(fits: Fits, levels: Iterable[str]) -> NodeSharing | None:
    """What messages share at the first of these levels ("": not known, so none) at which many pairs were
    measured; None if there is no such level. The measurements are streams in one direction, since ping-pongs
    of many pairs get out of step, so that both directions carry messages."""
    fitted = (fit for fit in fits.select(MODEL, STREAM) if fit.verdict in USABLE)
    found = {_place(fit, fits): fit for fit in fitted if fit.subject.matches(direction="one")}
    return next((of_fit(found[level]) for level in levels if level and level in found), None)


def _place(fit: Fit, fits: Fits) -> str:
    """Where the ranks of each pair meet; "" if that is not known, or if they are on several nodes."""
    if PLACE in fit.subject:
        return str(fit.subject[PLACE])
    cases = ((parse_canonical(summary.case), summary) for summary in fits.summaries)
    nodes = {summary.nodes for case, summary in cases if case.workload == STREAM and PLACE not in case}
    return NODE if nodes == {1} else ""
