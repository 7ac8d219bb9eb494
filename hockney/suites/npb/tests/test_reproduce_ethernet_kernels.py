# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The NAS benchmarks of Krishnamurthy (1998) with made-up times: which speed-ups are as the paper states, and
what follows from them."""

from __future__ import annotations

import pytest
from paper_answers import CATALOG, answers

from hockney.core.case import Case
from hockney.report.render import render
from hockney.reproductions import Part
from hockney.suites.npb.reproductions import ethernet_kernels as kernels
from hockney.suites.papers.reproductions import ethernet

ALONE_S = 100.0
"""One process, at the rate of the description."""
BARRIER_S = 0.05
AS_PRINTED = {
    "ep": {8: 1.0, 16: 0.99},
    "bt": {8: 0.95, 16: 0.85},
    "cg": {8: 0.9, 16: 0.5},
    "mg": {8: 0.85, 16: 0.6},
    "lu": {8: 0.99, 16: 0.8},
}
"""Efficiencies by number of processes; 1 for other numbers."""


def world(efficiencies=AS_PRINTED):
    """Computing is divided evenly; the rest of the time depends only on the number of processes. Barriers
    cost time where they are compared."""
    rates = kernels.simulated.platform("switched-ethernet").rates

    def time(part: Part, case: Case) -> float:
        if case.workload not in kernels.BENCHMARKS:
            return 1e-3
        even = ALONE_S / case.ranks
        rest = even / efficiencies[case.workload].get(case.ranks, 1.0) - even
        inside = part.name == kernels.BARRIERS and case["barrier_at"] == "iteration"
        barrier = kernels.BENCHMARKS[case.workload].iterations * BARRIER_S
        return even * rates[case.workload] / case["rate"] + rest + inside * barrier

    return time


def found(efficiencies):
    return {
        kernel: check.holds
        for kernel, check in zip(
            kernels.BENCHMARKS, kernels.checks(answers(ethernet, world(efficiencies))), strict=True
        )
    }


def test_the_figure_of_the_paper_is_accepted():
    assert found(AS_PRINTED) == dict.fromkeys(kernels.BENCHMARKS, True)


@pytest.mark.parametrize(
    ("kernel", "efficiency"),
    [
        ("ep", {8: 1.0, 16: 0.7}),
        ("bt", {8: 0.9, 16: 0.7}),
        ("cg", {8: 0.6, 16: 0.3}),
        ("mg", {8: 0.9, 16: 0.85}),
        ("lu", {}),
    ],
)
def test_another_figure_is_not(kernel, efficiency):
    expected = dict.fromkeys(kernels.BENCHMARKS, True) | {kernel: False}
    assert found(AS_PRINTED | {kernel: efficiency}) == expected


def test_where_more_is_as_stated_is_in_the_summary():
    """CG would be with a quarter of the rate of computing; what is as stated everywhere is no news."""
    given = answers(ethernet, world(AS_PRINTED | {"cg": {8: 0.75, 16: 0.25}}))
    assert kernels.speed_up_at_rate(given, "cg", 8, 0.25, kernels.FAST_SWITCH) > 0.9 * 8
    texts = " ".join(kernels.summary(given))
    for rate, more in ((kernels.FACTOR_TITLES[0.25], True), (kernels.FACTOR_TITLES[2.0], False)):
        assert (f"{rate} of computing: " in texts) == more


def test_nothing_simulated_is_no_finding():
    given = answers(ethernet, lambda part, case: None)
    assert not any(check.holds for check in kernels.checks(given))
    assert kernels.summary(given) == ()


def test_only_the_runs_on_the_described_machine_compute():
    parts = {part.name: part for part in ethernet.parts(CATALOG)}
    computing = {name: {case.get("arithmetic") for case in part.cases} for name, part in parts.items()}
    assert computing.pop(kernels.KERNELS) == {"real"}
    assert all(
        computing.pop(name) == {"none"}
        for name in (*kernels.NETWORKS, *(part for part, _ in kernels.RATE_PARTS.values()), kernels.BARRIERS)
        if name != kernels.KERNELS
    )
    assert {word for words in computing.values() for word in words} == {None}, "barriers"


def test_the_rate_for_a_linear_speed_up_would_give_one():
    given = answers(ethernet, world())
    rates = given[kernels.KERNELS].platform.rates
    for kernel, benchmark in kernels.BENCHMARKS.items():
        processes = benchmark.linear_limit
        factor = kernels.rate_for_linear(given, kernel) / rates[kernel]
        even = ALONE_S / processes
        rest = even / AS_PRINTED[kernel].get(processes, 1.0) - even
        assert even / factor / (even / factor + rest) == pytest.approx(kernels.MIN_LINEAR_SHARE)


def test_slower_processors_have_larger_speed_ups():
    given = answers(ethernet, world())
    assert kernels.speed_up_at_rate(given, "cg", 16, 0.5) == pytest.approx(16 * 2 / 3)
    assert kernels.speed_up(given, "cg", 16) == pytest.approx(8)
    assert kernels.speed_up_at_rate(given, "cg", 16, 2.0) == pytest.approx(16 / 3)
    assert kernels.speed_up_at_rate(given, "cg", 16, 0.25, kernels.FAST_SWITCH) == pytest.approx(16 * 4 / 5)
    assert kernels.speed_up_at_rate(given, "cg", 16, 0.25) is None, "only on the fast switch"


def test_the_statements_are_rows_and_variants_are_marked():
    compared = kernels.compare(answers(ethernet, world()))
    own = {row.key: row for row in compared if not row.mechanism}
    assert own["barriers/speedup/cg/8"].simulated == pytest.approx(7.2)
    assert own["barriers/speedup/bt/16"].error == pytest.approx(-0.15)
    assert {row.status for row in own.values()} == {"predicted"} and len(own) == 5
    assert [row.status for row in compared if row.mechanism] == ["variant"] * (4 * 5 + 2)


def test_a_barrier_costs_what_it_adds():
    tables = [table for each in kernels.sections(answers(ethernet, world())) for table in each.tables]
    table = next(table for table in tables if table.name == "barriers-inside")
    each = table.columns.index("for each barrier")
    assert len(table.rows) == 15
    assert [row[each].values[0] for row in table.rows] == pytest.approx([BARRIER_S] * 15)


def test_the_page_shows_all_speed_ups():
    given = answers(ethernet, world())
    compared = ethernet.compare(given)
    page = ethernet.page(given, compared, ethernet.checks(given, compared))
    figures = [figure for section in page.sections for figure in section.figures]
    shown = next(figure for figure in figures if figure.name == "ethernet-figure-12")
    drawn = {series.name: dict(zip(series.x, series.y, strict=True)) for series in shown.series}
    assert drawn["CG"][16.0] == pytest.approx(8) and drawn["linear"][16.0] == 16
    assert len(drawn) == 6
    assert render(page)
