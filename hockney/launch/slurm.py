# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's srun as the launcher of ranks: its version, its interfaces between ranks, its command line."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence

from hockney import process
from hockney.core.errors import EnvironmentProblem
from hockney.core.machine import Mpi
from hockney.launch.cluster import Srun
from hockney.mpi import RankPlacement, family_of

PATIENCE_S = 20.0


def find_srun(environ: Mapping[str, str]) -> Srun:
    """Raises EnvironmentProblem."""
    program = shutil.which("srun", path=environ.get("PATH", ""))
    if program is None:
        raise EnvironmentProblem(
            "no srun found",
            "it is not on PATH",
            "add Slurm's folder to PATH, or use --launcher mpiexec",
            code="srun-missing",
        )
    return Srun(program, parse_version(_output(program, "--version")))


def list_interfaces(srun: Srun) -> tuple[str, ...]:
    """All that this srun has."""
    return parse_interfaces(_output(srun.program, "--mpi=list"))


def suitable_interfaces(offered: Sequence[str], mpi: Mpi, environ: Mapping[str, str]) -> list[str]:
    """The `offered` interfaces that the library of `mpi` may have, first the one that the user or
    the site chose for srun (SLURM_MPI_TYPE). Which one connects ranks, only a launch can show."""
    wanted = [*filter(None, [environ.get("SLURM_MPI_TYPE")]), *family_of(mpi).srun_interfaces]
    chosen = [name for name in wanted if not name or (_base(name) in offered and name != "none")]
    return list(dict.fromkeys(chosen))


def _base(name: str) -> str:
    """Names of specific versions (pmix_v4) are listed separately."""
    return name.partition("_v")[0]


def parse_version(text: str) -> tuple[int, int]:
    """The version in "slurm 23.11.4" or "slurm-wlm 22.05.8"; (0, 0) if there is none."""
    match = re.search(r"\bslurm\S*\s+(\d{1,4})\.(\d{1,4})", text)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def parse_interfaces(text: str) -> tuple[str, ...]:
    """From the output of srun --mpi=list, which older versions write to standard error: "srun: MPI types
    are...", then "srun: pmi2". Versions of one interface ("pmix_v4") are listed on one more line since
    22.05."""
    names = []
    for line in text.splitlines():
        word = line.removeprefix("srun:").strip()
        if re.fullmatch(r"[a-z][a-z0-9_]*", word):
            names.append(word)
    return tuple(dict.fromkeys(names))


def _output(*words: str) -> str:
    try:
        done = process.capture(words, timeout=PATIENCE_S)
    except (process.CannotStart, process.ProgramTimeout):
        return ""
    return done.out + done.err


OVERLAP_SINCE = (20, 11)
"""From this version on, steps do not share processors unless both ask for it (srun's manual, --overlap); the
step in which hockney itself may run would otherwise be waited for."""


def srun_words(srun: Srun, ranks: int, placement: RankPlacement) -> list[str]:
    """srun and its options. `--export` is there because the default may be another (SLURM_EXPORT_ENV). Its
    list ends at a comma in a value, so that variables of the user's are set in srun's environment instead."""
    words = [srun.program]
    if srun.pmi:
        words.append(f"--mpi={srun.pmi}")
    words += ["--export=ALL", f"--ntasks={ranks}"]
    if placement.spread:
        nodes, per_node = placement.spread.nodes, placement.spread.per_node
        words += [f"--nodes={nodes}", f"--ntasks-per-node={min(per_node, ranks)}"]
    if placement.hosts:
        words.append("--nodelist=" + ",".join(placement.hosts))
    if srun.version >= OVERLAP_SINCE:
        words.append("--overlap")
    if placement.oversubscribed:
        words.append("--overcommit")
    words.append("--kill-on-bad-exit=1")  # otherwise ranks wait for one that could not be started
    if not placement.placed_by_user:
        words.append("--cpu-bind=cores" if placement.bound else "--cpu-bind=none")
    return words
