# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The options of one side of an interleaved comparison, as text: --mpi mpich -x UCX_TLS=tcp."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hockney.api.notebook.run_keywords import run_options
from hockney.api.run_options import LONGEST_LABEL, RunOptions
from hockney.api.run_options import OPTIONS as OPTIONS_OF_RUN
from hockney.core.errors import HockneyError, UsageError, printable
from hockney.core.launcher_options import launcher_options
from hockney.core.option_names import flag

FIELDS = {name for name, (option, _) in OPTIONS_OF_RUN.items() if option.of_side}
OPTIONS = {flag(field): field for field in FIELDS - {"bind"}}
"""The options in which the sides may differ, with a value each, and the fields of `RunOptions`."""
MOST_DIGITS = 9
"""Of a number of nodes or ranks."""
FLAGS = {"--bind": True, "--no-bind": False}

Side = str | Mapping[str, Any]


def side_options(name: str, side: Side, common: RunOptions) -> RunOptions:
    """The options `common` to both sides with those of the `side` called `name`: variables and arguments of
    mpiexec are added, others replaced. Raises UsageError for what is no option of a side."""
    given = _parsed(name, side) if isinstance(side, str) else dict(side)
    for field in given:
        if field not in FIELDS:
            raise _not_allowed(name, field)
    try:
        own = run_options({"machine": common.machine, **given}, {})
    except HockneyError as error:
        raise error.inside(name) from error
    chosen = {field: getattr(own, field) for field in FIELDS if field in given}
    if not own.label:
        chosen["label"] = _label(side, common)
    if "variables" in given:
        chosen["variables"] = _together(common, own)
    if "mpiexec_args" in given:
        chosen["mpiexec_args"] = " ".join(filter(None, (common.mpiexec_args, own.mpiexec_args)))
    return replace(common, **chosen)


def _label(side: Side, common: RunOptions) -> str:
    """What is shown with the results: the options as typed."""
    text = side if isinstance(side, str) else ", ".join(f"{name}={value}" for name, value in side.items())
    text = " ".join(text.split())[:LONGEST_LABEL]
    return text if text.isprintable() and text else common.label


def _together(common: RunOptions, own: RunOptions) -> tuple[str, ...]:
    """The variables of both; a side's own replace others of the same name."""
    both = launcher_options("", common.variables).having(launcher_options("", own.variables).variables)
    return tuple(f"{name}={value}" for name, value in both.variables)


def _not_allowed(name: str, option: str) -> UsageError:
    known = option.lstrip("-").replace("-", "_") in OPTIONS_OF_RUN
    return (
        UsageError(
            f"{name} has the option {printable(option)}",
            "both sides measure the same cases in the same way",
            "give it once, outside of the sides",
            code="option-not-of-a-side",
            side=name,
            option=option,
        )
        if known
        else UsageError(
            f"{name} has '{printable(option)}'",
            "it is none of the options in which sides may differ",
            "use --mpi, --machine, -x, --mpiexec-args, --bind, --no-bind, --nodes, --ranks-per-node, "
            "--hosts, --launcher or --agent",
            code="unknown-side-option",
            side=name,
            option=option,
        )
    )


def differing(a: RunOptions, b: RunOptions) -> list[str]:
    """The fields in which both differ; a label changes nothing."""
    return [name for name in sorted(FIELDS - {"label"}) if getattr(a, name) != getattr(b, name)]


def _parsed(name: str, text: str) -> dict[str, Any]:
    """Keywords from words as on the command line."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(
            f"the options of {name} are not words: '{printable(text)}'",
            str(error).lower(),
            "quote them as in a shell",
            code="side-not-words",
            side=name,
            text=text,
        ) from error
    given: dict[str, Any] = {}
    variables: list[str] = []
    while words:
        option, equals, value = words.pop(0).partition("=")
        if option in FLAGS and not equals:
            given["bind"] = FLAGS[option]
            continue
        if option not in OPTIONS:
            raise _not_allowed(name, option)
        if not equals:
            if not words:
                raise UsageError(
                    f"{name} ends with {option}",
                    "its value is missing",
                    f"add the value after {option}",
                    code="side-option-without-value",
                    side=name,
                    option=option,
                )
            value = words.pop(0)
        if option == "-x":
            variables.append(value)
        elif OPTIONS[option] in ("nodes", "ranks_per_node"):
            if not (value.isascii() and value.isdecimal() and len(value) <= MOST_DIGITS and int(value)):
                raise UsageError(
                    f"{name} has {option} {printable(value)}",
                    "it is a number of nodes or ranks, from 1",
                    "use for example 2",
                    code="side-count-not-whole",
                    side=name,
                    option=option,
                    text=value,
                )
            given[OPTIONS[option]] = int(value)
        else:
            given[OPTIONS[option]] = os.fspath(value)
    return given | ({"variables": tuple(variables)} if variables else {})
