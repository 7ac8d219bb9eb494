# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of Python functions: quantities as numbers (seconds, bytes, fractions) or as text of the command
line ("100us", "40kB", "1%"), and the fields of `RunOptions` as keywords."""

from __future__ import annotations

import inspect
import operator
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, SupportsFloat, SupportsIndex, TypedDict, TypeVar, get_args, get_type_hints

from hockney.api.run_options import OPTIONS, REPLACEABLE, Replacements, RunOptions
from hockney.core.case import format_value
from hockney.core.errors import UsageError, printable, unknown
from hockney.core.fit import Cost
from hockney.core.launch_setting import LaunchSetting
from hockney.core.paths import AnyPath
from hockney.core.units import (
    parse_bytes,
    parse_counts,
    parse_fraction,
    parse_seconds,
    parse_share,
    parse_sizes,
)

Quantity = str | SupportsFloat | SupportsIndex
Quantities = Quantity | Iterable[Quantity]

T = TypeVar("T")
Words = tuple[str, ...]


def quantity_text(value: Quantity) -> str:
    """A number as text that the command line reads back exactly. Raises UsageError for anything else."""
    if isinstance(value, str):
        return value
    try:
        if isinstance(value, SupportsIndex):
            return str(operator.index(value))
        return format_value(float(value))
    except (TypeError, ValueError):  # also an array of several numbers
        kind = type(value).__name__
        raise UsageError(
            f"a value of type {printable(kind)} is not a quantity",
            "",
            'use a number, or text such as "40kB" or "100us"',
            code="not-a-quantity-type",
            kind=kind,
        ) from None


def quantities_text(values: Quantities) -> str:
    """One or several, separated by commas."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return quantity_text(values)
    return ",".join(map(quantity_text, values))


def _quantity_reader(parse: Callable[[str], T]) -> Callable[[Quantity], T]:
    return lambda value: parse(quantity_text(value))


def _list_reader(parse: Callable[[str], tuple[int, ...]]) -> Callable[[Quantities], tuple[int, ...]]:
    def read(values: Quantities) -> tuple[int, ...]:
        words = quantities_text(values)
        return parse(words) if words else ()

    return read


read_seconds = _quantity_reader(parse_seconds)
read_size = _quantity_reader(parse_bytes)
read_fraction = _quantity_reader(parse_fraction)
read_share = _quantity_reader(parse_share)
read_counts = _list_reader(parse_counts)
read_sizes = _list_reader(parse_sizes)


def _read_named(name: str, value: Any, read: Callable[[Any], T]) -> T:
    """Errors have the `name` of the argument."""
    try:
        return read(value)
    except UsageError as error:
        raise error.with_context(name) from error


def share_of(name: str, value: Quantity) -> float:
    """The share given for the keyword `name`. Raises UsageError."""
    return _read_named(name, value, read_share)


def seconds_of(name: str, value: Quantity) -> float:
    """The time given for the keyword `name`, in seconds. Raises UsageError."""
    return _read_named(name, value, read_seconds)


def check_cost(cost: str) -> None:
    """Raises UsageError for an unknown cost."""
    if cost not in get_args(Cost):
        raise unknown("cost", cost, get_args(Cost), code="unknown-cost-word")


MACHINE_VARIABLE = "HOCKNEY_MACHINE"
"""The variable that gives the default machine, as on the command line."""


def _lines_reader(line: Callable[[str, Any], str]) -> Callable[[Mapping[str, Any] | Iterable[str]], Words]:
    """Reads one line, several, or a mapping, whose items `line` makes lines of."""

    def read(given: Mapping[str, Any] | Iterable[str]) -> Words:
        if isinstance(given, str):
            return (given,)
        return tuple(line(*item) for item in given.items()) if isinstance(given, Mapping) else tuple(given)

    return read


variable_assignments = _lines_reader(lambda name, value: f"{name}={value}")
setting_lines = _lines_reader(lambda name, variables: LaunchSetting.of(name, variables).line)


def host_names(given: Iterable[str]) -> tuple[str, ...]:
    """One name or several."""
    return tuple(given.split(",")) if isinstance(given, str) else tuple(given)


Seconds = Annotated[Quantity | None, read_seconds]
Fraction = Annotated[Quantity | None, read_fraction]
Counts = Annotated[Quantities | None, read_counts]
Sizes = Annotated[Quantities | None, read_sizes]
Variables = Annotated[Mapping[str, str] | Iterable[str] | None, variable_assignments]
SettingLines = Annotated[Mapping[str, Mapping[str, str]] | Iterable[str] | None, setting_lines]
Names = Annotated[Iterable[str] | None, host_names]
Program = Annotated[AnyPath | None, os.fspath]


class ResumeKeywords(TypedDict, total=False):
    """The types accepted for each option that `resume` may replace. None is the default."""

    mpi: Program
    machine: Program
    mpiexec_args: str | None
    variables: Variables
    launch_settings: SettingLines
    nodes: int | None
    ranks_per_node: int | None
    hosts: Names
    starter: str | None
    agent: str | None


class RunKeywords(ResumeKeywords, total=False):
    """The types accepted for each field of `RunOptions`."""

    ranks: Counts
    sizes: Sizes
    budget: Seconds
    precision: Fraction
    launches: int | None
    seed: int | None
    bind: bool | None
    repeat: int | None
    through: Seconds
    every: Seconds
    force: bool | None
    label: str | None
    refine: bool | None
    assume_network: bool | None


def run_options(given: Mapping[str, Any], environ: Mapping[str, str]) -> RunOptions:
    """The options of a run from keywords. Raises UsageError for unknown keywords and invalid values."""
    return RunOptions(**{"machine": environ.get(MACHINE_VARIABLE, ""), **_values(given, RunKeywords)})


def replacements(given: Mapping[str, Any]) -> Replacements:
    """What `resume` replaces, from keywords. Raises UsageError for unknown keywords and invalid values."""
    return Replacements(**_values(given, ResumeKeywords))


def _values(given: Mapping[str, Any], keywords: type) -> dict[str, Any]:
    hints = get_type_hints(keywords, include_extras=True)
    for name in given:
        if name not in hints:
            raise unknown("keyword", name, hints)
    return {name: _convert(name, hints[name], value) for name, value in given.items() if value is not None}


def _convert(name: str, hint: Any, value: Any) -> Any:
    for read in getattr(hint, "__metadata__", ()):
        return _read_named(name, value, read)
    return value


F = TypeVar("F", bound=Callable[..., Any])


def with_run_keywords(function: F) -> F:
    """Adds the keywords to the signature of a function that takes them as **options, for `help` and for
    completion in notebooks."""
    return _with_keywords(function, OPTIONS)


def with_resume_keywords(function: F) -> F:
    """The same with those of `resume`."""
    return _with_keywords(function, REPLACEABLE)


def _with_keywords(function: F, names: Iterable[str]) -> F:
    signature = inspect.signature(function)
    other_parameters = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=OPTIONS[name][1]) for name in names
    ]
    function.__signature__ = signature.replace(parameters=[*other_parameters, *more])  # type: ignore[attr-defined]
    return function
