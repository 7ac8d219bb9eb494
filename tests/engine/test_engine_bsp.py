# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""BSP programs in the engine's build, on the core of BSPlib: on simulated machines, where all ranks are
contexts of one process, and under sanitizers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from native import sanitized
from needs import need_gtest
from real_mpi import mpi_named, simgrid_here

from hockney import build, process
from hockney.build.engine import SINGLE_HOST
from hockney.discovery.cpu import processors
from hockney.launch.command import command

HERE = Path(__file__).parent
PROGRAMS = {"bsp-random_supersteps": ("1", "1", "simulated"), "bsp-typed": ()}

OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
"""MPI libraries keep their allocations until the process ends."""


@pytest.fixture(scope="module")
def simulated() -> Path:
    need_gtest()
    return Path(build.targets(simgrid_here(), list(PROGRAMS), HERE)) / "tests"


@pytest.mark.slow
@pytest.mark.simgrid
@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("name", PROGRAMS)
def test_bsp_programs_run_on_simulated_machines(simulated, name, ranks, tmp_path):
    smpi = simgrid_here()
    (tmp_path / "alone.xml").write_text(SINGLE_HOST)
    (tmp_path / "hosts.txt").write_text("n0\n" * ranks)
    words = [smpi.mpiexec, "-np", str(ranks), "-hostfile", "hosts.txt", "-platform", "alone.xml", "-quiet"]
    done = process.capture(
        [*words, "-no-privatize", str(simulated / name), *PROGRAMS[name]], cwd=tmp_path, timeout=600
    )
    assert done.code == 0, done.out + done.err
    assert done.out == ("144\n" if PROGRAMS[name] else "")


@pytest.mark.slow(120)
@pytest.mark.usefixtures("changed_cpp")
@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("name", PROGRAMS)
def test_sanitizers_find_nothing_in_bsp_programs(name, ranks):
    need_gtest()
    mpi = mpi_named("openmpi")
    words = (str(sanitized(mpi, tuple(PROGRAMS)) / name), *PROGRAMS[name][:2])
    launch = command(mpi, words, ranks, processors().cores, bind=False, root=os.geteuid() == 0)
    done = process.capture(launch.words, env=dict(launch.environment) | OPTIONS, timeout=900)
    assert done.code == 0, done.out[-5000:] + done.err[-5000:]
