# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A run that is killed, or interrupted at moments that random ones rarely hit, is complete after resume."""

from __future__ import annotations

import json
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


STRIKE = "import os, signal; strike = lambda *_, **__: os.kill(os.getpid(), signal.Signals({}));"
IMPORTS = "from hockney.cli import main, interrupts;"
INTERRUPTED = [
    "run",
    "pingpong bytes=0:16",
    "--launches",
    "2",
    "--seed",
    "1",
    "--out",
    "r",
    "-q",
    "--json",
]

PLACES = {
    # before the first import that takes time
    "start": (
        "keep = interrupts.keep_signals; interrupts.keep_signals = lambda: (keep(), strike());",
        "interrupted",
        None,
    ),
    # while a library is imported, which may handle the exception in any way
    "import": (
        "import hockney.cli.start as s;"
        "s.memory_limit = lambda: [strike_and_lie()];"
        "exec('def strike_and_lie():\\n try:\\n  strike()\\n except KeyboardInterrupt:\\n"
        "  raise ImportError(1)');",
        "interrupted",
        None,
    ),
    # between the last record and the page
    "report": ("import hockney.report; hockney.report.write = strike;", "run-interrupted", True),
    # when all is printed
    "ending": (
        "from hockney.cli.output import progress; progress.ProgressReporter.__exit__ = strike;",
        "run-interrupted",
        True,
    ),
    # when the command has returned
    "leaving": (
        "from hockney.cli.verbs import app; command = app.main;"
        "app.main = lambda **words: (command(**words), strike());",
        "run-interrupted",
        False,
    ),
    # while a library measures, which raises another exception
    "library": (
        "from hockney.measurement import launch_recorder as l;"
        "exec('def strike_and_lie(*_):\\n try:\\n  strike()\\n except KeyboardInterrupt:\\n"
        "  raise ImportError(1)'); l.LaunchRecorder._mark_answered = strike_and_lie;",
        "run-interrupted",
        False,
    ),
    # in a finaliser, whose exceptions Python drops
    "finaliser": (
        "import time, hockney.report; dropped = type('D', (), {'__del__': strike});"
        "hockney.report.write = lambda *_, **__: (str(dropped()), time.sleep(60));",
        "run-interrupted",
        True,
    ),
    # in the middle
    "measuring": (
        "from hockney.measurement import launch_recorder as l; l.LaunchRecorder._mark_answered = strike;",
        "run-interrupted",
        False,
    ),
}


@pytest.mark.parametrize(
    ("place", "number"),
    [
        ("report", signal.SIGINT),
        ("measuring", signal.SIGTERM),
        *slow(*((place, number) for place in PLACES for number in (signal.SIGINT, signal.SIGTERM))),
    ],
)
def test_one_line_and_how_to_go_on(tmp_path, place, number):
    patch, code, complete = PLACES[place]
    program = f"{STRIKE.format(int(number))} {IMPORTS} {patch} main()"
    done = subprocess.run(
        [sys.executable, "-c", program, *INTERRUPTED],
        cwd=tmp_path,
        env={**os.environ, "HOCKNEY_MACHINE": "fake"},
        capture_output=True,
        text=True,
        preexec_fn=heed_interrupts,
    )
    assert done.returncode == 128 + number, done.stderr
    assert (done.stdout == "") == (place not in ("ending", "leaving")) and done.stderr.strip().count(
        "\n"
    ) == 0
    error = json.loads(done.stderr)["error"]
    assert (error["code"], error["exit"]) == (code, 128 + number)
    assert (tmp_path / "r").exists() == (complete is not None)
    if complete is not None:
        assert ("hockney report" if complete else "hockney resume") in error["remedy"]


def test_what_the_caller_ignores_stays_ignored(tmp_path):
    program = f"{STRIKE.format(int(signal.SIGINT))} {IMPORTS} {PLACES['report'][0]} main()"
    program = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); {program}"
    done = subprocess.run(
        [sys.executable, "-c", program, *INTERRUPTED[:-1]],
        cwd=tmp_path,
        env={**os.environ, "HOCKNEY_MACHINE": "fake"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_signals_are_kept_before_anything_is_imported_that_takes_time():
    """Not even what `signal` and `collections` import, which takes some milliseconds."""
    program = (
        "import sys; before = set(sys.modules); import hockney.cli;"
        "print(*(name for name in set(sys.modules) - before if not name.startswith('hockney')"
        " and name not in sys.builtin_module_names))"
    )
    root = Path(__file__).parents[2]
    bare = [sys.executable, "-S", "-c", program]  # without the modules that site imports
    done = subprocess.run(bare, env={"PYTHONPATH": str(root)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["__future__"]
