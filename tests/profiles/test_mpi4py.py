# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What is recorded of Python programs that use mpi4py, whose package works with both MPIs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from needs import need_module
from recorded import PROGRAMS, Recorded, counting_library, launched, recorded
from test_calls import check

from hockney.core.machine import Mpi
from hockney.profiles.rank_file import RankFile, text_of

pytestmark = [pytest.mark.mpi, pytest.mark.slow, pytest.mark.compiler]
PROGRAM = PROGRAMS / "with_mpi4py.py"


@pytest.fixture
def library(mpi: Mpi) -> Path:
    """The MPI library that mpi4py looks for. It takes the first one whose functions it sees, so that this
    library must be there when they are recorded."""
    need_module("mpi4py")
    return sorted((Path(mpi.mpicxx).parents[1] / "lib").glob("libmpi.so.*"))[0]


def line(marker: str) -> str:
    """The place of the line with this comment, as call sites tell it."""
    lines = PROGRAM.read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, text in enumerate(lines, start=1) if text.endswith(f"# {marker}")]
    return f"{PROGRAM.name}:{number} "


def calls_at(run: Recorded, file: RankFile, marker: str, function: str) -> int:
    sites = {int(site["id"]) for site in file.sites if line(marker) in text_of(site["python"])}
    entries = run.of(file, function)
    return int(entries["calls"][[int(each) in sites for each in entries["site"]]].sum())


@pytest.mark.parametrize("ranks", [2, 3])
def test_calls_from_python(mpi, library, tmp_path, ranks):
    variables = {"MPI4PY_LIBMPI": str(library), "PYTHONDONTWRITEBYTECODE": "1"}
    words = sys.executable, str(PROGRAM)
    alone = launched(mpi, words, ranks, variables)
    counter = counting_library(mpi, tmp_path)
    run = recorded(mpi, tmp_path, ranks, *words, counter=counter, after=[library], **variables)
    assert (run.done.out, run.done.code) == (alone.out, 0), run.done.err
    check(run, ranks)
    for file in run.files:
        assert calls_at(run, file, "ring", "Sendrecv") == 10
        assert calls_at(run, file, "barrier in a function", "Barrier") in (3, 5)
        assert calls_at(run, file, "barrier in main", "Barrier") == 1
        assert calls_at(run, file, "in place", "Allreduce") == 1
        assert calls_at(run, file, "own operation", "Allreduce") == 1
        assert calls_at(run, file, "objects", "Isend") == 1
        functions = {text_of(site["python"]).rpartition(" ")[2] for site in file.sites}
        assert {"ring", "waited", "Sums.array", "main", "<module>"} <= functions
        in_ring = run.of(file, "Sendrecv")
        assert int(in_ring["bytes"][in_ring["size_class"] == 11].sum()) == 10 * 800
        assert "twin" in {text_of(each["name"]) for each in file.communicators}
