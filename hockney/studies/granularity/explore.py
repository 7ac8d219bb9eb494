# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The interactive model: this machine first, then every machine that comes with hockney."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hockney.core.units import format_bytes, format_percent, format_seconds
from hockney.core.wording import plural
from hockney.draw.page import Section, Table, Widget
from hockney.models.applications.contention import kind
from hockney.models.applications.granularity import (
    Algorithm,
    best_ranks,
    break_even,
    ceiling,
    times,
    work_needed,
)
from hockney.models.applications.point_to_point_costs import CostPiece, PointToPointCosts
from hockney.studies.granularity import costs
from hockney.studies.granularity.text import WORD

SCRIPT = "efficiency"
WORK_S = (1e-6, 1000.0)
MOST_BYTES = 1 << 22
NO_END = 1 << 40
"""A description holds for messages of any length."""
MOST_RANKS = 1024
FIRST_EFFICIENCY = 0.8
"""The work first shown has this efficiency."""
WANTED = (0.5, 0.8, 0.9)


@dataclass(frozen=True)
class EfficiencyExplorer:
    """Each of `work_s`, `bytes`, `serial` and `ranks` is (lowest, highest, first shown). The first machine is
    shown first; of each `largest`, `most_ranks` and, as its note, `source` are known."""

    machines: tuple[PointToPointCosts, ...]
    work_s: tuple[float, float, float]
    bytes: tuple[int, int, int]
    serial: tuple[float, float, float]
    ranks: tuple[int, int, int]

    def __post_init__(self) -> None:
        if not self.machines:
            raise ValueError("an explorer needs at least one machine")

    def widget(self, name: str, title: str, caption: str = "") -> Widget:
        return Widget(name, title, SCRIPT, self.data(), self.fallback(name), caption)

    def data(self) -> dict[str, Any]:
        """What the page's script computes with."""
        return {
            "machines": [machine_data(machine) for machine in self.machines],
            "work_s": self.work_s,
            "bytes": self.bytes,
            "serial": self.serial,
            "ranks": self.ranks,
        }

    def fallback(self, name: str) -> Table:
        """A row for each machine, at the values that are shown first."""
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
                *(f"work for {format_percent(efficiency)}" for efficiency in WANTED),
                "best number of ranks",
            ),
            rows=tuple(_row(machine, algorithm, ranks) for machine in self.machines),
            numeric=tuple(range(1, 8)),
        )


def section(messages: PointToPointCosts | None, evidence_cores: int, name: str = "") -> Section:
    """`name` is that of the simulated machine that was measured: it is not listed twice."""
    here = [] if messages is None else [_bounded(messages, _note(messages), evidence_cores)]
    others = [
        _bounded(machine, note, MOST_RANKS)
        for machine, note in costs.published()
        if machine.name != name or not here
    ]
    first = messages or costs.published()[0][0]
    work = work_needed(FIRST_EFFICIENCY, Algorithm(1.0, WORD), first, 2) or WORK_S[0]
    explorer = EfficiencyExplorer(
        machines=(*here, *others),
        work_s=(*WORK_S, min(max(work, WORK_S[0]), WORK_S[1])),
        bytes=(0, MOST_BYTES, WORD),
        serial=(0.0, 1.0, 0.0),
        ranks=(1, min(MOST_RANKS, max(2, *(m.most_ranks or 0 for m in (*here, *others)))), 2),
    )
    return Section(
        "Your algorithm",
        text=(
            "How long does your program compute between two exchanges, on one rank? How long are its "
            "messages, and which part is serial? The page evaluates equations 3 to 6 for any of these "
            "machines.",
        ),
        widget=explorer.widget(
            "explorer",
            "Which efficiency will I get?",
            "This machine's numbers come from the section on the cost of messages.",
        ),
    )


def machine_data(machine: PointToPointCosts) -> dict[str, Any]:
    """`eager` is None where no size is too large."""
    return {
        "name": machine.name,
        "title": machine.title,
        "note": machine.source,
        "pieces": _pieces(machine.pieces),
        "shared": machine.shared,
        "most_bytes": machine.largest,
        "most_ranks": machine.most_ranks,
        "eager": int(machine.eager) if machine.eager < NO_END else None,
        "medium": machine.medium,
        "half_duplex_s_per_byte": machine.half_duplex_s_per_byte,
        "near": _pieces(machine.near),
        "cores": machine.cores,
    }


def _bounded(messages: PointToPointCosts, note: str, cores: int) -> PointToPointCosts:
    """With an end to sizes and ranks where there is none."""
    return replace(
        messages,
        source=note,
        largest=NO_END if messages.largest is None else messages.largest,
        most_ranks=messages.most_ranks or cores,
    )


def _row(machine: PointToPointCosts, algorithm: Algorithm, ranks: int) -> tuple[str, ...]:
    now = times(algorithm, machine, ranks)
    needed = [work_needed(efficiency, algorithm, machine, ranks) for efficiency in WANTED]
    most = machine.most_ranks or MOST_RANKS
    return (
        machine.title,
        format_seconds(now.communication),
        format_percent(now.efficiency),
        *(
            f"at most {format_percent(ceiling(algorithm, ranks))}" if work is None else format_seconds(work)
            for work in (break_even(algorithm, machine, ranks), *needed)
        ),
        f"{best_ranks(algorithm, machine, most)} of {most}",
    )


def _pieces(pieces: Sequence[CostPiece]) -> list[tuple[int, float, float]]:
    return [(p.first, p.latency_s, p.per_byte_s) for p in pieces]


def _note(messages: PointToPointCosts) -> str:
    verdict = f"a {messages.verdict} fit of " if messages.verdict else ""
    return f"{verdict}{messages.source}; {kind(messages)}" + (f", {messages.why}" if messages.why else "")
