# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Does a SimGrid that was just built compile and run a program?"""

from __future__ import annotations

from pathlib import Path

from hockney import process
from hockney.core.errors import EnvironmentProblem, one_line

PROGRAM = """\
#include <mpi.h>
#include <simgrid/s4u.hpp>
#include <cstdio>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("sum %d on %s\\n", sum, simgrid::s4u::this_actor::get_host()->get_cname());
  MPI_Finalize();
}
"""
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us"/>
</platform>
"""
RANKS = 4
SECONDS = 300.0


def try_out(prefix: Path, folder: Path) -> None:
    """Raises EnvironmentProblem. Compiled as C++20, like the engine."""
    (folder / "trial.cpp").write_text(PROGRAM)
    (folder / "trial.xml").write_text(PLATFORM)
    (folder / "trial.hosts").write_text("".join(f"n{rank}\n" for rank in range(RANKS)))
    compiling = [str(prefix / "bin" / "smpicxx"), "-std=c++20", "trial.cpp", "-o", "trial"]
    running = [str(prefix / "bin" / "smpirun"), "-np", str(RANKS), "-platform", "trial.xml"]
    running += ["-hostfile", "trial.hosts", "-quiet", "./trial"]
    for words in (compiling, running):
        done = process.capture(words, cwd=folder, timeout=SECONDS)
        if not done.ok:
            reason = done.err or done.out or f"exit code {done.code}"
            raise _simgrid_runs_no_program(prefix, reason)
    if f"sum {sum(range(RANKS))} on n0\n" not in done.out:
        raise _simgrid_runs_no_program(prefix, f"a test program printed: {done.out}")


def _simgrid_runs_no_program(prefix: Path, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"SimGrid was built in {prefix}, but cannot run a program",
        one_line(reason)[-300:],
        f"see {prefix / 'build.log'}",
        code="simgrid-runs-no-program",
        reason=reason,
    )
