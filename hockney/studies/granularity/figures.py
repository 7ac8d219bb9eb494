# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measured efficiency against T, with the model's curves: the paper's figures 1 to 3; and its figures 4 and
5, the model's efficiency over T and the serial fraction, and over T and np."""

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
from hockney.studies.granularity.columns import efficiency_text, length, share
from hockney.studies.granularity.plan import ITERATIONS, WORD
from hockney.studies.granularity.results import Cell, lengths, line, rank_counts
from hockney.studies.granularity.validation import Checked

WORK = Axis("T, work on one rank between two exchanges", "s")
SHORT_WORK = Axis("work T", "s")
"""In space an axis is shorter."""
EFFICIENCY = Axis("efficiency", "%", "linear")
STEPS = 60


def log_spaced(low: float, high: float, count: int = STEPS) -> tuple[float, ...]:
    """`count` values from `low` to `high`, evenly on a log scale."""
    if count < 2 or high <= low:
        return (low,)
    ratio = math.log(high / low) / (count - 1)
    return (low, *(low * math.exp(k * ratio) for k in range(1, count - 1)), high)


def curve_works(measured: Sequence[Cell]) -> tuple[float, ...]:
    """Values of T at which to evaluate a model next to these cells: spaced evenly, and exactly at the
    cells."""
    works = {cell.work_s for cell in measured}
    return tuple(sorted({*works, *log_spaced(min(works), max(works))})) if works else ()


def efficiency_points(name: str, measured: Sequence[Cell], group: str, x: Sequence[float] = ()) -> Series:
    """Measured efficiencies with their intervals, against T or against `x`."""
    places = x or [cell.work_s for cell in measured]
    points = zip(places, measured, strict=True)
    return estimates(name, ((at, cell.efficiency, _detail(cell)) for at, cell in points), group)


def efficiency_curve(
    name: str,
    messages: PointToPointCosts,
    at: Sequence[float],
    ranks: int,
    size: int,
    serial: float = 0.0,
    group: str = "",
) -> Series:
    """Equation 6 over T, with ranks that share cores taking turns, with the band from the fit's interval."""
    algorithms = [with_shared_cores(Algorithm(work, size, serial), ranks, messages.max_ranks) for work in at]
    y = tuple(efficiency(a, messages, ranks) for a in algorithms)
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    if (ends := exchange_bounds(messages, size, ranks)) is not None:
        low = tuple(efficiency(a, messages, ranks, ends[1]) for a in algorithms)
        high = tuple(efficiency(a, messages, ranks, ends[0]) for a in algorithms)
    return Series(name=name, x=tuple(at), y=y, low=low, high=high, kind="line", group=group or name)


def break_even_line(at: Sequence[float], ranks: int) -> Series:
    """Efficiency 1/np: no faster than one rank."""
    return Series(f"break-even of {ranks} ranks", (min(at), max(at)), (1 / ranks, 1 / ranks), kind="line")


def _detail(cell: Cell) -> str:
    s, reached = cell.measured.summary, efficiency_text(cell.efficiency)
    counts = f"{plural(s.repetitions, 'run')} in {plural(s.launches, 'launch', 'launches')}"
    return f"{reached}, one exchange with its work took {quantity(s.typical.value, 's')}, {counts}"


MIN_ROUNDS = 6
"""The minimum number of launches for a course over time."""
MAX_RUNS = 40
"""Single runs drawn for one T: evenly chosen from all in order of size, including the fastest and slowest."""


def runs(measured: tuple[Cell, ...], messages: PointToPointCosts | None) -> Iterator[Figure]:
    """Figure 1: every single run and the typical one with the shortest message, one figure for each np."""
    for p in sorted({cell.ranks for cell in measured}):
        size, ranks = min(cell.bytes for cell in measured if cell.ranks == p), plural(p, "rank")
        curve = line(measured, p, size)
        if not curve:
            continue
        at = curve_works(curve)
        drawn = [efficiency_points("typical", curve, ranks), _cloud(curve, ranks)]
        if messages is not None:
            costs = messages.spread_over(curve[0].nodes)
            drawn.append(efficiency_curve("predicted", costs, at, p, size, group=ranks))
        drawn += [break_even_line(at, p)] if p > 1 else []
        yield Figure(
            f"efficiency-runs-{p}",
            f"Every single run on {ranks}, messages of {length(size)}",
            WORK,
            EFFICIENCY,
            tuple(drawn),
            f"Each run repeats the work and the exchange {ITERATIONS} times. Hollow points are single runs: "
            f"at most {MAX_RUNS} for each T, including the fastest and the slowest.",
        )


def period(measured: tuple[Cell, ...]) -> Figure | None:
    """The efficiency of repeated measurements over time; None for a few launches back to back."""
    counts = rank_counts(measured)
    if not counts:
        return None
    p, size = counts[0], min(lengths(measured))
    curve = line(measured, p, size)
    cells_shown = thin_out(curve, 4)
    began = min((t for cell in cells_shown for t in cell.started_s), default=0.0)
    drawn = [_course(cell, began) for cell in cells_shown if len(cell.started_s) >= MIN_ROUNDS]
    if not drawn:
        return None
    return Figure(
        "efficiency-period",
        f"Efficiency of {p} ranks over the period, messages of {length(size)}",
        Axis("time since the first round", "s", "linear"),
        EFFICIENCY,
        tuple(drawn),
        "One point per round: the median of its runs; the bar covers the middle half of them.",
    )


def by_length(measured: tuple[Cell, ...], messages: PointToPointCosts | None) -> Iterator[Figure]:
    """Figures 2 and 3: one for each number of ranks, one curve for each length."""
    for p in rank_counts(measured):
        drawn: list[Series] = []
        for size in lengths(measured):
            if curve := line(measured, p, size):
                drawn += _pair(messages, curve, p, size, length(size))
        if drawn:
            works = [cell.work_s for cell in measured if cell.ranks == p]
            yield Figure(
                f"efficiency-{p}",
                f"Efficiency of {p} ranks",
                WORK,
                EFFICIENCY,
                (*drawn, break_even_line(works, p)),
                "Points: typical efficiencies with 95% intervals. Lines: predicted from the model of one "
                "message, with its 95% band. There is no serial work.",
            )


def by_serial(measured: tuple[Cell, ...], messages: PointToPointCosts | None) -> Iterator[Figure]:
    """The effect of a serial fraction, at the shortest message."""
    for p in rank_counts(measured):
        size = min(cell.bytes for cell in measured if cell.ranks == p)
        fractions = sorted({c.serial for c in measured if (c.ranks, c.bytes) == (p, size) and c.even})
        if len(fractions) < 2:
            continue
        drawn: list[Series] = []
        for serial in fractions:
            curve = line(measured, p, size, serial)
            drawn += _pair(messages, curve, p, size, f"s = {100 * serial:g}%", serial)
        yield Figure(
            f"serial-{p}",
            f"Efficiency of {p} ranks with a serial part of the work",
            WORK,
            EFFICIENCY,
            tuple(drawn),
            f"Messages of {length(size)}. However large T is, the efficiency stays below "
            + ", ".join(f"{share(1 / (1 - s + p * s))} with s = {100 * s:g}%" for s in fractions if s)
            + ".",
        )


def collapsed(measured: tuple[Cell, ...], messages: PointToPointCosts) -> Figure | None:
    """All lengths on one curve: against T relative to its break-even work, x / (x + np - 1)."""
    drawn: list[Series] = []
    for p in rank_counts(measured):
        cells = [c for c in measured if c.ranks == p and c.even and not c.serial]
        even = [break_even(Algorithm(1.0, c.bytes), messages.spread_over(c.nodes), p) for c in cells]
        at = [c.work_s / e for c, e in zip(cells, even, strict=True) if e]
        if len(at) < len(cells) or not at:
            continue
        xs = log_spaced(min(*at, 1.0), max(*at, 1.0))
        group = f"{p} ranks"
        drawn += [
            efficiency_points(f"{group}, all lengths", cells, group, at),
            Series(f"{group}, equation 2", xs, tuple(x / (x + p - 1) for x in xs), kind="line", group=group),
        ]
    if not drawn:
        return None
    return Figure(
        "efficiency-collapsed",
        "Efficiency against T relative to its break-even work",
        Axis("T relative to the predicted break-even work", ""),
        EFFICIENCY,
        tuple(drawn),
        "By equation 2, all lengths and all machines lie on one curve for each number of ranks, "
        "including the paper's SUNs. A point off the curve shows that the prediction is wrong.",
        marks=((1.0, "break-even"),),
    )


def _pair(
    messages: PointToPointCosts | None,
    curve: Sequence[Cell],
    ranks: int,
    size: int,
    group: str,
    serial: float = 0.0,
) -> list[Series]:
    drawn = [efficiency_points(group, curve, group)]
    if messages is not None:
        at, costs = curve_works(curve), messages.spread_over(curve[0].nodes)
        drawn.append(efficiency_curve(f"{group}, predicted", costs, at, ranks, size, serial, group))
    return drawn


def _cloud(curve: Sequence[Cell], group: str) -> Series:
    places = [(cell.work_s, e) for cell in curve for e in thin_out(sorted(cell.runs), MAX_RUNS)]
    return Series("single runs", tuple(x for x, _ in places), tuple(y for _, y in places), group=group)


def _course(cell: Cell, began: float) -> Series:
    rounds = [
        (t - began, sorted(runs)) for t, runs in zip(cell.started_s, cell.by_launch, strict=True) if runs
    ]
    return Series(
        name=f"T = {quantity(cell.work_s, 's')}",
        x=tuple(t for t, _ in rounds),
        y=tuple(median(runs) for _, runs in rounds),
        low=tuple(_quantile(runs, 0.25) for _, runs in rounds),
        high=tuple(_quantile(runs, 0.75) for _, runs in rounds),
        detail=tuple(plural(len(runs), "run") for _, runs in rounds),
    )


def _quantile(ordered: Sequence[float], part: float) -> float:
    return ordered[round(part * (len(ordered) - 1))]


def measured_against_predicted(checked: Sequence[Checked], counts: Sequence[int]) -> Figure:
    ends = [v for each in checked for v in (each.predicted.value, each.cell.efficiency.value)]
    diagonal = (min(ends), max(ends))
    drawn = []
    for p in counts:
        cells = [each for each in checked if each.cell.ranks == p]
        name = plural(p, "rank")
        x = [each.predicted.value for each in cells]
        drawn.append(efficiency_points(name, [each.cell for each in cells], name, x))
    return Figure(
        "validation",
        "Measured against predicted efficiency",
        Axis("predicted efficiency", "%", "linear"),
        Axis("measured efficiency", "%", "linear"),
        (*drawn, Series("as predicted", diagonal, diagonal, kind="line")),
        "One point per cell of the grid, with the 95% interval of the measurement.",
    )


def prediction_errors(checked: Sequence[Checked], counts: Sequence[int]) -> Figure:
    drawn = []
    for p in counts:
        cells = [each for each in checked if each.cell.ranks == p]
        name = plural(p, "rank")
        drawn.append(
            Series(
                name,
                tuple(each.cell.work_s for each in cells),
                tuple(each.error for each in cells),
                group=name,
                detail=tuple(_cell_text(each) for each in cells),
            )
        )
    works = [each.cell.work_s for each in checked]
    zero = Series("as predicted", (min(works), max(works)), (0.0, 0.0), kind="line")
    return Figure(
        "validation-error",
        "Error of the prediction against T",
        WORK,
        Axis("measured minus predicted efficiency", "%", "linear"),
        (*drawn, zero),
        "Above the line the ranks were more efficient than predicted.",
    )


def _cell_text(each: Checked) -> str:
    cell = each.cell
    return f"{length(cell.bytes)}, s = {cell.serial:g}" + ("" if cell.even else f", {cell.shares}")


RANKS = (2, 4, 8)
ENDS = (1 * WORD, 10000 * WORD)
LENGTHS = (1 * WORD, 1000 * WORD, 10000 * WORD)
MAX_SERIAL, SERIAL_STEPS = 0.2, 100
MAX_RANKS = 16
GRID = 30
COARSE = 0.98
LEVELS = ((0.25, "25%"), (0.5, "50%"), (0.8, "80%"), (0.9, "90%"))


def of_serial(messages: PointToPointCosts, name: str, works: tuple[float, ...]) -> tuple[Figure, ...]:
    """Figure 4 as lines of equal efficiency, once with messages of one word and once of 10000."""
    serial = tuple(MAX_SERIAL * k / SERIAL_STEPS for k in range(SERIAL_STEPS + 1))
    return tuple(
        Figure(
            f"levels-serial-{name}-{size // WORD}",
            f"T that an efficiency needs, over the serial fraction, {length(size)}: {messages.title}",
            SHORT_WORK,
            Axis("serial fraction s", "%", "linear"),
            tuple(
                line
                for p in RANKS
                for line in _level_lines(
                    f"{p} ranks",
                    ((1 / p, "break-even"), (0.8, "80%"), (0.9, "90%")),
                    [(s, Algorithm(1.0, size, s), p) for s in serial],
                    messages,
                    works,
                )
            ),
            f"Equation 6 with messages of {length(size)}. To the left of the break-even line, the "
            "algorithm is slower than on one rank. A line ends where no T is enough.",
        )
        for size in ENDS
    )


def of_ranks(messages: PointToPointCosts, name: str, works: tuple[float, ...]) -> Figure:
    """Figure 5 as lines of equal efficiency, without serial work. Odd numbers of ranks exchange in other
    steps than even ones, and would make waves."""
    return Figure(
        f"levels-ranks-{name}",
        f"T that an efficiency needs, over the ranks: {messages.title}",
        SHORT_WORK,
        Axis("ranks", "ranks", "linear"),
        tuple(
            line
            for size in LENGTHS
            for line in _level_lines(
                length(size),
                LEVELS,
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
    """The line of the T that each efficiency needs, as far as that is among `works`, at each of `rows`: the
    place on the vertical axis, the algorithm and the ranks. No line for an efficiency never reached."""
    for level, label in levels:
        needed = [(required_work(level, algorithm, messages, p), y) for y, algorithm, p in rows]
        places = [(work, y) for work, y in needed if work is not None]
        visible_places = [(work, y) for work, y in places if works[0] <= work <= works[-1]]
        if visible_places:
            xs, ys = zip(*visible_places, strict=True)
            yield Series(f"{name}, {label}", xs, ys, kind="line", group=name)


def grid_of(messages: PointToPointCosts) -> tuple[float, ...]:
    """Values of T from below the earliest break-even to where the longest messages on 8 ranks hardly
    matter."""
    low = min(break_even(Algorithm(1.0, ENDS[0]), messages, p) or 1.0 for p in RANKS)
    high = max(required_work(COARSE, Algorithm(1.0, ENDS[1]), messages, p) or 1.0 for p in RANKS)
    steps = half_decades_around(low / 3, high)
    return log_spaced(steps[0], steps[-1], GRID)


PAPERS_GRID = log_spaced(0.001, 100.0, GRID)
"""From below the break-even of 8 SUNs to where their longest messages hardly matter."""

EXPLORER_SCRIPT = "efficiency"
EXPLORER_WORK_S = (1e-6, 1000.0)
MAX_BYTES = 1 << 22
NO_END = 1 << 40
"""A description holds for messages of any length."""
EXPLORER_RANKS = 1024
FIRST_WORK_S, FIRST_BYTES = 100e-6, 40_000
"""The initial question."""
EXPLORER_EFFICIENCIES = (0.5, 0.8, 0.9)


@dataclass(frozen=True)
class EfficiencyExplorer:
    """Each of `work_s`, `bytes`, `serial` and `ranks` is (lowest, highest, initial value). The first machine
    is shown initially; its `largest`, `most_ranks` and, as its note, `source` are set."""

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
    """`name` is that of the simulated machine that was measured, so that it is not listed twice."""
    here = [] if messages is None else [_bounded_costs(messages, _costs_note(messages))]
    others = [
        _bounded_costs(machine, note)
        for machine, note in costs.published()
        if machine.name != name or not here
    ]
    most = max(2, *(m.max_ranks or 0 for m in (*here, *others)))
    explorer = EfficiencyExplorer(
        machines=(*here, *others),
        work_s=(*EXPLORER_WORK_S, FIRST_WORK_S),
        bytes=(0, MAX_BYTES, FIRST_BYTES),
        serial=(0.0, 1.0, 0.0),
        ranks=(1, min(EXPLORER_RANKS, most), 2),
    )
    return explorer.widget(
        "explorer",
        "Which efficiency will I get?",
        "This machine's numbers come from the section on the cost of messages.",
    )


def machine_data(machine: PointToPointCosts) -> dict[str, Any]:
    """A machine's costs of all messages, or of messages between nodes; `near` are the costs within a node if
    they differ."""
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
    """`eager` is None if it applies to all sizes."""
    return {
        "pieces": [(p.min_size, p.latency_s, p.per_byte_s) for p in costs.pieces],
        "band": [(b.bytes, b.low, b.high) for b in costs.band],
        "changes": costs.changes,
        "eager": int(costs.eager_limit) if costs.eager_limit < NO_END else None,
        "node": _sharing_data(costs.node_sharing) if costs.node_sharing else None,
    }


def _sharing_data(node: NodeSharing) -> dict[str, Any]:
    limited = math.isfinite(node.rate)
    return {
        "rate": node.rate if limited else None,
        "gap_s": node.gap_s,
        "ends": node.rate_bounds if limited else None,
    }


def _bounded_costs(messages: PointToPointCosts, note: str) -> PointToPointCosts:
    """The costs with `note` as their source, and with a finite largest size if they have none."""
    return replace(messages, source=note, max_size=NO_END if messages.max_size is None else messages.max_size)


def _machine_row(machine: PointToPointCosts, algorithm: Algorithm, ranks: int) -> tuple[str, ...]:
    alone, algorithm = algorithm, with_shared_cores(algorithm, ranks, machine.max_ranks)
    now = times(algorithm, machine, ranks)
    needed = [required_work(efficiency, algorithm, machine, ranks) for efficiency in EXPLORER_EFFICIENCIES]
    most = machine.max_ranks or EXPLORER_RANKS
    return (
        machine.title,
        format_seconds(now.communication),
        format_percent(now.efficiency),
        *(
            f"at most {format_percent(ceiling(algorithm, ranks))}" if work is None else format_seconds(work)
            for work in (break_even(algorithm, machine, ranks), *needed)
        ),
        f"{best_ranks(alone, machine, most)} of {most}",
    )


def _costs_note(messages: PointToPointCosts) -> str:
    verdict = f"a {messages.verdict} fit of " if messages.verdict else ""
    return f"{verdict}{messages.source}; {network_kind(messages)}" + (
        f", {messages.why}" if messages.why else ""
    )
