# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The printed contents of the papers, read from the files that come with hockney."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from hockney.core.errors import UsageError, unknown
from hockney.core.units import parse_seconds, parse_seconds_per_byte

UNITS = {
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "us/B": 1e-6,
    "us/word": 1e-6 / 4,
    "MB/s": 1e6,
    "GB/s": 1e9,
    "kB": 1e3,
    "%": 0.01,
    "1": 1.0,
    "messages": 1.0,
    "processors": 1.0,
}
"""Factors that convert printed numbers to seconds, bytes, bytes per second, seconds per byte or plain
numbers. Words have 4 bytes in the papers that count in words."""


@dataclass(frozen=True)
class PrintedRow:
    """One printed number. `value` is as printed, in `unit`; `table` is its position in the paper. `ranks` and
    `bytes` are as printed too (None if not given). `case` has the words of the engine's equivalent case,
    without ranks and without defaults from the catalog; empty if there is none."""

    key: str
    machine: str
    workload: str
    ranks: int | None
    bytes: int | None
    quantity: str
    value: float
    unit: str
    table: str
    case: str
    note: str

    @property
    def si(self) -> float:
        """The value in seconds, bytes, bytes per second, seconds per byte, or as a plain number."""
        return self.value * UNITS[self.unit]


@dataclass(frozen=True)
class FormulaPiece:
    """A piece of a formula from `first` to `last` bytes, both included: constant_s + per_byte_s x."""

    first: int
    last: int
    constant_s: float
    per_byte_s: float


@dataclass(frozen=True)
class Formula:
    """A printed formula for a time in seconds over a size in bytes. `case` is as a row's."""

    key: str
    machine: str
    ranks: int
    printed: str
    table: str
    segments: tuple[FormulaPiece, ...]
    case: str = ""

    def time(self, size: float) -> float:
        """The time in seconds for `size` bytes. Raises UsageError outside the printed ranges."""
        for piece in self.segments:
            if piece.first <= size <= piece.last:
                return piece.constant_s + piece.per_byte_s * size
        ranges = [(piece.first, piece.last) for piece in self.segments]
        raise _size_outside_formula(self.key, size, ranges)

    def sizes(self) -> tuple[int, ...]:
        """Sizes at which to draw it: both ends of each range, and the powers of two between."""
        sizes: set[int] = set()
        for piece in self.segments:
            inner = (1 << k for k in range(piece.last.bit_length()))
            sizes.update({piece.first, piece.last}, (s for s in inner if piece.first < s < piece.last))
        return tuple(sorted(sizes))


@dataclass(frozen=True)
class PaperMachine:
    """A machine of a paper, which may have several and print numbers for only some of them."""

    name: str
    title: str
    text: str


@dataclass(frozen=True)
class Published:
    """A paper. `method` describes how its numbers were measured and what its columns mean, `facts` its other
    findings; `transcription` the decisions made in copying, `inconsistencies` its contradictions."""

    name: str
    title: str
    citation: str
    machines: tuple[PaperMachine, ...]
    rows: tuple[PrintedRow, ...]
    formulas: tuple[Formula, ...]
    method: tuple[str, ...]
    facts: tuple[str, ...]
    transcription: tuple[str, ...]
    inconsistencies: tuple[str, ...]

    def machine(self, name: str) -> PaperMachine:
        for each in self.machines:
            if each.name == name:
                return each
        raise unknown(
            f"machine of {self.name}", name, (m.name for m in self.machines), code="unknown-machine-of-paper"
        )

    def row(self, key: str) -> PrintedRow:
        for each in self.rows:
            if each.key == key:
                return each
        raise unknown(f"row of {self.name}", key, (r.key for r in self.rows), code="unknown-row")

    def formula(self, key: str) -> Formula:
        for each in self.formulas:
            if each.key == key:
                return each
        raise unknown(f"formula of {self.name}", key, (f.key for f in self.formulas), code="unknown-formula")

    def of(self, machine: str) -> Published:
        """The paper with the rows and formulas of one of its machines."""
        selected = self.machine(machine)
        return replace(
            self,
            title=selected.title,
            machines=(selected,),
            rows=tuple(r for r in self.rows if r.machine == machine),
            formulas=tuple(f for f in self.formulas if f.machine == machine),
        )

    def knows(self, key: str) -> bool:
        """Whether `key` is the key of a row or formula, or a prefix of some ("t3e/table/bcast")."""
        above = key.rstrip("/")
        return any(each == above or each.startswith(f"{above}/") for each in self._keys())

    def _keys(self) -> Iterator[str]:
        yield from (row.key for row in self.rows)
        yield from (formula.key for formula in self.formulas)


def _size_outside_formula(formula: str, size: float, ranges: Sequence[tuple[int, int]]) -> UsageError:
    """`ranges` are the first and last bytes for which the formula is printed."""
    limits = ", ".join(f"{first} to {last}" for first, last in ranges)
    return UsageError(
        f"{formula} does not cover {size:g} B",
        f"it holds for {limits} B",
        "choose another size",
        code="size-outside-formula",
        size=size,
        ranges=tuple(ranges),
    )


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

COLUMNS = tuple(PrintedRow.__annotations__)


@cache
def names() -> tuple[str, ...]:
    """The names of all papers."""
    folder = files("hockney.reference")
    return tuple(sorted(p.name.removesuffix(".toml") for p in folder.iterdir() if p.name.endswith(".toml")))


@cache
def published(name: str) -> Published:
    """The printed numbers of the paper `name`. Raises UsageError for an unknown one."""
    if name not in names():
        raise unknown("paper", name, names(), code="unknown-paper")
    folder = files("hockney.reference")
    document = tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))
    table = csv.DictReader(io.StringIO((folder / f"{name}.csv").read_text("utf-8")))
    if tuple(table.fieldnames or ()) != COLUMNS:
        raise ValueError(f"{name}.csv has other columns: {table.fieldnames}")
    return Published(
        name=name,
        title=document["title"],
        citation=document["citation"],
        machines=tuple(PaperMachine(**machine) for machine in document["machines"]),
        rows=tuple(_row(each) for each in table),
        formulas=tuple(_formula(each) for each in document.get("formulas", ())),
        method=tuple(document["method"]),
        facts=tuple(document["facts"]),
        transcription=tuple(document["transcription"]),
        inconsistencies=tuple(document["inconsistencies"]),
    )


@cache
def machine_names() -> dict[str, str]:
    """Every published machine with its paper."""
    return {machine.name: name for name in names() for machine in published(name).machines}


def paper_of(machine: str) -> Published:
    """The paper of a machine, with that machine's numbers. Raises UsageError for an unknown one."""
    papers = machine_names()
    if machine not in papers:
        raise unknown("published machine", machine, papers, code="unknown-published-machine")
    return published(papers[machine]).of(machine)


def _row(raw: dict[str, str]) -> PrintedRow:
    values: dict[str, Any] = {name: int(raw[name]) if raw[name] else None for name in ("ranks", "bytes")}
    return PrintedRow(**(raw | values | {"value": float(raw["value"])}))


def _formula(raw: dict[str, Any]) -> Formula:
    pieces = tuple(
        FormulaPiece(
            first=each["first"],
            last=each["last"],
            constant_s=parse_seconds(each["constant_s"]),
            per_byte_s=parse_seconds_per_byte(each["per_byte_s"]),
        )
        for each in raw["segments"]
    )
    return Formula(**(raw | {"segments": pieces}))
