# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The whole workflow on a real MPI: measure, and end a run in the middle with a signal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from real_mpi import engine_for, mpi_named
from signals import heed_interrupts

from hockney.store import RunFolder, unmeasured_items

MAIN = [sys.executable, "-c", "from hockney.cli import main; main()"]
WORDS = [
    "run",
    "pingpong bytes=0:64KiB",
    "barrier ranks=2,3",
    "allreduce bytes=8",
    "--launches",
    "2",
    "--out",
    "r",
]

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module", autouse=True)
def built():
    """Compile beforehand, so that it is not timed here."""
    engine_for(mpi_named("openmpi"))


def start(folder: Path, *more: str) -> subprocess.Popen:
    environment = {k: v for k, v in os.environ.items() if k not in ("HOCKNEY_MACHINE", "HOCKNEY_MPI")}
    return subprocess.Popen(
        [*MAIN, *WORDS, *more],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def check_whole(folder: RunFolder) -> None:
    run = folder.read().run
    assert unmeasured_items(folder.plan(), run) == ()
    assert len(run.records) == len(folder.plan().items), "each once"
    assert all(r.verified.errors == 0 and r.times_s for r in run.records)
    assert any(r.verified.bytes for r in run.records)


def resumed(folder: Path) -> str:
    """Resume until everything planned is measured; returns the output of the last `resume --json`."""
    for _ in range(10):
        words = [*MAIN, "resume", "r", "-q", "--json", "--budget", "2s"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600)
        if done.returncode != 4:
            break
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_real_run(tmp_path):
    """2 and 3 ranks; the latter share cores on a machine that has only two."""
    process = start(tmp_path, "--budget", "3s", "--json")
    out, err = process.communicate(timeout=600)
    assert process.returncode in (0, 4), err
    if process.returncode == 4:  # a busy machine had too little time for all cases
        out = resumed(tmp_path)
    folder = RunFolder(tmp_path / "r")
    check_whole(folder)
    assert folder.machine().kind == "real" and folder.machine().mpi is not None
    for launch in folder.read().run.launches:
        assert launch.origin == "measured" and launch.command and launch.binding
        assert launch.clock.resolution_s > 0 and len({rank.pid for rank in launch.ranks}) == len(launch.ranks)
    cases = {s["case"]: s["typical"]["value"] for s in json.loads(out)["summaries"]}
    assert {"pingpong buffers=hot bytes=0 ranks=2", "pingpong buffers=hot bytes=65536 ranks=2"} <= set(cases)
    assert all(median > 0 for median in cases.values())


@pytest.mark.slow
def test_what_the_user_adds_reaches_the_ranks_and_the_run(tmp_path):
    """Open MPI's ranks communicate by TCP, and are not bound."""
    words = ["run", "pingpong bytes=8", "--launches", "1", "--budget", "2s", "--out", "r", "--json", "-q"]
    words += ["-x", "OMPI_MCA_btl=self,tcp", "--mpiexec-args", "--bind-to none", "--label", "tcp"]
    clean = {k: v for k, v in os.environ.items() if k not in ("HOCKNEY_MACHINE", "HOCKNEY_MPI")}
    done = subprocess.run(
        [*MAIN, *words], cwd=tmp_path, env=clean, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    settings = document["machine"]["settings"]
    assert document["machine"]["transport"] == {"within a host": "tcp"}
    assert settings["OMPI_MCA_btl"] == "self,tcp" and settings["--mpiexec-args"] == "--bind-to none"
    folder = RunFolder(tmp_path / "r")
    plan = folder.plan().settings
    assert plan.variables == ("OMPI_MCA_btl=self,tcp",) and document["label"] == plan.label == "tcp"
    (launch,) = folder.read().run.launches
    assert not any("^ofi" in word for word in launch.command), "the fabric is the user's choice"
    assert len({rank.cpus for rank in launch.ranks}) == 1 and not launch.bound


NOTICED = ["run", "pingpong bytes=0:64", "--launches", "1", "--budget", "10m", "--out", "r", "-q"]
STRIKE = """\
import os, signal
from hockney.cli import main
from hockney.measurement import launch_recorder
take = launch_recorder.LaunchRecorder._handle_line
def strike(recorder, line):
    take(recorder, line)
    if type(line).__name__ == "FirstVisitsComplete":
        for number in {numbers}:
            os.kill(os.getpid(), number)
launch_recorder.LaunchRecorder._handle_line = strike
main()
"""


def struck(folder: Path, *numbers: int) -> tuple[int, RunFolder]:
    """hockney's exit code, after these signals at the beginning of the visits, and the run."""
    environment = {k: v for k, v in os.environ.items() if k != "HOCKNEY_MACHINE"}
    program = STRIKE.format(numbers=tuple(map(int, numbers)))
    done = subprocess.run(
        [sys.executable, "-c", program, *NOTICED],
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
stops.STOP_TIMEOUT_S = 0.2
file = Path({str(tmp_path / "stop")!r})
file.touch()
interrupts.answer_signals()
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
