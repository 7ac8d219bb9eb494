# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""MPICH and its launcher Hydra. Tested with versions 4.0 and 5.0. Derived MPIs without a separate family,
such as MVAPICH, count as MPICH."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from hockney.mpi import NETMOD, PROVIDER, Arguments, Cause, MpiFamily, Options, ProgressThread, RankPlacement

if TYPE_CHECKING:
    from hockney.core.machine import Mpi

ONE_WORD_OPTIONS = (
    "n", "np", "f", "hosts", "hostfile", "machine", "machinefile", "rankmap", "wdir", "wd", "configfile",
    "host", "genvlist", "envlist", "ppn", "perhost", "grr", "launcher", "launcher-exec", "bootstrap",
    "bootstrap-exec", "rmk", "topolib", "bind-to", "binding", "map-by", "membind", "demux", "iface",
    "localhost", "nameserver", "order-nodes", "outfile-pattern", "errfile-pattern", "outfile", "errfile",
    "prepend-pattern", "usize", "timeout", "gpus-per-proc", "memory-alloc-kinds", "umask", "ckpointlib",
    "ckpoint-prefix", "ckpoint-num", "ckpoint-interval", "s", "tune", "gtool", "gtoolfile", "path", "arch",
    "soft", "file",
)  # fmt: skip
"""Options of Hydra's mpiexec and of derived launchers that are followed by their value."""
HYDRA_OPTION_WORDS: Mapping[str, int] = dict.fromkeys(ONE_WORD_OPTIONS, 1) | {"env": 2, "genv": 2}
LIBFABRIC = r"\blibfabric provider: ()(\S+)"
CELL_HEADER = 4096
"""Room for MPICH's header in a cell of shared memory; MPICH's default cell is 64 KiB + 4 KiB."""
PACK_BUFFER = 16384
"""The default size of MPICH's pack buffers, which must not be shorter than a cell."""


class Mpich(MpiFamily):
    name = "mpich"
    title = "MPICH"
    order = 2
    names = ("mpich",)
    wheels = ("mpich",)
    suffixes = ("mpich",)
    compiler_variables = ("MPICH_CXX",)
    library_signs = ("MVAPICH", "MPICH")
    launchers = ("mpiexec.hydra", "mpiexec.gforker", "mpirun_rsh")
    option_words: ClassVar[Mapping[str, int]] = HYDRA_OPTION_WORDS
    # its own client has PMI1 and PMI2; PMIx only if built so
    srun_interfaces = ("pmi2", "cray_shasta", "pmix")
    arguments = Arguments(
        hosts=frozenset({"host", "hosts", "f", "hostfile", "machine", "machinefile"}),
        mapping=frozenset({"map-by", "rankfile"}),
        binding=frozenset({"bind-to", "binding"}),
        variables=frozenset({"env", "genv"}),
    )
    failures: ClassVar[Mapping[Cause, str]] = {
        "daemon": r"hydra_\w*proxy: (?:(?:command )?not found|No such file|Permission denied)",
        "program": r"execvp error",
        "connection": r"PMI2?_Init|MPI_INIT failed|unsupported PMI version",
        "dead": r"\[mpiexec@\S+\] control_cb .*assert \(!closed\) failed|Launch proxy failed",
    }
    failed_host = r"\[proxy:\d+@([^\]\s]+)\].*execvp"
    fatal_line = r"execvp error"
    # "= PID 17 RUNNING AT h", "= EXIT CODE: 9", where the exit code is the signal
    ended_by_signal = r"BAD TERMINATION.*?EXIT CODE: (?P<signal>\d+)"
    transport_reports = ((r"==== ()(\w+) netmod Capability", NETMOD), (LIBFABRIC, PROVIDER))
    setting_prefixes = ("MPICH_", "MPIR_", "HYDRA_", "MV2_", "MVP_")
    ignored_settings = r"MPIR_(?!CVAR_)|HYDRA_(CONTROL|PROXY)|(MV2|MVP)_COMM_WORLD"
    progress_variables = ("MPIR_CVAR_ASYNC_PROGRESS", "MPICH_ASYNC_PROGRESS")  # now and formerly

    def parse_version(self, macros: Mapping[str, str]) -> str | None:
        return macros.get("MPICH_VERSION")

    def is_launcher(self, output: str) -> bool:
        return any(sign in output for sign in ("HYDRA", "MPICH", "MVAPICH"))

    def place(self, mpi: Mpi, placement: RankPlacement) -> Options:
        """Hydra needs no option to oversubscribe; `-bind-to user:` takes the system's CPU numbers."""
        words, variables = hydra_options(placement, "-launcher", "HYDRA_LAUNCHER_EXTRA_ARGS")
        if placement.placed_by_user:
            return words, variables
        if placement.core_list:
            return [*words, "-bind-to", "user:" + ",".join(map(str, placement.core_list.cpus))], variables
        return [*words, "-bind-to", "core" if placement.bound else "none"], variables

    def variable_words(self, variables: Sequence[tuple[str, str]]) -> list[str]:
        return hydra_variable_words(variables)

    def report_variables(self, mpi: Mpi) -> dict[str, str]:
        """Device ch4 reports its network module."""
        return {"MPIR_CVAR_DEBUG_SUMMARY": "1"}

    def tcp_only_variables(self, mpi: Mpi) -> dict[str, str]:
        """Messages within a host use shared memory without network modules."""
        return {"FI_PROVIDER": "tcp", "UCX_TLS": "tcp,self"}

    def progress_thread(self, mpi: Mpi) -> ProgressThread:
        return ProgressThread(self.progress_variables[0])

    def eager_limit(self, mpi: Mpi, limit: int) -> dict[str, str]:
        """In shared memory, messages that fit into a cell are eager, unless a single copy (IPC) is used for
        them. Before version 4, the default device was ch3."""
        if mpi.version.partition(".")[0] in ("1", "3"):
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


def hydra_options(placement: RankPlacement, option: str, extra_variable: str) -> Options:
    """Return the options for hosts and remote shell. Hydra reads the shell's arguments from `extra_variable`.
    `option` names the shell; launchers derived from Hydra use other names."""
    words: list[str] = []
    variables: dict[str, str] = {}
    if placement.agent:
        words += [option, "ssh", f"{option}-exec", placement.agent[0]]
        if placement.agent[1:]:
            variables[extra_variable] = " ".join(placement.agent[1:])
    if placement.hosts:
        words += ["-hosts", ",".join(placement.hosts)]
    if placement.spread and not placement.placed_by_user:
        words += ["-ppn", str(placement.spread.per_node)]
    return words, variables


def hydra_variable_words(variables: Sequence[tuple[str, str]]) -> list[str]:
    return [word for name, value in variables for word in ("-genv", name, value)]


FAMILY = Mpich()
