# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""The tables of the grid, and lengths, efficiencies and errors as text."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from hockney.core.fit import Estimate
from hockney.core.wording import plural
from hockney.draw.page import Table
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.applications.ring_exchange import exchange_time
from hockney.pages import point_to_point
from hockney.pages.columns import (
    COUNT_FORMAT,
    INTERVAL_HEADING,
    RATIO_FORMAT,
    SECONDS_FORMAT,
    Column,
    Format,
    columns_table,
    point_value,
    select_columns,
    without_intervals,
)
from hockney.pages.evidence import Evidence, MeasuredCase
from hockney.pages.format import format_share, quantity
from hockney.studies.granularity.plan import WORD_BYTES
from hockney.studies.granularity.results import (
    TARGET_EFFICIENCY,
    Cell,
    curve_cells,
    lengths,
    measured_work,
    predicted_work,
    rank_counts,
)
from hockney.studies.granularity.validation import CORES, LARGE_ERROR, STEPS, CheckedCell, separate_time_s


def length_text(size: int) -> str:
    """The text "10000 words" for lengths that the paper would give in words (1, 10, 100, ...), otherwise
    bytes."""
    word_count, remainder = divmod(size, WORD_BYTES)
    if not remainder and word_count and str(word_count).strip("0") == "1":
        return f"{word_count} word{'s' if word_count > 1 else ''}"
    return quantity(size, "B")


def byte_length_text(size: int) -> str:
    """The exact text, such as "40000 B" or "4 KiB", for readers who do not use the paper's words."""
    return quantity(size, "B") if size % 1024 == 0 else f"{size} B"


def points_text(value: float) -> str:
    """A difference of two efficiencies in percentage points, with at most one decimal."""
    return f"{100 * value:.1f}".removesuffix(".0")


def percent_text(value: float) -> str:
    """An efficiency or a fraction in percent with one decimal."""
    return f"{100 * value:.1f}%"


def efficiency_bounds(estimate: Estimate) -> str:
    """The text, such as "88.1% to 88.6%"."""
    if estimate.low is None or estimate.high is None:
        return "unknown"
    return f"{percent_text(estimate.low)} to {percent_text(estimate.high)}"


def efficiency_text(estimate: Estimate) -> str:
    """The text, such as "88.3% (95%: 88.1% to 88.6%)", or only the value if both bounds look the same."""
    if estimate.low is None and estimate.high is None:
        return f"{percent_text(estimate.value)} (no interval)"
    ends = {percent_text(end) for end in (estimate.low, estimate.high) if end is not None}
    value = percent_text(estimate.value)
    return f"{value} (95%: {efficiency_bounds(estimate)})" if ends - {value} else value


def change_text(value: float | None) -> str:
    """A difference of two efficiencies in percentage points, such as "+1.2"; empty if unknown."""
    if value is None:
        return ""
    return f"{100 * value:+.1f}" if abs(value) >= 5e-4 else "0.0"


def grain_table(measured: tuple[Cell, ...], messages: PointToPointCosts | None) -> Table:
    """A row for each number of ranks and length."""
    rows = []
    for rank_count in rank_counts(measured):
        for size in lengths(measured):
            curve = curve_cells(measured, rank_count, size)
            if not curve:
                continue
            row = [str(rank_count), length_text(size)]
            costs = messages.spread_over(curve[0].nodes) if messages else None
            for efficiency in (1 / rank_count, TARGET_EFFICIENCY):
                row.append(str(predicted_work(costs, size, rank_count, efficiency)) if costs else "unknown")
                row.append(str(measured_work(curve, efficiency)))
            rows.append(tuple(row))
    columns: tuple[str, ...] = ("ranks", "message")
    for name in ("break-even", f"{TARGET_EFFICIENCY:.0%}"):
        columns += (f"{name}, predicted", f"{name}, measured")
    return Table(
        "grain",
        "Work from which additional ranks pay off",
        columns,
        tuple(rows),
        numeric=(0,),
        caption="Break-even is an efficiency of 1/np, a speed-up of 1. Measured works lie between two works "
        "of the grid; brackets contain 95% intervals. Where the intervals at an end of the grid include the "
        "efficiency, there is a range.",
    )


ASSUMPTIONS = {
    "exchange": "an exchange takes as long as the model of one message predicts",
    "preset": "the work takes the preset time",
    "together": "a rank computes as fast while all ranks compute",
    "sum": "computation and exchange do not affect each other",
    CORES: "every rank has a core to itself",
}
FAILURES = {
    "exchange": "an exchange does not take as long as the model of one message predicts",
    "preset": "the work does not take the preset time",
    "together": "a rank does not compute as fast while all ranks compute",
    "sum": "computation and exchange affect each other",
    CORES: "ranks did not have a core to themselves",
}
"""Descriptions of failed assumptions."""
EVIDENCE_BY_STEP = {
    "exchange": "round_robin, the exchange alone",
    "preset": "compute on one rank",
    "together": "compute on all ranks at once",
    "sum": "the remainder: granularity itself",
    CORES: "ranks, cores, and what other programs used",
}
HOLDING_EFFECT = 0.02


def assumption_table(checked: Sequence[CheckedCell]) -> Table:
    """One row for each assumption and number of ranks."""
    rows: list[tuple[str, ...]] = []
    for rank_count in sorted({entry.cell.ranks for entry in checked if entry.cell.ranks > 1}):
        checked_cells = [entry for entry in checked if entry.cell.ranks == rank_count]
        for step in STEPS:
            if effects := [entry for entry in checked_cells if entry.effects[step] is not None]:
                rows.append(_assumption_row(step, rank_count, effects))
        rows.append(_cores_row(rank_count, checked_cells))
    columns = ("ranks", "assumed", "checked by", "median effect", "largest effect", "there", "verdict")
    return Table(
        "assumptions",
        "Assumptions of the prediction",
        columns,
        tuple(rows),
        numeric=(0, 3, 4),
        caption="The effect is the change in efficiency when the measured value replaces the assumption. The "
        "table gives its median magnitude over all cells, and the largest effect with its sign. The loss of "
        "a rank that was moved off its core is included in the two rows above. In percentage points: up to "
        f"{points_text(HOLDING_EFFECT)} an assumption holds, beyond {points_text(LARGE_ERROR)} it fails.",
    )


def _assumption_row(step: str, ranks: int, effects: Sequence[CheckedCell]) -> tuple[str, ...]:
    worst_cell = max(effects, key=lambda entry: abs(entry.effects[step] or 0.0))
    effect = worst_cell.effects[step] or 0.0
    verdict = (
        "holds"
        if abs(effect) <= HOLDING_EFFECT
        else "breaks"
        if abs(effect) > LARGE_ERROR
        else "nearly holds"
    )
    typical = median(abs(entry.effects[step] or 0.0) for entry in effects)
    return (
        str(ranks),
        ASSUMPTIONS[step],
        EVIDENCE_BY_STEP[step],
        f"{100 * typical:.1f}",
        change_text(effect),
        measurements_text(worst_cell, step),
        verdict,
    )


def _cores_row(ranks: int, checked: Sequence[CheckedCell]) -> tuple[str, ...]:
    crowded_cells = [entry for entry in checked if entry.is_crowded]
    verdict = "breaks" if crowded_cells else "holds"
    return str(ranks), ASSUMPTIONS[CORES], EVIDENCE_BY_STEP[CORES], "", "", load_text(checked), verdict


def load_text(checked: Sequence[CheckedCell]) -> str:
    """The cores available to the ranks, and how many of them other programs used."""
    most_loaded = max(checked, key=lambda entry: entry.cell.outside_cores)
    cores = f"{plural(most_loaded.cell.ranks, 'rank')} on {plural(most_loaded.cores, 'core')}"
    return (
        f"{cores}, other programs typically used {most_loaded.cell.outside_cores:.2f}"
        if most_loaded.cell.outside_cores
        else cores
    )


def measurements_text(checked: CheckedCell, step: str) -> str:
    """The measurements of one cell that are relevant to an assumption, as text."""
    cell, components = checked.cell, checked.components
    cell_text = f"T = {quantity(cell.work_s, 's')}, {length_text(cell.bytes)}"
    if cell.serial:
        cell_text += f", s = {cell.serial:g}"
    if not cell.is_even:
        cell_text += f", {cell.shares}"
    if step == "exchange" and components.exchange_s is not None:
        model = quantity(checked.model_s, "s")
        reason = f"exchange {quantity(components.exchange_s, 's')}, according to the model {model}"
        if checked.change_bounds is not None:
            first, last = (quantity(end, "B") for end in checked.change_bounds)
            reason += f", which cannot locate the change between {first} and {last}"
    elif step == "preset":
        reason = f"the work took {quantity(cell.one_rank.value, 's')} alone"
    elif step == "together" and components.share_s is not None:
        fair_share_s = cell.one_rank.value / cell.ranks
        reason = (
            f"a rank's part took {quantity(components.share_s, 's')}, compared with "
            f"{quantity(fair_share_s, 's')} alone"
        )
    else:
        total, parts_s = cell.measured.summary.typical.value, separate_time_s(checked)
        explanation = "ranks wait for one another" if total > parts_s else "a part of the exchange is hidden"
        reason = f"{quantity(total, 's')} back to back, separately {quantity(parts_s, 's')}, so {explanation}"
    return f"{cell_text}: {reason}"


EFFICIENCY = Format(lambda value: percent_text(point_value(value)), interval=efficiency_bounds)
CHANGE = Format(change_text)


def _step_column(step: str) -> Column[CheckedCell]:
    return Column(step, lambda each: each.effects[step], CHANGE)


CELLS: tuple[Column[CheckedCell], ...] = (
    Column("ranks", lambda each: each.cell.ranks, COUNT_FORMAT),
    Column("T", lambda each: each.cell.work_s, SECONDS_FORMAT),
    Column("message", lambda each: length_text(each.cell.bytes)),
    Column("s", lambda each: each.cell.serial, Format(lambda serial: f"{100 * serial:g}%")),
    Column("shares", lambda each: "even" if each.cell.is_even else each.cell.shares),
    Column("imbalance", lambda each: each.cell.imbalance, Format(lambda imbalance: f"{imbalance:.3f}")),
    Column("speed-up", lambda each: each.cell.ranks * each.cell.efficiency.value, RATIO_FORMAT),
    Column("efficiency", lambda each: each.cell.efficiency, EFFICIENCY, interval=INTERVAL_HEADING),
    Column("predicted", lambda each: each.predicted, EFFICIENCY, interval="from the fit's"),
    Column("error", lambda each: each.error, CHANGE),
    *map(_step_column, STEPS),
    Column("breaks", lambda each: each.failed_assumption),
)


def cells_table(checked: Sequence[CheckedCell], ranks: int) -> Table:
    columns = [column for column in CELLS if column.heading not in ("ranks", "imbalance")]
    caption = (
        "The error is measured minus predicted efficiency in percentage points, and the next four "
        "columns divide it among the assumptions in the table above. Where the error is above "
        f"{points_text(LARGE_ERROR)}, the last column names the assumption that fails."
    )
    rows = (each for each in checked if each.cell.ranks == ranks)
    return columns_table(f"cells-{ranks}", f"Every cell on {plural(ranks, 'rank')}", columns, rows, caption)


def _cell_key(each: CheckedCell) -> tuple[int, int, float, float]:
    return each.cell.ranks, each.cell.bytes, each.cell.serial, each.cell.work_s


def uneven_work_table(checked: Sequence[CheckedCell]) -> Table:
    """The cells with uneven work, next to the efficiency of the same work shared evenly."""
    even = {_cell_key(each): each.cell.efficiency.value for each in checked if each.cell.is_even}
    columns = (
        *select_columns(CELLS, "ranks", "shares", "imbalance", "T", "message", ("efficiency", "measured")),
        *without_intervals(select_columns(CELLS, "predicted", "error")),
        Column("even", lambda each: even.get(_cell_key(each)), EFFICIENCY),
    )
    rows = [each for each in checked if not each.cell.is_even]
    return columns_table("uneven", "Efficiency of uneven work", columns, rows)


CLOCKS = {"thread": "of the thread", "wall": "wall", "simulated": "simulated"}
WALL = " The wall clock also counts other programs; it is used if threads have no CPU clock."


def presets_table(evidence: Evidence) -> Table | None:
    """A row for each number of ranks, preset and clock; None if nothing was computed without exchange."""
    errors_by_preset: dict[tuple[int, float, str], list[float]] = {}
    for record in evidence.run.records:
        case = record.parse_case()
        preset, error = record.metric("work"), record.metric("work_error")
        if case.workload == "compute" and preset is not None and error is not None:
            key = case.ranks, preset, record.labels.get("work_clock", "thread")
            errors_by_preset.setdefault(key, []).append(error)
    if not errors_by_preset:
        return None
    rows = tuple(
        (
            str(ranks),
            quantity(preset, "s"),
            format_share(median(errors)),
            format_share(max(errors)),
            CLOCKS[clock],
        )
        for (ranks, preset, clock), errors in sorted(errors_by_preset.items())
    )
    return Table(
        "presets",
        "Accuracy of the preset computing time",
        ("ranks", "preset", "median error", "largest error", "clock"),
        rows,
        numeric=(0, 1, 2, 3),
        caption="For each launch: the error of the rank that missed the preset time most, in the median "
        "repetition, on the clock that decides when the computation stops."
        + (WALL if any(clock == "wall" for _, _, clock in errors_by_preset) else ""),
    )


ORDERED_EXCHANGE = "ordered"
EXCHANGES = {
    ORDERED_EXCHANGE: "ordered, half of the ranks send first",
    "sendrecv": "all at once, MPI_Sendrecv",
    "nonblocking": "MPI_Irecv and MPI_Isend",
    "persistent": "persistent requests",
    "neighborhood": "neighborhood collective",
}


def exchange_kind(result: MeasuredCase) -> str:
    return str(dict(result.case.parameters).get("exchange", ORDERED_EXCHANGE))


def exchange_key(result: MeasuredCase) -> tuple[int, int]:
    return result.case.ranks, result.case.bytes


def exchanges_table(measured: list[MeasuredCase], messages: PointToPointCosts | None) -> Table:
    ordered_times = {
        exchange_key(result): result.summary.typical.value
        for result in measured
        if exchange_kind(result) == ORDERED_EXCHANGE
    }
    order_by_exchange = {exchange: index for index, exchange in enumerate(EXCHANGES)}

    def model(result: MeasuredCase) -> float | None:
        if messages is None or exchange_kind(result) != ORDERED_EXCHANGE:
            return None
        return exchange_time(messages.spread_over(result.case.nodes), result.size, result.case.ranks)

    def of_ordered(result: MeasuredCase) -> float | None:
        base = None if exchange_kind(result) == ORDERED_EXCHANGE else ordered_times.get(exchange_key(result))
        return None if base is None else result.summary.typical.value / base

    columns: tuple[Column[MeasuredCase], ...] = (
        Column("ranks", lambda result: result.case.ranks, COUNT_FORMAT),
        Column("message", lambda result: length_text(result.case.bytes)),
        Column("exchange", lambda result: EXCHANGES.get(exchange_kind(result), exchange_kind(result))),
        Column("time", lambda result: result.summary.typical, SECONDS_FORMAT, interval=INTERVAL_HEADING),
        Column("model", model, SECONDS_FORMAT),
        Column("of ordered", of_ordered, RATIO_FORMAT),
        Column(f"T for {TARGET_EFFICIENCY:.0%}", _required_work_s, SECONDS_FORMAT),
    )
    rows = sorted(
        measured,
        key=lambda result: (
            *exchange_key(result),
            order_by_exchange.get(exchange_kind(result), len(order_by_exchange)),
        ),
    )
    caption = (
        "All ranks start at the same moment. The model is that of the ordered exchange. The last "
        "column is the work that this exchange needs to reach that efficiency, by equation 2."
    )
    return columns_table("exchanges", "Time of one exchange", columns, rows, caption)


def _required_work_s(result: MeasuredCase) -> float:
    """Equation 2 solved for T."""
    return TARGET_EFFICIENCY * result.case.ranks * result.summary.typical.value / (1 - TARGET_EFFICIENCY)


WITHIN_NODE, BETWEEN_NODES = "within a node", "between nodes"


def has_both_levels(messages: PointToPointCosts) -> bool:
    """Whether messages within a node and between nodes were measured."""
    return messages.within_node is not None and bool(messages.verdict)


def costs_tables(messages: PointToPointCosts) -> tuple[Table, ...]:
    """One table, or one for each measured level."""
    title = "Time of a message in one direction"
    if not has_both_levels(messages) or messages.within_node is None:
        return (_costs_table("messages", title, messages),)
    return (
        _costs_table("messages", f"{title}, {BETWEEN_NODES}", messages),
        _costs_table("messages-within", f"{title}, {WITHIN_NODE}", messages.within_node),
    )


def _costs_table(name: str, title: str, messages: PointToPointCosts) -> Table:
    rows = tuple(
        (
            quantity(piece.min_size, "B"),
            quantity(piece.latency_s, "s") if piece.latency_s >= 0 else point_to_point.NO_LATENCY_TEXT,
            quantity(piece.per_byte_s, "s/B"),
            quantity(1 / piece.per_byte_s, "B/s") if piece.per_byte_s else "",
        )
        for piece in messages.pieces
    )
    return Table(name, title, ("from", "latency", "per byte", "bandwidth"), rows, numeric=(0, 1, 2, 3))
