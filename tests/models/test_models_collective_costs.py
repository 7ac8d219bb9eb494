# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Costs of collective algorithms: closed forms against schedules, a paper's numbers, and predictions from
measured messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models_data import CATALOG, HERE, line_fit, summary
from msgspec.structs import replace

from hockney.core.errors import Inconclusive, UsageError
from hockney.core.fit import Estimate, Fits
from hockney.core.machine import Machine
from hockney.core.platform import Network, NodeGroup, Noise, Platform, Segment
from hockney.models import collective_costs
from hockney.models.collective_costs import one_port_time
from hockney.models.schedules import CLOSED_FORMS, SCHEDULES

ENGINE = Path(__file__).parents[2] / "engine" / "coll"
EVEN = 8192 * 8
"""Bytes of which any multiple by P divides into whole segments, and into P parts of whole doubles."""
KEYS = st.sampled_from(sorted(CLOSED_FORMS))
SECONDS = st.floats(1e-7, 1e-3)
PER_BYTE = st.floats(1e-12, 1e-7)


def test_every_algorithm_of_the_engine_has_a_closed_form_and_no_other():
    files = {(path.parent.name, path.stem) for path in ENGINE.glob("*/*.cpp")}
    assert set(CLOSED_FORMS) == files
    assert files <= set(SCHEDULES)
    assert {
        (operation, name)
        for operation in collective_costs.operations()
        for name in collective_costs.algorithms(operation)
    } == files


@settings(deadline=None)
@given(KEYS, st.integers(2, 40), st.integers(1, 3), SECONDS, PER_BYTE, PER_BYTE)
def test_a_closed_form_is_the_time_of_its_schedule_if_messages_cost_a_line(
    key, ranks, times, alpha, beta, gamma
):
    """Exact where the form claims it; elsewhere about right."""
    form, size = CLOSED_FORMS[key], EVEN * ranks * times
    steps = SCHEDULES[key](ranks, size)
    run = one_port_time(steps, ranks, lambda x: alpha + beta * x, gamma)
    closed = form.seconds(ranks, size, alpha=alpha, beta=beta, gamma=gamma)
    assert run == pytest.approx(closed, rel=1e-9 if form.is_exact(ranks) else 0.2)


@given(KEYS, st.integers(1, 20), st.integers(0, 5000), SECONDS, PER_BYTE, PER_BYTE)
def test_no_algorithm_is_faster_than_its_longest_chain_of_messages(key, ranks, size, alpha, beta, gamma):
    """One rank takes no time, and twice the costs take twice as long."""
    size *= 8
    steps = list(SCHEDULES[key](ranks, size))
    once, twice = (
        one_port_time(steps, ranks, lambda x, f=f: f * (alpha + beta * x), f * gamma) for f in (1.0, 2.0)
    )
    assert twice == pytest.approx(2 * once)
    assert (once > 0) == any(step.layers for step in steps)


def test_the_tree_of_sends_and_receives_of_the_t3e_paper():
    """M. Resch et al., 1998: 1 MB is 10**6 bytes there, and a message of 4K takes 28 us."""

    def long_message(size: float) -> float:
        return 56e-6 + size / 308e6

    time = collective_costs.textbook(long_message, "bcast", "binomial", 32, 1_000_000)
    assert time == pytest.approx(16500e-6, rel=0.002)
    for ranks, printed in ((32, 140.1e-6), (256, 224e-6)):
        time = collective_costs.textbook(lambda size: 28.01e-6, "bcast", "binomial", ranks, 4096)
        assert time == pytest.approx(printed, rel=0.001)
    sends = collective_costs.textbook(lambda size: 15e-6, "alltoall", "pairwise_exchange", 32, 128)
    assert sends == pytest.approx(465e-6)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("bcast", "binomial"),
        ("allgather", "recursive_doubling"),
        ("alltoall", "pairwise_exchange"),
        ("reduce_scatter_block", "pairwise"),
        ("scan", "recursive_doubling"),
    ],
)
def test_the_tree_of_an_operation(operation, expected):
    assert collective_costs.tree_algorithm(operation) == expected


# From a run's fits

ALPHA, BETA = 2e-6, 1e-9
CROSSING = 3e-6
COPY, COMBINE = 2e-10, 5e-10
SIZES = (8, 1024, 65536, 1 << 20)


def measured(*, local: bool = True) -> Fits:
    """A machine with straight lines: messages, crossing messages, copies and combinations."""
    shown = {"bcast": (ALPHA, 0.0)}
    if local:
        shown |= {"allgather": (CROSSING, COPY), "reduce": (ALPHA, COMBINE)}
    summaries = [
        summary(f"{name} bytes={size} ranks=2", start + (BETA + more) * size)
        for name, (start, more) in shown.items()
        for size in SIZES
    ]
    names = ("pingpong", "pingpong_double", *shown)
    return Fits(
        schema=2,
        summaries=summaries,
        fits=[
            line_fit("pingpong buffers=hot ranks=2", ALPHA, BETA),
            line_fit("pingpong_double buffers=hot ranks=2", CROSSING, BETA),
        ],
        workloads=[CATALOG.entry(name) for name in names],
    )


def predicted(operation: str, algorithm: str, ranks: int = 2, fits: Fits | None = None):
    return collective_costs.predict(fits or measured(), HERE, operation, algorithm, ranks, SIZES)


@pytest.mark.parametrize(
    ("operation", "algorithm", "expected"),
    [
        ("bcast", "binomial", lambda m: ALPHA + BETA * m),
        (
            "gather",
            "linear",
            lambda m: ALPHA + BETA * m,
        ),  # the root copies meanwhile
        ("scatter", "linear", lambda m: ALPHA + BETA * m),
        ("allgather", "ring", lambda m: CROSSING + (BETA + COPY) * m),
        ("allgather", "bruck", lambda m: CROSSING + (BETA + 3 * COPY) * m),
        ("alltoall", "bruck", lambda m: CROSSING + (BETA + 6 * COPY) * m),
        ("allreduce", "recursive_doubling", lambda m: CROSSING + (BETA + COPY + COMBINE) * m),
        ("reduce", "linear", lambda m: ALPHA + (BETA + COMBINE) * m),
        ("reduce_scatter_block", "pairwise", lambda m: CROSSING + (BETA + COPY + COMBINE) * m),
    ],
)
def test_two_ranks_of_a_measured_machine(operation, algorithm, expected):
    for found in predicted(operation, algorithm):
        assert found.time.value == pytest.approx(expected(found.size), rel=0.02)
        assert found.time.low < found.time.value < found.time.high
        assert found.left_out == ()


def test_the_interval_is_that_of_the_messages():
    for found in predicted("bcast", "binomial", ranks=8):
        assert found.time.value == pytest.approx(3 * (ALPHA + BETA * found.size))
        assert found.textbook == pytest.approx(found.time.value)
        assert (found.time.low, found.time.high) == pytest.approx(
            (0.9 * found.time.value, 1.1 * found.time.value)
        )


def test_data_that_a_rank_has_written_cost_more_to_send():
    """As MPI's scan shows; not data that the caller passed."""
    fresh = 3e-10
    fits = measured()
    scans = [summary(f"scan bytes={n} ranks=2", ALPHA + (BETA + COPY + COMBINE + fresh) * n) for n in SIZES]
    fits = replace(
        fits,
        summaries=[*fits.summaries, *scans],
        workloads=[*fits.workloads, CATALOG.entry("scan")],
    )

    def more(operation: str, algorithm: str, ranks: int = 2) -> float:
        pairs = zip(
            predicted(operation, algorithm, ranks, fits), predicted(operation, algorithm, ranks), strict=True
        )
        with_it, without = list(pairs)[-1]
        return (with_it.time.value - without.time.value) / (fresh * SIZES[-1])

    assert more("allgather", "ring") == pytest.approx(1)
    assert more("allreduce", "recursive_doubling", 8) == pytest.approx(3)
    assert more("bcast", "linear") == pytest.approx(0)
    assert more("bcast", "binomial", 8) == pytest.approx(2), "all but the root's"
    assert more("alltoall", "pairwise_exchange", 8) == pytest.approx(0)
    assert more("reduce_scatter_block", "pairwise", 8) == pytest.approx(0)


def test_work_that_was_not_measured_is_named():
    fits = measured(local=False)
    assert {row.left_out for row in predicted("bcast", "chain", fits=fits)} == {()}
    assert {row.left_out for row in predicted("reduce", "linear", fits=fits)} == {("combine",)}
    assert {row.left_out for row in predicted("allreduce", "ring", fits=fits)} == {("copy", "combine")}


def test_only_cases_with_the_launch_setting_of_the_ping_pong_count():
    fits = measured()
    others = [
        replace(each, case=f"{each.case} setting=slow", typical=Estimate(1.0, None, None))
        for each in fits.summaries
    ]
    both = replace(fits, summaries=[*fits.summaries, *others])
    for operation, algorithm in (("allgather", "ring"), ("reduce", "linear")):
        assert predicted(operation, algorithm, fits=both) == predicted(operation, algorithm)


def test_a_longer_copy_takes_no_less():
    """One allgather that was disturbed neither counts fully, nor for all larger sizes."""
    fits = measured()
    times = {8: COPY * 8, 1024: 9e-6, 65536: 5e-6, 1 << 20: COPY * (1 << 20)}
    seen = [summary(f"allgather bytes={n} ranks=2", CROSSING + BETA * n + more) for n, more in times.items()]
    others = [each for each in fits.summaries if not each.case.startswith("allgather")]
    disturbed = replace(fits, summaries=[*others, *seen])
    copied = [
        row.time.value - CROSSING - BETA * row.size for row in predicted("allgather", "ring", fits=disturbed)
    ]
    assert copied == pytest.approx([times[8], 7e-6, 7e-6, times[1 << 20]], rel=1e-6)


def test_the_tree_is_next_to_mpis_own_time():
    rows = collective_costs.beside_mpi(measured(), HERE, "reduce")
    assert [row.size for row in rows] == list(SIZES)
    for row in rows:
        assert (row.algorithm, row.ranks) == ("binomial", 2)
        assert row.mpi.value == pytest.approx(ALPHA + (BETA + COMBINE) * row.size)
        assert row.predicted.size == row.size
        assert row.predicted.time.value >= row.mpi.value * 0.999


def test_what_cannot_be_predicted():
    for operation, algorithm in (("bcast", "magic"), ("barrier", "dissemination"), ("nothing", "linear")):
        with pytest.raises(UsageError) as found:
            predicted(operation, algorithm)
        assert found.value.code == "unknown-collective-algorithm"
    with pytest.raises(UsageError) as found:
        predicted("bcast", "linear", ranks=0)
    assert found.value.code == "rank-count-not-modelled"
    nothing = Fits(schema=2, summaries=[], fits=[], workloads=[])
    with pytest.raises(Inconclusive) as missing:
        predicted("bcast", "linear", fits=nothing)
    assert missing.value.code == "no-message-model"


# On a described machine


def described(**network) -> Machine:
    segment = Segment(send_s=1e-6, latency_s=8e-6, per_byte_s=1e-9, receive_s=1e-6)
    noise = network.pop("noise", None)
    platform = Platform(
        name="m", title="M", network=Network(nodes=(NodeGroup(count=8),), **network), segments=(segment,),
        eager=1 << 14, sum_s_per_byte=COMBINE, noise=noise,
    )  # fmt: skip
    return replace(HERE, platform=platform)


def simulated(machine: Machine, operation: str, algorithm: str, ranks: int, size: int):
    (found,) = collective_costs.predict(NOTHING, machine, operation, algorithm, ranks, [size])
    return found


NOTHING = Fits(schema=2, summaries=[], fits=[], workloads=[])
"""A description needs no fits."""
WHOLE = 1e-5
PER_BYTE_S = 1e-9


def test_a_described_machine_is_exact():
    found = simulated(described(), "allreduce", "recursive_doubling", 8, 1000)
    expected = 3 * (WHOLE + (PER_BYTE_S + COMBINE) * 1000)
    assert (found.time.low, found.time.value, found.time.high) == pytest.approx((expected,) * 3)
    assert found.textbook == pytest.approx(expected)
    assert found.left_out == ()


def test_a_described_machine_with_noise_has_no_interval():
    found = simulated(described(noise=Noise(relative=0.1)), "bcast", "binomial", 4, 8)
    assert (found.time.low, found.time.high) == (None, None)


def test_links_that_messages_share_count():
    """Seven messages each way pass a NIC, in one direction at a time."""
    size = 1 << 20
    free, shared = (
        simulated(machine, "alltoall", "linear", 8, size).time.value
        for machine in (described(), described(nic=1e9, duplex="half"))
    )
    assert free == pytest.approx(WHOLE + PER_BYTE_S * size, rel=0.02)
    assert shared == pytest.approx(14 * PER_BYTE_S * size, rel=0.02)


def test_more_ranks_than_a_described_machine_has():
    with pytest.raises(UsageError) as found:
        simulated(described(), "bcast", "linear", 9, 8)
    assert found.value.code == "rank-count-not-modelled"
