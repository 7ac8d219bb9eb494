# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predictions in the study of the NAS benchmarks, in a world whose benchmarks take what their model does not
expect: shares of the time of one rank for messages, collectives and waiting."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from fake_study import planned, studied

from hockney import studies
from hockney.launch.fake_world import World
from hockney.studies import Evidence
from hockney.suites.npb.fakes.npb import FakeNpb
from hockney.suites.npb.programs import PROGRAMS
from hockney.suites.npb.programs.program import uniform
from hockney.suites.npb.studies.npb.columns import answer
from hockney.suites.npb.studies.npb.headline import headline
from hockney.suites.npb.studies.npb.results import NpbResults, predictions

STUDY = studies.study("npb")
TRUTH = FakeNpb()
KERNELS = ("cg", "ep", "ft")


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return studied(
        tmp_path_factory.mktemp("npb") / "r", STUDY, World(noise=0.01, tail=0.0), cores=4, launches=4,
        budget_s=600.0, ranks=(2, 4), parameters={"kernels": KERNELS, "barrier_at": ("none",)},
    )  # fmt: skip


def test_each_benchmark_on_several_ranks_is_predicted_from_one(evidence: Evidence):
    found = predictions(NpbResults.of(evidence))
    assert [(each.point.kernel, each.point.ranks) for each in found.of] == [
        (kernel, ranks) for kernel in KERNELS for ranks in (2, 4)
    ]
    for each in found.of:
        one = TRUTH.count(each.point.measured.case) / TRUTH.rate
        assert each.predicted.total("computation") == pytest.approx(one / each.point.ranks, rel=0.03)
        measured = each.point.time.value
        assert each.diagnosis.error == pytest.approx(each.predicted.seconds / measured - 1)
        assert each.ratio.low <= each.ratio.value <= each.ratio.high
    assert found.median_error == pytest.approx(
        sorted(abs(each.diagnosis.error) for each in found.of)[2], abs=0.1
    )


def test_what_the_world_adds_is_what_fails(evidence: Evidence):
    fails = {
        (each.point.kernel, each.point.ranks): each.diagnosis.failing
        for each in predictions(NpbResults.of(evidence)).of
    }
    assert fails["ft", 4] == "collectives"
    assert fails["cg", 4] == "messages"
    assert fails["ep", 4] == "balance"


def test_no_assumption_fails_on_a_busy_machine(evidence: Evidence):
    run = evidence.run
    closes = tuple(msgspec.structs.replace(close, outside_cores=3.0) for close in run.closes)
    busy = predictions(NpbResults.of(replace(evidence, run=replace(run, closes=closes))))
    assert busy.of and all(each.diagnosis.failing is None for each in busy.of)


def test_the_page_the_headline_and_the_answer_have_the_errors(evidence: Evidence):
    run = NpbResults.of(evidence)
    found = predictions(run)
    page = STUDY.page(evidence)
    table = next(t for s in page.sections for t in s.tables if t.name == "npb-predicted")
    assert [row[6] for row in table.rows] == [each.diagnosis.failing or "" for each in found.of]
    figure = next(f for f in page.figures if f.name == "npb-predicted")
    assert figure.series[0].y == tuple(each.ratio.value for each in found.of)
    assert found.worst.point.kernel in headline(run)[-1]
    document = answer(evidence)
    assert [each["error"] for each in document["predictions"]] == [e.diagnosis.error for e in found.of]
    assert document["median_error"] == found.median_error


def test_the_plan_has_the_messages_and_collectives_of_the_programs():
    cases = planned(STUDY, 2, 4, parameters={"kernels": ("cg", "ft")})
    pings = [case.bytes for case in cases if case.workload == "pingpong"]
    longest = PROGRAMS["cg"]("S", 2).iteration(uniform(1.0)).longest_message
    assert pings[0] == 0 and pings[-2] < longest <= pings[-1]
    blocks = {(case.ranks, case.bytes) for case in cases if case.workload == "alltoall"}
    for ranks in (2, 4):
        iteration = PROGRAMS["ft"]("S", ranks).iteration(uniform(1.0))
        sizes = {part.size for part in iteration.parts if part.name == "transposition"}
        assert {(ranks, size) for size in sizes} <= blocks
    assert {case.ranks for case in cases if case.workload == "allreduce"} == {2, 4}
    assert not [case for case in cases if case.workload == "allgather"], "only mg gathers"


def test_costs_are_measured_only_where_they_are_needed():
    def workloads(ranks: int, **parameters: object) -> set[str]:
        return {
            case.workload for case in planned(STUDY, ranks, parameters={"kernels": ("cg",), **parameters})
        }

    assert workloads(1, barrier_at=("none",)) == workloads(1) == workloads(2, predict="no") == {"cg"}
    assert "pingpong" in workloads(2)


def test_without_the_costs_of_messages_there_is_no_prediction(tmp_path: Path):
    parameters = {"kernels": ("ep",), "predict": "no", "barrier_at": ("none",)}
    evidence = studied(tmp_path / "r", STUDY, ranks=(2,), parameters=parameters)
    assert predictions(NpbResults.of(evidence)).of == ()
    assert "npb-predicted" not in {t.name for s in STUDY.page(evidence).sections for t in s.tables}
    assert answer(evidence)["median_error"] is None
