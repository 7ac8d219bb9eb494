# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""`plan.txt`: what a run is to measure, complete before the first launch, for users and for `resume`.

    study = "survey"
    budget_s = 60
    ...

    0 0 pingpong buffers=hot bytes=8 ranks=2

Settings first (NAME = VALUE as in JSON), then one line per case: launch, position in its shuffled order,
case.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from hockney.core.case import Case, parse_canonical
from hockney.core.errors import EnvironmentProblem, HockneyError, printable
from hockney.core.record import SCHEMA
from hockney.core.settings import Settings
from hockney.store import messages
from hockney.store.checksums import plan_sums

_HEAD = """\
# A hockney plan. First the settings, then one case a line: launch, place in the launch, case.
# `hockney resume` runs what is listed here and not yet in records.jsonl.
"""


COUNT = "# measurements = "
"""Precedes the number of lines that follow the settings, so that a missing line is noticed."""

DIGITS = 9
"""Maximum digits of a launch's number, and of a position in it."""

ALWAYS = {
    "study", "budget_s", "precision", "launches", "seed", "bind", "mpi", "machine", "assume_network",
}  # fmt: skip
"""Settings that every plan has. Others are written only if they differ from their default."""


@dataclass(frozen=True)
class Item:
    """One case in one launch. `launch` counts from 0 over the whole run, `order` within the launch."""

    launch: int
    order: int
    case: Case


@dataclass(frozen=True)
class Plan:
    settings: Settings
    items: tuple[Item, ...]

    @property
    def cases(self) -> tuple[Case, ...]:
        """Every case once, in order of first appearance."""
        return tuple(dict.fromkeys(item.case for item in self.items))

    @property
    def groups(self) -> int:
        """Launches per round: one for each rank count, and more if several executables run the cases."""
        launches = 1 + max((item.launch for item in self.items), default=-1)
        return max(len({case.launched_ranks for case in self.cases}), -(-launches // self.settings.launches))

    @property
    def text(self) -> str:
        values = {f.name: getattr(self.settings, f.name) for f in fields(Settings)}
        written = {"schema": SCHEMA} | {name: v for name, v in values.items() if v or name in ALWAYS}
        settings = "".join(f"{name} = {json.dumps(value)}\n" for name, value in written.items())
        cases = "".join(f"{item.launch} {item.order} {item.case.line}\n" for item in self.items)
        return f"{_HEAD}{COUNT}{len(self.items)}\n{settings}\n{cases}"


@lru_cache(maxsize=4)  # records are compared with the plan wherever they are read
def parse_plan(text: str, where: str) -> Plan:
    """The inverse of `Plan.text`; errors give the line of `where`."""
    settings: dict[str, str] = {}
    items: list[Item] = []
    stated = ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line.startswith(COUNT):
            stated = line.removeprefix(COUNT)
        if not line or line.startswith("#"):
            continue
        try:
            name, equals, value = line.partition(" = ")
            if not line[0].isdigit():
                if not equals:
                    raise ValueError
                settings[name] = value
            else:
                launch, order, case = line.split(maxsplit=2)
                if len(launch) > DIGITS or len(order) > DIGITS:
                    raise ValueError
                items.append(Item(int(launch), int(order), parse_canonical(case)))
        except (ValueError, HockneyError) as error:
            raise EnvironmentProblem(
                f"cannot read line {number} of {where}",
                f"'{printable(line[:60])}'",
                messages.EDITED,
                code="plan-damaged",
                path=where,
                line=number,
            ) from error
    if stated not in ("", str(len(items))):
        raise EnvironmentProblem(
            f"{where} has {len(items)} measurements",
            f"it was written with {printable(stated)}",
            "restore it from a copy",
            code="plan-of-other-length",
            path=where,
            found=len(items),
            said=stated,
        )
    if not plan_sums(text).matches:
        raise messages.file_changed(where)
    return Plan(_settings(settings, where), tuple(items))


def _settings(raw: dict[str, str], where: str) -> Settings:
    try:
        schema = int(raw.pop("schema"))
        if schema > SCHEMA:
            raise messages.newer_file(where, schema, SCHEMA)
        if schema < SCHEMA:
            raise ValueError(f"schema {schema} was never released")
        declared = {f.name: f for f in fields(Settings)}
        values: dict[str, Any] = {name: _read(declared[name].type, value) for name, value in raw.items()}
        read = Settings(**values)
        if read.out_of_range:
            raise ValueError(f"{read.out_of_range} = {raw[read.out_of_range]} is out of range")
        return read
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise EnvironmentProblem(
            f"{where} has no usable settings",
            printable(str(error)),
            messages.EDITED,
            code="plan-without-settings",
            path=where,
        ) from error


TYPES: dict[str, tuple[type, ...]] = {"bool": (bool,), "str": (str,), "int": (int,), "float": (int, float)}
"""Of JSON values, by the type of a setting."""


def _read(kind: object, text: str) -> bool | str | int | float | tuple[str, ...]:
    value: Any = json.loads(text)
    if kind == "tuple[str, ...]":
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ValueError(_not_of_type(text, "list"))
        return tuple(value)
    required = TYPES[str(kind)]
    fits = isinstance(value, required) and (kind == "bool" or not isinstance(value, bool))
    if not fits:
        raise ValueError(_not_of_type(text, str(kind)))
    return float(value) if kind == "float" else value


def _not_of_type(text: str, kind: str) -> str:
    """Why a setting in a plan is not usable."""
    return f"{text} is not of type {kind}"
