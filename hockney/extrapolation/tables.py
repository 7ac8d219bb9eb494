# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables, sentences, document and page of a traced program on other numbers of ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hockney.core.units import format_percent
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Caveat, Page, Section, Table
from hockney.extrapolation.scaling import GrainRow, ScalingPoint, SiteShare
from hockney.pages.columns import (
    COUNT_FORMAT,
    INTERVAL_HEADING,
    RATIO_FORMAT,
    SECONDS_FORMAT,
    SHARE_FORMAT,
    Column,
    Format,
    columns_document,
    columns_table,
)
from hockney.pages.format import format_share, quantity
from hockney.replay.answers import WhatIf
from hockney.replay.tables import WHAT_IFS, brief, path_columns

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
    Column("", lambda p: list(p.dims), key="grid"),
    Column("", lambda p: p.messages, key="messages"),
)
RUN_COLUMNS = 4
"""The first columns are about the run, the others about its efficiency."""
GRID = Column[ScalingPoint]("grid", lambda p: grid_text(p.dims))
GRAINS: tuple[Column[GrainRow], ...] = (
    Column("efficiency", lambda r: r.efficiency, SHARE_FORMAT, "efficiency"),
    Column("computation", lambda r: r.factor, Format(lambda v: f"{v:.3g} x"), "factor", missing="no amount"),
    Column("between calls", lambda r: r.between_calls_s, SECONDS_FORMAT, "between_calls_s"),
)


def grid_text(dims: tuple[int, ...]) -> str:
    return " x ".join(map(str, dims)) if len(dims) > 1 else ""


@dataclass(frozen=True)
class ScalingAnswer:
    """How a program scales from `traced` numbers of ranks to those of `points`. `refused` says that sites
    whose structure is not known take too much of the time, or make too many of the calls."""

    program: str
    machine: str
    scaling: str
    traced: tuple[int, ...]
    computed_on: tuple[int, ...]
    points: tuple[ScalingPoint, ...]
    unknown_sites: tuple[SiteShare, ...] = ()
    refused: str = ""
    caveats: tuple[Caveat, ...] = ()
    details: bool = True

    @property
    def fastest(self) -> ScalingPoint:
        return min(self.points, key=lambda point: point.run_s.value)

    @property
    def sentences(self) -> Iterator[str]:
        traced = ", ".join(map(str, self.traced))
        if self.refused:
            yield f"{self.program} on more ranks, from traces on {traced} ranks: refused."
            yield f"{self.refused}."
            return
        best = self.fastest
        count = (
            f"{best.ranks} ranks"
            if len(self.points) > 1
            else f"{best.ranks} ranks, the only number asked for"
        )
        yield (
            f"{self.program} on {self.machine}, {self.scaling} scaling: fastest on {count}, in "
            f"{quantity(best.run_s.value, 's')}, {format_share(best.efficiency.value)} efficient."
        )
        yield self._limit(best)
        real = [each for each in self.what_ifs if each.decided and not _is_ideal(each)]
        if real:
            yield f"The largest gain there: {real[0].text}, {real[0].gain.value:.1%}."

    @staticmethod
    def _limit(point: ScalingPoint) -> str:
        pop = point.pop
        limits = {
            "load imbalance": pop.load_balance,
            "serialisation (ranks wait for others)": pop.serialisation,
            "transfer (latency, bandwidth and software of messages)": pop.transfer,
        }
        name, value = min(limits.items(), key=lambda item: item[1])
        return f"What limits it there: {name}, which costs {format_percent(1 - value, 2)}."

    @cached_property
    def what_ifs(self) -> tuple[WhatIf, ...]:
        return self.fastest.what_ifs if self.points and self.details else ()

    @cached_property
    def grains(self) -> tuple[GrainRow, ...]:
        return self.fastest.grains() if self.points and self.details else ()

    @property
    def tables(self) -> tuple[Table, ...]:
        found = []
        if self.points:
            found.append(self.points_table)
        if self.what_ifs:
            ranks = plural(self.fastest.ranks, "rank")
            found.append(columns_table("what-if", f"Changes on {ranks}", WHAT_IFS, self.what_ifs))
            path = list(self.fastest.explained.path_rows())[:MAX_PLACES]
            title = f"Critical path on {ranks}"
            found.append(columns_table("critical-path", title, path_columns(path), path))
            found.append(
                columns_table("grain", f"Computation that is enough on {ranks}", GRAINS, self.grains)
            )
        if self.unknown_sites:
            found.append(
                columns_table(
                    "unknown-sites", "Call sites without a pattern", SITES, self.unknown_sites[:MAX_PLACES]
                )
            )
        return tuple(found)

    @property
    def points_table(self) -> Table:
        return columns_table("scaling", "Scaling", (POINTS[0], *self._grid_columns, *POINTS[1:]), self.points)

    @property
    def _grid_columns(self) -> tuple[Column[ScalingPoint], ...]:
        return (GRID,) if any(len(point.dims) > 1 for point in self.points) else ()

    @property
    def _factor_tables(self) -> tuple[Table, ...]:
        """The factors of the efficiency, which the first screen has no room for."""
        if not self.points:
            return ()
        columns = (POINTS[0], *self._grid_columns, *POINTS[RUN_COLUMNS:])
        return (columns_table("efficiency", "Factors of the efficiency", columns, self.points),)

    @property
    def document(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "program": self.program,
            "machine": self.machine,
            "scaling": self.scaling,
            "traced_ranks": list(self.traced),
            "computation_ranks": list(self.computed_on),
            "refused": bool(self.refused),
            "points": columns_document(POINTS, self.points),
            "fastest": self.fastest.ranks if self.points else None,
            "changes": columns_document(WHAT_IFS, self.what_ifs),
            "grains": columns_document(GRAINS, self.grains),
            "unknown_sites": columns_document(SITES, self.unknown_sites),
            "warnings": list(self.caveats),
        }

    def page(self) -> Page:
        tables = self.tables
        return Page(
            title=f"Scaling of {self.program}",
            subtitle=f"{self.machine}, {self.scaling} scaling",
            headline=tuple(self.sentences),
            warnings=self.caveats,
            sections=tuple(
                Section(table.title, tables=(table,)) for table in (*self._factor_tables, *tables[1:])
            ),
            environment=(
                ("traced on", f"{', '.join(map(str, self.traced))} ranks"),
                ("computation from", f"{', '.join(map(str, self.computed_on))} ranks"),
            ),
            method=METHOD,
            lead=speed_up_figure(self.points) if self.points else None,
            results=columns_table("scaling", "Scaling", POINTS[:RUN_COLUMNS], self.points)
            if self.points
            else None,
        )


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


def speed_up_figure(points: tuple[ScalingPoint, ...]) -> Figure:
    ranks = tuple(float(point.ranks) for point in points)
    estimates = [point.speed_up for point in points]
    return Figure(
        "scaling",
        "Speed-up",
        Axis("ranks", ""),
        Axis("speed-up", ""),
        (
            Series("ideal", ranks, ranks, kind="line", tone="neutral"),
            Series(
                "predicted",
                ranks,
                tuple(each.value for each in estimates),
                tuple(each.value if each.low is None else each.low for each in estimates),
                tuple(each.value if each.high is None else each.high for each in estimates),
                kind="line",
            ),
        ),
    )
