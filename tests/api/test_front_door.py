# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""`import hockney`: it is cheap, and typical notebook code works."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from tiers import slow

import hockney
from hockney import api
from hockney.measurement import CaseEnded

FAKE = {"machine": "fake", "seed": 1, "budget": 5}
CASES = "barrier ranks=2"


def test_the_import_reads_nothing_else():
    """While modules are imported before the command line, Ctrl-C cannot be handled properly."""
    program = (
        "import sys, json; before = set(sys.modules); import hockney; "
        "print(json.dumps([*(set(sys.modules) - before)]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = set(json.loads(done.stdout))
    assert modules == {"hockney"}


def test_names_are_there_before_they_are_used():
    program = "import hockney; print(*dir(hockney))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) >= {"survey", "run", "open", "resume", "predict", "verify", "RunOptions"}


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_cases_are_measured_and_opened_again(place):
    made = hockney.run("pingpong bytes=0:64 barrier", launches=4, out="r", **FAKE)
    assert made.path == Path("r") and made.settings.launches == 4
    for name in ("r", Path("r"), str(place / "r")):
        again = hockney.open(name)
        assert [s.case for s in again.summaries] == [s.case for s in made.summaries]
    assert repr(again) == f"Run({str(place / 'r')!r})"
    assert hockney.open("r", cost="undisturbed").fits.cost == "undisturbed"


def test_what_happens_is_logged_or_heard(place, caplog):
    caplog.set_level(logging.INFO, "hockney")
    hockney.run(CASES, launches=2, **FAKE)
    assert len([r for r in caplog.records if r.levelno == logging.INFO]) > 2
    caplog.clear()
    heard: list[object] = []
    hockney.run(CASES, launches=2, listen=heard.append, **FAKE)
    assert sum(isinstance(event, CaseEnded) for event in heard) == 2 and not caplog.records


def test_the_variable_names_the_machine_where_nothing_else_does(place, monkeypatch):
    monkeypatch.setenv("HOCKNEY_MACHINE", "fake:seed=3")
    assert hockney.run(CASES, budget=1, seed=1).settings.machine == "fake:seed=3"
    assert hockney.run(CASES, **FAKE).settings.machine == "fake"


def test_a_run_that_is_not_there(place):
    for missing in (None, "runs/nothing", Path("runs/nothing"), "", "a\0b"):
        with pytest.raises(hockney.UsageError):
            hockney.open(missing)
    with pytest.raises(hockney.HockneyError):
        hockney.open("runs", cost="quick")


@pytest.mark.parametrize("name", ["load", "resume", "verify"])
def test_every_function_takes_text_and_paths(measured, name):
    for path in (measured, str(measured)):
        getattr(api, name)(path)
    with pytest.raises(hockney.UsageError) as refused:
        getattr(api, name)("")
    assert refused.value.code == "not-a-path"


def test_a_prediction(run, measured):
    numbers = hockney.predict(100e-6, 40_000, serial=0.01, ranks=[2, 4, 8], run=run)
    words = hockney.predict(work="100us", message="40kB", serial="1%", ranks="2:8", run=str(measured))
    assert numbers.rows == words.rows and [row.ranks for row in numbers.rows] == [2, 4, 8]
    table = numbers.table().columns
    assert table["ranks"] == [2, 4, 8] and table["ranks_a_core"] == [1, 1, 2]
    assert table["time_s"] == [row.time.value for row in numbers.rows]
    assert all(
        low < value < high
        for low, value, high in zip(
            table["efficiency_low"], table["efficiency"], table["efficiency_high"], strict=True
        )
    )
    assert {caveat.code for caveat in numbers.caveats} >= {"oversubscribed"}
    lines = repr(numbers).splitlines()
    assert sum(line.startswith(("2 ranks: ", "4 ranks: ", "8 ranks: ")) for line in lines) == 3
    assert numbers._repr_html_().count("<tr>") == 1 + 3


def test_predictions_of_other_machines_and_networks(run):
    bus = hockney.predict(1, "40kB", ranks=4, machine="sun-ethernet")
    assert bus.known.platform.name == "sun-ethernet"
    shared, switch = (
        hockney.predict(1e-3, 40_000, ranks=4, run=run, network=network) for network in ("shared", "switch")
    )
    assert shared.rows[0].time.value > switch.rows[0].time.value
    undisturbed = hockney.open(run.path, cost="undisturbed")
    assert hockney.predict(1, 8, run=undisturbed).prediction.messages.cost == "undisturbed"
    with pytest.raises(hockney.UsageError):
        hockney.predict(1, 8, run=run, network="bus")
    with pytest.raises(hockney.UsageError):
        hockney.predict(1, 8, run=run, cost="quick")
    with pytest.raises(hockney.UsageError):
        hockney.predict(-1, 8, run=run)


STRIKE = """
import importlib.abc, os, signal, sys

class Strike(importlib.abc.MetaPathFinder):
    # Ctrl-C and a timer's signal when this module is imported for the first time
    def find_spec(self, name, path, target=None):
        if name == sys.argv[2]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), getattr(signal, sys.argv[3]))

def stop(*caught):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, stop)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
sys.meta_path.insert(0, Strike())
import hockney
assert "numpy" not in sys.modules
try:
    hockney.open(sys.argv[1]).model("pingpong")
    print("not interrupted")
except KeyboardInterrupt:
    pass
print(hockney.open(sys.argv[1]).model("pingpong")(bytes=8).value > 0)
"""


@pytest.mark.parametrize(
    ("module", "number"),
    [
        ("numpy._core.umath", "SIGINT"),
        *slow(*product(("numpy", "numpy.linalg"), ("SIGINT", "SIGALRM")), ("numpy._core.umath", "SIGALRM")),
    ],
)
def test_a_signal_in_the_first_import_of_numpy_breaks_nothing(measured, module, number):
    """NumPy cannot be imported again after that."""
    words = [sys.executable, "-c", STRIKE, str(measured), module, number]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
