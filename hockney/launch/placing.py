# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Words and variables that place and bind ranks, for each family of MPI's mpiexec.

Tested with Open MPI 4.1 and 5.0, MPICH 4.0 and 5.0 and Intel MPI 2021.18.
"""

from __future__ import annotations

from dataclasses import dataclass

from hockney.core.binding import Cores
from hockney.core.machine import Mpi
from hockney.launch.cluster import NO_CLUSTER, Cluster, Spread

Options = tuple[list[str], dict[str, str]]


@dataclass(frozen=True)
class Placing:
    """`listed` are the cores of this host that ranks are bound to, if the launcher would choose others; with
    `crowded` there are more ranks than it starts without being told. `spread` is None where the launcher
    places ranks. Ranks that the user `placed` get no words for it, only the permission to be many if
    `shared`."""

    bound: bool = True
    listed: Cores | None = None
    crowded: bool = False
    spread: Spread | None = None
    cluster: Cluster = NO_CLUSTER
    placed: bool = False
    shared: bool = False


def open_mpi(mpi: Mpi, placing: Placing) -> Options:
    """Version 5 has another launcher (PRRTE) than version 4 (ORTE). Both count cores as hwloc does."""
    words = [*_open_mpi_agent(mpi, placing.cluster), *_open_mpi_hosts(placing)]
    if placing.placed:
        return [*words, *(_open_mpi_sharing(mpi) if placing.shared else [])], {}
    if placing.listed:
        cores = ",".join(map(str, placing.listed.logical))
        if before_prrte(mpi):
            return [*words, "--cpu-list", cores, "--bind-to", "cpu-list:ordered"], {}
        return [*words, "--map-by", f"pe-list={cores}:ordered", "--bind-to", "core"], {}
    binding = ["--bind-to", "core" if placing.bound else "none"]
    if placing.spread:
        where = f"ppr:{placing.spread.per_node}:node"
        if placing.crowded and not before_prrte(mpi):
            where += ":OVERSUBSCRIBE"
        sharing = ["--oversubscribe"] if placing.crowded and before_prrte(mpi) else []
        return [*words, "--map-by", where, *binding, *sharing], {}
    if placing.bound:
        return [*words, "--map-by", "core:OVERSUBSCRIBE" if placing.crowded else "core", *binding], {}
    return [*words, *binding, *(_open_mpi_sharing(mpi) if placing.crowded else [])], {}


def _open_mpi_agent(mpi: Mpi, cluster: Cluster) -> list[str]:
    """An agent of the user need not be able to start others from the hosts that it reaches, so that all
    daemons are started from here."""
    if not cluster.agent:
        return []
    kind, name = ("--mca", "rsh") if before_prrte(mpi) else ("--prtemca", "ssh")
    agent = " ".join(cluster.agent)
    return [
        kind, "plm", name, kind, f"plm_{name}_agent", agent, kind, f"plm_{name}_no_tree_spawn", "1",
    ]  # fmt: skip


def _open_mpi_hosts(placing: Placing) -> list[str]:
    if not placing.cluster.hosts:
        return []
    slots = placing.spread.per_node if placing.spread else 1
    return ["--host", ",".join(f"{host}:{slots}" for host in placing.cluster.hosts)]


def _open_mpi_sharing(mpi: Mpi) -> list[str]:
    """The options that allow ranks to share cores, without any about binding."""
    return ["--oversubscribe"] if before_prrte(mpi) else ["--map-by", ":OVERSUBSCRIBE"]


def before_prrte(mpi: Mpi) -> bool:
    return mpi.version.partition(".")[0] in ("1", "2", "3", "4")


def mpich(mpi: Mpi, placing: Placing) -> Options:
    """Hydra oversubscribes without an option; its user list has the system's numbers."""
    words, variables = _hydra(placing, "-launcher", "HYDRA_LAUNCHER_EXTRA_ARGS")
    if placing.placed:
        return words, variables
    if placing.listed:
        return [*words, "-bind-to", "user:" + ",".join(map(str, placing.listed.cpus))], variables
    return [*words, "-bind-to", "core" if placing.bound else "none"], variables


def intel(mpi: Mpi, placing: Placing) -> Options:
    """Intel's hydra is controlled by the environment; in a batch job it places ranks as the scheduler does
    unless told not to."""
    words, variables = _hydra(placing, "-bootstrap", "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS")
    if placing.placed:
        return words, variables
    if placing.spread:
        variables |= {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "0"}
    if placing.listed:
        cpus = ",".join(map(str, placing.listed.cpus))
        return words, variables | {"I_MPI_PIN": "1", "I_MPI_PIN_PROCESSOR_LIST": cpus}
    if placing.bound:
        return words, variables | {"I_MPI_PIN": "1", "I_MPI_PIN_CELL": "core", "I_MPI_PIN_DOMAIN": "core"}
    return words, variables | {"I_MPI_PIN": "0"}


def _hydra(placing: Placing, starter: str, extra: str) -> Options:
    """The hosts, and the remote shell, whose further words Hydra reads from the variable `extra`."""
    cluster = placing.cluster
    words: list[str] = []
    variables: dict[str, str] = {}
    if cluster.agent:
        words += [starter, "ssh", f"{starter}-exec", cluster.agent[0]]
        if cluster.agent[1:]:
            variables[extra] = " ".join(cluster.agent[1:])
    if cluster.hosts:
        words += ["-hosts", ",".join(cluster.hosts)]
    if placing.spread and not placing.placed:
        words += ["-ppn", str(placing.spread.per_node)]
    return words, variables


def unknown(mpi: Mpi, placing: Placing) -> Options:
    """MPI's standard (section 11.5 of version 4.1) has -n but no option for binding or for several hosts."""
    return [], {}


OPTIONS = {"openmpi": open_mpi, "mpich": mpich, "intel": intel, "unknown": unknown}

TCP_ONLY = {
    "openmpi": {"OMPI_MCA_pml": "ob1", "OMPI_MCA_osc": "^ucx"},
    "mpich": {"FI_PROVIDER": "tcp", "UCX_TLS": "tcp,self"},
    "intel": {"I_MPI_FABRICS": "shm:ofi", "FI_PROVIDER": "tcp"},
}
"""Within a host messages still use shared memory, which MPICH and Intel MPI do without network modules."""


def tcp_only(mpi: Mpi) -> dict[str, str]:
    """The variables with which messages between hosts use nothing but TCP."""
    variables = dict(TCP_ONLY.get(mpi.family, {}))
    if mpi.family == "openmpi":
        variables["OMPI_MCA_btl"] = f"self,{'vader' if before_prrte(mpi) else 'sm'},tcp"
    return variables
