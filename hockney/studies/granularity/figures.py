# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measured efficiency against T with the model's curves (the paper's figures 1 to 3), and the model's
efficiency over T and the serial fraction, and over T and np (its figures 4 and 5)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from hockney.core.layout import NETWORK
from hockney.core.units import format_bytes, format_percent, format_seconds, half_decades_around, thin_out
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Table, Widget
from hockney.models.applications.contention import network_kind
from hockney.models.applications.granularity import (
    Algorithm,
    best_ranks,
    break_even,
    ceiling,
    efficiency,
    required_work,
    times,
    with_shared_cores,
)
from hockney.models.applications.node_sharing import NodeSharing
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.applications.ring_exchange import exchange_bounds
from hockney.pages.format import quantity
from hockney.pages.series import estimates
from hockney.studies.granularity import costs
from hockney.studies.granularity.columns import efficiency_text, length_text, percent_text
from hockney.studies.granularity.plan import ITERATIONS, WORD_BYTES
from hockney.studies.granularity.results import Cell, curve_cells, lengths, rank_counts
from hockney.studies.granularity.validation import CheckedCell

WORK_AXIS = Axis("T, work on one rank between two exchanges", "s")
SHORT_WORK_AXIS = Axis("work T", "s")
"""A shorter title for small figures."""
EFFICIENCY_AXIS = Axis("efficiency", "%", "linear")
CURVE_POINTS = 60


def log_spaced(low: float, high: float, count: int = CURVE_POINTS) -> tuple[float, ...]:
    """`count` values from `low` to `high`, evenly spaced on a log scale."""
    if count < 2 or high <= low:
        return (low,)
    ratio = math.log(high / low) / (count - 1)
    return (low, *(low * math.exp(index * ratio) for index in range(1, count - 1)), high)


def curve_works(measured: Sequence[Cell]) -> tuple[float, ...]:
    """Values of T at which a model is evaluated for these cells: evenly spaced, and those of the cells."""
    works = {cell.work_s for cell in measured}
    return tuple(sorted({*works, *log_spaced(min(works), max(works))})) if works else ()


def efficiency_points(name: str, measured: Sequence[Cell], group: str, x: Sequence[float] = ()) -> Series:
    """Measured efficiencies with their intervals, against T or against `x`."""
    positions = x or [cell.work_s for cell in measured]
    points = zip(positions, measured, strict=True)
    return estimates(name, ((position, cell.efficiency, _detail(cell)) for position, cell in points), group)


def efficiency_curve(
    name: str,
    messages: PointToPointCosts,
    works: Sequence[float],
    ranks: int,
    size: int,
    serial: float = 0.0,
    group: str = "",
) -> Series:
    """Equation 6 over T, for ranks that take turns on shared cores, with the band from the fit's interval."""
    algorithms = [
        with_shared_cores(Algorithm(work, size, serial), ranks, messages.max_ranks) for work in works
    ]
    y = tuple(efficiency(algorithm, messages, ranks) for algorithm in algorithms)
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    if (bounds := exchange_bounds(messages, size, ranks)) is not None:
        low = tuple(efficiency(algorithm, messages, ranks, bounds[1]) for algorithm in algorithms)
        high = tuple(efficiency(algorithm, messages, ranks, bounds[0]) for algorithm in algorithms)
    return Series(name=name, x=tuple(works), y=y, low=low, high=high, kind="line", group=group or name)


def break_even_line(works: Sequence[float], ranks: int) -> Series:
    """The efficiency 1/np, at which np ranks are as fast as one."""
    return Series(
        f"break-even of {ranks} ranks", (min(works), max(works)), (1 / ranks, 1 / ranks), kind="line"
    )


def _detail(cell: Cell) -> str:
    summary, efficiency = cell.measured.summary, efficiency_text(cell.efficiency)
    counts = f"{plural(summary.repetitions, 'run')} in {plural(summary.launches, 'launch', 'launches')}"
    return f"{efficiency}, one exchange with its work took {quantity(summary.typical.value, 's')}, {counts}"


MIN_LAUNCHES_OVER_TIME = 6
"""The minimum number of launches for a figure over time."""
MAX_DRAWN_RUNS = 40
"""The maximum number of single runs drawn for one T, evenly spaced in their order by size, including the
fastest and slowest."""


def run_figures(measured: tuple[Cell, ...], messages: PointToPointCosts | None) -> Iterator[Figure]:
    """Figure 1: every single run and the typical one with the shortest message, one figure for each np."""
    for p in sorted({cell.ranks for cell in measured}):
        size, ranks = min(cell.bytes for cell in measured if cell.ranks == p), plural(p, "rank")
        curve = curve_cells(measured, p, size)
        if not curve:
            continue
        works = curve_works(curve)
        drawn = [efficiency_points("typical", curve, ranks), _run_points(curve, ranks)]
        if messages is not None:
            costs = messages.spread_over(curve[0].nodes)
            drawn.append(efficiency_curve("predicted", costs, works, p, size, group=ranks))
        drawn += [break_even_line(works, p)] if p > 1 else []
        yield Figure(
            f"efficiency-runs-{p}",
            f"Every single run on {ranks}, messages of {length_text(size)}",
            WORK_AXIS,
            EFFICIENCY_AXIS,
            tuple(drawn),
            f"Each run repeats the work and the exchange {ITERATIONS} times. Hollow points are single runs: "
            f"at most {MAX_DRAWN_RUNS} for each T, including the fastest and the slowest.",
        )


def time_figure(measured: tuple[Cell, ...]) -> Figure | None:
    """The efficiency of repeated measurements over time; None for a few launches back to back."""
    counts = rank_counts(measured)
    if not counts:
        return None
    p, size = counts[0], min(lengths(measured))
    curve = curve_cells(measured, p, size)
    cells_shown = thin_out(curve, 4)
    start_s = min((started_s for cell in cells_shown for started_s in cell.started_s), default=0.0)
    drawn = [
        _time_series(cell, start_s) for cell in cells_shown if len(cell.started_s) >= MIN_LAUNCHES_OVER_TIME
    ]
    if not drawn:
        return None
    return Figure(
        "efficiency-period",
        f"Efficiency of {p} ranks over the period, messages of {length_text(size)}",
        Axis("time since the first round", "s", "linear"),
        EFFICIENCY_AXIS,
        tuple(drawn),
        "One point per round: the median of its runs; the bar covers the middle half of them.",
    )


def length_figures(measured: tuple[Cell, ...], messages: PointToPointCosts | None) -> Iterator[Figure]:
    """Figures 2 and 3: one for each number of ranks, with one curve for each length."""
    for p in rank_counts(measured):
        drawn: list[Series] = []
        for size in lengths(measured):
            if curve := curve_cells(measured, p, size):
                drawn += _measured_and_predicted(messages, curve, p, size, length_text(size))
        if drawn:
            works = [cell.work_s for cell in measured if cell.ranks == p]
            yield Figure(
                f"efficiency-{p}",
                f"Efficiency of {p} ranks",
                WORK_AXIS,
                EFFICIENCY_AXIS,
                (*drawn, break_even_line(works, p)),
                "Points: typical efficiencies with 95% intervals. Lines: predicted from the model of one "
                "message, with its 95% band. There is no serial work.",
            )


def serial_figures(measured: tuple[Cell, ...], messages: PointToPointCosts | None) -> Iterator[Figure]:
    """The effect of a serial fraction with the shortest message."""
    for p in rank_counts(measured):
        size = min(cell.bytes for cell in measured if cell.ranks == p)
        fractions = sorted({c.serial for c in measured if (c.ranks, c.bytes) == (p, size) and c.is_even})
        if len(fractions) < 2:
            continue
        drawn: list[Series] = []
        for serial in fractions:
            curve = curve_cells(measured, p, size, serial)
            drawn += _measured_and_predicted(messages, curve, p, size, f"s = {100 * serial:g}%", serial)
        yield Figure(
            f"serial-{p}",
            f"Efficiency of {p} ranks with a serial part of the work",
            WORK_AXIS,
            EFFICIENCY_AXIS,
            tuple(drawn),
            f"Messages of {length_text(size)}. However large T is, the efficiency stays below "
            + ", ".join(
                f"{percent_text(1 / (1 - fraction + p * fraction))} with s = {100 * fraction:g}%"
                for fraction in fractions
                if fraction
            )
            + ".",
        )


def collapsed_figure(measured: tuple[Cell, ...], messages: PointToPointCosts) -> Figure | None:
    """All lengths on one curve, x / (x + np - 1), where x is T relative to its break-even work."""
    drawn: list[Series] = []
    for p in rank_counts(measured):
        cells = [cell for cell in measured if cell.ranks == p and cell.is_even and not cell.serial]
        break_even_works = [
            break_even(Algorithm(1.0, cell.bytes), messages.spread_over(cell.nodes), p) for cell in cells
        ]
        relative_works = [
            cell.work_s / break_even_work
            for cell, break_even_work in zip(cells, break_even_works, strict=True)
            if break_even_work
        ]
        if len(relative_works) < len(cells) or not relative_works:
            continue
        xs = log_spaced(min(*relative_works, 1.0), max(*relative_works, 1.0))
        group = f"{p} ranks"
        drawn += [
            efficiency_points(f"{group}, all lengths", cells, group, relative_works),
            Series(f"{group}, equation 2", xs, tuple(x / (x + p - 1) for x in xs), kind="line", group=group),
        ]
    if not drawn:
        return None
    return Figure(
        "efficiency-collapsed",
        "Efficiency against T relative to its break-even work",
        Axis("T relative to the predicted break-even work", ""),
        EFFICIENCY_AXIS,
        tuple(drawn),
        "By equation 2, all lengths and all machines lie on one curve for each number of ranks, "
        "including the paper's SUNs. A point off the curve shows that the prediction is wrong.",
        marks=((1.0, "break-even"),),
    )


def _measured_and_predicted(
    messages: PointToPointCosts | None,
    curve: Sequence[Cell],
    ranks: int,
    size: int,
    group: str,
    serial: float = 0.0,
) -> list[Series]:
    drawn = [efficiency_points(group, curve, group)]
    if messages is not None:
        works, costs = curve_works(curve), messages.spread_over(curve[0].nodes)
        drawn.append(efficiency_curve(f"{group}, predicted", costs, works, ranks, size, serial, group))
    return drawn


def _run_points(curve: Sequence[Cell], group: str) -> Series:
    points = [
        (cell.work_s, efficiency)
        for cell in curve
        for efficiency in thin_out(sorted(cell.run_efficiencies), MAX_DRAWN_RUNS)
    ]
    return Series("single runs", tuple(x for x, _ in points), tuple(y for _, y in points), group=group)


def _time_series(cell: Cell, start_s: float) -> Series:
    rounds = [
        (time_s - start_s, sorted(runs))
        for time_s, runs in zip(cell.started_s, cell.efficiencies_by_launch, strict=True)
        if runs
    ]
    return Series(
        name=f"T = {quantity(cell.work_s, 's')}",
        x=tuple(time_s for time_s, _ in rounds),
        y=tuple(median(runs) for _, runs in rounds),
        low=tuple(_quantile(runs, 0.25) for _, runs in rounds),
        high=tuple(_quantile(runs, 0.75) for _, runs in rounds),
        detail=tuple(plural(len(runs), "run") for _, runs in rounds),
    )


def _quantile(sorted_values: Sequence[float], fraction: float) -> float:
    return sorted_values[round(fraction * (len(sorted_values) - 1))]


def measured_against_predicted(checked: Sequence[CheckedCell], counts: Sequence[int]) -> Figure:
    values = [value for entry in checked for value in (entry.predicted.value, entry.cell.efficiency.value)]
    diagonal = (min(values), max(values))
    drawn = []
    for p in counts:
        cells = [entry for entry in checked if entry.cell.ranks == p]
        name = plural(p, "rank")
        x = [entry.predicted.value for entry in cells]
        drawn.append(efficiency_points(name, [entry.cell for entry in cells], name, x))
    return Figure(
        "validation",
        "Measured against predicted efficiency",
        Axis("predicted efficiency", "%", "linear"),
        Axis("measured efficiency", "%", "linear"),
        (*drawn, Series("as predicted", diagonal, diagonal, kind="line")),
        "One point per cell of the grid, with the 95% interval of the measurement.",
    )


def prediction_errors(checked: Sequence[CheckedCell], counts: Sequence[int]) -> Figure:
    drawn = []
    for p in counts:
        cells = [entry for entry in checked if entry.cell.ranks == p]
        name = plural(p, "rank")
        drawn.append(
            Series(
                name,
                tuple(entry.cell.work_s for entry in cells),
                tuple(entry.error for entry in cells),
                group=name,
                detail=tuple(_cell_text(entry) for entry in cells),
            )
        )
    works = [entry.cell.work_s for entry in checked]
    zero = Series("as predicted", (min(works), max(works)), (0.0, 0.0), kind="line")
    return Figure(
        "validation-error",
        "Error of the prediction against T",
        WORK_AXIS,
        Axis("measured minus predicted efficiency", "%", "linear"),
        (*drawn, zero),
        "Above the line the ranks were more efficient than predicted.",
    )


def _cell_text(entry: CheckedCell) -> str:
    cell = entry.cell
    return f"{length_text(cell.bytes)}, s = {cell.serial:g}" + ("" if cell.is_even else f", {cell.shares}")


RANK_COUNTS = (2, 4, 8)
EXTREME_LENGTHS = (1 * WORD_BYTES, 10000 * WORD_BYTES)
LENGTHS = (1 * WORD_BYTES, 1000 * WORD_BYTES, 10000 * WORD_BYTES)
MAX_SERIAL, SERIAL_STEPS = 0.2, 100
MAX_RANKS = 16
GRID_POINTS = 30
COARSE_EFFICIENCY = 0.98
EFFICIENCY_LEVELS = ((0.25, "25%"), (0.5, "50%"), (0.8, "80%"), (0.9, "90%"))


def serial_level_figures(
    messages: PointToPointCosts, name: str, works: tuple[float, ...]
) -> tuple[Figure, ...]:
    """Figure 4 as lines of equal efficiency, once for messages of one word and once for 10000 words."""
    serial = tuple(MAX_SERIAL * index / SERIAL_STEPS for index in range(SERIAL_STEPS + 1))
    return tuple(
        Figure(
            f"levels-serial-{name}-{size // WORD_BYTES}",
            f"T that an efficiency needs, over the serial fraction, {length_text(size)}: {messages.title}",
            SHORT_WORK_AXIS,
            Axis("serial fraction s", "%", "linear"),
            tuple(
                line
                for p in RANK_COUNTS
                for line in _level_lines(
                    f"{p} ranks",
                    ((1 / p, "break-even"), (0.8, "80%"), (0.9, "90%")),
                    [(fraction, Algorithm(1.0, size, fraction), p) for fraction in serial],
                    messages,
                    works,
                )
            ),
            f"Equation 6 with messages of {length_text(size)}. To the left of the break-even line, the "
            "algorithm is slower than on one rank. A line ends where no T is enough.",
        )
        for size in EXTREME_LENGTHS
    )


def ranks_level_figure(messages: PointToPointCosts, name: str, works: tuple[float, ...]) -> Figure:
    """Figure 5 as lines of equal efficiency, without serial work. Odd numbers of ranks exchange in other
    steps than even ones and would make the lines jagged."""
    return Figure(
        f"levels-ranks-{name}",
        f"T that an efficiency needs, over the ranks: {messages.title}",
        SHORT_WORK_AXIS,
        Axis("ranks", "ranks", "linear"),
        tuple(
            line
            for size in LENGTHS
            for line in _level_lines(
                length_text(size),
                EFFICIENCY_LEVELS,
                [(float(p), Algorithm(1.0, size), p) for p in range(2, MAX_RANKS + 1, 2)],
                messages,
                works,
            )
        ),
        "Equation 2 at even numbers of ranks. 50% is the break-even of 2 ranks, 25% that of 4.",
    )


def _level_lines(
    name: str,
    levels: Sequence[tuple[float, str]],
    rows: Sequence[tuple[float, Algorithm, int]],
    messages: PointToPointCosts,
    works: Sequence[float],
) -> Iterator[Series]:
    """The lines of the T required for each efficiency, within `works`. `rows` contains positions on the
    vertical axis with algorithms and ranks. Efficiencies that are never reached have no line."""
    for level, label in levels:
        works_by_position = [(required_work(level, algorithm, messages, p), y) for y, algorithm, p in rows]
        points = [(work, y) for work, y in works_by_position if work is not None]
        visible_points = [(work, y) for work, y in points if works[0] <= work <= works[-1]]
        if visible_points:
            xs, ys = zip(*visible_points, strict=True)
            yield Series(f"{name}, {label}", xs, ys, kind="line", group=name)


def works_grid(messages: PointToPointCosts) -> tuple[float, ...]:
    """Values of T from below the earliest break-even to where the longest messages on 8 ranks hardly
    matter."""
    low = min(break_even(Algorithm(1.0, EXTREME_LENGTHS[0]), messages, p) or 1.0 for p in RANK_COUNTS)
    high = max(
        required_work(COARSE_EFFICIENCY, Algorithm(1.0, EXTREME_LENGTHS[1]), messages, p) or 1.0
        for p in RANK_COUNTS
    )
    steps = half_decades_around(low / 3, high)
    return log_spaced(steps[0], steps[-1], GRID_POINTS)


PAPERS_GRID = log_spaced(0.001, 100.0, GRID_POINTS)
"""Works from below the break-even of 8 SUNs to where their longest messages hardly matter."""

EXPLORER_SCRIPT = "efficiency"
EXPLORER_WORK_S = (1e-6, 1000.0)
MAX_BYTES = 1 << 22
UNLIMITED_BYTES = 1 << 40
"""The largest size for descriptions, which apply to messages of any length."""
EXPLORER_RANKS = 1024
INITIAL_WORK_S, INITIAL_BYTES = 100e-6, 40_000
"""The work and message size shown initially."""
EXPLORER_EFFICIENCIES = (0.5, 0.8, 0.9)


@dataclass(frozen=True)
class EfficiencyExplorer:
    """`work_s`, `bytes`, `serial` and `ranks` are (lowest, highest, initial value). The first machine is
    shown initially; its `max_size`, `max_ranks` and `source` (its note) are set."""

    machines: tuple[PointToPointCosts, ...]
    work_s: tuple[float, float, float]
    bytes: tuple[int, int, int]
    serial: tuple[float, float, float]
    ranks: tuple[int, int, int]

    def __post_init__(self) -> None:
        if not self.machines:
            raise ValueError("an explorer needs at least one machine")

    def widget(self, name: str, title: str, caption: str = "") -> Widget:
        return Widget(name, title, EXPLORER_SCRIPT, self.data(), self.fallback(name), caption)

    def data(self) -> dict[str, Any]:
        """The input of the page's script."""
        return {
            "machines": [machine_data(machine) for machine in self.machines],
            "work_s": self.work_s,
            "bytes": self.bytes,
            "serial": self.serial,
            "ranks": self.ranks,
        }

    def fallback(self, name: str) -> Table:
        """A row for each machine, at the initial values."""
        ranks = self.ranks[2]
        algorithm = Algorithm(self.work_s[2], self.bytes[2], self.serial[2])
        return Table(
            name=name,
            title=f"{format_seconds(algorithm.work_s)} of work, messages of {format_bytes(algorithm.bytes)}, "
            f"{format_percent(algorithm.serial)} serial, {plural(ranks, 'rank')}",
            columns=(
                "machine",
                "exchange",
                "efficiency",
                "break-even work",
                *(f"work for {format_percent(efficiency)}" for efficiency in EXPLORER_EFFICIENCIES),
                "best number of ranks",
            ),
            rows=tuple(_machine_row(machine, algorithm, ranks) for machine in self.machines),
            numeric=tuple(range(1, 8)),
        )


def explorer(messages: PointToPointCosts | None, name: str = "") -> Widget:
    """The explorer. `name` is that of the measured simulated machine, which is then not listed twice."""
    measured_machines = [] if messages is None else [_bounded_costs(messages, _costs_note(messages))]
    published_machines = [
        _bounded_costs(machine, note)
        for machine, note in costs.published_costs()
        if machine.name != name or not measured_machines
    ]
    max_ranks = max(2, *(entry.max_ranks or 0 for entry in (*measured_machines, *published_machines)))
    explorer = EfficiencyExplorer(
        machines=(*measured_machines, *published_machines),
        work_s=(*EXPLORER_WORK_S, INITIAL_WORK_S),
        bytes=(0, MAX_BYTES, INITIAL_BYTES),
        serial=(0.0, 1.0, 0.0),
        ranks=(1, min(EXPLORER_RANKS, max_ranks), 2),
    )
    return explorer.widget(
        "explorer",
        "Which efficiency will I get?",
        "This machine's numbers come from the section on the cost of messages.",
    )


def machine_data(machine: PointToPointCosts) -> dict[str, Any]:
    """A machine's costs of all messages, or of messages between nodes; `near` contains the costs within a
    node if they differ."""
    return _level_data(machine) | {
        "name": machine.name,
        "title": machine.title,
        "note": machine.source,
        "shared": machine.shared,
        "most_bytes": machine.max_size,
        "most_ranks": machine.max_ranks or EXPLORER_RANKS,
        "cores_known": machine.max_ranks is not None,
        "medium": machine.medium,
        "half_duplex_s_per_byte": machine.half_duplex_s_per_byte,
        "network": machine.place == NETWORK,
        "near": _level_data(machine.within_node) if machine.within_node else None,
        "cores": machine.per_node(1) if machine.within_node else 0,
    }


def _level_data(costs: PointToPointCosts) -> dict[str, Any]:
    """The costs at one level. `eager` is None if it applies to all sizes."""
    return {
        "pieces": [(piece.min_size, piece.latency_s, piece.per_byte_s) for piece in costs.pieces],
        "band": [(bounds.bytes, bounds.low, bounds.high) for bounds in costs.band],
        "changes": costs.changes,
        "eager": int(costs.eager_limit) if costs.eager_limit < UNLIMITED_BYTES else None,
        "node": _sharing_data(costs.node_sharing) if costs.node_sharing else None,
    }


def _sharing_data(sharing: NodeSharing) -> dict[str, Any]:
    is_limited = math.isfinite(sharing.rate)
    return {
        "rate": sharing.rate if is_limited else None,
        "gap_s": sharing.gap_s,
        "ends": sharing.rate_bounds if is_limited else None,
    }


def _bounded_costs(messages: PointToPointCosts, note: str) -> PointToPointCosts:
    """Copy of the costs with `note` as their source, and with a finite largest size."""
    return replace(
        messages, source=note, max_size=UNLIMITED_BYTES if messages.max_size is None else messages.max_size
    )


def _machine_row(machine: PointToPointCosts, algorithm: Algorithm, ranks: int) -> tuple[str, ...]:
    original, algorithm = algorithm, with_shared_cores(algorithm, ranks, machine.max_ranks)
    current_times = times(algorithm, machine, ranks)
    required_works = [
        required_work(efficiency, algorithm, machine, ranks) for efficiency in EXPLORER_EFFICIENCIES
    ]
    max_ranks = machine.max_ranks or EXPLORER_RANKS
    return (
        machine.title,
        format_seconds(current_times.communication),
        format_percent(current_times.efficiency),
        *(
            f"at most {format_percent(ceiling(algorithm, ranks))}" if work is None else format_seconds(work)
            for work in (break_even(algorithm, machine, ranks), *required_works)
        ),
        f"{best_ranks(original, machine, max_ranks)} of {max_ranks}",
    )


def _costs_note(messages: PointToPointCosts) -> str:
    verdict = f"a {messages.verdict} fit of " if messages.verdict else ""
    return f"{verdict}{messages.source}; {network_kind(messages)}" + (
        f", {messages.why}" if messages.why else ""
    )
