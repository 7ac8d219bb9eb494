# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A run of the fake machine, whose costs are known."""

from __future__ import annotations

from pathlib import Path

import pytest

import hockney

CASES = (
    "pingpong bytes=0:1MiB",
    "pingpong bytes=0:64KiB buffers=cold",
    "pingpong_double bytes=8",
    "bcast bytes=0,8,64,512,4KiB,32KiB ranks=2,4",
    "barrier ranks=2,4 algorithm=mpi,dissemination",
)


@pytest.fixture(scope="session")
def measured(tmp_path_factory) -> Path:
    """The run's folder, which tests must not modify."""
    path = tmp_path_factory.mktemp("measured") / "run"
    made = hockney.run(CASES, budget=30, launches=4, machine="fake", seed=1, out=path)
    assert made.outcome.missing_count == 0
    return path


@pytest.fixture(scope="session")
def run(measured) -> hockney.Run:
    """The run, read once for all tests."""
    return hockney.open(measured)
