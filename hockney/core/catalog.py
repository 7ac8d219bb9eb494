# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The engine's catalog: every workload with its parameters, units, defaults and a line of help.

It comes from `hockney-engine --catalog`; Python never repeats an engine name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from hockney.core.case import Case, Value, split_case
from hockney.core.errors import UsageError, unknown
from hockney.core.record import OverRanks, Per
from hockney.core.units import parse_bytes, parse_seconds


class Parameter(msgspec.Struct, frozen=True):
    """`unit` is "B", "s" or "" (a count); `kind` choice has `choices`. `low` and `high` are inclusive.

    `kind` text is a word in one of the forms that `choices` shows, as "equal", "uniform:S" or "N:N:...": what
    is before the first colon is the form's, or any number where the form has a capital letter.
    """

    name: str
    kind: Literal["integer", "real", "choice", "text"]
    unit: str
    default: str
    low: float
    high: float
    choices: list[str]
    help: str


class Metric(msgspec.Struct, frozen=True):
    """What a workload reports besides its time: see `MetricSeries`, which has the values."""

    name: str
    unit: str
    over_ranks: OverRanks
    per: Per
    phase: bool
    help: str


class Workload(msgspec.Struct, frozen=True):
    """`time` says what one entry of a record's times is. `max_ranks` 0 means no limit.

    `role` is the part it plays in studies (point-to-point, collective, kernel, ...; roles are open),
    `operation` what it performs, `size` the parameter that is its size ("" for none), `group` the executable
    that runs it. The defaults are for catalogs of schema 1.
    """

    name: str
    help: str
    time: str
    min_ranks: int
    max_ranks: int
    parameters: list[Parameter]
    role: str = ""
    operation: str = ""
    size: str = ""
    group: str = "hockney-engine"
    metrics: list[Metric] = []


class Catalog(msgspec.Struct, frozen=True):
    schema: int
    engine: str
    workloads: list[Workload]

    def workload(self, name: str) -> Workload:
        for each in self.workloads:
            if each.name == name:
                return each
        raise unknown("workload", name, (w.name for w in self.workloads), "'hockney run --list' shows all")

    def case(self, text: str, ranks: int = 2) -> Case:
        """The canonical case of a typed line; `ranks` is used where the line names none."""
        name, raw = split_case(text)
        return self.complete(name, {"ranks": str(ranks)} | raw)

    def complete(self, name: str, raw: Mapping[str, str]) -> Case:
        """Check every parameter, fill in the defaults."""
        workload = self.workload(name)
        known = {p.name: p for p in workload.parameters}
        for given in raw:
            if given != "ranks" and given not in known:
                raise unknown(f"parameter of {name}", given, [*known, "ranks"])
        ranks = _ranks(workload, raw.get("ranks", str(workload.min_ranks)))
        values = {p.name: _value(p, raw.get(p.name, p.default)) for p in workload.parameters}
        return Case.of(name, ranks, **values)


NUMBER = re.compile(r"[+-]?[\d.]+(?:[eE][+-]?\d+)?")

decode_catalog = msgspec.json.Decoder(Catalog).decode


def _ranks(workload: Workload, text: str) -> int:
    if not text.isdecimal() or len(text) > 8 or not 0 < int(text) <= 10**7:
        raise UsageError(
            f"ranks={text} is not a number of ranks", "a whole number from 1 is wanted", "for example ranks=2"
        )
    ranks = int(text)
    if ranks < workload.min_ranks or (workload.max_ranks and ranks > workload.max_ranks):
        limits = (
            f"{workload.min_ranks}"
            if workload.min_ranks == workload.max_ranks
            else f"at least {workload.min_ranks}"
        )
        raise UsageError(
            f"{workload.name} cannot run on {ranks} ranks",
            f"it needs {limits}",
            f"set ranks={workload.min_ranks}",
        )
    return ranks


def _value(parameter: Parameter, text: str) -> Value:
    if parameter.kind == "choice":
        if text not in parameter.choices:
            raise unknown(f"value of {parameter.name}", text, parameter.choices)
        return text
    if parameter.kind == "text":
        return _word(parameter, text)
    try:
        value: float = (
            parse_bytes(text)
            if parameter.unit == "B"
            else parse_seconds(text)
            if parameter.unit == "s"
            else float(text)
        )
    except ValueError:
        value = float("nan")
    if not parameter.low <= value <= parameter.high or (parameter.kind == "integer" and value != int(value)):
        kind = "whole number" if parameter.kind == "integer" else "number"
        raise UsageError(
            f"{parameter.name}={text} is out of range",
            f"a {kind} from {parameter.low:g} to {parameter.high:g} {parameter.unit}".rstrip() + " is wanted",
            f"for example {parameter.name}={parameter.default}",
        )
    return int(value) if parameter.kind == "integer" else value


def _word(parameter: Parameter, text: str) -> str:
    """The engine reads what is behind the colon."""
    forms = [form.partition(":")[0] for form in parameter.choices]
    word, _, rest = text.partition(":")
    number = NUMBER.fullmatch(word) and rest and any(form.isupper() for form in forms)
    if not number and (word not in forms or not text.isprintable() or " " in text):
        raise unknown(f"value of {parameter.name}", text, parameter.choices)
    return text
