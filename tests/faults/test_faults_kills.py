# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Programs killed at random moments: finished measurements are kept, resuming completes the plan exactly, and
neither a process nor a file is left."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from call_server import Calls
from fault_rounds import Rounds
from real_mpi import engine_for, group_for, mpi_named
from signals import heed_interrupts

from hockney.store import RunFolder, unmeasured_items

MAIN = [sys.executable, "-c", "from hockney.cli import main; main()"]
MARK = "HOCKNEY_FAULT"
CASES = ["pingpong bytes=0:64", "barrier", "allreduce bytes=8,64"]
SOON_S = 60.0
"""This long after a kill, nothing is left: the keeper's grace, on a busy machine."""
PATIENCE_S = 300.0
TRIES = 10
"""Attempts to resume: on a busy machine the time may be up before everything is measured."""
OWN_OF_MPI = ("ompi.", "prte.", "hsperf", "pmix", "mpich", "psm")
"""Prefixes of files that MPIs leave among the temporary files when they are killed."""


@dataclass
class Killing:
    """A run to be killed, in `folder`. `words` and `env` start it; `usual_s` is its approximate duration;
    `target` selects what is killed; `engines` is where the engine is."""

    folder: Path
    words: list[str]
    env: dict[str, str]
    usual_s: float
    target: str
    engines: Path | None = None
    number: int = signal.SIGKILL
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, **self.env, MARK: self.mark, "TMPDIR": str(self.folder / "tmp")}

    def start(self) -> subprocess.Popen[str]:
        (self.folder / "tmp").mkdir(parents=True)
        return subprocess.Popen(
            [*MAIN, *self.words, "--out", "r", "-q"],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heed_interrupts,
        )

    def victims(self, front: int) -> list[int]:
        if self.target == "front":
            return [front]
        found = [pid for pid, name in processes(self.mark) if name.startswith(self.target)]
        return found[:1]


def processes(mark: str) -> Iterator[tuple[int, str]]:
    """Processes with this mark in their environment, and their names."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                yield int(entry.name), (entry / "comm").read_text().strip()


def struck(killing: Killing, after_s: float, met: bool) -> str:
    """Start, kill after this many seconds, or once there are records if they shall be `met`; returns the
    problem, "" if there is none."""
    process = killing.start()
    if met:
        while process.poll() is None and not (killing.folder / "r" / "records.jsonl").exists():
            time.sleep(0.002)
    time.sleep(after_s)
    for pid in killing.victims(process.pid):
        with contextlib.suppress(OSError):
            os.kill(pid, killing.number)
    try:
        _, err = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return "did not end"
    end = time.monotonic() + SOON_S
    while (remaining := list(processes(killing.mark))) and time.monotonic() < end:
        time.sleep(0.02)
    if remaining:
        return f"left processes {remaining}"
    files = [p.name for p in (killing.folder / "tmp").iterdir() if not p.name.startswith(OWN_OF_MPI)]
    files += [p.name for p in killing.folder.iterdir() if p.name not in ("r", "tmp")]
    files += [p.name for p in killing.engines.glob(".launch-*")] if killing.engines else []
    if files:
        return f"left files {files}"
    # until Python has found the package, Ctrl-C is its own business
    if killing.number == signal.SIGINT and "KeyboardInterrupt" in err and "hockney" not in err:
        return ""
    if "Traceback" in err:
        return f"a traceback: {err[-1500:]}"
    if killing.target == "front" and killing.number != signal.SIGKILL:
        return wrong_word(killing, process.returncode, err)
    return ""


def wrong_word(killing: Killing, code: int, err: str) -> str:
    """An interrupted run ends with the signal's code and one line, which explains how to continue."""
    # it had ended before, with less than planned on a busy machine, or Python itself had not yet started
    if code in (0, 4, -killing.number):
        return ""
    if code != 128 + killing.number:
        return f"ended with {code}: {err[-500:]}"
    there = (killing.folder / "r" / "plan.txt").exists()
    if err.strip().count("\n") != 0 or there != ("hockney" in err):
        return f"printed {err!r}"
    return ""


def resumed(killing: Killing, call: Calls) -> str:
    """Resume the killed run; returns the problem."""
    run = killing.folder / "r"
    if not run.exists():
        return ""
    folder = RunFolder.open(run)
    kept = folder.read().run.records
    for _ in range(TRIES):
        ended = call("resume", "r", "-q", "--json", cwd=killing.folder, env=killing.env)
        if ended.code != 4:
            break
    if ended.problem or ended.code != 0:
        return f"not resumed: {ended}"
    records = folder.read().run
    if records.records[: len(kept)] != kept:
        return "lost records"
    pairs = [(record.launch.partition(".")[0], record.case) for record in records.records]
    if len(set(pairs)) != len(pairs) or unmeasured_items(folder.plan(), records):
        return "not exactly the planned measurements"
    verified = call("verify", "r", "--json", cwd=killing.folder)
    if verified.code != 0 or any(f["verdict"] == "bad" for f in json.loads(verified.out)["findings"]):
        return f"does not verify: {verified}"
    return ""


def kill_and_resume(
    killings: Iterator[Killing], call: Calls, rng: random.Random, numbers: Iterator[int]
) -> tuple[list[str], int]:
    """The problem, and how many kills struck an existing run."""
    bad, there = [], 0
    for number in numbers:
        killing = next(killings)
        met = number % 2 == 0
        problem = struck(killing, rng.uniform(0, killing.usual_s / 2 if met else killing.usual_s), met)
        there += (killing.folder / "r").exists()
        problem = problem or resumed(killing, call)
        if problem:
            bad.append(f"{number} ({killing.target}, signal {killing.number}): {problem}")
        shutil.rmtree(killing.folder)
    return bad, there


@pytest.mark.slow
def test_kills_of_an_invented_run(call: Calls, tmp_path: Path, rng: random.Random, rounds: Rounds):
    env = {"HOCKNEY_MACHINE": "fake:pace=20ms"}
    words = ["run", *CASES, "--launches", "2", "--ranks", "2"]

    def killings() -> Iterator[Killing]:
        while True:
            number = rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
            yield Killing(tmp_path / "k", words, env, usual_s=2.5, target="front", number=number)

    bad, there = kill_and_resume(killings(), call, rng, rounds(2, 700))
    assert not bad, "\n".join(bad)
    assert there > 0


@pytest.mark.slow
@pytest.mark.mpi
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_kills_of_a_real_run(call: Calls, tmp_path: Path, rng: random.Random, rounds: Rounds, name: str):
    mpi = mpi_named(name)
    engines = engine_for(mpi).path.parent
    words = ["run", *CASES, "--launches", "3", "--budget", "2s", "--ranks", "2", "--mpi", mpi.mpicxx]
    launcher = Path(mpi.mpiexec).resolve().name[:15]

    def killings() -> Iterator[Killing]:
        while True:
            target = rng.choice(["front", launcher, "hockney-engine"[:15]])
            number = rng.choice([signal.SIGKILL, signal.SIGINT]) if target == "front" else signal.SIGKILL
            yield Killing(
                tmp_path / "k", words, {}, usual_s=5.0, target=target, engines=engines, number=number
            )

    bad, there = kill_and_resume(killings(), call, rng, rounds(1, 150))
    assert bad == [] and there > 0


@pytest.mark.slow
@pytest.mark.mpi
def test_kills_of_ranks_that_anneal(call: Calls, tmp_path: Path, rng: random.Random, rounds: Rounds):
    """A run takes a second or so, so many kills strike in the middle of one."""
    mpi = mpi_named("openmpi")
    engines = group_for(mpi, "hockney-annealing").path.parent
    case = "annealing setup=original,lagged,estimated walkers=8 steps=20000 temperatures=50 size=20"
    words = ["run", case, "--launches", "2", "--budget", "5s", "--ranks", "2", "--mpi", mpi.mpicxx]

    def killings() -> Iterator[Killing]:
        while True:
            target = "hockney-annealing"[:15]
            yield Killing(tmp_path / "k", words, {}, usual_s=8.0, target=target, engines=engines)

    bad, there = kill_and_resume(killings(), call, rng, rounds(1, 20))
    assert bad == [] and there > 0
