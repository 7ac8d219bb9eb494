# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The explorer without its script: what it computes with, and a table of what its first values give."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from hockney.core.errors import one_line
from hockney.core.units import format_bytes, format_seconds
from hockney.draw.page import Explorer, ExplorerMachine, Table
from hockney.models.applications.granularity import (
    Algorithm,
    best_ranks,
    break_even,
    ceiling,
    times,
    work_needed,
)
from hockney.models.applications.point_to_point_costs import CostPiece, PointToPointCosts

WANTED = (0.5, 0.8, 0.9)


def messages(machine: ExplorerMachine) -> PointToPointCosts:
    """The machine as the models know it."""
    return PointToPointCosts(
        name=machine.name,
        title=machine.title,
        pieces=_pieces(machine.pieces),
        shared=machine.shared,
        source=machine.note,
        largest=machine.most_bytes,
        most_ranks=machine.most_ranks,
        eager=math.inf if machine.eager is None else machine.eager,
        medium=machine.medium,
        half_duplex_s_per_byte=machine.half_duplex_s_per_byte,
        near=_pieces(machine.near),
        cores=machine.cores,
    )


def _pieces(pieces: tuple[tuple[int, float, float], ...]) -> tuple[CostPiece, ...]:
    return tuple(CostPiece(*each) for each in pieces)


def live(explorer: Explorer) -> dict[str, Any]:
    """As plain data for the page's script, texts as one printable line each. Raises ValueError for an
    explorer without a machine."""
    if not explorer.machines:
        raise ValueError(f"explorer '{explorer.name}' has no machine")
    return _printable(asdict(explorer))


def _printable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _printable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_printable(each) for each in value]
    return one_line(value) if isinstance(value, str) else value


def values(explorer: Explorer) -> Table:
    """A row for each machine, at the values that are shown first."""
    ranks = explorer.ranks[2]
    algorithm = Algorithm(explorer.work_s[2], explorer.bytes[2], explorer.serial[2])
    return Table(
        name=explorer.name,
        title=f"{format_seconds(algorithm.work_s)} of work, messages of {format_bytes(algorithm.bytes)}, "
        f"{percent(algorithm.serial)} serial, {ranks} rank{'' if ranks == 1 else 's'}",
        columns=(
            "machine",
            "exchange",
            "efficiency",
            "break-even work",
            *(f"work for {percent(e)}" for e in WANTED),
            "best number of ranks",
        ),
        rows=tuple(_row(machine, algorithm, ranks) for machine in explorer.machines),
        numeric=tuple(range(1, 8)),
    )


def _row(machine: ExplorerMachine, algorithm: Algorithm, ranks: int) -> tuple[str, ...]:
    model = messages(machine)
    now = times(algorithm, model, ranks)
    needed = [work_needed(e, algorithm, model, ranks) for e in WANTED]
    return (
        machine.title,
        format_seconds(now.communication),
        percent(now.efficiency),
        *(
            f"at most {percent(ceiling(algorithm, ranks))}" if work is None else format_seconds(work)
            for work in (break_even(algorithm, model, ranks), *needed)
        ),
        f"{best_ranks(algorithm, model, machine.most_ranks)} of {machine.most_ranks}",
    )


def number(value: float) -> str:
    """Three significant digits, and no exponent."""
    return "<0.001" if 0 < value < 1e-3 else f"{float(f'{value:.3g}'):.15g}"


def percent(value: float) -> str:
    return "<0.01%" if 0 < value < 1e-4 else f"{number(100 * value)}%"
