# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Fault injection: a sample in the fast tier, a thousand and more in the slow one. Randomness comes from a
seed that each failure shows; HOCKNEY_FAULT_SEED repeats one."""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Callable, Iterator
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
def seed(record_property: Callable[[str, object], None]) -> int:
    found = int(os.environ.get("HOCKNEY_FAULT_SEED") or secrets.randbelow(2**31))
    record_property("seed", found)
    print(f"HOCKNEY_FAULT_SEED={found}")  # pytest shows it if the test fails
    return found


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
