# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The engine for one MPI: from the cache, or compiled into it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from hockney import process
from hockney.build import duration
from hockney.build.compile import PLATFORM, compile_targets
from hockney.build.identity import KEY, MAIN, Identity, digest, identify, source_folder
from hockney.build.workplace import Workplace, workplace
from hockney.core.catalog import Catalog, decode_catalog
from hockney.core.errors import EnvironmentProblem, one_line
from hockney.core.machine import Mpi
from hockney.core.paths import LAUNCH_FOLDER, cache_folder
from hockney.mpi import environment_of, family_of, title_of
from hockney.system.bundled import bundled_catalog, bundled_groups
from hockney.system.files import cache_unwritable, remove_older
from hockney.system.trust import check_cache_owner

FLAGS = "-O2 -std=c++20"
LEFTOVER_SECONDS = 7 * 86400.0
SINGLE_HOST = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="alone" routing="Full"><host id="n0" speed="1Gf"/></zone></platform>
"""
"""The smallest machine that SimGrid accepts."""


@dataclass(frozen=True)
class Engine:
    """`seconds` is the duration of the build (0 from the cache), `compiler` the first line of its --version,
    `flags` its options, `log` the build's log; `platform` is the plug-in next to an engine for SimGrid."""

    path: Path
    catalog: Catalog
    seconds: float
    cached: bool
    log: Path
    compiler: str
    flags: str

    @property
    def platform(self) -> Path:
        return self.path.with_name(PLATFORM)


def engine(
    mpi: Mpi,
    source: Path | None = None,
    cache: Path | None = None,
    notify: Callable[[str], None] = lambda _: None,
    environ: Mapping[str, str] | None = None,
    group: str = MAIN,
    compiles: bool = True,
) -> Engine:
    """Return the executable `group` of the engine compiled for `mpi`, with its catalog. If it is not compiled
    and `compiles` is false, return its future path with the catalog bundled with hockney.

    It is built in a temporary folder and then moved into place, so that neither an interruption nor a
    concurrent hockney leaves a broken one. Raises BuildFailed, or EnvironmentProblem if something else is
    missing.
    """
    environ = os.environ if environ is None else environ
    source = source or source_folder()
    cache = cache or cache_folder(environ)
    try:
        identity = identify(mpi, source, environ, group)
    except EnvironmentProblem:
        earlier = _find_earlier(identify(mpi, source, environ, group, compiler=""), mpi, cache, group)
        if earlier is None:
            raise
        identity = earlier
    place = engine_folder(mpi, identity, cache, group)
    seconds = 0.0
    cached = (place / group).is_file()
    flags = " ".join([FLAGS, *(f"{name}={value}" for name, value in identity.variables)])
    if not cached and not compiles:
        catalogs = {MAIN: bundled_catalog(), **{each.workloads[0].group: each for each in bundled_groups()}}
        return Engine(
            place / group, catalogs[group], 0.0, False, place / "build.log", identity.compiler, flags
        )
    if not cached:
        name = "" if group == MAIN else group.removeprefix("hockney-")
        takes = duration.expected(
            duration.SIMULATED_ENGINE_S if family_of(mpi).simulated else duration.ENGINE_S
        )
        notify(f"compiling the {_title(name)} for {title_of(mpi)} (once; {takes})")
        begun = time.monotonic()
        identity = build_into(cache, mpi, source, identity, group)
        place = engine_folder(mpi, identity, cache, group)
        seconds = time.monotonic() - begun
        notify(f"compiled the {_title(name)} in {seconds:.0f} s")
    for folder in (place.parent, place):
        check_cache_owner(folder, environ)
    catalog = read_catalog(place / group, mpi)
    return Engine(place / group, catalog, seconds, cached, place / "build.log", identity.compiler, flags)


def _find_earlier(without: Identity, mpi: Mpi, cache: Path, group: str) -> Identity | None:
    """Return the newest engine in the cache in which only the compiler differs, for hosts without a compiler
    such as a cluster's nodes; None if there is none."""
    candidates: list[tuple[float, Identity]] = []
    for path in (cache / "engine").glob(
        f"{engine_folder(mpi, without, cache, group).name[:-KEY]}*/identity.json"
    ):
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            built = msgspec.json.decode(path.read_bytes(), type=Identity)
            if replace(built, compiler="") == without and (path.parent / group).is_file():
                candidates.append((path.stat().st_mtime, built))
    return max(candidates, key=lambda each: each[0], default=(0.0, None))[1]


def targets(mpi: Mpi, names: Sequence[str], tests: Path | None = None) -> Path:
    """Return CMake's folder for `mpi` after building the targets `names`. They may include targets of the
    folder `tests`, whose binaries are in its folder tests. Object files are shared with the engine."""
    source = source_folder()
    with workplace_of(mpi, identify(mpi, source, os.environ), source, cache_folder(os.environ)) as work:
        work.mirror(source)
        log = work.folder / "targets.log"
        with work.building():
            compile_targets(mpi, work.source, work.build, log, names, tests)
        return work.build


def engine_folder(mpi: Mpi, identity: Identity, cache: Path, group: str) -> Path:
    prefix = "" if group == MAIN else f"{group.removeprefix('hockney-')}-"
    return cache / "engine" / f"{prefix}{mpi.family}-{mpi.version}-{identity.key}"


def workplace_of(
    mpi: Mpi, identity: Identity, source: Path, cache: Path
) -> contextlib.AbstractContextManager[Workplace]:
    return workplace(cache / "work", f"{source.name}-{mpi.family}-{mpi.version}-{identity.tools}")


def build_into(cache: Path, mpi: Mpi, source: Path, identity: Identity, group: str) -> Identity:
    """Compile the executable and move it into place. Returns the identity of the compiled sources, which may
    have been edited since."""
    shelf = cache / "engine"
    try:
        shelf.mkdir(parents=True, exist_ok=True)
        remove_leftovers(shelf)
        fresh = Path(tempfile.mkdtemp(prefix=".build-", dir=shelf))
    except OSError as error:
        raise cache_unwritable(shelf, error) from error
    try:
        with workplace_of(mpi, identity, source, cache) as work:
            work.mirror(source)
            identity = replace(identity, sources=digest(work.source, group))
            place = engine_folder(mpi, identity, cache, group)
            if (place / group).is_file():  # another hockney was faster
                return identity
            out = fresh / "out"
            out.mkdir()
            (out / "identity.json").write_bytes(msgspec.json.format(msgspec.json.encode(identity)))
            with work.building():
                compile_targets(
                    mpi,
                    work.source,
                    work.build,
                    out / "build.log",
                    [group],
                    keep_log=shelf / f"failed-{place.name}.log",
                    original=source,
                )
            for built in (group, *([PLATFORM] if family_of(mpi).simulated else [])):
                shutil.copy2(work.build / built, out / built)
        try:
            out.rename(place)
        except OSError:
            if not (place / group).is_file():
                raise
        return identity
    except OSError as error:
        raise cache_unwritable(shelf, error) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def remove_leftovers(shelf: Path) -> None:
    """Remove files left by killed builds and launches; recent ones may still be running."""
    for kind in (".build-*", f"*/{LAUNCH_FOLDER}*"):
        remove_older(shelf.glob(kind), LEFTOVER_SECONDS)


def run_without_launcher(path: Path, mpi: Mpi) -> process.CompletedProgram:
    """Print the engine's catalog without a launcher. An engine for SimGrid is a library that SimGrid's
    launcher must load, on any machine."""
    words = [str(path), "--catalog"]
    if not family_of(mpi).simulated:
        return process.capture(words, env=environment_of(mpi), timeout=60)
    with tempfile.TemporaryDirectory(prefix="hockney-") as folder:
        (Path(folder) / "alone.xml").write_text(SINGLE_HOST)
        (Path(folder) / "hosts.txt").write_text("n0\n")
        launcher = [mpi.mpiexec, "-np", "1", "-hostfile", "hosts.txt", "-platform", "alone.xml", "-quiet"]
        return process.capture([*launcher, "-no-privatize", *words], cwd=folder, timeout=60)


def read_catalog(path: Path, mpi: Mpi) -> Catalog:
    """Run the engine to read its catalog, which also shows whether its libraries are found."""
    try:
        done = run_without_launcher(path, mpi)
        if done.ok:
            return decode_catalog(done.out)
        reason = one_line(done.err[-300:]) or f"exit code {done.code}"
    except (process.CannotStart, process.ProgramTimeout, msgspec.DecodeError) as error:
        reason = str(error)
    library_missing = "shared librar" in reason or "Library not loaded" in reason
    raise EnvironmentProblem(
        f"the engine compiled for {title_of(mpi)} does not start",
        reason,
        f"load the module of {title_of(mpi)}, or add its library folder to LD_LIBRARY_PATH"
        if library_missing
        else f"remove {path.parent} and try again",
        code="engine-not-starting",
        reason=reason,
        library_missing=library_missing,
    )


def _title(group: str) -> str:
    """Return the name of an executable in progress lines; "" is the main one."""
    return f"engine's {group}" if group else "engine"
