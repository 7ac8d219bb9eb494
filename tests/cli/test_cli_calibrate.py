# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney calibrate: a machine file, the comparison of twin and run, and errors."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from command_line import one_error
from resealed import reseal

from hockney import api, measurement
from hockney.api.find_runs import newest_complete_survey
from hockney.cli.actions.calibrate import (
    MAX_SHOWN_DISAGREEMENTS,
    agreement_text,
    disagreement_text,
    own_twin_text,
    undecided_text,
)
from hockney.core.fit import Estimate
from hockney.core.notice import Notice
from hockney.launch.fake import FakeLauncher
from hockney.launch.fake_world import World
from hockney.machines import simulated
from hockney.machines.simulated.calibrate import DECIDED, Agreement
from hockney.pages.caveats import assumed_network_text


@pytest.fixture
def run(copied_run) -> str:
    """A run with the cost of a message and of a collective."""
    return copied_run("runs/mine", "pingpong bytes=0:64KiB buffers=hot", "allreduce bytes=8,1024")


def test_it_writes_a_machine_that_the_simulator_can_be_asked_for(hockney, run, golden):
    done = hockney("calibrate", run, "--out", "mine.toml", "--nodes", "300", "--name", "my-cluster")
    assert done.code == 0, done.err
    machine = simulated.platform("./mine.toml")
    assert (machine.name, machine.capacity) == ("my-cluster", 1200)
    assert machine.segment(8).one_way(8) == pytest.approx(World().message(8), rel=0.05)
    golden("calibrate.txt", done.out)


def test_without_a_file_the_machine_is_on_stdout(hockney, run):
    done = hockney("calibrate", run)
    assert done.code == 0
    assert simulated.read(done.out).name == "fakehost"


def test_quantities_of_poor_fits_are_counted_only_if_there_are_any():
    assert re.findall(r"\d+", agreement_text(5, 0, 2, 2)) == ["5", "7", "2", "2"]
    assert re.findall(r"\d+", agreement_text(7, 0, 0, 0)) == ["7", "7"]
    assert re.findall(r"\d+", agreement_text(3, 4, 0, 0)) == ["3", "7", "4"]


@pytest.mark.parametrize(("factor", "code"), [(1.0, 0), (1.5, 1)])
def test_the_twin_is_laid_beside_the_run(hockney, run, monkeypatch, golden, factor, code):
    """A stand-in for the simulator: another fake machine, as fast as the first or slower."""
    world = World(seed=2, noise=0.001, launch_noise=0.0, tail=0.0)
    segments = tuple(
        type(segment)(segment.first, factor * segment.latency_s, factor * segment.per_byte_s)
        for segment in world.segments
    )
    slow = World(**{**vars(world), "segments": segments})
    monkeypatch.setattr(
        "hockney.measurement.calibration_check.prepare",
        lambda *words, hosts: measurement.fake_bench(FakeLauncher(slow)),
    )
    done = hockney("calibrate", run, "--check", "-q")
    assert done.code == code, done.out
    golden(f"calibrate_check_{factor}.txt", done.out)
    agreement = json.loads(hockney("calibrate", run, "--check", "-q", "--json").out)["agreement"]
    agrees = {each["what"]: each["verdict"] == "agrees" for each in agreement}
    assert agrees["pingpong 8 B"] == (code == 0) and "allreduce 1024 B" in agrees
    assert {each["within"] for each in agreement} == {0.05, 0.01, 0.2}
    assert own_twin_text()[:30] in done.out
    missed = [each for each in agreement if each["counts"] and each["verdict"] == "disagrees"]
    explained = [
        line
        for line in done.out.splitlines()
        if any(disagreement_text(e["what"], 0, 0, "").partition(", off")[0] in line for e in missed)
    ]
    assert bool(missed) == bool(code) and len(explained) == min(len(missed), MAX_SHOWN_DISAGREEMENTS)


def test_the_twin_can_be_laid_beside_another_run(hockney, run, monkeypatch):
    """A run that was not used for calibration is the better test."""
    monkeypatch.setattr(
        "hockney.measurement.calibration_check.prepare",
        lambda *words, hosts: measurement.fake_bench(FakeLauncher()),
    )
    other = hockney("run", "pingpong bytes=96,3000 buffers=hot", "--out", "runs/other", "--seed", "2", "-q")
    assert other.code == 0, other.err
    done = hockney("calibrate", run, "--against", "runs/other", "-q")
    assert done.code == 0, done.err
    cases = [line.split("  ")[0] for line in done.out.splitlines() if line.startswith("pingpong")]
    assert cases == ["pingpong 96 B", "pingpong 3000 B"]
    assert own_twin_text()[:30] not in done.out


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [("agrees agrees undecided", 0), ("agrees undecided undecided", 4), ("agrees agrees disagrees", 1)],
)
def test_the_exit_code_of_undecided_quantities(hockney, run, monkeypatch, verdicts, code):
    found = [
        Agreement(str(k), "s", Estimate(1e-6, 1e-7, 1e-5), 2e-6, verdict, True, True, 0.05)
        for k, verdict in enumerate(verdicts.split())
    ]
    monkeypatch.setattr("hockney.cli.actions.calibrate.compare", lambda *surveys: found)
    monkeypatch.setattr("hockney.measurement.survey_twin", lambda *given: None)
    done = hockney("calibrate", run, "--check", "-q")
    assert done.code == code, done.err
    assert (undecided_text(DECIDED)[:20] in done.out) == ("undecided" in verdicts)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["runs/none"], "runs/none"),
        (["{run}", "--out", "mine.txt"], "mine.txt"),
        (["{run}", "--nodes", "0"], "--nodes"),
        (["{run}", "--network", "t3f"], "t3e"),
        (["{run}", "--network", "t3e-4x4x4", "--nodes", "5"], "t3e-4x4x4"),
        (["{run}", "--name", "My Machine"], "My Machine"),
    ],
)
def test_what_is_at_fault_is_named_in_one_line(hockney, run, words, name):
    done = hockney("calibrate", *[word.format(run=run) for word in words])
    assert name in one_error(done, 2)
    assert (name == "mine.txt") == (done.error.code == "not-a-machine-file-name")


@pytest.fixture
def calibrated(hockney, run, monkeypatch):
    """mine.toml with several nodes of 4 cores, calibrated on one host; the simulator is a fake machine."""
    assert hockney("calibrate", run, "--out", "mine.toml", "--nodes", "8").code == 0

    def prepare(reference, options):
        bench = measurement.fake_bench("fake", 32)
        platform = simulated.platform(reference.name)
        return replace(bench, machine=msgspec.structs.replace(bench.machine, platform=platform))

    monkeypatch.setattr("hockney.measurement.kinds.sim.prepare", prepare)
    return "mine.toml"


@pytest.mark.parametrize(
    ("key", "code"), [("poor_fit", "poor-calibration"), ("two_modes", "two-mode-calibration")]
)
def test_results_of_a_machine_from_a_doubtful_fit_have_a_warning(hockney, calibrated, key, code):
    words = ("--machine", f"sim:{calibrated}", "--ranks", "4", "--out", "runs/sim", "-q")
    asked = ("predict", "--work", "1ms", "--message", "8", "--machine", calibrated, "--ranks", "4", "--json")
    warned = {doubt["code"]: doubt["text"] for doubt in json.loads(hockney(*asked).out)["doubts"]}
    assert code not in warned
    machine = Path(calibrated)
    machine.write_text(f'{key} = "off by 30%"\n{machine.read_text()}')
    done = hockney("run", "barrier", *words)
    assert done.code == 0 and "off by 30%" in " ".join(done.out.split())
    assert code in {caveat.code for caveat in api.load("runs/sim").caveats}
    warned = {doubt["code"]: doubt["text"] for doubt in json.loads(hockney(*asked).out)["doubts"]}
    assert "off by 30%" in warned[code]


@pytest.mark.slow
def test_a_much_longer_survey_is_noted(hockney, small_survey):
    small_survey("runs/long")
    plan = Path("runs/long/plan.txt")
    plan.write_text(re.sub(r"budget_s = .*", "budget_s = 4000", plan.read_text(), count=1))
    reseal(plan.parent)
    small_survey("runs/short")
    os.utime("runs/long/records.jsonl", (10**9, 10**9))
    heard: list[object] = []
    assert newest_complete_survey(heard.append).path == Path("runs/short")
    assert [event.code for event in heard if isinstance(event, Notice)] == ["longer-survey"]
    assert "runs/long" in hockney("calibrate", "--out", "mine.toml").err
    assert "runs/long" not in hockney("calibrate", "runs/short", "--out", "mine.toml").err


def test_a_survey_without_messages_is_neither_used_nor_noted(hockney, small_survey):
    """On one rank there is no ping-pong."""
    small_survey("runs/pair")
    single = ("survey", "-q", "--ranks", "1", "--sizes", "0,64,1KiB,4KiB", "--budget", "400s")
    assert hockney(*single, "--out", "runs/single").code == 0
    heard: list[object] = []
    assert newest_complete_survey(heard.append).path == Path("runs/pair")
    assert not any(isinstance(event, Notice) for event in heard)
    assert hockney("calibrate", "--out", "mine.toml").code == 0
    predicted = hockney("predict", "--work", "100us", "--message", "40kB")
    assert predicted.code == 0 and "runs/pair" in predicted.err and "runs/single" not in predicted.err
    assert hockney("calibrate", "runs/single").error.code == "survey-without-pingpong"
    shutil.rmtree("runs/pair")
    assert hockney("calibrate").error.code == "survey-without-pingpong"


@pytest.mark.parametrize(("ranks", "guessed"), [("4", False), ("2,8", True)])
def test_ranks_on_several_nodes_rest_on_a_guess(hockney, calibrated, ranks, guessed):
    words = ("--machine", f"sim:{calibrated}", "--ranks", ranks, "--out", "runs/sim", "-q", "--json")
    done = hockney("run", "barrier", *words)
    if guessed:
        assert (done.code, done.error.code) == (2, "network-not-measured") and not Path("runs/sim").exists()
        done = hockney("run", "barrier", *words, "--assume-network")
        assert json.loads(done.out)["headline"][1] == assumed_network_text()
        words = (*words[:4], "--out", "runs/shown", "-q", "--assume-network")
        assert hockney("run", "barrier", *words).out.splitlines()[1] == assumed_network_text()
    found = {doubt["code"]: doubt for doubt in json.loads(done.out)["doubts"]}
    assert done.code == 0 and ("between-nodes" in found) == guessed
    words = ("--work", "1ms", "--message", "8", "--machine", calibrated, "--ranks", ranks, "--json")
    predicted = json.loads(hockney("predict", *words).out)
    codes = [doubt["code"] for doubt in predicted["doubts"]]
    assert ("between-nodes" in codes) == guessed and "guesses" not in codes


def test_the_example_at_the_end_is_not_refused(hockney, run, calibrated):
    done = hockney("calibrate", run, "--out", calibrated)
    example = done.out.split("try: hockney run ")[1].split()
    assert "1024" in example and hockney("plan", *example).error is None
