# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the programs of the NAS Parallel Benchmarks state as data is what the engine does: operations,
messages and collectives, on one to nine simulated ranks."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_lines import failures, records
from simulated_switch import lines_on_switch

from hockney.core.catalog import decode_catalog
from hockney.models.programs.program import Indivisible, Program
from hockney.suites.npb.programs import CLASSES, PROGRAMS, program_of

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]

CONTRACT = Path(__file__).parents[4] / "contract/golden"
RATE = 1e6
EVENLY = 0.01
"""What ranks keep of their keys differs a little from one rank to another."""
KERNELS = sorted(PROGRAMS)


def measured(words, ranks):
    lines = lines_on_switch("hockney-npb", words, ranks)
    assert [line.message for line in failures(lines)] == []
    found = records(lines)
    assert len(found) == len(words)
    return found


def without_arithmetic(kernel, more=""):
    return f"{kernel} rate={RATE} arithmetic=none {more}"


def printed(number):
    """With the digits that records have."""
    return float(f"{number:.7g}")


def check(record):
    program = program_of(record.parse_case())
    assert [phase.name for phase in program.phases] == record.labels["phases"].split(",")
    for name in ("sent_messages", "sent_bytes", "collective_calls", "collective_bytes", "operations"):
        expected = printed(getattr(program, name))
        if program.kernel == "is" and name == "collective_bytes":
            expected = pytest.approx(expected, rel=EVENLY)
        assert record.metric(name) == expected, (record.case, name)
    check_operations(program, record)


def check_operations(program: Program, record):
    """Of each phase; one rank of IS leaves sorting out."""
    if program.kernel == "is" and program.ranks == 1:
        return
    seconds = record.metrics["phase_computation"].values
    for phase, measured_s in zip(program.phases, seconds, strict=True):
        done = sum(
            work.operations / (program.ranks if work.every else 1)
            for share in phase.shares
            for work in share.work
        )
        assert done / RATE == pytest.approx(measured_s * program.ranks, rel=1e-6, abs=1e-6), record.case


@pytest.mark.parametrize("ranks", [3, 8, 1, 2, 4, 5, 6, 7, 9])
def test_programs_state_what_the_engine_does(ranks):
    for record in measured([without_arithmetic(kernel) for kernel in KERNELS], ranks):
        check(record)


def test_programs_have_the_classes_of_the_engine():
    catalog = decode_catalog((CONTRACT / "groups/npb.json").read_bytes())
    for kernel, sizes in CLASSES.items():
        assert sizes == tuple(catalog.entry(kernel).parameter("class").choices)


def test_multi_partitions_with_cells_of_several_sizes():
    for record in measured([without_arithmetic("bt"), without_arithmetic("sp", "class=W")], 16):
        check(record)


def test_tiny_classes():
    for record in measured([without_arithmetic(kernel, "class=tiny") for kernel in KERNELS], 5):
        check(record)


def test_larger_grids_of_ranks_and_other_classes():
    words = ["cg class=W", "mg class=W", "ft class=W", "is class=W", "lu class=S planes=3", "bt class=W"]
    words += ["lu startup=1e-4", "bt startup=1e-4"]
    for record in measured([without_arithmetic(word) for word in words], 12):
        check(record)


def test_each_message_that_is_sent_is_received():
    """Also of those exchanges and sweeps that no test runs."""
    for kernel, sizes in CLASSES.items():
        for size in sizes:
            for ranks in (2, 7, 12, 30, 64):
                try:
                    program = PROGRAMS[kernel](size, ranks)
                except Indivisible:
                    continue
                for phase in program.phases:
                    assert sent(phase) == received(phase), (kernel, size, ranks, phase.name)


def sent(phase):
    return sum(each.count * each.bytes for share in phase.shares for each in share.sent)


def received(phase):
    exchanged = sum(
        exchange.count * sum(exchange.received) for share in phase.shares for exchange in share.exchanges
    )
    return exchanged + sum(
        share.pipeline.count * each.count * each.bytes
        for share in phase.shares
        if share.pipeline is not None
        for each in share.pipeline.received
    )


@pytest.mark.parametrize(
    ("kernel", "ranks", "most"),
    [("mg", 37, 36), ("ft", 65, 64), ("lu", 11, 10), ("bt", 13, 12), ("sp", 11, 10)],
)
def test_ranks_that_no_division_exists_for(kernel, ranks, most):
    """As many as the engine names."""
    with pytest.raises(Indivisible) as found:
        PROGRAMS[kernel]("S", ranks)
    assert found.value.most == most
    (refused,) = failures(lines_on_switch("hockney-npb", [f"{kernel} arithmetic=none"], ranks))
    assert str(most) in refused.message
