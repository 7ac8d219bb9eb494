# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What each number of pairs reaches, and the model of sharing next to the measurements."""

from __future__ import annotations

from hockney.core.fit import DefinedValue, Estimate
from hockney.draw.page import Table
from hockney.models.max_rate import FULL, GAP, ONE, RATE, shared_time
from hockney.pages.format import interval, quantity, ratio_interval, signed
from hockney.studies.pairs.results import PairsPoint, PairsResults, Way, saturation
from hockney.studies.pairs.wording import (
    GAINED,
    SLOWED,
    named,
    rate_amount,
    rate_interval,
    saturated_text,
    titled,
)

INTERVAL, SLOWDOWN = "95% interval", "time / fewest pairs"
RELATIVE = "Time: of a message, relative to that with the fewest pairs."


def bandwidths(run: PairsResults, way: Way) -> Table:
    """A row for each size and number of pairs."""
    rows = tuple(
        (
            quantity(p.size, "B"),
            str(p.pairs),
            quantity(p.bandwidth.value, "B/s"),
            interval(p.bandwidth, "B/s"),
            rate_amount(p.rate.value),
            rate_interval(p.rate),
            *_ratio(p.slowdown),
            SLOWED[p.slowed],
            GAINED[p.gained],
            _error(run, p),
        )
        for p in run.of_way(way)
    )
    columns = (
        "size", "pairs", "bandwidth", INTERVAL, "messages", INTERVAL, SLOWDOWN, INTERVAL,
        "verdict", "than fewer pairs", "model",
    )  # fmt: skip
    caption = (
        f"Bandwidth and messages a second of all pairs. {RELATIVE} Model: the error of the model of sharing."
    )
    kind = "streams" if way.streams else "ping-pongs"
    return Table(
        f"pairs-{named(way)}", f"{titled(way)}: {kind}", columns, rows, (0, 1, 2, 3, 4, 5, 6, 7, 10), caption
    )


def summary(run: PairsResults) -> Table | None:
    """A row for each way of streams and number of pairs: its largest and its shortest messages."""
    rows = []
    for way in run.streams:
        short, long = run.sizes(way)[0], run.sizes(way)[-1]
        full = saturated_text(saturation(run.row(way, long)))
        for p in run.row(way, long):
            same = next((q for q in run.row(way, short) if q.pairs == p.pairs), None)
            rows.append(
                (
                    titled(way),
                    str(p.pairs),
                    quantity(p.bandwidth.value, "B/s"),
                    interval(p.bandwidth, "B/s"),
                    *_ratio(p.slowdown),
                    rate_amount(same.rate.value) if same else "",
                    full,
                )
            )
    if not rows:
        return None
    columns = (
        "ranks meet",
        "pairs",
        "bandwidth",
        INTERVAL,
        SLOWDOWN,
        INTERVAL,
        "messages",
        "saturated",
    )
    caption = f"Bandwidth and time of the largest messages, messages a second of the shortest. {RELATIVE}"
    return Table("pairs-summary", "Pairs at once", columns, tuple(rows), (1, 2, 3, 4, 5, 6), caption)


def models(run: PairsResults) -> Table | None:
    """The parameters of the max-rate model."""
    rows = []
    for way in run.ways:
        fit = run.fit(way)
        if fit is None:
            continue
        known = {p.symbol: p.estimate for p in fit.parameters}
        gap = known.get(GAP)
        full = known.get(FULL)
        rows.append(
            (
                titled(way) + ("" if way.streams else ", ping-pong"),
                fit.verdict,
                *_rate(known.get(RATE)),
                *_rate(known.get(ONE)),
                *((quantity(gap.value, "s"), interval(gap, "s")) if gap else ("", "")),
                f"{full.value:.2f}" if full else "",
                signed(fit.error).lstrip("+") if fit.error is not None else "",
            )
        )
    if not rows:
        return None
    columns = (
        "ranks meet", "verdict", "shared rate R_N", f"{INTERVAL} of R_N", "one pair R_C",
        f"{INTERVAL} of R_C", "gap g_N", f"{INTERVAL} of g_N", "R_N / R_C", "typical error",
    )  # fmt: skip
    caption = "A pair's message of n bytes takes the longer of its time alone and k (g_N + n / R_N)."
    return Table("pairs-models", "Max-rate model", columns, tuple(rows), tuple(range(2, 10)), caption)


def _rate(known: Estimate | None) -> tuple[str, str]:
    if known is None:
        return "", ""
    if known.high is None and known.low is not None:
        return "", interval(Estimate(known.value, known.low, None), "B/s")
    return quantity(known.value, "B/s"), interval(known, "B/s")


def _error(run: PairsResults, p: PairsPoint) -> str:
    fit = run.fit(p.way)
    if fit is None or fit.verdict == "refused":
        return ""
    model = shared_time(fit, p.size, p.pairs).value
    return signed(model / p.measured.summary.typical.value - 1)


def _ratio(ratio: Estimate) -> tuple[str, str]:
    return f"{ratio.value:.2f}", "" if isinstance(ratio, DefinedValue) else ratio_interval(ratio)
