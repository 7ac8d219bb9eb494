# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A run repeated over a period, and how much time a run needs at least, end to end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from html import unescape
from pathlib import Path

import pytest
from command_line import one_error
from signals import heed_interrupts
from tiers import slow

from hockney import api
from hockney.api.run_options import RunOptions
from hockney.cli.output.progress import next_round_text
from hockney.machines import simulated
from hockney.measurement.kinds.fake import fake_bench
from hockney.models.least_time import min_launch_seconds
from hockney.store import RunFolder, unmeasured_items

NOISY = simulated.write(simulated.platform("sun-ethernet")) + "\n[noise]\nrelative = 0.1\nseed = 1\n"

WAITING = re.compile(
    re.escape(next_round_text("TIME", 0, 0)).replace("TIME", ".*").replace("0", r"(\d+)"), re.MULTILINE
)


def test_the_help_of_a_study_has_its_parameters(hockney):
    text = hockney("run", "granularity", "--help").out
    assert all(f"{name}=" in text for name in ("work", "serial", "survey")) and "iterations=" not in text
    assert "iterations=" in hockney("plan", "--ranks", "2", "barriers", "-h").out


def test_a_name_of_both_is_a_study_unless_its_parameters_are_the_workloads(hockney):
    def study(*words: str) -> str:
        return json.loads(hockney("plan", *words, "--json").out)["study"]

    assert study("granularity", "work=1ms") == "granularity"
    assert study("granularity", "work=1ms", "shares=equal") == "cases"
    assert study("granularity", "work=1ms", "ranks=2") == "cases"
    assert study("granularity work=1ms") == "cases"


def asked(**words) -> RunOptions:
    plain = {"ranks": (), "sizes": (), "budget": 60.0, "precision": 0.02, "launches": None, "seed": None}
    return RunOptions(**{**plain, "bind": True, "mpi": "", "machine": "fake", **words})


@pytest.mark.parametrize(
    ("words", "rounds", "every"),
    [
        ({}, 3, 0.0),
        ({"launches": 5}, 5, 0.0),
        ({"repeat": 20, "every": 60.0}, 20, 60.0),
        ({"repeat": 20}, 20, 60.0),
        ({"through": 28800.0}, 480, 60.0),
        ({"through": 28800.0, "every": 300.0}, 96, 300.0),
        ({"through": 60.0}, 1, 60.0),
        ({"through": 0.3, "budget": 0.1}, 3, 0.1),
    ],
)
def test_how_many_rounds_fit(words, rounds, every):
    made = asked(**words)
    assert (made.launch_count, made.every_s) == (rounds, every)
    settings = made.settings("survey")
    assert (settings.launches, settings.every_s) == (rounds, every)
    if made.through:
        assert (rounds - 1) * every + made.budget <= made.through * (1 + 1e-9)
        assert rounds * every + made.budget > made.through


def test_a_noisy_simulated_machine_is_repeated_without_waiting(tmp_path):
    path = tmp_path / "noisy.toml"
    path.write_text(NOISY)
    made = asked(repeat=4, every=60.0, machine=f"sim:{path}")
    assert (made.launch_count, made.every_s) == (4, 0.0)


@pytest.mark.page
def test_a_run_in_rounds(hockney, golden):
    words = ("--repeat", "3", "--every", "1m", "--budget", "10s", "--out", "r", "--seed", "1")
    done = hockney("run", "barrier", "ranks=2,4", *words)
    assert done.code == 0, done.err
    assert {"3", "60.0", "2m10s"} <= set(re.findall(r"[\w.]+", done.err))
    assert WAITING.findall(done.err) == [("2", "3"), ("3", "3")]
    run = RunFolder(Path("r")).read().run
    assert [launch.index for launch in run.launches] == list(range(6))
    method = api.load(Path("r")).page.method
    golden("method_of_rounds.txt", "\n".join(method))
    page = unescape(re.sub(r"<[^>]+>", "", Path("r/report.html").read_text())).replace("\u00a0", " ")
    assert all(text in page for text in method)
    assert hockney("resume", "r").code == 0
    done = hockney("resume", "r", "--budget", "2m")
    assert one_error(done, 2) and done.error.code == "round-longer-than-interval"
    assert (done.error.fields["budget_s"], done.error.fields["every_s"]) == (120, 60)


def test_plan_tells_how_long_a_period_is(hockney, golden):
    done = hockney("plan", "barrier", "--through", "8h", "--every", "5m")
    golden("plan_of_a_period.txt", done.out)
    document = json.loads(hockney("plan", "barrier", "--repeat", "4", "--json").out)
    assert (document["rounds"], document["every_s"], document["budget_s"]) == (4, 60.0, 240.0)
    assert "rounds" not in json.loads(hockney("plan", "barrier", "--json").out)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, *slow(signal.SIGKILL, signal.SIGTERM)])
def test_ended_while_it_waits_for_the_next_round(tmp_path, number):
    """The fake machine's hour of waiting is a minute of real time here, in slices."""
    main = [sys.executable, "-c", "from hockney.cli import main; main()"]
    words = ["run", "barrier", "ranks=2,4", "--repeat", "3", "--every", "1h", "--out", "r", "--seed", "1"]
    environment = {**os.environ, "HOCKNEY_MACHINE": "fake:pace=20ms"}
    process = subprocess.Popen(
        [*main, *words],
        cwd=tmp_path,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        # background processes start with SIGINT ignored, and would not react to ours
        preexec_fn=heed_interrupts,
    )
    heard = []
    for line in process.stderr:
        heard.append(line)
        if WAITING.match(line):
            break
    time.sleep(0.1)
    process.send_signal(number)
    heard.append(process.communicate(timeout=600)[1])
    assert process.returncode in (-number, 128 + number), heard
    assert "Traceback" not in "".join(heard)
    folder = RunFolder(tmp_path / "r")
    run = folder.read().run
    assert len(run.records) == 2 and [close.exit_code for close in run.closes] == [0, 0]
    assert len(unmeasured_items(folder.plan(), run)) == 4
    if number != signal.SIGKILL:
        assert "hockney resume r" in heard[-1]
    fast = {**environment, "HOCKNEY_MACHINE": "fake"}
    done = subprocess.run(
        [*main, "resume", "r", "--machine", "fake"], cwd=tmp_path, env=fast, capture_output=True, text=True
    )
    assert done.returncode == 0 and len(WAITING.findall(done.stderr)) == 1, done.stderr
    assert unmeasured_items(folder.plan(), folder.read().run) == ()


ASKED = ("pingpong bytes=0:1MiB", "barrier")


def least(hockney, *more: str) -> float:
    return json.loads(hockney("plan", *ASKED, "--json", *more).out)["least_budget_s"]


def notices(document: dict) -> list[str]:
    return [notice["code"] for notice in document["notices"]]


def test_the_minimum_is_announced_and_used(hockney):
    needed = least(hockney)
    assert 1.2 < needed < 2
    run = ("run", *ASKED, "--seed", "1", "--out", "r", "--budget")
    short = hockney(*run, f"{needed / 2}s", "--json", "-q")
    document = json.loads(short.out)
    assert notices(document) == ["budget-raised"] and short.code == 0
    assert {s["launches"] for s in document["summaries"]} == {3}, "what the minimum is for"
    assert f"budget_s = {needed!r}\n" in Path("r/plan.txt").read_text()
    assert document["outcome"]["seconds"] <= 1.05 * needed


def test_fewer_launches_need_less_and_more_are_skipped_instead(hockney):
    one, three, many = (least(hockney, "--launches", count) for count in ("1", "3", "8"))
    assert three == many == pytest.approx(3 * one)


def test_work_counts_with_its_iterations():
    catalog = fake_bench("fake").catalog
    short = catalog.case("granularity work=1us iterations=10 ranks=2")
    long = catalog.case("granularity work=10ms iterations=10 ranks=2")
    serial = catalog.case("granularity work=10ms iterations=10 ranks=2 serial=1")
    alone = catalog.case("compute work=10ms ranks=1")
    assert min_launch_seconds([short]) < 0.005 < 0.05 < min_launch_seconds([long]) < 0.08
    assert min_launch_seconds([serial]) - min_launch_seconds([short]) == pytest.approx(
        2 * (min_launch_seconds([long]) - min_launch_seconds([short])), rel=1e-3
    )
    assert 0.01 < min_launch_seconds([alone]) < 0.06
    assert min_launch_seconds([short, alone]) == pytest.approx(
        min_launch_seconds([short]) + min_launch_seconds([alone])
    )


def test_a_round_needs_one_launch_and_no_more_than_the_time_between_rounds(hockney):
    rounds = ("--repeat", "2", "--every", "10s", "--budget")
    document = json.loads(hockney("plan", *ASKED, *rounds, "5s", "--json").out)
    assert document["least_budget_s"] == pytest.approx(least(hockney) / 3)
    close = ("--repeat", "2", "--every", "200ms", "--budget")
    assert json.loads(hockney("plan", *ASKED, *close, "100ms", "--json").out)["least_budget_s"] == 0.2
