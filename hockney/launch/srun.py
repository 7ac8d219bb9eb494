# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Command lines of Slurm's srun as the launcher of ranks."""

from __future__ import annotations

from hockney.launch.cluster import Srun
from hockney.mpi import Placing

OVERLAP_SINCE = (20, 11)
"""From this version on, steps do not share processors unless both ask for it (srun's manual, --overlap); the
step in which hockney itself may run would otherwise be waited for."""


def srun_words(srun: Srun, ranks: int, placing: Placing) -> list[str]:
    """srun and its options. `--export` is there because the default may be another (SLURM_EXPORT_ENV). Its
    list ends at a comma in a value, so that variables of the user's are set in srun's environment instead."""
    words = [srun.program]
    if srun.pmi:
        words.append(f"--mpi={srun.pmi}")
    words += ["--export=ALL", f"--ntasks={ranks}"]
    if placing.spread:
        nodes, per_node = placing.spread.nodes, placing.spread.per_node
        words += [f"--nodes={nodes}", f"--ntasks-per-node={min(per_node, ranks)}"]
    if placing.hosts:
        words.append("--nodelist=" + ",".join(placing.hosts))
    if srun.version >= OVERLAP_SINCE:
        words.append("--overlap")
    if placing.crowded:
        words.append("--overcommit")
    words.append("--kill-on-bad-exit=1")  # otherwise ranks wait for one that could not be started
    if not placing.placed:
        words.append("--cpu-bind=cores" if placing.bound else "--cpu-bind=none")
    return words
