# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of bulk synchronous programs: the studies, and predictions."""

from __future__ import annotations

import json

import pytest

from hockney.suites.bsp.fakes.bsp import FakeBsp

QUICK = ("--machine", "fake", "--ranks", "2,4", "--launches", "2", "--seed", "1", "-q")
KERNELS = ("n=64", "keys=512")


def test_the_parameters_are_printed(hockney, golden):
    said = hockney("run", "bsp-parameters", *QUICK, "--out", "runs/p")
    assert said.code == 0, said.err
    golden("run_bsp_parameters.txt", said.out)


def test_the_errors_of_the_kernels_are_printed(hockney, golden):
    said = hockney("run", "bsp-kernels", *KERNELS, *QUICK, "--out", "runs/k")
    assert said.code == 0, said.err
    golden("run_bsp_kernels.txt", said.out)


QUICK_KERNELS = (
    "n=64",
    "keys=512",
    "kernels=bitonic_sort,matrix_multiplication",
    "--ranks",
    "2,4",
    "--launches",
    "2",
)


@pytest.fixture
def measured(hockney) -> str:
    said = hockney("run", "bsp-kernels", *QUICK_KERNELS, "--machine", "fake", "--out", "runs/k", "-q")
    assert said.code == 0, said.err
    return "runs/k"


def test_a_kernel_is_predicted_by_both_models(hockney, measured):
    said = hockney("predict", "bitonic_sort", "keys=512", "--json")
    assert said.code == 0 and "runs/k" in said.err
    document = json.loads(said.out)
    assert document["doubts"][0]["code"] == "fake"
    true = FakeBsp()
    assert [each["ranks"] for each in document["predictions"]] == [2, 4]
    for each, steps in zip(document["predictions"], (1, 3), strict=True):
        work = 512 * 9 * true.operation_s["sort"] + steps * 512 * true.operation_s["merge"]
        data = steps * (true.packet_s + 512 * 8 * true.byte_s)
        repaired = each["models"]["bsp-repaired"]
        assert repaired["work_s"] == pytest.approx(work, rel=0.1)
        assert repaired["data_s"] == pytest.approx(data, rel=0.1)
        assert repaired["time_s"] == pytest.approx(
            sum(repaired[f"{name}_s"] for name in ("work", "copies", "data", "messages"))
        )
        assert each["models"]["bsp"]["messages_s"] >= repaired["messages_s"]
        for time in each["models"].values():
            assert time["time_low_s"] < time["time_s"] < time["time_high_s"]
            assert time["time_high_s"] - time["time_low_s"] < time["time_s"]


def test_a_kernel_scales_as_a_described_program(hockney, measured):
    """On two ranks a full relation has one message, as each of the kernel's supersteps."""
    document = json.loads(hockney("predict", "bitonic_sort", "keys=512", "--json").out)
    two, four = document["ranks"]
    by_model = document["predictions"][0]["models"]["bsp"]
    for end, name in (("value", "time_s"), ("low", "time_low_s"), ("high", "time_high_s")):
        assert two["time_s"][end] == pytest.approx(by_model[name], rel=1e-3)
    assert {part["name"] for part in four["parts"]} == {"sort", "supersteps", "supersteps: barrier", "merge"}
    assert document["best"]["fastest"] == 4 and document["scaling"] == "other"
    assert "lower latency" in {each["name"] for each in document["levers"]["changes"]}
    matrix = hockney("predict", "matrix_multiplication", "n=64", "--ranks", "4")
    assert "strong scaling" in matrix.out and "Limit on 4 ranks:" in matrix.out


def test_another_size_is_noted(hockney, measured):
    said = hockney("predict", "bitonic_sort", "keys=777", "--run", measured, "--ranks", "2")
    assert said.code == 0 and "sort, merge" in said.err
    rows = [line.split()[:2] for line in said.out.splitlines() if "bsp" in line.split()[1:2]]
    assert rows == [["2", "bsp"]]
    assert said.out.count("warning: ") > 0
    blocks = hockney("predict", "bitonic_sort", "keys=512", "style=bpram", "--run", measured)
    assert "bpram-repaired" in blocks.out and "other sizes" not in blocks.err


@pytest.mark.parametrize(
    ("words", "code", "number"),
    [
        (("pingpong", "bytes=8"), "not-a-kernel", 2),
        (("bitonic_sort", "keys=8", "style=mpi"), "kernel-without-supersteps", 2),
        (("bitonic_sort", "keys=8", "--machine", "t3e"), "kernel-with-algorithm", 2),
        (("ep,ft,is", "--machine", "t3e"), "unknown-workload", 2),
        (("pingpong", "--machine", "t3e"), "not-a-kernel", 2),
        (("bitonic_sort", "keys=8", "--ranks", "8"), "ranks-without-parameters", 4),
        (("bitonic_sort", "keys=8", "--work", "1s"), "kernel-with-algorithm", 2),
        (("bitonic_sort", "keyz=8"), "unknown-parameter", 2),
    ],
)
def test_what_cannot_be_predicted(hockney, measured, words, code, number):
    said = hockney("predict", *words, "--json")
    assert said.code == number and said.error.code == code


def test_without_a_run_there_is_no_prediction(hockney):
    said = hockney("predict", "bitonic_sort", "keys=8", "--json")
    assert said.code == 4 and said.error.code == "no-run-of-studies"
    hockney("run", "barrier", "--machine", "fake", "--out", "runs/b", "-q")
    said = hockney("predict", "bitonic_sort", "keys=8", "--run", "runs/b", "--json")
    assert said.code == 4 and said.error.code == "no-bulk-parameters"
