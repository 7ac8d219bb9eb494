# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables, sentences, document and page of a traced program on other numbers of ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hockney.core.units import format_bytes, format_percent
from hockney.core.wording import join_words, plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Caveat, Page, Section, Table
from hockney.extrapolation.answers import (
    DOUBLING_GAIN,
    CollectiveRow,
    EfficiencyLimit,
    Limit,
    MachineScaling,
    limit_of,
)
from hockney.extrapolation.memory import Evidence, MemoryModel
from hockney.extrapolation.scaling import GrainRow, ScalingPoint, SiteShare
from hockney.pages.columns import (
    COUNT_FORMAT,
    INTERVAL_HEADING,
    RATIO_FORMAT,
    SECONDS_FORMAT,
    SHARE_FORMAT,
    Column,
    columns_document,
    columns_table,
    without_intervals,
)
from hockney.pages.format import format_share, quantity
from hockney.replay.answers import WhatIf
from hockney.replay.collectives import CollectiveTiming
from hockney.replay.tables import GAIN, WHAT_IFS, brief, path_columns

MAX_PLACES = 6
SITES: tuple[Column[SiteShare], ...] = (
    Column("call", lambda s: brief(s.site)),
    Column("", lambda s: s.site, key="site"),
    Column("of the time", lambda s: s.share, SHARE_FORMAT, "share"),
    Column("of the calls", lambda s: s.calls, SHARE_FORMAT, "calls"),
    Column("reason", lambda s: s.reason, key="reason"),
)
POINTS: tuple[Column[ScalingPoint], ...] = (
    Column("ranks", lambda p: p.ranks, COUNT_FORMAT, "ranks"),
    Column("run time", lambda p: p.run_s, SECONDS_FORMAT, "run_s", INTERVAL_HEADING),
    Column("speed-up", lambda p: p.speed_up, RATIO_FORMAT, "speed_up"),
    Column("efficiency", lambda p: p.efficiency, SHARE_FORMAT, "efficiency"),
    Column("load balance", lambda p: p.pop.load_balance, SHARE_FORMAT, "load_balance"),
    Column("serialisation", lambda p: p.pop.serialisation, SHARE_FORMAT, "serialisation"),
    Column("transfer", lambda p: p.pop.transfer, SHARE_FORMAT, "transfer"),
    Column("", lambda p: limit_of(p.pop), key="limit"),
    Column("", lambda p: list(p.dims), key="grid"),
    Column("", lambda p: p.messages, key="messages"),
    Column("", lambda p: p.ranks_on_a_node, key="ranks_on_a_node"),
    Column("", lambda p: p.slowdown, key="slowdown"),
    Column("", lambda p: asdict(p.errors), key="errors"),
)
RUN_COLUMNS = 4
"""The first columns are about the run, the others about its efficiency."""
GRID = Column[ScalingPoint]("grid", lambda p: grid_text(p.dims))
LIMIT = Column[ScalingPoint]("largest loss", lambda p: LOSSES[limit_of(p.pop)].partition(" (")[0])
GRAINS: tuple[Column[GrainRow], ...] = (
    Column("", lambda r: r.ranks, key="ranks"),
    Column("", lambda r: r.efficiency, key="efficiency"),
    Column("", lambda r: r.factor, key="factor"),
    Column("", lambda r: r.between_calls_s, key="between_calls_s"),
)


COLLECTIVES: tuple[Column[CollectiveRow], ...] = (
    Column("collective", lambda r: r.operation, key="operation"),
    Column("calls", lambda r: r.calls, COUNT_FORMAT, "calls"),
    Column("algorithm", lambda r: algorithms_text(r.current)),
    Column("fastest", lambda r: None if r.gain is None else algorithms_text(r.fastest), missing="the same"),
    Column("gain", lambda r: r.gain, GAIN, "gain", INTERVAL_HEADING, missing="none"),
    Column("", lambda r: r.current, key="current"),
    Column("", lambda r: r.fastest, key="fastest"),
)
LOSSES: dict[Limit, str] = {
    "load balance": "load imbalance",
    "serialisation": "serialisation (ranks wait for others)",
    "transfer": "transfer (latency, bandwidth and software of messages)",
}
AS_MEASURED = "as measured"
MIN_OVERLAP_GAIN = 0.01
"""Smaller gains by overlap are not in the sentences."""
MAX_SIZES = 3


def grid_text(dims: tuple[int, ...]) -> str:
    return " x ".join(map(str, dims)) if len(dims) > 1 else ""


def algorithms_text(timings: tuple[CollectiveTiming, ...]) -> str:
    """The algorithms, with the sizes for which they are used if there are several."""
    sizes: dict[str, set[int]] = {}
    for timing in timings:
        sizes.setdefault(timing.algorithm or AS_MEASURED, set()).add(timing.size)
    if len(sizes) == 1:
        return next(iter(sizes))
    texts = []
    for name, of_name in sizes.items():
        ordered = sorted(of_name)
        of_first = ", ".join(map(format_bytes, ordered[:MAX_SIZES]))
        texts.append(f"{name} ({of_first}{', ...' if len(ordered) > MAX_SIZES else ''})")
    return "; ".join(texts)


def _ranks_text(limit: EfficiencyLimit) -> str:
    ranks = round(limit.ranks.value)
    if limit.position != "within":
        return f"{limit.position} {ranks}"
    low, high = limit.ranks.low, limit.ranks.high
    return f"{ranks}" if low is None or high is None else f"{ranks} ({round(low)} to {round(high)})"


def _limit_text(limit: EfficiencyLimit) -> str:
    prefix = "at about " if limit.position == "within" else ""
    return f"{prefix}{_ranks_text(limit)} ranks"


@dataclass(frozen=True)
class ScalingAnswer:
    """How a program scales from `traced` numbers of ranks to those of each machine's points. `refused` says
    that sites whose structure is not known take too much of the time, or make too many of the calls; there
    are then no points."""

    program: str
    scaling: str
    traced: tuple[int, ...]
    computed_on: tuple[int, ...]
    machines: tuple[MachineScaling, ...]
    unknown_sites: tuple[SiteShare, ...] = ()
    refused: str = ""
    caveats: tuple[Caveat, ...] = ()
    memory: MemoryModel | None = None

    @property
    def first(self) -> MachineScaling:
        return self.machines[0]

    @property
    def points(self) -> tuple[ScalingPoint, ...]:
        """The points of all machines."""
        return tuple(point for machine in self.machines for point in machine.points)

    @property
    def sentences(self) -> Iterator[str]:
        if self.refused:
            traced = ", ".join(map(str, self.traced))
            yield f"{self.program} on more ranks, from traces on {traced} ranks: refused."
            yield f"{self.refused}."
        elif len(self.machines) > 1:
            best = min(self.machines, key=lambda machine: machine.fastest.run_s.value)
            yield (
                f"{self.program}, {self.scaling} scaling: fastest on {best.machine}, with "
                f"{_fastest_text(best)}."
            )
        else:
            yield (
                f"{self.program} on {self.first.machine}, {self.scaling} scaling: fastest on "
                f"{_fastest_text(self.first)}."
            )
            yield from _machine_sentences(self.first)
        if self.memory is not None and not self.refused:
            yield from _memory_sentences(self.memory, self.points)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables for a terminal."""
        unknown = self._unknown_tables(MAX_PLACES)
        if self.refused:
            return unknown
        if len(self.machines) > 1:
            return (self.machines_table, self.run_times_table, *unknown)
        fastest = self.first.fastest
        grains = [row for row in self.first.grains if row.ranks == fastest.ranks]
        details = self._detail_tables(self.first, grains, MAX_PLACES)
        return (self.points_table(self.first), *details, *unknown)

    @staticmethod
    def points_table(machine: MachineScaling) -> Table:
        columns = (POINTS[0], *_grid_columns(machine), *POINTS[1:])
        return columns_table("scaling", "Scaling", columns, machine.points)

    @property
    def machines_table(self) -> Table:
        return columns_table("machines", "Machines", MACHINES, self.machines)

    @property
    def run_times_table(self) -> Table:
        """A column for each machine."""
        columns = [Column[int]("ranks", lambda ranks: ranks, COUNT_FORMAT)]
        for machine in self.machines:
            by_ranks = {point.ranks: point.run_s for point in machine.points}
            columns.append(Column(machine.machine, by_ranks.get, SECONDS_FORMAT))
        ranks = sorted({point.ranks for point in self.points})
        return columns_table("run-times", "Run times", columns, ranks)

    @staticmethod
    def _detail_tables(machine: MachineScaling, grains: list[GrainRow], places: int) -> Iterator[Table]:
        if not machine.details:
            return
        fastest = machine.fastest
        ranks = plural(fastest.ranks, "rank")
        yield columns_table("what-if", f"Changes on {ranks}", WHAT_IFS, machine.what_ifs)
        if machine.collectives:
            title = f"Collectives on {plural(machine.largest.ranks, 'rank')}"
            yield columns_table("collectives", title, COLLECTIVES, machine.collectives)
        path = list(fastest.explained.path_rows())[:places]
        yield columns_table("critical-path", f"Critical path on {ranks}", path_columns(path), path)
        yield _grain_table(grains)

    def _unknown_tables(self, places: int) -> tuple[Table, ...]:
        if not self.unknown_sites:
            return ()
        title = "Call sites without a pattern"
        return (columns_table("unknown-sites", title, SITES, self.unknown_sites[:places]),)

    @property
    def document(self) -> dict[str, Any]:
        document = {
            "schema": 1,
            "program": self.program,
            "scaling": self.scaling,
            "traced_ranks": list(self.traced),
            "computation_ranks": list(self.computed_on),
            "refused": bool(self.refused),
            "memory": None if self.memory is None else asdict(self.memory),
            "unknown_sites": columns_document(SITES, self.unknown_sites),
            "warnings": list(self.caveats),
        }
        machines = [_machine_document(machine) for machine in self.machines]
        return document | (machines[0] if len(machines) == 1 else {"machines": machines})

    def page(self) -> Page:
        names = join_words([machine.machine for machine in self.machines])
        sections: list[Section] = []
        if len(self.machines) > 1 and not self.refused:
            sections.append(Section("Machines", tables=(self.machines_table, self.run_times_table)))
        if not self.refused:
            for machine in self.machines:
                sections += self._machine_sections(machine)
        unknown = self._unknown_tables(len(self.unknown_sites))
        sections += [Section(table.title, tables=(table,)) for table in unknown]
        return Page(
            title=f"Scaling of {self.program}",
            subtitle=f"{names}, {self.scaling} scaling",
            headline=tuple(self.sentences),
            warnings=self.caveats,
            sections=tuple(sections),
            environment=(
                ("traced on", f"{', '.join(map(str, self.traced))} ranks"),
                ("computation from", f"{', '.join(map(str, self.computed_on))} ranks"),
            ),
            method=METHOD,
            lead=None if self.refused else speed_up_figure(self.machines),
            results=None if self.refused else self._results,
        )

    @property
    def _results(self) -> Table:
        if len(self.machines) > 1:
            columns = without_intervals(MACHINES[:MACHINE_COLUMNS])
            return columns_table("fastest", "Fastest number of ranks", columns, self.machines)
        return columns_table("scaling", "Scaling", POINTS[:RUN_COLUMNS], self.first.points)

    def _machine_sections(self, machine: MachineScaling) -> Iterator[Section]:
        suffix = f" on {machine.machine}" if len(self.machines) > 1 else ""
        # The table next to the headline has the run times of a single machine.
        results = POINTS[1:] if suffix else POINTS[RUN_COLUMNS:]
        columns = (POINTS[0], *_grid_columns(machine), *results, LIMIT)
        yield Section(
            f"Where the time goes{suffix}",
            tuple(_machine_sentences(machine)) if suffix else (),
            figures=(time_figure(machine),),
            tables=(columns_table("efficiency", "Factors of the efficiency", columns, machine.points),),
        )
        yield Section(
            f"What helps{suffix}",
            tables=tuple(self._detail_tables(machine, list(machine.grains), MAX_PAGE_PLACES)),
        )


def _grain_table(grains: list[GrainRow]) -> Table:
    """A row for each number of ranks, with a column for each efficiency."""
    by_key = {(row.ranks, row.efficiency): row for row in grains}
    columns = [Column[int]("ranks", lambda ranks: ranks, COUNT_FORMAT)]
    for efficiency in dict.fromkeys(row.efficiency for row in grains):
        columns.append(
            Column(
                f"{efficiency:.0%} efficient",
                lambda ranks, efficiency=efficiency: _grain_text(by_key[ranks, efficiency]),  # type: ignore[misc]
                missing="with no amount",
            )
        )
    ranks = dict.fromkeys(row.ranks for row in grains)
    return columns_table("grain", "Computation between calls, for the efficiency", columns, ranks)


def _grain_text(row: GrainRow) -> str | None:
    if row.factor is None or row.between_calls_s is None:
        return None
    return f"with {row.factor:.3g} x, {quantity(row.between_calls_s, 's')}"


def _grid_columns(machine: MachineScaling) -> tuple[Column[ScalingPoint], ...]:
    return (GRID,) if any(len(point.dims) > 1 for point in machine.points) else ()


def _fastest_text(machine: MachineScaling) -> str:
    best = machine.fastest
    count = plural(best.ranks, "rank")
    if len(machine.points) == 1:
        count += " (the only number asked for)"
    elif best is machine.largest:
        count += " (the most asked for)"
    return f"{count}, in {quantity(best.run_s.value, 's')}, {format_share(best.efficiency.value)} efficient"


def _machine_sentences(machine: MachineScaling) -> Iterator[str]:
    positions: dict[str, list[str]] = {}
    for limit in machine.efficiency_limits:
        positions.setdefault(_limit_text(limit), []).append(f"{limit.efficiency:.0%}")
    limits = [f"below {join_words(shares)} {text}" for text, shares in positions.items()]
    yield f"Its efficiency falls {join_words(limits)}."
    if machine.pays_up_to == machine.points[0].ranks:
        yield f"Doubling {machine.pays_up_to} ranks makes it less than {DOUBLING_GAIN} times as fast."
    elif machine.pays_up_to is not None:
        yield (
            f"Each doubling up to {machine.pays_up_to} ranks makes it at least {DOUBLING_GAIN} times as fast."
        )
    best = machine.fastest
    if best.speed_up.value < 1:
        yield "One rank alone would be faster."
    cause = limit_of(best.pop)
    cost = 1 - getattr(best.pop, cause.replace(" ", "_"))
    yield f"What limits it on {best.ranks} ranks: {LOSSES[cause]}, which costs {format_percent(cost, 2)}."
    real = [row for row in machine.what_ifs if row.decided and not _is_ideal(row)]
    if real:
        yield f"The largest gain there: {real[0].text}, {real[0].gain.value:.1%}."
    overlap = machine.overlap
    if overlap is not None and overlap.at_most.value > MIN_OVERLAP_GAIN:
        bound, hidden = (f"{gain.value:.1%}" for gain in (overlap.at_most, overlap.by_availability))
        remainder = "" if hidden == bound else f", and {hidden} with this machine's availability"
        yield f"Nonblocking messages gain at most {bound} on {machine.largest.ranks} ranks{remainder}."


EVIDENCE: dict[Evidence, str] = {
    "same ranks": "by runs of as many ranks on other numbers of cores",
    "instructions": "by the time per instruction on different numbers of cores",
    "law": "as the usual law fits runs with different numbers of busy cores",
    "none": "assumed, as the runs do not show it",
}


def _memory_sentences(memory: MemoryModel, points: Sequence[ScalingPoint]) -> Iterator[str]:
    """What is assumed about computation of ranks that share the memory of a node."""
    share = memory.share
    yield (
        f"Memory limits {share.low:.0%} to {share.high:.0%} of the computation ({EVIDENCE[share.evidence]}); "
        f"cores share it as measured ({memory.traced.source})."
    )
    fullest = max(points, key=lambda point: point.ranks_on_a_node)
    if fullest.slowdown is not None:
        low, high = (f"{each:.2f}" for each in fullest.slowdown)
        yield (
            f"With {plural(fullest.ranks_on_a_node, 'rank')} on a node, computation takes "
            f"{low if low == high else f'{low} to {high}'} times as long as with "
            f"{plural(memory.busy, 'busy core')}, as in the largest run."
        )


def _machine_document(machine: MachineScaling) -> dict[str, Any]:
    has_points = bool(machine.points)
    return {
        "machine": machine.machine,
        "points": columns_document(POINTS, machine.points),
        "fastest": machine.fastest.ranks if has_points else None,
        "pays_up_to": machine.pays_up_to if has_points else None,
        "efficiency_limits": machine.efficiency_limits if has_points else [],
        "changes": columns_document(WHAT_IFS, machine.what_ifs) if has_points else [],
        "collectives": columns_document(COLLECTIVES, machine.collectives) if has_points else [],
        "overlap": machine.overlap if has_points else None,
        "grains": columns_document(GRAINS, machine.grains),
    }


MACHINES: tuple[Column[MachineScaling], ...] = (
    Column("machine", lambda m: m.machine),
    Column("fastest on", lambda m: m.fastest.ranks, COUNT_FORMAT),
    Column("run time", lambda m: m.fastest.run_s, SECONDS_FORMAT, interval=INTERVAL_HEADING),
    Column("speed-up", lambda m: m.fastest.speed_up, RATIO_FORMAT),
    Column("efficiency", lambda m: m.fastest.efficiency, SHARE_FORMAT),
    Column("below 50% at", lambda m: _ranks_text(m.efficiency_limits[-1])),
    Column("largest loss", lambda m: limit_of(m.fastest.pop)),
)
MACHINE_COLUMNS = 5
"""The first columns fit next to a figure."""
MAX_PAGE_PLACES = 40


METHOD = (
    "Traces on several numbers of ranks give the program's structure: loops, partners and sizes follow exact "
    "laws over the number of ranks. Computation between calls follows laws from runs whose ranks had a core "
    "each, and keeps its variation.",
    "The calls on another number of ranks are generated from these laws, and evaluated with the costs of the "
    "machine. The interval contains the ends of these costs, the error of the laws of computation, and the "
    "variation.",
)


def _is_ideal(what_if: WhatIf) -> bool:
    return any(change.kind == "ideal network" for change in what_if.candidate.changes)


def speed_up_figure(machines: tuple[MachineScaling, ...]) -> Figure:
    ranks = tuple(sorted({float(point.ranks) for machine in machines for point in machine.points}))
    series = [Series("ideal", ranks, ranks, kind="line", tone="neutral")]
    for machine in machines:
        estimates = [point.speed_up for point in machine.points]
        series.append(
            Series(
                machine.machine if len(machines) > 1 else "predicted",
                tuple(float(point.ranks) for point in machine.points),
                tuple(each.value for each in estimates),
                tuple(each.value if each.low is None else each.low for each in estimates),
                tuple(each.value if each.high is None else each.high for each in estimates),
                kind="line",
            )
        )
    return Figure("scaling", "Speed-up", Axis("ranks", ""), Axis("speed-up", ""), tuple(series))


def time_figure(machine: MachineScaling) -> Figure:
    """The run time of the mean rank by what it is spent for, in percent. The factors of the efficiency are
    shares of what the others leave."""
    points = machine.points
    rows = tuple(map(float, range(len(points))))
    remaining = [100.0] * len(points)
    parts: list[tuple[str, list[float]]] = []
    for limit in reversed(tuple(LOSSES)):
        factors = [getattr(point.pop, limit.replace(" ", "_")) for point in points]
        lost = [left * (1 - factor) for left, factor in zip(remaining, factors, strict=True)]
        remaining = [left - each for left, each in zip(remaining, lost, strict=True)]
        parts.insert(0, (LOSSES[limit].partition(" (")[0], lost))
    parts.insert(0, ("computation", remaining))
    series = []
    base = [0.0] * len(points)
    for slot, (name, values) in enumerate(parts):
        detail = tuple(
            f"{point.ranks} ranks: {value:.1f}%" for point, value in zip(points, values, strict=True)
        )
        series.append(
            Series(name, rows, tuple(values), kind="bars", detail=detail, base=tuple(base), slot=slot)
        )
        base = [start + value for start, value in zip(base, values, strict=True)]
    return Figure(
        "scaling-time",
        "Run time by part",
        Axis("ranks", "", "linear", names=tuple(str(point.ranks) for point in points)),
        Axis("% of the run time", "", "linear", include=(0.0, 100.0)),
        tuple(series),
    )
