# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The fields of `RunOptions` as keywords of functions, with values convenient for programs and notebooks."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypedDict, TypeVar, get_type_hints

from hockney.api.notebook import quantities
from hockney.api.notebook.quantities import Quantities, Quantity
from hockney.api.run_options import OPTIONS, REPLACEABLE, Replacements, RunOptions
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
    return RunOptions(**{"machine": environ.get(MACHINE, ""), **_values(given, RunKeywords)})


def replacements(given: Mapping[str, Any]) -> Replacements:
    """What `resume` replaces, from keywords. Raises UsageError for unknown keywords and invalid values."""
    return Replacements(**_values(given, ResumeKeywords))


def _values(given: Mapping[str, Any], keywords: type) -> dict[str, Any]:
    hints = get_type_hints(keywords, include_extras=True)
    for name in given:
        if name not in hints:
            raise unknown("keyword", name, hints)
    return {name: _read(name, hints[name], value) for name, value in given.items() if value is not None}


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
    return _with_keywords(function, OPTIONS)


def with_resume_keywords(function: F) -> F:
    """The same with those of `resume`."""
    return _with_keywords(function, REPLACEABLE)


def _with_keywords(function: F, names: Iterable[str]) -> F:
    signature = inspect.signature(function)
    kept = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=OPTIONS[name][1]) for name in names
    ]
    function.__signature__ = signature.replace(parameters=[*kept, *more])  # type: ignore[attr-defined]
    return function
