# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The programs in examples/programs on real ranks, where they check their own answers, and on simulated ones,
where they take as long as predicted from their descriptions."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from installed import EXAMPLES, did, launched_words
from real_mpi import engine_for, simgrid_here
from tiers import slow

import hockney
from hockney import process
from hockney.build.tools import tool
from hockney.core.machine import Mpi
from hockney.launch.smpi import HOSTS, PLATFORM, algorithm_words, platform_lines, rank_hosts
from hockney.machines import simulated
from hockney.models.programs.rank_grid import balanced_grid

PROGRAMS = {
    "jacobi": ("49", "6"),
    "conjugate_gradients": ("13", "6"),
    "halo26": ("5", "6"),
    "pipeline": ("12", "3", "4"),
    "transpose": ("16", "3"),
    "master_worker": ("30", "200"),
}
"""With sizes that compute little. Blocks of the first ones differ by a point on 2 to 9 ranks."""
MISTAKES = {
    "jacobi": ("exchange(grid, nx", "if (k < 0) exchange(grid, nx"),
    "conjugate_gradients": ("sum_of_ranks(grid, pq)", "pq"),
    "halo26": ("neighbors[d].rank, DIRECTIONS - 1 - d", "neighbors[d].rank, d"),
    "pipeline": ("u[step > 0 ? nx : 1]", "u[step > 0 ? 1 : nx]"),
    "transpose": ("out[to][j][i]", "out[to][i][j]"),
    "master_worker": ("MPI_Send(result, ", "MPI_Send(task, "),
}
"""One for each program, in what it sends or sums up."""
NO_MISTAKE = ("", "")
STRICT = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
Compiled = Callable[..., Path]
"""Compiles a program with a compiler wrapper, once."""
TOLERANCE = 0.05
POINT_S = 1e-8


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> Compiled:
    return functools.cache(functools.partial(compile_program, tmp_path_factory))


def compile_program(
    folders: pytest.TempPathFactory,
    wrapper: str,
    name: str,
    *options: str,
    mistake: tuple[str, str] = NO_MISTAKE,
) -> Path:
    folder = folders.mktemp(name)
    source = (EXAMPLES / "programs" / f"{name}.c").read_text("utf-8")
    assert mistake[0] in source
    source = source.replace(*mistake)
    (folder / f"{name}.c").write_text(source, "utf-8")
    words = [wrapper, *STRICT, *options, f"-I{EXAMPLES / 'programs'}", str(folder / f"{name}.c")]
    did([*words, "-o", str(folder / name), "-lm"])
    return folder / name


def mpicc(mpi: Mpi) -> str:
    return str(Path(mpi.mpicxx).with_name("mpicc"))


def ran(mpi: Mpi, program: Path, ranks: int, *arguments: str) -> process.CompletedProgram:
    words, environment = launched_words(mpi, ranks)
    return process.capture([*words, str(program), *arguments], env=environment, timeout=300)


def check_line(name: str, ranks: int, line: str) -> None:
    """It has the grid that the description has, and a value for each of its sizes."""
    described = hockney.Program.read(EXAMPLES / "programs" / f"{name}.toml").description
    found = re.fullmatch(rf"{name} (.*) on (.*) ranks: (\S+) us an iteration, (.*)\n", line)
    assert found is not None, line
    extents = tuple(int(word) for word in found[2].split(" x "))
    assert extents == balanced_grid(ranks, described.grid).extents
    sizes = dict(word.split("=") for word in f"{found[1]} {found[4]}".split())
    assert sizes.keys() == described.sizes.keys() and float(found[3]) > 0


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, *slow(1, 3, 4, 6, 8, 9)])
@pytest.mark.parametrize(
    "name", ["jacobi", "master_worker", *slow(*sorted({*PROGRAMS} - {"jacobi", "master_worker"}))]
)
def test_the_answer_is_right(mpi, mpi_name, compiled, name, ranks):
    if mpi_name == "mpich" and ranks > 3:
        pytest.skip("MPICH polls: more ranks than cores wait a scheduler's turn for every message")
    done = ran(mpi, compiled(mpicc(mpi), name), ranks, *PROGRAMS[name])
    if name == "transpose" and ranks & (ranks - 1):
        assert done.code == 1 and "N must be a power of two" in done.err
        return
    assert done.code == 0, done.err
    check_line(name, ranks, done.out)


@pytest.mark.mpi
@pytest.mark.parametrize("name", ["jacobi", *slow(*(name for name in PROGRAMS if name != "jacobi"))])
def test_a_wrong_answer_is_found(mpi, compiled, name):
    done = ran(mpi, compiled(mpicc(mpi), name, mistake=MISTAKES[name]), 2, *PROGRAMS[name])
    assert done.code == 1 and f"{name}: wrong, the error is " in done.err


@pytest.mark.slow
@pytest.mark.mpi
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_answer_that_is_not_a_number_is_wrong(mpi, compiled, name):
    program = compiled(mpicc(mpi), name, mistake=("abs(", "abs(NAN * "))
    done = ran(mpi, program, 2, *PROGRAMS[name])
    assert done.code == 1 and f"{name}: wrong, the error is " in done.err


@pytest.mark.slow
@pytest.mark.mpi
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("position", [0, 1])
def test_bad_arguments_are_refused(mpi, compiled, name, position):
    for word in ("x", "0", "3.5", "-1", "", "9999999999"):
        arguments = [*PROGRAMS[name][:position], word]
        done = ran(mpi, compiled(mpicc(mpi), name), 1, *arguments)
        assert done.code == 1 and f"must be a whole number from 1 to 1000000, not '{word}'" in done.err


@pytest.mark.slow
@pytest.mark.mpi
def test_cmake_builds_them(mpi, tmp_path):
    words = [tool("cmake"), "-S", str(EXAMPLES / "programs"), "-B", str(tmp_path), "-G", "Ninja"]
    did([*words, f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-DMPI_C_COMPILER={mpicc(mpi)}"])
    did([tool("cmake"), "--build", str(tmp_path)])
    for name, arguments in PROGRAMS.items():
        done = ran(mpi, tmp_path / name, 2, *arguments)
        assert done.code == 0, done.err


SIMULATED = {
    "jacobi": ("n=256", "iterations=20"),
    "conjugate_gradients": ("n=64", "iterations=20"),
    "halo26": ("n=8", "iterations=10"),
    "pipeline": ("n=64", "chunks=8", "iterations=20"),
    "transpose": ("n=256", "iterations=5"),
    "master_worker": ("tasks=1000", "panels=200"),
}


def simulated_us(compiled: Compiled, name: str, machine: str, ranks: int, folder: Path) -> float:
    """Of an iteration, if each point takes POINT_S. The program's data are real, its answer is checked."""
    smpi, platform = simgrid_here(), simulated.platform(machine)
    wrapper = str(Path(smpi.mpicxx).with_name("smpicc"))
    program = compiled(wrapper, name, f"-DSIMULATED_POINT_S={point_s(name)!r}")
    (folder / HOSTS).write_text("".join(f"{host}\n" for host in rank_hosts(platform, ranks)))
    (folder / PLATFORM).write_text(platform_lines(platform))
    done = process.capture(
        [
            smpi.mpiexec, "-quiet", "-np", str(ranks), "-hostfile", HOSTS,
            "-platform", str(engine_for(smpi).platform), "--log=root.thres:error",
            "--cfg=smpi/simulate-computation:no", "--cfg=smpi/cpu-threshold:0",
            f"--cfg=smpi/host-speed:{platform.flops!r}", *algorithm_words(platform),
            str(program), *(word.partition("=")[2] for word in SIMULATED[name]),
        ],
        env={**os.environ, "HOCKNEY_PLATFORM": PLATFORM}, cwd=folder, timeout=300,
    )  # fmt: skip
    assert done.code == 0, done.err
    check_line(name, ranks, done.out)
    return float(re.search(r"(\S+) us an iteration", done.out)[1])


def point_s(name: str) -> float:
    return 1000 * POINT_S if name == "master_worker" else POINT_S


def predicted_us(name: str, machine: str, ranks: int) -> float:
    program = hockney.Program.read(EXAMPLES / "programs" / f"{name}.toml")
    words = [word for word in SIMULATED[name] if word.partition("=")[0] in program.description.sizes]
    words += [f"{size}={point_s(name)!r}" for size in program.description.sizes if size.startswith("t_")]
    program = program.with_typed_sizes([*words, f"t={point_s(name)!r}"])
    (row,) = program.predict([ranks], machine=machine).rows
    return 1e6 * row.time.value / program.description.count(ranks)


T3E = ("t3e", 16), ("t3e", 64)
SWITCH = "switched-ethernet+true-switch"
PLACES = [(name, *place) for name in PROGRAMS for place in (*T3E, (SWITCH, 16))]
FAST = ("pipeline", "t3e", 16)


@pytest.mark.simgrid
@pytest.mark.parametrize(
    ("name", "machine", "ranks"), [FAST, *slow(*(place for place in PLACES if place != FAST))]
)
def test_the_predicted_time_is_the_simulated_one(compiled, name, machine, ranks, tmp_path):
    assert predicted_us(name, machine, ranks) == pytest.approx(
        simulated_us(compiled, name, machine, ranks, tmp_path), rel=TOLERANCE
    )
