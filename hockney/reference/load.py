# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Reading the papers' files, which come with hockney."""

from __future__ import annotations

import csv
import io
import sys
from functools import cache
from importlib.resources import files
from typing import Any

from hockney.core.errors import unknown
from hockney.core.units import parse_seconds, parse_seconds_per_byte
from hockney.reference.published import About, Formula, FormulaPiece, PrintedRow, Published

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

COLUMNS = tuple(PrintedRow.__annotations__)


@cache
def names() -> tuple[str, ...]:
    """The papers."""
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
        machines=tuple(About(**machine) for machine in document["machines"]),
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
    return {about.name: name for name in names() for about in published(name).machines}


def paper_of(machine: str) -> Published:
    """The paper of a machine, with that machine's numbers. Raises UsageError for an unknown one."""
    known = machine_names()
    if machine not in known:
        raise unknown("published machine", machine, known, code="unknown-published-machine")
    return published(known[machine]).of(machine)


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
