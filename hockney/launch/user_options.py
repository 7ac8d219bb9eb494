# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Finds out which decisions the user's arguments for mpiexec make, so that hockney does not make them. The
arguments of each launcher are in hockney/mpi."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from hockney.core.launcher_options import LauncherOptions
from hockney.mpi import all_arguments, families


def option_names(options: LauncherOptions) -> set[str]:
    """The options in the arguments, without dashes and values."""
    return {_name(word) for word in options.arguments if word.startswith("-")}


def parameter_names(options: LauncherOptions) -> set[str]:
    """The launcher's parameters in the arguments, and in the variables of the ranks."""
    known = all_arguments()
    given = {name for kind, name in _values(options) if kind in known.parameters}
    named = {name.partition("=")[0] for kind, name in _values(options) if kind in known.variables}
    named |= {name for name, _ in options.variables}
    for prefix in known.parameter_prefixes:
        given |= {name.removeprefix(prefix) for name in named if name.startswith(prefix)}
    return given


def name_hosts(options: LauncherOptions) -> bool:
    """Whether several hosts may take part."""
    known = all_arguments()
    ends = tuple(known.host_parameter_ends)
    named = any(name.endswith(ends) for name in parameter_names(options))
    return named or bool(option_names(options) & known.hosts)


def name_mapping(options: LauncherOptions) -> bool:
    return bool(option_names(options) & all_arguments().mapping)


def name_binding(options: LauncherOptions) -> bool:
    """Whether the user places the ranks: by binding, mapping or pinning."""
    known = all_arguments()
    pinned = any(name.startswith(tuple(known.pinning_prefixes)) for name, _ in options.variables)
    policies = any(name.endswith(tuple(known.placing_parameter_ends)) for name in parameter_names(options))
    return pinned or policies or bool(option_names(options) & (known.mapping | known.binding))


def name_transports(options: LauncherOptions) -> bool:
    """Whether the user chooses how messages travel, as far as parameters of the launcher do."""
    choosing = {name for family in families() for name in family.transport_parameters}
    return bool(parameter_names(options) & choosing or option_names(options) & all_arguments().files)


def _values(options: LauncherOptions) -> Iterator[tuple[str, str]]:
    """Every option with the following word."""
    for word, value in pairwise(options.arguments):
        if word.startswith("-"):
            yield _name(word), value


def _name(word: str) -> str:
    return word.lstrip("-").partition("=")[0]
