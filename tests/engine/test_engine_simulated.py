# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The same engine in SimGrid's SMPI: every workload verifies, in simulated time, and reproducibly."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from itertools import product

import pytest
from engine_cases import NOT_SIMULATED, every_case, group_runs, simulated, whole_cycles
from engine_lines import failures, records, verified
from real_mpi import engine_for, group_for, simgrid_here
from tiers import slow

from hockney import build
from hockney.core.case import Case, parse_canonical
from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.core.record import End, EngineLine, Failure, Launch, Record
from hockney.launch.launcher import LaunchOptions
from hockney.launch.smpi import SmpiLauncher
from hockney.machines.simulated import platform
from hockney.measurement.abilities import find_abilities
from hockney.models.applications.granularity import Algorithm, times
from hockney.models.applications.point_to_point_costs import costs_from_platform
from hockney.models.loggp_sim import LogGPSimulator
from hockney.models.network_sim import NetworkSimulator
from hockney.models.schedules import SCHEDULES
from hockney.system.bundled import bundled_groups

pytestmark = pytest.mark.simgrid

LATENCY_S = 10e-6
"""The latency of a message of any size, with 0.01 us per byte: t = 10 us + x / (100 MB/s)."""
PER_BYTE_S = 1e-8

Simulate = Callable[..., list[EngineLine]]


def described(nodes: int = 16, network: Network | None = None, **more) -> Platform:
    network = network or Network(shape="switch", nodes=(NodeGroup(count=nodes),))
    segment = Segment(latency_s=LATENCY_S, per_byte_s=PER_BYTE_S)
    return Platform(**{"name": "even", "title": "Even", "network": network, "segments": (segment,)} | more)


@pytest.fixture(scope="session")
def engine() -> build.Engine:
    return engine_for(simgrid_here())


@pytest.fixture(scope="session")
def simulate(engine) -> Simulate:
    def run(cases, ranks: int, built: build.Engine = engine, **more) -> list[EngineLine]:
        machine = described(max(16, ranks), **more)
        launcher = SmpiLauncher(simgrid_here(), built.path, built.platform, machine)
        options = LaunchOptions("S", 0, budget_s=120.0, origin="simulated")
        return list(launcher.run(list(cases), ranks, options))

    return run


def median(record: Record) -> float:
    return statistics.median(record.times_s)


WATCHING = ("hierarchical", "one_sided", "shm_central", "shm_dissemination", "shm_tree")
"""Barriers whose ranks poll memory, while simulated time does not advance."""


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 5])
def test_every_workload_verifies(engine, simulate, ranks):
    cases = simulated_cases(engine, ranks)
    verifies(simulate(cases, ranks), cases, ranks)


@pytest.mark.parametrize("ranks", [3, *slow(2, 4, 8, 9)])
def test_every_workload_verifies_and_gives_the_same_lines_twice(engine, simulate, ranks):
    cases = simulated_cases(engine, ranks)
    lines = simulate(cases, ranks)
    verifies(lines, cases, ranks)
    assert simulate(cases, ranks) == lines


def simulated_cases(engine, ranks):
    without = ("neighborhood", *WATCHING)
    together = {3: 1, 4: None}.get(ranks, 2)  # all combinations take a minute
    return list(every_case(engine.catalog, ranks, ("barrier", "window"), without, together=together))


@pytest.mark.slow
@pytest.mark.parametrize(("group", "ranks"), group_runs(2))
def test_every_workload_of_a_group_verifies_or_is_refused_in_a_word(simulate, group, ranks, golden):
    refused = group_verifies(simulate, group, ranks)
    if refused:
        golden(f"{group}_refused.txt", "\n".join(sorted({line.message for line in refused})))


@pytest.mark.slow
@pytest.mark.parametrize(("group", "ranks"), group_runs(1, 3, 4, 9))
def test_every_workload_of_a_group_verifies_on_other_numbers_of_ranks(simulate, group, ranks):
    group_verifies(simulate, group, ranks)


def group_verifies(simulate, group, ranks) -> list[Failure]:
    """What is refused, because the simulator's MPI lacks what it needs; all else verifies."""
    built = group_for(simgrid_here(), group)
    cases = list(every_case(built.catalog, ranks, ("barrier", "window")))
    lines = simulate(cases, ranks, built)
    refused = failures(lines)
    assert {line.reason for line in refused} <= {"refused"}
    assert [line.case for line in refused] == [case.line for case in cases if not simulated(case)]
    measured = [line for line in lines if not isinstance(line, Failure)]
    verifies(measured, [case for case in cases if simulated(case)], ranks, len(cases))
    return refused


@pytest.mark.slow
def test_the_doctor_lists_what_cannot_be_simulated(tmp_path):
    groups = {c.workloads[0].group: {w.name for w in c.workloads} for c in bundled_groups()}
    words = [
        word
        for each in find_abilities(simgrid_here(), {"HOCKNEY_CACHE": str(tmp_path)}).missing
        for word in each.refused.split(", ")
    ]
    refused = set().union(*(groups.get(f"hockney-{word}", {word.split()[0]}) for word in words))
    assert refused == set(NOT_SIMULATED)


@pytest.mark.slow
@pytest.mark.parametrize(("counts", "blocks"), [("even", 1), ("skewed", 2), ("single", 3)])
def test_unequal_counts_take_the_time_of_the_longest_block(simulate, counts, blocks):
    """The root sends all blocks at once on a switch where nothing is shared; the last rank's is longest."""
    built = group_for(simgrid_here(), "hockney-vector_collectives")
    case = built.catalog.case(f"scatterv bytes=1000000 counts={counts} sync=window", 3)
    (record,) = records(simulate([case], 3, built))
    assert median(record) == pytest.approx(LATENCY_S + blocks * PER_BYTE_S * 1_000_000, rel=0.01)


@pytest.mark.parametrize("ranks", [4, *slow(2)])
def test_a_network_that_needs_no_processor_hides_all_of_the_shorter_one(simulate, ranks):
    """The messages of SimGrid's broadcast all go out at once, so computing as long costs nothing more."""
    built = group_for(simgrid_here(), "hockney-nonblocking")
    computing = (0.5, 1, 3)
    words = [f"overlap operation=ibcast bytes=1000 computing={factor}" for factor in computing]
    cases = [built.catalog.case(line, ranks) for line in ("ibcast bytes=1000 sync=window", *words)]
    alone, *both = records(simulate(cases, ranks, built))
    for factor, record in zip(computing, both, strict=True):
        assert record.metrics["pure"].values == pytest.approx([median(alone)] * 2, rel=1e-3)
        assert record.metric("work") == pytest.approx(factor * median(alone), rel=1e-3)
        assert median(record) == pytest.approx(max(1, factor) * median(alone), rel=1e-3)
        assert record.metrics["overlap"].values == pytest.approx([100, 100], abs=0.1)


def test_a_message_hides_behind_computing_that_nothing_slows(engine, simulate):
    asked = list(product(("exchange", "send", "receive"), ((1000, 0), (1_000_000, 0), (1_000_000, 4))))
    lines = [
        f"overlap_message pattern={p} bytes={size} tests={tests} computing=2" for p, (size, tests) in asked
    ]
    found = records(simulate([engine.catalog.case(line, 2) for line in lines], 2))
    for (pattern, (size, _)), record in zip(asked, found, strict=True):
        pure, cpu, alone, computing = (
            record.metrics[name].values for name in ("pure", "cpu", "alone", "computing")
        )
        if pattern != "send" or size > 65536:  # shorter ones have been sent when they are buffered
            assert pure == pytest.approx([LATENCY_S + size * PER_BYTE_S] * 2, rel=0.01, abs=2e-7)
        assert cpu == pytest.approx([2 * time for time in pure], rel=1e-3, abs=1e-7)
        assert record.times_s == pytest.approx(cpu, rel=1e-3, abs=2e-7)
        assert computing == pytest.approx(alone, rel=1e-6)
        assert record.metrics["stolen"].values == pytest.approx([0, 0], abs=1e-4)


def test_polls_find_all_messages_that_the_interval_is_long_enough_for(simulate):
    """A message takes 10 us here: one returns within 100 us, none within 1 us."""
    built = group_for(simgrid_here(), "hockney-nonblocking")
    lines = [f"availability bytes=8 window=5 interval={s} polls=20" for s in (1e-4, 1e-6)]
    found = simulate([built.catalog.case(line, 2) for line in lines], 2, built)
    seldom, often = records(found)
    assert seldom.metrics["messages"].values == [5 * 20] * 2
    assert 0 < often.metrics["messages"].values[0] < 5 * 20
    for record in (seldom, often):
        work, time, size = record.metric("work"), record.times_s[0], record.parse_case().bytes
        assert record.metrics["availability"].values == pytest.approx([100 * work / time] * 2, rel=0.01)
        received = record.metrics["messages"].values[0]
        assert record.metrics["bandwidth"].values == pytest.approx([received * size / time] * 2, rel=0.01)


def verifies(lines, cases, ranks, run=None):
    for record in verified(lines, cases, ranks):
        assert len(record.times_s) == whole_cycles(record.parse_case(), 2) and not record.warmup_s
        if record.sync.kind == "window":
            # one clock for all: nothing to synchronise, no rank late, the same times always
            assert (record.sync.error_s, record.sync.late) == (0, 0), record
            assert record.times_s[1] == pytest.approx(record.times_s[0], rel=1e-6, abs=2e-9), record
    assert isinstance(lines[-1], End) and lines[-1].cases == (run or len(cases))


def test_barriers_that_watch_memory_are_refused_and_the_next_one_runs(engine, simulate, golden):
    names = (*WATCHING, "dissemination")
    lines = simulate([engine.catalog.case(f"barrier algorithm={name}", 3) for name in names], 3)
    refused = failures(lines)
    assert [line.reason for line in refused] == ["refused"] * len(WATCHING)
    golden("watching_refused.txt", "\n".join(dict.fromkeys(line.message for line in refused)))
    assert len(records(lines)) == 1


@pytest.mark.parametrize(
    ("algorithm", "ranks", "messages"),
    [
        ("dissemination", 8, 3),
        ("dissemination_mcs", 9, 4),
        ("central", 2, 2),
        ("mcs_tree", 5, 3),
        ("binomial", 8, 6),
    ],
)
def test_a_simulated_barrier_takes_the_messages_of_its_longest_path(
    engine, simulate, algorithm, ranks, messages
):
    (record,) = records(
        simulate([engine.catalog.case(f"barrier algorithm={algorithm} sync=window", ranks)], ranks)
    )
    assert median(record) == pytest.approx(messages * LATENCY_S, rel=0.01)


def test_what_a_barrier_takes_when_ranks_come_late_and_how_far_apart_they_leave(engine, simulate):
    """Dissemination: the rank that the last one signals first leaves after one message, the last after
    two."""
    texts = ("barrier_staggered algorithm=dissemination delay=1ms", "barrier_skew algorithm=tournament_mcs")
    late, apart = records(simulate([engine.catalog.case(text, 4) for text in texts], 4))
    assert median(late) == pytest.approx(2 * LATENCY_S, rel=0.01)
    # the champion leaves first, two messages before the last one
    assert median(apart) == pytest.approx(2 * LATENCY_S, rel=0.01)


def test_a_launch_tells_of_the_simulated_machine_only(engine, simulate):
    launch = simulate([engine.catalog.case("barrier", 3)], 3)[0]
    assert isinstance(launch, Launch)
    assert [(rank.host, rank.cpus) for rank in launch.ranks] == [("n0", ""), ("n1", ""), ("n2", "")]
    assert len({rank.pid for rank in launch.ranks}) == 3
    assert launch.started_s < 1 and 0 <= launch.init_s < 1 and "SMPI" in launch.library


def test_time_is_the_described_machines(engine, simulate):
    catalog = engine.catalog
    sent = {bytes_: LATENCY_S + PER_BYTE_S * bytes_ for bytes_ in (0, 8, 1000, 100_000)}
    cases = [catalog.case(f"pingpong bytes={bytes_}", 2) for bytes_ in sent]
    for record, wanted in zip(records(simulate(cases, 2)), sent.values(), strict=True):
        assert median(record) == pytest.approx(wanted, rel=1e-3)


def test_pauses_pass_in_simulated_time(engine, simulate):
    """PRTT's delay and the wait of receive_overhead: a loop on a clock that does not advance would never
    end."""
    catalog = engine.catalog
    cases = [
        catalog.case("prtt bytes=8 messages=11 delay=1ms", 2),
        catalog.case("prtt bytes=8 messages=11 delay=0", 2),
        catalog.case("receive_overhead bytes=8 delay=1s", 2),
    ]
    paused, straight, receive = records(simulate(cases, 2))
    assert median(paused) - median(straight) == pytest.approx(10e-3, rel=0.02)
    assert median(receive) < LATENCY_S


def test_a_bisection_needs_two_equal_halves(engine, simulate, golden):
    odd = parse_canonical("bisection buffers=hot bytes=8 direction=one ranks=3 sync=barrier")
    lines = simulate([odd, engine.catalog.case("barrier", 3)], 3)
    (refused,) = failures(lines)
    assert refused.reason == "refused"
    golden("bisection_refused.txt", refused.message)
    assert len(records(lines)) == 1


@pytest.mark.parametrize("ranks", [2, 3, *slow(5, 6)])
def test_round_robin_takes_two_steps_or_three_and_an_exchange_at_once_one(engine, simulate, ranks):
    """On a network without sharing. Beyond the eager limit the last one of an odd number waits until rank 0
    has sent its own."""
    steps = {"": 2 if ranks % 2 == 0 else 3}
    steps |= {f"exchange={way}": 1 for way in ("sendrecv", "nonblocking", "persistent")}
    cases = [engine.catalog.case(f"round_robin {way} bytes=1000000 sync=window", ranks) for way in steps]
    step = LATENCY_S + PER_BYTE_S * 1_000_000
    found = [median(record) for record in records(simulate(cases, ranks))]
    assert found == pytest.approx([count * step for count in steps.values()], rel=0.02)


def test_a_neighborhood_collective_cannot_be_simulated_and_the_next_case_runs(engine, simulate, golden):
    lacking = engine.catalog.case("round_robin exchange=neighborhood", 3)
    lines = simulate([lacking, engine.catalog.case("barrier", 3)], 3)
    (refused,) = failures(lines)
    assert refused.reason == "refused"
    golden("neighborhood_refused.txt", refused.message)
    assert len(records(lines)) == 1


COMPUTING_S = {
    1: {"": 1.0, "serial=0.2 shares=normal:0.5": 1.0},
    2: {"": 0.5, "serial=0.2": 0.2 + 0.4, "shares=3:1": 0.75},
    4: {"": 0.25, "serial=0.2 iterations=1": 0.2 + 0.2},
    8: {"": 0.125},
}
HIDDEN_S = {2: {"shares=1:3": 0.75}, 4: {"shares=1:1:5:1": 0.625, "serial=0.2": 0.2 + 0.2}}


@pytest.mark.parametrize("ranks", COMPUTING_S)
def test_granularity_takes_what_the_equations_say(engine, simulate, ranks):
    """T of 1 s: s T + b (1 - s) T / np, then two messages one after the other; on one rank T. In back-to-back
    iterations, a message that arrives while the busiest rank computes costs it nothing."""
    size, shown, hidden = 40_000, COMPUTING_S[ranks], HIDDEN_S.get(ranks, {})
    lines = [f"granularity work=1s bytes={size} {words} sync=window" for words in (*shown, *hidden)]
    found = records(simulate([engine.catalog.case(line, ranks) for line in lines], ranks))
    message = LATENCY_S + PER_BYTE_S * size
    for words, computing_s, record in zip(shown, shown.values(), found, strict=False):
        exchange = 2 * message if ranks > 1 else 0.0
        assert median(record) == pytest.approx(computing_s + exchange, rel=1e-6)
        assert record.metric("work") == pytest.approx(computing_s) and record.metric("work_error") == 0
        assert record.labels["work_clock"] == "simulated"
        assert record.batch == (1 if "iterations" in words else 20)
    for computing_s, record in zip(hidden.values(), found[len(shown) :], strict=True):
        assert computing_s <= median(record) < computing_s + 2 * message


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_the_papers_machine_takes_what_equation_6_says(engine, ranks):
    """SUNs on one Ethernet (Hanebutte and Tatsumi, 1996): T of 0.1 s, messages of 1 to 10000 words. In both
    steps each message on the cable waits for 16 bytes that the simulator puts before each of the others."""
    paper = costs_from_platform(platform("sun-ethernet"), source="")
    launcher = SmpiLauncher(simgrid_here(), engine.path, engine.platform, platform("sun-ethernet"))
    serial = {2: (0.0, 0.01, 0.2), 4: (0.0,), 8: (0.0,)}[ranks]
    asked = [Algorithm(0.1, 4 * words, s) for words in (1, 1000, 10_000) for s in serial]
    lines = [f"granularity work={a.work_s} serial={a.serial} bytes={int(a.bytes)} sync=window" for a in asked]
    cases = [engine.catalog.case(line, ranks) for line in lines]
    options = LaunchOptions("S", 0, budget_s=120.0, origin="simulated")
    found = [median(r) for r in records(launcher.run(cases, ranks, options))]
    others = 2 * (ranks / 2 - 1) * 16 * 1.25e-6
    assert found == pytest.approx([times(a, paper, ranks).total + others for a in asked], rel=1e-6)


def test_bisection_moves_what_crosses_the_middle(engine, simulate):
    cases = [
        engine.catalog.case(f"bisection bytes=1000 direction={way} sync=window", 6) for way in ("one", "both")
    ]
    one, both = records(simulate(cases, 6))
    assert (one.bytes_moved, both.bytes_moved) == (3000, 6000)
    assert median(one) == pytest.approx(LATENCY_S + PER_BYTE_S * 1000, rel=0.01)


@pytest.mark.parametrize("ranks", [3, *slow(2, 8, 9)])
def test_a_hardware_barrier_ends_so_long_after_the_last_rank(engine, simulate, ranks):
    case = engine.catalog.case("barrier sync=window", ranks)
    (record,) = records(simulate([case], ranks, hardware_barrier_s=1.5e-6))
    assert median(record) == pytest.approx(1.5e-6, rel=1e-3)
    # also in thousands of repetitions: everything else starts from one here
    cases = [engine.catalog.case(f"bcast bytes={8 * i}", ranks) for i in range(300)]
    assert len(records(simulate(cases, ranks, hardware_barrier_s=0.0))) == 300


@pytest.mark.parametrize("root", [3, *slow(0)])
def test_a_broadcast_on_a_medium_is_one_message(engine, simulate, root):
    """All ranks have the data when the message arrives, each of many times and from any root."""
    network = {"shape": "switch", "nodes": (NodeGroup(count=16),), "medium_message_s": 1e-3}
    case = engine.catalog.case(f"bcast bytes=100000 root={root} sync=window", 5)
    several, one = (
        records(simulate([case], 5, network=Network(**network, broadcast=way)))[0]
        for way in ("messages", "medium")
    )
    assert one.verified.errors == 0 and one.verified.bytes > 0
    message = 1e-3 + LATENCY_S + PER_BYTE_S * 100_000
    assert median(one) == pytest.approx(message, rel=1e-2)
    assert median(several) > 3.5e-3, "four messages"
    cases = [engine.catalog.case(f"bcast bytes={8 * i}", 5) for i in range(100)]
    assert len(records(simulate(cases, 5, network=Network(**network, broadcast="medium")))) == 100


SUM_S_PER_BYTE = 1e-6


@pytest.mark.parametrize(
    ("operation", "algorithm", "added"),
    [
        # binomial trees and recursive doubling add a whole vector log2(8) times one after the other
        ("reduce", "binomial", 3),
        *slow(("allreduce", "rdb", 3)),
        # rank 0 adds the vectors of all others
        *slow(("reduce", "ompi_basic_linear", 7)),
        # each step adds half of what the one before did: 1/2 + 1/4 + 1/8
        ("allreduce", "rab_rdb", 7 / 8),
    ],
)
def test_summing_takes_the_time_that_the_description_says(engine, simulate, operation, algorithm, added):
    case = engine.catalog.case(f"{operation} bytes=8000 sync=window", 8)
    collectives = {operation: algorithm}
    (free,) = records(simulate([case], 8, collectives=collectives))
    (paid,) = records(simulate([case], 8, collectives=collectives, sum_s_per_byte=SUM_S_PER_BYTE))
    assert paid.verified.errors == 0
    assert median(paid) - median(free) == pytest.approx(added * 8000 * SUM_S_PER_BYTE, rel=0.05)


@pytest.mark.parametrize("ranks", [5, *slow(8)])
def test_the_engines_collective_algorithms_take_what_their_schedules_predict(engine, simulate, ranks):
    """Messages whose order, sizes or waiting are different end at another time; so do sums."""
    keys, cases = collective_algorithms(engine, ranks)
    costs = {"sum_s_per_byte": 0.3 * PER_BYTE_S}
    found = records(simulate(cases, ranks, **costs))
    for (workload, name, size), record in zip(keys, found, strict=True):
        simulator = LogGPSimulator(described(**costs), ranks)
        expected = simulator.run(SCHEDULES[workload, name](ranks, size)).max()
        assert median(record) == pytest.approx(expected, rel=0.005), record.case


def collective_algorithms(engine, ranks: int) -> tuple[list[tuple[str, str, int]], list[Case]]:
    """Every algorithm at three sizes."""
    keys = [
        (workload.name, name, size)
        for workload in engine.catalog.with_role("collective")
        for parameter in workload.parameters
        if parameter.name == "algorithm"
        for name in parameter.choices
        for size in (8, 6000, 80_000)
        if name != "mpi"
    ]
    words = [f"{workload} algorithm={name} bytes={size} sync=window" for workload, name, size in keys]
    return keys, [engine.catalog.case(text, ranks) for text in words]


SHARED = {
    "torus": Network(shape="torus", dims=(3, 3), nic=8e7, duplex="half", link=9e7, hop_s=1e-7),
    "bus": Network(shape="bus", nodes=(NodeGroup(count=3, cores=2),), link=1e8),
    "medium": Network(nodes=(NodeGroup(count=9),), medium_message_s=1e-4, medium_s_per_byte=1e-8),
    "processors": Network(nodes=(NodeGroup(count=9),), nic=8e7),
}


@pytest.mark.parametrize("shape", ["torus", "medium", *slow("bus", "processors")])
def test_the_engines_collective_algorithms_on_shared_links_take_what_is_predicted(engine, simulate, shape):
    """NICs in both directions, cables, nodes of several cores, a medium, processors that work for messages;
    overheads that differ by call. On a medium the order of messages that set out at the same moment decides,
    in which SimGrid's repetitions differ too."""
    ranks = 6
    keys, cases = collective_algorithms(engine, ranks)
    segment = Segment(
        send_s=2e-6, isend_s=3e-6, latency_s=LATENCY_S, per_byte_s=1.3 * PER_BYTE_S, receive_s=1e-6,
        processor_s=7e-6 if shape == "processors" else 0.0,
    )  # fmt: skip
    costs = {
        "network": SHARED[shape], "sum_s_per_byte": 0.3 * PER_BYTE_S, "segments": (segment,), "eager": 20_000
    }  # fmt: skip
    found = records(simulate(cases, ranks, **costs))
    errors = []
    for (workload, name, size), record in zip(keys, found, strict=True):
        run = NetworkSimulator(described(**costs), ranks).run(SCHEDULES[workload, name](ranks, size))
        errors.append((abs(float(run.max()) / median(record) - 1), record.case))
    assert max(errors)[0] < (0.3 if shape == "medium" else 0.02), max(errors)
    assert statistics.median(error for error, _ in errors) < 0.001
