# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of engine/emulated/, which make this host an Ethernet of several: compiled on first use.

They have nothing to do with an MPI, so that the system's compiler builds them once for all. They do the same
whichever compiler builds them, so a build is found in the cache even where there is no compiler.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hockney import process
from hockney.build.compile import find_first_error
from hockney.build.identity import EMULATED, source_files, source_folder
from hockney.build.tools import compilers
from hockney.core.errors import EnvironmentProblem, one_line
from hockney.core.paths import cache_folder
from hockney.system.files import cache_unwritable, remove_older
from hockney.system.trust import refuse_foreign_cache

FLAGS = ("-O2", "-std=c++20", "-Wall", "-Wextra")
ETHERNET, WAITING = "hockney-ethernet", "libhockney-waiting.so"
PROGRAMS = {
    ETHERNET: ("ethernet", "agent", "room", "relay", "medium", "links"),
    WAITING: ("waiting",),
}
"""The source files of each."""
AGENT = "hockney-ethernet-agent"
"""Another name of ETHERNET."""
LIBRARY_FLAGS = ("-shared", "-fPIC")
LIBRARIES = ("-ldl",)
COMPILING_SECONDS = 300.0
LEFTOVER_SECONDS = 86400.0


@dataclass(frozen=True)
class EthernetPrograms:
    """`ethernet` runs a command among emulated hosts, `agent` is a remote shell to them, and `waiting` a
    library that makes a polling MPI wait."""

    ethernet: Path
    agent: Path
    waiting: Path


def ethernet_programs(
    notify: Callable[[str], None] = lambda _: None, environ: Mapping[str, str] | None = None
) -> EthernetPrograms:
    """The programs of emulated machines, from the cache or compiled into it. Raises EnvironmentProblem."""
    environ = os.environ if environ is None else environ
    source = source_folder()
    place = cache_folder(environ) / EMULATED / _key(source)

    def compile_into(folder: Path) -> None:
        compiler = compilers(environ).cxx
        notify("compiling the programs of emulated machines (once; a few seconds)")
        _compile(source, compiler, folder)

    built_once(place, compile_into, environ)
    return EthernetPrograms(place / ETHERNET, place / AGENT, place / WAITING)


def _key(source: Path) -> str:
    """The sources, and the system that can run the programs: hosts may share a cache."""
    system = (platform.machine(), *platform.libc_ver())
    sha = hashlib.sha256(shlex.join((*FLAGS, *system)).encode())
    for path in source_files(source / EMULATED):
        sha.update(path.name.encode() + path.read_bytes())
    return sha.hexdigest()[:20]


def built_once(place: Path, compile_into: Callable[[Path], None], environ: Mapping[str, str]) -> None:
    """Make the folder `place` of the cache, unless it exists. `compile_into` fills a temporary folder, which
    is then moved into place: another hockney may do the same. Raises EnvironmentProblem."""
    if not place.is_dir():
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            remove_older(place.parent.glob(".build-*"), LEFTOVER_SECONDS)
            fresh = Path(tempfile.mkdtemp(prefix=".build-", dir=place.parent))
        except OSError as error:
            raise cache_unwritable(place.parent, error) from error
        try:
            compile_into(fresh)
            fresh.chmod(0o755)
            try:
                fresh.rename(place)
            except OSError as error:
                if not place.is_dir():
                    raise cache_unwritable(place.parent, error) from error
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    for folder in (place.parent, place):
        refuse_foreign_cache(folder, environ)


def _compile(source: Path, compiler: tuple[str, ...], folder: Path) -> None:
    for name, parts in PROGRAMS.items():
        files = [str(source / EMULATED / f"{part}.cpp") for part in parts]
        shared = LIBRARY_FLAGS if name.endswith(".so") else ()
        words = [*compiler, *FLAGS, *shared, f"-I{source}", "-o", str(folder / name), *files, *LIBRARIES]
        done = process.capture(words, timeout=COMPILING_SECONDS)
        if not done.ok:
            raise EnvironmentProblem(
                f"{name} does not compile",
                one_line(find_first_error(done.err.splitlines())),
                f"check that {shlex.join(compiler)} compiles C++20 and finds the kernel's headers",
                code="ethernet-does-not-compile",
                program=name,
            )
    (folder / AGENT).symlink_to(ETHERNET)
