# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The progress thread of an MPI, which continues communication while the program computes: how it is
switched on.

- MPICH: MPIR_CVAR_ASYNC_PROGRESS, formerly MPICH_ASYNC_PROGRESS.
- Intel MPI: I_MPI_ASYNC_PROGRESS (Developer Reference).
- Open MPI: up to version 5 only TCP has such a thread (btl_tcp_progress_thread), which shared memory and
  other networks do not use. A general one has been proposed for later versions, as mpi_async_progress
  (github.com/open-mpi/ompi, pull request 13088)."""

from __future__ import annotations

from collections.abc import Mapping

from hockney.core.launch_setting import LaunchSetting
from hockney.core.machine import Machine, Mpi

SETTING = "progress-thread"
OWN, THREAD = "own", "thread"
"""Only calls of MPI make progress, or a thread as well."""
MPICH = "MPIR_CVAR_ASYNC_PROGRESS"
INTEL = "I_MPI_ASYNC_PROGRESS"
OPEN_MPI = "OMPI_MCA_mpi_async_progress"
OPEN_MPI_TCP = "OMPI_MCA_btl_tcp_progress_thread"
MPICH_FORMERLY = "MPICH_ASYNC_PROGRESS"
"""Also that of the machine with made-up costs."""
VARIABLES = (MPICH, MPICH_FORMERLY, INTEL, OPEN_MPI, OPEN_MPI_TCP)
OFF = ("", "0", "no", "off", "false", "disable")
FIRST_GENERAL = 6
"""The version of Open MPI from which on the general thread is tried."""


def thread_of(machine: Machine) -> LaunchSetting | None:
    """The setting that switches on MPI's progress thread; None if the machine's MPI has no such thread, or if
    it is not started by mpiexec."""
    if machine.traits.invented:
        return LaunchSetting(SETTING, ((MPICH_FORMERLY, "1"),))
    if machine.mpi is None or not machine.traits.by_mpiexec:
        return None
    variable = _variable(machine.mpi)
    return LaunchSetting(SETTING, ((variable, "1"),)) if variable else None


def for_all_transports(machine: Machine) -> bool:
    """Whether the thread serves all messages, and not only those through TCP."""
    return machine.mpi is None or _variable(machine.mpi) != OPEN_MPI_TCP


def switched_on(variables: Mapping[str, str]) -> bool:
    """Whether these variables of a launch switch a progress thread on."""
    return any(variables.get(name, "").lower() not in OFF for name in VARIABLES)


def _variable(mpi: Mpi) -> str:
    if mpi.family == "openmpi":
        return OPEN_MPI if _major(mpi.version) >= FIRST_GENERAL else OPEN_MPI_TCP
    return {"mpich": MPICH, "intel": INTEL}.get(mpi.family, "")


def _major(version: str) -> int:
    first = version.partition(".")[0]
    return int(first) if first.isdecimal() else 0
