# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The annealing library, installed: the example's problem is solved, with one digest on any number of ranks,
and pkg-config finds it for the library's own problems."""

from __future__ import annotations

import math
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from installed import built_example, compiled, launched_words, run
from tiers import slow

from hockney import process
from hockney.core.machine import Mpi

pytestmark = [pytest.mark.mpi, pytest.mark.needs("pkg-config")]


def icosahedron() -> float:
    """The energy of twelve charges at the corners of an icosahedron in the unit sphere."""
    golden = (1 + 5**0.5) / 2
    corners = [
        tuple(np.roll((0, a, b * golden), shift)) for shift in range(3) for a in (1, -1) for b in (1, -1)
    ]
    radius = (1 + golden**2) ** 0.5
    return sum(radius / math.dist(p, q) for p, q in combinations(corners, 2))


@pytest.fixture(scope="session")
def charges(mpi: Mpi, prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_example(prefix, "annealing", tmp_path_factory.mktemp("annealing")) / "charges"


@pytest.fixture(scope="session")
def tour(mpi: Mpi, prefix: Path) -> Path:
    return compiled(mpi, prefix, "hockney-annealing", "annealing/tour.cpp", "c++20")


def answer(text: str) -> tuple[float, str]:
    found = re.search(r"energy (\d+\.\d+), digest ([0-9a-f]{16})", text)
    assert found is not None, text
    return float(found[1]), found[2]


@pytest.mark.slow
@pytest.mark.parametrize("setup", ["lagged", *slow("original")])
def test_the_example_finds_the_icosahedron_on_any_number_of_ranks(mpi, charges, setup):
    answers = {answer(run(mpi, charges, ranks, setup)) for ranks in (1, 2, 3)}
    ((energy, _),) = answers
    assert icosahedron() <= energy + 1e-6 < icosahedron() + 0.01


@pytest.mark.slow
def test_an_unknown_set_up_is_an_exception_on_all_ranks(mpi, charges):
    words, env = launched_words(mpi, 2)
    done = process.capture([*words, str(charges), "telepathy"], env=env, timeout=60)
    assert done.code == 1
    assert done.err.count("charges: ") == 2 and "original" in done.err


@pytest.mark.slow
def test_a_problem_of_the_library_is_solved(mpi, tour):
    assert {run(mpi, tour, ranks) for ranks in (1, 2)} == {"gr17: 2085 of 2085\n"}
