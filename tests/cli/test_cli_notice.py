# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""SIGTERM, with which a batch system announces a job's time limit: a real launch in the middle of its visits
prints its records first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from real_mpi import engine_for, mpi_named
from signals import heed_interrupts

from hockney.store import RunFolder, unmeasured_items

pytestmark = pytest.mark.mpi
WORDS = ["run", "pingpong bytes=0:64", "--launches", "1", "--budget", "10m", "--out", "r", "-q"]
STRIKE = """\
import os, signal
from hockney.cli import main
from hockney.measurement import launch_recorder
take = launch_recorder.LaunchRecorder._handle_line
def strike(recorder, line):
    take(recorder, line)
    if type(line).__name__ == "Visiting":
        for number in {numbers}:
            os.kill(os.getpid(), number)
launch_recorder.LaunchRecorder._handle_line = strike
main()
"""


@pytest.fixture(scope="module", autouse=True)
def built():
    engine_for(mpi_named("openmpi"))


def struck(folder: Path, *numbers: int) -> tuple[int, RunFolder]:
    """hockney's exit code, after these signals at the beginning of the visits, and the run."""
    environment = {k: v for k, v in os.environ.items() if k != "HOCKNEY_MACHINE"}
    program = STRIKE.format(numbers=tuple(map(int, numbers)))
    done = subprocess.run(
        [sys.executable, "-c", program, *WORDS],
        cwd=folder,
        env={**environment, "HOCKNEY_MPI": "openmpi"},
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=heed_interrupts,
    )
    assert done.stdout == "" and "hockney resume r" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    return done.returncode, RunFolder(folder / "r")


def test_the_records_of_the_running_launch_are_kept(tmp_path):
    code, folder = struck(tmp_path, signal.SIGTERM)
    run = folder.read().run
    assert code == 128 + signal.SIGTERM
    assert len(run.records) == len(folder.plan().items)
    assert unmeasured_items(folder.plan(), run) == () and not run.failures
    assert [close.launch for close in run.closes] == [launch.launch for launch in run.launches]


@pytest.mark.slow
@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_at_once(tmp_path, second):
    code, folder = struck(tmp_path, signal.SIGTERM, second)
    run = folder.read().run
    assert code == 128 + signal.SIGTERM
    assert len(run.launches) == len(run.closes) == 1 and not run.records and not run.failures


@pytest.mark.slow
def test_ctrl_c_does_not_wait_for_records(tmp_path):
    code, folder = struck(tmp_path, signal.SIGINT)
    assert code == 128 + signal.SIGINT
    assert not folder.read().run.records


@pytest.mark.slow
def test_a_launch_that_does_not_end_is_ended(tmp_path):
    program = f"""\
import os, signal, sys, time
from pathlib import Path
from hockney.cli import interrupts
from hockney.process import stops
stops.WITHIN_S = 0.2
file = Path({str(tmp_path / "stop")!r})
file.touch()
interrupts.answer()
try:
    with stops.stoppable(file):
        os.kill(os.getpid(), signal.SIGTERM)
        print("goes on", flush=True)
        time.sleep(600)
except KeyboardInterrupt:
    sys.exit(interrupts.exit_code())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (128 + signal.SIGTERM, "goes on\n"), done.stderr
