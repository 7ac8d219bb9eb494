# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""MPIs with Fortran's modules and libraries: Debian's packages, unpacked once into the cache of the tests."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from native import locked, tests_cache

from hockney import process

SCRIPT = Path(__file__).parents[1] / "fortran_root"
DIALECTS = {"mpif.h": 77, "mpi": 90, "mpi_f08": 2008}
MODULES = "fortran/gfortran-mod-15"


@dataclass(frozen=True)
class FortranMpi:
    """An MPI below `usr`, with its compiler and its launcher's environment."""

    family: str
    usr: Path

    @property
    def lib(self) -> Path:
        return next((self.usr / "lib").glob("*-linux-gnu"))

    @property
    def libraries(self) -> list[Path]:
        names = (
            ("libmpi.so.40", "libmpi_mpifh.so.40", "libmpi_usempi_ignore_tkr.so.40", "libmpi_usempif08.so.40")
            if self.family == "openmpi"
            else ("libmpich.so.12", "libmpichfort.so.12")
        )
        return [self.lib / name for name in names]

    @property
    def _options(self) -> list[str]:
        if self.family == "openmpi":
            folders = [self.lib / "openmpi" / "include", self.lib / MODULES / "openmpi"]
        else:
            folders = [
                next((self.usr / "include").glob("*-linux-gnu")) / "mpich",
                self.lib / MODULES / "mpich",
            ]
        return [f"-I{folder}" for folder in folders]

    def compiled(self, source: Path, folder: Path, dialect: str) -> Path:
        program = folder / f"{source.stem}-{DIALECTS[dialect]}"
        words = ["gfortran", "-g", "-w", f"-DDIALECT={DIALECTS[dialect]}", "-fallow-argument-mismatch"]
        words += ["-ffree-line-length-none", *self._options, str(source), "-o", str(program)]
        done = process.capture(
            [*words, *map(str, reversed(self.libraries)), f"-Wl,-rpath-link,{self.lib}"], timeout=300
        )
        assert done.ok, done.err
        return program

    def launched(self, program: Path, ranks: int, **variables: str) -> process.CompletedProgram:
        environ = {**os.environ, "LD_LIBRARY_PATH": str(self.lib)}
        bin_ = self.usr / "bin"
        if self.family == "openmpi":
            environ |= {"OPAL_PREFIX": str(self.usr), "OMPI_MCA_mca_base_component_show_load_errors": "0"}
            environ |= {"OMPI_MCA_btl": "self,vader", "OMPI_MCA_pml": "ob1"}
            words = [str(bin_ / "orterun"), "--oversubscribe", "-n", str(ranks)]
            words += ["--allow-run-as-root"] if os.geteuid() == 0 else []
            words += [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]
        else:
            words = [str(bin_ / "mpiexec.hydra"), "-n", str(ranks)]
            words += [word for name, value in variables.items() for word in ("-genv", name, value)]
        return process.capture([*words, str(program)], env=environ, timeout=300)


def fortran_mpi(family: str) -> FortranMpi:
    if shutil.which("apt-get") is None:
        pytest.skip("the MPIs for Fortran are packages of Debian")
    folder = tests_cache() / "fortran"
    with locked(folder.name):
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            done = process.capture(["sh", str(SCRIPT), str(folder)], timeout=600)
            if not done.ok:
                pytest.skip(f"no packages: {done.err.strip()[-500:]}")
            (folder / "complete").touch()
    return FortranMpi(family, folder / "root" / "usr")
