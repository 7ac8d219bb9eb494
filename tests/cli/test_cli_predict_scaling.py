# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney predict with several profiles: how a program scales that exists in memory only."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import msgspec
import pytest
from extrapolation import made_programs
from fake_profile import RANK_COUNTS
from msgspec.structs import replace
from replay.made_traces import Written, part

import hockney as hockney_api
from hockney.api import scaling_predictions
from hockney.core.errors import UsageError
from hockney.replay.predictions import freeze, read_prediction

PROFILES = tuple(f"runs/app-{ranks}" for ranks in RANK_COUNTS)
pytestmark = [pytest.mark.usefixtures("surveyed"), pytest.mark.needs("compiler")]


def predicted(hockney, *words: str, code: int = 0):
    done = hockney("predict", *PROFILES, "--machine", "t3e", "--json", *words)
    assert done.code == code, done.err
    return json.loads(done.out)


def document_of(*ranks: int, compute_scale: float = 1.0):
    """In Python, without the changes."""
    prediction = hockney_api.predict_scaling(
        PROFILES, ranks, machine="t3e", compute_scale=compute_scale, details=False
    )
    return msgspec.json.decode(msgspec.json.encode(prediction.document))


def test_a_program_on_more_ranks(hockney, profiles_by_ranks):
    document = predicted(hockney, "--ranks", "4,16,64", "--report", "page.html")
    assert document["traced_ranks"] == [2, 4, 8] and not document["refused"]
    assert [point["ranks"] for point in document["points"]] == [4, 16, 64]
    work_s = made_programs.STEPS * made_programs.WORK_S * 1.125
    for point in document["points"]:
        ranks = point["ranks"]
        assert point["messages"] == 2 * ranks * made_programs.STEPS
        run_s = point["run_s"]
        assert run_s["low"] <= run_s["value"] <= run_s["high"]
        assert run_s["value"] >= 0.97 * work_s / ranks
        errors = point["errors"]
        assert math.hypot(*errors.values()) == pytest.approx(math.log(run_s["high"] / run_s["value"]))
        assert errors["computation"] > errors["evaluation"] == 0.02 and errors["algorithms"] == 0
        assert point["speed_up"]["value"] == pytest.approx(work_s / run_s["value"], rel=0.03)
        assert point["efficiency"]["value"] == pytest.approx(point["speed_up"]["value"] / ranks)
    assert document["points"][0]["efficiency"]["value"] > document["points"][2]["efficiency"]["value"]
    assert document["fastest"] == 64
    assert Path("page.html").is_file()
    slower = predicted(hockney, "--ranks", "64", "--compute-scale", "10")["points"][0]
    assert slower["efficiency"]["value"] > document["points"][2]["efficiency"]["value"]
    grains = {(each["ranks"], each["efficiency"]): each["factor"] for each in document["grains"]}
    assert grains[64, 0.5] < grains[64, 0.9] and grains[16, 0.9] < grains[64, 0.9]
    shown = hockney("predict", *PROFILES, "--machine", "t3e", "--ranks", "16")
    assert shown.code == 0 and "Scaling" in shown.out


def test_a_program_without_a_pattern_is_refused(hockney, profiles_by_ranks):
    profiles_by_ranks(made_programs.irregular)
    document = predicted(hockney, "--ranks", "16", code=4)
    assert document["refused"] and document["points"] == []
    assert sum(site["share"] for site in document["unknown_sites"]) > 0.05
    shown = hockney("predict", *PROFILES, "--machine", "t3e", "--ranks", "16")
    assert shown.code == 4 and "Recv" in shown.out


def test_iterations_that_differ_slightly_widen_the_interval(hockney, profiles_by_ranks):
    def program(rank: Written, ranks: int) -> None:
        for _ in range(100 if ranks < 8 else 103):
            rank.call("Allreduce", part("collective", size=8), after=1e-3 / ranks)

    profiles_by_ranks(program)
    document = predicted(hockney, "--ranks", "16")
    assert "rough-iterations" in {warning["code"] for warning in document["warnings"]}
    assert document["points"][0]["errors"]["iterations"] == pytest.approx(math.log1p(3 / 103))


def test_numbers_of_ranks_with_unknown_ranks_are_left_out(hockney, profiles_by_ranks):
    profiles_by_ranks(made_programs.PROGRAMS["sweep"])
    document = predicted(hockney, "--ranks", "8,64")
    assert [point["ranks"] for point in document["points"]] == [8]
    assert "ranks-left-out" in {warning["code"] for warning in document["warnings"]}
    done = hockney("predict", *PROFILES, "--machine", "t3e", "--ranks", "64")
    assert (done.code, done.error.code) == (4, "unknown-role")


def test_many_calls_without_a_pattern_are_refused_even_if_they_take_no_time(hockney, profiles_by_ranks):
    def run(rank: Written, ranks: int) -> None:
        rank.call("Barrier", part("collective"), site=9, after=1000.0)
        made_programs.irregular(rank, ranks)

    profiles_by_ranks(run)
    document = predicted(hockney, "--ranks", "16", code=4)
    sites = document["unknown_sites"]
    assert sum(site["share"] for site in sites) < 0.05 < sum(site["calls"] for site in sites)


def test_the_grain_for_an_efficiency(hockney, profiles_by_ranks):
    """With that much more computation, the program has the efficiency."""
    for grain in predicted(hockney, "--ranks", "64")["grains"]:
        point = document_of(64, compute_scale=grain["factor"])["points"][0]
        assert point["efficiency"]["value"] == pytest.approx(grain["efficiency"], abs=0.02)


def test_up_to_which_number_of_ranks_it_pays(hockney, profiles_by_ranks):
    document = document_of(2, 4, 8, 16, 32, 64, 128, compute_scale=0.1)
    points = document["points"]
    seconds = {point["ranks"]: point["run_s"]["value"] for point in points}
    pays = document["pays_up_to"]
    assert 2 < pays < 128 and seconds[pays // 2] / seconds[pays] >= 1.5 > seconds[pays] / seconds[2 * pays]
    efficiencies = [(point["ranks"], point["efficiency"]["value"]) for point in points]
    for limit in document["efficiency_limits"]:
        assert limit["position"] == "within"
        above = [ranks for ranks, each in efficiencies if each >= limit["efficiency"]]
        assert above[-1] <= limit["ranks"]["value"] <= 2 * above[-1]
        assert limit["ranks"]["low"] <= limit["ranks"]["value"] <= limit["ranks"]["high"]
    few = document_of(128, compute_scale=0.1)
    assert {limit["position"] for limit in few["efficiency_limits"]} == {"before"}
    assert few["pays_up_to"] is None


def test_other_algorithms_and_overlap_on_the_largest_number(hockney, profiles_by_ranks):
    def run(rank: Written, ranks: int) -> None:
        for _ in range(made_programs.STEPS):
            rank.call("Allreduce", part("collective", size=1 << 20), site=1, after=0.064 / ranks)
            request = rank.start_request(
                "Irecv", part("start receive", (rank.rank - 1) % ranks, 1 << 16), site=2
            )
            rank.call("Send", part("send", (rank.rank + 1) % ranks, 1 << 16), site=3)
            rank.call("Wait", rank.end(request, (rank.rank - 1) % ranks, 1 << 16), site=4)

    profiles_by_ranks(run)
    document = predicted(hockney, "--ranks", "16,64")
    (row,) = document["collectives"]
    assert row["operation"] == "allreduce" and row["calls"] == made_programs.STEPS
    assert row["gain"]["value"] > 0.05 and row["fastest"][0]["algorithm"] != row["current"][0]["algorithm"]
    overlap = document["overlap"]
    assert 0 < overlap["by_availability"]["value"] <= overlap["at_most"]["value"] < 1


def test_several_machines(hockney, profiles_by_ranks):
    document = predicted(hockney, "--ranks", "8,16", "--machine", "switched-ethernet", "--report", "p.html")
    t3e, ethernet = document["machines"]
    assert [t3e["machine"], ethernet["machine"]] == ["t3e", "switched-ethernet"]
    for mine, other in zip(t3e["points"], ethernet["points"], strict=True):
        assert mine["run_s"]["value"] < other["run_s"]["value"]
    assert document_of(8, 16)["points"] == t3e["points"]
    shown = hockney("predict", *PROFILES, "--machine", "t3e", "--machine", "sun-ethernet", "--ranks", "8,16")
    assert shown.code == 0 and "fastest on t3e" in shown.out
    frame = hockney_api.predict_scaling(PROFILES, [8, 16], machine=["t3e", "switched-ethernet"]).frame()
    assert list(frame["machine"]) == ["t3e"] * 2 + ["switched-ethernet"] * 2


def test_a_frozen_prediction_is_checked_on_one_of_its_numbers_of_ranks(
    hockney, profiles_by_ranks, monkeypatch, tmp_path
):
    monkeypatch.setenv("HOCKNEY_ARCHIVE", str(tmp_path / "archive"))
    run_s = predicted(hockney, "--ranks", "8,64", "--freeze", "p.json")["points"][0]["run_s"]
    content = json.loads(Path("p.json").read_text())["content"]
    assert [trace["ranks"] for trace in content["traces"]] == [2, 4, 8]
    assert [run["ranks"] for run in content["runs"]] == [8, 64]
    words = ("profile", "--check", "p.json", "--json")
    command = ("--", "mpiexec", "-n", "8", "./app")
    done = hockney(*words, "--repeat", "3", "--out", "c", *command)
    document = json.loads(done.out)
    assert document["ranks"] == 8 and document["rows"][0]["predicted"] == run_s and not document["applied"]
    assert done.code == {"covered": 0, "missed": 1, "undecided": 4}[document["verdict"]]
    score = json.loads(Path("archive/predictions.jsonl").read_text())
    assert score["kinds"] == ["number of ranks", "machine"] and score["ranks"] == 8
    later = hockney(*words, "c/unchanged")
    assert later.code == done.code and json.loads(later.out)["rows"] == document["rows"]
    refused = hockney(*words, "--out", "d", "--", "mpiexec", "-n", "4", "./app")
    assert (refused.code, refused.error.code) == (2, "check-on-other-ranks") and not Path("d").exists()
    freeze(replace(read_prediction(Path("p.json"))[0], created="2999-01-01T00:00:00+00:00"), Path("q.json"))
    refused = hockney("profile", "--check", "q.json", "c/unchanged")
    assert refused.error.code == "profile-before-prediction"
    assert len(Path("archive/predictions.jsonl").read_text().splitlines()) == 2


def test_runs_that_show_the_other_scaling_cause_a_warning(hockney, profiles_by_ranks):
    codes = {warning["code"] for warning in predicted(hockney, "--ranks", "16")["warnings"]}
    assert "other-scaling" not in codes
    document = predicted(hockney, "--ranks", "16", "--scaling", "weak")
    assert "other-scaling" in {warning["code"] for warning in document["warnings"]}
    assert document["pays_up_to"] is None


NODES = """
name = "cluster"
title = "Nodes of 16 cores"
{memory}
[network]
nodes = [{{count = 4, cores = 16}}]
[[segments]]
latency_s = "1us"
"""


def test_ranks_that_share_the_memory_of_a_node(hockney, profiles_by_ranks):
    """Computation follows 1/P on 2, 4 and 8 busy cores, so that memory does not limit it. If only two cores
    were busy, 16 ranks on a node take between as long and three times as long to compute."""

    def document(memory: str):
        Path("cluster.toml").write_text(NODES.format(memory=memory))
        done = hockney("predict", *PROFILES, "--machine", "cluster.toml", "--ranks", "2,64", "--json")
        assert done.code == 0, done.err
        found = json.loads(done.out)
        codes = {each["code"] for each in found["warnings"]}
        assert ("memory-shared-by-more-ranks" in codes) is not bool(memory)
        return found

    rates = 'memory = [[1, "12GB/s"], [2, "9GB/s"], [16, "3GB/s"]]'
    before, after = document(""), document(rates)
    assert before["memory"] is None and before["points"][1]["slowdown"] is None
    share = after["memory"]["share"]
    assert share["evidence"] == "law" and share["low"] == 0 and share["high"] < 0.2
    ratio = after["points"][1]["run_s"]["value"] / before["points"][1]["run_s"]["value"]
    assert 1 <= ratio < 1.2
    for ranks in RANK_COUNTS:
        path = Path(f"runs/app-{ranks}/profile.json")
        path.write_text(path.read_text().replace('"cores": 8', '"cores": 2'))
    before, after = document(""), document(rates)
    assert after["memory"]["share"] == {"low": 0.0, "high": 1.0, "evidence": "none"}
    (few_before, full_before), (few, full) = before["points"], after["points"]
    assert (few["slowdown"], few["ranks_on_a_node"]) == ([1.0, 1.0], 2) and few["errors"]["memory"] == 0
    assert few["run_s"] == few_before["run_s"]
    assert full["slowdown"] == pytest.approx([1.0, 3.0]) and full["ranks_on_a_node"] == 16
    ratio = full["run_s"]["value"] / full_before["run_s"]["value"]
    assert 1.3 < ratio < 3**0.5 + 0.01 and full["errors"]["memory"] > 0.3
    shown = hockney("predict", *PROFILES, "--machine", "cluster.toml", "--ranks", "64")
    assert "Memory limits 0% to 100% of the computation" in shown.out
    assert "computation takes 1.00 to 3.00 times as long" in shown.out


def test_ranks_per_node_of_a_surveyed_machine(hockney, profiles_by_ranks):
    for words, most in (((), 64), (("--ranks-per-node", "16"), 16)):
        done = hockney("predict", *PROFILES, "--ranks", "64", "--run", "runs/first", "--json", *words)
        assert done.code == 0, done.err
        assert json.loads(done.out)["points"][0]["ranks_on_a_node"] == most
    done = hockney("predict", *PROFILES, "--ranks", "64", "--machine", "t3e", "--ranks-per-node", "16")
    assert (done.code, done.error.code) == (2, "ranks-per-described-node")


def test_rates_of_memory_from_a_run(hockney, profiles_by_ranks):
    words = ("--launches", "3", "--budget", "10s", "--machine", "fake", "-q")
    done = hockney("run", "node_memory", "ranks=1,2,4", *words, "--out", "runs/memory")
    assert done.code == 0, done.err
    prediction = hockney_api.predict_scaling(
        PROFILES, [64], machine="t3e", memory="runs/memory", details=False
    )
    assert prediction.answer.memory.traced.source == "runs/memory"
    assert sorted(prediction.answer.memory.traced.rates) == [1, 2, 4]
    done = hockney("predict", *PROFILES, "--machine", "t3e", "--ranks", "64", "--memory", "runs/first")
    assert (done.code, done.error.code) == (2, "run-without-memory-rates")


def test_profiles_on_as_many_ranks_and_other_cores(hockney, profiles_by_ranks):
    shutil.copytree("runs/app-4", "runs/crowded")
    manifest = Path("runs/crowded/profile.json")
    manifest.write_text(manifest.read_text().replace('"cores": 8', '"cores": 2'))
    prediction = hockney_api.predict_scaling([*PROFILES, "runs/crowded"], [16], machine="t3e", details=False)
    assert prediction.answer.traced == (2, 4, 8)
    assert [each.as_frozen.ranks for each in prediction.profiles] == [2, 4, 8, 4]
    assert (
        prediction.points[0].run_s
        == hockney_api.predict_scaling(PROFILES, [16], machine="t3e", details=False).points[0].run_s
    )


def test_mistakes(hockney, profiles_by_ranks):
    for words, code in {
        (*PROFILES[:2], "--ranks", "16"): "few-rank-counts",
        (*PROFILES, PROFILES[0], "--ranks", "16"): "repeated-rank-count",
        PROFILES: "scaling-without-ranks",
        (*PROFILES, "n=3", "--ranks", "16"): "no-profile-to-scale",
        (*PROFILES, "--ranks", "16", "--latency", "1us"): "option-without-effect",
        (*PROFILES, "--ranks", "16", "--machine", "sim:nowhere"): "unknown-simulated-machine",
        (*PROFILES, "--ranks", "16:1024", "--machine", "sim:t3e"): "too-many-ranks",
        (*PROFILES, "--ranks", "1,16", "--machine", "sim:t3e"): "scaling-to-no-ranks",
        (PROFILES[2], "--machine", "t3e", "--machine", "sun-ethernet"): "several-machines",
        (*PROFILES, "--ranks", "16", "--machine", "t3e", "--machine", "sun-ethernet", "--freeze", "p.json"): (
            "freeze-of-machines"
        ),
    }.items():
        done = hockney("predict", *words)
        assert done.error is not None and done.error.code == code, words
    larger = hockney(
        "predict", *PROFILES, "--ranks", "20", "--machine", "switched-ethernet", "--larger-machine"
    )
    assert larger.code == 0, larger.err


def test_profiles_that_show_no_scaling(hockney, profiles_by_ranks, monkeypatch):
    """With the same errors in Python."""
    words = ("predict", *PROFILES, "--machine", "t3e", "--ranks", "16")
    manifest = Path("runs/app-2/profile.json")
    text = manifest.read_text()
    manifest.write_text(text.replace('"program": "app"', '"program": "other"'))
    assert manifest.read_text() != text
    assert hockney(*words).error.code == "different-programs"
    manifest.write_text(text)
    monkeypatch.setattr(scaling_predictions, "read_traces", lambda launch: [])
    before = "app"
    # Some programs are compiled for a number of ranks, which is part of their name.
    for name in ("app2d", "app.S.{}", "app2d.{}"):
        for ranks in RANK_COUNTS:
            each = Path(f"runs/app-{ranks}/profile.json")
            old, new = (f'"program": "{program.format(ranks)}"' for program in (before, name))
            each.write_text(each.read_text().replace(old, new))
        assert hockney(*words).error.code == "incomplete-trace", name
        before = name
    with pytest.raises(UsageError) as caught:
        hockney_api.predict_scaling(PROFILES, [16], machine="t3e")
    assert caught.value.code == "incomplete-trace"


def test_numbers_of_ranks_that_the_program_does_not_allow(hockney, profiles_by_ranks):
    profiles_by_ranks(made_programs.butterfly)
    document = document_of(16, 48, 64)
    assert [point["ranks"] for point in document["points"]] == [16, 64]
    assert "ranks-left-out" in {warning["code"] for warning in document["warnings"]}
    assert predicted(hockney, "--ranks", "48", code=4)["refused"]
