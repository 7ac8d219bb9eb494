# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The eager limit: up to which size a message is sent before its receiver is ready. Launches with different
limits take turns; MPI's own limit has separate launches too, so that all pingpongs have the same company.

On the T3E of the paper the best setting was 4096 B (`MPI_BUFFER_MAX`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hockney.core.launch_setting import LaunchSetting
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.pages.evidence import Options
from hockney.studies import places

LIMITS = StudyParameter(
    "eager",
    "integer",
    "eager limits to try on 2 ranks, 0 for none",
    unit="B",
    default="1KiB,4KiB,16KiB,64KiB",
    high=1 << 20,
    many=True,
)
PREFIX = "eager-"
OWN = f"{PREFIX}own"
"""The launches with MPI's own limit."""
SIZES = tuple(512 << k for k in range(10))
"""512 B to 256 KiB: on both sides of every limit."""
CELL_HEADER = 4096
"""Room for MPICH's header in a cell of shared memory, as in its own default of 64 KiB + 4 KiB."""
PACK_BUFFER = 16384
"""The default size of MPICH's pack buffers, which must not be shorter than a cell."""


def _open_mpi(limit: int, version: str) -> dict[str, str]:
    """The transports of ob1: shared memory, which was called vader before version 5, and TCP."""
    shared = "vader" if version.partition(".")[0] in ("2", "3", "4") else "sm"
    return {f"OMPI_MCA_btl_{name}_eager_limit": str(limit) for name in (shared, "tcp")}


def _mpich(limit: int, version: str) -> dict[str, str]:
    """Shared memory sends eagerly what fits into a cell, unless a single copy (IPC) begins earlier. Before
    version 4, its default device was ch3."""
    if version.partition(".")[0] in ("1", "3"):
        return {
            "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE": str(limit),
            "MPIR_CVAR_NEMESIS_SHM_EAGER_MAX_SZ": str(limit),
        }
    return {
        "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE": str(limit + CELL_HEADER),
        "MPIR_CVAR_CH4_PACK_BUFFER_SIZE": str(max(limit + CELL_HEADER, PACK_BUFFER)),
        "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD": str(limit + 1),
        "MPIR_CVAR_CH4_IPC_XPMEM_P2P_THRESHOLD": str(limit + 1),
        "MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": str(limit),
        "UCX_RNDV_THRESH": str(limit + 1),
    }


VARIABLES: dict[str, Callable[[int, str], dict[str, str]]] = {"openmpi": _open_mpi, "mpich": _mpich}
"""By family of MPI, the variables that set the limit of every transport that may carry messages: those of
other transports have no effect."""


def variables(limit: int, machine: Machine) -> dict[str, str]:
    """The variables for an eager limit; none if the machine's MPI has no known ones."""
    if machine.traits.invented:
        return {"FAKE_EAGER_LIMIT": str(limit)}
    known = VARIABLES.get(machine.mpi.family) if machine.mpi is not None else None
    if known is None or machine.mpi is None or not machine.traits.by_mpiexec:
        return {}
    return known(limit, machine.mpi.version)


def name_of(limit: int) -> str:
    """ "eager-4096"."""
    return f"{PREFIX}{limit}"


def limit_of(setting: str) -> int | None:
    """The inverse (bytes); None for another setting."""
    limit = setting.removeprefix(PREFIX)
    return int(limit) if limit != setting and limit.isdecimal() else None


def limits(options: Options, machine: Machine) -> list[int]:
    """The limits to try; empty if the machine has no such variables, or if two ranks are not measured."""
    wanted = [limit for limit in options.value(LIMITS) if limit]
    if options.ranks and 2 not in options.ranks:
        return []
    return [limit for limit in wanted if variables(limit, machine)]


def launch_settings(options: Options, machine: Machine) -> Sequence[LaunchSetting]:
    wanted = limits(options, machine)
    own = [LaunchSetting(OWN, ())] if wanted else []
    return [*own, *(LaunchSetting.of(name_of(limit), variables(limit, machine)) for limit in wanted)]


def lines(options: Options, machine: Machine) -> Iterator[str]:
    """The cases, on ranks of one node where a node has several."""
    where = places.at(places.spanned(machine)[0])
    for setting in launch_settings(options, machine):
        for size in SIZES:
            yield f"pingpong bytes={size} buffers=hot ranks=2 setting={setting.name}{where}"
