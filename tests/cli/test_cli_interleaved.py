# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney compare --interleaved, from command line to exit code, on the fake machine and with real MPIs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from real_mpi import engine_for, mpi_named
from tiers import slow

from hockney.store import RunFolder, unmeasured_items

CASES = ("bcast bytes=64,1KiB", "barrier")
FAST, SLOW = "--machine fake:seed=1", "--machine 'fake:seed=2;slow=bcast bytes=1024:1.3'"
SAME = "--machine fake:seed=2"
WORDS = ("--budget", "12s", "--seed", "3", "--launches", "8")


def test_exit_codes_and_the_same_result_later(hockney):
    slower = hockney("compare", "--interleaved", FAST, SLOW, *CASES, *WORDS, "--out", "slow", "--json")
    assert slower.code == 1
    document = json.loads(slower.out)
    assert document["tolerance"] == 0.02 and document["verdict"] == "slower"
    assert [each["case"].split()[0] for each in document["cases"] if each["verdict"] == "slower"] == ["bcast"]
    for sides in (("slow/a", "slow/b"), ("slow",)):
        later = hockney("compare", *sides, "--json")
        assert later.code == 1 and json.loads(later.out)["cases"] == document["cases"]
    one_run = hockney("models", "slow")
    assert one_run.error is not None and one_run.error.code == "two-runs"
    assert hockney("verify", "slow/a").code == hockney("models", "slow/b").code == 0
    faster = hockney("compare", "--interleaved", SLOW, FAST, *CASES, *WORDS, "-q")
    assert faster.code == 0
    (kept,) = Path("runs").iterdir()
    assert {side.name for side in kept.iterdir()} == {"a", "b"}


@pytest.mark.parametrize(
    ("sides", "words", "code"),
    [
        ((FAST, FAST), (), "sides-identical"),
        ((FAST, "--ranks 4"), (), "option-not-of-a-side"),
        ((FAST, "--mpii x"), (), "unknown-side-option"),
        ((FAST, "--machine"), (), "side-option-without-value"),
        ((FAST, "--machine 'x"), (), "side-not-words"),
        ((FAST, "--nodes two"), (), "side-count-not-whole"),
        ((FAST, "-x novalue"), (), "not-a-variable"),
        ((FAST, SAME), ("--", "barrier"), "not-two-sides"),
        ((FAST, SAME), ("bcast", "--tolerance", "3"), "fraction-out-of-range"),
    ],
)
def test_refused_before_anything_is_written(hockney, sides, words, code):
    said = hockney("compare", "--interleaved", *sides, *words)
    assert said.code == 2 and said.error is not None and said.error.code == code
    assert not Path("runs").exists()


def test_a_setting_with_which_nothing_starts_names_its_side(hockney):
    said = hockney("compare", "--interleaved", FAST, "--mpiexec-args '-n 3'", "barrier")
    assert said.code == 2 and "B" in str(said.error)


@pytest.mark.slow
def test_a_budget_keeps_the_sizes_that_fit(hockney):
    said = hockney("compare", "--interleaved", FAST, SAME, "--ranks", "2", "--budget", "30s", "--json")
    cases = json.loads(said.out)["cases"]
    sizes = {each["case"].split("bytes=")[1].split()[0] for each in cases if each["case"].startswith("bcast")}
    assert 3 <= len(sizes) < 10 and str(4 << 20) in sizes
    kept = {each["case"].split()[0] for each in cases}
    assert {"pingpong", "allreduce", "barrier", "scan"} <= kept


STOPPING = """
import os, signal
from hockney.store.appender import Appender

lines, append = [], Appender.append

def stopping(self, line):
    append(self, line)
    lines.append(line)
    if len(lines) == 18:
        os.kill(os.getpid(), signal.SIGSTOP)

Appender.append = stopping
from hockney.cli import main
main()
"""
"""The command line, which stops in the fourth of sixteen launches, until it is killed."""
IN_TURNS = ("compare", "--interleaved", FAST, SAME)


def start(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", STOPPING, *IN_TURNS, *CASES, *WORDS, "--out", "r", "-q"],
        cwd=folder,
        env={**os.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, *slow(signal.SIGTERM)])
def test_killed_and_resumed_in_turns(hockney, tmp_path, number):
    process = start(tmp_path)
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=120)
    assert process.returncode in (-number, 128 + number), err
    folders = [RunFolder(tmp_path / "r" / side) for side in "ab"]
    assert any(unmeasured_items(folder.plan(), folder.read().run) for folder in folders), (
        "killed in the middle"
    )
    before = [len(folder.read().run.records) for folder in folders]
    if number != signal.SIGKILL:
        assert "hockney resume r" in err
    alone = hockney("resume", "r/a")
    assert alone.error is not None and alone.error.code == "interleaved-side"
    with_options = hockney("resume", "r", "--mpi", "mpich")
    assert with_options.error is not None and with_options.error.code == "pair-resumed-with-options"
    assert hockney("resume", "r", "-q", "--json").code in (0, 4)
    last: list[dict[tuple[int, str], float]] = []
    for folder, kept in zip(folders, before, strict=True):
        run = folder.read().run
        assert not unmeasured_items(folder.plan(), run) and len(run.records) > kept
        index = {launch.launch: launch.index for launch in run.launches}
        last.append({(index[record.launch], record.case): record.launch for record in run.records})
    assert last[0].keys() == last[1].keys(), "each measurement has its counterpart"


def test_more_pairs_follow_on_request(hockney):
    hockney("compare", "--interleaved", FAST, SAME, *CASES, *WORDS, "--out", "r", "-q")
    count = [len(RunFolder(Path("r") / side).read().run.launches) for side in "ab"]
    assert hockney("resume", "r", "--json").code in (0, 4)
    assert [len(RunFolder(Path("r") / side).read().run.launches) for side in "ab"] == count
    hockney("resume", "r", "--budget", "8s", "-q")
    more = [len(RunFolder(Path("r") / side).read().run.launches) for side in "ab"]
    assert more[0] == more[1] > count[0] + 4


def test_an_unfinished_one_is_resumed_by_default(hockney, monkeypatch):
    from hockney.measurement.session import Session

    launch = Session.launch_until_done
    launches: list[int] = []

    def failing(self, index, *rest):
        launches.append(index)
        if len(launches) == 6:
            raise KeyboardInterrupt
        launch(self, index, *rest)

    monkeypatch.setattr(Session, "launch_until_done", failing)
    said = hockney("compare", "--interleaved", FAST, SAME, *CASES, *WORDS, "-q")
    (kept,) = Path("runs").iterdir()
    assert said.code == 130 and said.error is not None and said.error.fields["folder"] == str(kept)
    assert hockney("resume", "-q").code in (0, 4)
    for side in "ab":
        folder = RunFolder(kept / side)
        assert not unmeasured_items(folder.plan(), folder.read().run)


REAL_WORDS = (
    "pingpong bytes=8",
    "barrier",
    "--ranks",
    "2",
    "--launches",
    "3",
    "--budget",
    "4s",
    "--out",
    "r",
    "--json",
)


@pytest.fixture
def real(hockney, monkeypatch):
    monkeypatch.delenv("HOCKNEY_MACHINE")
    return hockney


def alternating() -> list[list]:
    """The launches of both sides, of which those with the same number follow one another."""
    runs = [RunFolder(Path("r") / side).read().run for side in "ab"]
    began = sorted(
        (launch.started_s, launch.index, k) for k, run in enumerate(runs) for launch in run.launches
    )
    pairs = [began[k : k + 2] for k in range(0, len(began) - 1, 2)]  # on a busy machine, fewer than planned
    assert pairs and all(one[1:] != other[1:] and one[1] == other[1] for one, other in pairs)
    assert all(one[1][2] == other[0][2] for one, other in pairwise(pairs[:2])), "ABBA"
    return [list(run.launches) for run in runs]


@pytest.mark.mpi
@pytest.mark.slow
def test_two_mpis(real):
    for name in ("openmpi", "mpich"):
        engine_for(mpi_named(name))
    said = real("compare", "--interleaved", "--mpi openmpi", "--mpi mpich", *REAL_WORDS)
    assert said.code in (0, 1, 4), said.err
    document = json.loads(said.out)
    assert document["paired"] and len(document["cases"]) == 2
    assert all(each["ratio"] > 0 for each in document["cases"])
    differing = {each["what"]: each for each in document["differences"]}
    assert "Open MPI" in differing["MPI"]["a"] and "MPICH" in differing["MPI"]["b"]
    of_a, of_b = alternating()
    assert all("Open MPI" in launch.library for launch in of_a)
    assert all("MPICH" in launch.library for launch in of_b)


@pytest.mark.mpi
@pytest.mark.slow
def test_a_parameter_and_the_binding(real):
    engine_for(mpi_named("openmpi"))
    b = "--no-bind -x OMPI_MCA_btl_sm_eager_limit=2048 --mpiexec-args '--mca coll_base_verbose 0'"
    said = real("compare", "--mpi", "openmpi", "-x", "SHARED=1", "--interleaved", "", b, *REAL_WORDS)
    assert said.code in (0, 1, 4), said.err
    differing = {each["what"]: (each["a"], each["b"]) for each in json.loads(said.out)["differences"]}
    assert differing["OMPI_MCA_btl_sm_eager_limit"][1] == "2048"
    of_a, of_b = alternating()
    assert all(launch.bound for launch in of_a) and not any(launch.bound for launch in of_b)
    settings = [RunFolder(Path("r") / side).plan().settings for side in "ab"]
    assert settings[0].variables == ("SHARED=1",)
    assert settings[1].variables == ("SHARED=1", "OMPI_MCA_btl_sm_eager_limit=2048")
    assert settings[1].mark and settings[0].interleaved == settings[1].interleaved
    assert real("resume", "r", "--json").code in (0, 1, 4), "this user typed these options"


@pytest.mark.mpi
@pytest.mark.slow
def test_a_side_that_does_not_start(real):
    engine_for(mpi_named("openmpi"))
    said = real(
        "compare",
        "--mpi",
        "openmpi",
        "--interleaved",
        "",
        "--mpiexec-args --no-such-option",
        *REAL_WORDS,
    )
    assert said.code == 3 and str(said.error).startswith("B: ")
    assert not Path("r").exists()
