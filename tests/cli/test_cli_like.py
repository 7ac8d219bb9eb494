# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""--like BENCHMARK: the case that measures what a benchmark of OSU or IMB does."""

from __future__ import annotations

import json

import pytest
from real_mpi import group_for, mpi_named


def planned(hockney, *words):
    said = hockney("plan", *words, "--json")
    assert said.code == 0, said.err
    return json.loads(said.out)["cases"], said.err


def test_the_case_of_a_benchmark_is_planned_and_named(hockney):
    cases, notes = planned(hockney, "--like", "IMB-RMA/unidir_PUT", "bytes=8")
    assert cases == ["put bytes=8 direction=one epoch=flush memory=create operations=1 ranks=2"]
    assert "put epoch=flush memory=create ranks=2 bytes=8" in notes and "IMB-RMA/Unidir_put" in notes


def test_the_sizes_are_those_of_the_benchmark_unless_others_are_given(hockney):
    cases, _ = planned(hockney, "--like", "osu_bw")
    assert len(cases) == 23 and all("window=64" in case for case in cases)
    assert [case.split()[2] for case in (cases[0], cases[-1])] == ["bytes=1", "bytes=4194304"]
    cases, _ = planned(hockney, "--like", "osu_bw", "window=4", "--sizes", "8,64")
    assert cases == [f"stream buffers=hot bytes={size} ranks=2 window=4" for size in (8, 64)]


def test_several_benchmarks_and_ranks(hockney):
    cases, notes = planned(
        hockney, "--like", "osu_ibcast", "--like", "osu_barrier", "--ranks", "3", "--sizes", "8"
    )
    assert [case.split()[0] for case in cases] == ["overlap", "barrier"]
    assert all("ranks=3" in case for case in cases) and notes.count("note:") == 2


def test_a_benchmark_is_run(hockney):
    said = hockney("run", "--like", "osu_latency", "bytes=0,8", "--format", "osu", "--out", "r", "-q")
    assert (said.code, said.err) == (0, "")
    assert [line.split()[0] for line in said.out.splitlines() if line and not line.startswith("#")] == [
        "0",
        "8",
    ]


@pytest.mark.slow
@pytest.mark.mpi
def test_some_are_measured_with_real_ranks(hockney, monkeypatch):
    """One of each kind of group, in one run; what ranks receive is verified. A coarse precision ends each
    case early, and the budget is enough on a busy machine."""
    mpi = mpi_named("openmpi")
    for group in ("hockney-messages", "hockney-nonblocking", "hockney-onesided"):
        group_for(mpi, group)
    monkeypatch.delenv("HOCKNEY_MACHINE")
    names = ("IMB-MPI1/Exchange", "osu_ialltoallv", "IMB-RMA/All_put_all", "IMB-NBC/Iscatterv_pure")
    words = [word for name in names for word in ("--like", name)]
    said = hockney(
        "run",
        *words,
        "bytes=8,4KiB",
        "--mpi",
        mpi.prefix,
        "--budget",
        "90s",
        "--precision",
        "50%",
        "--launches",
        "1",
        "--json",
        "-q",
    )
    document = json.loads(said.out)
    assert {s["case"].split()[0] for s in document["summaries"]} == {
        "halo", "overlap_vector", "put_many", "iscatterv",
    }  # fmt: skip
    assert said.code in (0, 4), said.err  # 4: too busy for everything planned
