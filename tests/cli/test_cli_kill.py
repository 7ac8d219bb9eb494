# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Killed at any moment, a run is complete after resume: every planned case once per launch, no data lost."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from signals import heed_interrupts
from tiers import slow

from hockney.cli.start import guarded
from hockney.store import RunFolder, unmeasured_items

WORDS = ["run", "pingpong bytes=0:64", "barrier ranks=2,4", "--launches", "2", "--out", "r", "--seed", "1"]
PACE_S = 0.4
"""A case takes so long that a run does not end before a busy machine can kill it."""
MAIN = [sys.executable, "-c", "from hockney.cli import main; main()"]


def start(folder: Path) -> subprocess.Popen:
    environment = {**os.environ, "HOCKNEY_MACHINE": f"fake:pace={PACE_S}s"}
    return subprocess.Popen(
        [*MAIN, *WORDS],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )


def wait_for_records(process: subprocess.Popen, path: Path, count: int) -> None:
    """Waits until this many complete lines exist, then for a delay that differs each time."""
    limit = time.monotonic() + 600
    while process.poll() is None and time.monotonic() < limit:
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            break
        time.sleep(0.005)
    time.sleep(random.random() * PACE_S)


@pytest.mark.parametrize(
    ("number", "lines"),
    [
        (signal.SIGKILL, 2),
        *slow((signal.SIGTERM, 9), (signal.SIGKILL, 7), (signal.SIGINT, 5)),
    ],
)
def test_killed_and_resumed(tmp_path, monkeypatch, capsys, number, lines):
    process = start(tmp_path)
    wait_for_records(process, tmp_path / "r" / "records.jsonl", lines)
    process.send_signal(number)
    _, err = process.communicate(timeout=600)
    assert process.returncode in (-number, 128 + number), err
    assert "Traceback" not in err
    folder = RunFolder(tmp_path / "r")
    kept = folder.read().run.records
    assert 0 < len(unmeasured_items(folder.plan(), folder.read().run)) < 20, "killed in the middle"
    if number != signal.SIGKILL:
        assert "hockney resume r" in err
        assert folder.read().run.closes[-1].launch == folder.read().run.launches[-1].launch

    monkeypatch.chdir(tmp_path)
    assert guarded(["resume", "r", "--machine", "fake", "-q"]) == 0
    run = folder.read().run
    index = {launch.launch: launch.index for launch in run.launches}
    measured = sorted((index[r.launch], r.case) for r in run.records)
    assert measured == sorted((item.launch, item.case.line) for item in folder.plan().items)
    assert run.records[: len(kept)] == kept, "what was there stays as it was"
    assert (tmp_path / "r" / "report.html").exists()


def test_the_programs_exit_code_and_streams(tmp_path):
    """Once through the installed entry point itself, with stdout closed early."""
    environment = {**os.environ, "HOCKNEY_MACHINE": "fake"}
    bad = subprocess.run([*MAIN, "survye"], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert (bad.returncode, bad.stdout) == (2, "") and bad.stderr.count("\n") == 1
    reader = subprocess.Popen(
        [*MAIN, "plan", "--cases"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment,
    )
    reader.stdout.close()
    assert reader.stderr.read() == b"" and reader.wait() == 0


@pytest.mark.parametrize("unbuffered", ["", *slow("1")])
def test_output_that_cannot_be_written_is_an_error(tmp_path, unbuffered):
    """Also if it is left in a buffer, which Python would try to write once more at its end."""
    environment = {**os.environ, "HOCKNEY_MACHINE": "fake", "PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*MAIN, "plan"], stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment
        )
    assert done.returncode == 3 and done.stderr.startswith("error: "), done.stderr
    assert done.stderr.count("\n") == 1
