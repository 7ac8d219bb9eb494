# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A network that flips single bits: corrupted payload is detected, also in hockney's own messages."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import native
import pytest
from call_server import Calls, Ended
from real_mpi import engine_for

from hockney.core.machine import Mpi

SOURCE = Path(__file__).with_name("flip.cpp")


pytestmark = pytest.mark.mpi


@pytest.fixture
def flipping(mpi: Mpi, call: Calls, tmp_path: Path) -> Callable[..., Ended]:
    """Calls hockney with one of `one_in` receives flipped."""
    engine_for(mpi)
    library = shim(mpi)

    def run(*words: str, what: str, one_in: int) -> Ended:
        variables = {
            "LD_PRELOAD": str(library),
            "HOCKNEY_FLIP_WHAT": what,
            "HOCKNEY_FLIP_ONE_IN": str(one_in),
            "HOCKNEY_FLIP_LOG": str(tmp_path / "flips"),
        }
        options = [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]
        return call(*words, "--mpi", mpi.mpicxx, "--json", "-q", *options, cwd=tmp_path, seconds=600)

    return run


def shim(mpi: Mpi) -> Path:
    """The preloaded library, compiled once for each MPI and source."""
    folder = native.tests_cache() / f"flip-{mpi.family}"
    library = folder / "flip.so"
    with native.locked(folder.name):
        if not library.exists() or library.stat().st_mtime < SOURCE.stat().st_mtime:
            folder.mkdir(exist_ok=True)
            words = [mpi.mpicxx, "-std=c++20", "-O2", "-shared", "-fPIC", str(SOURCE), "-o", str(library)]
            subprocess.run(words, check=True, capture_output=True)
    return library


def flips(folder: Path) -> int:
    lines = (folder / "flips").read_text().splitlines() if (folder / "flips").exists() else []
    return sum(int(line.split()[1]) for line in lines)


CASES = [
    "pingpong bytes=8,4KiB,64KiB",
    "allreduce bytes=1KiB",
    "bcast bytes=64KiB",
    "alltoall bytes=4KiB",
    "stream bytes=1KiB",
]


def test_flipped_payload_is_found(flipping: Callable[..., Ended], tmp_path: Path):
    run = ["run", *CASES, "--budget", "3s", "--ranks", "2", "--launches", "2", "--out", "r"]
    ended = flipping(*run, what="payload", one_in=10)
    assert flips(tmp_path) >= 3, ended
    assert ended.code == 1 and not ended.problem, ended
    verified = [json.loads(line) for line in (tmp_path / "r" / "records.jsonl").read_text().splitlines()]
    wrong = [line["case"] for line in verified if line["kind"] == "record" and line["verified"]["errors"]]
    assert len(set(wrong)) >= 3


@pytest.mark.slow
def test_no_flip_no_error(flipping: Callable[..., Ended], tmp_path: Path):
    run = ["run", *CASES, "--budget", "2s", "--ranks", "2", "--launches", "2", "--out", "r"]
    ended = flipping(*run, what="all", one_in=10**12)
    assert ended.code in (0, 4) and flips(tmp_path) == 0, (
        ended
    )  # a busy machine may not measure everything in time
    for line in map(json.loads, (tmp_path / "r" / "records.jsonl").read_text().splitlines()):
        if line["kind"] == "record":
            verified = line["verified"]
            assert verified["errors"] == 0 and 2 <= verified["runs"] <= verified["of_runs"]


@pytest.mark.slow
def test_a_flipped_message_of_hockneys_own_is_found(flipping: Callable[..., Ended], tmp_path: Path):
    run = ["run", *CASES, "--budget", "3s", "--ranks", "2", "--launches", "2", "--out", "r"]
    ended = flipping(*run, what="control", one_in=20)
    assert ended.code == 1 and not ended.problem, ended
    if not (tmp_path / "r").exists():  # a message of the check, before the run begins
        assert "message-corrupted" in ended.err
        return
    closes = [json.loads(line) for line in (tmp_path / "r" / "records.jsonl").read_text().splitlines()]
    assert [line for line in closes if line["kind"] == "close" and line["reason"] == "corrupted"]


@pytest.mark.slow
def test_one_of_a_thousand_is_found_in_a_survey(flipping: Callable[..., Ended], tmp_path: Path):
    found = 0
    for number in range(6):
        ended = flipping("survey", "--budget", "30s", "--out", f"r{number}", what="payload", one_in=1000)
        assert flips(tmp_path) and not ended.problem, str(ended)
        found += ended.code == 1
    assert found == 6
