# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of the NAS Parallel Benchmarks: cases, the study, and predictions."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from hockney.machines import simulated
from hockney.suites.npb.fakes.npb import FakeNpb
from hockney.suites.npb.programs import PROGRAMS

FAKE = ("--machine", "fake", "--launches", "3", "--budget", "10m", "--seed", "1", "-q")
RUN = ("run", "npb", "kernels=cg,ep", "--ranks", "2", *FAKE)


def test_the_answer_is_printed(hockney, golden):
    said = hockney(*RUN, "barrier_at=iteration,step", "--out", "runs/n")
    assert said.code == 0, said.err
    golden("run_npb.txt", said.out)


def test_wrong_answers_are_in_the_headline_and_exit_1(hockney, golden):
    said = hockney(*RUN, "fault=bit", "predict=no", "--out", "runs/wrong")
    assert said.code == 1
    golden("run_npb_wrong.txt", said.out)
    said = hockney(*RUN, "fault=bit", "predict=no", "--out", "runs/again", "--json")
    answer = json.loads(said.out)["answer"]
    assert said.code == 1 and answer["verified"] is False
    assert {b["verified"] for b in answer["benchmarks"]} == {False}
    assert hockney("verify", "runs/wrong").code == 1


def test_phases_are_exported(hockney):
    hockney(*RUN, "barrier_at=none", "predict=no", "--out", "runs/n")
    said = hockney("export", "runs/n", "--csv", "n.csv")
    assert said.code == 0, said.err
    rows = list(csv.DictReader(Path("n.csv").read_text().splitlines()))
    for kind in ("computation", "communication", "waiting"):
        assert all(float(row[f"metric_phase_{kind}_s_sweeps"]) >= 0 for row in rows)
    assert {"metric_waiting_s", "metric_messages_s", "metric_operations"} <= set(rows[0])


@pytest.mark.page
def test_a_case_has_its_rate_in_the_terminal_and_on_the_page(hockney):
    said = hockney("run", "cg class=A ranks=1,2", *FAKE, "--out", "runs/c")
    assert said.code == 0, said.err
    rates = [re.split(" {2,}", line.strip()) for line in said.out.splitlines() if line.startswith("  rate ")]
    assert len(rates) == 2
    for _, value, interval in rates:
        low, high = map(float, re.findall(r"[\d.]+", interval))
        assert value.endswith("Mop/s") and low < float(value.split()[0]) < high
    document = json.loads(hockney("models", "runs/c", "--json").out)
    one = next(s for s in document["summaries"] if " ranks=1 " in s["case"])
    operations = one["metrics"]["operations"]["typical"]["value"]
    expected = operations / one["typical"]["value"] / 1e6
    assert float(rates[0][1].split()[0]) == pytest.approx(expected, rel=0.005)
    text = Path("runs/c/report.html").read_text()
    assert "Mop/s" in text


MACHINE = "sim:switched-ethernet"


def predicted(hockney, *words):
    said = hockney("predict", *words, "--json")
    assert said.code == 0, said.err
    return json.loads(said.out)


def test_a_benchmark_on_a_described_machine(hockney):
    found = predicted(hockney, "--kernel", "ep", "--class", "A", "--ranks", "1:8", "--machine", MACHINE)
    assert (found["kernel"], found["class"]) == ("ep", "A")
    rate = simulated.platform(MACHINE.removeprefix("sim:")).rates["ep"]
    assert found["rate"] == {
        "run": None,
        "class": None,
        "operations_per_second": rate,
        "described": True,
    }
    assert [row["ranks"] for row in found["ranks"]] == [1, 2, 4, 8]
    for row in found["ranks"]:
        assert row["computation_s"] == pytest.approx(PROGRAMS["ep"]("A", 1).operations / rate / row["ranks"])
        assert row["efficiency"]["value"] > 0.9 and row["efficiency"]["low"] is None
        parts = sum(row[f"{part}_s"] for part in ("computation", "waiting", "messages", "collectives"))
        assert row["time_s"]["value"] == pytest.approx(parts)
    assert found["best"] == {"fastest": 8, "half_efficient": 8}


def test_the_best_number_of_ranks_is_where_communication_outweighs_more_ranks(hockney):
    """A sum over more ranks takes longer, and a fast rank has little to compute."""
    words = ("--kernel", "cg", "--class", "S", "--ranks", "1:16", "--machine", MACHINE)
    slow, middle, fast = (predicted(hockney, *words, "--rate", rate) for rate in ("1e4", "1e6", "1e10"))
    best = [each["best"]["fastest"] for each in (slow, middle, fast)]
    assert best[0] == 16 > best[1] > best[2] == 1
    assert slow["ranks"][-1]["speed_up"]["value"] > 10
    names = [each["name"] for each in fast["levers"]["changes"]]
    assert fast["levers"]["ranks"] == 16 and "fewer collectives" in names
    gains = [each["gain"] for each in fast["levers"]["changes"]]
    assert gains == sorted(gains, reverse=True) and min(gains) > 0


def test_messages_of_a_survey_give_intervals(hockney, surveyed):
    found = predicted(hockney, "lu", "class=W", "--ranks", "2,4", "--rate", "1e9", "--larger-machine")
    for row in found["ranks"]:
        time = row["time_s"]
        assert time["low"] < time["value"] < time["high"]
    assert surveyed in found["machine"]["source"] and found["doubts"][0]["code"] == "fake"


def test_ranks_without_a_division_are_left_out(hockney):
    words = ("--kernel", "ft", "--class", "W", "--machine", MACHINE, "--larger-machine")
    said = hockney("predict", *words, "--ranks", "32,33", "--json")
    assert said.code == 0 and "33" in said.err
    found = json.loads(said.out)
    assert [row["ranks"] for row in found["ranks"]] == [32]
    assert found["indivisible"] == [33]
    said = hockney("predict", *words, "--ranks", "33,40", "--json")
    assert said.code == 2 and said.error.code == "indivisible"


def test_for_people(hockney):
    said = hockney("predict", "--kernel", "sp", "--class", "W", "--ranks", "1:4", "--machine", MACHINE)
    rows = [line.split()[0] for line in said.out.splitlines() if line[:5].strip().isdecimal()]
    assert said.code == 0 and rows == ["1", "2", "4"]


def test_more_ranks_than_cores_are_a_caveat(hockney, surveyed):
    found = predicted(hockney, "lu", "class=W", "--ranks", "2,64", "--rate", "1e9", "--run", surveyed)
    assert {"fake", "oversubscribed"} <= {each["code"] for each in found["doubts"]}


@pytest.mark.parametrize(
    ("words", "code", "number"),
    [
        (("--kernel", "cg", "--work", "1s"), "kernel-with-algorithm", 2),
        (("--kernel", "cg", "--network", "switch"), "kernel-with-algorithm", 2),
        (("bitonic_sort", "keys=8", "--rate", "1e9"), "kernel-with-algorithm", 2),
        (("--class", "B"), "option-without-kernel", 2),
        (("--work", "1s", "--message", "8", "--rate", "1e9"), "option-without-kernel", 2),
        (("--kernel", "cg", "--class", "Z"), "unknown-value", 2),
        (("--kernel", "cg"), "no-rate-of-one-rank", 4),
        (("--kernel", "cg", "--rate", "1e9"), "no-survey", 4),
        (("--kernel", "cg", "--rate", "0"), "number-out-of-range", 2),
        (("--kernel", "cg", "--machine", MACHINE, "--ranks", "64"), "too-many-ranks", 2),
    ],
)
def test_what_cannot_be_predicted(hockney, words, code, number):
    said = hockney("predict", *words, "--json")
    assert (said.code, said.error.code) == (number, code)


def test_a_run_without_the_benchmark(hockney, surveyed):
    said = hockney("predict", "--kernel", "cg", "--run", surveyed, "--json")
    assert said.code == 4 and said.error.code == "run-without-one-rank"


def test_the_rate_of_one_rank_comes_from_a_run(hockney, surveyed):
    words = ("kernels=cg", "predict=no", "barrier_at=none", "--ranks", "2", "--launches", "2", "-q")
    assert hockney("run", "npb", *words, "--machine", "fake", "--out", "runs/n").code == 0
    said = hockney("predict", "--kernel", "cg", "--class", "S", "--ranks", "1,2", "--json")
    assert said.code == 0 and "runs/n" in said.err
    found = json.loads(said.out)
    assert found["rate"]["run"] == "runs/n" and found["rate"]["class"] == "S"
    assert found["ranks"][0]["time_s"]["value"] == pytest.approx(FakeNpb().operations["cg"] / 2e9, rel=0.1)
    larger = predicted(hockney, "--kernel", "cg", "--class", "A", "--ranks", "1", "--run", "runs/n")
    assert larger["rate"]["class"] == "S"
    ratio = larger["ranks"][0]["time_s"]["value"] / found["ranks"][0]["time_s"]["value"]
    programs = [PROGRAMS["cg"](size, 1).operations for size in ("A", "S")]
    assert ratio == pytest.approx(programs[0] / programs[1], rel=0.05)
    assert hockney("predict", "--kernel", "ep", "--json").error.code == "no-rate-of-one-rank"
