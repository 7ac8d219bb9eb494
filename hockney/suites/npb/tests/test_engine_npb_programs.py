# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the programs of the NAS Parallel Benchmarks state as data is what the engine does: operations,
messages and collectives, on one to nine simulated ranks. Predicted times are those of a simulated machine,
which is as the model assumes: ranks compute at one rate, and messages do not disturb each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_lines import failures, records
from simulated_switch import even_switch, lines_on, lines_on_switch

from hockney.core.catalog import decode_catalog
from hockney.core.fit import Estimate
from hockney.machines import simulated
from hockney.models.applications.message_costs import described
from hockney.models.programs.communication import Communication
from hockney.suites.npb.programs import CLASSES, PROGRAMS, program_of
from hockney.suites.npb.programs.assumptions import diagnose
from hockney.suites.npb.programs.program import Indivisible, NpbProgram, measured_rates, uniform
from hockney.suites.npb.studies.npb.results import run_time

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]

CONTRACT = Path(__file__).parents[4] / "contract/golden"
RATE = 1e6
EVENLY = 0.01
"""The share of keys that a rank keeps differs a little between ranks."""
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
    """The number with the digits that records have."""
    return float(f"{number:.7g}")


def check(record):
    program = program_of(record.parse_case())
    assert list(program.phases) == record.labels["phases"].split(",")
    for name in ("sent_messages", "sent_bytes", "collective_calls", "collective_bytes", "operations"):
        expected = printed(getattr(program, name))
        if program.kernel == "is" and name == "collective_bytes":
            expected = pytest.approx(expected, rel=EVENLY)
        assert record.metric(name) == expected, (record.case, name)
    check_operations(program, record)


def check_operations(program: NpbProgram, record):
    """Checks the operations of each phase; one rank of IS leaves sorting out."""
    if program.kernel == "is" and program.ranks == 1:
        return
    seconds = record.metrics["phase_computation"].values
    for phase, measured_s in zip(program.phases, seconds, strict=True):
        done_s = program.operations_in(phase, official=True).sum() / RATE
        assert done_s == pytest.approx(measured_s * program.ranks, rel=1e-6, abs=1e-6), record.case


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


@pytest.mark.parametrize(
    ("kernel", "ranks", "most"),
    [("mg", 37, 36), ("ft", 65, 64), ("lu", 11, 10), ("bt", 13, 12), ("sp", 11, 10)],
)
def test_ranks_that_no_division_exists_for(kernel, ranks, most):
    """The programs divide among as many ranks as the engine names."""
    with pytest.raises(Indivisible) as found:
        PROGRAMS[kernel]("S", ranks)
    assert found.value.most == most
    (refused,) = failures(lines_on_switch("hockney-npb", [f"{kernel} arithmetic=none"], ranks))
    assert str(most) in refused.message


FAST_RATE = 1e8


def measured_classes(ranks, size="S"):
    words = [f"{kernel} class={size} rate={FAST_RATE} arithmetic=none" for kernel in KERNELS]
    lines = lines_on_switch("hockney-npb", words, ranks)
    assert [line.message for line in failures(lines)] == []
    return records(lines)


def on_switch(ranks):
    machine = even_switch(ranks)
    return Communication(described(machine), platform=machine)


def check_times(lines, machine, tolerance):
    communication = Communication(described(machine), platform=machine)
    assert [line.message for line in failures(lines)] == []
    for record in records(lines):
        predicted = run_time(program_of(record.parse_case()), uniform(FAST_RATE), communication)
        assert predicted.seconds == pytest.approx(record.times_s[0], rel=tolerance), record.case


@pytest.mark.parametrize(("ranks", "size"), [(2, "S"), (3, "S"), (4, "S"), (8, "S"), (3, "W")])
def test_times_are_as_predicted_where_nothing_disturbs(ranks, size):
    words = [f"{kernel} class={size} rate={FAST_RATE} arithmetic=none" for kernel in KERNELS]
    check_times(lines_on_switch("hockney-npb", words, ranks), even_switch(ranks), 0.04)


def test_messages_that_share_a_medium_queue():
    machine = simulated.platform("switched-ethernet")
    assert any(described(machine).medium)
    words = [f"{kernel} class=S rate={FAST_RATE} arithmetic=none" for kernel in KERNELS if kernel != "mg"]
    check_times(lines_on(machine, "hockney-npb", words, 4), machine, 0.04)


def test_rates_of_one_rank_are_those_of_its_phases():
    """Except for the sorting that one rank of IS leaves out, which took no time."""
    for record in measured_classes(1):
        rates = measured_rates(program_of(record.parse_case()), [record], record_time(record))
        program = program_of(record.parse_case())
        assert rates is not None
        for phase in program.phases:
            if program.operations_in(phase).any():
                left_out = program.kernel == "is" and phase == "buckets"
                expected = (0.7 / 0.2 if left_out else 1) / FAST_RATE
                assert rates.of(phase) == pytest.approx(expected, rel=1e-5), (record.case, phase)


def record_time(record):
    return Estimate(record.times_s[0], None, None)


def test_a_rate_that_is_too_high_is_what_fails():
    """The error is found in the phase in which the rank computes most."""
    (record,) = [r for r in measured_classes(2) if r.parse_case().workload == "lu"]
    parts = {
        name: record.metrics[name].values[0] for name in ("computation", "messages", "collectives", "waiting")
    }
    right = run_time(program_of(record.parse_case()), uniform(FAST_RATE), on_switch(2))
    assert diagnose(right, record.times_s[0], parts).failing is None
    wrong = run_time(program_of(record.parse_case()), uniform(2 * FAST_RATE), on_switch(2))
    found = diagnose(wrong, record.times_s[0], parts)
    assert found.failing == "rates"
    assert found.error < -0.3 < found.corrected < 0
