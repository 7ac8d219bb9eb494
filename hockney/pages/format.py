# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers with units and intervals, for readers."""

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
    from hockney.pages.evidence import Measured


BYTES = tuple((1024.0**k, unit) for k, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB")))
EXACT, SIMULATED = "exact", "simulated"
"""What is printed instead of an interval for values that are exact by definition, and where times do not
vary."""
VAGUE_INTERVAL_FACTOR = 2.0


def quantity(value: float, unit: str) -> Amount:
    return Amount(_text(value, unit), (value,), unit)


def _text(value: float, unit: str) -> str:
    if not math.isfinite(value):
        return "unknown"
    if unit == "s":
        return format_seconds(value)
    if unit == "B":
        return format_bytes(value if value == int(value) and value % 64 == 0 else _three_digits(value))
    if unit == "B/s":
        return format_rate(value)
    if unit == "s/B":
        return f"{format_seconds(value)}/B" if value else "0 s/B"
    if unit == "op/s":
        return f"{format_significant(value / 1e6, 3)} Mop/s" if value >= 1e3 else f"{value:.3g} op/s"
    number = f"{float(f'{value:.3g}'):.15g}"
    return f"{number}%" if unit == "%" else f"{number} {unit}".rstrip()


def _three_digits(value: float) -> float:
    """A fitted size, rounded in the unit in which it will be shown, so as not to suggest more precision than
    there is."""
    unit = 1024.0 ** (math.floor(math.log(value, 1024)) if value >= 1 else 0)
    return float(f"{value / unit:.3g}") * unit


def interval(estimate: Estimate, unit: str) -> Amount:
    """ "449 ns to 453 ns", or the one end that the data allow, or that the value is simulated. A lower end of
    0, as of any time that is not negative, is no finding, nor is a size below a byte."""
    if isinstance(estimate, ExactValue):
        return Amount(no_interval(estimate))
    below_a_byte = unit == "B" and estimate.low is not None and estimate.low < 1 <= estimate.value
    if (estimate.low == 0 or below_a_byte) and estimate.high:
        estimate = Estimate(estimate.value, None, estimate.high)
    ends = [end for end in (estimate.low, estimate.high) if end is not None]
    if not ends:
        return Amount("unknown")
    form = "{} to {}" if len(ends) == 2 else "at most {}" if estimate.low is None else "at least {}"
    return Amount(form.format(*(_text(end, unit) for end in ends)), ends, unit, form)


def no_interval(value: ExactValue) -> str:
    """What an exact value has in place of an interval."""
    return EXACT if isinstance(value, DefinedValue) else SIMULATED


def in_brackets(estimate: Estimate, unit: str) -> str:
    """ "451 ns [449, 453]", in one unit."""
    if estimate.low is None or estimate.high is None:
        return quantity(estimate.value, unit)
    name = quantity(estimate.value or estimate.high, unit).unit_once.partition(" ")[2]
    factor = next((factor for factor, each in (*SCALES.get(unit, ()), *BYTES) if each == name), 1.0)
    numbers = (estimate.value, estimate.low, estimate.high)
    value, low, high = (format_significant(number / factor, 3) for number in numbers)
    return f"{value} {name} [{low}, {high}]"


def with_interval(estimate: Estimate, unit: str) -> str:
    """ "451 ns (95%: 449 ns to 453 ns)"; of an exact value just that."""
    if isinstance(estimate, ExactValue):
        return quantity(estimate.value, unit)
    has_bounds = estimate.low is not None or estimate.high is not None
    bounds = f" (95%: {interval(estimate, unit)})" if has_bounds else " (no interval)"
    return quantity(estimate.value, unit) + bounds


def interval_text(estimate: Estimate, text: Callable[[float], str]) -> str:
    """The ends as text, "simulated" or "exact" for an exact value, or empty if unknown."""
    if isinstance(estimate, ExactValue):
        return no_interval(estimate)
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{text(estimate.low)} to {text(estimate.high)}"


def bounds(estimate: Estimate, interval: str) -> str:
    """ " (95%: 1.84 to 1.90)", to follow the value in a sentence; empty if it is exact."""
    if isinstance(estimate, ExactValue):
        return ""
    return f" (95%: {interval})" if interval else " (no interval)"


def ratio_interval(ratio: Estimate) -> str:
    """ "1.84 to 1.90"."""
    return interval_text(ratio, "{:.2f}".format)


def share_interval(share: Estimate) -> str:
    """ "1.2% to 3.4%"."""
    return interval_text(share, percent)


def ratio_bounds(ratio: Estimate) -> str:
    return bounds(ratio, ratio_interval(ratio))


def typical_cost(summary: Summary) -> str:
    """The typical time with its interval, or why it has none."""
    if reason := no_interval_reason(summary):
        return f"{quantity(summary.typical.value, 's')} (no interval: {reason})"
    return with_interval(summary.typical, "s")


def no_interval_reason(summary: Summary) -> str:
    """Why the typical time has no interval; empty if it has one, or there is only one launch."""
    cost = summary.typical
    if summary.unknown_change:
        return "other cases changed in launches that it missed"
    has_bounds = cost.low is not None or cost.high is not None
    return "" if has_bounds or summary.launches < 2 else f"its {summary.launches} launches disagree"


def precision(estimate: Estimate) -> float | None:
    """Relative half width of the interval; None if there is no interval."""
    if estimate.low is None or estimate.high is None or not estimate.value:
        return None
    return (estimate.high - estimate.low) / 2 / estimate.value


def vague(estimate: Estimate) -> bool:
    """Whether its interval is unknown, or wider than a factor of VAGUE_INTERVAL_FACTOR."""
    return (
        estimate.low is None or estimate.high is None or estimate.high > VAGUE_INTERVAL_FACTOR * estimate.low
    )


def percent(fraction: float | None) -> str:
    if fraction is None:
        return "unknown"
    if fraction >= 10:
        return "over 1000%"
    return f"{100 * fraction:.2g}%" if fraction < 0.995 else f"{100 * fraction:.0f}%"


def half_width(width: float | None) -> str:
    """A relative half width: "5.2%", from 100% on "a factor of 2.4"."""
    return percent(width) if width is None or width < 1 else format_factor(half_width_factor(width))


def range_width(width: float | None) -> str:
    """An interquartile range relative to the median: "11%", from 100% on the factor between the quartiles."""
    return percent(width) if width is None or width < 1 else format_factor(half_width_factor(width / 2) ** 2)


def scatter(deviation: float | None) -> str:
    """A standard deviation of logarithms: "11%", from 100% on "a factor of 2.7"."""
    return percent(deviation) if deviation is None or deviation < 1 else format_factor(math.exp(deviation))


def bandwidth(measured: Measured) -> Estimate:
    """Payload over typical time (B/s)."""
    return rate_of(measured.summary.bytes_moved, measured.summary.typical)


def rate_of(moved: float, time: Estimate) -> Estimate:
    """Bytes, or whatever was done, over a time (B/s): the ends of the interval are swapped."""
    value = moved / time.value if time.value else 0.0
    if isinstance(time, ExactValue):
        return ExactValue.of(value)
    low, high = (moved / end if end and end > 0 else None for end in (time.high, time.low))
    return Estimate(value, low, high)


def size_of(measured: Measured) -> str:
    """The size with its unit; empty for a workload without one."""
    return quantity(measured.size, measured.workload.size_unit) if measured.has_size else ""


def label(measured: Measured, *without: str) -> str:
    """A description of the case, without the parameters that vary in a figure."""
    words = [f"{k}={v}" for k, v in measured.case.parameters if k not in without]
    if "ranks" not in without:
        words.append(f"ranks={measured.case.ranks}")
    return " ".join([measured.case.workload, *words])


def typed_line(measured: Measured) -> str:
    """The case's line, times with their units."""
    given = sorted(measured.case.values.items())
    return " ".join([measured.case.workload, *(f"{k}={_typed(measured, k, v)}" for k, v in given)])


def _typed(measured: Measured, name: str, value: Value) -> str:
    """The value as a user would type it, times with a unit: 20us."""
    declared = measured.workload.parameter(name)
    if declared is None or declared.unit != "s" or not isinstance(value, int | float) or not value:
        return format_value(value)
    factor, unit = next(each for each in reversed(SCALES["s"]) if value >= each[0] or each is SCALES["s"][0])
    return f"{value / factor:.12g}{unit}"


def signed_tenths(error: float) -> str:
    """ "+12.3%", and "0.0%" without a sign."""
    text = f"{error:+.1%}"
    return text[1:] if text in ("+0.0%", "-0.0%") else text


def signed(error: float | None) -> str:
    """ "+12%", and "0%" without a sign; empty if unknown."""
    if error is None:
        return ""
    text = f"{error:+.0%}"
    return text[1:] if text in ("+0%", "-0%") else text
