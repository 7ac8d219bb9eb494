# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney predict PROFILE and hockney replay, for the trace of a program that exists in memory only: eight
ranks of 2 s, which exchange messages with their neighbors and add up 20 times."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from fake_profile import ROUNDS, traces
from golden_files import blanks, numbers
from test_cli_profile import as_root, compiled

from hockney.api import replays
from hockney.replay.predictions import read_prediction

OPTIONS = ("--run", "runs/first")
pytestmark = [pytest.mark.usefixtures("surveyed"), pytest.mark.needs("compiler")]


@pytest.fixture(autouse=True)
def archive(monkeypatch) -> None:
    monkeypatch.setenv("HOCKNEY_ARCHIVE", "archive")


def predicted(hockney, *words: str):
    return json.loads(hockney("predict", "runs/app", *OPTIONS, "--json", *words).out)


@pytest.mark.usefixtures("traced")
def test_the_table_of_changes(hockney, golden):
    done = hockney("predict", "runs/app", *OPTIONS)
    assert done.code == 0
    golden("predict-trace.txt", done.out, numbers, blanks)
    document = predicted(hockney)
    assert abs(document["replay_error"]) < 0.01 and not document["withheld"]
    gains = [each["gain"]["value"] for each in document["changes"]]
    assert gains == sorted(gains, reverse=True)
    kinds = {kind for each in document["changes"] for kind in each["kinds"]}
    assert {"latency", "bandwidth", "ideal network"} <= kinds
    parts = {each["metric"]: each["value"] for each in document["efficiencies"]}
    assert parts["load_balance"] == pytest.approx((1 + 7 * 0.8) / 8, rel=0.02)
    assert document["delays"][0]["by_rank"] in (2, 3, 4)


@pytest.mark.usefixtures("traced")
def test_asked_changes_are_made_together(hockney):
    (one,) = predicted(hockney, "--compute-scale", "0.5")["changes"]
    assert one["gain"]["value"] == pytest.approx(0.5, rel=0.02) and one["decided"] and not one["applicable"]
    words = ("--compute-scale", "0.5", "--latency", "10ms", "--barrier", "dissemination")
    words += ("--algorithm", "bcast=binomial", "--allreduce", "ring", "--bandwidth", "2")
    (both,) = predicted(hockney, *words)["changes"]
    assert both["run_s"]["value"] > one["run_s"]["value"] + 19 * 0.01
    assert len(both["kinds"]) == 6 and both["choices"] == []
    for machine in ("sim:t3e", "runs/first"):
        (other,) = predicted(hockney, "--machine", machine)["changes"]
        assert other["kinds"] == ["machine"] and other["run_s"]["value"] == pytest.approx(2.0, rel=0.01)
    text = hockney("predict", "runs/app", *OPTIONS, "--eager-limit", "64KiB").out
    assert "With eager limit 64 KiB: 2.00 s" in text.replace("\n", " ")


@pytest.mark.usefixtures("traced")
def test_a_range_of_latencies_has_all_breakpoints(hockney):
    curve = predicted(hockney, "--latency", "0:50ms")["curve"]
    points = [(point["latency_s"], point["run_s"]) for point in curve["points"]]
    assert points[0][0] == 0 and points[-1][0] == 0.05 and len(points) >= 3
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(points)]
    assert slopes[0] < 0.2 * slopes[-1], "more messages are on the path"
    assert max(slopes) < 200, "jumps are no slopes"
    done = hockney("predict", "runs/app", *OPTIONS, "--latency", "0:50ms")
    assert done.out.count("Run time with more latency") == 1
    frozen = hockney("predict", "runs/app", *OPTIONS, "--latency", "1:9ms", "--freeze", "x")
    assert frozen.error.code == "freeze-of-range"


@pytest.mark.page
@pytest.mark.usefixtures("traced")
def test_a_prediction_is_frozen_checked_and_scored(hockney):
    """The launches of the fake launcher take 2 s."""
    done = hockney("predict", "runs/app", *OPTIONS, "--freeze", "p.json", "--report", "p.html")
    assert done.code == 0 and "prediction: p.json" in done.out and Path("p.html").stat().st_size > 10_000
    prediction, _ = read_prediction(Path("p.json"))
    assert prediction.changes == [] and [run.ranks for run in prediction.runs] == [8]
    assert prediction.runs[0].run_s == prediction.unchanged_s
    assert prediction.on(8).run_s.value == pytest.approx(2.0, rel=0.01)
    checked = hockney("profile", "--check", "p.json", "--out", "c", "-q", "--", "mpiexec", "-n", "8", "./app")
    assert checked.code == 0, checked.err
    hockney("predict", "runs/app", *OPTIONS, "--compute-scale", "0.5", "--freeze", "half.json")
    words = ("--repeat", "1", "--", "mpiexec", "-n", "8", "./app")
    assert hockney("profile", "--check", "half.json", "--out", "d", *words).code == 1
    assert read_prediction(Path("half.json"))[0].traces == prediction.traces
    scores = json.loads(hockney("predict", "--scores", "--json").out)["scores"]
    assert [(row["kind"], row["checks"], row["coverage"]) for row in scores] == [
        ("all", 2, 0.5), ("computation", 1, 0.0), ("no change", 1, 1.0),
    ]  # fmt: skip
    text = hockney("predict", "--scores").out
    assert text.startswith("2 checked predictions in archive: median error ") and "computation" in text
    assert hockney("predict", "--scores", "--archive", "none").out.startswith("No prediction was checked yet")


@pytest.mark.usefixtures("traced")
def test_gains_are_withheld_if_the_model_does_not_explain_the_program(hockney, monkeypatch):
    monkeypatch.setattr(replays, "read_traces", lambda launch: traces(ROUNDS // 2 + 1))
    real = replays.build

    def late(*given):
        built = real(*given)
        return replace(built, end_s=built.end_s * 1.2)

    monkeypatch.setattr(replays, "build", late)
    done = hockney("predict", "runs/app", *OPTIONS)
    assert done.code == 4 and "Gains are withheld" in done.out and "Changes" not in done.out
    assert predicted(hockney, "--balance")["changes"] == []
    frozen = hockney("predict", "runs/app", *OPTIONS, "--freeze", "p.json")
    assert (frozen.code, frozen.error.code) == (4, "prediction-withheld") and not Path("p.json").exists()


@pytest.mark.usefixtures("traced")
def test_errors(hockney, monkeypatch):
    for words, code in {
        ("runs/app", "n=3"): "size-of-profile",
        ("runs/app", "--work", "1s"): "option-without-effect",
        ("runs/app", "--ranks", "4"): "few-rank-counts",
        ("runs/app", "--serial", "1%"): "option-without-effect",
        ("runs/app", "--allreduce", "8B*2"): "unknown-algorithm",
        ("runs/app", "--algorithm", "bcast"): "bad-algorithm-choice",
        ("runs/app", "--algorithm", "allsum=ring"): "unknown-collective",
        ("runs/app", "--latency", "9us:1us"): "bad-latency-range",
        ("runs/app", "--bandwidth", "0"): "factor-of-nothing",
        ("--balance", "--work", "1s"): "option-without-effect",
        ("--scores", "p"): "scores-of-something",
        ("runs/app", "--archive", "x"): "archive-without-scores",
    }.items():
        done = hockney("predict", *words)
        assert (done.code, done.error.code) == (2, code), (words, done.err)
    assert hockney("replay", "runs/app", "--on", "moon").error.code == "unknown-executor"
    monkeypatch.setattr(replays, "read_traces", lambda launch: [])
    assert hockney("predict", "runs/app").error.code == "profile-without-trace"
    assert hockney("replay", "runs/app").error.code == "profile-without-trace"


@pytest.mark.usefixtures("traced")
def test_the_model_replays_the_trace(hockney):
    done = hockney("replay", "runs/app", *OPTIONS)
    assert done.code in (0, 4) and "in the recorded order of messages" in done.out.replace("\n", " ")
    document = json.loads(hockney("replay", "runs/app", *OPTIONS, "--json").out)
    recorded, model = document["executors"]
    assert model["run_s"]["value"] == pytest.approx(recorded["run_s"]["value"], rel=0.01)
    assert model["mpi_s"] == pytest.approx(recorded["mpi_s"], rel=0.05)
    unexplained = {row["place"]: row["seconds"] for row in predicted(hockney)["unexplained"]}
    for site in document["call_sites"]:
        here = site["seconds"]
        difference = here["recorded"] - here["model"]
        assert difference == pytest.approx(unexplained.get(site["place"], 0.0) / 8, abs=1e-9)


def test_in_python(traced):
    import hockney

    prediction = hockney.load_profile("runs/app").predict(compute_scale=0.5, run="runs/first")
    (what_if,) = prediction.what_ifs
    assert what_if.gain.value == pytest.approx(0.5, rel=0.02)
    assert prediction.frame("changes", "pandas").loc[0, "change"] == "computation x 0.5"
    assert len(prediction.table("ranks").columns["rank"]) == 8
    table = hockney.predict_trace("runs/app", run="runs/first", latency=(0.0, 1e-3)).table("latency")
    assert table.columns["latency_s"][-1] == 1e-3
    with pytest.raises(hockney.UsageError):
        prediction.table("others")
    assert repr(prediction).startswith("app on 8 ranks: replayed in 2.00 s")


@pytest.mark.mpi
@pytest.mark.slow
def test_a_real_program_is_traced_predicted_and_replayed_on_2_ranks(hockney, mpi, tmp_path, monkeypatch):
    """The replayer makes the calls of the trace at their call sites."""
    for name, value in as_root().items():
        monkeypatch.setenv(name, value)
    words = ("--", mpi.mpiexec, "-n", "2", str(compiled(mpi, tmp_path)))
    done = hockney("profile", "--trace", "--survey", "none", "-q", "--out", "runs/app", *words)
    assert done.code == 0, done.err
    document = json.loads(hockney("predict", "runs/app", *OPTIONS, "--json").out)
    assert document["ranks"] == 2 and document["replayed_s"] > 0
    assert any("counted.c" in each["place"] for each in document["critical_path"])
    assert not {"unmatched-operations", "trace-cut"} & {each["code"] for each in document["warnings"]}
    done = hockney(
        "replay", "runs/app", *OPTIONS, "--on", "here", "--on", "model", "--mpi", mpi.mpiexec, "--json"
    )
    replay = json.loads(done.out)
    assert [each["executor"] for each in replay["executors"]] == ["recorded", "model", "here"]
    sites = {each["place"].split(" ")[0]: each["seconds"] for each in replay["call_sites"]}
    for name in ("Send", "Recv", "Allreduce"):
        assert sites[name]["recorded"] > 0 and sites[name]["here"] > 0 and sites[name]["model"] != 0
