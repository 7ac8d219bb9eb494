# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments and results pass the wrappers unchanged, in registers and on the stack: with an MPI library that
the test makes up, for each processor that has wrappers. That of AArch64 runs in QEMU."""

from __future__ import annotations

import os
import shutil
from collections import Counter

import pytest
from recorded import PROGRAMS, SECONDS

from hockney import process
from hockney.profiles import interposition
from hockney.profiles.rank_file import read_rank_file

CALLED = {
    "Wtime": 8, "Aint_add": 4, "Accumulate": 4, "Sendrecv": 8, "Comm_set_name": 4, "Comm_rank": 4,
    "Op_create": 4, "Allreduce": 4, "MPIX_Blend": 4, "MPIX_Large": 4, "Pcontrol": 4, "Init": 1, "Finalize": 1,
}  # fmt: skip
"""By made_up_calls.c. The calls of a function that MPI calls are parts of MPI's."""


def tool(name: str, package: str) -> str:
    path = shutil.which(name)
    if not path:
        pytest.skip(f"no {name} (on Debian: apt install {package})")
    return path


def run_here(words: list[str], **variables: str) -> process.CompletedProgram:
    return process.capture(words, env={**os.environ, **variables}, timeout=SECONDS)


def run_in_qemu(words: list[str], **variables: str) -> process.CompletedProgram:
    emulator = [tool("qemu-aarch64-static", "qemu-user-static"), "-L", "/usr/aarch64-linux-gnu"]
    given = [word for name, value in variables.items() for word in ("-E", f"{name}={value}")]
    return process.capture([*emulator, *given, *words], timeout=SECONDS)


@pytest.mark.compiler
@pytest.mark.parametrize("processor", ["native", pytest.param("aarch64", marks=pytest.mark.slow)])
def test_arguments_and_results_are_unchanged(tmp_path, processor):
    native = processor == "native"
    prefix = "" if native else f"{processor}-linux-gnu-"
    compiler = tool(f"{prefix}gcc", f"g++-{prefix}".rstrip("-"))
    run = run_here if native else run_in_qemu
    library, program = tmp_path / "libmpi_made_up.so", tmp_path / "program"
    options = ["-std=gnu11", "-g", "-O2", "-Wall", "-Wextra"]
    for output, name, more in (
        (library, "made_up_mpi", ["-shared", "-fPIC"]),
        (program, "made_up_calls", [str(library), f"-Wl,-rpath,{tmp_path}"]),
    ):
        words = [compiler, *options, "-o", str(output), str(PROGRAMS / f"{name}.c"), *more]
        done = process.capture(words, timeout=SECONDS)
        assert done.ok and not done.err, done.err
    symbols = interposition.recorded_symbols([library])
    if native:
        recording = interposition.build([library])
    else:
        interposition.compile_library(symbols, processor, [f"{prefix}g++"], tmp_path)
        recording = tmp_path / interposition.LIBRARY
    (tmp_path / "profile").mkdir()
    alone = run([str(program)])
    done = run(
        [str(program)],
        LD_PRELOAD=str(recording),
        HOCKNEY_PROFILE_FOLDER=str(tmp_path / "profile"),
    )
    assert alone.code == 0 and alone.out.count("\n") == 4 * 24, alone.err
    assert (done.code, done.out, done.err) == (0, alone.out, alone.err)
    (path,) = (tmp_path / "profile").iterdir()
    file = read_rank_file(path)
    names = interposition.functions(symbols)
    calls: Counter[str] = Counter()
    for entry in file.entries:
        calls[names[int(entry["function"])]] += int(entry["calls"])
    assert calls == CALLED
    assert file.is_finalized and not file.damaged
    sent = [int(entry["bytes"]) for entry in file.entries if names[int(entry["function"])] == "Sendrecv"]
    assert sorted(sent) == [0, 0, 3 * 4, 3 * 4], "in C and in Fortran, before MPI_Init and after it"
    assert int(file.header["failed"]) == 0
