# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The NAS Parallel Benchmarks: all of them verify on any number of ranks, compute what sequential programs
do, find an inverted bit, and account for their time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from engine_lines import failures, launcher_for, lines_of, records
from native import sanitized
from real_mpi import group_for
from tiers import slow

from hockney import build
from hockney.core.case import parse_canonical

pytestmark = pytest.mark.mpi

KERNELS = sorted(path.stem for path in (build.source_folder() / "npb").glob("*.cpp"))
PARTS = "computation", "messages", "collectives", "barriers", "waiting"
"""A share of a run's time."""
SANITIZED_TOO_LONG: tuple[str, ...] = ("ep",)
"""Kernels that take minutes on class S without optimisation."""


@pytest.fixture(scope="session")
def npb(mpi):
    return group_for(mpi, "hockney-npb")


def answered(mpi, npb, words, ranks, repetitions=2, hang=300.0):
    """The records of these cases, in order."""
    cases = [npb.catalog.case(word, ranks) for word in words]
    lines = lines_of(launcher_for(mpi, npb), cases, ranks, repetitions=repetitions, hang=hang)
    assert [line.message for line in failures(lines)] == []
    found = records(lines)
    assert [record.case for record in found] == [case.line for case in cases]
    return found


def verified(mpi, npb, words, ranks, **options):
    found = answered(mpi, npb, words, ranks, **options)
    for record in found:
        assert record.verified.errors == 0, (record.case, record.verified.first)
        assert record.verified.bytes > 0
        # Every run is verified, not only the first one.
        assert record.verified.runs == record.verified.of_runs >= ranks * len(record.times_s)
        assert len(record.times_s) > 0
    return found


def of_class(name, kernels=KERNELS):
    return [f"{kernel} class={name}" for kernel in kernels]


def polled(mpi_name, ranks):
    if mpi_name == "mpich" and ranks > 4:
        pytest.skip("MPICH polls: more ranks than cores wait a scheduler's turn for every message")


def check_metrics(record, ranks):
    repetitions = len(record.times_s)
    for name in (*PARTS, "deviation"):
        values = record.metrics[name].values
        assert len(values) == repetitions, name
        assert all(value >= 0 for value in values), (record.case, name, values)
    # From NASA's published answers, of tiny classes from those of sequential programs.
    assert max(record.metrics["deviation"].values) < 1e-10, record.case
    assert record.metric("operations") > 0
    # Of the phases or of one communication, at the least.
    assert record.metric("clock_readings") >= 2
    phases = record.labels["phases"].split(",")
    assert len(set(phases)) == len(phases) > 0
    for name in ("phase_computation", "phase_communication", "phase_waiting"):
        assert len(record.metrics[name].values) == len(phases)
    assert record.labels["decomposition"]
    # The parts add up to the time between two readings of the clock around them. These are means over the
    # ranks, the time is that of the slowest rank.
    for i, time_s in enumerate(record.times_s):
        accounted = sum(record.metrics[name].values[i] for name in PARTS)
        assert accounted <= time_s * (1 + 1e-6) + 1e-6, record.case
    if ranks == 1:
        missing = [
            time_s - sum(record.metrics[name].values[i] for name in PARTS)
            for i, time_s in enumerate(record.times_s)
        ]
        assert min(missing) <= 1e-4, (record.case, missing)
    assert record.metrics["barriers"].values == [0] * repetitions


RANKS = [3, *slow(1, 2, 5, 6, 7, 8, 9)]


@pytest.mark.parametrize("ranks", RANKS)
def test_small_classes_compute_what_sequential_programs_do_and_account_for_their_time(
    mpi, mpi_name, npb, ranks
):
    polled(mpi_name, ranks)
    for record in verified(mpi, npb, of_class("S") + of_class("tiny"), ranks):
        check_metrics(record, ranks)


def test_small_classes_verify_on_a_square_number_of_ranks_that_share_cores(mpi, mpi_name, npb):
    """BT and SP in a multi-partition."""
    polled(mpi_name, 4)
    for record in verified(mpi, npb, of_class("S") + of_class("tiny"), 4, repetitions=1):
        check_metrics(record, 4)
        in_cells = "multi-partition" in record.labels["decomposition"]
        assert in_cells == (record.parse_case().workload in ("bt", "sp"))


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_class_w_verifies(mpi, mpi_name, npb, ranks):
    verified(mpi, npb, of_class("W"), ranks, repetitions=1)


@pytest.mark.slow
def test_class_a_verifies(mpi, mpi_name, npb):
    if mpi_name == "mpich":
        pytest.skip("the other one suffices")
    verified(mpi, npb, of_class("A"), 2, repetitions=1, hang=1200.0)


@pytest.mark.slow
def test_the_sizes_of_the_paper_verify(mpi, npb):
    words = [
        f"{workload.name} class=paper"
        for workload in npb.catalog.workloads
        for parameter in workload.parameters
        if parameter.name == "class" and "paper" in parameter.choices
    ]
    verified(mpi, npb, words, 2, repetitions=1)


def test_an_inverted_bit_is_found_in_every_run(mpi, npb):
    for record in answered(mpi, npb, [f"{word} fault=bit" for word in of_class("S")], 2):
        assert record.verified.errors >= record.verified.runs == record.verified.of_runs > 0, record.case
        assert record.verified.first
        assert min(record.metrics["deviation"].values) > 0


def test_barriers_inside_a_run_are_accounted_for_and_change_no_result(mpi, npb):
    words = [f"{word} barrier_at=iteration barrier=dissemination" for word in of_class("S")]
    words += [f"{word} barrier_at=step barrier=total_exchange" for word in of_class("S")]
    for record in verified(mpi, npb, words, 2):
        assert all(seconds > 0 for seconds in record.metrics["barriers"].values), record.case


def test_windows_start_runs_too(mpi, npb):
    """One rank is always in time."""
    verified(mpi, npb, ["ep class=S sync=window", "is class=S sync=window"], 1)


IMPOSSIBLE = ("rate=1e+9", "arithmetic=none")


def test_what_only_a_simulated_machine_can_do_is_refused(mpi, npb, golden):
    """And the next case runs."""
    lines = []
    for word in (*IMPOSSIBLE, ""):
        case = npb.catalog.case(f"is class=S {word}", 2)
        lines += lines_of(launcher_for(mpi, npb), [case], 2, repetitions=1)
    refused = failures(lines)
    assert [line.reason for line in refused] == ["refused"] * len(IMPOSSIBLE)
    assert [parse_canonical(line.case)["class"] for line in refused] == ["S"] * len(IMPOSSIBLE)
    assert len(records(lines)) == 1
    golden(
        "refusals_npb_real.txt",
        "\n\n".join(f"{word}\n  {line.message}" for word, line in zip(IMPOSSIBLE, refused, strict=True)),
    )


@pytest.mark.slow(120)
@pytest.mark.usefixtures("changed_cpp")
def test_sanitizers_find_nothing(mpi, mpi_name, npb, monkeypatch):
    if mpi_name == "mpich":
        pytest.skip("the other one suffices")
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    program = sanitized(mpi, ["hockney-npb"]).parent / "hockney-npb"
    kernels = [kernel for kernel in KERNELS if kernel not in SANITIZED_TOO_LONG]
    words = of_class("S", kernels) + of_class("tiny")
    verified(mpi, replace(npb, path=program), words, 2, repetitions=1, hang=1200.0)
