# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
import pytest
from models_data import CATALOG, Noise, exact, record, simulate

from hockney.core.case import Case
from hockney.core.fit import Fit, Subject
from hockney.core.record import MetricSeries, Record, RunRecords, Visits
from hockney.models import CONTRADICTIONS, fit_loggp, observe

SIZES = (1, 64, 1024, 8192)
TRUTH = {"L": 5e-7, "o_s": 1e-7, "O_s": 1e-11, "o_r": 1.5e-7, "O_r": 2e-11, "g": 3e-7, "G": 1e-10}


def true(case: Case, latency: float = TRUTH["L"], delay_cost: float = 0.0) -> float:
    """LogGP's prediction of each case's time."""
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


NOISE = Noise("tails", launches=3, repetitions=200)
MESSAGES = [Case.of("pingpong", 2, bytes=s, buffers="hot") for s in (1, 8, 64, 512, 1024, 4096, 8192)]


def noisy(times: Callable[[Case], float], seed: int = 3, measured: list[Case] | None = None) -> Fit:
    """The simulator adds the pauses, which have no noise."""

    def unpaused(case: Case) -> float:
        waits = (case["messages"] - 1) * case["delay"] if case.workload == "prtt" else 0.0
        return times(case) - waits

    return fit(simulate(unpaused, measured or cases(), NOISE, np.random.default_rng(seed)))


def truth(**changed: float) -> Callable[[Case], float]:
    """LogGP's times for a train whose gap and overhead need not be consistent."""
    value = TRUTH | changed

    def times(case: Case) -> float:
        longer = case["bytes"] - 1
        send, receive = value["o_s"] + value["O_s"] * longer, value["o_r"] + value["O_r"] * longer
        if case.workload == "receive_overhead":
            return receive
        if case.workload == "pingpong":
            return value["L"] + send + receive + value["G"] * longer
        gap = value["g"] + value["G"] * longer
        trip = 2 * (value["L"] + send + receive + value["G"] * longer)
        step = send + case["delay"] if case["delay"] else gap
        return trip + (case["messages"] - 1) * step

    return times


@pytest.mark.parametrize("symbol", ["L", "o_s", "g", "G", "O_s", "O_r"])
def test_a_parameter_held_at_zero_may_be_as_large_as_its_errors(symbol: str) -> None:
    below = {"L": -2e-8, "o_s": -2e-8, "g": -2e-8, "G": -1e-12, "O_s": -1e-12, "O_r": -1e-12}
    rest = {"o_s": 1e-9, "o_r": 1e-9} if symbol == "g" else {}
    for seed in range(3):
        found = noisy(truth(**(rest | {symbol: below[symbol]})), seed)
        for parameter in found.parameters:
            estimate = parameter.estimate
            assert 0 <= estimate.low <= estimate.value <= estimate.high and estimate.low < estimate.high
        held = found.parameter(symbol).estimate
        assert held.low == 0 < held.high


def test_a_gap_below_the_overhead_by_chance_is_drawn_up_to_it() -> None:
    for seed in range(8):
        found = noisy(truth(g=1.49e-7, o_s=1.5e-7, o_r=1e-7), seed)
        gap, send = found.parameter("g").estimate, found.parameter("o_s").estimate
        assert gap.value >= 0.999 * send.value
        assert gap.low < 1.5e-7 < gap.high and send.low < 1.5e-7 < send.high
        assert not {c.code for c in found.caveats} & CONTRADICTIONS


def test_a_gap_far_below_the_overhead_is_a_contradiction() -> None:
    found = noisy(truth(g=1.6e-7, o_s=2.2e-7, o_r=1e-7))
    [caveat] = [c for c in found.caveats if c.code == "gap-below-send-overhead"]
    assert caveat.values == pytest.approx({"gap": 1.6e-7, "overhead": 2.2e-7}, rel=0.05)
    assert found.parameter("g").estimate.value == pytest.approx(1.6e-7, rel=0.05), "nothing is imposed"
    assert found.verdict != "good"


def test_a_sum_that_is_not_the_ping_pongs_time_is_a_contradiction() -> None:
    """512 ns of overheads in messages of 313 ns: both ends work at the same time."""

    def overlapping(case: Case) -> float:
        return truth(o_s=2.2e-7, o_r=2.92e-7, L=3.13e-7 - 5.12e-7, g=3e-7)(case)

    found = noisy(overlapping, measured=cases() + MESSAGES)
    [caveat] = [c for c in found.caveats if c.code == "sum-not-ping-pong"]
    assert caveat.values == pytest.approx({"sum": 5.12e-7, "ping_pong": 3.13e-7}, rel=0.05)
    assert found.parameter("L").estimate.value == 0 < found.parameter("L").estimate.high
    assert all(p.low < 3.13e-7 + TRUTH["G"] * p.x and p.high >= p.time > 4.5e-7 for p in found.curve)
    assert not noisy(truth(), measured=cases() + MESSAGES).caveats


def test_trains_beyond_a_change_of_protocol_are_left_out() -> None:
    """The ping-pong shows the change: messages of more than 4 KiB wait for each other."""
    small, large = truth(), truth(L=5e-6, g=4e-6, G=5e-11)

    def changing(case: Case) -> float:
        return (small if case["bytes"] <= 4096 else large)(case)

    sweep = [Case.of("pingpong", 2, bytes=1 << k, buffers="hot") for k in range(20)]
    sizes = (1, 64, 512, 2048, 8192, 32768)
    found = fit(exact(changing, cases(sizes) + sweep))
    assert {p.symbol: p.estimate.value for p in found.parameters} == pytest.approx(TRUTH, rel=1e-6)
    assert [p.x for p in found.curve] == [1, 64, 512, 2048]


def test_short_messages_that_follow_at_one_pace_do_not_bend_the_line() -> None:
    """On a slow wire the processors limit the trains of short messages, the wire those of long ones."""
    per_byte = 1.25e-6

    def paced(case: Case) -> float:
        longer = case["bytes"] - 1
        if case.workload == "receive_overhead":
            return 4e-4
        step = 4e-4 + case["delay"] if case["delay"] else max(4e-4, per_byte * longer)
        return 2 * (15e-4 + per_byte * longer) + (case["messages"] - 1) * step

    sizes = (8, 64, 256, 1024, 2048, 3072, 8192)
    found = fit(exact(paced, cases(sizes, ((1, 0.0), (16, 0.0), (16, 0.05)))))
    values = {p.symbol: p.estimate.value for p in found.parameters}
    assert values["g"] == pytest.approx(4e-4, rel=1e-3) and values["G"] == pytest.approx(per_byte, rel=1e-3)
    assert values["L"] == pytest.approx(7e-4, rel=0.02) and values["o_s"] == pytest.approx(4e-4)
    assert [s.latency.value for s in found.segments] == pytest.approx([4e-4, 0.0], abs=1e-6)
    assert found.verdict == "good" and not found.caveats


JUMPING_SIZES = (8, 256, 1024, 2048, 3072)


def jumping(case: Case) -> float:
    """Shared memory: short messages leave by another path."""
    size = case["bytes"]
    receive = 1.2e-7 + 3e-11 * size
    if case.workload == "receive_overhead":
        return receive
    sends = {8: 1.2e-7, 256: 1.2e-7, 1024: 1.0e-6, 2048: 1.15e-6, 3072: 1.3e-6}
    trip = 2 * (3.4e-7 + 2.5e-10 * size)
    step = sends[size] + case["delay"] if case["delay"] else 2.2e-7 + 3.5e-10 * size
    return trip + (case["messages"] - 1) * step


@pytest.mark.parametrize("factor", [1.0, 8.0])
def test_slow_launches_do_not_hide_that_parts_exceed_a_message(factor: float) -> None:
    """All times of a launch are slow together, so the difference is as clear as without them."""
    records = [
        record(case, f"{k}", [(factor if k < 5 else 1.0) * jumping(case)] * 10)
        for k in range(10)
        for case in cases(JUMPING_SIZES, ((1, 0.0), (16, 0.0), (16, 1e-9)))
    ]
    found = fit(RunRecords(records=records))
    [caveat] = [c for c in found.caveats if c.code == "parts-exceed-message"]
    assert caveat.values["size"] == 1024 and found.ranges == {"bytes": (8, 256)}


def test_an_overhead_that_jumps_with_the_size_keeps_its_value_at_the_smallest() -> None:
    """A line through all sizes gave an o_s of 0. Both ends work at the same time, so the parts exceed the
    time of long messages."""
    found = fit(exact(jumping, cases(JUMPING_SIZES)))
    assert found.parameter("o_s").estimate.value == pytest.approx(1.2e-7, rel=1e-3)
    assert found.parameter("L").estimate.value == pytest.approx(1.0e-7, rel=0.1)
    [caveat] = [c for c in found.caveats if c.code == "parts-exceed-message"]
    assert caveat.values["size"] == 1024 and caveat.values["most"] > 0.5
    assert found.worst > 0.5 and found.verdict != "good", "single messages count"
    assert [point.x for point in found.curve] == [8, 256] and found.ranges == {"bytes": (8, 256)}


def test_a_latency_next_to_an_overhead_held_at_zero_lies_inside_its_interval() -> None:
    for seed in range(6):
        estimate = noisy(truth(o_s=-5e-8), seed).parameter("L").estimate
        assert estimate.high - estimate.value == pytest.approx(estimate.value - estimate.low, rel=0.2)


def paused_by_visit(launch: int, size: int, per: str) -> Record:
    """A delayed train with four visits, whose pauses differ by far more than o_s. Per record, `paused` is
    that of the last one, as engines reported it before it was per repetition."""
    pauses = np.array([2.5e-6, 1.8e-6, 2.1e-6, 2.2e-6]) * (1 + 0.1 * launch)
    case = Case.of("prtt", 2, bytes=size, messages=16, delay=0.0, pause=1.5)
    same = [Case.of("prtt", 2, bytes=size, messages=16, delay=pause) for pause in pauses]
    made = record(case, str(launch), np.repeat([true(one) for one in same], 3))
    values = np.repeat(pauses, 3).tolist() if per == "repetition" else [float(pauses[-1])]
    series = MetricSeries(unit="s", over_ranks="root", per=per, phase=False, values=values)
    visits = Visits(after_s=[0.0, 0.1, 0.2, 0.3], repetitions=[3] * 4, preempted=[0] * 4)
    return msgspec.structs.replace(made, metrics={"paused": series}, visits=visits)


@pytest.mark.parametrize("per", ["repetition", "record"])
def test_pauses_of_each_visit_are_its_own(per: str) -> None:
    """Each visit measures its own round trip, and pauses for 1.5 of them."""
    records = []
    for launch in range(3):
        for case in cases(trains=((1, 0.0), (16, 0.0))):
            records.append(record(case, str(launch), [true(case)] * 10))
        records += [paused_by_visit(launch, size, per) for size in SIZES]
    found = fit(RunRecords(records=tuple(records)))
    assert found.parameter("o_s").estimate.value == pytest.approx(TRUTH["o_s"], rel=1e-6)
    assert found.parameter("O_s").estimate.value == pytest.approx(TRUTH["O_s"], rel=1e-6)


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
