# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The installed collectives: the same results as MPI's own, called by name and by a table, and loaded under a
program that was compiled without them."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from installed import HERE, built_example, compiled, did, launched, package_flags, run
from tiers import slow

from hockney import build
from hockney.build.identity import source_folder
from hockney.core.machine import Mpi

pytestmark = [pytest.mark.mpi, pytest.mark.needs("pkg-config")]
HEADING = "hockney-choices 1\n"
BARRIERS = [file.stem for file in (source_folder() / "sync").glob("*.cpp")]
RANKS = [3, *slow(1, 2, 4, 5, 8, 9)]
"""Powers of two, the numbers after them, and others."""


@pytest.fixture(scope="session")
def coll_check(mpi: Mpi, prefix: Path) -> Path:
    return compiled(mpi, prefix, "hockney-coll", "coll_check.cpp", "c++20")


@pytest.fixture(scope="session")
def unchanged(mpi: Mpi, prefix: Path) -> Path:
    program = prefix / "unchanged"
    did([mpicc(mpi), str(HERE / "unchanged.c"), "-o", str(program)])
    return program


@pytest.fixture
def few(mpi_name: str, ranks: int) -> None:
    if mpi_name == "mpich" and ranks > 4:
        pytest.skip("MPICH's ranks poll: up to 4 on few cores")


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("ranks", RANKS)
def test_every_algorithm_has_the_results_of_mpi(mpi, coll_check, ranks, tmp_path):
    """With types that differ between ranks or have holes, in place, with noncommutative operations, no data,
    two groups, messages of the program in flight, wrong arguments and wrong tables."""
    compared = re.fullmatch(r"fine (\d+)\n", run(mpi, coll_check, ranks, str(tmp_path), "same"))
    assert compared is not None and int(compared[1]) > 1500


@pytest.mark.parametrize("ranks", [2, *slow(3)])
def test_ranks_with_different_tables_use_mpi(mpi, coll_check, ranks, tmp_path):
    done = launched(mpi, (str(coll_check), str(tmp_path), "other"), ranks, {})
    assert done.out == "fine 0\n" and done.err.count("HOCKNEY_CHOICES") == 1


def choices(folder: Path, **algorithms: str) -> Path:
    """A table that uses an algorithm for every call of an operation."""
    lines = [f"{name} ranks=1:99 bytes=0:99999 algorithm={used}\n" for name, used in algorithms.items()]
    table = folder / "all.choices"
    table.write_text(HEADING + "".join(lines))
    return table


def report(text: str) -> dict[tuple[str, str], tuple[int, int]]:
    """Calls and bytes by operation and algorithm."""
    rows = [dict(word.split("=") for word in line.split()) for line in text.splitlines() if line[0] != "#"]
    return {(row["operation"], row["algorithm"]): (int(row["calls"]), int(row["bytes"])) for row in rows}


def algorithms() -> dict[str, list[str]]:
    folders = [folder for folder in (source_folder() / "coll").iterdir() if folder.is_dir()]
    return {folder.name: sorted(file.stem for file in folder.glob("*.cpp")) for folder in folders}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("last", [False, *slow(True)])
def test_an_unchanged_program_has_the_same_results(mpi, prefix, unchanged, ranks, last, tmp_path):
    if mpi.family == "mpich" and ranks == 1:
        pytest.skip("MPICH 5.0.2 hangs in MPI_Alltoall on one rank while a receive is pending")
    plain = run(mpi, unchanged, ranks)
    used = {name: those[-1 if last else 0] for name, those in algorithms().items()}
    preload = {
        "LD_PRELOAD": str(prefix / "lib" / "libhockney-pmpi.so"),
        "HOCKNEY_CHOICES": str(choices(tmp_path, **used)),
        "HOCKNEY_PMPI_REPORT": str(tmp_path / "report"),
    }
    assert run(mpi, unchanged, ranks, **preload) == plain
    counted = report((tmp_path / "report").read_text())
    assert {name for name, _ in counted} == set(algorithms())
    if ranks == 1:
        assert {algorithm for _, algorithm in counted} == {"mpi"}
        return
    # counts of 1, 7, 100 and 5000 ints in MPI_COMM_WORLD and, if they have several ranks, its two halves
    inside = ranks + sum(half for half in ((ranks + 1) // 2, ranks // 2) if half > 1)
    assert counted["allreduce", used["allreduce"]] == (4 * inside, 4 * inside * (1 + 7 + 100 + 5000))
    # no data twice on each rank, the halves of one rank, and the call between the groups
    assert counted["allreduce", "mpi"][0] == 2 * ranks + 4 * (2 * ranks - inside) + ranks
    both = {name: sum(calls for (of, _), (calls, _) in counted.items() if of == name) for name, _ in counted}
    assert both["scan"] == both["alltoall"] == both["allgather"] == 10 * ranks


@pytest.mark.parametrize("ranks", [2, *slow(1, 3)])
@pytest.mark.parametrize("algorithm", ["best", *slow(*sorted({*BARRIERS} - {"mpi"}))])
def test_an_unchanged_program_has_other_barriers(mpi, prefix, tmp_path, ranks, algorithm):
    program = tmp_path / "barriers"
    did([mpicc(mpi), str(HERE / "barriers.c"), "-o", str(program)])
    preload = {
        "LD_PRELOAD": str(prefix / "lib" / "libhockney-pmpi.so"),
        "HOCKNEY_CHOICES": str(choices(tmp_path, barrier=algorithm)),
        "HOCKNEY_PMPI_REPORT": str(tmp_path / "report"),
    }
    assert run(mpi, program, ranks, **preload) == "fine 1 1\n"
    counted = report((tmp_path / "report").read_text())
    used = algorithm if ranks > 1 else "mpi"
    alone = 3 * ranks  # the communicators of one rank, and below it the invalid one
    episodes = (50 + 3 * 10 + 10) * ranks
    barriers = {name: calls for (of, name), (calls, _) in counted.items() if of == "barrier"}
    mpis = alone + ranks + (episodes if used == "mpi" else 0)
    assert barriers == {used: episodes, "mpi": mpis}


def mpicc(mpi: Mpi) -> str:
    return str(Path(mpi.mpicxx).with_name("mpicc"))


@pytest.mark.parametrize("ranks", [2, *slow(1, 3)])
def test_the_library_in_c(mpi, prefix, tmp_path, ranks):
    """Barriers and collectives by name and by the table, and their functions for Fortran."""
    flags = package_flags(prefix, "hockney-coll")
    program = tmp_path / "in_c"
    strict = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    did([mpicc(mpi), *strict, str(HERE / "in_c.c"), "-o", str(program), *flags, "-lstdc++", "-lm"])
    made = re.fullmatch(r"fine (\d+)\n", run(mpi, program, ranks))
    assert made is not None and int(made[1]) == len(BARRIERS)


@pytest.mark.slow
@pytest.mark.needs("pkg-config", "gfortran")
def test_the_library_in_fortran(mpi, prefix, tmp_path):
    module = prefix / "include" / "hockney" / "hockney.f90"
    fortran = ["gfortran", "-std=f2018", "-Wall", "-Werror", f"-J{tmp_path}", "-c"]
    objects = []
    for source in (module, HERE / "in_fortran.f90"):
        objects.append(str(tmp_path / f"{source.stem}.o"))
        did([*fortran, str(source), "-o", objects[-1]])
    program = tmp_path / "in_fortran"
    flags = package_flags(prefix, "hockney-coll")
    words = [mpicc(mpi), str(HERE / "in_fortran.c"), *objects, "-o", str(program), *flags]
    did([*words, "-lstdc++", "-lm", "-lgfortran"])
    for ranks in (2, 3):
        assert run(mpi, program, ranks) == "fine\n"


BACKWARDS = ("own_backwards", "own_backwards_at_root", "own_backwards_scan")
CRASHES = {"openmpi": (), "mpich": ("bcast_in_place", *BACKWARDS)}
"""Calls of wrong_calls.c that end MPICH 5.0.2 itself."""


@pytest.mark.parametrize("last", [False, *slow(True)])
@pytest.mark.parametrize("ranks", [2, *slow(3)])
def test_calls_that_fail_do_so_in_the_same_way(mpi, prefix, tmp_path, ranks, last):
    """With the same error class on every rank, and whatever succeeds with the same result."""
    program = tmp_path / "wrong_calls"
    did([mpicc(mpi), str(HERE / "wrong_calls.c"), "-o", str(program)])
    alone = run(mpi, program, ranks, *CRASHES[mpi.family])
    used = {name: those[-1 if last else 0] for name, those in algorithms().items()}
    preload = {
        "LD_PRELOAD": str(prefix / "lib" / "libhockney-pmpi.so"),
        "HOCKNEY_CHOICES": str(choices(tmp_path, **used)),
        "HOCKNEY_PMPI_REPORT": str(tmp_path / "report"),
    }
    assert run(mpi, program, ranks, *CRASHES[mpi.family], **preload) == alone
    counted = report((tmp_path / "report").read_text())
    assert ("allreduce", used["allreduce"]) in counted, "that of the program's own operation"


@pytest.mark.parametrize("ranks", [2, *slow(3, 4)])
def test_random_calls_have_the_same_results_and_errors(mpi, prefix, tmp_path, ranks, pytestconfig):
    """Valid and invalid ones, with a random table, in several programs in the slow tier."""
    program = tmp_path / "random_calls"
    did([mpicc(mpi), str(HERE / "random_calls.c"), "-o", str(program)])
    more = ("mpich",) if mpi.family == "mpich" else ()
    for seed in range(
        pytestconfig.option.seed, pytestconfig.option.seed + (20 if pytestconfig.option.all else 1)
    ):
        draw = random.Random(seed)
        table = {name: draw.choice(known) for name, known in algorithms().items()}
        preload = {
            "LD_PRELOAD": str(prefix / "lib" / "libhockney-pmpi.so"),
            "HOCKNEY_CHOICES": str(choices(tmp_path, barrier=draw.choice(["best", *BARRIERS]), **table)),
            "HOCKNEY_PMPI_REPORT": str(tmp_path / "report"),
        }
        words = (str(seed), "400", *more)
        with_library = run(mpi, program, ranks, *words, **preload)
        assert with_library == run(mpi, program, ranks, *words), f"seed {seed}"
        assert {name for _, name in report((tmp_path / "report").read_text())} >= {"mpi", table["allreduce"]}


def test_a_program_of_sessions_uses_mpi(mpi, prefix, tmp_path):
    """Without MPI_Init there is no MPI_COMM_SELF to keep anything with."""
    program = tmp_path / "session"
    did([mpicc(mpi), str(HERE / "session.c"), "-o", str(program)])
    preload = str(prefix / "lib" / "libhockney-pmpi.so")
    table = str(choices(tmp_path, allreduce="ring", bcast="binomial"))
    assert run(mpi, program, 2, LD_PRELOAD=preload, HOCKNEY_CHOICES=table) == "2\n"
    if mpi.family == "mpich":  # Open MPI 5.0.11 crashes by itself
        assert run(mpi, program, 2, "later", LD_PRELOAD=preload, HOCKNEY_CHOICES=table) == "2\n"


def test_without_a_table_calls_are_only_counted(mpi, prefix, unchanged):
    done = launched(mpi, (str(unchanged),), 2, {"LD_PRELOAD": str(prefix / "lib" / "libhockney-pmpi.so")})
    counted = report("\n".join(line for line in done.err.splitlines() if "operation=" in line))
    assert {algorithm for _, algorithm in counted} == {"mpi"} and len(counted) == len(algorithms())


@pytest.mark.slow
def test_the_example_is_built_with_cmake(mpi, prefix, tmp_path):
    work = built_example(prefix, "coll", tmp_path / "work")
    table = choices(tmp_path, allreduce="ring")
    printed = run(mpi, work / "sums", 2, HOCKNEY_CHOICES=str(table))
    assert re.findall(r"^([a-z]\w+) +\d+\.\d+ us$", printed, re.M) == ["mpi", *algorithms()["allreduce"]]
    assert re.search(r"\d us, by the table: ring$", printed, re.M)


def test_the_engine_does_not_contain_the_library():
    """It is compiled with the engine's sources, but not on the first survey."""
    lists = (build.source_folder() / "CMakeLists.txt").read_text()
    assert "library/" not in lists
