# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Open MPI's parameter files: settings of a user or a site for every launch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path


def parameter_files(prefix: str | Path, environ: Mapping[str, str]) -> list[Path]:
    """The files of the MPI in `prefix`, in order of precedence."""
    files = []
    for variable in ("OMPI_MCA_mca_base_param_files", "OMPI_MCA_mca_param_files"):
        files += [Path(name) for name in environ.get(variable, "").split(",") if name]
    home = Path(environ.get("HOME", "")) / ".openmpi" / "mca-params.conf"
    return [*files, home, Path(prefix) / "etc" / "openmpi-mca-params.conf"]


def parameters_in(file: Path) -> dict[str, str]:
    """The file's settings by name; empty if it cannot be read."""
    pairs = (line.partition("=") for line in lines_in(file))
    return {name.strip(): value.strip() for name, equals, value in pairs if name.strip() and equals}


def lines_in(file: Path) -> Iterable[str]:
    """The lines that are not comments; empty if the file cannot be read."""
    try:
        lines = file.read_text(errors="replace").splitlines()
    except OSError:
        return []
    return [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
