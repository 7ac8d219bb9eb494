# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's srun as a launcher: its version, its interfaces between ranks, its command line."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence

from hockney import process
from hockney.core.errors import EnvironmentProblem
from hockney.core.machine import Mpi
from hockney.launch.cluster import Srun
from hockney.mpi import RankPlacement, family_of

TIMEOUT_S = 20.0


def find_srun(environ: Mapping[str, str]) -> Srun:
    """Find srun on PATH. Raises EnvironmentProblem."""
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
    """Return all interfaces of this srun."""
    return parse_interfaces(_output(srun.program, "--mpi=list"))


def suitable_interfaces(available: Sequence[str], mpi: Mpi, environ: Mapping[str, str]) -> list[str]:
    """Return the `available` interfaces that the library of `mpi` may support. The interface that the user or
    the site chose for srun (SLURM_MPI_TYPE) comes first. Only a launch shows which interface connects the
    ranks."""
    preferred = [*filter(None, [environ.get("SLURM_MPI_TYPE")]), *family_of(mpi).srun_interfaces]
    suitable = [name for name in preferred if not name or (_base_name(name) in available and name != "none")]
    return list(dict.fromkeys(suitable))


def _base_name(name: str) -> str:
    """Remove the version of an interface: specific versions (pmix_v4) are listed separately."""
    return name.partition("_v")[0]


def parse_version(text: str) -> tuple[int, int]:
    """Parse "slurm 23.11.4" or "slurm-wlm 22.05.8"; (0, 0) for other text."""
    match = re.search(r"\bslurm\S*\s+(\d{1,4})\.(\d{1,4})", text)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def parse_interfaces(text: str) -> tuple[str, ...]:
    """Parse the output of srun --mpi=list, which older versions write to standard error: "srun: MPI types
    are...", then "srun: pmi2". Since 22.05, a separate line lists versions of an interface ("pmix_v4")."""
    names = []
    for line in text.splitlines():
        word = line.removeprefix("srun:").strip()
        if re.fullmatch(r"[a-z][a-z0-9_]*", word):
            names.append(word)
    return tuple(dict.fromkeys(names))


def _output(*words: str) -> str:
    try:
        result = process.capture(words, timeout=TIMEOUT_S)
    except (process.CannotStart, process.ProgramTimeout):
        return ""
    return result.out + result.err


OVERLAP_SINCE = (20, 11)
"""Since this version, steps share processors only if both request it (srun's manual, --overlap). Otherwise a
step would wait for the step in which hockney itself may run."""


def srun_words(srun: Srun, ranks: int, placement: RankPlacement) -> list[str]:
    """Return srun and its options. `--export` is given because the site may change its default
    (SLURM_EXPORT_ENV). A comma would end a value in its list, so the user's variables are set in srun's
    environment instead."""
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
