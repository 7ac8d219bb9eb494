# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Programs in C of this folder, compiled for an MPI and run with the library that records their calls, and
with a second one that counts them: it is written from the declarations in mpi.h, and shares no table with the
first."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hockney import process
from hockney.core.launcher_options import LauncherOptions
from hockney.core.machine import Mpi
from hockney.discovery.cpu import processors
from hockney.launch.command import command
from hockney.profiles import interposition
from hockney.profiles.rank_file import RankFile, read_rank_file

PROGRAMS = Path(__file__).parent / "programs"
SECONDS = 300.0
"""A guard against a program that hangs."""


def mpicc(mpi: Mpi) -> str:
    name = Path(mpi.mpicxx).name
    return str(Path(mpi.mpicxx).with_name(name.replace("mpicxx", "mpicc").replace("mpic++", "mpicc")))


def mpi_libraries(mpi: Mpi) -> list[Path]:
    """The libraries with which this MPI's compiler links programs, and those for Fortran. Names without a
    version may be scripts for the linker."""
    words = subprocess.run([mpi.mpicxx, "-show"], capture_output=True, text=True, check=True).stdout.split()
    folders = [Path(word[2:]) for word in words if word.startswith("-L")]
    name = [word[2:] for word in words if word.startswith("-lmpi")][-1]
    found = {path.resolve() for folder in folders for path in folder.glob(f"lib{name}*.so.*")}
    assert found, folders
    return sorted(found)


def recording_library(mpi: Mpi) -> Path:
    return interposition.build(mpi_libraries(mpi))


def compiled(mpi: Mpi, work: Path, name: str, *options: str, folder: Path = PROGRAMS) -> Path:
    """A program of the folder `programs`, or of another one."""
    program = work / name
    words = [mpicc(mpi), "-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Wno-unused-parameter"]
    words += [
        "-Wno-deprecated-declarations",
        "-Wno-stringop-overread",
        str(folder / f"{name}.c"),
        "-o",
        str(program),
        "-lpthread",
        *options,
    ]
    done = process.capture(words, timeout=SECONDS)
    assert done.ok, done.err
    return program


_PROTOTYPE = re.compile(r"\b((?:[A-Za-z_]\w*[\s*]+)+)(MPI_\w+)\s*\(([^()]*)\)\s*(?:__attribute__[^;]*)?;")


def wrappers(declarations: str) -> str:
    """A wrapper for each function that a preprocessed mpi.h declares."""
    names: list[str] = []
    lines: list[str] = []
    for returned, name, listed in _PROTOTYPE.findall(declarations):
        if name in names or "typedef" in returned or name.endswith(("_FN", "_fn")):
            continue
        parameters = [each.strip() for each in listed.split(",")]
        if name == "MPI_Pcontrol":
            lines.append(f"enum {{ pcontrol_name = {len(names)} }};")
            names.append(name)
            continue
        arguments = [] if parameters == ["void"] else [_argument(each) for each in parameters]
        place, kind = len(names), re.sub(r"\bextern\b", "", returned).strip()
        names.append(name)
        lines.append(
            f"{kind} ({name})({listed}) {{ static {kind} (*next)({listed}); "
            f'if (!next) next = ({kind} (*)({listed}))dlsym(RTLD_NEXT, "{name}"); enter({place}); '
            f"{kind} returned_ = next({', '.join(arguments)}); leave({place}); return returned_; }}"
        )
    table = ", ".join(f'"{name.removeprefix("MPI_")}"' for name in names)
    return "\n".join([f"static const char* const names[] = {{{table}}};", *lines, ""])


def _argument(parameter: str) -> str:
    """The name in a parameter's declaration, such as "const int array_of_ranges[][3]"."""
    found = re.search(r"(\w+)\s*(?:\[[^]]*\]\s*)*$", parameter)
    assert found is not None, parameter
    return found[1]


def counting_library(mpi: Mpi, folder: Path) -> Path:
    header = process.capture(
        [mpicc(mpi), "-E", "-P", "-include", "mpi.h", "-x", "c", "/dev/null"], timeout=SECONDS
    )
    assert header.ok, header.err
    (folder / "wrappers.h").write_text(wrappers(header.out))
    return shared_library(mpi, folder, "count")


def shared_library(mpi: Mpi, folder: Path, name: str) -> Path:
    """A library of the folder `programs`."""
    library = folder / f"lib{name}.so"
    words = [
        mpicc(mpi),
        "-std=gnu11",
        "-shared",
        "-fPIC",
        "-O1",
        "-w",
        f"-I{folder}",
        str(PROGRAMS / f"{name}.c"),
    ]
    # Without a dependency on MPI, as other tools have it.
    done = process.capture([*words, "-Wl,--as-needed", "-o", str(library), "-ldl"], timeout=SECONDS)
    assert done.ok, done.err
    return library


@dataclass(frozen=True)
class Recorded:
    """A run with the library."""

    done: process.CompletedProgram
    files: tuple[RankFile, ...]
    counts: Mapping[int, Counter[str]]
    """The independent counts of each process."""
    names: tuple[str, ...]
    """Functions by place."""

    def calls(self, file: RankFile) -> Counter[str]:
        """Recorded calls of a rank, by function."""
        found: Counter[str] = Counter()
        for entry in file.entries:
            found[self.names[int(entry["function"])]] += int(entry["calls"])
        return found

    def of(self, file: RankFile, *functions: str) -> np.ndarray:
        """The entries of these functions."""
        return file.entries[[self.names[int(each)] in functions for each in file.entries["function"]]]


def launched(
    mpi: Mpi, words: Sequence[str], ranks: int, variables: Mapping[str, str] | None = None
) -> process.CompletedProgram:
    given = dict(variables or {})
    if mpi.family == "mpich":  # whose processes that bind ranks cannot start others (MPI_Comm_spawn)
        options = [word for name, value in given.items() for word in ("-genv", name, value)]
        return process.capture([mpi.mpiexec, "-n", str(ranks), *options, *words], timeout=SECONDS)
    user = LauncherOptions(variables=tuple(given.items()))
    root = os.geteuid() == 0
    launch = command(mpi, tuple(words), ranks, processors().cores, bind=False, root=root, user=user)
    return process.capture(list(launch.words), env=dict(launch.environment), timeout=SECONDS)


def recorded(
    mpi: Mpi,
    folder: Path,
    ranks: int,
    *words: str | Path,
    counter: Path | None = None,
    after: Sequence[Path] = (),
    **variables: str,
) -> Recorded:
    """Run a program with the library; with `counter`, that library comes first, and then those of `after`."""
    out = folder / "profile"
    counted = folder / "counts"
    number = 1
    while out.exists():
        number += 1
        out, counted = folder / f"profile-{number}", folder / f"counts-{number}"
    out.mkdir(parents=True)
    counted.mkdir()
    preload = [*([counter] if counter else []), recording_library(mpi), *after]
    given = {
        "LD_PRELOAD": ":".join(map(str, preload)),
        "HOCKNEY_PROFILE_FOLDER": str(out),
        "COUNT_FOLDER": str(counted),
        **variables,
    }
    done = launched(mpi, [str(word) for word in words], ranks, given)
    files = sorted(
        (read_rank_file(path) for path in out.glob("*.hkp")), key=lambda file: (file.rank, file.job)
    )
    counts = {int(path.name): _counts(path) for path in counted.iterdir()}
    names = tuple(interposition.functions(interposition.recorded_symbols(mpi_libraries(mpi))))
    return Recorded(done, tuple(files), counts, names)


def _counts(path: Path) -> Counter[str]:
    return Counter({name: int(number) for name, number in map(str.split, path.read_text().splitlines())})
