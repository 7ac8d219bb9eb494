# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What messages and collectives of a graph cost, compared with the simulator of schedules and its costs."""

from __future__ import annotations

import numpy as np
import pytest
from models.test_models_level_costs import CATALOG, HERE, measured, summary
from msgspec import structs
from replay.made_traces import Written, job_of_written, part, written
from replay.replayed import agreement, replayed

from hockney.core.errors import UsageError
from hockney.core.fit import Estimate, MetricSummary
from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.machines import simulated
from hockney.models.applications.message_costs import costs_of_description, messages_for
from hockney.models.level_costs import CostsByLevel
from hockney.models.loggp_sim import LayerCosts, LogGPSimulator
from hockney.models.programs.communication import Communication, communication_from_fits
from hockney.models.programs.timing import LenientSimulator
from hockney.models.schedules import SCHEDULES, Layer, Mode, NotModelled, Step
from hockney.replay import graph as g
from hockney.replay.building import Placement, TraceGraph, build
from hockney.replay.collectives import GroupCosts, PricedGraph, build_template, price_graph
from hockney.replay.evaluator import Evaluator, Parameter
from hockney.replay.graph import computed_by_rank
from hockney.replay.pricing import Machine, NetworkChange, make_machine, message_costs, with_network_change

PER_NODE = 4
ROOTED = ("bcast", "reduce", "gather", "scatter")


def platform(**parts: float) -> Platform:
    return Platform(
        name="p", title="", network=Network(nodes=(NodeGroup(count=16, cores=PER_NODE),)), eager=100,
        sum_s_per_byte=0.25, segments=(Segment(**{"latency_s": 10.0, "per_byte_s": 0.5, **parts}),),
        on_node=(Segment(latency_s=2.0, per_byte_s=0.125, send_s=0.5, receive_s=0.25),),
    )  # fmt: skip


DESCRIBED = platform(send_s=1.0, isend_s=2.0, receive_s=3.0, gap_s=4.0)
FITS = measured({}, [summary(f"allgather bytes={n} ranks=2", t) for n, t in ((8, 2e-6), (4096, 5e-6))])


def on_description(machine: Platform = DESCRIBED) -> Communication:
    return Communication(costs_of_description(machine), platform=machine)


def as_measured(fits: object = FITS) -> Communication:
    return communication_from_fits(fits, messages_for(fits, HERE, "the run", hosts=2))


def built(ranks: list[Written], **options: object) -> TraceGraph:
    hosts = [rank // PER_NODE for rank in range(len(ranks))]
    return build([each.trace for each in ranks], job_of_written(ranks, hosts=hosts, **options))  # type: ignore[arg-type]


def machine(communication: Communication, ranks: int) -> Machine:
    return make_machine(communication, Placement.from_hosts(np.arange(ranks) // PER_NODE))


def ends(found: PricedGraph) -> np.ndarray:
    return Evaluator(found.graph, found.costs).run().ends


def called(operation: str, size: int, start: np.ndarray, root: int = -1) -> TraceGraph:
    ranks = written(len(start))
    for each, begin in zip(ranks, start.tolist(), strict=True):
        each.call(operation.capitalize(), part("collective", size=size, root=root), after=begin, took=0.0)
    made = built(ranks)
    made.graph.tail_s[:] = 0.0
    return made


@pytest.mark.parametrize("kind", ["described", "measured"])
@pytest.mark.parametrize("operation", sorted({operation for operation, _ in SCHEDULES}))
def test_an_expanded_collective_lasts_as_long_as_its_schedule(kind, operation):
    count = 0
    for of, name in SCHEDULES:
        for ranks, size in ((2, 8), (3, 5000), (8, 64), (13, 5000)):
            if of != operation:
                continue
            try:
                steps = list(SCHEDULES[of, name](ranks, size))
            except NotModelled:
                continue
            start = np.random.default_rng(ranks).integers(0, 40, ranks).astype(float)
            if kind == "described":
                communication = on_description()
                simulator = LenientSimulator(DESCRIBED, ranks, start=start)
            else:
                communication, start = as_measured(), 1e-6 * start
                levels = CostsByLevel(communication.measured_within_node, communication.measured)
                simulator = LenientSimulator(None, ranks, levels.on(ranks, PER_NODE), start)
            made = called(operation, size, start, 0 if operation in ROOTED else -1)
            found = price_graph(made.graph, machine(communication, ranks), {operation: name})
            assert ends(found) == pytest.approx(simulator.run(steps), rel=1e-6), (name, ranks, size)
            assert len(found.graph.groups) == 0
            count += 1
    assert count >= 3


def test_the_root_and_the_members_of_a_communicator_are_those_of_the_call():
    """A broadcast from rank 5, in a communicator of ranks in another order."""
    members = [1, 7, 5, 2, 6]
    ranks = written(8)
    for rank in members:
        ranks[rank].call("Bcast", part("collective", size=8, communicator=2, root=5))
        ranks[rank].call("Barrier", part("collective", communicator=2))
    made = built(ranks, communicators=[range(8), members])
    found = price_graph(made.graph, machine(on_description(), 8), {"bcast": "linear"})
    messages = found.graph.messages
    assert messages[["source", "target", "size"]].tolist()[:4] == [(5, r, 8) for r in (2, 6, 1, 7)]
    assert (messages["communicator"] == 1).all()
    by_rank = {
        rank: found.graph.ops[found.graph.first[rank] : found.graph.first[rank + 1]] for rank in range(8)
    }
    sends = by_rank[5][by_rank[5]["kind"] == g.SEND]
    assert sends["slot"].tolist()[:4] == [0, 1, 2, 3]
    assert len(by_rank[0]) == 0
    assert {(each.operation, each.algorithm, each.basis) for each in found.choices} == {
        ("bcast", "linear", "requested"), ("barrier", "ompi_bruck", "described")
    }  # fmt: skip


@pytest.mark.parametrize(("ranks", "simulated_s"), [(16, 166.53e-6), (64, 586.32e-6), (256, 2251.71e-6)])
def test_splitting_a_communicator_takes_as_long_as_in_simgrid(ranks, simulated_s):
    """Times of SimGrid 3.32 on the simulated T3E, between a barrier and the last rank that leaves."""
    description = simulated.platform("t3e")
    communication = Communication(costs_of_description(description), platform=description)
    found = price_graph(called("Comm_split", 0, np.zeros(ranks)).graph, machine(communication, ranks))
    assert ends(found).max() == pytest.approx(simulated_s, rel=0.07)


def test_making_a_communicator_on_a_measured_machine_exchanges_colors_and_a_number():
    found = {
        name: ends(price_graph(called(name, size, np.zeros(8)).graph, machine(as_measured(), 8))).max()
        for name, size in (("Comm_split", 0), ("Comm_dup", 0), ("Allreduce", 4), ("Allgather", 8))
    }
    assert found["Comm_dup"] == pytest.approx(found["Allreduce"], rel=1e-3)
    assert found["Comm_split"] == pytest.approx(found["Allreduce"] + found["Allgather"], rel=0.3)


def test_many_instances_of_an_expanded_collective_follow_each_other():
    ranks = written(6)
    for each in ranks:
        for number in range(5):
            each.call("Allreduce", part("collective", size=8 + number % 2), after=0.25, took=0.0)
            each.call("Isend", part("start send", (each.rank + 1) % 6, 8))
            each.call("Recv", part("receive", (each.rank - 1) % 6, 8))
    found = price_graph(built(ranks).graph, machine(on_description(), 6), {"allreduce": "recursive_doubling"})
    times = ends(found)
    seen = found.graph.ops["slot"][found.graph.ops["kind"] == g.SEND]
    assert sorted(seen.tolist()) == list(range(len(found.graph.messages)))
    one = LogGPSimulator(DESCRIBED, 6).run(SCHEDULES["allreduce", "recursive_doubling"](6, 8)).max()
    assert times.min() > 5 * (0.25 + one)
    assert {(each.size, each.calls) for each in found.choices} == {(8, 3), (9, 2)}


def test_messages_cost_what_the_machine_charges_for_their_call_size_and_ranks():
    ranks = written(8)
    ranks[0].call("Send", part("send", 1, 8))
    ranks[0].call("Send", part("send", 4, 8))
    ranks[0].call("Send", part("send", 4, 5000))
    request = ranks[0].start_request("Isend", part("start send", 4, 8))
    ranks[0].call("Wait", ranks[0].end(request))
    ranks[0].call("Sendrecv", part("send", 4, 8), part("receive", 4, 8))
    ranks[1].call("Recv", part("receive", 0, 8))
    for size in (8, 5000, 8):
        ranks[4].call("Recv", part("receive", 0, size))
    ranks[4].call("Sendrecv", part("send", 0, 8), part("receive", 0, 8))
    graph = built(ranks).graph
    found = price_graph(graph, machine(on_description(), 8))
    sends = graph.ops[(graph.ops["kind"] == g.SEND)]
    rows = found.costs[sends["cost"]]
    assert rows["overhead"].tolist() == [0.5, 1.0, 1.0, 2.0, 2.0, 2.0]
    assert rows["latency"].tolist() == [2.0, 10.0, 10.0, 10.0, 10.0, 10.0]
    assert rows["transfer"].tolist() == [1.0, 4.0, 2500.0, 4.0, 4.0, 4.0]
    assert rows["eager"].tolist() == [1, 1, 0, 1, 1, 1]
    assert [g.LEVELS[level] for level in rows["level"]] == ["node"] + 5 * ["network"]
    costs = as_measured()
    found = price_graph(graph, machine(costs, 8))
    for op in sends:
        row, message = found.costs[op["cost"]], graph.messages[op["slot"]]
        near = int(message["source"]) // PER_NODE == int(message["target"]) // PER_NODE
        levels = costs.measured_within_node if near else costs.measured
        layer = Layer(np.array([0]), np.array([1]), np.array([float(message["size"])]))
        one = levels.of(layer, Mode.BLOCKING)
        for name in ("overhead", "receive", "gap"):
            assert row[name] == pytest.approx(getattr(one, name)[0])
        assert row["latency"] + row["transfer"] == pytest.approx(one.flight[0])


def test_vectors_of_about_equal_mean_blocks_are_alike():
    ranks = written(4)
    for each in ranks:
        for number in range(200):
            each.call("Alltoallv", part("collective", size=1000 + number + each.rank))
    found = price_graph(built(ranks).graph, machine(on_description(), 4), {"alltoall": "linear"})
    assert sum(each.calls for each in found.choices) == 200
    assert 10 < len(found.choices) < 30
    sizes = found.graph.messages["size"].astype(float).reshape(200, -1)
    assert (np.abs(sizes / (1001.5 + np.arange(200))[:, None] - 1) < 0.01).all()


def test_a_measured_collective_takes_the_time_of_the_survey():
    made = called("allgather", 8, np.array([0.0, 5e-6]))
    found = price_graph(made.graph, machine(as_measured(), 2))
    assert ends(found) == pytest.approx([7e-6, 7e-6])
    assert [(each.algorithm, each.basis) for each in found.choices] == [("", "measured")]
    assert found.rounds.tolist() == [1.0]
    assert found.graph.groups.tolist() == made.graph.groups.tolist()


def test_the_best_algorithm_is_the_fastest_one():
    ranks, size = 8, 4096
    start = np.zeros(ranks)
    names = [name for operation, name in SCHEDULES if operation == "allreduce"]
    times = {}
    for name in ["best", *names]:
        found = price_graph(
            called("allreduce", size, start).graph, machine(on_description(), ranks), {"allreduce": name}
        )
        times[name] = float(ends(found).max())
    best = times.pop("best")
    assert best == pytest.approx(min(times.values()))
    assert best < max(times.values())


def test_a_nonblocking_collective_overlaps_with_computation():
    """A requested algorithm is that of another MPI, which advances by itself."""
    ranks = written(4)
    for each in ranks:
        request = each.start_request("Iallreduce", part("start collective", size=8), after=0.0, took=0.0)
        each.call("Wait", each.end(request), after=1000.0, took=0.0)
    made = built(ranks)
    found = price_graph(made.graph, machine(on_description(), 4), {"allreduce": "recursive_doubling"})
    assert ends(found) == pytest.approx([1000.0] * 4)
    assert len(found.graph.groups) == 1


@pytest.mark.parametrize(
    ("algorithms", "ranks", "code"),
    [
        ({"allreduce": "rabenseifer"}, 4, "unknown-algorithm"),
        ({"allredude": "ring"}, 4, "unknown-collective"),
        ({"alltoall": "pairwise_xor"}, 6, "program-algorithm"),
    ],
)
def test_algorithms_that_do_not_exist_are_refused(algorithms, ranks, code):
    made = called("alltoall", 8, np.zeros(ranks))
    with pytest.raises(UsageError) as error:
        price_graph(made.graph, machine(on_description(), ranks), algorithms)
    assert error.value.code == code


@pytest.mark.parametrize(("kind", "ways"), [("measured", 2), ("described", 1)])
def test_puts_wait_for_their_way_and_gets_for_two(kind, ways):
    """In SimGrid, the message of a get starts at once."""
    ranks = written(8)
    for each in ranks[::4]:
        each.call("Win_fence", part("synchronize"))
    ranks[0].call("Put", part("put", 4, 20), after=0.0)
    for each in ranks[::4]:
        each.call("Win_fence", part("synchronize"), after=0.0)
    ranks[0].call("Get", part("get", 4, 20), after=0.0)
    for each in ranks[::4]:
        each.call("Win_fence", part("synchronize"), after=0.0)
    made = built(ranks, communicators=[[0, 4]])
    communication = on_description() if kind == "described" else as_measured()
    found = price_graph(made.graph, machine(communication, 8), expand=False)
    put, get = found.costs[made.graph.ops["cost"][made.graph.ops["kind"] == g.SEND]]
    assert get["latency"] == ways * put["latency"] > 0
    assert get["transfer"] == put["transfer"]
    assert len(made.graph.groups) == 3


@pytest.mark.parametrize("computed_s", [0.0, 1000.0])
def test_a_nonblocking_collective_of_simgrid_starts_all_its_messages_at_once(computed_s):
    """Each rank sends its vector to ranks 0, 1, ... in turn, and adds all others after they have arrived."""
    ranks = written(4)
    for each in ranks:
        request = each.start_request("Iallreduce", part("start collective", size=8), after=0.0, took=0.0)
        each.call("Wait", each.end(request), after=computed_s, took=0.0)
    found = price_graph(built(ranks).graph, machine(on_description(), 4))
    send_s, flight_s, receive_s, sums_s = 0.5, 2.0 + 1.0, 0.25, 3 * 2.0
    arrivals = [[1, 1, 1], [1, 2, 2], [2, 2, 3], [3, 3, 3]]
    expected = []
    for sent in arrivals:
        clock = 3 * send_s + computed_s
        for number in sent:
            clock = max(clock, number * send_s + flight_s) + receive_s
        expected.append(clock + sums_s)
    assert ends(found) == pytest.approx(expected)
    assert {(each.algorithm, each.basis) for each in found.choices} == {("default", "described")}


def test_the_messages_of_a_fence_of_simgrid_arrive_during_the_first_of_its_two_barriers():
    ranks = written(4)
    for each in ranks:
        each.call("Win_fence", part("synchronize"), after=0.0, took=0.0)
    ranks[0].call("Put", part("put", 1, 20), after=0.0, took=0.0)
    for each in ranks:
        each.call("Win_fence", part("synchronize"), after=0.0, took=0.0)
    found = price_graph(built(ranks).graph, machine(on_description(), 4))
    send_s, barrier_s = 0.5, 2 * 2.75
    assert ends(found).max() == pytest.approx(4 * barrier_s + send_s)


def test_a_split_broadcasts_in_the_new_communicators():
    rows = [range(8), *([k, k + 1] for k in range(0, 8, 2))]
    times = []
    for communicators in ([range(8)], rows):
        ranks = written(8)
        for each in ranks:
            each.call("Comm_split", part("collective"), after=0.0, took=0.0)
        graph = built(ranks, communicators=communicators).graph
        times.append(ends(price_graph(graph, machine(on_description(), 8))).max())
    receive_s = 0.25
    assert times[1] - times[0] == pytest.approx(receive_s), (
        "the last rank gets the broadcast of one before it"
    )


def test_computation_hides_the_share_that_was_measured():
    """Between sizes, for messages that no test of the program advances."""
    cases = {
        "overlap_message bytes=1024 computing=1 pattern=exchange ranks=2 tests=0": 20.0,
        "overlap_message bytes=1024 computing=1 pattern=exchange ranks=2 tests=16": 90.0,
        "overlap_message bytes=1048576 computing=1 pattern=exchange ranks=2 tests=0": 70.0,
    }
    extra = [
        summary(case, 1e-3, metrics={"overlap": MetricSummary(
            unit="%", over_ranks="max", phase=False, typical=Estimate(share, None, None))})
        for case, share in cases.items()
    ]  # fmt: skip
    workloads = [*FITS.workloads, CATALOG.entry("overlap_message")]
    fits = structs.replace(FITS, summaries=[*FITS.summaries, *extra], workloads=workloads)
    placement = Placement.from_hosts(np.zeros(2, int))
    sizes = np.array([8, 1024, 32768, 1 << 20, 1 << 24])
    assert make_machine(as_measured(), placement, fits).hidden_share(sizes) == pytest.approx(
        [0.2, 0.2, 0.45, 0.7, 0.7]
    )
    assert make_machine(as_measured(), placement, FITS).hidden_share(sizes).tolist() == [1.0] * 5


def test_changes_of_the_costs():
    made = called("allgather", 8, np.zeros(2))
    ranks = written(8)
    for source, target in ((0, 1), (0, 4)):
        ranks[source].call("Send", part("send", target, 64))
        ranks[target].call("Recv", part("receive", source, 64))
    found = price_graph(built(ranks).graph, machine(on_description(), 8))
    costs, rounds = found.costs, found.rounds
    order = np.argsort(costs["level"])
    near, far = (
        with_network_change(costs, rounds, NetworkChange("network", added_latency_s=5.0))[k] for k in order
    )
    assert (near["latency"], far["latency"]) == (2.0, 15.0)
    near, far = (
        with_network_change(costs, rounds, NetworkChange(bandwidth=2.0, added_overhead_s=1.0))[k]
        for k in order
    )
    assert (far["transfer"], far["overhead"], far["receive"]) == (16.0, 2.0, 4.0)
    found = price_graph(made.graph, machine(as_measured(), 2))
    slower = with_network_change(
        found.costs, np.array([3.0]), NetworkChange(latency=2.0, added_latency_s=1e-6)
    )
    assert slower["latency"][0] == pytest.approx(2 * found.costs["latency"][0] + 3e-6)


def test_a_replay_agrees_with_a_run_that_took_what_the_machine_charges():
    """Rank 0 computes 100 s, sends 8 bytes and computes 50 s; rank 1 waits for them."""
    ranks = written(8)
    ranks[0].call("Send", part("send", 4, 8), after=100.0, took=1.0)
    ranks[4].call("Recv", part("receive", 0, 8), after=10.0, took=108.0)
    made = built(ranks, end=151.0, recording_s={"blocking": 1e-9})
    replay = replayed(made.graph, machine(on_description(), 8))
    found = agreement(made, replay)
    assert replay.end_s[0] == pytest.approx(151.0)
    assert replay.end_s[4] == pytest.approx(118.0 + 33.0)
    assert found.error == pytest.approx(0.0, abs=1e-6)
    assert found.error_by_rank == pytest.approx(np.zeros(8), abs=1e-6)
    assert found.in_mpi_error == pytest.approx(0.0, abs=1e-6)
    assert computed_by_rank(made.graph)[0] == pytest.approx(150.0)


def test_steps_of_unequal_ranks_are_posted_where_blocking_ones_would_wait_for_each_other():
    step = Step((Layer(np.arange(3), (np.arange(3) + 1) % 3, 5000.0),), Mode.BLOCKING)
    simulator = LenientSimulator(DESCRIBED, 3)
    simulator.take(step)
    among = GroupCosts(machine(on_description(), 3), np.arange(3))
    made = build_template([step], among)
    groups = np.zeros(0, g.GROUP)
    graph = g.Graph(made.ops, made.first, made.messages, groups, (), (), ("x",), np.zeros(3))
    assert Evaluator(graph, made.costs).run().ends == pytest.approx(simulator.now)


def test_another_bandwidth_is_that_of_bytes_that_a_receiver_waits_for():
    """On a network, where receiving takes as long as the bytes do."""

    class Waits(type(machine(as_measured(), 2))):  # type: ignore[misc]
        def uncontended_costs(self, layer: Layer, mode: Mode) -> LayerCosts:
            size = np.asarray(layer.size, dtype=float)
            return LayerCosts(
                eager=np.ones(len(size), bool), overhead=0 * size + 1.0, flight=0 * size + 5.0,
                receive=2.0 + size / 100, gap=3.0 + size / 100, gap_holds=False, exchange=0.0,
            )  # fmt: skip

    far, near = (np.array(hosts) for hosts in ([0, 1], [0, 0]))
    for hosts, receive, gap in ((far, 2 + 80, 3 + 80), (near, 10.0, 11.0)):
        on = Waits(as_measured(), Placement.from_hosts(hosts))
        costs, _ = message_costs(sent(800), on)
        slow = with_network_change(costs, np.ones(len(costs)), NetworkChange(bandwidth=0.1))
        assert slow["receive"][0] == pytest.approx(receive, rel=0.02)
        assert slow["gap"][0] == pytest.approx(gap, rel=0.02)
        parameter = Parameter.transfer(costs)
        assert parameter.at(10.0)["receive"] == pytest.approx(slow["receive"])
        assert parameter.at(10.0)["gap"] == pytest.approx(slow["gap"])


def sent(size: int) -> g.Graph:
    """One message from rank 0 to rank 1."""
    ranks = written(2)
    ranks[0].call("Send", part("send", 1, size))
    ranks[1].call("Recv", part("receive", 0, size))
    return built(ranks).graph
