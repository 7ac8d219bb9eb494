# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables, and the answer for programs (`--json`): what each number of pairs reaches, and the model of
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
from hockney.studies.pairs.plan import BOTH, between
from hockney.studies.pairs.results import PairsPoint, PairsResults, Saturation, Way, saturation

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


def way_title(way: Way) -> str:
    """The way as a title: "Between nodes, both directions"."""
    where = between(way.level)
    return where[0].upper() + where[1:] + (", both directions" if way.direction == BOTH else "")


def way_name(way: Way) -> str:
    """The way in names of figures and tables."""
    parts = (way.level or "ranks", way.direction if way.streams else "pingpong")
    return "-".join(part for part in parts if part)


def saturated_text(saturation: Saturation) -> str:
    """The saturation as a cell of a table."""
    if saturation.reached is None:
        return "undecided"
    if saturation.pairs == 1:
        return "more pairs not measured"
    return f"from {saturation.pairs}" if saturation.reached else f"not up to {saturation.pairs}"


def rate_text(rate: float) -> str:
    """ "3.21 million", of messages a second."""
    return f"{format_significant(rate / 1e6, 3)} million" if rate >= 1e5 else f"{rate:.0f}"


def rate_amount(rate: float) -> Amount:
    return Amount(f"{rate_text(rate)}/s", (rate,), "1/s")


def rate_interval(rate: Estimate) -> str:
    """ "3.21 to 3.25 million"."""
    if isinstance(rate, ExactValue):
        return no_interval_text(rate)
    if rate.low is None or rate.high is None:
        return ""
    low, high = rate_text(rate.low), rate_text(rate.high)
    unit = " million"
    return f"{low.removesuffix(unit) if high.endswith(unit) else low} to {high}"


SLOWDOWN = "time / fewest pairs"
RELATIVE = "Time: of a message, relative to that with the fewest pairs."
MESSAGES = Format(lambda rate: rate_amount(rate.value), interval=rate_interval)


RATE_OR_BOUND = Format(
    lambda rate: "" if rate.high is None and rate.low is not None else quantity(rate.value, "B/s"),
    interval=lambda rate: interval(rate, "B/s"),
)
"""Rates, of which some have a lower bound only."""
ERROR = Format(lambda error: format_signed(error).lstrip("+"))


def _spread(ratio: Estimate) -> str:
    return "" if isinstance(ratio, DefinedValue) else ratio_interval(ratio)


CASES: tuple[Column[PairsPoint], ...] = (
    Column("", lambda p: p.measured.case.line, key="case"),
    Column("", lambda p: p.way.workload, key="workload"),
    Column("", lambda p: p.way.level, key="place"),
    Column("", lambda p: p.way.direction, key="direction"),
    Column("pairs", lambda p: p.pairs, COUNT_FORMAT, "pairs"),
    Column("size", lambda p: p.size, SIZE_FORMAT, "bytes"),
    Column("", lambda p: p.measured.summary.launches, key="launches"),
    Column("bandwidth", lambda p: p.bandwidth, BANDWIDTH_FORMAT, "bandwidth_bytes_per_s", INTERVAL_HEADING),
    Column("messages", lambda p: p.rate, MESSAGES, "messages_per_s", INTERVAL_HEADING),
    Column("", lambda p: p.message_s, key="message_s"),
    Column(
        SLOWDOWN, lambda p: p.slowdown, replace(RATIO_FORMAT, interval=_spread), "slowdown", INTERVAL_HEADING
    ),
    Column("verdict", lambda p: p.slowed, text_format(SLOWED), "slowed"),
    Column("", lambda p: p.gain, key="gain"),
    Column("than fewer pairs", lambda p: p.gained, text_format(GAINED), "gained"),
)


def bandwidths(run: PairsResults, way: Way) -> Table:
    """A row for each size and number of pairs."""
    columns = (
        *select_columns(
            CASES, "size", "pairs", "bandwidth", "messages", SLOWDOWN, "verdict", "than fewer pairs"
        ),
        Column("model", lambda p: _error(run, p), SIGNED_FORMAT),
    )
    caption = (
        f"Bandwidth and messages a second of all pairs. {RELATIVE} Model: the error of the model of sharing."
    )
    kind = "streams" if way.streams else "ping-pongs"
    return columns_table(
        f"pairs-{way_name(way)}", f"{way_title(way)}: {kind}", columns, run.of_way(way), caption
    )


def largest(run: PairsResults) -> Table | None:
    """A row for each way of streams and number of pairs: its largest and its shortest messages."""

    def shortest(p: PairsPoint) -> Estimate | None:
        row = run.row(p.way, run.sizes(p.way)[0])
        return next((q.rate for q in row if q.pairs == p.pairs), None)

    columns: tuple[Column[PairsPoint], ...] = (
        Column("ranks meet", lambda p: way_title(p.way)),
        *select_columns(CASES, "pairs", "bandwidth", SLOWDOWN),
        Column("messages", shortest, MESSAGES),
        Column("saturated", lambda p: saturated_text(saturation(run.row(p.way, p.size)))),
    )
    rows = [p for way in run.streams for p in run.row(way, run.sizes(way)[-1])]
    caption = f"Bandwidth and time of the largest messages, messages a second of the shortest. {RELATIVE}"
    return columns_table("pairs-summary", "Pairs at once", columns, rows, caption) if rows else None


@dataclass(frozen=True)
class WayModel:
    """The max-rate model of one way."""

    way: Way
    fit: Fit

    @cached_property
    def known(self) -> dict[str, Estimate]:
        return {p.symbol: p.estimate for p in self.fit.parameters}


def models(run: PairsResults) -> Table | None:
    """The parameters of the max-rate model."""

    def parameter(heading: str, symbol: str, format: Format, name: str = "") -> Column[WayModel]:
        return Column(
            heading,
            lambda model: model.known.get(symbol),
            format,
            interval=name and f"{INTERVAL_HEADING} of {name}",
        )

    columns: tuple[Column[WayModel], ...] = (
        Column(
            "ranks meet", lambda model: way_title(model.way) + ("" if model.way.streams else ", ping-pong")
        ),
        Column("verdict", lambda model: model.fit.verdict),
        parameter("shared rate R_N", RATE, RATE_OR_BOUND, "R_N"),
        parameter("one pair R_C", ONE, RATE_OR_BOUND, "R_C"),
        parameter("gap g_N", GAP, SECONDS_FORMAT, "g_N"),
        parameter("R_N / R_C", FULL, RATIO_FORMAT),
        Column("typical error", lambda model: model.fit.error, ERROR),
    )
    rows = [WayModel(way, fit) for way in run.ways if (fit := run.fit(way)) is not None]
    caption = "A pair's message of n bytes takes the longer of its time alone and k (g_N + n / R_N)."
    return columns_table("pairs-models", "Max-rate model", columns, rows, caption) if rows else None


def _error(run: PairsResults, p: PairsPoint) -> float | None:
    """The relative error of the model of sharing; None if there is none."""
    fit = run.fit(p.way)
    if fit is None or fit.verdict == "refused":
        return None
    return shared_time(fit, p.size, p.pairs).value / p.measured.summary.typical.value - 1


def summary(evidence: Evidence) -> Sequence[Table]:
    """The tables on a terminal."""
    run = PairsResults.of(evidence)
    return tuple(table for table in (largest(run), models(run)) if table is not None)


def answer(evidence: Evidence) -> dict[str, Any]:
    """The answer: for each way between ranks, whether it saturates and the parameters of the model; and every
    case with its bandwidth (B/s), messages a second and slowdown. Values have 95% intervals; null if
    unknown."""
    run = PairsResults.of(evidence)
    return {
        "ways": [_way(run, way) for way in run.ways],
        "cases": columns_document(CASES, run.points),
    }


def _way(run: PairsResults, way: Way) -> dict[str, Any]:
    fit = run.fit(way)
    return {
        "workload": way.workload,
        "place": way.level,
        "direction": way.direction,
        "saturation": [
            {"bytes": size, "reached": result.reached, "pairs": result.pairs if result.reached else None}
            for size in run.sizes(way)
            for result in (saturation(run.row(way, size)),)
        ],
        "model": None
        if fit is None
        else {
            "verdict": fit.verdict,
            "why": fit.why,
            "parameters": WayModel(way, fit).known,
            "error": fit.error,
        },
    }
