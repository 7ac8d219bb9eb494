# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The number of hosts in the batch job in which hockney runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def hosts(environ: Mapping[str, str]) -> int:
    """From the variables of Slurm, Torque, PBS and LSF; 1 outside of a job, or if they do not report it."""
    for name in ("SLURM_JOB_NUM_NODES", "SLURM_NNODES", "PBS_NUM_NODES"):
        count = environ.get(name, "")
        if count.isdecimal():
            return max(1, int(count))
    # LSF: "host1 slots host2 slots ..."
    named = environ.get("LSB_MCPU_HOSTS", "").split()[::2]
    if not named and environ.get("PBS_NODEFILE"):
        try:
            named = Path(environ["PBS_NODEFILE"]).read_text(errors="replace").split()
        except OSError:
            named = []
    return max(1, len(set(named)))
