# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Launches that end early on request (--stop), on 2 ranks of Open MPI and MPICH."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from engine_lines import launched, launcher_for
from tiers import slow

from hockney.core.record import End, FirstVisitsComplete, Launch, Record, Start, decode_engine_line
from hockney.launch.launcher import LaunchOptions

pytestmark = pytest.mark.mpi
LONG_S = 600.0
"""The budget of a launch that nothing but a request ends early."""


def stop_file(launch: Launch) -> Path:
    return Path(launch.command[launch.command.index("--stop") + 1])


def test_no_case_begins_after_the_request(mpi, engine):
    cases = [engine.catalog.case(f"compute work={ms}ms", 2) for ms in range(100, 200)]
    options = LaunchOptions("T", 0, budget_s=LONG_S, max_repetitions=2)
    lines = []
    for line in launcher_for(mpi, engine).run(cases, 2, options):
        lines.append(line)
        if isinstance(line, Record) and line.position == 0:
            stop_file(lines[0]).write_text("stop\n")
    began = [line.case for line in lines if isinstance(line, Start)]
    assert 1 <= len(began) < len(cases)
    assert [line.case for line in lines if isinstance(line, Record)] == began
    assert isinstance(lines[-1], End)


def test_a_launch_of_many_visits_prints_its_records(mpi, engine):
    cases = [engine.catalog.case(f"pingpong bytes={size}", 2) for size in (0, 8, 64)]
    options = LaunchOptions("T", 0, budget_s=LONG_S, max_repetitions=10**8, visits=10**6, precision=1e-9)
    lines = []
    began = time.monotonic()
    for line in launcher_for(mpi, engine).run(cases, 2, options):
        lines.append(line)
        if isinstance(line, FirstVisitsComplete):
            stop_file(lines[0]).write_text("stop\n")
    assert time.monotonic() - began < LONG_S / 2
    assert [line.case for line in lines if isinstance(line, Record)] == [case.line for case in cases]
    assert isinstance(lines[-1], End)


@pytest.mark.parametrize(
    ("content", "measured", "visits"),
    [("x", 0, "40"), ("", 2, "1"), *slow(("x", 0, "1"), ("", 2, "40"), (None, 2, "1"), (None, 2, "40"))],
)
def test_a_file_that_is_there_from_the_beginning(mpi, engine, tmp_path, visits, content, measured):
    """Only one that has something in it ends the launch."""
    stop, plan = tmp_path / "stop", tmp_path / "plan.txt"
    if content is not None:
        stop.write_text(content)
    plan.write_text("barrier ranks=2\npingpong ranks=2 bytes=8\n")
    words = ("--budget", "0.1", "--max-repetitions", "5", "--visits", visits, "--stop", str(stop))
    done = launched(mpi, engine.path, 2, *words, "--plan", str(plan))
    assert done.code == 0, done
    lines = [decode_engine_line(line) for line in done.out.splitlines() if line.startswith('{"kind"')]
    assert sum(isinstance(line, Record) for line in lines) == measured
    assert isinstance(lines[0], Launch) and isinstance(lines[-1], End)
