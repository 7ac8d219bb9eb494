# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The fields of `RunOptions` as keywords of functions, with values convenient for programs and notebooks."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Annotated, Any, TypedDict, TypeVar, get_type_hints

from hockney.api.notebook import quantities
from hockney.api.notebook.quantities import Quantities, Quantity
from hockney.api.run_options import RunOptions
from hockney.core.errors import UsageError, unknown
from hockney.core.launch_setting import LaunchSetting
from hockney.core.paths import AnyPath

MACHINE = "HOCKNEY_MACHINE"
"""The variable that gives the default machine, as on the command line."""


def variable_words(given: Mapping[str, str] | Iterable[str]) -> tuple[str, ...]:
    """NAME=VALUE each."""
    if isinstance(given, str):
        return (given,)
    if isinstance(given, Mapping):
        return tuple(f"{name}={value}" for name, value in given.items())
    return tuple(given)


def setting_lines(given: Mapping[str, Mapping[str, str]] | Iterable[str]) -> tuple[str, ...]:
    """NAME VARIABLE=VALUE ... each."""
    if isinstance(given, str):
        return (given,)
    if isinstance(given, Mapping):
        return tuple(LaunchSetting.of(name, variables).line for name, variables in given.items())
    return tuple(given)


def host_names(given: Iterable[str]) -> tuple[str, ...]:
    """One name or several."""
    return tuple(given.split(",")) if isinstance(given, str) else tuple(given)


Seconds = Annotated[Quantity | None, quantities.seconds]
Fraction = Annotated[Quantity | None, quantities.fraction]
Counts = Annotated[Quantities | None, quantities.counts]
Sizes = Annotated[Quantities | None, quantities.sizes]
Variables = Annotated[Mapping[str, str] | Iterable[str] | None, variable_words]
SettingLines = Annotated[Mapping[str, Mapping[str, str]] | Iterable[str] | None, setting_lines]
Names = Annotated[Iterable[str] | None, host_names]
Program = Annotated[AnyPath | None, os.fspath]


class RunKeywords(TypedDict, total=False):
    """The types accepted for each field of `RunOptions`. None is the default."""

    ranks: Counts
    sizes: Sizes
    budget: Seconds
    precision: Fraction
    launches: int | None
    seed: int | None
    bind: bool | None
    mpi: Program
    machine: Program
    repeat: int | None
    through: Seconds
    every: Seconds
    force: bool | None
    mpiexec_args: str | None
    variables: Variables
    label: str | None
    launch_settings: SettingLines
    refine: bool | None
    nodes: int | None
    ranks_per_node: int | None
    hosts: Names
    starter: str | None
    agent: str | None
    assume_network: bool | None


def run_options(given: Mapping[str, Any], environ: Mapping[str, str]) -> RunOptions:
    """The options of a run from keywords. Raises UsageError for unknown keywords and invalid values."""
    hints = get_type_hints(RunKeywords, include_extras=True)
    values: dict[str, Any] = {"machine": environ.get(MACHINE, "")}
    for name, value in given.items():
        if name not in hints:
            raise unknown("keyword", name, hints)
        if value is not None:
            values[name] = _read(name, hints[name], value)
    return RunOptions(**values)


def _read(name: str, hint: Any, value: Any) -> Any:
    for read in getattr(hint, "__metadata__", ()):
        try:
            return read(value)
        except UsageError as error:
            raise error.inside(name) from error
    return value


F = TypeVar("F", bound=Callable[..., Any])


def with_run_keywords(function: F) -> F:
    """Adds the keywords to the signature of a function that takes them as **options, for `help` and for
    completion in notebooks."""
    signature = inspect.signature(function)
    kept = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    more = [
        inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default)
        for field in fields(RunOptions)
    ]
    function.__signature__ = signature.replace(parameters=[*kept, *more])  # type: ignore[attr-defined]
    return function
