# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The settings that control an MPI: environment variables, and Open MPI's parameter files.

Run folders are shared with others, so only variables with a known purpose are recorded, and of these none
that may contain a secret or the address of a running job.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hockney.core.errors import printable
from hockney.core.launcher_options import NOTHING_ADDED, LauncherOptions
from hockney.core.machine import Mpi
from hockney.system.mca_files import parameter_files, parameters_in

PREFIXES = (
    "OMPI_", "OPAL_", "ORTE_", "PRTE_", "PMIX_", "PMI_", "MPICH_", "MPIR_", "I_MPI_", "MV2_", "MVP_",
    "HYDRA_", "FI_", "UCX_", "PSM_", "PSM2_", "PSM3_", "HFI_", "CXI_",
)  # fmt: skip
NAMES = {
    "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY",
    "LD_PRELOAD",
    "OMP_NUM_THREADS",
    "OMP_PLACES",
    "OMP_PROC_BIND",
    "SLURM_CPU_BIND",
    "SLURM_MPI_TYPE",
}
OF_A_LAUNCH = re.compile(
    r"OMPI_(ALLOW_RUN_AS_ROOT|APP_CTX|ARGV|COMMAND|COMM_WORLD|FILE_LOCATION|FIRST_RANKS|NUM_APP_CTX|UNIVERSE)"
    r"|OMPI_MCA_(ess_|initial_wdir|pmix$|shmem_RUNTIME)"
    r"|(OMPI|PRTE)_MCA_(orte|prte)_(app_num|bound_at|ess_|jobfam|launch|local_daemon|node_regex|num_nodes|"
    r"precondition|tmpdir|top_session)"
    r"|PRTE_(?!MCA_)|PMIX_(?!MCA_)|MPIR_(?!CVAR_)|(MV2|MVP)_COMM_WORLD"
    r"|PMI_(APPNUM|CONTROL|FD|ID|JOBID|LOCAL|PORT|PROCESS|RANK|SIZE|SPAWNED|UNIVERSE|VERSION)"
    r"|I_MPI_(INFO_|JOB_|ROOT$)|HYDRA_(CONTROL|PROXY)"
)
"""Variables that launchers set for each job or rank, and those that only permit or locate something: not used
for tuning."""
SECRET = re.compile(
    r"secret|token|passw|credential|security|cookie|(^|_)(auth|key|nspace|namespace|session|ur[il])s?(_|$)",
    re.IGNORECASE,
)
LONGEST = 1000
"""Maximum characters of a value."""


ARGUMENTS = "--mpiexec-args"


def mpi_settings(
    environ: Mapping[str, str], mpi: Mpi | None = None, user: LauncherOptions = NOTHING_ADDED
) -> dict[str, str]:
    """All settings in force, by variable, sorted. A setting of Open MPI's parameter files has the name of the
    equivalent variable; the variable takes precedence, and the variables of `user` over all."""
    found: dict[str, str] = {}
    if mpi is not None and mpi.family == "openmpi":
        for file in reversed(parameter_files(mpi.prefix, environ)):
            found |= {f"OMPI_MCA_{name}": value for name, value in parameters_in(file).items()}
    found |= {name: value for name, value in environ.items() if name in NAMES or name.startswith(PREFIXES)}
    found |= dict(user.variables)
    if user.arguments:
        found[ARGUMENTS] = user.line
    chosen = {name: shown(value) for name, value in sorted(found.items()) if not OF_A_LAUNCH.match(name)}
    return {name: value for name, value in chosen.items() if not secret(name, value)}


def secret(name: str, value: str) -> bool:
    """Whether a setting may contain a secret or the address of a running job."""
    return bool(SECRET.search(name)) or "://" in value


def shown(value: str) -> str:
    """A value in its recorded form."""
    return printable(value if len(value) <= LONGEST else f"{value[: LONGEST - 3]}...")
