# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The library in a prefix, as its users have it: programs compiled with it, and run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from needs import need_program

from hockney import process
from hockney.build.tools import tool
from hockney.core.launcher_options import NO_LAUNCHER_OPTIONS, LauncherOptions
from hockney.core.machine import Mpi
from hockney.discovery.cpu import processors
from hockney.launch.command import command

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"


def finished(words: list[str], env: Mapping[str, str] | None = None) -> process.CompletedProgram:
    done = process.capture(words, env=env, timeout=300)
    assert done.ok, f"{' '.join(words)}: {done.out[-3000:]}{done.err[-2000:]}"
    return done


def did(words: list[str], env: Mapping[str, str] | None = None) -> str:
    return finished(words, env).out


def launched_words(mpi: Mpi, ranks: int) -> tuple[list[str], dict[str, str]]:
    """What starts a program that follows, and its environment."""
    launch = command(mpi, (), ranks, processors().cores, bind=False, root=os.geteuid() == 0)
    return list(launch.words), dict(launch.environment)


def launched(
    mpi: Mpi, words: tuple[str, ...], ranks: int, variables: Mapping[str, str]
) -> process.CompletedProgram:
    """Run a program with variables set for its ranks only."""
    user = LauncherOptions(variables=tuple(variables.items())) if variables else NO_LAUNCHER_OPTIONS
    cores, root = processors().cores, os.geteuid() == 0
    launch = command(mpi, words, ranks, cores, bind=False, root=root, user=user)
    return finished(list(launch.words), dict(launch.environment))


def run(mpi: Mpi, program: Path, ranks: int, *arguments: str, **variables: str) -> str:
    return launched(mpi, (str(program), *arguments), ranks, variables).out


def package_flags(prefix: Path, package: str) -> list[str]:
    need_program("pkg-config", "pkg-config")
    environ = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    return did(["pkg-config", "--cflags", "--libs", package], environ).split()


def compiled(mpi: Mpi, prefix: Path, package: str, source: str, standard: str) -> Path:
    """A program of this folder, compiled with the flags from pkg-config."""
    flags = package_flags(prefix, package)
    program = prefix / Path(source).stem
    strict = ["-Wall", "-Wextra", "-Werror"]
    did([mpi.mpicxx, f"-std={standard}", *strict, str(HERE / source), "-o", str(program), *flags])
    return program


def built_example(prefix: Path, name: str, work: Path) -> Path:
    """The folder in which CMake has built an example."""
    words = [tool("cmake"), "-S", str(EXAMPLES / name), "-B", str(work), "-G", "Ninja"]
    words += [f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-DCMAKE_PREFIX_PATH={prefix}"]
    did([*words, "-DCMAKE_BUILD_TYPE=Release"])
    did([tool("cmake"), "--build", str(work)])
    return work
