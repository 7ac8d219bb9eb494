# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of messages that leave a node at the same time and share its connection, or its memory.

By the max-rate model (`hockney/models/fits/sharing.py`), each of k messages of n bytes takes

    T = max(b(n), b(0) + (k - 1) g_N + k n / R_N)

where b is the time of a single message, R_N the shared rate, and g_N the minimum time between two messages.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from hockney.core.case import PLACE, parse_canonical
from hockney.core.fit import Estimate, Fit, Fits
from hockney.core.layout import NODE
from hockney.models.max_rate import GAP, MODEL, PAIRS, RATE

USABLE_VERDICTS = ("good", "fair")
STREAM = "pairs_stream"


@dataclass(frozen=True)
class NodeSharing:
    """The shared rate in B/s and the gap in seconds. `max_pairs` is the largest measured number of pairs; the
    rate is infinite if these did not saturate anything. `rate_bounds` is the rate's 95% interval."""

    rate: float
    gap_s: float
    max_pairs: int
    rate_bounds: tuple[float, float]

    def at_rate_bound(self, *, slow: bool) -> NodeSharing:
        """The same sharing with the rate at a bound of its interval, the lower one if `slow`."""
        if not math.isfinite(self.rate):
            return self
        return replace(self, rate=self.rate_bounds[0] if slow else self.rate_bounds[1])

    @property
    def estimate(self) -> Estimate:
        """The rate. If nothing was saturated, its lower bound, without an upper one."""
        low, high = self.rate_bounds
        return Estimate(low, low, None) if math.isinf(self.rate) else Estimate(self.rate, low, high)

    @property
    def has_limit(self) -> bool:
        """Whether there is a known limit that concurrent messages can reach."""
        return math.isfinite(self.rate) or self.gap_s > 0

    def limit_s(self, size: float, message_count: float, latency_s: float) -> float:
        """The minimum time of `message_count` messages sent at the same time."""
        return latency_s + (message_count - 1) * self.gap_s + message_count * size / self.rate


def sharing_of_fit(fit: Fit) -> NodeSharing:
    estimates = {p.symbol: p.estimate for p in fit.parameters}
    rate, gap = estimates[RATE], estimates.get(GAP, Estimate(0.0, 0.0, 0.0))
    pairs = int(fit.ranges[PAIRS][1])
    if rate.high is None:
        return NodeSharing(math.inf, gap.value, pairs, (rate.low or rate.value, math.inf))
    return NodeSharing(rate.value, gap.value, pairs, (rate.low or rate.value, rate.high))


def measured_sharing(fits: Fits, levels: Iterable[str]) -> NodeSharing | None:
    """What messages share at the first of these levels at which many pairs were measured; None if there is no
    such level. A level of "" is unknown and ignored. The measurements are streams in one direction:
    ping-pongs of many pairs get out of step, so that both directions carry messages."""
    usable_fits = (fit for fit in fits.select(MODEL, STREAM) if fit.verdict in USABLE_VERDICTS)
    fits_by_level = {
        _level_of_fit(fit, fits): fit for fit in usable_fits if fit.subject.matches(direction="one")
    }
    return next(
        (sharing_of_fit(fits_by_level[level]) for level in levels if level and level in fits_by_level), None
    )


def _level_of_fit(fit: Fit, fits: Fits) -> str:
    """The level at which the ranks of each pair meet; "" if unknown, or if several nodes were involved."""
    if PLACE in fit.subject:
        return str(fit.subject[PLACE])
    cases = ((parse_canonical(summary.case), summary) for summary in fits.summaries)
    node_counts = {summary.nodes for case, summary in cases if case.workload == STREAM and PLACE not in case}
    return NODE if node_counts == {1} else ""
