# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A case: one workload with its parameters and rank count, as one line of text.

The line is the same on the command line, in a plan and for the engine:

    allreduce buffers=hot bytes=1024 ranks=2 sync=window

Its canonical form (parameters in alphabetical order, plain numbers in bytes and seconds, every parameter of
the workload spelled out) is the identity of a case: two records with the same line measured the same thing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType

from hockney.core.errors import UsageError, printable

Value = int | float | str

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
ALGORITHM, MPI = "algorithm", "mpi"
"""The parameter of workloads that have several algorithms, and its value for the MPI's own call."""
HOT, WRITTEN = "hot", "written"
"""Values of the parameter `buffers`: never rewritten while they are sent, as in most benchmarks; or written
just before, as a program's messages are."""
USUAL_VALUES: Mapping[str, Value] = {ALGORITHM: MPI, "buffers": HOT, "counts": "even", "root": 0}
"""The values of these parameters unless a measurement is about other ones."""
SETTING = "setting"
"""The parameter that names a launch setting (`launch_setting`): of the launch, not of the workload."""
PLACE, NODES = "place", "nodes"
"""Parameters that choose a case's ranks among those of its launch: the level at which rank i and rank i + p/2
meet (`core.layout`), or the number of nodes over which the ranks are spread evenly."""
LAUNCH_PARAMETERS = (SETTING, PLACE, NODES)
"""Parameters that every workload has."""


@dataclass(frozen=True, order=True)
class Case:
    """`parameters` is sorted by name and does not contain `ranks`."""

    workload: str
    parameters: tuple[tuple[str, Value], ...]
    ranks: int

    @staticmethod
    def of(workload: str, ranks: int, **parameters: Value) -> Case:
        return Case(workload, tuple(sorted(parameters.items())), ranks)

    def __reduce__(self) -> tuple[type[Case], tuple[object, ...]]:
        """Pickled without what is derived from it."""
        return Case, (self.workload, self.parameters, self.ranks)

    @cached_property
    def line(self) -> str:
        return " ".join([self.workload, *(f"{k}={format_value(v)}" for k, v in sorted(self.values.items()))])

    @cached_property
    def values(self) -> Mapping[str, Value]:
        """Every parameter by name, including `ranks`."""
        return MappingProxyType(dict(self.parameters) | {"ranks": self.ranks})

    def __getitem__(self, name: str) -> Value:
        return self.values[name]

    def __contains__(self, name: object) -> bool:
        return name in self.values

    def get(self, name: str, default: Value | None = None) -> Value | None:
        return self.values.get(name, default)

    def with_parameter(self, name: str, value: Value) -> Case:
        """The same case except for this parameter, which is not `ranks`."""
        return Case.of(self.workload, self.ranks, **{**dict(self.parameters), name: value})

    @property
    def is_usual(self) -> bool:
        """Whether those parameters of USUAL that it has are usual."""
        return all(self.get(name, value) == value for name, value in USUAL_VALUES.items())

    @property
    def setting(self) -> str:
        """The name of the launch setting with which the case is measured, "" for none."""
        return str(self.values.get(SETTING, ""))

    @property
    def place(self) -> str:
        """The level at which its pairs of ranks meet, "" if the launch decides."""
        return str(self.values.get(PLACE, ""))

    @property
    def nodes(self) -> int:
        """The number of nodes over which its ranks are spread, 0 if the launch decides."""
        return int(self.number(NODES))

    @property
    def is_placed(self) -> bool:
        """Whether its ranks are chosen among those of the launch, which may have more."""
        return bool(self.place or self.nodes)

    @property
    def launched_ranks(self) -> int:
        """The ranks of its launch; 0 if it is launched on the whole layout of the machine."""
        return 0 if self.is_placed else self.ranks

    def with_setting(self, setting: str) -> Case:
        """The same case with this launch setting, without any if it is ""."""
        values = {name: value for name, value in self.parameters if name != SETTING}
        return Case.of(self.workload, self.ranks, **values, **({SETTING: setting} if setting else {}))

    def number(self, name: str, default: float = 0) -> float:
        """A numeric parameter, or `otherwise` if the workload has none of this name."""
        value = self.values.get(name, default)
        if isinstance(value, str):
            raise UsageError(
                f"invalid case '{printable(self.line)}'",
                f"{name} must be a number",
                "the file may have been edited by hand; remove this line",
                code="parameter-without-number",
                name=name,
            )
        return value

    @property
    def bytes(self) -> int:
        """The length of a message, block or vector; 0 for a workload without messages, such as a barrier. A
        workload's size is defined by its catalog entry (`Workload.size_of`)."""
        return int(self.number("bytes"))

    def __str__(self) -> str:
        return self.line


def format_value(value: Value) -> str:
    """Numbers as text that the engine reads back exactly."""
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def split_case(text: str) -> tuple[str, dict[str, str]]:
    """The words of a case line, not checked against any catalog: workload and raw parameters."""
    words = text.split()
    if not words or not NAME.fullmatch(words[0]):
        raise _not_a_case(text)
    raw: dict[str, str] = {}
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if not equals or not NAME.fullmatch(name) or not value:
            raise UsageError(
                f"'{printable(word)}' is not a parameter",
                "",
                "write NAME=VALUE, for example bytes=8",
                code="not-a-parameter",
                text=word,
            )
        if name in raw:
            raise UsageError(
                f"parameter '{printable(name)}' is given twice",
                "",
                "give it once",
                code="parameter-given-twice",
                name=name,
            )
        raw[name] = value
    return words[0], raw


def parse_raw_case(workload: str, raw: Mapping[str, str]) -> Case:
    """A case from a line that is already canonical (a plan's, a record's): numbers are plain."""
    values = {name: _parse_value(value) for name, value in raw.items()}
    ranks = values.pop("ranks", None)
    if not isinstance(ranks, int) or ranks < 1:
        raise UsageError(
            f"the case of '{printable(workload)}' has no valid number of ranks",
            "",
            "add a number of ranks, for example ranks=2",
            code="case-without-ranks",
        )
    return Case.of(workload, ranks, **values)


@lru_cache(maxsize=1 << 16)
def parse_canonical(line: str) -> Case:
    """The inverse of `Case.line`. A run has every line once for each launch. Raises UsageError, also for
    other white space than single spaces, which would reach tables and files."""
    if line != " ".join(line.split()):
        raise _not_a_case(line)
    return parse_raw_case(*split_case(line))


def parse_subject_line(line: str) -> tuple[str, dict[str, Value]]:
    """Workload and parameters of a canonical line that need not name its ranks."""
    workload, raw = split_case(line)
    return workload, {name: _parse_value(value) for name, value in raw.items()}


def _parse_value(text: str) -> Value:
    if re.fullmatch(r"[+-]?\d{1,30}", text):
        return int(text)
    try:
        return float(text) if re.fullmatch(r"[+-]?[\d.]+(?:[eE][+-]?\d+)?", text) else text
    except ValueError:
        return text


def _not_a_case(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a case",
        "",
        "write WORKLOAD NAME=VALUE ..., for example 'pingpong bytes=8 ranks=2'",
        code="not-a-case",
        text=text,
    )
