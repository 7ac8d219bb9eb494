# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""BSPlib programs, compiled and run by the installed commands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from installed import launched_words

from hockney import process
from hockney.core.machine import Mpi

HERE = Path(__file__).parent
PATHS = {
    "shared": {"HOCKNEY_BSP_PATH": "shared"},
    "alltoall": {"HOCKNEY_BSP_PATH": "messages", "HOCKNEY_BSP_HEADERS": "alltoall"},
    "log": {"HOCKNEY_BSP_PATH": "messages", "HOCKNEY_BSP_HEADERS": "log"},
}


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


def bspcc(prefix: Path, language: str = "cc") -> list[str]:
    return [str(prefix / "bin" / f"hockney-bsp{language}")]


def bsprun(
    prefix: Path, ranks: int, program: Path, *arguments: str, plain: Mpi | None = None, **variables: str
) -> Ended:
    """With hockney-bsprun, or with mpiexec of `plain`."""
    words = [str(prefix / "bin" / "hockney-bsprun"), "-n", str(ranks)]
    environment = dict(variables)
    if plain is not None:
        words, more = launched_words(plain, ranks)
        environment |= more
    done = process.capture([*words, str(program), *arguments], env=environment, timeout=600)
    return Ended(done.code, done.out, done.err)
