# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables, and the answer for programs (`--json`): the performance by number of pairs, and the model of
sharing next to the measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from hockney.core.fit import DefinedValue, Estimate, ExactValue, Fit
from hockney.core.units import format_significant
from hockney.draw.amount import Amount
from hockney.draw.page import Table
from hockney.models.max_rate import FULL, GAP, ONE, RATE, shared_time
from hockney.models.significance import Verdict
from hockney.pages.columns import (
    BANDWIDTH_FORMAT,
    COUNT_FORMAT,
    INTERVAL_HEADING,
    RATIO_FORMAT,
    SECONDS_FORMAT,
    SIGNED_FORMAT,
    SIZE_FORMAT,
    Column,
    Format,
    columns_document,
    columns_table,
    select_columns,
    text_format,
)
from hockney.pages.evidence import Evidence
from hockney.pages.format import format_signed, interval, no_interval_text, quantity, ratio_interval
from hockney.studies.pairs.plan import BOTH_WAYS, level_phrase
from hockney.studies.pairs.results import PairsPoint, PairsResults, Pattern, Saturation, saturation

SLOWDOWN_WORDS: Mapping[Verdict, str] = {
    "slower": "slower",
    "faster": "faster",
    "alike": "no difference",
    "undecided": "undecided",
    "unknown": "no interval",
}
GAIN_WORDS: Mapping[Verdict, str] = {
    "faster": "more",
    "slower": "less",
    "alike": "no more",
    "undecided": "undecided",
    "unknown": "",
}


def pattern_title(pattern: Pattern) -> str:
    """The pattern as a title, such as "Between nodes, both directions"."""
    placement = level_phrase(pattern.level)
    return (
        placement[0].upper() + placement[1:] + (", both directions" if pattern.direction == BOTH_WAYS else "")
    )


def pattern_name(pattern: Pattern) -> str:
    """The pattern in names of figures and tables."""
    parts = (pattern.level or "ranks", pattern.direction if pattern.is_stream else "pingpong")
    return "-".join(part for part in parts if part)


def saturation_text(saturation: Saturation) -> str:
    """The saturation as a table cell."""
    if saturation.reached is None:
        return "undecided"
    if saturation.pairs == 1:
        return "more pairs not measured"
    return f"from {saturation.pairs}" if saturation.reached else f"not up to {saturation.pairs}"


def rate_text(rate: float) -> str:
    """The text, such as "3.21 million", for messages per second."""
    return f"{format_significant(rate / 1e6, 3)} million" if rate >= 1e5 else f"{rate:.0f}"


def rate_amount(rate: float) -> Amount:
    return Amount(f"{rate_text(rate)}/s", (rate,), "1/s")


def rate_interval(rate: Estimate) -> str:
    """The text, such as "3.21 to 3.25 million"."""
    if isinstance(rate, ExactValue):
        return no_interval_text(rate)
    if rate.low is None or rate.high is None:
        return ""
    low, high = rate_text(rate.low), rate_text(rate.high)
    unit = " million"
    return f"{low.removesuffix(unit) if high.endswith(unit) else low} to {high}"


SLOWDOWN_HEADING = "time / fewest pairs"
SLOWDOWN_NOTE = "Time: of a message, relative to that with the fewest pairs."
MESSAGE_RATE_FORMAT = Format(lambda rate: rate_amount(rate.value), interval=rate_interval)


RATE_OR_BOUND_FORMAT = Format(
    lambda rate: "" if rate.high is None and rate.low is not None else quantity(rate.value, "B/s"),
    interval=lambda rate: interval(rate, "B/s"),
)
"""The format of rates, some of which only have a lower bound."""
ERROR_FORMAT = Format(lambda error: format_signed(error).lstrip("+"))


def _ratio_bounds_text(ratio: Estimate) -> str:
    return "" if isinstance(ratio, DefinedValue) else ratio_interval(ratio)


CASE_COLUMNS: tuple[Column[PairsPoint], ...] = (
    Column("", lambda p: p.measured.case.line, key="case"),
    Column("", lambda p: p.pattern.workload, key="workload"),
    Column("", lambda p: p.pattern.level, key="place"),
    Column("", lambda p: p.pattern.direction, key="direction"),
    Column("pairs", lambda p: p.pairs, COUNT_FORMAT, "pairs"),
    Column("size", lambda p: p.size, SIZE_FORMAT, "bytes"),
    Column("", lambda p: p.measured.summary.launches, key="launches"),
    Column("bandwidth", lambda p: p.bandwidth, BANDWIDTH_FORMAT, "bandwidth_bytes_per_s", INTERVAL_HEADING),
    Column("messages", lambda p: p.rate, MESSAGE_RATE_FORMAT, "messages_per_s", INTERVAL_HEADING),
    Column("", lambda p: p.message_s, key="message_s"),
    Column(
        SLOWDOWN_HEADING,
        lambda p: p.slowdown,
        replace(RATIO_FORMAT, interval=_ratio_bounds_text),
        "slowdown",
        INTERVAL_HEADING,
    ),
    Column("verdict", lambda p: p.slowdown_verdict, text_format(SLOWDOWN_WORDS), "slowed"),
    Column("", lambda p: p.gain, key="gain"),
    Column("than fewer pairs", lambda p: p.gain_verdict, text_format(GAIN_WORDS), "gained"),
)


def bandwidth_table(run: PairsResults, pattern: Pattern) -> Table:
    """A row for each size and number of pairs."""
    columns = (
        *select_columns(
            CASE_COLUMNS,
            "size",
            "pairs",
            "bandwidth",
            "messages",
            SLOWDOWN_HEADING,
            "verdict",
            "than fewer pairs",
        ),
        Column("model", lambda p: _model_error(run, p), SIGNED_FORMAT),
    )
    caption = (
        f"Bandwidth and messages a second of all pairs. {SLOWDOWN_NOTE} Model: the error of the model of "
        "sharing."
    )
    kind = "streams" if pattern.is_stream else "ping-pongs"
    return columns_table(
        f"pairs-{pattern_name(pattern)}",
        f"{pattern_title(pattern)}: {kind}",
        columns,
        run.points_of_pattern(pattern),
        caption,
    )


def summary_table(run: PairsResults) -> Table | None:
    """A row for each pattern of streams and number of pairs, with its largest and its shortest messages."""

    def shortest(p: PairsPoint) -> Estimate | None:
        row = run.row(p.pattern, run.sizes(p.pattern)[0])
        return next((q.rate for q in row if q.pairs == p.pairs), None)

    columns: tuple[Column[PairsPoint], ...] = (
        Column("ranks meet", lambda p: pattern_title(p.pattern)),
        *select_columns(CASE_COLUMNS, "pairs", "bandwidth", SLOWDOWN_HEADING),
        Column("messages", shortest, MESSAGE_RATE_FORMAT),
        Column("saturated", lambda p: saturation_text(saturation(run.row(p.pattern, p.size)))),
    )
    rows = [p for pattern in run.streams for p in run.row(pattern, run.sizes(pattern)[-1])]
    caption = (
        f"Bandwidth and time of the largest messages, messages a second of the shortest. {SLOWDOWN_NOTE}"
    )
    return columns_table("pairs-summary", "Pairs at once", columns, rows, caption) if rows else None


@dataclass(frozen=True)
class PatternModel:
    """The max-rate model of one pattern."""

    pattern: Pattern
    fit: Fit

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        return {p.symbol: p.estimate for p in self.fit.parameters}


def models_table(run: PairsResults) -> Table | None:
    """The parameters of the max-rate model."""

    def parameter(heading: str, symbol: str, format: Format, name: str = "") -> Column[PatternModel]:
        return Column(
            heading,
            lambda model: model.estimates.get(symbol),
            format,
            interval=name and f"{INTERVAL_HEADING} of {name}",
        )

    columns: tuple[Column[PatternModel], ...] = (
        Column(
            "ranks meet",
            lambda model: pattern_title(model.pattern) + ("" if model.pattern.is_stream else ", ping-pong"),
        ),
        Column("verdict", lambda model: model.fit.verdict),
        parameter("shared rate R_N", RATE, RATE_OR_BOUND_FORMAT, "R_N"),
        parameter("one pair R_C", ONE, RATE_OR_BOUND_FORMAT, "R_C"),
        parameter("gap g_N", GAP, SECONDS_FORMAT, "g_N"),
        parameter("R_N / R_C", FULL, RATIO_FORMAT),
        Column("typical error", lambda model: model.fit.error, ERROR_FORMAT),
    )
    rows = [PatternModel(pattern, fit) for pattern in run.patterns if (fit := run.fit(pattern)) is not None]
    caption = "A pair's message of n bytes takes the longer of its time alone and k (g_N + n / R_N)."
    return columns_table("pairs-models", "Max-rate model", columns, rows, caption) if rows else None


def _model_error(run: PairsResults, p: PairsPoint) -> float | None:
    """The relative error of the model of sharing; None without a model."""
    fit = run.fit(p.pattern)
    if fit is None or fit.verdict == "refused":
        return None
    return shared_time(fit, p.size, p.pairs).value / p.measured.summary.typical.value - 1


def summary(evidence: Evidence) -> Sequence[Table]:
    """The tables on a terminal."""
    run = PairsResults.of(evidence)
    return tuple(table for table in (summary_table(run), models_table(run)) if table is not None)


def answer(evidence: Evidence) -> dict[str, Any]:
    """For each pattern, whether it saturates and the parameters of the model; and every case with its
    bandwidth (B/s), messages per second and slowdown. Values have 95% intervals; null if unknown."""
    run = PairsResults.of(evidence)
    return {
        "ways": [_pattern_document(run, pattern) for pattern in run.patterns],
        "cases": columns_document(CASE_COLUMNS, run.points),
    }


def _pattern_document(run: PairsResults, pattern: Pattern) -> dict[str, Any]:
    fit = run.fit(pattern)
    return {
        "workload": pattern.workload,
        "place": pattern.level,
        "direction": pattern.direction,
        "saturation": [
            {"bytes": size, "reached": result.reached, "pairs": result.pairs if result.reached else None}
            for size in run.sizes(pattern)
            for result in (saturation(run.row(pattern, size)),)
        ],
        "model": None
        if fit is None
        else {
            "verdict": fit.verdict,
            "why": fit.why,
            "parameters": PatternModel(pattern, fit).estimates,
            "error": fit.error,
        },
    }
