# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney predict with several profiles: how a program scales that exists in memory only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from extrapolation import made_programs
from fake_profile import RANK_COUNTS
from replay.made_traces import Written, part

PROFILES = tuple(f"runs/app-{ranks}" for ranks in RANK_COUNTS)
pytestmark = [pytest.mark.usefixtures("surveyed"), pytest.mark.needs("compiler")]


def predicted(hockney, *words: str, code: int = 0):
    done = hockney("predict", *PROFILES, "--machine", "t3e", "--json", *words)
    assert done.code == code, done.err
    return json.loads(done.out)


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
        assert point["speed_up"]["value"] == pytest.approx(work_s / run_s["value"], rel=0.03)
        assert point["efficiency"]["value"] == pytest.approx(point["speed_up"]["value"] / ranks)
    assert document["points"][0]["efficiency"]["value"] > document["points"][2]["efficiency"]["value"]
    assert document["fastest"] == 64
    assert Path("page.html").is_file()
    slower = predicted(hockney, "--ranks", "64", "--compute-scale", "10")["points"][0]
    assert slower["efficiency"]["value"] > document["points"][2]["efficiency"]["value"]
    grains = {each["efficiency"]: each["factor"] for each in document["grains"]}
    assert grains[0.5] < grains[0.9]
    shown = hockney("predict", *PROFILES, "--machine", "t3e", "--ranks", "16")
    assert shown.code == 0 and "Scaling" in shown.out


def test_a_program_without_a_pattern_is_refused(hockney, profiles_by_ranks):
    profiles_by_ranks(made_programs.irregular)
    document = predicted(hockney, "--ranks", "16", code=4)
    assert document["refused"] and document["points"] == []
    assert sum(site["share"] for site in document["unknown_sites"]) > 0.05
    shown = hockney("predict", *PROFILES, "--machine", "t3e", "--ranks", "16")
    assert shown.code == 4 and "Recv" in shown.out


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


def test_mistakes(hockney, profiles_by_ranks):
    for words, code in {
        (*PROFILES[:2], "--ranks", "16"): "few-rank-counts",
        (*PROFILES, PROFILES[0], "--ranks", "16"): "repeated-rank-count",
        PROFILES: "scaling-without-ranks",
        (*PROFILES, "n=3", "--ranks", "16"): "no-profile-to-scale",
        (*PROFILES, "--ranks", "16", "--latency", "1us"): "option-without-effect",
        (*PROFILES, "--ranks", "16", "--machine", "sim:nowhere"): "unknown-simulated-machine",
    }.items():
        done = hockney("predict", *words)
        assert done.error is not None and done.error.code == code, words
