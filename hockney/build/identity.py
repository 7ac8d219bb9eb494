# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The inputs of an engine's build. Two builds with the same identity are the same engine.

A wheel cannot be built for an unknown MPI, so the engine is compiled on first use, and again when any of its
inputs changes. It has one executable that every run needs, and groups of workloads that are built on first
use: a folder of the engine with a file group.cmake is a group; each .cpp in it defines one or several
workloads.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import hockney
from hockney import process
from hockney.core.errors import EnvironmentProblem, one_line
from hockney.core.machine import Mpi
from hockney.mpi import environment_of, families

MAIN = "hockney-engine"
DEFINITION = re.compile(r"^extern constinit const WorkloadInfo (\w+)", re.MULTILINE)
"""Finds the same workloads as engine/cmake/plugin_folder.cmake."""


def groups(source: Path) -> dict[str, tuple[str, ...]]:
    """Return the workloads of each executable other than the main one, by name, as their files define
    them."""
    named = {folder: _workloads(folder) for folder in group_folders(source)}
    return {f"hockney-{folder.name}": names for folder, names in named.items() if names}


def main_workloads(source: Path) -> tuple[str, ...]:
    """Return the workloads of the main executable, as its files define them."""
    return _workloads(source / "patterns")


def _workloads(folder: Path) -> tuple[str, ...]:
    texts = (path.read_text(encoding="utf-8") for path in folder.glob("*.cpp"))
    return tuple(sorted(name for text in texts for name in DEFINITION.findall(text)))


def group_folders(source: Path) -> list[Path]:
    return sorted(path.parent for path in source.glob("*/group.cmake"))


INSTALL_COMPILER = "install GCC 11, Clang 13 or newer (on Debian: apt install g++)"

EMULATED, PROFILE, REPLAY = "emulated", "profile", "replay"
"""Folders of sources that no engine contains (build/emulated.py, profiles/interposition.py,
replay/native.py)."""
KEY = 20
"""Number of hexadecimal digits of a key."""


@dataclass(frozen=True)
class Identity:
    """Inputs of a build. `sources` is a digest; `compiler` is the first line of --version; `library` is the
    real path, size and time of the MPI library; `variables` are environment variables that change the
    build."""

    sources: str
    compiler: str
    mpi: tuple[str, str, str]
    library: tuple[tuple[str, int, int], ...]
    variables: tuple[tuple[str, str], ...]

    @property
    def key(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:KEY]

    @property
    def tools(self) -> str:
        """Key of everything except the sources."""
        return replace(self, sources="").key


def variables() -> list[str]:
    """Environment variables that CMake and the wrappers of MPI use."""
    flags = [name for family in families() for name in family.flag_variables]
    return ["CXXFLAGS", "LDFLAGS", *compiler_variables(), *flags, "CPATH", "LIBRARY_PATH"]


def compiler_variables() -> list[str]:
    """Return the variables that choose the compiler of a wrapper."""
    return [name for family in families() for name in family.compiler_variables]


def source_folder() -> Path:
    """The engine's sources: in an installed package, or next to the package in a checkout."""
    package = Path(hockney.__file__).parent
    for folder in (package / "_engine", package.parent / "engine"):
        if (folder / "CMakeLists.txt").is_file():
            return folder
    raise EnvironmentProblem(
        "the engine's sources are missing",
        "the installation of hockney is incomplete",
        "reinstall it: pip install --force-reinstall hockney",
        code="engine-sources-missing",
    )


def identify(
    mpi: Mpi, source: Path, environ: Mapping[str, str], group: str = MAIN, compiler: str | None = None
) -> Identity:
    """Return the identity of the executable `group`, with the wrapper's compiler or the given one. Raises
    EnvironmentProblem if the wrapper has no compiler."""
    return Identity(
        sources=digest(source, group),
        compiler=compiler_version(mpi) if compiler is None else compiler,
        mpi=(mpi.family, mpi.version, os.path.realpath(mpi.mpicxx) + " as " + Path(mpi.mpicxx).name),
        library=tuple(libraries(mpi)),
        variables=tuple((name, environ[name]) for name in variables() if environ.get(name)),
    )


def identity_of(mpi: Mpi, source: Path, environ: Mapping[str, str]) -> str:
    """Return a key of this MPI and the sources that does not depend on the compiler."""
    return identify(mpi, source, environ, compiler="").key


def source_files(source: Path) -> Iterator[Path]:
    """The source files in order, without build folders and hidden files."""
    for path in sorted(p for p in source.rglob("*") if p.is_file()):
        if not any(part.startswith((".", "build", "__pycache__")) for part in path.relative_to(source).parts):
            yield path


def digest(source: Path, group: str = MAIN) -> str:
    """Return a digest of the names and contents of all sources, in order, except those of other groups and
    those that no engine contains."""
    excluded = [folder for folder in group_folders(source) if f"hockney-{folder.name}" != group]
    excluded += [source / EMULATED, source / PROFILE, source / REPLAY]
    sha = hashlib.sha256()
    for path in source_files(source):
        if any(path.is_relative_to(folder) for folder in excluded):
            continue
        content = path.read_bytes()
        sha.update(f"{path.relative_to(source).as_posix()}\0{len(content)}\0".encode() + content)
    return sha.hexdigest()


def compiler_version(mpi: Mpi) -> str:
    try:
        done = process.capture([mpi.mpicxx, "--version"], env=environment_of(mpi), timeout=60)
    except process.CannotStart as error:
        raise no_compiler(mpi, str(error)) from error
    if not done.ok or not done.out.strip():
        raise no_compiler(mpi, one_line(done.err[-300:]) or f"exit code {done.code}")
    return done.out.strip().splitlines()[0]


def no_compiler(mpi: Mpi, reason: str) -> EnvironmentProblem:
    compiler = next(iter(wrapper_command(mpi)), "")
    name = f"'{compiler}'" if compiler else "its C++ compiler"
    return EnvironmentProblem(
        f"{mpi.mpicxx} cannot find {name}",
        reason,
        INSTALL_COMPILER,
        code="wrapper-without-compiler",
        wrapper=mpi.mpicxx,
        compiler=compiler,
    )


def wrapper_command(mpi: Mpi) -> list[str]:
    """The compiler command that the wrapper runs; [] if it does not print it."""
    try:
        return shlex.split(process.capture([mpi.mpicxx, "-show"], env=environment_of(mpi), timeout=30).out)
    except (EnvironmentProblem, ValueError):
        return []


def libraries(mpi: Mpi) -> Iterator[tuple[str, int, int]]:
    """The MPI libraries that the wrapper links: real path, size in bytes, modification time in ns."""
    words = wrapper_command(mpi)
    folders = [word[2:] for word in words if word.startswith("-L")] + [str(Path(mpi.prefix) / "lib")]
    for name in dict.fromkeys(word[2:] for word in words if word.startswith(("-lmpi", "-lsimgrid"))):
        for folder in folders:
            files = [
                p for p in (Path(folder) / f"lib{name}.{end}" for end in ("so", "dylib", "a")) if p.exists()
            ]
            if files:
                real = files[0].resolve()
                # a linker script ("INPUT(libmpi.so.40)") is small; the library that it names is next to it
                for path in sorted({real, *real.parent.glob(f"lib{name}.so.*")}):
                    status = path.stat()
                    yield str(path), status.st_size, status.st_mtime_ns
                break
