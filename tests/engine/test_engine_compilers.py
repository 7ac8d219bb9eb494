# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The engine and its groups compile with the oldest and the newest compilers of Debian 12, and for AArch64,
where QEMU runs the unit tests. Tests whose compiler is not installed are skipped."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from native import compiled_for_aarch64, compiled_with, locked, tests_cache
from needs import need_gtest
from real_mpi import mpi_named

from hockney import build, process

pytestmark = [pytest.mark.mpi, pytest.mark.slow(300)]
TARGETS = (build.MAIN, *build.groups(build.source_folder()), "engine-unit")
HERE = Path(__file__).parent


def installed(program: str, package: str) -> str:
    path = shutil.which(program)
    if not path:
        pytest.skip(f"no {program} (on Debian: apt install {package})")
    return path


def check_units(words: list[str]) -> None:
    done = process.capture([*words, "--gtest_brief=1"], timeout=300)
    assert done.code == 0 and "PASSED" in done.out, done.out + done.err


@pytest.mark.parametrize("compiler", ["g++-11", "clang++-13", "clang++-19"])
def test_it_compiles_and_its_units_hold(compiler, monkeypatch):
    need_gtest()
    installed(compiler, compiler.replace("clang++", "clang"))
    openmpi = mpi_named("openmpi")
    monkeypatch.setenv("OMPI_CXX", compiler)
    check_units([str(compiled_with(openmpi, compiler, TARGETS) / "engine-unit")])


@pytest.fixture
def root() -> Path:
    """Open MPI, GoogleTest and the libraries that they need for AArch64."""
    installed("apt-get", "apt")
    folder = tests_cache() / "aarch64"
    with locked(folder.name):
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            done = process.capture([str(HERE.parent / "aarch64_root"), str(folder)], timeout=600)
            if done.code != 0:
                pytest.skip(f"no packages for arm64: {done.err.strip()[-500:]}")
            (folder / "complete").touch()
    return folder / "root"


def test_it_compiles_for_aarch64_and_its_units_hold(root):
    compiler = installed("aarch64-linux-gnu-g++", "g++-aarch64-linux-gnu")
    emulator = installed("qemu-aarch64-static", "qemu-user-static")
    folder = compiled_for_aarch64(compiler, root, TARGETS)
    check_units([emulator, "-L", str(root), str(folder / "engine-unit")])
