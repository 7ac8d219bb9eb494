# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Determines the MPI of a compiler wrapper, and its launcher, by running both.

Names are not reliable: /usr/bin/mpicxx may belong to any MPI, and with Debian's two groups of alternatives
mpicxx and mpiexec can belong to different MPIs. The wrapper's mpi.h and the launcher's --version decide.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from hockney import process
from hockney.core.errors import EnvironmentProblem, one_line
from hockney.core.machine import Mpi
from hockney.mpi import UNKNOWN, MpiFamily, families, families_by_precedence, family_named

Source = Literal["option", "environment", "path", "wheel", "cache"]
Notify = Callable[[str], None]

LAUNCHERS = ("mpiexec", "mpiexec.hydra", "mpirun")
TOOL_SECONDS = 30.0


def probe(mpicxx: Path, source: Source) -> Mpi:
    """The MPI whose compiler wrapper is `mpicxx`, with the launcher of the same prefix.

    Raises EnvironmentProblem if the wrapper does not work or has no launcher next to it.
    """
    prefix = mpicxx.absolute().parent.parent
    family, version = read_library(mpicxx, prefix)
    mismatched: list[tuple[Path, str]] = []
    for mpiexec in launchers_beside(mpicxx):
        other = launcher_family(mpiexec)
        if other is family or not (other.known and family.known):
            return Mpi(
                family=family.name,
                version=version,
                prefix=str(prefix),
                mpicxx=str(mpicxx.absolute()),
                mpiexec=str(mpiexec),
                source=source,
            )
        mismatched.append((mpiexec, title(other)))
    if mismatched:
        raise _launcher_of_another_mpi(mpicxx, title(family), *mismatched[0])
    raise EnvironmentProblem(
        f"no mpiexec next to {mpicxx}",
        "ranks are started by the launcher of the MPI they were compiled for",
        f"install the launcher of {title(family)} in that folder, or choose another MPI with --mpi",
        code="mpi-launcher-missing",
    )


def title(family: MpiFamily) -> str:
    """Return the name of `family` as part of a sentence."""
    return family.title if family.known else f"an {family.title}"


def wrapper_words(mpicxx: Path, prefix: Path) -> list[str]:
    """The command line that the wrapper runs, compiler first.

    All supported families understand -show. The variables are those of all families, as it may be any.
    """
    environment: dict[str, str] = {}
    for family in families():
        environment |= family.environment(str(prefix))
    try:
        done = process.capture([str(mpicxx), "-show"], env=environment, timeout=TOOL_SECONDS)
        words = shlex.split(done.out.strip())
    except (process.CannotStart, process.ProgramTimeout, ValueError) as error:
        raise _mpi_tool_failed(mpicxx, str(error)) from error
    if not done.ok or not words:
        raise _mpi_tool_failed(mpicxx, (done.err or done.out)[-300:].strip() or f"exit code {done.code}")
    return words


def read_library(mpicxx: Path, prefix: Path) -> tuple[MpiFamily, str]:
    """Family and version according to the mpi.h that the wrapper uses."""
    words = wrapper_words(mpicxx, prefix)
    folders = [word[2:] for word in words if word.startswith("-I") and len(word) > 2]
    folders += [words[i + 1] for i, word in enumerate(words[:-1]) if word in ("-I", "-isystem")]
    for folder in [*folders, str(prefix / "include"), "/usr/include"]:
        header = Path(folder) / "mpi.h"
        try:
            return family_of_header(header.read_text(errors="replace"))
        except OSError:
            continue
    raise EnvironmentProblem(
        f"{mpicxx} has no mpi.h",
        "nothing can be compiled with it",
        "install the development package of this MPI",
        code="mpi-header-missing",
    )


def family_of_header(text: str) -> tuple[MpiFamily, str]:
    """The family and its version, "" if the family is unknown."""
    defined = dict(
        re.findall(r'^[ \t]*#[ \t]*define[ \t]+(\w+_VERSION)[ \t]+"?([\w.+-]+)"?', text, re.MULTILINE)
    )
    for family in families_by_precedence():
        version = family.parse_version(defined)
        if version is not None:
            return family, version
    return family_named(UNKNOWN), ""


def launchers_beside(mpicxx: Path) -> Iterator[Path]:
    """Launchers that may belong to `mpicxx`, the likeliest first.

    If a link on the way has a suffix (Debian: mpicxx -> /etc/alternatives/mpicxx -> mpicxx.openmpi), the
    launcher with the same suffix comes first.
    """
    chain = link_chain(mpicxx)
    suffixed = [(link.parent, link.name.partition(".")[2]) for link in chain if "." in link.name]
    names = [folder / f"{name}.{suffix}" for folder, suffix in suffixed for name in ("mpiexec", "mpirun")]
    names += [link.parent / name for link in chain for name in LAUNCHERS]
    for candidate in dict.fromkeys(names):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            yield candidate


def link_chain(path: Path) -> list[Path]:
    """`path` and every symbolic link on the way to its target."""
    chain = [path.absolute()]
    while chain[-1].is_symlink() and len(chain) < 20:
        chain.append(Path(os.path.normpath(chain[-1].parent / os.readlink(chain[-1]))))
    return chain


def launcher_family(mpiexec: Path) -> MpiFamily:
    """Return the family shown by --version; unknown if it shows none."""
    return read_launcher(mpiexec)[0]


def read_launcher(mpiexec: Path) -> tuple[MpiFamily, str]:
    """The family that its --version shows, unknown if it shows none, and the version, "" if there is none.
    Raises EnvironmentProblem if it does not work."""
    try:
        done = process.capture([str(mpiexec), "--version"], timeout=TOOL_SECONDS)
    except EnvironmentProblem as error:
        raise _mpi_tool_failed(mpiexec, str(error)) from error
    output = done.out + done.err
    matches = (family for family in families_by_precedence() if family.is_launcher(output))
    version = re.search(r"\b\d+\.\d+(?:\.\d+)?(?:[a-z]+\d*)?\b", output)
    return next(matches, family_named(UNKNOWN)), version[0] if version else ""


def _launcher_of_another_mpi(
    mpicxx: Path, compiles_for: str, launcher: Path, launcher_of: str
) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{mpicxx} compiles for {compiles_for}, but {launcher} is the launcher of {launcher_of}",
        "with another MPI's launcher every rank runs as a separate single-process job",
        f"install the launcher of {compiles_for} next to the wrapper, or choose another MPI with --mpi",
        code="mpi-launcher-mismatch",
        compiles_for=compiles_for,
        launcher_of=launcher_of,
    )


def _mpi_tool_failed(tool: Path, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{tool} does not work",
        one_line(reason),
        "repair or reinstall this MPI, or choose another with --mpi",
        code="mpi-tool-failed",
        reason=reason,
    )
