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
from hockney.studies.granularity.plan import WORD
from hockney.studies.granularity.results import WANTED, Cell, lengths, line, predicted, rank_counts, reached
from hockney.studies.granularity.validation import CORES, MUCH, STEPS, Checked, _parts


def length(size: int) -> str:
    """ "10000 words" if the paper would count words (1, 10, 100, ...), otherwise bytes."""
    words, odd = divmod(size, WORD)
    if not odd and words and str(words).strip("0") == "1":
        return f"{words} word{'s' if words > 1 else ''}"
    return quantity(size, "B")


def plain_length(size: int) -> str:
    """ "40000 B", "4 KiB": exact, for readers who do not count in the paper's words."""
    return quantity(size, "B") if size % 1024 == 0 else f"{size} B"


def points_text(value: float) -> str:
    """A difference of two efficiencies in percentage points, with one decimal at most."""
    return f"{100 * value:.1f}".removesuffix(".0")


def share(value: float) -> str:
    """An efficiency or a fraction in percent with one decimal."""
    return f"{100 * value:.1f}%"


def efficiency_bounds(estimate: Estimate) -> str:
    """ "88.1% to 88.6%"."""
    if estimate.low is None or estimate.high is None:
        return "unknown"
    return f"{share(estimate.low)} to {share(estimate.high)}"


def efficiency_text(estimate: Estimate) -> str:
    """ "88.3% (95%: 88.1% to 88.6%)"; just the value where both ends look the same."""
    if estimate.low is None and estimate.high is None:
        return f"{share(estimate.value)} (no interval)"
    ends = {share(end) for end in (estimate.low, estimate.high) if end is not None}
    value = share(estimate.value)
    return f"{value} (95%: {efficiency_bounds(estimate)})" if ends - {value} else value


def change_text(value: float | None) -> str:
    """A difference of two efficiencies in percentage points, as "+1.2"; empty if unknown."""
    if value is None:
        return ""
    return f"{100 * value:+.1f}" if abs(value) >= 5e-4 else "0.0"


def grain_table(measured: tuple[Cell, ...], messages: PointToPointCosts | None) -> Table:
    """A row for each number of ranks and length."""
    rows = []
    for p in rank_counts(measured):
        for size in lengths(measured):
            curve = line(measured, p, size)
            if not curve:
                continue
            row = [str(p), length(size)]
            costs = messages.spread_over(curve[0].nodes) if messages else None
            for efficiency in (1 / p, WANTED):
                row.append(str(predicted(costs, size, p, efficiency)) if costs else "unknown")
                row.append(str(reached(curve, efficiency)))
            rows.append(tuple(row))
    columns: tuple[str, ...] = ("ranks", "message")
    for name in ("break-even", f"{WANTED:.0%}"):
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


ASSUMED = {
    "exchange": "an exchange takes as long as the model of one message predicts",
    "preset": "the work takes the preset time",
    "together": "a rank computes as fast while all ranks compute",
    "sum": "computation and exchange do not affect each other",
    CORES: "every rank has a core to itself",
}
FAILED = {
    "exchange": "an exchange does not take as long as the model of one message predicts",
    "preset": "the work does not take the preset time",
    "together": "a rank does not compute as fast while all ranks compute",
    "sum": "computation and exchange affect each other",
    CORES: "ranks did not have a core to themselves",
}
"""What is the case where an assumption fails."""
CHECKED_BY = {
    "exchange": "round_robin, the exchange alone",
    "preset": "compute on one rank",
    "together": "compute on all ranks at once",
    "sum": "the remainder: granularity itself",
    CORES: "ranks, cores, and what other programs used",
}
LITTLE = 0.02


def assumption_table(checked: Sequence[Checked]) -> Table:
    """One row for each assumption and number of ranks."""
    rows: list[tuple[str, ...]] = []
    for p in sorted({each.cell.ranks for each in checked if each.cell.ranks > 1}):
        here = [each for each in checked if each.cell.ranks == p]
        for step in STEPS:
            if effects := [each for each in here if each.parts[step] is not None]:
                rows.append(_assumption_row(step, p, effects))
        rows.append(_cores_row(p, here))
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
        f"{points_text(LITTLE)} an assumption holds, beyond {points_text(MUCH)} it fails.",
    )


def _assumption_row(step: str, ranks: int, effects: Sequence[Checked]) -> tuple[str, ...]:
    worst = max(effects, key=lambda c: abs(c.parts[step] or 0.0))
    effect = worst.parts[step] or 0.0
    verdict = "holds" if abs(effect) <= LITTLE else "breaks" if abs(effect) > MUCH else "nearly holds"
    typical = median(abs(c.parts[step] or 0.0) for c in effects)
    return (
        str(ranks),
        ASSUMED[step],
        CHECKED_BY[step],
        f"{100 * typical:.1f}",
        change_text(effect),
        measurements(worst, step),
        verdict,
    )


def _cores_row(ranks: int, checked: Sequence[Checked]) -> tuple[str, ...]:
    crowded = [each for each in checked if each.crowded]
    verdict = "breaks" if crowded else "holds"
    return str(ranks), ASSUMED[CORES], CHECKED_BY[CORES], "", "", load_text(checked), verdict


def load_text(checked: Sequence[Checked]) -> str:
    """The cores available to the ranks, and the part of them used by other programs."""
    worst = max(checked, key=lambda each: each.cell.outside)
    cores = f"{plural(worst.cell.ranks, 'rank')} on {plural(worst.cores, 'core')}"
    return f"{cores}, other programs typically used {worst.cell.outside:.2f}" if worst.cell.outside else cores


def measurements(checked: Checked, step: str) -> str:
    """The measurements of one cell that are relevant to an assumption, as text."""
    cell, apart = checked.cell, checked.apart
    where = f"T = {quantity(cell.work_s, 's')}, {length(cell.bytes)}"
    if cell.serial:
        where += f", s = {cell.serial:g}"
    if not cell.even:
        where += f", {cell.shares}"
    if step == "exchange" and apart.exchange is not None:
        model = quantity(checked.model_s, "s")
        reason = f"exchange {quantity(apart.exchange, 's')}, according to the model {model}"
        if checked.gap is not None:
            first, last = (quantity(end, "B") for end in checked.gap)
            reason += f", which cannot locate the change between {first} and {last}"
    elif step == "preset":
        reason = f"the work took {quantity(cell.one_rank.value, 's')} alone"
    elif step == "together" and apart.share is not None:
        fair = cell.one_rank.value / cell.ranks
        reason = f"a rank's part took {quantity(apart.share, 's')}, compared with {quantity(fair, 's')} alone"
    else:
        total, parts = cell.measured.summary.typical.value, _parts(checked)
        why = "ranks wait for one another" if total > parts else "a part of the exchange is hidden"
        reason = f"{quantity(total, 's')} back to back, separately {quantity(parts, 's')}, so {why}"
    return f"{where}: {reason}"


EFFICIENCY = Format(lambda value: share(point_value(value)), interval=efficiency_bounds)
CHANGE = Format(change_text)


def _step_column(step: str) -> Column[Checked]:
    return Column(step, lambda each: each.parts[step], CHANGE)


CELLS: tuple[Column[Checked], ...] = (
    Column("ranks", lambda each: each.cell.ranks, COUNT_FORMAT),
    Column("T", lambda each: each.cell.work_s, SECONDS_FORMAT),
    Column("message", lambda each: length(each.cell.bytes)),
    Column("s", lambda each: each.cell.serial, Format(lambda serial: f"{100 * serial:g}%")),
    Column("shares", lambda each: "even" if each.cell.even else each.cell.shares),
    Column("imbalance", lambda each: each.cell.imbalance, Format(lambda imbalance: f"{imbalance:.3f}")),
    Column("speed-up", lambda each: each.cell.ranks * each.cell.efficiency.value, RATIO_FORMAT),
    Column("efficiency", lambda each: each.cell.efficiency, EFFICIENCY, interval=INTERVAL_HEADING),
    Column("predicted", lambda each: each.predicted, EFFICIENCY, interval="from the fit's"),
    Column("error", lambda each: each.error, CHANGE),
    *map(_step_column, STEPS),
    Column("breaks", lambda each: each.breaks),
)


def cells_table(checked: Sequence[Checked], ranks: int) -> Table:
    columns = [column for column in CELLS if column.heading not in ("ranks", "imbalance")]
    caption = (
        "The error is measured minus predicted efficiency in percentage points, and the next four "
        "columns divide it among the assumptions in the table above. Where the error is above "
        f"{points_text(MUCH)}, the last column names the assumption that fails."
    )
    rows = (each for each in checked if each.cell.ranks == ranks)
    return columns_table(f"cells-{ranks}", f"Every cell on {plural(ranks, 'rank')}", columns, rows, caption)


def _cell_key(each: Checked) -> tuple[int, int, float, float]:
    return each.cell.ranks, each.cell.bytes, each.cell.serial, each.cell.work_s


def uneven_work(checked: Sequence[Checked]) -> Table:
    """The cells with uneven work, next to the efficiency of the same work shared evenly."""
    even = {_cell_key(each): each.cell.efficiency.value for each in checked if each.cell.even}
    columns = (
        *select_columns(CELLS, "ranks", "shares", "imbalance", "T", "message", ("efficiency", "measured")),
        *without_intervals(select_columns(CELLS, "predicted", "error")),
        Column("even", lambda each: even.get(_cell_key(each)), EFFICIENCY),
    )
    rows = [each for each in checked if not each.cell.even]
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


ORDERED = "ordered"
EXCHANGES = {
    ORDERED: "ordered, half of the ranks send first",
    "sendrecv": "all at once, MPI_Sendrecv",
    "nonblocking": "MPI_Irecv and MPI_Isend",
    "persistent": "persistent requests",
    "neighborhood": "neighborhood collective",
}


def exchange_kind(m: MeasuredCase) -> str:
    return str(dict(m.case.parameters).get("exchange", ORDERED))


def exchange_key(m: MeasuredCase) -> tuple[int, int]:
    return m.case.ranks, m.case.bytes


def exchanges_table(measured: list[MeasuredCase], messages: PointToPointCosts | None) -> Table:
    ordered = {exchange_key(m): m.summary.typical.value for m in measured if exchange_kind(m) == ORDERED}
    places = {way: k for k, way in enumerate(EXCHANGES)}

    def model(m: MeasuredCase) -> float | None:
        if messages is None or exchange_kind(m) != ORDERED:
            return None
        return exchange_time(messages.spread_over(m.case.nodes), m.size, m.case.ranks)

    def of_ordered(m: MeasuredCase) -> float | None:
        base = None if exchange_kind(m) == ORDERED else ordered.get(exchange_key(m))
        return None if base is None else m.summary.typical.value / base

    columns: tuple[Column[MeasuredCase], ...] = (
        Column("ranks", lambda m: m.case.ranks, COUNT_FORMAT),
        Column("message", lambda m: length(m.case.bytes)),
        Column("exchange", lambda m: EXCHANGES.get(exchange_kind(m), exchange_kind(m))),
        Column("time", lambda m: m.summary.typical, SECONDS_FORMAT, interval=INTERVAL_HEADING),
        Column("model", model, SECONDS_FORMAT),
        Column("of ordered", of_ordered, RATIO_FORMAT),
        Column(f"T for {WANTED:.0%}", _needed_s, SECONDS_FORMAT),
    )
    rows = sorted(measured, key=lambda m: (*exchange_key(m), places.get(exchange_kind(m), len(places))))
    caption = (
        "All ranks start at the same moment. The model is that of the ordered exchange. The last "
        "column is the work that this exchange needs to reach that efficiency, by equation 2."
    )
    return columns_table("exchanges", "Time of one exchange", columns, rows, caption)


def _needed_s(m: MeasuredCase) -> float:
    """Equation 2 solved for T."""
    return WANTED * m.case.ranks * m.summary.typical.value / (1 - WANTED)


WITHIN, BETWEEN = "within a node", "between nodes"


def has_both_levels(messages: PointToPointCosts) -> bool:
    """Whether messages within a node and between nodes were measured."""
    return messages.within_node is not None and bool(messages.verdict)


def costs_tables(messages: PointToPointCosts) -> tuple[Table, ...]:
    """One, or one for each level that was measured."""
    title = "Time of a message in one direction"
    if not has_both_levels(messages) or messages.within_node is None:
        return (_costs_table("messages", title, messages),)
    return (
        _costs_table("messages", f"{title}, {BETWEEN}", messages),
        _costs_table("messages-within", f"{title}, {WITHIN}", messages.within_node),
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
