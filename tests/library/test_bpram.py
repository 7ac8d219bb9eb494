# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The library of the message-passing block PRAM, installed: what its steps deliver, in C++ and in C, and the
errors of steps that are no partial permutation."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from installed import HERE, compiled, did, run
from tiers import slow

from hockney import process
from hockney.core.launcher_options import LauncherOptions
from hockney.core.machine import Mpi
from hockney.discovery.cpu import processors
from hockney.launch.command import command

pytestmark = [pytest.mark.mpi, pytest.mark.needs("pkg-config")]


@pytest.fixture(scope="session")
def steps(mpi: Mpi, prefix: Path) -> Path:
    return compiled(mpi, prefix, "hockney-bpram", "bpram/steps.cpp", "c++20")


@pytest.fixture(scope="session")
def steps_in_c(mpi: Mpi, prefix: Path, tmp_path_factory) -> Path:
    program = tmp_path_factory.mktemp("bpram") / "steps_in_c"
    words = [str(Path(mpi.mpicxx).with_name("mpicc")), str(HERE / "bpram/steps.c"), "-o", str(program)]
    libraries = ["-lhockney-bpram", "-lhockney", "-lstdc++", "-lm"]
    did([*words, "-Wall", "-Wextra", "-Werror", f"-I{prefix}/include", f"-L{prefix}/lib", *libraries])
    return program


@pytest.mark.parametrize("check", ["0", "1"])
@pytest.mark.parametrize("ranks", [3, *slow(1, 2, 5, 6)])
def test_blocks_arrive(mpi, steps, ranks, check):
    assert run(mpi, steps, ranks, HOCKNEY_BPRAM_CHECK=check) == "fine\n"


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_blocks_arrive_in_c(mpi, steps_in_c, ranks):
    assert run(mpi, steps_in_c, ranks, HOCKNEY_BPRAM_CHECK="1") == "fine\n"


@pytest.mark.usefixtures("last_words")
def test_a_step_that_is_no_partial_permutation_ends_all_processes(mpi, steps, golden):
    refused = {}
    for way in ("collide", "unwanted", "missing", "small", "range"):
        user = LauncherOptions(variables=(("HOCKNEY_BPRAM_CHECK", "1"),))
        root = os.geteuid() == 0
        launch = command(mpi, (str(steps), way), 2, processors().cores, bind=False, root=root, user=user)
        done = process.capture(list(launch.words), env=dict(launch.environment), timeout=60)
        assert done.code not in (0, None)
        # Open MPI prints a null character in front of it.
        lines = re.findall(r"hockney-bpram: [^\n\0]+", done.err)
        assert lines, done.err
        refused[way] = min(lines)
    golden("bpram_refused.txt", "\n".join(f"{way}: {line}" for way, line in refused.items()))
