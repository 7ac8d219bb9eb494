# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A page as data: what a study has to say, in the order a reader wants it."""

from __future__ import annotations

from dataclasses import dataclass

from hockney.draw.figure import Figure


@dataclass(frozen=True)
class Warning:
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
class Section:
    title: str
    text: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True)
class Page:
    """`headline` is the answer in words, one sentence each; `facts` are name and value pairs."""

    title: str
    subtitle: str
    headline: tuple[str, ...]
    warnings: tuple[Warning, ...]
    sections: tuple[Section, ...]
    environment: tuple[tuple[str, str], ...]
    method: tuple[str, ...]
