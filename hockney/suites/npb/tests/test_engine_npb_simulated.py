# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The NAS Parallel Benchmarks on simulated machines: every division among the ranks verifies, computing takes
the official operations, and what the programs state as data is what the engine does, in the time that they
predict."""

from __future__ import annotations

import math

import pytest
from engine_lines import failures, records
from program_counts import counts, official_operations
from simulated_switch import even_switch, lines_on, lines_on_switch

from hockney import build
from hockney.core.fit import Estimate
from hockney.machines import simulated
from hockney.models.applications.message_costs import costs_of_description
from hockney.models.programs.communication import Communication
from hockney.suites.npb.programs import PROGRAMS, program_of
from hockney.suites.npb.programs.assumptions import diagnose
from hockney.suites.npb.programs.program import Indivisible, NpbProgram, measured_rates, uniform_rates
from hockney.suites.npb.studies.npb.results import predicted_run_time

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]

KERNELS = sorted(path.stem for path in (build.source_folder() / "npb").glob("*.cpp"))
PARTS = "computation", "messages", "collectives", "barriers", "waiting"
RATE = 1e7
"""A rate so low that the simulated clock's nanoseconds do not matter."""


def lines_of(words, ranks, **network):
    """Lines of these cases on a switch; by default a message of x bytes takes 10 us + x / (100 MB/s)."""
    return lines_on_switch("hockney-npb", words, ranks, **network)


def measured(words, ranks, **network):
    lines = lines_of(words, ranks, **network)
    assert [line.message for line in failures(lines)] == []
    found = records(lines)
    assert len(found) == len(words)
    for record in found:
        assert record.verified.errors == 0, (record.case, record.verified.first)
    return found


def part(record, name):
    return record.metrics[name].values[0]


@pytest.mark.parametrize(
    ("ranks", "decompositions"),
    [
        (1, {"lu": "1 x 1 columns", "bt": "1 x 1 x 1 blocks"}),
        (2, {"lu": "1 x 2 columns", "cg": "2 x 1 blocks of the matrix", "mg": "1 x 1 x 2 blocks"}),
        (3, {"bt": "1 x 1 x 3 blocks"}),
        (4, {"bt": "2 x 2 x 2 cells in a multi-partition"}),
        (6, {"lu": "2 x 3 columns"}),
        (7, {"lu": "1 x 7 columns", "bt": "1 x 1 x 7 blocks"}),
        (8, {"lu": "2 x 4 columns", "bt": "2 x 2 x 2 blocks"}),
        (9, {"bt": "3 x 3 x 3 cells in a multi-partition"}),
        (11, {"cg": "11 x 1 blocks of the matrix", "mg": "1 x 1 x 11 blocks"}),
        (12, {"lu": "3 x 4 columns", "cg": "4 x 3 blocks of the matrix", "mg": "1 x 3 x 4 blocks"}),
        (16, {"cg": "4 x 4 blocks of the matrix", "mg": "1 x 4 x 4 blocks"}),
        # one or two of 32 planes, so that no coarser level could be divided
        (31, {"mg": "1 x 1 x 31 blocks"}),
        (36, {"mg": "1 x 4 x 9 blocks"}),
        (64, {"bt": "8 x 8 x 8 cells in a multi-partition"}),
    ],
)
def test_divisions_down_to_one_column_or_point_communicate_least_and_verify(ranks, decompositions):
    decompositions |= {"sp": decompositions["bt"]} if "bt" in decompositions else {}
    for record in measured(list(decompositions), ranks):
        assert record.verified.bytes > 0
        assert record.labels["decomposition"].startswith(decompositions[record.parse_case().workload])
        assert max(record.metrics["deviation"].values) < 1e-10, record.case


@pytest.mark.parametrize("ranks", [4, 3])
def test_computing_takes_the_official_operations_and_arithmetic_changes_no_message(ranks):
    words = [
        f"{kernel} class=S rate={RATE:.0e} arithmetic={arithmetic}"
        for kernel in KERNELS
        for arithmetic in ("real", "none")
    ]
    found = measured(words, ranks)
    for real, none in zip(found[::2], found[1::2], strict=True):
        assert real.verified.bytes > 0 and none.verified.bytes == 0
        total = part(real, "computation") * ranks * RATE
        assert total == pytest.approx(real.metric("operations"), rel=1e-6), real.case
        assert none.times_s[0] == pytest.approx(real.times_s[0], rel=1e-9), real.case
        for name in PARTS:
            assert part(none, name) == pytest.approx(part(real, name), rel=1e-6, abs=1e-9), (real.case, name)
        # Simulated clocks have no error, and all runs are alike.
        phases = sum(
            sum(real.metrics[f"phase_{name}"].values) for name in ("computation", "communication", "waiting")
        )
        assert phases == pytest.approx(sum(part(real, name) for name in PARTS), rel=1e-6), real.case


def test_one_rank_only_computes():
    for record in measured([f"{kernel} class=S rate={RATE:.0e}" for kernel in KERNELS], 1):
        assert record.times_s[0] == pytest.approx(record.metric("operations") / RATE, rel=1e-3), record.case
        assert record.metrics["waiting"].values == [0]


def test_a_rank_waits_for_those_that_have_more_to_do():
    """Three slabs of 64 planes: one has 22, two have 21."""
    words = [f"ft class=S rate={RATE:.0e} arithmetic=none"]
    (uneven,), (even,) = measured(words, 3), measured(words, 4)
    assert part(uneven, "waiting") > 0.01 * part(uneven, "computation")
    assert part(even, "waiting") < 0.001 * part(even, "computation")


def test_sweeps_are_pipelined():
    """The last of 2 x 2 ranks begins two chunks of planes after the first one."""
    (alone,) = measured(["lu class=W rate=1e9 arithmetic=none"], 1)
    by_planes = {planes: f"lu class=W rate=1e9 arithmetic=none planes={planes}" for planes in (31, 4)}
    free = {"latency_s": 1e-6, "per_byte_s": 1e-12}
    times = [record.times_s[0] / alone.times_s[0] for record in measured(by_planes.values(), 4, **free)]
    for planes, time in zip(by_planes, times, strict=True):
        expected = (
            16 * 16 / 31**2 * (1 + 0.6 * 2 / math.ceil(31 / planes))
        )  # sweeps are 0.6 of the operations
        assert time == pytest.approx(expected, rel=0.1), planes


@pytest.mark.parametrize("kernel", ["bt", "sp"])
def test_no_rank_waits_in_a_multi_partition(kernel):
    """10 inner points divide evenly into 5 cells."""
    words, free = [f"{kernel} rate=1e6 arithmetic=none"], {"latency_s": 1e-6, "per_byte_s": 1e-12}
    (alone,), (several,) = (measured(words, ranks, **free) for ranks in (1, 25))
    assert several.times_s[0] == pytest.approx(alone.times_s[0] / 25, rel=0.01)


def test_mg_of_the_paper_ends_at_rounding_errors_and_finds_an_inverted_bit():
    right, wrong = records(lines_of(["mg class=paper", "mg class=paper fault=bit"], 3))
    assert right.verified.errors == 0 < wrong.verified.errors, right.verified.first
    assert max(right.metrics["deviation"].values) < 0.25 < 1e3 < min(wrong.metrics["deviation"].values)


@pytest.mark.parametrize("ranks", [16, 64])
def test_many_ranks_are_simulated_without_arithmetic(ranks):
    """Benchmarks that can be divided among this many ranks verify; the others refuse."""
    words = [f"{kernel} class=S rate={RATE:.0e} arithmetic=none" for kernel in KERNELS]
    lines = lines_of(words, ranks)
    assert {line.reason for line in failures(lines)} <= {"refused"}
    found = records(lines)
    assert len(found) + len(failures(lines)) == len(words)
    assert {"ep", "ft", "is"} <= {record.parse_case().workload for record in found}
    for record in found:
        total = part(record, "computation") * ranks * RATE
        assert total == pytest.approx(record.metric("operations"), rel=1e-6), record.case


REFUSED = ((11, "lu", 10), (13, "bt", 12), (13, "sp", 12), (33, "ft class=W", 32), (37, "mg", 36))
"""More ranks than a grid can be divided among, and the most that it can."""


def test_ranks_that_a_grid_cannot_be_divided_among_are_refused_by_engine_and_program(golden):
    messages = []
    for ranks, words, most in REFUSED:
        (refusal,) = failures(lines_of([f"{words} arithmetic=none"], ranks))
        assert refusal.reason == "refused" and str(most) in refusal.message
        messages.append(f"{words} ranks={ranks}\n  {refusal.message}")
        kernel, _, size = words.partition(" class=")
        with pytest.raises(Indivisible) as found:
            PROGRAMS[kernel](size or "S", ranks)
        assert found.value.max_ranks == most
    golden("refusals_npb.txt", "\n\n".join(messages))


def check_program(record):
    """Checks what a program states: numbers with the digits that records have, and the operations of each
    phase; one rank of IS leaves sorting out."""
    program = program_of(record.parse_case())
    assert list(program.phases) == record.labels["phases"].split(",")
    for name, count in counts(program).items():
        expected = float(f"{count:.7g}")
        if program.kernel == "is" and name == "collective_bytes":  # the keys that ranks keep differ a little
            expected = pytest.approx(expected, rel=0.01)
        assert record.metric(name) == expected, (record.case, name)
    if program.kernel == "is" and program.ranks == 1:
        return
    seconds = record.metrics["phase_computation"].values
    for phase, measured_s in zip(program.phases, seconds, strict=True):
        done_s = official_operations(program, phase) / 1e6
        assert done_s == pytest.approx(measured_s * program.ranks, rel=1e-6, abs=1e-6), record.case


LARGER = (
    "cg class=W", "mg class=W", "ft class=W", "is class=W", "lu class=S planes=3", "bt class=W",
    "lu startup=1e-4", "bt startup=1e-4",
)  # fmt: skip


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        *((ranks, KERNELS) for ranks in range(1, 10)),
        (5, [f"{kernel} class=tiny" for kernel in KERNELS]),
        (12, LARGER),
        (16, ["bt", "sp class=W"]),
    ],
)
def test_programs_state_what_the_engine_does(ranks, words):
    for record in measured([f"{word} rate=1e6 arithmetic=none" for word in words], ranks):
        check_program(record)


FAST_RATE = 1e8


def words_of(kernels, size="S"):
    return [f"{kernel} class={size} rate={FAST_RATE} arithmetic=none" for kernel in kernels]


def predicted(record, machine, rate=FAST_RATE):
    costs = Communication(costs_of_description(machine), platform=machine)
    return predicted_run_time(program_of(record.parse_case()), uniform_rates(rate), costs)


def check_times(lines, machine):
    assert [line.message for line in failures(lines)] == []
    for record in records(lines):
        seconds = predicted(record, machine).seconds
        assert seconds == pytest.approx(record.times_s[0], rel=0.04), record.case


@pytest.mark.parametrize(("ranks", "size"), [(2, "S"), (3, "S"), (4, "S"), (8, "S"), (3, "W")])
def test_times_are_as_predicted_where_nothing_disturbs(ranks, size):
    check_times(lines_of(words_of(KERNELS, size), ranks), even_switch(ranks))


def test_messages_that_share_a_medium_queue():
    machine = simulated.platform("switched-ethernet")
    assert any(costs_of_description(machine).medium)
    check_times(lines_on(machine, "hockney-npb", words_of(set(KERNELS) - {"mg"}), 4), machine)


def test_rates_of_one_rank_are_those_of_its_phases():
    """Except for the sorting that one rank of IS leaves out, which took no time."""
    for record in measured(words_of(KERNELS), 1):
        program: NpbProgram = program_of(record.parse_case())
        rates = measured_rates(program, [record], Estimate(record.times_s[0], None, None))
        assert rates is not None
        for phase in program.phases:
            if program.operations_in(phase).any():
                left_out = program.kernel == "is" and phase == "buckets"
                expected = (0.7 / 0.2 if left_out else 1) / FAST_RATE
                assert rates.for_phase(phase) == pytest.approx(expected, rel=1e-5), (record.case, phase)


def test_a_rate_that_is_too_high_is_what_fails():
    """The error is found in the phase in which the rank computes most."""
    (record,) = measured(words_of(["lu"]), 2)
    parts = {name: part(record, name) for name in ("computation", "messages", "collectives", "waiting")}
    machine = even_switch(2)
    assert diagnose(predicted(record, machine), record.times_s[0], parts).failed_assumption is None
    found = diagnose(predicted(record, machine, 2 * FAST_RATE), record.times_s[0], parts)
    assert found.failed_assumption == "rates"
    assert found.error < -0.3 < found.corrected_error < 0
