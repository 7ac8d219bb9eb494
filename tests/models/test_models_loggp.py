# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from models_data import CATALOG, exact, record

from hockney.core.case import Case
from hockney.core.fit import Fit, Subject
from hockney.core.record import RunRecords
from hockney.models import fit_loggp, observe

SIZES = (1, 64, 1024, 8192)
TRUTH = {"L": 5e-7, "o_s": 1e-7, "O_s": 1e-11, "o_r": 1.5e-7, "O_r": 2e-11, "g": 3e-7, "G": 1e-10}


def true(case: Case, latency: float = TRUTH["L"], delay_cost: float = 0.0) -> float:
    """LogGP's own prediction of what each case takes."""
    longer = case["bytes"] - 1
    send, receive = TRUTH["o_s"] + TRUTH["O_s"] * longer, TRUTH["o_r"] + TRUTH["O_r"] * longer
    if case.workload == "receive_overhead":
        return receive
    gap = TRUTH["g"] + TRUTH["G"] * longer
    trip = 2 * (latency + send + receive + TRUTH["G"] * longer)
    return trip + (case["messages"] - 1) * max(send + case["delay"], gap)


def cases(sizes: tuple[int, ...] = SIZES, trains: tuple = ((1, 0.0), (16, 0.0), (16, 1e-5))) -> list[Case]:
    found = [Case.of("prtt", 2, bytes=s, messages=n, delay=d) for s in sizes for n, d in trains]
    return found + [Case.of("receive_overhead", 2, bytes=s, delay=1e-4, sync="barrier") for s in sizes]


def fit(run: RunRecords) -> Fit:
    return fit_loggp(observe(run, CATALOG), Subject.parse("prtt ranks=2"))


def test_exact_times_give_the_exact_parameters() -> None:
    found = fit(exact(true, cases()))
    assert {p.symbol: p.estimate.value for p in found.parameters} == pytest.approx(TRUTH, rel=1e-6)
    assert found.verdict == "good"
    for point in found.curve:
        longer = point.x - 1
        one_way = sum(TRUTH[k] for k in ("L", "o_s", "o_r")) + longer * sum(
            TRUTH[k] for k in ("G", "O_s", "O_r")
        )
        assert point.time == pytest.approx(one_way, rel=1e-6)


def test_a_latency_hidden_by_overlap_is_zero(golden) -> None:
    fitted = fit(exact(lambda case: true(case, latency=-1e-7), cases()))
    assert fitted.parameter("L").estimate.value == 0
    assert fitted.verdict == "fair"
    golden("loggp_hidden_latency.txt", fitted.why)


def test_gaps_that_shrink_with_size_give_no_negative_gap() -> None:
    def shrinking(case: Case) -> float:
        slower = case.workload == "prtt" and case["messages"] > 1 and case["delay"] == 0
        return true(case) - (1.3e-10 * case["bytes"] * 15 if slower else 0)

    found = fit(exact(shrinking, cases()))
    assert found.parameter("G").estimate.value == 0
    assert found.parameter("G").estimate.low == 0


def test_a_delay_shorter_than_the_gap_makes_the_fit_fair(golden) -> None:
    fitted = fit(exact(true, cases(trains=((1, 0.0), (16, 0.0), (16, 1e-8)))))
    assert fitted.verdict == "fair"
    golden("loggp_short_delay.txt", fitted.why)


@pytest.mark.parametrize(
    ("keep", "missing"),
    [
        (lambda c: c.workload == "prtt" or c["bytes"] < 0, "o_r needs"),
        (lambda c: c.workload != "prtt" or c["delay"] == 0, "o_s needs"),
        (lambda c: c.workload != "prtt" or c["messages"] == 1, "g and G need"),
        (lambda c: c["bytes"] == 1, "two sizes"),
    ],
)
def test_what_is_missing_is_named(keep, missing: str) -> None:
    found = fit(exact(true, [case for case in cases() if keep(case)]))
    assert found.verdict == "refused" and missing in found.why and not found.parameters


def test_launches_that_differ_show_in_the_intervals() -> None:
    rng = np.random.default_rng(6)
    records = []
    for launch, factor in enumerate((0.9, 1.0, 1.1)):
        for case in cases():
            waits = (case["messages"] - 1) * case["delay"] if case.workload == "prtt" else 0.0
            times = (true(case) - waits) * factor * rng.lognormal(0, 0.01, 200) + waits
            records.append(record(case, str(launch), times))
    found = fit(RunRecords(records=tuple(records)))
    for symbol, value in TRUTH.items():
        estimate = found.parameter(symbol).estimate
        assert estimate.low <= value <= estimate.high
    wide = found.parameter("g").estimate
    assert wide.high - wide.low > 2 * 4 * 0.1 / np.sqrt(3) * TRUTH["g"] * 0.9
