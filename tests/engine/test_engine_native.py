# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The engine's C++ tests, built with GoogleTest: alone, and under mpiexec at 1, 2, 3, 5 and 9 ranks."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_lines import launched
from native import compiled_together, native
from needs import need_gtest
from tiers import slow

from hockney import process
from hockney.models import schedules
from hockney.models.barriers import Traffic, is_predictable, traffic

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="session")
def binaries(mpi) -> Path:
    """The folder with engine-unit and engine-mpi, built against `mpi`."""
    need_gtest()
    return native(mpi)


def test_all_files_go_together(binaries):
    assert compiled_together(binaries.parent)


@pytest.mark.parametrize("name", ["engine-unit", *slow("annealing-unit")])
def test_units_hold(binaries, name):
    done = process.capture([str(binaries / name), "--gtest_brief=1"], timeout=300)
    assert done.code == 0 and "PASSED" in done.out, done.out


@pytest.mark.parametrize("ranks", [3, *slow(1, 2, 5, 9)])
def test_measuring_holds(mpi, mpi_name, binaries, ranks):
    if mpi_name == "mpich" and ranks > 3:
        pytest.skip("MPICH polls: more ranks than cores wait a scheduler's turn for every message")
    done = launched(mpi, binaries / "engine-mpi", ranks, "--gtest_brief=1")
    assert done.code == 0 and done.out.count("PASSED") == ranks, done.out + done.err


@pytest.mark.parametrize("ranks", [3, *slow(1, 2, 4, 5, 6, 7, 8, 9)])
def test_barriers_hold(mpi, mpi_name, binaries, ranks):
    if mpi_name == "mpich" and ranks > 4:
        pytest.skip("MPICH polls while communicators are made, which takes seconds where ranks share cores")
    done = launched(mpi, binaries / "engine-barriers", ranks, "--gtest_brief=1")
    assert done.code == 0 and done.out.count("PASSED") == ranks, done.out + done.err


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [3, *slow(1, 2, 5, 9)])
def test_annealing_holds(mpi, mpi_name, binaries, ranks):
    # MPICH polls: where ranks share cores, each message waits for the scheduler
    tests = "*Reproducible*" if mpi_name == "mpich" and ranks > 3 else "*"
    done = launched(mpi, binaries / "annealing-mpi", ranks, "--gtest_brief=1", f"--gtest_filter={tests}")
    assert done.code == 0 and done.out.count("PASSED") == ranks, done.out + done.err


BROADCASTS = ("mcs_tree_bcast", "total_exchange_bcast", "tournament")
"""MPI decides how a broadcast is sent, so only its number of messages is certain."""


def test_the_models_count_the_messages_that_barriers_say_they_send(binaries):
    """Predictions are based on steps that are written a second time, in Python."""
    done = process.capture([str(binaries / "barrier-traffic")], timeout=300)
    assert done.code == 0, done.err
    said = {
        (name, int(ranks)): Traffic(*map(int, rest))
        for name, ranks, *rest in map(str.split, done.out.splitlines())
    }
    counted = {(name, ranks): traffic(name, ranks) for name, ranks in said if is_predictable(name)}
    assert {name for name, _ in counted} == {
        name for name in schedules.algorithm_names("barrier") if (name, 2) in said
    }
    for key, found in counted.items():
        assert found.messages == said[key].messages, key
        if key[0] not in BROADCASTS:
            assert found == said[key], key
