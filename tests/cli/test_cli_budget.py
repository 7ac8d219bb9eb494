# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Budgets that are too small: the minimum is announced and used, or the budget is refused."""

import json
from pathlib import Path

import pytest

from hockney.measurement.kinds.fake import fake_bench
from hockney.models.least_time import least_of

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
    assert least_of([short]) < 0.005 < 0.05 < least_of([long]) < 0.08
    assert least_of([serial]) - least_of([short]) == pytest.approx(
        2 * (least_of([long]) - least_of([short])), rel=1e-3
    )
    assert 0.01 < least_of([alone]) < 0.06
    assert least_of([short, alone]) == pytest.approx(least_of([short]) + least_of([alone]))


def test_a_round_needs_one_launch_and_no_more_than_the_time_between_rounds(hockney):
    rounds = ("--repeat", "2", "--every", "10s", "--budget")
    document = json.loads(hockney("plan", *ASKED, *rounds, "5s", "--json").out)
    assert document["least_budget_s"] == pytest.approx(least(hockney) / 3)
    close = ("--repeat", "2", "--every", "200ms", "--budget")
    assert json.loads(hockney("plan", *ASKED, *close, "100ms", "--json").out)["least_budget_s"] == 0.2
