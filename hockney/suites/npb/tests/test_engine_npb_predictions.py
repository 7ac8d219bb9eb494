# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predicted times of the NAS Parallel Benchmarks are those of a simulated machine, which is as the model
assumes: ranks compute at one rate, and messages do not disturb each other."""

from __future__ import annotations

import pytest
from engine_lines import failures, records
from simulated_switch import even_switch, lines_on, lines_on_switch

from hockney.core.fit import Estimate
from hockney.machines import simulated
from hockney.models.applications.message_costs import described
from hockney.models.programs.communication import Communication
from hockney.models.programs.prediction import predict
from hockney.models.programs.rates import measured_rates, uniform
from hockney.suites.npb.programs import PROGRAMS, program_of
from hockney.suites.npb.programs.assumptions import diagnose

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]

RATE = 1e8
KERNELS = sorted(PROGRAMS)


def measured(ranks, size="S"):
    words = [f"{kernel} class={size} rate={RATE} arithmetic=none" for kernel in KERNELS]
    lines = lines_on_switch("hockney-npb", words, ranks)
    assert [line.message for line in failures(lines)] == []
    return records(lines)


def on_switch(ranks):
    machine = even_switch(ranks)
    return Communication(described(machine), platform=machine)


@pytest.mark.parametrize(
    ("ranks", "off"),
    [(2, 0.03), (3, 0.07), (4, 0.05), (8, 0.1)],
)
def test_times_are_as_predicted_where_nothing_disturbs(ranks, off):
    for record in measured(ranks):
        predicted = predict(program_of(record.parse_case()), uniform(RATE), on_switch(ranks))
        assert predicted.total == pytest.approx(record.times_s[0], rel=off), record.case


def test_larger_classes_too():
    for record in measured(3, "W"):
        predicted = predict(program_of(record.parse_case()), uniform(RATE), on_switch(3))
        assert predicted.total == pytest.approx(record.times_s[0], rel=0.03), record.case


def test_messages_that_share_a_medium_queue():
    """Also those of a pipeline, and of a sum over all ranks."""
    machine = simulated.platform("switched-ethernet")
    assert any(described(machine).medium)
    words = [f"{kernel} class=S rate={RATE} arithmetic=none" for kernel in ("ep", "ft", "lu")]
    lines = lines_on(machine, "hockney-npb", words, 4)
    assert [line.message for line in failures(lines)] == []
    communication = Communication(described(machine), platform=machine)
    for record in records(lines):
        predicted = predict(program_of(record.parse_case()), uniform(RATE), communication)
        assert predicted.total == pytest.approx(record.times_s[0], rel=0.05), record.case


def test_rates_of_one_rank_are_those_of_its_phases():
    """Except for the sorting that one rank of IS leaves out, which took no time."""
    for record in measured(1):
        rates = measured_rates(program_of(record.parse_case()), [record], record_time(record))
        program = program_of(record.parse_case())
        assert rates is not None
        for phase in program.phases:
            for work in phase.busiest.work:
                left_out = program.kernel == "is" and phase.name == "buckets"
                expected = work.operations / RATE * (0.7 / 0.2 if left_out else 1)
                assert rates.seconds(work) == pytest.approx(expected, rel=1e-5), (record.case, phase.name)


def record_time(record):
    return Estimate(record.times_s[0], None, None)


def test_a_rate_that_is_too_high_is_what_fails():
    """In the phase in which the rank computes most."""
    (record,) = [r for r in measured(2) if r.parse_case().workload == "lu"]
    parts = {
        name: record.metrics[name].values[0] for name in ("computation", "messages", "collectives", "waiting")
    }
    right = predict(program_of(record.parse_case()), uniform(RATE), on_switch(2))
    assert diagnose(right, record.times_s[0], parts).failing is None
    wrong = predict(program_of(record.parse_case()), uniform(2 * RATE), on_switch(2))
    found = diagnose(wrong, record.times_s[0], parts)
    assert found.failing == "rates"
    assert found.error < -0.3 < found.corrected < 0
