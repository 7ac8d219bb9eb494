# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A prediction as one document for programs: seconds, bytes and fractions, each with the ends of its 95%
interval (null if unknown)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from hockney.core.fit import Estimate
from hockney.core.layout import NODE
from hockney.core.platform import Platform
from hockney.core.units import format_percent, format_rate, format_seconds, format_significant, format_size
from hockney.core.wording import plural
from hockney.draw.amount import Amount
from hockney.draw.page import Caveat, Table
from hockney.models.applications.contention import kind
from hockney.models.applications.grain_prediction import (
    LEAST_EFFICIENCY,
    WANTED,
    Needed,
    Prediction,
    RanksRow,
)
from hockney.models.applications.granularity import Algorithm
from hockney.models.applications.message_costs import BEST_FIRST
from hockney.models.applications.node_sharing import NodeSharing
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.levels import NETWORK
from hockney.models.programs.scaling import ProgramForecast
from hockney.pages.format import with_interval
from hockney.pages.origins import in_short, provenance

NEVER = "never"
LEFT_OUT = ("waiting", "variation")
"""Waiting for ranks that are late; the variation of computation and messages."""


def ranks_table(prediction: Prediction) -> Table:
    layouts = [prediction.layout(each.ranks) for each in prediction.rows]
    rows = tuple(
        (
            str(each.ranks),
            *([layout.text] if layout is not None else []),
            time_cell(each.time),
            ratio_text(each.speed_up),
            share_text(each.efficiency),
            share_text(each.communication),
        )
        for each, layout in zip(prediction.rows, layouts, strict=True)
    )
    spread = ("nodes x ranks",) if any(layouts) else ()
    columns = ("ranks", *spread, "time, model only", "speed-up", "efficiency", "communication")
    return Table("ranks", "By ranks", columns, rows, numeric=(0, 1 + len(spread)))


def needed_work(prediction: Prediction) -> Table:
    """The work from which this many ranks break even and reach an efficiency, and the efficiency that none
    exceeds."""
    rows = []
    for even in prediction.break_even:
        rest = [each for each in prediction.needed if each.ranks == even.ranks]
        cells = [_work(each) for each in (even, *rest)]
        rows.append((str(even.ranks), *cells, f"{three_digits(100 * even.ceiling)}%"))
    columns = ("ranks", "break-even work", *(f"work for {format_percent(w)}" for w in WANTED), "at most")
    return Table("needed", "Work needed", columns, tuple(rows), numeric=tuple(range(len(columns))))


def _work(needed_work: Needed) -> str:
    if needed_work.work is None:
        return NEVER
    return "any" if needed_work.work.value == 0 else time_cell(needed_work.work)


def levers_table(prediction: Prediction) -> Table:
    rows = tuple(
        (
            each.lever.name,
            each.lever.words,
            share_text(each.efficiency),
            f"+{three_digits(100 * each.lever.gain)}".replace("+<", "<"),
        )
        for each in prediction.changes
    )
    return improvements_table(prediction.changed, rows)


def improvements_table(ranks: int, rows: tuple[tuple[str, str, str, str], ...]) -> Table:
    """What would help on this many ranks: its name, how, the new efficiency and the gain in points."""
    columns = ("improvement", "how", "new efficiency", "points")
    return Table("levers", f"On {ranks} ranks", columns, rows, numeric=(3,))


UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))

BUFFERS = {"written": " that was just written", "hot": " in hot buffers", "cold": " in cold buffers"}

FEW = 1e-3
"""Smaller values are written with an exponent."""


def assumed_sentences(prediction: Prediction, platform: Platform | None) -> tuple[str, ...]:
    """The algorithm, the source of message times, and the network. `platform` is the description that a
    machine's name selects."""
    messages = prediction.messages
    source = f"on {messages.title}, by {messages.source}"
    message = "an undisturbed message" if messages.cost == "undisturbed" else "a message"
    size = format_size(prediction.algorithm.bytes)
    buffers = BUFFERS.get(messages.buffers, "")
    one_message = f"{message} of {size}{buffers} takes {_one_way(prediction)} in one direction"
    fit = _fit_verdicts(messages) if platform is None else f" ({in_short(platform)})"
    return (
        f"Assumed: {algorithm_text(prediction.algorithm)}.",
        f"Messages {source}: {one_message}{fit}.",
        f"Network: {kind(messages)}, {messages.why}.",
        *_sharing_sentence(messages),
    )


def _sharing_sentence(messages: PointToPointCosts) -> tuple[str, ...]:
    """What messages of one node share that set out at once, if pairs were measured."""
    levels = ((level, level.node) for level in messages.levels())
    nodes = [(_level_words(level, messages), node) for level, node in levels if node is not None]
    words = [
        f"{_shared_rate(node)} {where}, measured with {plural(node.pairs, 'pair')}" for where, node in nodes
    ]
    return (f"Messages that set out from one node at once share {', and '.join(words)}.",) if words else ()


def _level_words(level: PointToPointCosts, messages: PointToPointCosts) -> str:
    far = messages.place == NETWORK and level is not messages.near
    return "between nodes" if far else "within a node"


def _shared_rate(node: NodeSharing) -> str:
    rate = node.estimate
    return f"at least {format_rate(rate.value)}" if rate.high is None else with_interval(rate, "B/s")


def _fit_verdicts(messages: PointToPointCosts) -> str:
    """The verdicts of the fits that give the times."""
    fit_names = (
        {True: "the fit on a node", False: "that between nodes"} if messages.near else {False: "the fit"}
    )
    words = [
        f"{fit_names[level is messages.near]} is {level.verdict}: {level.doubt}"
        for level in messages.levels()
        if level.verdict
    ]
    return f" ({'; '.join(words)})" if words else ""


def _one_way(prediction: Prediction) -> str:
    text, far = with_interval(prediction.one_way, "s"), prediction.between
    return text if far is None else f"{text} on a node and {with_interval(far, 's')} between nodes"


def algorithm_text(what: Algorithm) -> str:
    """The algorithm's numbers as text."""
    parts = (
        f"{format_percent(what.serial)} of it serial, the rest shared" if what.serial else "all of it shared"
    )
    even = f", {what.imbalance:g} times the mean on the busiest rank" if what.imbalance > 1 else " evenly"
    shared = "all of it serial" if what.serial == 1 else f"{parts}{even}"
    return (
        f"{plain_seconds(what.work_s)} of computation on one rank, {shared}; {what.exchanges:g} "
        f"exchange{'' if what.exchanges == 1 else 's'} of {format_size(what.bytes)} with the neighbors"
    )


def best_sentences(prediction: Prediction) -> tuple[str, ...]:
    best = prediction.best
    fastest, thrifty = best.fastest, best.thrifty
    range_ = f"of 1 to {best.most}"
    if best.most == 1:
        return ("Best: 1 rank; the machine has no more.",)
    ends = "" if len(set(best.ends)) == 1 else f" (95%: {best.ends[0]} to {best.ends[1]})"
    if fastest.ranks == 1:
        first = f"Best: 1 rank{ends}; no other number {range_} is faster."
    else:
        first = (
            f"Best: {fastest.ranks} ranks{ends}, speed-up {ratio_text(fastest.speed_up)}, "
            f"the largest {range_} ranks."
        )
    if thrifty.ranks == 1:
        return first, f"With more than 1 rank, the efficiency is below {format_percent(LEAST_EFFICIENCY)}."
    return (
        first,
        f"Up to {thrifty.ranks} ranks have an efficiency of at least {format_percent(LEAST_EFFICIENCY)}.",
    )


def changes_heading(prediction: Prediction | ProgramForecast) -> str:
    """Introduces the table of possible improvements."""
    now = next(r for r in prediction.rows if r.ranks == prediction.changed)
    return f"What would help on {now.ranks} ranks (now {share_text(now.efficiency)} efficient):"


def plain_seconds(value: float) -> str:
    """The time with at most three digits, without redundant zeros: 1 s, 2.5 ms."""
    if value >= 100:
        return format_seconds(value)
    factor, unit = next((each for each in UNITS if value >= each[0] * 0.9995), UNITS[-1])
    return f"{float(f'{value / factor:.3g}'):g} {unit}"


def time_text(estimate: Estimate) -> str:
    """ "608 ms [600, 615]": three digits, in one unit."""
    value = estimate.value
    if value >= 100 or (estimate.high or 0) >= 100:
        return _ranged(estimate, format_seconds)
    factor, unit = next((each for each in UNITS if value >= each[0] * 0.9995), UNITS[-1])
    return _ranged(estimate, lambda v: three_digits(v / factor), f" {unit}")


def time_cell(estimate: Estimate) -> Amount:
    """The time as a cell of a table."""
    if estimate.low is None or estimate.high is None:
        return Amount(time_text(estimate), (estimate.value,), "s")
    return Amount(time_text(estimate), (estimate.value, estimate.low, estimate.high), "s", "{} [{}, {}]")


def ratio_text(estimate: Estimate) -> str:
    return _ranged(estimate, three_digits)


def share_text(estimate: Estimate) -> str:
    """A part of a whole in percent: "82.2% [81.9, 82.6]"."""
    few = 0 < 100 * estimate.value < FEW
    return f"<{FEW}%" if few else _ranged(estimate, lambda value: three_digits(100 * value), "%")


def three_digits(value: float) -> str:
    """Three significant digits, including trailing zeros, down to FEW; all of an integer part."""
    if value >= 1000:
        return f"{value:.0f}"
    return f"<{FEW}" if 0 < value < FEW else format_significant(value, 3)


def _ranged(estimate: Estimate, write: Callable[[float], str], unit: str = "") -> str:
    ends = (
        ""
        if estimate.low is None or estimate.high is None
        else (f" [{write(estimate.low)}, {write(estimate.high)}]")
    )
    return f"{write(estimate.value)}{unit}{ends}"


def document(prediction: Prediction, caveats: Sequence[Caveat], platform: Platform | None) -> dict[str, Any]:
    """The output of `--json`; docs/models.md describes its parts."""
    best = prediction.best
    return {
        "algorithm": prediction.algorithm,
        "machine": _machine(prediction.messages, platform),
        "cost": prediction.messages.cost,
        "larger_machine": prediction.larger,
        "message_s": prediction.one_way,
        **({"message_between_nodes_s": prediction.between} if prediction.between else {}),
        "ranks": [{**_row(each), **_layout(prediction, each.ranks)} for each in prediction.rows],
        "leaves_out": LEFT_OUT,
        "break_even": [_needed(each) for each in prediction.break_even],
        "work_needed": [_needed(each) for each in prediction.needed],
        "best": {
            "most": best.most,
            "fastest": {**_row(best.fastest), "low": best.ends[0], "high": best.ends[1]},
            "half_efficient": _row(best.thrifty),
        },
        "levers": {
            "ranks": prediction.changed,
            "changes": [
                {
                    "name": each.lever.name,
                    "how": each.lever.words,
                    "efficiency": each.efficiency,
                    "gain": each.lever.gain,
                    "algorithm": each.lever.algorithm,
                }
                for each in prediction.changes
            ],
        },
        "doubts": list(caveats),
    }


def _machine(messages: PointToPointCosts, platform: Platform | None) -> dict[str, Any]:
    fitted = max(messages.levels(), key=_worse)
    return {
        "name": messages.name,
        "title": messages.title,
        "source": messages.source,
        "buffers": messages.buffers or None,
        "verdict": fitted.verdict,
        "why": fitted.doubt,
        "network": "medium" if any(messages.medium) else "shared" if messages.shared else "switch",
        "network_why": messages.why,
        "pieces": messages.pieces,
        "near_pieces": messages.near.pieces if messages.near else (),
        "cores_per_node": messages.cores,
        "shared_rates": [
            {
                "place": NETWORK if level is not messages.near and messages.place == NETWORK else NODE,
                "bytes_per_s": node.estimate,
                "gap_s": node.gap_s,
                "pairs": node.pairs,
            }
            for level in messages.levels()
            if (node := level.node) is not None
        ],
        "medium": {"message_s": messages.medium[0], "s_per_byte": messages.medium[1]},
        "half_duplex_s_per_byte": messages.half_duplex_s_per_byte,
        "eager_bytes": None if math.isinf(messages.eager) else messages.eager,
        "smallest_bytes": messages.smallest,
        "largest_bytes": messages.largest,
        "most_ranks": messages.most_ranks,
        "origins": list(provenance(platform)) if platform is not None else [],
    }


def _worse(level: PointToPointCosts) -> int:
    """The order of verdicts; of costs that were not fitted it is unknown."""
    return ("", *BEST_FIRST).index(level.verdict)


def _row(row: RanksRow) -> dict[str, Any]:
    return {
        "ranks": row.ranks,
        "time_s": row.time,
        "speed_up": row.speed_up,
        "efficiency": row.efficiency,
        "communication_share": row.communication,
        "ranks_a_core": row.shared_by,
    }


def _layout(prediction: Prediction, ranks: int) -> dict[str, int]:
    layout = prediction.layout(ranks)
    return {} if layout is None else {"nodes": layout.nodes, "ranks_per_node": layout.ranks_per_node}


def _needed(needed: Needed) -> dict[str, Any]:
    return {
        "ranks": needed.ranks,
        "efficiency": needed.efficiency,
        "work_s": needed.work,
        "most_efficiency": needed.ceiling,
    }
