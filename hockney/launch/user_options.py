# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Finds out which decisions the user's arguments for mpiexec make, so that hockney does not make them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from hockney.core.launcher_options import LauncherOptions
from hockney.core.machine import Mpi

HOSTS = {
    "H", "host", "hosts", "f", "hostfile", "machine", "machinefile", "default-hostfile", "add-host",
    "add-hostfile",
}  # fmt: skip
MAPPING = {
    "map-by", "N", "npernode", "npersocket", "pernode", "ppr", "bynode", "bycore", "byslot", "rankfile", "rf",
}  # fmt: skip
BINDING = {"bind-to", "bind-to-core", "bind-to-socket", "cpu-list", "cpu-set", "binding"}
FILES = {"am", "tune"}
"""Files of parameters, which may set anything."""
PARAMETER = {"mca", "gmca", "omca", "prtemca"}
VARIABLE = {"x", "env", "genv"}


def option_names(options: LauncherOptions) -> set[str]:
    """The options in the arguments, without dashes and values."""
    return {_name(word) for word in options.arguments if word.startswith("-")}


def parameter_names(options: LauncherOptions) -> set[str]:
    """Open MPI's parameters in the arguments, and in the variables of the ranks."""
    given = {name for kind, name in _values(options) if kind in PARAMETER}
    named = {name.partition("=")[0] for kind, name in _values(options) if kind in VARIABLE}
    named |= {name for name, _ in options.variables}
    prefix = "OMPI_MCA_"
    return given | {name.removeprefix(prefix) for name in named if name.startswith(prefix)}


def name_hosts(options: LauncherOptions) -> bool:
    """Whether several hosts may take part."""
    named = {name for name in parameter_names(options) if name.endswith("hostfile")}
    return bool(named or option_names(options) & HOSTS)


def name_mapping(options: LauncherOptions) -> bool:
    return bool(option_names(options) & MAPPING)


def name_binding(options: LauncherOptions) -> bool:
    """Whether the user places the ranks: binding, mapping, or Intel's pinning."""
    pinned = any(name.startswith("I_MPI_PIN") for name, _ in options.variables)
    policies = any(name.endswith(("mapping_policy", "binding_policy")) for name in parameter_names(options))
    return pinned or policies or bool(option_names(options) & (MAPPING | BINDING))


def name_transports(options: LauncherOptions, frameworks: tuple[str, ...]) -> bool:
    """Whether the user chooses components of one of Open MPI's `frameworks`."""
    return bool(parameter_names(options) & set(frameworks) or option_names(options) & FILES)


def variable_words(mpi: Mpi, options: LauncherOptions) -> list[str] | None:
    """The options that set the variables of the ranks; None if they have to be set in the launcher's
    environment."""
    if mpi.family == "openmpi":
        return [word for name, value in options.variables for word in ("-x", f"{name}={value}")]
    if mpi.family in ("mpich", "intel"):
        return [word for name, value in options.variables for word in ("-genv", name, value)]
    return None


def _values(options: LauncherOptions) -> Iterator[tuple[str, str]]:
    """Every option with the following word."""
    for word, value in pairwise(options.arguments):
        if word.startswith("-"):
            yield _name(word), value


def _name(word: str) -> str:
    return word.lstrip("-").partition("=")[0]
