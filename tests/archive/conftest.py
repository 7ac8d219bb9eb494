# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of the fake machine to be archived."""

from __future__ import annotations

from pathlib import Path

import pytest

from hockney import api
from hockney.archive import Archive


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Six runs on six days."""
    place = tmp_path_factory.mktemp("measured")
    folders = []
    for day in range(6):
        options = api.RunOptions(machine=f"fake:seed={day + 1};day={day}", launches=3, budget=3.0, seed=1)
        folders.append(place / f"run-{day}")
        api.run(("pingpong bytes=8,64", "barrier"), options, out=folders[-1])
    return folders


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive.open(tmp_path / "archive", create=True)
