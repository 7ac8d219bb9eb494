# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney predict: the paper's numbers, a survey's, their origins, and which run they come from."""

from __future__ import annotations

import json
import os
import re
import socket
import time
from pathlib import Path

import pytest
from real_mpi import simgrid_here
from resealed import reseal
from tiers import slow

from hockney import api, models
from hockney.api import find_runs
from hockney.api.find_runs import message_costs_text, other_machine_text, skipped_survey_notice
from hockney.core.case import parse_canonical
from hockney.core.notice import Notice
from hockney.core.wording import name_options_as_flags
from hockney.discovery.cpu import processors
from hockney.launch.fake_world import World
from hockney.machines import simulated
from hockney.models.applications.granularity import Algorithm
from hockney.models.applications.message_costs import messages_of_run
from hockney.store import RunFolder

SUN = ("predict", "--work", "1s", "--message", "1000words", "--machine", "sun-ethernet")
RUNS = Path("runs")
WRITTEN = World().byte_factors["written"]
"""By which a byte of a message that was just written costs more."""
ASKED = ("predict", "--work", "100us", "--message", "40kB")


def asked(hockney, *words: str) -> dict:
    said = hockney(*words, "--json")
    assert said.code == 0, said.err
    return json.loads(said.out)


def newest(run: str) -> str:
    """The line that names the survey a prediction starts from."""
    written = Path(run, "records.jsonl").stat().st_mtime
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(written))
    settings = RunFolder.open(Path(run)).plan().settings
    return f"{message_costs_text(run, settings.study, when, settings.total_s)}\n"


def test_the_suns_have_the_papers_numbers(hockney):
    found = asked(hockney, *SUN, "--ranks", "2,4,8", "--serial", "1%")
    assert found["algorithm"] == {
        "work_s": 1.0, "bytes": 4000, "serial": 0.01, "exchanges": 1.0, "imbalance": 1.0,
    }  # fmt: skip
    for row in found["ranks"]:
        ranks = row["ranks"]
        cost = 2 * (1500e-6 + 5e-6 * (ranks / 2) * 1000)
        assert row["time_s"]["value"] == pytest.approx(0.01 + 0.99 / ranks + cost, rel=1e-12)
        assert row["efficiency"]["value"] == pytest.approx(1 / (0.99 + ranks * (0.01 + cost)), rel=1e-12)
        assert row["communication_share"]["value"] == pytest.approx(cost / row["time_s"]["value"], rel=1e-12)
        assert row["time_s"]["low"] is None, "the paper prints no interval"
    even = {each["ranks"]: each["work_s"]["value"] for each in found["break_even"]}
    assert even[2] == pytest.approx(2 * 0.013 / 0.99, rel=1e-12)
    machine = found["machine"]
    assert machine["network"] == "shared" and machine["most_ranks"] == 16
    assert {each["code"]: each["status"] for each in machine["origins"]} == {
        "latency": "printed", "byte-cost": "printed", "network": "printed", "node-count": "guess",
    }  # fmt: skip
    assert found["doubts"] == []


def test_words_say_the_same(hockney, golden):
    said = hockney(*SUN, "--ranks", "2,4", "--serial", "1%")
    assert said.code == 0 and said.err == ""
    golden("predict.txt", said.out)


@pytest.mark.parametrize(
    "name",
    [
        "sun-ethernet",
        *slow(*sorted({*simulated.names()} - {"sun-ethernet"})),
        "published:t3e",
        "sim:paragon-3x3",
        "t3e+full-duplex",
    ],
)
def test_every_described_machine_answers(hockney, name):
    found = asked(
        hockney, "predict", "--work", "1s", "--message", "4kB", "--ranks", "1,2,4", "--machine", name
    )
    assert [row["ranks"] for row in found["ranks"]] == [1, 2, 4]
    assert found["ranks"][0]["efficiency"]["value"] == 1
    assert found["best"]["most"] == found["machine"]["most_ranks"]
    weak = {each["code"] for each in found["machine"]["origins"] if each["status"] == "guess"}
    guessed = {doubt["code"] for doubt in found["doubts"]}
    assert ("guesses" in guessed) == bool(weak - {"node-count"})


def test_a_survey_gives_what_it_measured_with_intervals(hockney, surveyed):
    words = ("predict", "--work", "100us", "--message", "20kB", "--ranks", "2,4", "--run", surveyed)
    found = asked(hockney, *words)
    truth = World().message(20000, WRITTEN)
    one = found["message_s"]
    assert one["low"] <= truth <= one["high"] and one["value"] == pytest.approx(truth, rel=0.05)
    two, four = found["ranks"]
    assert two["efficiency"]["value"] == pytest.approx(1e-4 / (1e-4 + 2 * 2 * truth), rel=0.05)
    assert two["efficiency"]["low"] <= two["efficiency"]["value"] <= two["efficiency"]["high"]
    assert two["efficiency"]["low"] < two["efficiency"]["high"]
    assert four["time_s"]["value"] == pytest.approx(1e-4 / 4 + 2 * truth, rel=0.05)
    assert found["machine"]["verdict"] in ("good", "fair")
    codes = [doubt["code"] for doubt in found["doubts"]]
    assert codes[0] == "fake" and codes[-1] == "network-assumed"
    needed = {(each["ranks"], each["efficiency"]): each["work_s"] for each in found["work_needed"]}
    assert set(needed) == {(n, e) for n in (2, 4) for e in (0.5, 0.8, 0.9)}
    assert needed[2, 0.5]["value"] == pytest.approx(2 * 2 * truth, rel=0.05)
    assert found["best"]["fastest"]["ranks"] == 4 and found["best"]["most"] == 4


def test_where_a_change_may_come_before_or_after_both_are_possible(hockney, surveyed):
    found = asked(hockney, "predict", "--work", "100us", "--message", "1000words", "--run", surveyed)
    one, world = found["message_s"], World()  # changes at 4096 B; 2 and 4 KiB are measured
    after = world.segments[1].latency_s + 4000 * world.segments[1].per_byte_s * WRITTEN
    assert one["low"] <= world.message(4000, WRITTEN) and one["high"] >= after
    (doubt,) = [each for each in found["doubts"] if each["code"] == "change"]
    assert all(size in doubt["text"] for size in ("2 KiB", "4 KiB", "4000 B"))
    sure = asked(hockney, "predict", "--work", "100us", "--message", "1KiB", "--run", surveyed)
    assert "change" not in [each["code"] for each in sure["doubts"]]


def test_work_without_a_unit_is_noted(hockney):
    bare, unit = (hockney(*SUN[:2], work, *SUN[3:], "--json") for work in ("100", "100s"))
    assert bare.code == unit.code == 0 and bare.out == unit.out, "seconds, as in all options"
    assert bare.err and not unit.err
    assert not hockney(*SUN[:2], "100", *SUN[3:], "-q").err


def test_a_message_longer_than_any_measured_is_doubted(hockney, mine):
    found = asked(hockney, *ASKED, "--run", mine)  # mine has up to 64 B
    (doubt,) = [each for each in found["doubts"] if each["code"] == "extrapolated"]
    assert all(size in doubt["text"] for size in ("40000 B", "0 B to 64 B"))
    found = asked(hockney, "predict", "--work", "1us", "--message", "16", "--run", mine)
    (doubt,) = [each for each in found["doubts"] if each["code"] == "extrapolated"]
    assert "aggregation" in doubt["text"]


def test_more_ranks_than_cores_cost_what_they_cost(hockney, mine):
    found = asked(hockney, "predict", "--work", "1s", "--message", "8", "--run", mine, "--ranks", "2,4,8,16")
    (doubt,) = [each for each in found["doubts"] if each["code"] == "oversubscribed"]
    assert re.findall(r"\d+%?", doubt["text"]) == ["8", "16", "4", "50%", "8", "25%", "16"]
    shown = {row["ranks"]: row for row in found["ranks"]}
    assert shown[8]["efficiency"]["value"] == pytest.approx(0.5, rel=1e-3)
    assert shown[16]["speed_up"]["value"] == pytest.approx(4, rel=1e-3)
    assert [shown[n]["ranks_a_core"] for n in (2, 4, 8, 16)] == [1, 1, 2, 4]
    assert found["levers"]["ranks"] == 4 and found["best"]["fastest"]["ranks"] == 4


def test_the_network_can_be_overruled(hockney):
    def efficiency(*more: str) -> float:
        (row,) = asked(hockney, *SUN, "--ranks", "8", *more)["ranks"]
        return row["efficiency"]["value"]

    assert efficiency("--network", "shared") == efficiency()
    switch = efficiency("--network", "switch")
    assert switch == pytest.approx(1 / (1 + 8 * 2 * 0.0065), rel=1e-12)
    assert asked(hockney, *SUN, "--network", "switch")["machine"]["network"] == "switch"


def test_a_machine_of_ones_own(hockney, tmp_path, golden):
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\ntitle = "Mine"\nnetwork = {shape = "switch", nodes = [{count = 2, cores = 4}]}\n'
        'segments = [{latency_s = "1ms"}]\non_node = [{latency_s = "1us"}]\n'
    )
    words = ("predict", "--work", "1s", "--message", "0", "--machine", "mine.toml")
    found = asked(hockney, *words)
    cost = {row["ranks"]: row["time_s"]["value"] - 1 / row["ranks"] for row in found["ranks"]}
    assert list(cost) == [2, 4, 8]
    assert [cost[4], cost[8]] == pytest.approx([2e-6, 1e-6 + 1e-3])
    assert found["machine"]["cores_per_node"] == 4
    assert "guesses" in [doubt["code"] for doubt in found["doubts"]]
    golden("predict_two_levels.txt", hockney(*words).out)


def test_impossible_imbalance_is_said(hockney):
    found = asked(hockney, *SUN, "--ranks", "2,4", "--imbalance", "3")
    (doubt,) = [doubt for doubt in found["doubts"] if doubt["code"] == "imbalance"]
    assert re.findall(r"\d+", doubt["touches"]) == ["2"]
    possible = asked(hockney, *SUN, "--ranks", "2,4", "--imbalance", "2")
    assert "imbalance" not in [doubt["code"] for doubt in possible["doubts"]]


def test_extremes_stay_readable(hockney, golden):
    said = hockney("predict", "--work", "1ns", "--message", "1TB", "--serial", "99%", "--machine", "t3e")
    assert said.code == 0
    golden("predict_extremes.txt", said.out)
    assert not re.search(r"\d\.0{6}|nan|inf\b", said.out)
    alone = hockney("predict", "--work", "1s", "--message", "0", "--ranks", "1", "--machine", "t3e")
    assert alone.code == 0
    golden("predict_one_rank.txt", alone.out)


def test_a_run_on_a_surveys_times_hands_them_on(hockney, surveyed):
    words = ("run", "granularity", "work=100us", f"survey={surveyed}", "--sizes", "20kB", "--ranks", "2,4")
    assert hockney(*words, "--budget", "5s", "--out", "runs/grain", "-q").code in (0, 4)
    question = ("predict", "--work", "100us", "--message", "20kB", "--ranks", "2,4")
    found = asked(hockney, *question, "--run", "runs/grain")
    assert found["message_s"] == asked(hockney, *question, "--run", surveyed)["message_s"]
    assert "runs/first" in found["machine"]["source"]
    assert re.findall(r"\d+", found["machine"]["network_why"])[:2] == ["1", "4"]
    assert "network-assumed" not in [doubt["code"] for doubt in found["doubts"]]
    assert hockney(*ASKED).err == newest("runs/first"), "a complete survey, although it is older"
    (Path(surveyed) / "records.jsonl").unlink()
    assert hockney("verify", "runs/grain").code == 0 and "granularity" in newest("runs/grain")
    assert hockney(*ASKED).err == newest("runs/grain")


def test_a_larger_machine_has_a_core_for_each_rank_as_in_the_explorer(hockney, surveyed):
    """The fake machine has 4 cores."""
    words = ("predict", "--work", "100us", "--message", "40kB", "--serial", "1%", "--ranks", "2,16")
    shared, larger = asked(hockney, *words), asked(hockney, *words, "--larger-machine")
    assert (shared["larger_machine"], larger["larger_machine"]) == (False, True)
    assert [row["ranks_a_core"] for row in shared["ranks"]] == [1, 4]
    assert [row["ranks_a_core"] for row in larger["ranks"]] == [1, 1]
    assert larger["ranks"][0] == shared["ranks"][0]
    assert larger["ranks"][1]["efficiency"]["value"] > 1.5 * shared["ranks"][1]["efficiency"]["value"]
    assert larger["best"]["most"] == 16 and shared["best"]["most"] == 4
    codes = [{doubt["code"] for doubt in each["doubts"]} for each in (shared, larger)]
    assert "oversubscribed" in codes[0] and "larger-machine" in codes[1] and "oversubscribed" not in codes[1]
    fewer = asked(hockney, *words[:-1], "2,4", "--larger-machine")
    assert not fewer["larger_machine"] and fewer["best"]["most"] == 4


def test_a_prediction_reads_the_records_once_and_fits_what_it_needs(hockney, monkeypatch, tmp_path):
    """If the survey's fits are another user's. The whole survey's fits give the same costs of messages."""
    words = ("--ranks", "2,4", "--seed", "1", "--budget", "20s", "--out", "runs/s", "-q")
    assert hockney("survey", *words).code == 0
    run = api.load("runs/s")
    whole = messages_of_run(run.fits, run.machine, "runs/s", None, hosts=1, buffers="written")
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))
    read, fitted = [], []
    monkeypatch.setattr(RunFolder, "read", _counted(RunFolder.read, read))
    monkeypatch.setattr(models, "fit_all", _counted(models.fit_all, fitted))
    forecast = api.predict(Algorithm(1e-4, 40_000))
    assert len(read) == 1
    (records,) = [run.records for run, *_ in fitted]
    fitted_workloads = {record.parse_case().workload for record in records}
    assert "pingpong" in fitted_workloads and "allreduce" not in fitted_workloads
    alone = api.predict(Algorithm(1e-4, 40_000), run="runs/s")
    assert forecast.rows == alone.rows
    source = find_runs.message_source("runs/s", lambda event: None)
    assert source.messages == whole


def test_the_exchanges_of_a_run_still_decide_whether_messages_share_the_network(hockney):
    cases = ("pingpong bytes=0:1MiB", "round_robin bytes=256KiB,512KiB ranks=4", "allreduce bytes=8")
    assert hockney("run", *cases, "--seed", "1", "--budget", "20s", "--out", "runs/c", "-q").code == 0
    run = api.load("runs/c")
    whole = messages_of_run(run.fits, run.machine, "runs/c", None, hosts=1)
    assert whole.sharing == "measured", "otherwise this tests nothing"
    assert find_runs.message_source("runs/c", lambda event: None).messages == whole


def _counted(function, calls: list):
    def counted(*arguments, **named):
        calls.append(arguments)
        return function(*arguments, **named)

    return counted


@pytest.mark.slow
def test_the_newest_survey_is_taken_and_told(hockney, surveyed, small_survey, tmp_path):
    said = hockney(*ASKED)
    assert said.code == 0 and said.err == newest("runs/first")
    assert "runs/first" in said.out and "runs/first" in asked(hockney, *ASKED)["machine"]["source"]
    assert hockney(*ASKED, "-q").err == ""
    small_survey("runs/second")
    assert hockney("run", "pingpong bytes=0:1KiB", "-q", "--out", "runs/other").code == 0
    assert hockney(*ASKED).err == newest("runs/second"), "other is no survey"
    for age, name in enumerate(("first", "second")):
        os.utime(tmp_path / "runs" / name / "records.jsonl", (10**9 - age, 10**9 - age))
    assert hockney(*ASKED).err == newest("runs/first")
    machine = tmp_path / "runs" / "first" / "machine.json"
    machine.write_text(machine.read_text().replace('"origin": "fake"', '"origin": "simulated"'))
    reseal(machine.parent)
    assert hockney(*ASKED).err == newest("runs/second"), "first is of no machine here"
    machine.write_text("{")
    assert hockney(*ASKED).err == newest("runs/second"), "damaged ones are passed by"


def noted_codes(**options) -> list[str]:
    heard: list[object] = []
    api.predict(Algorithm(1e-4, 40_000), listen=heard.append, **options)
    return [event.code for event in heard if isinstance(event, Notice)]


@pytest.mark.slow
def test_a_survey_that_is_used_instead_of_a_much_longer_one_is_noted(hockney, small_survey, tmp_path):
    small_survey("runs/long")
    plan = tmp_path / "runs" / "long" / "plan.txt"
    small_survey("runs/short")
    budget_s = RunFolder.open(Path("runs/short")).plan().settings.budget_s

    def last(factor: float) -> list[str]:
        plan.write_text(
            re.sub(r"budget_s = .*", f"budget_s = {factor * budget_s}", plan.read_text(), count=1)
        )
        reseal(plan.parent)
        os.utime(plan.with_name("records.jsonl"), (10**9, 10**9))  # still the older one
        return noted_codes()

    assert last(find_runs.LONGER_BUDGET_FACTOR) == ["longer-survey"]
    assert last(find_runs.LONGER_BUDGET_FACTOR - 1) == [], "hardly longer"


def test_a_newer_survey_of_another_machine_is_passed_by(hockney, surveyed, small_survey, tmp_path):
    small_survey("runs/other")
    machine = tmp_path / "runs" / "other" / "machine.json"
    fake = json.loads(machine.read_text())

    def made_on(host: str, cpu: str) -> None:
        machine.write_text(json.dumps({**fake, "kind": "real", "traits": {}, "host": host, "cpu": cpu}))
        reseal(machine.parent)

    here = socket.gethostname(), processors().model
    made_on(*here)
    assert hockney(*ASKED).err == newest("runs/other")
    for host, cpu in ((f"not-{here[0]}", here[1]), (here[0], "Z80")):
        made_on(host, cpu)
        with name_options_as_flags():
            note = skipped_survey_notice(other_machine_text("runs/other", host)).text
        assert hockney(*ASKED).err == newest("runs/first") + f"note: {note}\n"
    (tmp_path / "runs" / "first" / "records.jsonl").unlink()
    alone = hockney(*ASKED)
    assert (alone.code, alone.error.code) == (4, "no-survey") and "runs/other" in alone.error.why
    assert hockney(*ASKED, "--run", "runs/other").code == 0


def test_any_run_with_a_ping_pong_will_do(hockney, mine):
    assert "runs/mine" in asked(hockney, *ASKED, "--run", mine)["machine"]["source"]
    assert hockney("run", "barrier", "--out", "runs/none", "-q").code == 0
    done = hockney(*ASKED, "--run", "runs/none")
    assert (done.code, done.error.code, done.error.fields["refused"]) == (4, "no-message-model", "")
    assert hockney("run", "pingpong bytes=8", "--out", "runs/single", "-q").code == 0
    done = hockney(*ASKED, "--run", "runs/single")
    assert (done.code, done.error.code) == (4, "no-message-model") and done.error.fields["refused"]


MACHINES = {"sun-ethernet": 0.04, "switched-ethernet": 0.07, "paragon": 0.01, "t3e": 0.01}
"""The largest accepted error: see docs/models.md."""


@pytest.mark.simgrid
def test_a_plan_for_a_simulated_machine_compiles_nothing(hockney, monkeypatch, tmp_path):
    simgrid_here()
    monkeypatch.delenv("HOCKNEY_MACHINE")
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))
    planned = json.loads(hockney("plan", "survey", "--machine", "sim:t3e", "--json").out)
    assert planned["cases"] and not (tmp_path / "cache" / "engine").exists()
    of_group = hockney("plan", "ibarrier ranks=4", "--machine", "sim:t3e")
    assert of_group.code == 0 and not (tmp_path / "cache" / "engine").exists()


@pytest.mark.simgrid
@pytest.mark.parametrize("name", ["t3e", *slow("sun-ethernet", "switched-ethernet", "paragon")])
def test_the_exchange_takes_what_the_simulator_does(hockney, monkeypatch, name):
    simgrid_here()
    monkeypatch.delenv("HOCKNEY_MACHINE")
    words = ("round_robin bytes=0,4000,40000 sync=window", "--ranks", "2,3,4,8", "--machine", f"sim:{name}")
    run = json.loads(hockney("run", *words, "-q", "--json").out)
    assert len(run["summaries"]) == 12
    for summary in run["summaries"]:
        case = parse_canonical(summary["case"])
        asked = ("--message", str(case.bytes), "--ranks", str(case.ranks), "--machine", name)
        found = json.loads(hockney("predict", "--work", "1s", *asked, "--json").out)
        (row,) = found["ranks"]
        exchange = row["time_s"]["value"] - 1 / case.ranks
        assert exchange == pytest.approx(summary["typical"]["value"], rel=MACHINES[name]), summary["case"]


@pytest.mark.simgrid
def test_a_simulated_run_predicts_as_its_description(hockney, monkeypatch):
    simgrid_here()
    monkeypatch.delenv("HOCKNEY_MACHINE")
    words = ("run", "pingpong bytes=0:64KiB", "--machine", "sim:switched-ethernet", "--out", "runs/sim", "-q")
    assert hockney(*words).code == 0
    asked = ("predict", "--work", "1s", "--message", "4kB", "--ranks", "2,4,8", "--json")
    measured = json.loads(hockney(*asked, "--run", "runs/sim").out)
    described = json.loads(hockney(*asked, "--machine", "switched-ethernet").out)
    for one, other in zip(measured["ranks"], described["ranks"], strict=True):
        assert one["time_s"]["value"] == pytest.approx(other["time_s"]["value"], rel=1e-6)
    assert measured["machine"]["network"] == "medium"
    assert [doubt["code"] for doubt in measured["doubts"]] == ["simulated"]
    assert hockney(*asked[:-1], "--run", "runs/sim", "--ranks", "17").code == 2
    assert hockney(*asked[:-1]).code == 4, "a simulated run is not this machine's newest survey"


def test_documents_keep_their_keys(hockney):
    """Scripts read them, whatever the names in the code are."""
    algorithm = ("--work", "1s", "--message", "40kB", "--machine", "sun-ethernet")
    (piece, *_) = asked(hockney, "predict", *algorithm)["machine"]["pieces"]
    assert set(piece) == {"first", "latency_s", "per_byte_s"}
    program = ("--work", "1s", "--halo", "64KiB", "--machine", "t3e", "--ranks", "4,16")
    (change, *_) = asked(hockney, "predict", *program)["levers"]["changes"]
    assert set(change) == {"name", "how", "efficiency", "gain", "bound"}
