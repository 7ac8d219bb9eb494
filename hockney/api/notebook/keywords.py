# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of Python functions: quantities as numbers (seconds, bytes, fractions) or as text as on the
command line ("100us", "40kB", "1%"), and the fields of `RunOptions` as keywords."""

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
    """Format a number as text that the command line reads back exactly. Raises UsageError for other
    values."""
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
    """Format one or several numbers, separated by commas."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return quantity_text(values)
    return ",".join(map(quantity_text, values))


def _quantity_reader(parse: Callable[[str], T]) -> Callable[[Quantity], T]:
    return lambda value: parse(quantity_text(value))


def _list_reader(parse: Callable[[str], tuple[int, ...]]) -> Callable[[Quantities], tuple[int, ...]]:
    def read(values: Quantities) -> tuple[int, ...]:
        text = quantities_text(values)
        return parse(text) if text else ()

    return read


read_seconds = _quantity_reader(parse_seconds)
read_size = _quantity_reader(parse_bytes)
read_fraction = _quantity_reader(parse_fraction)
read_share = _quantity_reader(parse_share)
read_counts = _list_reader(parse_counts)
read_sizes = _list_reader(parse_sizes)


def _read_named(name: str, value: Any, read: Callable[[Any], T]) -> T:
    """Parse the argument called `name`, which errors mention."""
    try:
        return read(value)
    except UsageError as error:
        raise error.with_context(name) from error


def fraction_argument(name: str, value: Quantity) -> float:
    """Parse the keyword argument `name` as a fraction. Raises UsageError if it is invalid."""
    return _read_named(name, value, read_share)


def seconds_argument(name: str, value: Quantity) -> float:
    """Parse the keyword argument `name` as a time in seconds. Raises UsageError if it is invalid."""
    return _read_named(name, value, read_seconds)


def check_cost(cost: str) -> None:
    """Raise UsageError for an unknown cost."""
    if cost not in get_args(Cost):
        raise unknown("cost", cost, get_args(Cost), code="unknown-cost-word")


MACHINE_VARIABLE = "HOCKNEY_MACHINE"
"""The variable that gives the default machine, as on the command line."""


def _lines_reader(line: Callable[[str, Any], str]) -> Callable[[Mapping[str, Any] | Iterable[str]], Words]:
    """Make a reader of one line, several lines, or a mapping with items that `line` converts to lines."""

    def read(lines: Mapping[str, Any] | Iterable[str]) -> Words:
        if isinstance(lines, str):
            return (lines,)
        return tuple(line(*item) for item in lines.items()) if isinstance(lines, Mapping) else tuple(lines)

    return read


variable_assignments = _lines_reader(lambda name, value: f"{name}={value}")
setting_lines = _lines_reader(lambda name, variables: LaunchSetting.of(name, variables).line)


def host_names(names: Iterable[str]) -> tuple[str, ...]:
    """Convert one name or several to a tuple."""
    return tuple(names.split(",")) if isinstance(names, str) else tuple(names)


Seconds = Annotated[Quantity | None, read_seconds]
Fraction = Annotated[Quantity | None, read_fraction]
Counts = Annotated[Quantities | None, read_counts]
Sizes = Annotated[Quantities | None, read_sizes]
Variables = Annotated[Mapping[str, str] | Iterable[str] | None, variable_assignments]
SettingLines = Annotated[Mapping[str, Mapping[str, str]] | Iterable[str] | None, setting_lines]
Names = Annotated[Iterable[str] | None, host_names]
Program = Annotated[AnyPath | None, os.fspath]


class ResumeKeywords(TypedDict, total=False):
    """Accepted types of each option that `resume` may replace. None keeps the option."""

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
    """Accepted types of each field of `RunOptions`."""

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


def run_options(keywords: Mapping[str, Any], environ: Mapping[str, str]) -> RunOptions:
    """Convert keywords to the options of a run. Raises UsageError for unknown keywords and invalid values."""
    return RunOptions(
        **{"machine": environ.get(MACHINE_VARIABLE, ""), **_convert_keywords(keywords, RunKeywords)}
    )


def replacements(keywords: Mapping[str, Any]) -> Replacements:
    """Convert keywords to the replacements for `resume`. Raises UsageError for unknown keywords and invalid
    values."""
    return Replacements(**_convert_keywords(keywords, ResumeKeywords))


def _convert_keywords(given: Mapping[str, Any], keywords: type) -> dict[str, Any]:
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
    """Add the keywords to the signature of a function that takes them as **options, for `help` and for
    completion in notebooks."""
    return _with_keywords(function, OPTIONS)


def with_resume_keywords(function: F) -> F:
    """Add the keywords of `resume` to the signature of a function."""
    return _with_keywords(function, REPLACEABLE)


def _with_keywords(function: F, names: Iterable[str]) -> F:
    signature = inspect.signature(function)
    other_parameters = [
        parameter
        for parameter in signature.parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=OPTIONS[name][1]) for name in names
    ]
    function.__signature__ = signature.replace(parameters=[*other_parameters, *added])  # type: ignore[attr-defined]
    return function
