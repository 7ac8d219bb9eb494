# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Intel MPI, which is derived from MPICH and has a modified Hydra. Tested with version 2021.18."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from hockney.mpi import PROVIDER, Arguments, MpiFamily, Options, ProgressThread, RankPlacement
from hockney.mpi.mpich import HYDRA_OPTION_WORDS, LIBFABRIC, hydra_options, hydra_variable_words

if TYPE_CHECKING:
    from hockney.core.machine import Mpi


class IntelMpi(MpiFamily):
    name = "intel"
    title = "Intel MPI"
    order = 3
    precedence = 1  # its header defines MPICH_VERSION too
    names = ("intel", "impi", "intelmpi")
    wheels = ("impi-devel", "impi-rt")
    wrappers = ("mpiicpc", "mpiicpx", "mpigxx")
    folders = ("/opt/intel/oneapi/mpi/latest/bin",)
    compiler_variables = ("I_MPI_CXX",)
    library_signs = ("Intel(R) MPI",)
    launchers = ("mpiexec.hydra",)
    option_words: ClassVar[Mapping[str, int]] = HYDRA_OPTION_WORDS
    srun_interfaces = ("pmi2", "pmix")
    arguments = Arguments(pinning_prefixes=frozenset({"I_MPI_PIN"}))
    # "= RANK 1 PID 17 RUNNING AT h" and "= KILLED BY SIGNAL: 9 (Killed)"
    ended_by_signal = r"RANK (?P<rank>\d+) PID .*?KILLED BY SIGNAL: (?P<signal>\d+)"
    transport_reports = ((LIBFABRIC, PROVIDER),)
    setting_prefixes = ("I_MPI_",)
    ignored_settings = r"I_MPI_(INFO_|JOB_|ROOT$)"
    progress_variables = ("I_MPI_ASYNC_PROGRESS",)  # Developer Reference

    def environment(self, prefix: str) -> dict[str, str]:
        """The programs of the wheel find their files only by this variable."""
        return {"I_MPI_ROOT": prefix}

    def parse_version(self, macros: Mapping[str, str]) -> str | None:
        return macros.get("I_MPI_VERSION")

    def is_launcher(self, output: str) -> bool:
        return "Intel" in output and "MPI" in output

    def place(self, mpi: Mpi, placement: RankPlacement) -> Options:
        """Its Hydra is controlled by the environment. In a batch job it places ranks as the scheduler does,
        unless a variable disables that."""
        words, variables = hydra_options(placement, "-bootstrap", "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS")
        if placement.placed_by_user:
            return words, variables
        if placement.spread:
            variables |= {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "0"}
        if placement.core_list:
            cpus = ",".join(map(str, placement.core_list.cpus))
            return words, variables | {"I_MPI_PIN": "1", "I_MPI_PIN_PROCESSOR_LIST": cpus}
        if placement.bound:
            return words, variables | {"I_MPI_PIN": "1", "I_MPI_PIN_CELL": "core", "I_MPI_PIN_DOMAIN": "core"}
        return words, variables | {"I_MPI_PIN": "0"}

    def variable_words(self, variables: Sequence[tuple[str, str]]) -> list[str]:
        return hydra_variable_words(variables)

    def report_variables(self, mpi: Mpi) -> dict[str, str]:
        return {"I_MPI_DEBUG": "1"}

    def tcp_only_variables(self, mpi: Mpi) -> dict[str, str]:
        """Messages within a host use shared memory without libfabric."""
        return {"I_MPI_FABRICS": "shm:ofi", "FI_PROVIDER": "tcp"}

    def progress_thread(self, mpi: Mpi) -> ProgressThread:
        return ProgressThread(self.progress_variables[0])


FAMILY = IntelMpi()
