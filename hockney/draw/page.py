# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A page as data: what a study has to say, in the order a reader wants it."""

from __future__ import annotations

from dataclasses import dataclass

from hockney.draw.figure import Figure, Plane


@dataclass(frozen=True)
class Caveat:
    """What makes numbers doubtful, which ones, and what to do about it. `code` is a short stable name."""

    code: str
    text: str
    touches: str
    todo: str


@dataclass(frozen=True)
class Table:
    """Cells are text, ready to read; `numeric` lists the columns to align right."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[int, ...] = ()
    caption: str = ""


@dataclass(frozen=True)
class ExplorerMachine:
    """What the explorer computes with: `pieces` are (from this many bytes on, latency in seconds,
    seconds a byte) of a message's time one way, ascending from 0 bytes; on a `shared` medium messages under
    way at once share the bandwidth. `most_bytes` and `most_ranks` are where what is known ends. `eager`
    (None: no size is too large), `medium`, `half_duplex_s_per_byte`, `near` (in the form of
    `pieces`) and `cores` are as in `models.applications.point_to_point_costs.PointToPointCosts`.
    """

    name: str
    title: str
    note: str
    pieces: tuple[tuple[int, float, float], ...]
    shared: bool
    most_bytes: int
    most_ranks: int
    eager: int | None = None
    medium: tuple[float, float] = (0.0, 0.0)
    half_duplex_s_per_byte: float = 0.0
    near: tuple[tuple[int, float, float], ...] = ()
    cores: int = 0


@dataclass(frozen=True)
class Explorer:
    """Sliders over the model of granularity, answered in the page. Each of `work_s`, `bytes`, `serial` and
    `ranks` is (lowest, highest, first shown); the first machine is shown first."""

    name: str
    title: str
    machines: tuple[ExplorerMachine, ...]
    work_s: tuple[float, float, float]
    bytes: tuple[int, int, int]
    serial: tuple[float, float, float]
    ranks: tuple[int, int, int]
    caption: str = ""


@dataclass(frozen=True)
class Section:
    title: str
    text: tuple[str, ...] = ()
    figures: tuple[Figure | Plane, ...] = ()
    tables: tuple[Table, ...] = ()
    warnings: tuple[Caveat, ...] = ()
    explorer: Explorer | None = None


@dataclass(frozen=True)
class Page:
    """`headline` is the answer in words, one sentence each; `facts` are name and value pairs."""

    title: str
    subtitle: str
    headline: tuple[str, ...]
    warnings: tuple[Caveat, ...]
    sections: tuple[Section, ...]
    environment: tuple[tuple[str, str], ...]
    method: tuple[str, ...]
