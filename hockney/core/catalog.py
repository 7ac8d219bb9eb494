# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The engine's catalog: every workload with its parameters, units, defaults and a line of help.

It comes from `hockney-engine --catalog`; Python code never repeats an engine name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

import msgspec

from hockney.core.case import ALGORITHM, LAUNCH_PARAMETERS, NODES, PLACE, SETTING, Case, Value, split_case
from hockney.core.errors import UsageError, printable, unknown
from hockney.core.launch_setting import DEFAULT
from hockney.core.layout import parse_level
from hockney.core.record import OverRanks, Per
from hockney.core.units import parse_bytes, parse_seconds, value_out_of_range

PING_PONG = "point-to-point", "send"
"""Role and operation of the workload that measures the cost of a message."""

BIDIRECTIONAL = ("sendrecv", "isendrecv")
"""Operations between two ranks in which both send at the same time; each moves two messages."""


class Parameter(msgspec.Struct, frozen=True):
    """A parameter of a workload. `unit` is "B", "s" or "" (a count). `kind` choice has `choices`. `low` and
    `high` are inclusive.

    `kind` text is a word in one of the forms in `choices`, such as "equal", "uniform:S" or "N:N:...". The
    part before the first colon must be that of the form, or any number if the form has a capital letter.

    The value must be divisible by `multiple_of`: a number, the name of another parameter, or the name of a
    parameter whose value is a workload; then the condition of that workload's parameter of the same name
    applies. "" allows any value.
    """

    name: str
    kind: Literal["integer", "real", "choice", "text"]
    unit: str
    default: str
    low: float
    high: float
    choices: list[str]
    help: str
    multiple_of: str = ""


class Metric(msgspec.Struct, frozen=True):
    """A quantity that a workload reports in addition to its time; `MetricSeries` contains its values."""

    name: str
    unit: str
    over_ranks: OverRanks
    per: Per
    phase: bool
    help: str


class Workload(msgspec.Struct, frozen=True):
    """A workload. `time` describes one entry of a record's times. `max_ranks` 0 means no limit.

    `role` is its part in studies (point-to-point, collective, kernel, ...; the list is open), `operation` the
    operation it performs, `size` the name of its size parameter ("" for none), `group` the executable that
    runs it. The defaults are for catalogs of schema 1.
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

    def parameter(self, name: str) -> Parameter | None:
        return next((p for p in self.parameters if p.name == name), None)

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Algorithms from which a case chooses; empty for a workload with a single one."""
        parameter = self.parameter(ALGORITHM)
        return () if parameter is None else tuple(parameter.choices)

    def size_of(self, case: Case) -> float:
        """Return the value of its size parameter; 0 if it has none."""
        return case.number(self.size) if self.size else 0

    @property
    def size_unit(self) -> str:
        """Unit of its size: "B", "s", or "" for a count and for a workload without a size."""
        parameter = self.parameter(self.size)
        return parameter.unit if parameter is not None else "B" if self.size == "bytes" else ""

    def performs(self, role: str, operation: str = "") -> bool:
        """Return whether it has this role and, unless it is "", performs this operation."""
        return self.role == role and operation in ("", self.operation)

    @property
    def bidirectional(self) -> bool:
        return self.operation in BIDIRECTIONAL

    def message_count(self, case: Case) -> int:
        """Return the number of messages per reply: the window of a stream, the length of a train."""
        counted_by = {"stream": "window", "train": "messages"}.get(self.role, "")
        return int(case.number(counted_by, 1)) if counted_by else 1

    def payload_bytes(self, case: Case) -> int:
        """Return the bytes that one operation moves, by the convention of its bandwidth, if no engine has
        counted them."""
        if self.role == "train":
            return case.bytes * (self.message_count(case) + 1)
        return case.bytes * (2 if self.bidirectional else 1)


class Catalog(msgspec.Struct, frozen=True):
    schema: int
    engine: str
    workloads: list[Workload]

    def workload(self, name: str) -> Workload:
        for entry in self.workloads:
            if entry.name == name:
                return entry
        raise unknown(
            "workload",
            name,
            (entry.name for entry in self.workloads),
            "'hockney run --list' shows all of them",
        )

    def entry(self, name: str) -> Workload:
        """Return the entry of a workload. If the catalog lacks it (a run made with another engine), the entry
        has only a name, without a role."""
        entry = next((workload for workload in self.workloads if workload.name == name), None)
        return entry or Workload(
            name=name, help="", time="", min_ranks=1, max_ranks=0, parameters=[], size="bytes"
        )

    def with_role(self, *roles: str) -> list[Workload]:
        return [workload for workload in self.workloads if workload.role in roles]

    def workload_name(self, role: str, operation: str = "") -> str:
        """Return the first workload with this role and, unless it is "", this operation; "" if there is
        none."""
        return next((workload.name for workload in self.workloads if workload.performs(role, operation)), "")

    def restricted_to(self, names: Iterable[str]) -> Catalog:
        """Return the entries of these workloads, as stored with a run."""
        name_set = set(names)
        return msgspec.structs.replace(
            self, workloads=[workload for workload in self.workloads if workload.name in name_set]
        )

    def merged_with(self, other: Catalog) -> Catalog:
        """Return this catalog with additional workloads from `other`."""
        names = {workload.name for workload in self.workloads}
        additional = [workload for workload in other.workloads if workload.name not in names]
        return msgspec.structs.replace(self, workloads=[*self.workloads, *additional])

    def case(self, text: str, ranks: int = 2) -> Case:
        """Return the canonical case of a typed line; `ranks` is the default."""
        name, raw = split_case(text)
        return self.complete_case(name, {"ranks": str(ranks)} | raw)

    def complete_case(self, name: str, raw: Mapping[str, str]) -> Case:
        """Check every parameter and fill in the defaults."""
        workload = self.workload(name)
        by_name = {p.name: p for p in workload.parameters}
        for parameter_name in raw:
            if parameter_name not in ("ranks", *LAUNCH_PARAMETERS) and parameter_name not in by_name:
                raise unknown_parameter(parameter_name, name, [*by_name, "ranks"])
        ranks = _parse_ranks(workload, raw.get("ranks", str(workload.min_ranks)))
        values = {p.name: _parse_value(p, raw.get(p.name, p.default)) for p in workload.parameters}
        root = values.get("root", 0)
        if isinstance(root, int) and root >= ranks:
            raise value_out_of_range(f"root={root}", True, "from 0", f"{ranks - 1}", "root=0")
        for parameter in workload.parameters:
            self._check_multiple(parameter, values)
        setting = raw.get(SETTING, DEFAULT)
        placement = _parse_placement(raw, ranks, by_name)
        return Case.of(name, ranks, **values, **placement).with_setting("" if setting == DEFAULT else setting)

    def _check_multiple(self, parameter: Parameter, values: Mapping[str, Value]) -> None:
        divisor = self._divisor(parameter, values)
        value = int(values[parameter.name]) if divisor else 0
        if divisor and value % divisor:
            is_named = isinstance(values.get(parameter.multiple_of), int)
            source = f"{parameter.multiple_of}={divisor}" if is_named else ""
            raise UsageError(
                f"'{parameter.name}={value}' is not possible",
                f"expected a multiple of {source or divisor}",
                f"use for example {parameter.name}={-(-value // divisor) * divisor}",
                code="not-a-multiple",
                parameter=parameter.name,
                value=value,
                multiple_of=divisor,
            )

    def _divisor(self, parameter: Parameter, values: Mapping[str, Value]) -> int:
        """Return the number that must divide the value; 0 for none."""
        value = values.get(parameter.multiple_of, parameter.multiple_of)
        if not isinstance(value, str) or value.isdecimal():
            return int(value)
        other_parameter = self.entry(value).parameter(parameter.name) if value else None
        return self._divisor(other_parameter, values) if other_parameter is not None else 0


NUMBER_PATTERN = re.compile(r"[+-]?[\d.]+(?:[eE][+-]?\d+)?")

decode_catalog = msgspec.json.Decoder(Catalog).decode


def _parse_ranks(workload: Workload, text: str) -> int:
    if not text.isdecimal() or len(text) > 8 or not 0 < int(text) <= 10**7:
        raise UsageError(
            f"ranks={printable(text)} is not a number of ranks",
            "",
            "write a whole number from 1, for example ranks=2",
            code="not-a-rank-count",
            text=text,
        )
    ranks = int(text)
    if ranks < workload.min_ranks or (workload.max_ranks and ranks > workload.max_ranks):
        low, high = workload.min_ranks, workload.max_ranks
        requirement = (
            f"exactly {low}" if low == high else f"at least {low}" if ranks < low else f"at most {high}"
        )
        raise UsageError(
            f"{workload.name} cannot run on {ranks} ranks",
            f"it needs {requirement}",
            f"set ranks={low}",
            code="rank-count-not-supported",
            ranks=ranks,
            low=low,
            high=high,
        )
    return ranks


def _parse_placement(
    raw: Mapping[str, str], ranks: int, parameter_names: Collection[str]
) -> dict[str, Value]:
    """Return the parameters that choose the case's ranks, except those that the workload defines itself
    (`parameter_names`)."""
    placement = {name: raw[name] for name in (PLACE, NODES) if name in raw and name not in parameter_names}
    if len(placement) > 1:
        raise UsageError(
            "place= and nodes= exclude each other",
            "both choose the ranks of a case",
            "omit one",
            code="place-and-nodes",
        )
    if NODES in placement:
        nodes = int(placement[NODES]) if placement[NODES].isdecimal() and len(placement[NODES]) < 9 else 0
        if not nodes or ranks % nodes:
            raise node_count_not_usable(placement[NODES], ranks)
        return {NODES: nodes}
    if PLACE in placement and ranks % 2:
        raise UsageError(
            f"place= needs an even number of ranks, not {ranks}",
            "it is where rank i and rank i + p/2 meet",
            "use nodes= to spread ranks over nodes",
            code="pairs-need-even-ranks",
            ranks=ranks,
        )
    return {PLACE: parse_level(placement[PLACE])} if PLACE in placement else {}


def _parse_value(parameter: Parameter, text: str) -> Value:
    if parameter.kind == "choice":
        if text not in parameter.choices:
            raise unknown_value(text, parameter.name, parameter.choices)
        return text
    if parameter.kind == "text":
        return _parse_text(parameter, text)
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
        raise value_out_of_range(
            f"{parameter.name}={text}",
            parameter.kind == "integer",
            f"from {parameter.low:g}",
            f"{parameter.high:g}",
            f"{parameter.name}={parameter.default}",
            parameter.unit,
        )
    return int(value) if parameter.kind == "integer" else value


def _parse_text(parameter: Parameter, text: str) -> str:
    """Check the part before the colon; the engine parses the part after it."""
    forms = [form.partition(":")[0] for form in parameter.choices]
    word, _, argument = text.partition(":")
    is_number = NUMBER_PATTERN.fullmatch(word) and argument and any(form.isupper() for form in forms)
    if not is_number and (word not in forms or not text.isprintable() or " " in text):
        raise unknown_value(text, parameter.name, parameter.choices)
    return text


def node_count_not_usable(text: str, ranks: int) -> UsageError:
    """Return the error for the value `text` of nodes=."""
    return UsageError(
        f"nodes={printable(text)} does not divide ranks={ranks}",
        "every node has the same number of ranks",
        "use for example nodes=1",
        code="node-count-not-usable",
        nodes=text,
        ranks=ranks,
    )


def unknown_parameter(name: str, owner: str, available: Iterable[str]) -> UsageError:
    return unknown(f"parameter of {owner}", name, available, code="unknown-parameter")


def unknown_value(text: str, parameter: str, available: Iterable[str]) -> UsageError:
    return unknown(f"value of {parameter}", text, available, code="unknown-value")
