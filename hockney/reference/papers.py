# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Printed contents of the papers, read from the bundled files."""

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
    `bytes` are as printed too (None if not given). `case` is the equivalent case of the engine, without ranks
    and defaults; "" if there is none."""

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
        """Value in seconds, bytes, bytes per second, seconds per byte, or as a plain number."""
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
    """A printed formula for a time in seconds over a size in bytes. `case` has the same meaning as for a
    row."""

    key: str
    machine: str
    ranks: int
    printed: str
    table: str
    segments: tuple[FormulaPiece, ...]
    case: str = ""

    def time(self, size: float) -> float:
        """Time in seconds for `size` bytes. Raises UsageError outside the printed ranges."""
        for piece in self.segments:
            if piece.first <= size <= piece.last:
                return piece.constant_s + piece.per_byte_s * size
        ranges = [(piece.first, piece.last) for piece in self.segments]
        raise _size_outside_formula(self.key, size, ranges)

    def sizes(self) -> tuple[int, ...]:
        """Sizes at which to draw the formula: the bounds of each range and the powers of two between them."""
        sizes: set[int] = set()
        for piece in self.segments:
            powers = (1 << k for k in range(piece.last.bit_length()))
            sizes.update(
                {piece.first, piece.last}, (size for size in powers if piece.first < size < piece.last)
            )
        return tuple(sorted(sizes))


@dataclass(frozen=True)
class PaperMachine:
    """A machine of a paper. A paper may have several machines, with numbers for only some of them."""

    name: str
    title: str
    text: str


@dataclass(frozen=True)
class Published:
    """A paper. `method` describes the measurement and the meaning of columns, `facts` other findings,
    `transcription` decisions made in copying, `inconsistencies` contradictions."""

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
        for candidate in self.machines:
            if candidate.name == name:
                return candidate
        raise unknown(
            f"machine of {self.name}",
            name,
            (candidate.name for candidate in self.machines),
            code="unknown-machine-of-paper",
        )

    def row(self, key: str) -> PrintedRow:
        for candidate in self.rows:
            if candidate.key == key:
                return candidate
        raise unknown(
            f"row of {self.name}", key, (candidate.key for candidate in self.rows), code="unknown-row"
        )

    def formula(self, key: str) -> Formula:
        for candidate in self.formulas:
            if candidate.key == key:
                return candidate
        raise unknown(
            f"formula of {self.name}",
            key,
            (candidate.key for candidate in self.formulas),
            code="unknown-formula",
        )

    def of(self, machine: str) -> Published:
        """Copy of the paper with the rows and formulas of one of its machines."""
        paper_machine = self.machine(machine)
        return replace(
            self,
            title=paper_machine.title,
            machines=(paper_machine,),
            rows=tuple(row for row in self.rows if row.machine == machine),
            formulas=tuple(formula for formula in self.formulas if formula.machine == machine),
        )

    def knows(self, key: str) -> bool:
        """Whether `key` is the key of a row or formula, or a prefix of some ("t3e/table/bcast")."""
        prefix = key.rstrip("/")
        return any(known_key == prefix or known_key.startswith(f"{prefix}/") for known_key in self._keys())

    def _keys(self) -> Iterator[str]:
        yield from (row.key for row in self.rows)
        yield from (formula.key for formula in self.formulas)


def _size_outside_formula(formula: str, size: float, ranges: Sequence[tuple[int, int]]) -> UsageError:
    """Error for a size outside the formula. `ranges` are the first and last bytes for which it is printed."""
    ranges_text = ", ".join(f"{first} to {last}" for first, last in ranges)
    return UsageError(
        f"{formula} does not cover {size:g} B",
        f"it holds for {ranges_text} B",
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
    """Names of all papers."""
    folder = files("hockney.reference")
    return tuple(sorted(p.name.removesuffix(".toml") for p in folder.iterdir() if p.name.endswith(".toml")))


@cache
def published(name: str) -> Published:
    """Read the paper `name`. Raises UsageError for an unknown name."""
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
        rows=tuple(_row(raw_row) for raw_row in table),
        formulas=tuple(_formula(raw_row) for raw_row in document.get("formulas", ())),
        method=tuple(document["method"]),
        facts=tuple(document["facts"]),
        transcription=tuple(document["transcription"]),
        inconsistencies=tuple(document["inconsistencies"]),
    )


@cache
def machine_names() -> dict[str, str]:
    """Map each published machine to its paper."""
    return {machine.name: name for name in names() for machine in published(name).machines}


def paper_of(machine: str) -> Published:
    """Paper of a machine, with the numbers of that machine. Raises UsageError for an unknown machine."""
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
            first=segment["first"],
            last=segment["last"],
            constant_s=parse_seconds(segment["constant_s"]),
            per_byte_s=parse_seconds_per_byte(segment["per_byte_s"]),
        )
        for segment in raw["segments"]
    )
    return Formula(**(raw | {"segments": pieces}))
