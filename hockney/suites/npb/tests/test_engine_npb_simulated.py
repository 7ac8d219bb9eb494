# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The NAS Parallel Benchmarks on a simulated machine: they verify, computing takes their operations by the
rate of the machine, and without arithmetic they send the same messages."""

from __future__ import annotations

import pytest
from engine_lines import failures, records
from simulated_switch import lines_on_switch

from hockney import build

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]

KERNELS = sorted(path.stem for path in (build.source_folder() / "npb").glob("*.cpp"))
PARTS = "computation", "messages", "collectives", "barriers", "waiting"
RATE = 1e7
"""A rate so low that the simulated clock's nanoseconds do not matter."""


def lines_of(words, ranks):
    """Lines of these cases on a switch, where a message of x bytes takes 10 us + x / (100 MB/s)."""
    return lines_on_switch("hockney-npb", words, ranks)


def simulated(words, ranks):
    lines = lines_of(words, ranks)
    assert [line.message for line in failures(lines)] == []
    found = records(lines)
    assert len(found) == len(words)
    for record in found:
        assert record.verified.errors == 0, (record.case, record.verified.first)
    return found


def part(record, name):
    return record.metrics[name].values[0]


@pytest.mark.parametrize("ranks", [4, 3])
def test_computing_takes_the_official_operations_and_arithmetic_changes_no_message(ranks):
    words = [
        f"{kernel} class=S rate={RATE:.0e} arithmetic={arithmetic}"
        for kernel in KERNELS
        for arithmetic in ("real", "none")
    ]
    found = simulated(words, ranks)
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
    for record in simulated([f"{kernel} class=S rate={RATE:.0e}" for kernel in KERNELS], 1):
        assert record.times_s[0] == pytest.approx(record.metric("operations") / RATE, rel=1e-3), record.case
        assert record.metrics["waiting"].values == [0]


def test_a_rank_waits_for_those_that_have_more_to_do():
    """Three slabs of 64 planes: one has 22, two have 21."""
    words = [f"ft class=S rate={RATE:.0e} arithmetic=none"]
    (uneven,), (even,) = simulated(words, 3), simulated(words, 4)
    assert part(uneven, "waiting") > 0.01 * part(uneven, "computation")
    assert part(even, "waiting") < 0.001 * part(even, "computation")


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


REFUSED = ((11, "lu"), (13, "bt"), (13, "sp"), (33, "ft class=W"), (37, "mg"))
"""More ranks than a grid can be divided among."""


def test_ranks_that_a_grid_cannot_be_divided_among_are_refused(golden):
    messages = []
    for ranks, words in REFUSED:
        (refusal,) = failures(lines_of([f"{words} arithmetic=none"], ranks))
        assert refusal.reason == "refused"
        messages.append(f"{words} ranks={ranks}\n  {refusal.message}")
    golden("refusals_npb.txt", "\n\n".join(messages))
