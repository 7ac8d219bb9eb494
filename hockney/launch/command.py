# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Command lines that start ranks, for every family of MPI. Nothing is started here.

Tested with Open MPI 4.1 and 5.0, MPICH 4.0 and 5.0 and Intel MPI 2021.18.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from hockney.core.binding import Cores
from hockney.core.launcher_options import NOTHING_ADDED, LauncherOptions
from hockney.core.machine import Mpi
from hockney.core.notice import Notice
from hockney.launch.fabric import without_fabric
from hockney.launch.launcher import LaunchCommand
from hockney.launch.messages import binding
from hockney.launch.user_options import name_binding, name_hosts, name_mapping, variable_words


def command(
    mpi: Mpi,
    engine_words: Sequence[str],
    ranks: int,
    cores: Cores,
    *,
    bind: bool = True,
    root: bool = False,
    many_hosts: bool = False,
    environ: Mapping[str, str] | None = None,
    user: LauncherOptions = NOTHING_ADDED,
) -> LaunchCommand:
    """The command that starts `ranks` ranks of the engine.

    With more ranks than cores, ranks are not bound. On `many_hosts` (a batch job) the launcher knows the
    hosts and their slots, and this host's cores say nothing about the others. `environ` is the launcher's
    environment (os.environ if None); variables set there are not set again. The arguments of `user` come
    last; if they place the ranks, no binding is requested here.
    """
    many_hosts = many_hosts or name_hosts(user)
    placed = name_binding(user)
    crowded = not many_hosts and ranks > cores.usable
    bound = not placed and bind and (many_hosts or ranks <= len(cores.cpus))
    # a list only if needed: it is the same on every host, and otherwise launchers choose better
    chosen = Cores(cores.cpus[:ranks], cores.logical[:ranks], cores.usable, True)
    listed = chosen if bound and cores.restricted and not many_hosts else None
    options, variables = OPTIONS[mpi.family](mpi, bound, listed, crowded)
    if placed:
        options, variables = _sharing(mpi, crowded and not name_mapping(user)), {}
    notes: list[Notice] = []
    if mpi.family == "openmpi" and root:
        variables = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} | variables
    fabric = without_fabric(mpi, os.environ if environ is None else environ, many_hosts=many_hosts, user=user)
    if fabric:
        variables = variables | fabric
        notes.append(binding.fabric_left_out(fabric))
    if crowded:
        notes.append(binding.oversubscribed(ranks, cores.usable, bound or placed))
    words = variable_words(mpi, user)
    if words is None:
        variables = variables | dict(user.variables)
    return LaunchCommand(
        words=(mpi.mpiexec, "-n", str(ranks), *options, *(words or ()), *user.arguments, *engine_words),
        environment=tuple(sorted({**mpi.environment, **variables}.items())),
        binding=binding.as_arguments_say() if placed else planned(bound, listed, bind),
        bound=bound,
        placed_by_user=placed,
        oversubscribed=crowded,
        notes=tuple(notes),
    )


def planned(bound: bool, listed: Cores | None, requested: bool) -> str:
    """The binding requested from the launcher."""
    if not bound:
        return binding.not_bound_oversubscribed() if requested else binding.not_bound_as_requested()
    return binding.bound_to_list(listed.cpus) if listed else binding.bound_to_cores()


Options = tuple[list[str], dict[str, str]]


def _sharing(mpi: Mpi, crowded: bool) -> list[str]:
    """The options that allow ranks to share cores, without any about binding."""
    if mpi.family != "openmpi" or not crowded:
        return []
    return ["--oversubscribe"] if _before_prrte(mpi) else ["--map-by", ":OVERSUBSCRIBE"]


def _before_prrte(mpi: Mpi) -> bool:
    return mpi.version.partition(".")[0] in ("1", "2", "3", "4")


def open_mpi(mpi: Mpi, bound: bool, listed: Cores | None, crowded: bool) -> Options:
    """Version 5 has another launcher (PRRTE) than version 4 (ORTE). Both count cores as hwloc does."""
    if listed:
        cores = ",".join(map(str, listed.logical))
        if _before_prrte(mpi):
            return ["--cpu-list", cores, "--bind-to", "cpu-list:ordered"], {}
        return ["--map-by", f"pe-list={cores}:ordered", "--bind-to", "core"], {}
    if bound:
        return ["--map-by", "core:OVERSUBSCRIBE" if crowded else "core", "--bind-to", "core"], {}
    return ["--bind-to", "none", *_sharing(mpi, crowded)], {}


def mpich(mpi: Mpi, bound: bool, listed: Cores | None, crowded: bool) -> Options:
    """Hydra oversubscribes without an option; its user list has the system's numbers."""
    if listed:
        return ["-bind-to", "user:" + ",".join(map(str, listed.cpus))], {}
    return ["-bind-to", "core" if bound else "none"], {}


def intel(mpi: Mpi, bound: bool, listed: Cores | None, crowded: bool) -> Options:
    """Intel's hydra is controlled by the environment."""
    if listed:
        return [], {"I_MPI_PIN": "1", "I_MPI_PIN_PROCESSOR_LIST": ",".join(map(str, listed.cpus))}
    if bound:
        return [], {"I_MPI_PIN": "1", "I_MPI_PIN_CELL": "core", "I_MPI_PIN_DOMAIN": "core"}
    return [], {"I_MPI_PIN": "0"}


def unknown(mpi: Mpi, bound: bool, listed: Cores | None, crowded: bool) -> Options:
    """MPI's standard (section 11.5 of version 4.1) has -n but no option for binding."""
    return [], {}


OPTIONS = {"openmpi": open_mpi, "mpich": mpich, "intel": intel, "unknown": unknown}
