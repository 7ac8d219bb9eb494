# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Launchers and MPI libraries that tests make up."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

VERSIONS = {
    "openmpi": "mpiexec (Open MPI) 5.0.11",
    "mpich": "HYDRA build details:\n    Version:                                 4.0.2",
    "intel": "Intel(R) MPI Library for Linux* OS, Version 2021.18 Build 20260101",
    "unknown": "a launcher 1.0",
}
"""What the launcher of each family prints for --version."""
LIBRARY_TEXTS = {"openmpi": "Open MPI v5.0.11", "mpich": "MPICH Version: 4.0.2", "intel": "Intel(R) MPI 2021"}
LAUNCHER = """#!/bin/sh
if [ "$1" = --version ]; then echo '{version}'; exit; fi
{body}
"""


def launcher(folder: Path, family: str, body: str = "", name: str = "mpiexec") -> Path:
    """A launcher of this family in folder/bin, which runs a shell script."""
    path = folder / "bin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(LAUNCHER.format(version=VERSIONS[family], body=body))
    path.chmod(0o755)
    return path


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def environment(*folders: Path) -> dict[str, str]:
    """An environment in which PATH has these folders and the system's."""
    return {"PATH": os.pathsep.join([*map(str, folders), os.environ["PATH"]]), "HOME": "/nonexistent"}


def compiled(path: Path, source: str, *options: str | Path) -> Path:
    """A program or library in C. Needs the marker `compiler`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    words = ["cc", "-x", "c", "-", "-o", str(path), "-x", "none", *map(str, options)]
    subprocess.run(words, input=source, text=True, check=True)
    return path


def library(prefix: Path, family: str, name: str = "libmpi.so.40") -> Path:
    """A library of this family in prefix/lib, with a few functions."""
    source = f'const char text[] = "{LIBRARY_TEXTS[family]}";\n' + "".join(
        f"int {prefixed}{function}(void) {{ return 0; }}\n"
        for function in ("MPI_Init", "MPI_Finalize", "MPI_Barrier")
        for prefixed in ("", "P")
    )
    return compiled(prefix / "lib" / name, source, "-shared", "-fPIC", f"-Wl,-soname,{name}")


CALLING = "int MPI_Init(void); int main(void) { return MPI_Init(); }\n"
"""A program that binds a function of MPI."""
