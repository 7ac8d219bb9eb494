# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Fault injection: a sample in the fast tier, a thousand and more in the slow one. Randomness comes from a
seed (conftest.py)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from call_server import Calls, calls
from fault_rounds import FAKE, Rounds, counted


@pytest.fixture
def rounds(pytestconfig: pytest.Config, request: pytest.FixtureRequest) -> Rounds:
    """rounds(5, 1000) counts to 5 in the fast tier, to 1000 in the slow one, or as far as the time allows."""
    if pytestconfig.getoption("--all"):
        return lambda fast, slow: counted(slow, request.node.name)
    return lambda fast, slow: iter(range(fast))


@pytest.fixture
def seed(pytestconfig: pytest.Config) -> int:
    return int(pytestconfig.option.seed)


@pytest.fixture
def rng(seed: int) -> random.Random:
    return random.Random(seed)


@pytest.fixture(scope="module")
def call() -> Iterator[Calls]:
    with calls() as process:
        yield process


@pytest.fixture(scope="module")
def finished(call: Calls, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of an invented machine, with its report."""
    folder = tmp_path_factory.mktemp("finished")
    words = ("run", "pingpong bytes=0:64", "barrier", "--launches", "2", "--out", "r", "--seed", "1")
    ended = call(*words, cwd=folder, env=FAKE)
    assert ended.code == 0, ended
    return folder / "r"
