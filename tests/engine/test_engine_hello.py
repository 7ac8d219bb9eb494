# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What ranks report about themselves before anything is measured."""

from __future__ import annotations

import re

import pytest

from hockney.discovery.cpu import processors
from hockney.launch.mpi import MpiLauncher

pytestmark = pytest.mark.mpi


def digests(mpi, path) -> list[str]:
    return [hello.engine for hello in MpiLauncher(mpi, path, processors().cores).check(2).hellos]


def test_every_rank_reports_which_executable_it_is(mpi, engine, tmp_path):
    own = digests(mpi, engine.path)
    assert len(own) == 2 and own[0] == own[1] and re.fullmatch("[0-9a-f]{16}", own[0])
    other = tmp_path / "engine"
    other.write_bytes(engine.path.read_bytes() + b"\0")
    other.chmod(0o755)
    changed = digests(mpi, other)
    assert changed[0] == changed[1] != own[0]
