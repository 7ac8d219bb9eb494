# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A disk that is full at any write: of the plan, of each record, of the fits, of the page, of a table."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from call_server import Calls
from fault_rounds import FAKE, Rounds

from hockney.store import RunFolder

RUN = ("run", "pingpong bytes=0:64", "barrier", "--launches", "3", "--seed", "1", "--out", "r")
ENOUGH_KIB = 16 * 1024
"""More than the size of such a run with its page and its tables."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A separate empty file system, whose size can be changed."""
    place = tmp_path / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(place)]
    if (
        os.geteuid() != 0
        or not shutil.which("mount")
        or subprocess.run(words, capture_output=True).returncode
    ):
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def resize(disk: Path, kib: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={kib}k", str(disk)], check=True)


def whole_lines(folder: Path) -> list[bytes]:
    records = folder / "records.jsonl"
    lines = records.read_bytes().splitlines(keepends=True) if records.exists() else []
    return [line for line in lines if line.endswith(b"\n")]


@pytest.mark.slow
def test_a_run_on_a_disk_that_fills_up(call: Calls, disk: Path, rng: random.Random, rounds: Rounds):
    """Written data is kept, in complete lines, and the run continues once there is room."""
    ends = set()
    for number in rounds(6, 150):
        kib = 4 * rng.randrange(1, rng.choice((8, 40, 1000)))  # the plan, the records, the page
        resize(disk, kib)
        ended = call(*RUN, cwd=disk, env=FAKE)
        told = f"round {number}, {kib} KiB: {ended}"
        assert not ended.problem and ended.code in (0, 3), told
        ends.add(ended.code)
        if ended.code:
            assert ended.err.splitlines()[-1].startswith("error: "), told
        kept = whole_lines(disk / "r")
        resize(disk, ENOUGH_KIB)
        assert [path.name for path in disk.iterdir()] in ([], ["r"]), told
        if (disk / "r").exists():
            assert not [path for path in (disk / "r").iterdir() if path.name.startswith(".")], told
            resumed = call("resume", "r", "--machine", "fake", cwd=disk, env=FAKE)
            assert resumed.code == 0, f"{told}\n{resumed}"
            assert whole_lines(disk / "r")[: len(kept)] == kept, told
            assert call("verify", "r", cwd=disk).code == 0, told
            folder = RunFolder.open(disk / "r")
            measured = len(folder.read().run.records)
            assert measured == len(folder.plan().items), told
            shutil.rmtree(disk / "r")
    assert ends <= {0, 3}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "made"),
    [
        (("report", "r"), "r/report.html"),
        (("export", "r", "--csv", "t.csv"), "t.csv"),
        (("verify", "r", "--salvage", "s"), "s"),
    ],
)
def test_what_is_made_of_a_run_on_a_disk_that_fills_up(
    call: Calls,
    disk: Path,
    finished: Path,
    rng: random.Random,
    rounds: Rounds,
    words: tuple[str, ...],
    made: str,
):
    """A page or a table that does not fit leaves the previous one, and the run unchanged."""
    resize(disk, ENOUGH_KIB)
    shutil.copytree(finished, disk / "r")
    before = (disk / "r" / "report.html").read_bytes()
    used = shutil.disk_usage(disk).used // 1024
    for number in rounds(2, 30):
        resize(disk, used + 4 * rng.randrange(1, 800))
        ended = call(*words, cwd=disk)
        told = f"round {number}: {ended}"
        assert not ended.problem and ended.code in (0, 3), told
        page = (disk / "r" / "report.html").read_bytes()
        assert page.endswith(b"</html>\n") or page == before, told
        resize(disk, ENOUGH_KIB)
        assert not [p for p in disk.rglob("*") if p.name.startswith(".")], told
        if not (disk / made).exists():
            again = call(*words, cwd=disk)
            assert again.code == 0, f"{told}\n{again}"
        (disk / "t.csv").unlink(missing_ok=True)
        shutil.rmtree(disk / "s", ignore_errors=True)
