# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The words that start ranks, for every family of MPI. Nothing is started here.

Options were tried on Open MPI 4.1 and 5.0, MPICH 4.0 and 5.0 and Intel MPI 2021.18.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from hockney.core.binding import Cores
from hockney.core.machine import Mpi
from hockney.core.notice import Notice
from hockney.launch.fabric import without_fabric
from hockney.launch.launcher import LaunchCommand
from hockney.launch.messages import binding


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
) -> LaunchCommand:
    """How `ranks` ranks of the engine are started.

    With more ranks than cores, nothing is bound. On `many_hosts` (a batch job) the launcher has the hosts and
    their slots, and this host's cores tell nothing about the others. `environ` is what the launcher inherits
    (os.environ if None); what it sets there is not set again.
    """
    crowded = not many_hosts and ranks > cores.usable
    bound = bind and (many_hosts or ranks <= len(cores.cpus))
    # a list only where it is needed: it is the same on every host, and launchers know better otherwise
    chosen = Cores(cores.cpus[:ranks], cores.logical[:ranks], cores.usable, True)
    listed = chosen if bound and cores.restricted and not many_hosts else None
    options, variables = OPTIONS[mpi.family](mpi, bound, listed, crowded)
    notes: list[Notice] = []
    if mpi.family == "openmpi" and root:
        variables = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} | variables
        notes.append(binding.root_allowed())
    fabric = without_fabric(mpi, os.environ if environ is None else environ, many_hosts=many_hosts)
    if fabric:
        variables = variables | fabric
        notes.append(binding.fabric_left_out(fabric))
    if crowded:
        notes.append(binding.oversubscribed(ranks, cores.usable, bound))
    return LaunchCommand(
        words=(mpi.mpiexec, "-n", str(ranks), *options, *engine_words),
        environment=tuple(sorted({**mpi.environment, **variables}.items())),
        binding=planned(bound, listed, bind),
        bound=bound,
        oversubscribed=crowded,
        notes=tuple(notes),
    )


def planned(bound: bool, listed: Cores | None, requested: bool) -> str:
    """The binding that the launcher is asked for."""
    if not bound:
        return binding.not_bound_oversubscribed() if requested else binding.not_bound_as_requested()
    return binding.bound_to_list(listed.cpus) if listed else binding.bound_to_cores()


Options = tuple[list[str], dict[str, str]]


def open_mpi(mpi: Mpi, bound: bool, listed: Cores | None, crowded: bool) -> Options:
    """Version 5 has another launcher (PRRTE) than version 4 (ORTE). Both count cores as hwloc does."""
    old = mpi.version.partition(".")[0] in ("1", "2", "3", "4")
    if listed:
        cores = ",".join(map(str, listed.logical))
        if old:
            return ["--cpu-list", cores, "--bind-to", "cpu-list:ordered"], {}
        return ["--map-by", f"pe-list={cores}:ordered", "--bind-to", "core"], {}
    share = [":OVERSUBSCRIBE"] if crowded else []
    if bound:
        return ["--map-by", "".join(["core", *share]), "--bind-to", "core"], {}
    if old:
        return ["--bind-to", "none", *(["--oversubscribe"] if crowded else [])], {}
    return ["--bind-to", "none", *(["--map-by", *share] if crowded else [])], {}


def mpich(mpi: Mpi, bound: bool, listed: Cores | None, crowded: bool) -> Options:
    """Hydra oversubscribes without being asked; its user list has the system's numbers."""
    if listed:
        return ["-bind-to", "user:" + ",".join(map(str, listed.cpus))], {}
    return ["-bind-to", "core" if bound else "none"], {}


def intel(mpi: Mpi, bound: bool, listed: Cores | None, crowded: bool) -> Options:
    """Intel's hydra is told by the environment."""
    if listed:
        return [], {"I_MPI_PIN": "1", "I_MPI_PIN_PROCESSOR_LIST": ",".join(map(str, listed.cpus))}
    if bound:
        return [], {"I_MPI_PIN": "1", "I_MPI_PIN_CELL": "core", "I_MPI_PIN_DOMAIN": "core"}
    return [], {"I_MPI_PIN": "0"}


def unknown(mpi: Mpi, bound: bool, listed: Cores | None, crowded: bool) -> Options:
    """MPI's standard (section 11.5 of version 4.1) has -n and no word about binding."""
    return [], {}


OPTIONS = {"openmpi": open_mpi, "mpich": mpich, "intel": intel, "unknown": unknown}
