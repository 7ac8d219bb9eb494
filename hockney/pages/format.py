# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers with units and intervals as text."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from hockney.core.case import Value, format_value
from hockney.core.fit import DefinedValue, Estimate, ExactValue, Summary
from hockney.core.units import (
    format_bytes,
    format_factor,
    format_rate,
    format_seconds,
    format_significant,
    half_width_factor,
)
from hockney.draw.amount import SCALES, Amount

if TYPE_CHECKING:
    from hockney.pages.evidence import MeasuredCase


BYTES = tuple((1024.0**k, unit) for k, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB")))
EXACT_TEXT, SIMULATED_TEXT = "exact", "simulated"
"""The texts that replace the interval of a value that is exact by definition, or simulated without noise."""
VAGUE_INTERVAL_FACTOR = 2.0


def quantity(value: float, unit: str) -> Amount:
    return Amount(_format_quantity(value, unit), (value,), unit)


def _format_quantity(value: float, unit: str) -> str:
    if not math.isfinite(value):
        return "unknown"
    if unit == "s":
        return format_seconds(value)
    if unit == "B":
        return format_bytes(
            value if value == int(value) and value % 64 == 0 else _round_to_three_digits(value)
        )
    if unit == "B/s":
        return format_rate(value)
    if unit == "s/B":
        return f"{format_seconds(value)}/B" if value else "0 s/B"
    if unit == "op/s":
        return f"{format_significant(value / 1e6, 3)} Mop/s" if value >= 1e3 else f"{value:.3g} op/s"
    number = f"{float(f'{value:.3g}'):.15g}"
    return f"{number}%" if unit == "%" else f"{number} {unit}".rstrip()


def _round_to_three_digits(value: float) -> float:
    """Round a fitted size to three digits of the unit in which it will be shown, which avoids suggesting more
    precision than there is."""
    unit = 1024.0 ** (math.floor(math.log(value, 1024)) if value >= 1 else 0)
    return float(f"{value / unit:.3g}") * unit


def interval(estimate: Estimate, unit: str) -> Amount:
    """Format an interval, such as "449 ns to 453 ns", or its single known bound, or the reason why an exact
    value has none. A lower bound of 0 is omitted because times are never negative; so is a size below one
    byte."""
    if isinstance(estimate, ExactValue):
        return Amount(no_interval_text(estimate))
    is_below_a_byte = unit == "B" and estimate.low is not None and estimate.low < 1 <= estimate.value
    if (estimate.low == 0 or is_below_a_byte) and estimate.high:
        estimate = Estimate(estimate.value, None, estimate.high)
    known_bounds = [bound for bound in (estimate.low, estimate.high) if bound is not None]
    if not known_bounds:
        return Amount("unknown")
    template = (
        "{} to {}" if len(known_bounds) == 2 else "at most {}" if estimate.low is None else "at least {}"
    )
    return Amount(
        template.format(*(_format_quantity(bound, unit) for bound in known_bounds)),
        known_bounds,
        unit,
        template,
    )


def no_interval_text(value: ExactValue) -> str:
    """Return the text that replaces an exact value's interval."""
    return EXACT_TEXT if isinstance(value, DefinedValue) else SIMULATED_TEXT


def with_bracketed_interval(estimate: Estimate, unit: str) -> str:
    """Format a value with its interval in one unit: "451 ns [449, 453]"."""
    if estimate.low is None or estimate.high is None:
        return quantity(estimate.value, unit)
    unit_name = quantity(estimate.value or estimate.high, unit).unit_once.partition(" ")[2]
    factor = next(
        (factor for factor, scale_name in (*SCALES.get(unit, ()), *BYTES) if scale_name == unit_name), 1.0
    )
    numbers = (estimate.value, estimate.low, estimate.high)
    value, low, high = (format_significant(number / factor, 3) for number in numbers)
    return f"{value} {unit_name} [{low}, {high}]"


def with_interval(estimate: Estimate, unit: str) -> str:
    """Format a value with its interval: "451 ns (95%: 449 ns to 453 ns)". An exact value has no interval."""
    if isinstance(estimate, ExactValue):
        return quantity(estimate.value, unit)
    has_bounds = estimate.low is not None or estimate.high is not None
    suffix = f" (95%: {interval(estimate, unit)})" if has_bounds else " (no interval)"
    return quantity(estimate.value, unit) + suffix


def format_bounds(estimate: Estimate, format_bound: Callable[[float], str]) -> str:
    """Format the bounds of an interval, or "simulated" or "exact" for an exact value; empty if unknown."""
    if isinstance(estimate, ExactValue):
        return no_interval_text(estimate)
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{format_bound(estimate.low)} to {format_bound(estimate.high)}"


def interval_suffix(estimate: Estimate, interval: str) -> str:
    """Return " (95%: 1.84 to 1.90)", to follow a value in a sentence; empty for an exact value."""
    if isinstance(estimate, ExactValue):
        return ""
    return f" (95%: {interval})" if interval else " (no interval)"


def ratio_interval(ratio: Estimate) -> str:
    """Format the interval of a ratio: "1.84 to 1.90"."""
    return format_bounds(ratio, "{:.2f}".format)


def share_interval(share: Estimate) -> str:
    """Format the interval of a share: "1.2% to 3.4%"."""
    return format_bounds(share, format_share)


def precise_share(fraction: float) -> str:
    """Format a share with three significant digits, such as "5.00%"; shares below 0.0001% in words."""
    percent = 100 * fraction
    if abs(percent) < 1e-4:
        return "below 0.0001%" if percent > 0 else "0%"
    decimals = max(0, 2 - math.floor(math.log10(abs(percent))))
    return f"{percent:.{decimals}f}%"


def precise_share_interval(share: Estimate) -> str:
    return format_bounds(share, precise_share)


def ratio_interval_suffix(ratio: Estimate) -> str:
    return interval_suffix(ratio, ratio_interval(ratio))


def typical_cost(summary: Summary) -> str:
    """Format the typical time with its interval, or with the reason why it has none."""
    if reason := no_interval_reason(summary):
        return f"{quantity(summary.typical.value, 's')} (no interval: {reason})"
    return with_interval(summary.typical, "s")


def no_interval_reason(summary: Summary) -> str:
    """Return the reason why the typical time has no interval; empty if it has one, or if there was only one
    launch."""
    cost = summary.typical
    if summary.unknown_change:
        return "other cases changed in launches that it missed"
    has_bounds = cost.low is not None or cost.high is not None
    return "" if has_bounds or summary.launches < 2 else f"its {summary.launches} launches disagree"


def precision(estimate: Estimate) -> float | None:
    """Return the relative half width of the interval, or None without an interval."""
    if estimate.low is None or estimate.high is None or not estimate.value:
        return None
    return (estimate.high - estimate.low) / 2 / estimate.value


def is_vague(estimate: Estimate) -> bool:
    """Check whether the interval is unknown, or its bounds differ by more than a factor of
    VAGUE_INTERVAL_FACTOR."""
    return (
        estimate.low is None or estimate.high is None or estimate.high > VAGUE_INTERVAL_FACTOR * estimate.low
    )


def format_share(fraction: float | None) -> str:
    if fraction is None:
        return "unknown"
    if fraction >= 10:
        return "over 1000%"
    return f"{100 * fraction:.2g}%" if fraction < 0.995 else f"{100 * fraction:.0f}%"


def format_half_width(width: float | None) -> str:
    """Format a relative half width: "5.2%", or from 100% on "a factor of 2.4"."""
    return format_share(width) if width is None or width < 1 else format_factor(half_width_factor(width))


def format_range_width(width: float | None) -> str:
    """Format an interquartile range relative to the median: "11%", or from 100% on the factor between the
    quartiles."""
    return (
        format_share(width)
        if width is None or width < 1
        else format_factor(half_width_factor(width / 2) ** 2)
    )


def format_scatter(deviation: float | None) -> str:
    """Format a standard deviation of logarithms: "11%", or from 100% on "a factor of 2.7"."""
    return (
        format_share(deviation) if deviation is None or deviation < 1 else format_factor(math.exp(deviation))
    )


def bandwidth(measured: MeasuredCase) -> Estimate:
    """Return the payload divided by the typical time (B/s)."""
    return rate_from_time(measured.summary.bytes_moved, measured.summary.typical)


def rate_from_time(amount: float, time: Estimate) -> Estimate:
    """Divide an amount, such as bytes (then in B/s), by a time. The upper bound of the time gives the lower
    bound of the rate."""
    value = amount / time.value if time.value else 0.0
    if isinstance(time, ExactValue):
        return ExactValue.of(value)
    low, high = (amount / bound if bound and bound > 0 else None for bound in (time.high, time.low))
    return Estimate(value, low, high)


def size_of(measured: MeasuredCase) -> str:
    """Return the size with its unit; empty for a workload without a size."""
    return quantity(measured.size, measured.workload.size_unit) if measured.has_size else ""


def label(measured: MeasuredCase, *excluded: str) -> str:
    """Describe the case, without the excluded parameters, which vary in a figure."""
    parts = [f"{name}={value}" for name, value in measured.case.parameters if name not in excluded]
    if "ranks" not in excluded:
        parts.append(f"ranks={measured.case.ranks}")
    return " ".join([measured.case.workload, *parts])


def typed_line(measured: MeasuredCase) -> str:
    """Return the line of the case, with units for times."""
    values = sorted(measured.case.values.items())
    return " ".join(
        [measured.case.workload, *(f"{name}={_typed_value(measured, name, value)}" for name, value in values)]
    )


def _typed_value(measured: MeasuredCase, name: str, value: Value) -> str:
    """Format a value as a user would type it. Times have a unit: 20us."""
    parameter = measured.workload.parameter(name)
    if parameter is None or parameter.unit != "s" or not isinstance(value, int | float) or not value:
        return format_value(value)
    factor, unit = next(
        scale for scale in reversed(SCALES["s"]) if value >= scale[0] or scale is SCALES["s"][0]
    )
    return f"{value / factor:.12g}{unit}"


def format_signed_tenths(fraction: float) -> str:
    """Format a fraction as "+12.3%", without a sign for "0.0%"."""
    text = f"{fraction:+.1%}"
    return text[1:] if text in ("+0.0%", "-0.0%") else text


def format_signed(fraction: float | None) -> str:
    """Format a fraction as "+12%", without a sign for "0%"; empty if unknown."""
    if fraction is None:
        return ""
    text = f"{fraction:+.0%}"
    return text[1:] if text in ("+0%", "-0%") else text
