# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Texts of the caveats of fits; programs use the codes."""

from __future__ import annotations

from hockney.core.fit import LAUNCHES_IN_TWO_MODES, Estimate, FitCaveat
from hockney.core.units import (
    format_factor,
    format_interval,
    format_percent,
    format_seconds,
    format_size,
    half_width_factor,
)

CONTRADICTIONS = frozenset(
    {"gap-below-send-overhead", "gap-below-receive-overhead", "overheads-exceed-one-way", "sum-not-ping-pong"}
)
"""Caveats with which LogGP's parameters contradict each other or the ping-pong: no conclusion may be based on
them."""


def wide_parameter(symbol: str, width: float) -> FitCaveat:
    margin = format_percent(width, 2) if width < 1 else format_factor(half_width_factor(width))
    text = f"{symbol} is uncertain by {margin} or more"
    return FitCaveat("wide-parameter", text, {symbol: width})


def launches_in_two_modes(
    fast_s: float, slow_s: float, fast_launches: int, slow_launches: int, size: float | None
) -> FitCaveat:
    """Caveat for a case of `size` bytes (None without a size) with these times."""
    prefix = "" if size is None else f"{format_size(size)}: "
    values = {
        "fast_s": fast_s,
        "slow_s": slow_s,
        "fast_launches": fast_launches,
        "slow_launches": slow_launches,
    }
    return FitCaveat(
        LAUNCHES_IN_TWO_MODES,
        f"the launches were in two modes ({prefix}{fast_launches} at about {format_seconds(fast_s)}, "
        f"{slow_launches} at about {format_seconds(slow_s)})",
        values if size is None else {**values, "bytes": size},
    )


def overheads_exceed_one_way(overheads: Estimate, one_way: Estimate) -> FitCaveat:
    return FitCaveat(
        "overheads-exceed-one-way",
        f"the measured overheads, {_time(overheads)}, exceed half of the round trip, {_time(one_way)}, "
        "which is possible if both ends work at the same time (shared memory), so L is set to 0",
        {"overheads": overheads.value, "one_way": one_way.value},
    )


def sum_not_ping_pong(total: Estimate, one_way: Estimate, size: float) -> FitCaveat:
    return FitCaveat(
        "sum-not-ping-pong",
        f"o_s + L + o_r = {_time(total)} differs from the ping-pong's time for {size:g} B, {_time(one_way)}",
        {"sum": total.value, "ping_pong": one_way.value},
    )


def parts_exceed_message(size: int, max_excess: float) -> FitCaveat:
    """`max_excess` is the largest excess relative to the message time at any size from `size` on."""
    return FitCaveat(
        "parts-exceed-message",
        f"from {size} B on, o_s, L, o_r and byte gaps exceed a message's time by up to "
        f"{format_percent(max_excess, 2)}, since both ends work at once: the model describes trains there",
        {"size": size, "most": max_excess},
    )


def gap_below_overhead(which: str, gap: Estimate, overhead: Estimate) -> FitCaveat:
    """`which` is "send" or "receive"."""
    return FitCaveat(
        f"gap-below-{which}-overhead",
        f"messages follow each other every {_time(gap)}, although each keeps its "
        f"{'sender' if which == 'send' else 'receiver'} busy for {_time(overhead)}",
        {"gap": gap.value, "overhead": overhead.value},
    )


def _time(estimate: Estimate) -> str:
    if estimate.low is not None and estimate.high is not None and estimate.high < 1.001 * estimate.low:
        return format_seconds(estimate.value)
    return format_interval(estimate.value, estimate.low, estimate.high, "s")
