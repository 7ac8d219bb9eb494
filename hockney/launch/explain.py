# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The classic ways in which a launch goes wrong, recognised by what the launcher says."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hockney.core.errors import one_line
from hockney.core.machine import Mpi

Grammar = tuple[str, str, str]  # what, why, what to do

ENDED = (
    # Open MPI: "... noticed that process rank 1 with PID 0 on node h exited on signal 9 (Killed)."
    r"process rank (?P<rank>\d+).*?exited on signal (?P<signal>\d+)",
    # Intel: "= RANK 1 PID 17 RUNNING AT h" and "= KILLED BY SIGNAL: 9 (Killed)"
    r"RANK (?P<rank>\d+) PID .*?KILLED BY SIGNAL: (?P<signal>\d+)",
    # Hydra: "= PID 17 RUNNING AT h", "= EXIT CODE: 9", where the exit code is the signal
    r"BAD TERMINATION.*?EXIT CODE: (?P<signal>\d+)",
)
SIGNALS = {
    4: "illegal instruction",
    6: "aborted",
    7: "bus error",
    9: "killed",
    11: "segmentation fault",
    15: "terminated",
}


def explain(mpi: Mpi, ranks: int, said: Iterable[str]) -> Grammar | None:
    """What the launcher's words mean, for those failures that have a known way out."""
    text = "\n".join(said)
    if "attempt to run as root" in text:
        return (
            f"{mpi.title} refuses to run as root",
            "it thinks that dangerous",
            "run as another user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
        )
    if re.search(r"not enough slots|slots available|more processors than available", text):
        return (
            f"{mpi.title} has no room for {ranks} ranks",
            "there are fewer slots in this allocation",
            "ask for fewer with --ranks, or for a larger allocation",
        )
    missing = re.search(r"error while loading shared libraries: (\S+?):|Library not loaded: (\S+)", text)
    if missing:
        return (
            f"the ranks do not find {missing[1] or missing[2]}",
            "the engine was linked with it",
            f"load the module of {mpi.title}, or add its library folder to LD_LIBRARY_PATH",
        )
    if re.search(r"GLIBC\w*_[\d.]+' not found", text):
        return (
            "the ranks find an older C++ or C library than the engine was compiled with",
            "the hosts differ",
            "compile where the ranks run: 'hockney build' inside the allocation",
        )
    if re.search(r"unable to launch the specified application|execvp error|could not find executable", text):
        return (
            "the engine cannot be started where the ranks run",
            "the cache folder is not visible or not executable there",
            "set HOCKNEY_CACHE to a folder that all hosts share and that allows programs",
        )
    if re.search(r"bash: .*(prted|orted|hydra_\w*proxy): .*not found|(ssh|srun): .*not found", text):
        return (
            f"{mpi.title} cannot reach the other hosts",
            "its helper is not installed there, or there is no ssh",
            "start hockney inside an allocation, or install the same MPI on every host",
        )
    if re.search(
        r"PMI2?_Init|not built with.*PMI|MPI_INIT failed|PMIx_Init|PMIX ERROR: .*UNREACHABLE",
        text,
        re.IGNORECASE,
    ):
        return (
            "the ranks cannot talk to their launcher",
            f"{mpi.mpiexec} and the library they found belong to different MPIs or versions",
            "unset LD_LIBRARY_PATH and unload other MPI modules, or choose one MPI with --mpi PREFIX",
        )
    if re.search(r"No space left on device|not enough space.*(/dev/shm|shared memory)", text, re.IGNORECASE):
        return (
            f"{mpi.title} has no room for its shared memory",
            "/dev/shm or /tmp is full",
            "make room, or give the container more (docker run --shm-size=1g)",
        )
    return None


def how_it_ended(code: int, said: Iterable[str]) -> str:
    """Which rank ended how, as far as the launcher says; else its exit code and last words."""
    lines = [line for line in said if line.strip()]
    text = " ".join(" ".join(lines).split())  # sentences are broken into lines anywhere
    for pattern in ENDED:
        match = re.search(pattern, text)
        if match:
            found = match.groupdict()
            number = int(found["signal"])
            who = f"rank {found['rank']}" if found.get("rank") else "a rank"
            if number in SIGNALS:
                hint = "; often for lack of memory" if number == 9 else ""
                return f"{who} ended by signal {number}, {SIGNALS[number]}{hint}"
    if code > 128 and code - 128 in SIGNALS:
        return f"mpiexec ended by signal {code - 128}, {SIGNALS[code - 128]}"
    words = [line for line in lines if re.search(r"\w{3}", line)]
    return one_line(" | ".join([f"exit code {code}", *words[-2:]]))[:300]
