# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the library adds to a call that it replaces: the same algorithm called directly and through MPI's
name, in turns, in one launch of two bound ranks.

    python benchmarks/preload_cost.py PREFIX [--mpi openmpi] [--launches 5]

PREFIX is where `hockney build --library --prefix PREFIX` has installed the library of that MPI. Prints for
each operation the median over the launches of the times of a call (ns): of the algorithm, of MPI's name, of
MPI's own function, and of the difference of the first two, with its range.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from hockney.build.identity import source_folder
from hockney.core.launcher_options import LauncherOptions
from hockney.discovery.cpu import processors
from hockney.discovery.find import find_mpi
from hockney.launch.command import command

HERE = Path(__file__).parent
CALLS = (
    ("barrier", "dissemination", 0), ("barrier", "shm_dissemination", 0), ("bcast", "binomial", 8),
    ("allreduce", "recursive_doubling", 8), ("allgather", "ring", 8),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("prefix", type=Path)
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--launches", type=int, default=5)
    arguments = parser.parse_args()
    mpi, lib = find_mpi(arguments.mpi), arguments.prefix.resolve() / "lib"
    with tempfile.TemporaryDirectory() as folder:
        program, table = Path(folder) / "preload_cost", Path(folder) / "choices"
        source = source_folder()
        include = [f"-I{source}", f"-I{source / 'include'}"]
        words = [mpi.mpicxx, "-O2", "-std=c++20", *include, str(HERE / "preload_cost.cpp"), f"-L{lib}"]
        subprocess.run([*words, "-lhockney-coll", "-lhockney", "-o", str(program)], check=True)
        print("| operation | algorithm | bytes | algorithm (ns) | replaced | MPI's own | added | range |")
        print("|---|---|---|---|---|---|---|---|")
        for operation, algorithm, size in CALLS:
            table.write_text(f"hockney-choices 1\n{operation} ranks=2 bytes=0:1000 algorithm={algorithm}\n")
            variables = {
                "LD_PRELOAD": str(lib / "libhockney-pmpi.so"),
                "HOCKNEY_CHOICES": str(table),
                "HOCKNEY_PMPI_REPORT": str(Path(folder) / "report"),
            }
            launch = command(
                mpi, (str(program), operation, algorithm, str(size)), 2, processors().cores, bind=True,
                root=os.geteuid() == 0, user=LauncherOptions(variables=tuple(variables.items())),
            )  # fmt: skip
            env = os.environ | dict(launch.environment)
            found = []
            for _ in range(arguments.launches):
                done = subprocess.run(launch.words, env=env, capture_output=True, text=True, check=True)
                found.append([1e9 * float(word) for word in done.stdout.split()[:4]])
            cells = [f"{statistics.median(column):.0f}" for column in zip(*found, strict=True)]
            added = [each[3] for each in found]
            row = (operation, algorithm, size, *cells, f"{min(added):.0f} to {max(added):.0f}")
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
