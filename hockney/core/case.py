# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A case: one workload with its parameters and number of ranks, as one line of text.

The line is the same on the command line, in a plan and for the engine:

    allreduce buffers=hot bytes=1024 ranks=2 sync=window

Its canonical form (parameters in alphabetical order, plain numbers in bytes and seconds, all parameters of
the workload) identifies the case: records with the same line measured the same thing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType

from hockney.core.errors import UsageError, printable

Value = int | float | str

NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]{0,63}")
ALGORITHM, MPI = "algorithm", "mpi"
"""The parameter that chooses an algorithm, and its value for the MPI's own call."""
HOT, WRITTEN = "hot", "written"
"""Values of the parameter `buffers`: never rewritten while they are sent, as in most benchmarks; or written
just before, as a program's messages are."""
USUAL_VALUES: Mapping[str, Value] = {ALGORITHM: MPI, "buffers": HOT, "counts": "even", "root": 0}
"""Usual values of these parameters; some measurements vary them."""
SETTING = "setting"
"""The parameter that names a launch setting (`launch_setting`). It belongs to the launch, not to the
workload."""
PLACE, NODES = "place", "nodes"
"""Parameters that choose a case's ranks among those of its launch: the level at which rank i and rank i + p/2
meet (`core.layout`), or the number of nodes over which the ranks are spread evenly."""
LAUNCH_PARAMETERS = (SETTING, PLACE, NODES)
"""Parameters that every workload accepts."""


@dataclass(frozen=True, order=True)
class Case:
    """A workload with its parameters, which are sorted by name and do not include `ranks`."""

    workload: str
    parameters: tuple[tuple[str, Value], ...]
    ranks: int

    @staticmethod
    def of(workload: str, ranks: int, **parameters: Value) -> Case:
        return Case(workload, tuple(sorted(parameters.items())), ranks)

    def __reduce__(self) -> tuple[type[Case], tuple[object, ...]]:
        """Pickle only the fields, not cached values."""
        return Case, (self.workload, self.parameters, self.ranks)

    @cached_property
    def line(self) -> str:
        return " ".join(
            [self.workload, *(f"{name}={format_value(value)}" for name, value in sorted(self.values.items()))]
        )

    @cached_property
    def values(self) -> Mapping[str, Value]:
        """All parameters by name, including `ranks`."""
        return MappingProxyType(dict(self.parameters) | {"ranks": self.ranks})

    def __getitem__(self, name: str) -> Value:
        return self.values[name]

    def __contains__(self, name: object) -> bool:
        return name in self.values

    def get(self, name: str, default: Value | None = None) -> Value | None:
        return self.values.get(name, default)

    def with_parameter(self, name: str, value: Value) -> Case:
        """Return the same case with another value of this parameter, which must not be `ranks`."""
        return Case.of(self.workload, self.ranks, **{**dict(self.parameters), name: value})

    @property
    def is_usual(self) -> bool:
        """Whether all of its parameters that USUAL_VALUES lists have their usual values."""
        return all(self.get(name, value) == value for name, value in USUAL_VALUES.items())

    @property
    def setting(self) -> str:
        """Name of its launch setting, "" for none."""
        return str(self.values.get(SETTING, ""))

    @property
    def place(self) -> str:
        """Level at which its pairs of ranks meet, "" if the launch decides."""
        return str(self.values.get(PLACE, ""))

    @property
    def nodes(self) -> int:
        """Number of nodes over which its ranks are spread, 0 if the launch decides."""
        return int(self.number(NODES))

    @property
    def is_placed(self) -> bool:
        """Whether its ranks are chosen among the ranks of a launch that may have more."""
        return bool(self.place or self.nodes)

    @property
    def launched_ranks(self) -> int:
        """Number of ranks of its launch; 0 if the launch fills the whole layout of the machine."""
        return 0 if self.is_placed else self.ranks

    def with_setting(self, setting: str) -> Case:
        """Return the same case with this launch setting, or without one for ""."""
        values = {name: value for name, value in self.parameters if name != SETTING}
        return Case.of(self.workload, self.ranks, **values, **({SETTING: setting} if setting else {}))

    def number(self, name: str, default: float = 0) -> float:
        """Return a numeric parameter, or `default` if the workload has no parameter of this name."""
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
        """Length of a message, block or vector; 0 for a workload without messages, such as a barrier. The
        catalog defines the size of a workload (`Workload.size_of`)."""
        return int(self.number("bytes"))

    def __str__(self) -> str:
        return self.line


def format_value(value: Value) -> str:
    """Format numbers as text that the engine reads back exactly."""
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def split_case(text: str) -> tuple[str, dict[str, str]]:
    """Split a case line into workload and raw parameters, without checking them against a catalog."""
    words = text.split()
    if not words or not NAME_PATTERN.fullmatch(words[0]):
        raise _not_a_case(text)
    raw: dict[str, str] = {}
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if not equals or not NAME_PATTERN.fullmatch(name) or not value:
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
    """Return the case of a canonical line (from a plan or a record), whose numbers have no units."""
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
    """Parse a `Case.line`. Cached, as a run contains every line once per launch. Raises UsageError, also for
    white space other than single spaces, which would reach tables and files."""
    if line != " ".join(line.split()):
        raise _not_a_case(line)
    return parse_raw_case(*split_case(line))


def parse_subject_line(line: str) -> tuple[str, dict[str, Value]]:
    """Return workload and parameters of a canonical line, which may lack `ranks`."""
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
