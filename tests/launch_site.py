# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A cluster made of scripts: an mpiexec and an srun that print what real ones and their ranks did."""

from __future__ import annotations

import json
from pathlib import Path

from scripts import script

from hockney.core.machine import Mpi
from hockney.core.record import SCHEMA, Clock, End, Launch, Rank, encode_line

HELLO = {"library": "Open MPI v5", "engine": "1"}


def hello(*ranks: tuple[int, int], **more: str) -> str:
    """Lines of ranks, two on each host, with their number and the size that each sees."""
    return "\n".join(
        json.dumps(HELLO | {"rank": rank, "size": size, "host": f"n{k // 2 + 1}"} | more)
        for k, (rank, size) in enumerate(ranks)
    )


CONNECTED = hello(*((rank, 4) for rank in range(4)))
ALONE = hello((0, 1), (0, 1), (0, 1), (0, 1))


def empty_launch(init_s: float) -> str:
    """The lines of a launch without cases."""
    launch = Launch(
        schema=SCHEMA,
        launch="doctor",
        index=0,
        origin="measured",
        started_s=1.7e9,
        ranks=[Rank(host=f"n{k // 2 + 1}", pid=100 + k, cpus=str(k % 2)) for k in range(4)],
        mpi_standard="3.1",
        library="Open MPI v5",
        engine="1",
        compiler="none",
        clock=Clock(overhead_s=1e-8, resolution_s=1e-9),
        init_s=init_s,
    )
    return "\n".join(encode_line(line).decode().strip() for line in (launch, End(cases=0)))


class Site:
    """A folder with these programs, which is also the prefix of their MPI."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mpiexec(CONNECTED)

    @property
    def mpi(self) -> Mpi:
        return Mpi(
            family="openmpi",
            version="5.0.11",
            prefix=str(self.folder),
            mpicxx=str(self.folder / "mpicxx"),
            mpiexec=str(self.folder / "mpiexec"),
            source="option",
        )

    @property
    def job(self) -> dict[str, str]:
        """Slurm's variables in a job with two ranks on each of two hosts."""
        return {
            "PATH": f"{self.folder}:/bin:/usr/bin",
            "SLURM_JOB_ID": "7",
            "SLURM_JOB_NODELIST": "n[1-2]",
            "SLURM_TASKS_PER_NODE": "2(x2)",
            "SLURM_JOB_CPUS_PER_NODE": "2(x2)",
        }

    def mpiexec(self, greeting: str, code: int = 0, launch: str = "") -> None:
        """Prints `greeting` if ranks are to identify themselves, otherwise `launch`."""
        self._program(
            "mpiexec",
            f"case $* in *--hello) cat <<'END'\n{greeting}\nEND\n;;\n*) cat <<'END'\n{launch}\nEND\nesac\n"
            f"exit {code}",
        )

    def srun(self, **outputs: str) -> None:
        """Has these interfaces, with the output of each."""
        names = "\n".join(["none", *outputs])
        cases = "".join(
            f"*--mpi={name}' '*) cat <<'END'\n{output}\nEND\n;;\n" for name, output in outputs.items()
        )
        self._program(
            "srun",
            f"case $* in --version) echo slurm 23.11.4;; --mpi=list) cat <<'END'\n{names}\nEND\n;;\n"
            f"{cases}*) exit 1;; esac",
        )

    @property
    def calls(self) -> list[str]:
        """The programs and interfaces that were called to check ranks."""
        lines = (self.folder / "calls").read_text().splitlines()
        started = [line.split() for line in lines if "--hello" in line]
        return [" ".join(w for w in words if w == words[0] or w.startswith("--mpi=")) for words in started]

    def _program(self, name: str, text: str) -> None:
        script(self.folder / name, f"echo {name} $* >>{self.folder}/calls\n{text}")
