# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The kernels on BSPlib, the BPRAM and MPI: they verify on more ranks and difficult inputs, and each
superstep has the work and the communication of its analysis."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from engine_lines import failures, launcher_for, lines_of, records
from native import sanitized
from real_mpi import group_for

from hockney.core.case import parse_canonical

pytestmark = pytest.mark.mpi

STYLES = "bsp", "bpram", "mpi"


@pytest.fixture(scope="session")
def kernels(mpi):
    return group_for(mpi, "hockney-kernels")


def measured(mpi, kernels, words, ranks, repetitions=2):
    """The records of these cases, all of which verify."""
    cases = [kernels.catalog.case(word, ranks) for word in words]
    lines = lines_of(launcher_for(mpi, kernels), cases, ranks, repetitions=repetitions, hang=120.0)
    assert [line.message for line in failures(lines)] == []
    found = records(lines)
    assert [record.case for record in found] == [case.line for case in cases]
    for record in found:
        assert record.verified.errors == 0, (record.case, record.verified.first)
        assert record.verified.bytes > 0
    return found


def steps(record, name):
    return record.metrics[f"superstep_{name}"].values


DIFFICULT = [
    f"{kernel} keys={keys} distribution={distribution} style={style} type={kind}"
    for kernel, keys in (("sample_sort", 1), ("sample_sort", 257), ("bitonic_sort", 64))
    for distribution, style, kind in (
        ("reverse", "bsp", "double"),
        ("few", "bsp", "uint32"),
        ("few", "bpram", "double"),
        ("skewed", "bpram", "uint32"),
        ("sorted", "mpi", "double"),
        ("few", "mpi", "uint32"),
    )
] + [
    f"{case} style={style}"
    for style in STYLES
    for case in (
        "matrix_multiplication n=31",
        "matrix_multiplication n=40 type=float",
        "shortest_paths n=35",
        "shortest_paths n=35 block=4",
        "shortest_paths n=9 block=1",
    )
]


@pytest.mark.parametrize("ranks", [4, 6, 9])
def test_kernels_verify_on_more_ranks(mpi, mpi_name, kernels, ranks):
    if mpi_name == "mpich":
        pytest.skip("MPICH polls: more ranks than cores wait a scheduler's turn for every message")
    words = [word for word in DIFFICULT if ranks == 4 or not word.startswith("bitonic")]
    butterflies = ["sample_sort keys=100 style=bpram route=butterfly samples=3"] if ranks == 4 else []
    measured(mpi, kernels, words + butterflies, ranks)


def test_supersteps_have_the_work_and_the_communication_of_their_analysis(mpi, kernels):
    """4 ranks: a plane of 2 x 2."""
    n, m, samples, b = 24, 96, 4, 12
    words = [
        f"matrix_multiplication n={n} grid=2:1:2",
        f"matrix_multiplication n={n} grid=2:2:1 style=bpram",
        f"bitonic_sort keys={m}",
        f"bitonic_sort keys={m} style=bpram type=uint32",
        f"sample_sort keys={m} distribution=reverse",
        f"sample_sort keys={m} distribution=reverse style=bpram",
        f"shortest_paths n={n}",
        f"shortest_paths n={n} style=bpram",
    ]
    found = measured(mpi, kernels, words, 4)
    cube, plane, bitonic, bitonic_blocks, sample, sample_blocks, paths, paths_blocks = found
    part = n * n // 4 * 8
    assert steps(cube, "h") == [part, part, 0]
    assert steps(cube, "operations") == [0, 2 * n**3 / 4, n * n / 4]
    assert steps(cube, "messages") == [1, 1, 0]
    assert steps(plane, "h") == [part, part, 0]
    assert steps(plane, "operations") == [0, 0, 2 * n**3 / 4]
    sort = m * math.log2(m)
    assert steps(bitonic, "h") == [8 * m] * 3 + [0]
    assert steps(bitonic, "operations") == pytest.approx([sort, m, m, m])
    assert steps(bitonic_blocks, "h") == [4 * m] * 3 + [0]
    assert steps(bitonic_blocks, "packets") == [1] * 3 + [0]
    # Of the keys in reverse order, those of each rank belong to a single other one.
    assert steps(sample, "h") == [3 * samples * 8, 8 * m + 3 * 8, 0]
    assert steps(sample, "operations") == pytest.approx([sort, 16 * 4, 2 * m])
    assert steps(sample, "messages") == [3, 3, 0]
    assert len(steps(sample_blocks, "h")) == 2 + 3 + 1
    assert steps(sample_blocks, "h")[:2] == [samples * 8, 2 * samples * 8]
    assert sum(steps(sample_blocks, "operations")) == pytest.approx(sort + 16 * 4 + 2 * m)
    # Two panels of 12 nodes: the diagonal block, then the rows and columns, each to one rank.
    assert steps(paths, "h") == [2 * b * b * 4, 2 * b * b * 4] * 2 + [0]
    assert steps(paths, "operations")[:3] == [b**3, b**3, 2 * b**3]
    assert len(steps(paths_blocks, "h")) == 2 * 4 + 1
    assert steps(paths_blocks, "h") == [b * b * 4] * 8 + [0]
    for record in found:
        assert record.metric("supersteps") == len(steps(record, "h"))
        assert len(record.metrics["computation"].values) == len(record.times_s)
        assert all(seconds >= 0 for seconds in steps(record, "computation"))


@pytest.mark.slow(120)
@pytest.mark.usefixtures("changed_cpp")
@pytest.mark.parametrize("ranks", [2, 4])
def test_sanitizers_find_nothing(mpi, mpi_name, kernels, ranks, monkeypatch):
    if mpi_name == "mpich":
        pytest.skip("the other one suffices")
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    program = sanitized(mpi, ["hockney-kernels"]).parent / "hockney-kernels"
    checked = replace(kernels, path=program)
    measured(mpi, checked, DIFFICULT, ranks)


IMPOSSIBLE = (
    "bitonic_sort ranks=3",
    "h_relation h=5 packet=8 ranks=3",
    "h_relation packet=6 ranks=3",
    "local_sort ranks=3 rate=1000",
    "matrix_multiplication grid=2:2:1 ranks=3",
    "matrix_multiplication grid=3:1 ranks=3",
    "matrix_multiplication n=2 ranks=3",
    "sample_sort ranks=3 route=butterfly style=bpram",
    "sample_sort ranks=3 route=butterfly style=bsp",
    "shortest_paths n=2 ranks=3",
)


def test_what_a_number_of_ranks_does_not_admit_is_refused(mpi, kernels, golden):
    lines = lines_of(launcher_for(mpi, kernels), [*map(parse_canonical, IMPOSSIBLE)], 3)
    refused = failures(lines)
    assert [line.case for line in refused] == list(IMPOSSIBLE)
    assert {line.reason for line in refused} == {"refused"}
    golden("refusals_kernels.txt", "\n\n".join(f"{line.case}\n  {line.message}" for line in refused))
