# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A prediction as a JSON document: seconds, bytes and fractions, each with its 95% interval (null if
unknown)."""

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
from hockney.models.applications.contention import network_kind
from hockney.models.applications.grain_prediction import (
    MIN_EFFICIENCY,
    REPORTED_EFFICIENCIES,
    Prediction,
    RanksRow,
    RequiredWork,
)
from hockney.models.applications.granularity import Algorithm
from hockney.models.applications.message_costs import VERDICTS
from hockney.models.applications.node_sharing import NodeSharing
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.levels import NETWORK
from hockney.models.programs.scaling import ProgramForecast
from hockney.pages.format import with_interval
from hockney.pages.origins import provenance, provenance_summary

NEVER_TEXT = "never"
EXCLUDED_EFFECTS = ("waiting", "variation")
"""Effects that the prediction excludes: waiting for late ranks, and the variation of computation and
messages."""


def ranks_table(prediction: Prediction) -> Table:
    layouts = [prediction.layout(row.ranks) for row in prediction.rows]
    rows = tuple(
        (
            str(row.ranks),
            *([layout.text] if layout is not None else []),
            time_cell(row.time),
            ratio_text(row.speed_up),
            share_text(row.efficiency),
            share_text(row.communication),
        )
        for row, layout in zip(prediction.rows, layouts, strict=True)
    )
    layout_columns = ("nodes x ranks",) if any(layouts) else ()
    columns = ("ranks", *layout_columns, "time, model only", "speed-up", "efficiency", "communication")
    return Table("ranks", "By ranks", columns, rows, numeric=(0, 1 + len(layout_columns)))


def work_table(prediction: Prediction) -> Table:
    """Return the table of the work for which these ranks break even or reach an efficiency, and of the upper
    limit of the efficiency."""
    rows = []
    for break_even in prediction.break_even:
        remaining_works = [work for work in prediction.needed if work.ranks == break_even.ranks]
        work_cells = [_format_work(work) for work in (break_even, *remaining_works)]
        rows.append((str(break_even.ranks), *work_cells, f"{three_digits(100 * break_even.ceiling)}%"))
    columns = (
        "ranks",
        "break-even work",
        *(f"work for {format_percent(efficiency)}" for efficiency in REPORTED_EFFICIENCIES),
        "at most",
    )
    return Table("needed", "Work needed", columns, tuple(rows), numeric=tuple(range(len(columns))))


def _format_work(required: RequiredWork) -> str:
    if required.work is None:
        return NEVER_TEXT
    return "any" if required.work.value == 0 else time_cell(required.work)


def levers_table(prediction: Prediction) -> Table:
    rows = tuple(
        (
            change.lever.name,
            change.lever.description,
            share_text(change.efficiency),
            f"+{three_digits(100 * change.lever.gain)}".replace("+<", "<"),
        )
        for change in prediction.changes
    )
    return improvements_table(prediction.changed_ranks, rows)


def improvements_table(ranks: int, rows: tuple[tuple[str, str, str, str], ...]) -> Table:
    """Return the table of improvements on this many ranks: name, how, new efficiency and gain in percentage
    points."""
    columns = ("improvement", "how", "new efficiency", "points")
    return Table("levers", f"On {ranks} ranks", columns, rows, numeric=(3,))


TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))

BUFFER_PHRASES = {"written": " that was just written", "hot": " in hot buffers", "cold": " in cold buffers"}

MIN_FIXED = 1e-3
"""Smaller values are shown as less than this value."""


def assumption_sentences(prediction: Prediction, platform: Platform | None) -> tuple[str, ...]:
    """Return sentences on the algorithm, the source of message times, and the network. `platform` is the
    description that a machine's name selects."""
    messages = prediction.messages
    source = f"on {messages.title}, by {messages.source}"
    message = "an undisturbed message" if messages.cost == "undisturbed" else "a message"
    size = format_size(prediction.algorithm.bytes)
    buffers = BUFFER_PHRASES.get(messages.buffers, "")
    one_message = f"{message} of {size}{buffers} takes {_format_one_way(prediction)} in one direction"
    fit = _fit_verdicts(messages) if platform is None else f" ({provenance_summary(platform)})"
    return (
        f"Assumed: {algorithm_text(prediction.algorithm)}.",
        f"Messages {source}: {one_message}{fit}.",
        f"Network: {network_kind(messages)}, {messages.why}.",
        *_sharing_sentence(messages),
    )


def _sharing_sentence(messages: PointToPointCosts) -> tuple[str, ...]:
    """Describe the rate that simultaneous messages from one node share, if pairs were measured."""
    levels = ((level, level.node_sharing) for level in messages.levels())
    nodes = [(_level_phrase(level, messages), node) for level, node in levels if node is not None]
    rates = [
        f"{_format_shared_rate(node)} {level_phrase}, measured with {plural(node.max_pairs, 'pair')}"
        for level_phrase, node in nodes
    ]
    return (f"Messages that set out from one node at once share {', and '.join(rates)}.",) if rates else ()


def _level_phrase(level: PointToPointCosts, messages: PointToPointCosts) -> str:
    is_between_nodes = messages.place == NETWORK and level is not messages.within_node
    return "between nodes" if is_between_nodes else "within a node"


def _format_shared_rate(node: NodeSharing) -> str:
    rate = node.estimate
    return f"at least {format_rate(rate.value)}" if rate.high is None else with_interval(rate, "B/s")


def _fit_verdicts(messages: PointToPointCosts) -> str:
    """Return the verdicts of the fits that determine the times."""
    fit_names = (
        {True: "the fit on a node", False: "that between nodes"}
        if messages.within_node
        else {False: "the fit"}
    )
    verdicts = [
        f"{fit_names[level is messages.within_node]} is {level.verdict}: {level.doubt}"
        for level in messages.levels()
        if level.verdict
    ]
    return f" ({'; '.join(verdicts)})" if verdicts else ""


def _format_one_way(prediction: Prediction) -> str:
    text, between_nodes = with_interval(prediction.one_way, "s"), prediction.between_nodes
    return (
        text
        if between_nodes is None
        else f"{text} on a node and {with_interval(between_nodes, 's')} between nodes"
    )


def algorithm_text(algorithm: Algorithm) -> str:
    """Describe the algorithm by its numbers."""
    parts = (
        f"{format_percent(algorithm.serial)} of it serial, the rest shared"
        if algorithm.serial
        else "all of it shared"
    )
    balance = (
        f", {algorithm.imbalance:g} times the mean on the busiest rank"
        if algorithm.imbalance > 1
        else " evenly"
    )
    division = "all of it serial" if algorithm.serial == 1 else f"{parts}{balance}"
    return (
        f"{plain_seconds(algorithm.work_s)} of computation on one rank, {division}; {algorithm.exchanges:g} "
        f"exchange{'' if algorithm.exchanges == 1 else 's'} of {format_size(algorithm.bytes)} with the "
        "neighbors"
    )


def best_sentences(prediction: Prediction) -> tuple[str, ...]:
    best = prediction.best
    fastest, efficient = best.fastest, best.most_efficient
    range_text = f"of 1 to {best.max_ranks}"
    if best.max_ranks == 1:
        return ("Best: 1 rank; the machine has no more.",)
    interval_text = (
        ""
        if len(set(best.fastest_bounds)) == 1
        else f" (95%: {best.fastest_bounds[0]} to {best.fastest_bounds[1]})"
    )
    if fastest.ranks == 1:
        best_sentence = f"Best: 1 rank{interval_text}; no other number {range_text} is faster."
    else:
        best_sentence = (
            f"Best: {fastest.ranks} ranks{interval_text}, speed-up {ratio_text(fastest.speed_up)}, "
            f"the largest {range_text} ranks."
        )
    if efficient.ranks == 1:
        return (
            best_sentence,
            f"With more than 1 rank, the efficiency is below {format_percent(MIN_EFFICIENCY)}.",
        )
    return (
        best_sentence,
        f"Up to {efficient.ranks} ranks have an efficiency of at least {format_percent(MIN_EFFICIENCY)}.",
    )


def changes_heading(prediction: Prediction | ProgramForecast) -> str:
    """Return the heading of the table of possible improvements."""
    current = next(row for row in prediction.rows if row.ranks == prediction.changed_ranks)
    return f"What would help on {current.ranks} ranks (now {share_text(current.efficiency)} efficient):"


def plain_seconds(value: float) -> str:
    """Format a time with at most three digits, without trailing zeros: 1 s, 2.5 ms."""
    if value >= 100:
        return format_seconds(value)
    factor, unit = next((scale for scale in TIME_UNITS if value >= scale[0] * 0.9995), TIME_UNITS[-1])
    return f"{float(f'{value / factor:.3g}'):g} {unit}"


def time_text(estimate: Estimate) -> str:
    """Format a time with its interval in one unit, with three digits: "608 ms [600, 615]"."""
    value = estimate.value
    if value >= 100 or (estimate.high or 0) >= 100:
        return _format_with_interval(estimate, format_seconds)
    factor, unit = next((scale for scale in TIME_UNITS if value >= scale[0] * 0.9995), TIME_UNITS[-1])
    return _format_with_interval(estimate, lambda v: three_digits(v / factor), f" {unit}")


def time_cell(estimate: Estimate) -> Amount:
    """Return the time as a table cell."""
    if estimate.low is None or estimate.high is None:
        return Amount(time_text(estimate), (estimate.value,), "s")
    return Amount(time_text(estimate), (estimate.value, estimate.low, estimate.high), "s", "{} [{}, {}]")


def ratio_text(estimate: Estimate) -> str:
    return _format_with_interval(estimate, three_digits)


def share_text(estimate: Estimate) -> str:
    """Format a share with its interval: "82.2% [81.9, 82.6]"."""
    is_small = 0 < 100 * estimate.value < MIN_FIXED
    return (
        f"<{MIN_FIXED}%"
        if is_small
        else _format_with_interval(estimate, lambda value: three_digits(100 * value), "%")
    )


def three_digits(value: float) -> str:
    """Format a number with three significant digits, including trailing zeros. Integer parts are complete,
    and positive values below MIN_FIXED appear as "<0.001"."""
    if value >= 1000:
        return f"{value:.0f}"
    return f"<{MIN_FIXED}" if 0 < value < MIN_FIXED else format_significant(value, 3)


def _format_with_interval(estimate: Estimate, format_number: Callable[[float], str], unit: str = "") -> str:
    bounds_text = (
        ""
        if estimate.low is None or estimate.high is None
        else (f" [{format_number(estimate.low)}, {format_number(estimate.high)}]")
    )
    return f"{format_number(estimate.value)}{unit}{bounds_text}"


def document(prediction: Prediction, caveats: Sequence[Caveat], platform: Platform | None) -> dict[str, Any]:
    """Return the output of `--json`; docs/models.md describes its parts."""
    best = prediction.best
    return {
        "algorithm": prediction.algorithm,
        "machine": _machine_document(prediction.messages, platform),
        "cost": prediction.messages.cost,
        "larger_machine": prediction.on_larger_machine,
        "message_s": prediction.one_way,
        **({"message_between_nodes_s": prediction.between_nodes} if prediction.between_nodes else {}),
        "ranks": [
            {**_row_document(item), **_layout_document(prediction, item.ranks)} for item in prediction.rows
        ],
        "leaves_out": EXCLUDED_EFFECTS,
        "break_even": [_work_document(item) for item in prediction.break_even],
        "work_needed": [_work_document(item) for item in prediction.needed],
        "best": {
            "most": best.max_ranks,
            "fastest": {
                **_row_document(best.fastest),
                "low": best.fastest_bounds[0],
                "high": best.fastest_bounds[1],
            },
            "half_efficient": _row_document(best.most_efficient),
        },
        "levers": {
            "ranks": prediction.changed_ranks,
            "changes": [
                {
                    "name": item.lever.name,
                    "how": item.lever.description,
                    "efficiency": item.efficiency,
                    "gain": item.lever.gain,
                    "algorithm": item.lever.algorithm,
                }
                for item in prediction.changes
            ],
        },
        "doubts": list(caveats),
    }


def _piece_documents(messages: PointToPointCosts) -> list[dict[str, float]]:
    return [
        {"first": piece.min_size, "latency_s": piece.latency_s, "per_byte_s": piece.per_byte_s}
        for piece in messages.pieces
    ]


def _machine_document(messages: PointToPointCosts, platform: Platform | None) -> dict[str, Any]:
    worst_level = max(messages.levels(), key=_verdict_rank)
    return {
        "name": messages.name,
        "title": messages.title,
        "source": messages.source,
        "buffers": messages.buffers or None,
        "verdict": worst_level.verdict,
        "why": worst_level.doubt,
        "network": "medium" if any(messages.medium) else "shared" if messages.shared else "switch",
        "network_why": messages.why,
        "pieces": _piece_documents(messages),
        "near_pieces": _piece_documents(messages.within_node) if messages.within_node else [],
        "cores_per_node": messages.cores,
        "shared_rates": [
            {
                "place": NETWORK if level is not messages.within_node and messages.place == NETWORK else NODE,
                "bytes_per_s": node.estimate,
                "gap_s": node.gap_s,
                "pairs": node.max_pairs,
            }
            for level in messages.levels()
            if (node := level.node_sharing) is not None
        ],
        "medium": {"message_s": messages.medium[0], "s_per_byte": messages.medium[1]},
        "half_duplex_s_per_byte": messages.half_duplex_s_per_byte,
        "eager_bytes": None if math.isinf(messages.eager_limit) else messages.eager_limit,
        "smallest_bytes": messages.min_size,
        "largest_bytes": messages.max_size,
        "most_ranks": messages.max_ranks,
        "origins": list(provenance(platform)) if platform is not None else [],
    }


def _verdict_rank(level: PointToPointCosts) -> int:
    """Return the rank of the verdict, higher if worse. Costs without a fit have the lowest rank."""
    return ("", *VERDICTS).index(level.verdict)


def _row_document(row: RanksRow) -> dict[str, Any]:
    return {
        "ranks": row.ranks,
        "time_s": row.time,
        "speed_up": row.speed_up,
        "efficiency": row.efficiency,
        "communication_share": row.communication,
        "ranks_a_core": row.shared_by,
    }


def _layout_document(prediction: Prediction, ranks: int) -> dict[str, int]:
    layout = prediction.layout(ranks)
    return {} if layout is None else {"nodes": layout.nodes, "ranks_per_node": layout.ranks_per_node}


def _work_document(required: RequiredWork) -> dict[str, Any]:
    return {
        "ranks": required.ranks,
        "efficiency": required.efficiency,
        "work_s": required.work,
        "most_efficiency": required.ceiling,
    }
