# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Settings that control an MPI: environment variables and parameter files.

Run folders are shared with other people, so only variables with a known purpose are recorded, except those
that may contain a secret or the address of a running job.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from hockney.core.errors import printable
from hockney.core.launcher_options import NO_LAUNCHER_OPTIONS, LauncherOptions
from hockney.core.machine import Mpi
from hockney.mpi import families, family_of, join_patterns

PREFIXES = ("PMIX_", "PMI_", "FI_", "UCX_", "PSM_", "PSM2_", "PSM3_", "HFI_", "CXI_")
"""Prefixes that several families use: interfaces between launchers and ranks, and libraries of networks."""
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
LAUNCH_VARIABLES = (
    r"PMIX_(?!MCA_)"
    r"|PMI_(APPNUM|CONTROL|FD|ID|JOBID|LOCAL|PORT|PROCESS|RANK|SIZE|SPAWNED|UNIVERSE|VERSION)"
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
    environ: Mapping[str, str], mpi: Mpi | None = None, user: LauncherOptions = NO_LAUNCHER_OPTIONS
) -> dict[str, str]:
    """All settings in force, by variable, sorted. A setting of parameter files has the name of the equivalent
    variable; the variable takes precedence, and the variables of `user` over all."""
    settings = {} if mpi is None else family_of(mpi).file_settings(mpi, environ)
    prefixes = (*PREFIXES, *(prefix for family in families() for prefix in family.setting_prefixes))
    settings |= {name: value for name, value in environ.items() if name in NAMES or name.startswith(prefixes)}
    settings |= dict(user.variables)
    if user.arguments:
        settings[ARGUMENTS] = user.line
    chosen = {
        name: format_setting(value)
        for name, value in sorted(settings.items())
        if not _launch_pattern().match(name)
    }
    return {name: value for name, value in chosen.items() if not is_secret(name, value)}


@cache
def _launch_pattern() -> re.Pattern[str]:
    return re.compile(join_patterns(LAUNCH_VARIABLES, *(family.ignored_settings for family in families())))


def is_secret(name: str, value: str) -> bool:
    """Return whether a setting may contain a secret or the address of a running job."""
    return bool(SECRET.search(name)) or "://" in value


def format_setting(value: str) -> str:
    """Format a value as it is recorded."""
    return printable(value if len(value) <= LONGEST else f"{value[: LONGEST - 3]}...")
