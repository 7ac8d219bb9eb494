# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of kernels in a world whose supersteps and local work have known costs, by formulas that are
independent of the models'."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_study import planned, studied
from real_mpi import simgrid_here

from hockney import api, studies
from hockney.cli.start import guarded
from hockney.core.errors import UsageError
from hockney.launch.fake_world import World
from hockney.studies import Evidence
from hockney.suites.bsp.models.costs import REPAIRS
from hockney.suites.bsp.models.programs import PROGRAMS, supersteps
from hockney.suites.bsp.studies.bsp_kernels.columns import answer
from hockney.suites.bsp.studies.bsp_kernels.headline import headline
from hockney.suites.bsp.studies.bsp_kernels.plan import KERNELS
from hockney.suites.bsp.studies.bsp_kernels.results import KernelResults, median_error

STUDY = studies.find_study("bsp-kernels")
SMALL = {"n": (64, 256), "keys": (64, 4096)}


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    folder = tmp_path_factory.mktemp("kernels") / "r"
    return studied(folder, STUDY, World(noise=0.01), cores=8, ranks=(2, 8), parameters=SMALL)


def test_every_kernel_is_predicted_in_every_style(evidence: Evidence):
    points = KernelResults.of(evidence).points
    assert {p.kernel for p in points} == set(PROGRAMS)
    found = {(p.kernel, p.variant, p.ranks, p.size) for p in points}
    assert len(found) == len(points) == 2 * 2 * (2 * 4 + 1)
    assert all({"bsp", "bpram"} & p.terms_by_model.keys() for p in points)
    assert all(len(p.terms_by_model) == len(REPAIRS[p.base]) + 2 for p in points)


def test_the_repaired_models_are_right_where_the_world_is_as_they_assume(evidence: Evidence):
    points = KernelResults.of(evidence).points
    assert median_error(points) < 0.05
    assert all(abs(p.repaired_error) < 0.2 for p in points if p.base == "bsp"), "all of them"


def test_what_the_paper_found_is_found(evidence: Evidence):
    """One-to-one patterns pay for a full relation in BSP, so that its error grows with the ranks and is
    largest for few keys."""
    results = KernelResults.of(evidence)
    bitonic = {(p.ranks, p.size): p for p in results.of_kernel("bitonic sort", base="bsp")}
    assert bitonic[8, 64].plain_error > bitonic[8, 4096].plain_error > 0
    assert bitonic[8, 64].plain_error > 2 * bitonic[2, 64].plain_error
    assert bitonic[8, 64].diagnosis.repair == "startups"
    assert bitonic[8, 64].diagnosis.repaired_error < bitonic[8, 64].plain_error / 3


def test_the_answer_names_every_case_and_its_errors(evidence: Evidence):
    document = answer(evidence)
    assert len(document["kernels"]) == len(KernelResults.of(evidence).points)
    for each in document["kernels"]:
        for name, error in each["error"].items():
            assert error == pytest.approx(each["predicted_s"][name] / each["measured_s"] - 1)
    errors = [each["error"] for each in document["kernels"] if "bsp" in each["error"]]
    worst = {name: max(abs(each[name]) for each in errors) for name in ("bsp", "bsp-repaired")}
    assert worst["bsp-repaired"] < worst["bsp"] / 2 and document["median_error"]["repaired"] < 0.05


def test_the_page_has_the_papers_four_figures(evidence: Evidence):
    page = STUDY.page(evidence)
    names = [figure.name for figure in page.figures]
    assert {"kernel-matrix", "kernel-bitonic", "kernel-sample", "kernel-paths"} <= set(names)
    assert page.headline == headline(KernelResults.of(evidence)) and len(page.headline) >= 3
    assert page.lead.name == "kernel-errors"
    tables = {table.name: table for section in page.sections for table in section.tables}
    assert len(tables["kernel-errors"].rows) == len(KernelResults.of(evidence).points)
    assert [table.name for table in STUDY.summary(evidence)] == ["kernel-errors", "kernel-failures"]


def test_the_plan_measures_the_rates_that_the_kernels_need():
    cases = planned(STUDY, 4, parameters={"n": (100,), "keys": (512,)})
    shapes = {(c["n"], c["m"], c["k"]) for c in cases if c.workload == "local_multiplication"}
    assert shapes == {(50, 50, 100)}
    assert {c["n"] for c in cases if c.workload == "local_closure"} == {50}
    assert {c["keys"] for c in cases if c.workload == "local_sort"} == {512}, "16 samples are too few"
    assert set(KERNELS) < {c.workload for c in cases} == {*STUDY.WORKLOADS, "pingpong"}


def test_kernels_need_their_numbers_of_ranks():
    cases = planned(STUDY, 3)
    assert {c.workload for c in cases} & set(KERNELS) == set(KERNELS) - {"bitonic_sort"}
    assert not any(c.get("route") == "butterfly" for c in cases)
    mistakes = {
        "no-kernel": "kernels=bitonic_sort",
        "unknown-kernel": "kernels=quick_sort",
        "unknown-style": "styles=pram",
    }
    for code, wrong in mistakes.items():
        name, value = wrong.split("=")
        with pytest.raises(UsageError) as caught:
            planned(STUDY, 3, parameters={name: (value,)})
        assert caught.value.code == code


def test_without_parameters_nothing_is_predicted(tmp_path: Path):
    lines = ("bitonic_sort keys=64 ranks=2", "bitonic_sort style=mpi ranks=2")
    evidence = studied(tmp_path / "r", STUDY, lines=lines)
    page = STUDY.page(evidence)
    assert len(page.headline) == 1 and page.lead is None
    [point] = answer(evidence)["kernels"]
    assert point["error"] == {} and point["fails"] is None


RUN = ("n=64", "keys=1024", "--machine", "sim:paragon-2x2", "--ranks", "4", "--sizes", "256,4KiB,64KiB")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> KernelResults:
    simgrid_here()
    out = tmp_path_factory.mktemp("bsp") / "r"
    assert guarded(["run", "bsp-kernels", *RUN, "--out", str(out), "-q"]) == 0
    return KernelResults.of(api.load(out).evidence)


@pytest.mark.simgrid
@pytest.mark.slow
def test_the_repaired_models_predict_a_machine_of_messages(results: KernelResults):
    points = results.points
    assert len(points) == 9
    assert sum(abs(p.repaired_error) <= 0.05 for p in points) >= 7
    assert all(abs(p.repaired_error) <= 0.25 for p in points)
    [bitonic] = results.of_kernel("bitonic sort", base="bsp")
    assert bitonic.plain_error > 0.04 > 0.02 > abs(bitonic.repaired_error)
    assert not results.failures, "every plain model is within 10% here"


@pytest.mark.simgrid
@pytest.mark.slow
def test_the_supersteps_of_the_kernels_are_those_that_they_state(results: KernelResults):
    """The programs agree with the kernels' counts: bytes of each superstep, and operations in total."""
    records = {record.case: record for record in results.evidence.run.records}
    for p in results.points:
        record = records[p.measurement.case.line]
        stated = supersteps(p.kernel, p.measurement.case)
        h = record.metrics["superstep_h"].values
        expected = [each.bytes for each in stated for _ in range(each.count)]
        assert sum(h) == pytest.approx(sum(expected), rel=0.1), p.measurement.case.line
        done = sum(record.metrics["superstep_operations"].values)
        work = sum(s.count * w.operations for s in stated for w in s.work if w.operation != "copy")
        assert done == pytest.approx(work, rel=0.1), p.measurement.case.line
