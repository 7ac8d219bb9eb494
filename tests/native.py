# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The engine with its GoogleTest programs, built where the next test session finds the object files.

The build folder belongs to one checkout and one MPI and stays in hockney's cache, so that Ninja compiles only
what was edited since. The engine that falls out of it is put where `build.engine` looks for one: nothing is
compiled twice.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from hockney import build, process
from hockney.build.compile import TARGET
from hockney.build.engine import place_of
from hockney.build.identity import identify
from hockney.build.tools import tool
from hockney.core.machine import Mpi
from hockney.core.places import cache_folder

TIMEOUT_S = 1800.0
"""A guard against a compiler that hangs, generous to one on a busy machine."""
PROGRAMS = ("engine-unit", "engine-mpi", "engine-barriers", "barrier-traffic")
SANITIZED = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1"


def tests_cache() -> Path:
    folder = cache_folder(os.environ) / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Held by one process at a time, and let go of by the system when that process ends in any way."""
    with (tests_cache() / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def native(
    mpi: Mpi, kind: str = "plain", definitions: Sequence[str] = (), programs: Sequence[str] = PROGRAMS
) -> Path:
    """The folder with the GoogleTest programs for `mpi`."""
    source = build.source_folder()
    identity = identify(mpi, source, os.environ)
    facts = (str(source), mpi.mpicxx, identity.compiler, *map(str, identity.variables), *definitions)
    key = hashlib.sha256("\0".join(facts).encode()).hexdigest()[:12]
    work = tests_cache() / f"{kind}-{mpi.family}-{key}"
    with locked(work.name):
        if not (work / "build.ninja").is_file():
            _run(_configure(mpi, source, work, definitions))
        _run(
            [
                tool("cmake"),
                "--build",
                str(work),
                "--target",
                *programs,
                *([TARGET] if kind == "plain" else []),
            ]
        )
        if kind == "plain" and identify(mpi, source, os.environ) == identity:
            _keep(work, place_of(mpi, identity, cache_folder(os.environ) / "engine"), identity)
    return work / "tests"


def sanitized(mpi: Mpi) -> Path:
    """The same programs under AddressSanitizer and UndefinedBehaviorSanitizer."""
    flags = [f"CMAKE_CXX_FLAGS={SANITIZED}", "CMAKE_CXX_FLAGS_RELEASE=-O1"]
    return native(mpi, "sanitized", flags, PROGRAMS[:3])


def _configure(mpi: Mpi, source: Path, work: Path, definitions: Sequence[str]) -> list[str]:
    defined = [
        "CMAKE_BUILD_TYPE=Release",
        "CMAKE_EXPORT_COMPILE_COMMANDS=ON",
        f"CMAKE_MAKE_PROGRAM={tool('ninja')}",
        f"CMAKE_CXX_COMPILER={mpi.mpicxx}",
        "HOCKNEY_TESTS=ON",
        *definitions,
    ]
    words = [tool("cmake"), "-S", str(source), "-B", str(work), "-G", "Ninja"]
    return [*words, *(f"-D{definition}" for definition in defined)]


def _run(words: Sequence[str]) -> None:
    done = process.capture(list(words), timeout=TIMEOUT_S)
    assert done.code == 0, done.out[-3000:] + done.err[-2000:]


def _keep(work: Path, place: Path, identity: object) -> None:
    """Move the engine into hockney's cache whole, unless there is one."""
    if (place / TARGET).is_file():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=".build-", dir=place.parent))
    shutil.copy2(work / TARGET, fresh / TARGET)
    (fresh / "build.log").write_text(f"built with its tests in {work}\n")
    (fresh / "identity.json").write_bytes(msgspec.json.format(msgspec.json.encode(identity)))
    fresh.chmod(0o755)
    try:
        fresh.rename(place)
    except OSError:  # another hockney was faster
        shutil.rmtree(fresh, ignore_errors=True)


def main() -> None:
    """Build ahead what the tests of the fast tier need; what cannot be built here, their fixtures report."""
    from real_mpi import engine_for, mpi_named, simgrid_here

    for prepare in (
        lambda: engine_for(mpi_named("openmpi")),
        simgrid_here,
        lambda: engine_for(mpi_named("mpich")),
    ):
        with contextlib.suppress(Exception, pytest.skip.Exception, pytest.fail.Exception):
            prepare()


if __name__ == "__main__":
    main()
