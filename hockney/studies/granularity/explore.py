# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The interactive model: this machine first, then every machine that comes with hockney."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hockney.core.layout import NETWORK
from hockney.core.units import format_bytes, format_percent, format_seconds
from hockney.core.wording import plural
from hockney.draw.page import Table, Widget
from hockney.models.applications.contention import kind
from hockney.models.applications.granularity import (
    Algorithm,
    best_ranks,
    break_even,
    ceiling,
    on_cores,
    times,
    work_needed,
)
from hockney.models.applications.node_sharing import NodeSharing
from hockney.models.applications.point_to_point_costs import CostPiece, PointToPointCosts
from hockney.studies.granularity import costs

SCRIPT = "efficiency"
WORK_S = (1e-6, 1000.0)
MOST_BYTES = 1 << 22
NO_END = 1 << 40
"""A description holds for messages of any length."""
MOST_RANKS = 1024
FIRST_WORK_S, FIRST_BYTES = 100e-6, 40_000
"""The initial question."""
WANTED = (0.5, 0.8, 0.9)


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
        return Widget(name, title, SCRIPT, self.data(), self.fallback(name), caption)

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
                *(f"work for {format_percent(efficiency)}" for efficiency in WANTED),
                "best number of ranks",
            ),
            rows=tuple(_row(machine, algorithm, ranks) for machine in self.machines),
            numeric=tuple(range(1, 8)),
        )


def widget(messages: PointToPointCosts | None, name: str = "") -> Widget:
    """`name` is that of the simulated machine that was measured, so that it is not listed twice."""
    here = [] if messages is None else [_bounded(messages, _note(messages))]
    others = [
        _bounded(machine, note) for machine, note in costs.published() if machine.name != name or not here
    ]
    most = max(2, *(m.most_ranks or 0 for m in (*here, *others)))
    explorer = EfficiencyExplorer(
        machines=(*here, *others),
        work_s=(*WORK_S, FIRST_WORK_S),
        bytes=(0, MOST_BYTES, FIRST_BYTES),
        serial=(0.0, 1.0, 0.0),
        ranks=(1, min(MOST_RANKS, most), 2),
    )
    return explorer.widget(
        "explorer",
        "Which efficiency will I get?",
        "This machine's numbers come from the section on the cost of messages.",
    )


def machine_data(machine: PointToPointCosts) -> dict[str, Any]:
    """A machine's costs of all messages, or of those between nodes; `near` has those within a node if they
    differ."""
    return _level(machine) | {
        "name": machine.name,
        "title": machine.title,
        "note": machine.source,
        "shared": machine.shared,
        "most_bytes": machine.largest,
        "most_ranks": machine.most_ranks or MOST_RANKS,
        "cores_known": machine.most_ranks is not None,
        "medium": machine.medium,
        "half_duplex_s_per_byte": machine.half_duplex_s_per_byte,
        "network": machine.place == NETWORK,
        "near": _level(machine.near) if machine.near else None,
        "cores": machine.per_node(1) if machine.near else 0,
    }


def _level(costs: PointToPointCosts) -> dict[str, Any]:
    """`eager` is None if it applies to all sizes."""
    return {
        "pieces": _pieces(costs.pieces),
        "band": [(b.bytes, b.low, b.high) for b in costs.band],
        "changes": costs.changes,
        "eager": int(costs.eager) if costs.eager < NO_END else None,
        "node": _shared(costs.node) if costs.node else None,
    }


def _shared(node: NodeSharing) -> dict[str, Any]:
    limited = math.isfinite(node.rate)
    return {
        "rate": node.rate if limited else None,
        "gap_s": node.gap_s,
        "ends": node.ends if limited else None,
    }


def _bounded(messages: PointToPointCosts, note: str) -> PointToPointCosts:
    """The costs with `note` as their source, and with a finite largest size if they have none."""
    return replace(messages, source=note, largest=NO_END if messages.largest is None else messages.largest)


def _row(machine: PointToPointCosts, algorithm: Algorithm, ranks: int) -> tuple[str, ...]:
    alone, algorithm = algorithm, on_cores(algorithm, ranks, machine.most_ranks)
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
        f"{best_ranks(alone, machine, most)} of {most}",
    )


def _pieces(pieces: Sequence[CostPiece]) -> list[tuple[int, float, float]]:
    return [(p.first, p.latency_s, p.per_byte_s) for p in pieces]


def _note(messages: PointToPointCosts) -> str:
    verdict = f"a {messages.verdict} fit of " if messages.verdict else ""
    return f"{verdict}{messages.source}; {kind(messages)}" + (f", {messages.why}" if messages.why else "")
