# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and SIGTERM at moments that random ones rarely hit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from signals import heed_interrupts
from tiers import slow

STRIKE = "import os, signal; strike = lambda *_, **__: os.kill(os.getpid(), signal.Signals({}));"
MAIN = "from hockney.cli import main, interrupts;"
WORDS = ["run", "pingpong bytes=0:16", "--launches", "2", "--seed", "1", "--out", "r", "-q", "--json"]

PLACES = {
    # before the first import that takes time
    "start": ("keep = interrupts.keep; interrupts.keep = lambda: (keep(), strike());", "interrupted", None),
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
    program = f"{STRIKE.format(int(number))} {MAIN} {patch} main()"
    done = subprocess.run(
        [sys.executable, "-c", program, *WORDS],
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
    program = f"{STRIKE.format(int(signal.SIGINT))} {MAIN} {PLACES['report'][0]} main()"
    program = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); {program}"
    done = subprocess.run(
        [sys.executable, "-c", program, *WORDS[:-1]],
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
