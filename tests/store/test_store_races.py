# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs that begin in the same folder at the same moment: one of them gets it, complete."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tiers import slow

RACERS = 4
PROGRAM = """
import sys, time
from pathlib import Path
from hockney import measurement
from hockney.core.errors import UsageError
from hockney.core.settings import Settings
from hockney.store import RunFolder
bench = measurement.fake_bench("fake")
me = int(sys.argv[1])
for round_ in range(int(sys.argv[2])):
    begin = Path(f"go-{round_}")
    while not begin.exists():
        pass
    cases = [bench.catalog.case(f"pingpong bytes={me + 1}")]
    path = Path(f"out-{round_}") if sys.argv[3] == "named" else None
    try:
        folder = measurement.create_run(path, cases, Settings("cases", seed=me, label=f"racer {me}"), bench)
    except UsageError as error:
        assert error.code == "run-folder-not-empty", error
        Path(f"done-{round_}-{me}-").touch()
        continue
    measurement.measure(folder, bench, lambda event: None)
    Path(f"done-{round_}-{me}-{folder.path.name}").touch()
"""


@pytest.fixture
def rounds(pytestconfig: pytest.Config) -> int:
    return 250 if pytestconfig.getoption("--all") else 8


def race(
    folder: Path, rounds: int, kind: str, prepare: Callable[[int], None] = lambda round_: None
) -> list[list[str]]:
    """The names of the folders that the racers of each round got."""
    words = [sys.executable, "-c", PROGRAM]
    racers = [subprocess.Popen([*words, str(me), str(rounds), kind], cwd=folder) for me in range(RACERS)]
    found = []
    try:
        for round_ in range(rounds):
            prepare(round_)
            (folder / f"go-{round_}").touch()
            end = time.monotonic() + 600
            while len(done := list(folder.glob(f"done-{round_}-*"))) < RACERS and time.monotonic() < end:
                assert all(racer.poll() in (None, 0) for racer in racers)
                time.sleep(0.002)
            found.append([name for path in done if (name := path.name.split("-", 3)[3])])
    finally:
        for racer in racers:
            racer.kill()
            racer.wait()
    return found


def whole(path: Path) -> None:
    """Plan and records belong to one run, and nothing else is there."""
    from hockney.store import RunFolder

    folder = RunFolder.open(path)
    (case,) = folder.plan().cases
    assert {record.case for record in folder.read().run.records} == {case.line}
    assert folder.plan().settings.label == f"racer {case.bytes - 1}"
    assert not [p for p in path.iterdir() if p.name.startswith(".")]


@pytest.mark.parametrize("there", [False, *slow(True)])
def test_one_of_those_that_name_the_same_folder_has_it(tmp_path, rounds, there):
    """A new folder, or an empty one."""
    prepare = (lambda round_: (tmp_path / f"out-{round_}").mkdir()) if there else (lambda round_: None)
    for round_, names in enumerate(race(tmp_path, rounds, "named", prepare)):
        assert len(names) == 1
        whole(tmp_path / f"out-{round_}")
    assert not list(tmp_path.glob(".*")), "nothing is left next to them"


@pytest.mark.slow
def test_in_the_default_place_everybody_has_a_folder(tmp_path, rounds):
    names = [name for round_ in race(tmp_path, rounds, "default") for name in round_]
    assert len(names) == len(set(names)) == RACERS * rounds
    for name in names:
        whole(tmp_path / "runs" / name)
