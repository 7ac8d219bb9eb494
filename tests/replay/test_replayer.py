# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The replay of traced programs: every message arrives at its receive, on any machine; damaged steps are
refused; and a simulated machine takes as long as the evaluator predicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product

import msgspec
import numpy as np
import pytest
from engine_lines import failures, launcher_for, records
from made_calls import Program
from real_mpi import group_for, simgrid_here
from tiers import slow

from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError
from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.launch.launcher import Launcher, LaunchOptions
from hockney.launch.smpi import SmpiLauncher
from hockney.measurement import fake_bench
from hockney.measurement.bench import Bench
from hockney.measurement.kinds import Kind, real, sim
from hockney.replay import graph as g
from hockney.replay.evaluator import Evaluator
from hockney.replay.replayer import SIMILAR, STEP, Execution, replay_on, replay_with, write_steps

GROUP = "hockney-replayer"
ROOTED = ("Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Reduce")
BLOCKING = (
    "Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall",
    "Alltoallv", "Alltoallw", "Reduce", "Allreduce", "Reduce_scatter_block", "Reduce_scatter", "Scan",
    "Exscan", "Comm_dup",
)  # fmt: skip
NONBLOCKING = (
    "Ibarrier", "Ibcast", "Igather", "Iscatter", "Iallgather", "Ialltoall", "Ireduce", "Iallreduce",
    "Ireduce_scatter_block", "Iscan", "Iexscan", "Igatherv", "Iscatterv", "Iallgatherv", "Ialltoallv",
    "Ireduce_scatter",
)  # fmt: skip
EAGER = 20_000


def everything(ranks: int) -> g.Graph:
    """Each kind of call, with messages on both sides of usual eager limits."""
    halves = [range(0, ranks, 2), range(1, ranks, 2)]
    program = Program(ranks, [range(ranks)[::-1], *filter(len, halves)])
    for rank in range(ranks):
        after, before = (rank + 1) % ranks, (rank - 1) % ranks
        program.compute(rank, (rank + 1) * 10e-6)
        if rank:
            program.receive(rank, rank - 1, 100, tag=7)
        if rank < ranks - 1:
            program.send(rank, rank + 1, 100, tag=7)
        # completed in another order than started, with tags that other MPIs may lack
        small = [program.ireceive(rank, before, 5000, tag=3) for _ in range(3)]
        byte = program.ireceive(rank, after, 1, tag=2**31 - 1)
        sent = [program.isend(rank, after, 5000, tag=3) for _ in range(3)]
        sent += [program.isend(rank, before, 1, tag=2**31 - 1)]
        program.compute(rank, 5e-6)
        program.wait(rank, sent[1])
        program.wait(rank, byte, small[2])
        program.wait(rank, small[0], small[1], sent[0], sent[3], sent[2])
        # small and large ones with the same tag
        mixed = [program.ireceive(rank, before, size, tag=5) for size in (300_000, 3, 200_000, 9)]
        mixed += [program.isend(rank, after, size, tag=5) for size in (300_000, 3, 200_000, 9)]
        program.wait(rank, *mixed)
        program.exchange(rank, after, before, 200_000)
        reversed_ranks = program.ireceive(rank, before, 70_000, on=1)
        program.wait(rank, reversed_ranks, program.isend(rank, after, 70_000, on=1))
        for _ in range(2):
            program.send(rank, after, 300_000, tag=9, flags=g.BUFFERED)
        for _ in range(2):
            program.receive(rank, before, 300_000, tag=9)
        synchronous = program.isend(rank, after, 8, tag=11, flags=g.SYNCHRONOUS)
        program.receive(rank, before, 8, tag=11)
        program.wait(rank, synchronous)
        if rank % 2:
            program.receive(rank, rank - 1, 0, tag=12)
        elif rank + 1 < ranks:
            program.send(rank, rank + 1, 0, tag=12, flags=g.SYNCHRONOUS)
        program.isend(rank, after, 640, tag=14)  # and never completed
        program.receive(rank, before, 640, tag=14, flags=g.WILDCARD)
        reached = [
            program.one_sided(rank, other, 3000, put=put, on=1)
            for other in (after, before)
            for put in (True, False)
        ]
        program.compute(rank, 1e-6)
        program.wait(rank, reached[1])
        program.wait(rank, reached[0], *reached[2:])
        for on in (0, 1, 2 + rank % 2):
            root = program.communicators[on][-1]
            for name in BLOCKING:
                program.collective(rank, name, 100.5, root if name in ROOTED else -1, on)
            started = [
                program.icollective(rank, name, 100, root if name[1:].capitalize() in ROOTED else -1, on)
                for name in NONBLOCKING
            ]
            program.compute(rank, 2e-6)
            program.wait(rank, *started)
        program.compute(rank, 3e-6)
    return program.graph()


def bench(launcher: Launcher, catalog: Catalog, kind: Kind, platform: Platform | None = None) -> Bench:
    machine = msgspec.structs.replace(fake_bench("fake").machine, traits=kind.TRAITS, platform=platform)
    return Bench(launcher, catalog, machine)


def simulated_bench(platform: Platform) -> Bench:
    built = group_for(simgrid_here(), GROUP)
    launcher = SmpiLauncher(simgrid_here(), built.path, built.platform, platform)
    return bench(launcher, built.catalog, sim, platform)


def switch(ranks: int, gap_s: float = 0.0) -> Platform:
    segment = Segment(
        latency_s=10e-6,
        per_byte_s=1e-8,
        send_s=2e-6,
        send_s_per_byte=1e-10,
        isend_s=1.5e-6,
        isend_s_per_byte=2e-10,
        receive_s=3e-6,
        receive_s_per_byte=3e-10,
        gap_s=gap_s,
    )
    network = Network(shape="switch", nodes=(NodeGroup(count=ranks),))
    return Platform(name="even", title="Even", network=network, segments=(segment,), eager=EAGER)


def check_everything(done: Execution, ranks: int) -> None:
    """All data arrive, and the times of places and ranks are parts of the whole. On real machines, other
    programs make computation longer, and a short time may be shorter than a step of the clock."""
    record = done.records.records[0]
    assert record.verified.bytes > 150 * record.verified.runs > 0 and record.verified.errors == 0
    graph = everything(ranks)
    assert done.steps.left_out_messages == done.steps.left_out_collectives == 0
    replaced = set(graph.operations) & {*SIMILAR, "Comm_dup"}
    assert done.steps.substitutions == dict.fromkeys(replaced, len(graph.communicators))
    computed_s = (graph.ops["computed_s"].sum() + graph.tail_s.sum()) / ranks
    assert done.computed_s > 0.5 * computed_s
    assert done.computed_s == pytest.approx(computed_s, rel=1e-6) or not record.simulated
    assert done.rank_s.shape == (ranks,) and done.places_s.shape == (len(graph.places),)
    assert done.places_s.min() >= 0
    assert done.rank_s.max() <= 1.01 * max(map(max, done.times_s))


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [3, *slow(1, 2, 4)])
def test_every_message_arrives_at_its_receive(mpi, mpi_name, ranks):
    built = group_for(mpi, GROUP)
    done = replay_with(bench(launcher_for(mpi, built), built.catalog, real), everything(ranks), launches=1)
    check_everything(done, ranks)


@pytest.mark.simgrid
def test_everything_is_simulated_and_computation_takes_its_time():
    done = replay_with(simulated_bench(switch(5)), everything(5))
    check_everything(done, 5)
    parts = done.computed_s + done.messages_s + done.collectives_s
    assert parts == pytest.approx(done.rank_s.mean(), rel=1e-6)
    assert done.places_s.sum() == pytest.approx(done.messages_s + done.collectives_s, rel=1e-6)
    assert len(done.times_s) == len(done.times_s[0]) == 1


def halo(ranks: int, size: int, random: np.random.Generator) -> g.Graph:
    program = Program(ranks)
    for _ in range(10):
        for rank in range(ranks):
            program.compute(rank, random.uniform(5e-6, 80e-6))
            sides = [((rank + side) % ranks, 1 + side) for side in (-1, 1)]
            requests = [program.ireceive(rank, other, size, tag=tag) for other, tag in sides]
            requests += [program.isend(rank, other, size, tag=2 - tag) for other, tag in sides]
            program.compute(rank, random.uniform(0, 20e-6))
            program.wait(rank, *requests)
    return program.graph()


def ring(ranks: int, size: int, random: np.random.Generator) -> g.Graph:
    program = Program(ranks)
    for _ in range(10):
        for rank in range(ranks):
            program.compute(rank, random.uniform(5e-6, 80e-6))
            program.exchange(rank, (rank + 1) % ranks, (rank - 1) % ranks, size)
    return program.graph()


def pipeline(ranks: int, size: int, random: np.random.Generator) -> g.Graph:
    program = Program(ranks)
    for _ in range(10):
        for rank in range(ranks):
            if rank:
                program.receive(rank, rank - 1, size)
            program.compute(rank, random.uniform(5e-6, 40e-6))
            if rank < ranks - 1:
                program.send(rank, rank + 1, size)
    return program.graph()


def master(ranks: int, size: int, random: np.random.Generator) -> g.Graph:
    program = Program(ranks)
    for _ in range(10):
        for worker in range(1, ranks):
            program.send(0, worker, size)
            program.receive(worker, 0, size)
            program.compute(worker, random.uniform(5e-6, 200e-6))
            program.send(worker, 0, size)
        for worker in random.permutation(np.arange(1, ranks)).tolist():
            program.receive(0, worker, size)
            program.compute(0, 3e-6)
    return program.graph()


def butterfly(ranks: int, size: int, random: np.random.Generator) -> g.Graph:
    """The messages of an allreduce by recursive doubling, several times."""
    program = Program(ranks)
    for _ in range(10):
        for rank in range(ranks):
            program.compute(rank, random.uniform(5e-6, 80e-6))
        for distance in (1, 2, 4):
            for rank in range(ranks):
                program.exchange(rank, rank ^ distance, rank ^ distance, size)
    return program.graph()


def scattered(ranks: int, size: int, random: np.random.Generator) -> g.Graph:
    """Random messages of sizes up to `size`, of which each is started on both sides before the next one, and
    completed at random."""
    program = Program(ranks)
    pending: list[list[tuple[int, int]]] = [[] for _ in range(ranks)]
    for _ in range(10 * ranks):
        source, target = random.choice(ranks, 2, replace=False).tolist()
        this, tag = int(random.integers(0, size)), int(random.integers(3))
        for rank in (source, target):
            program.compute(rank, random.uniform(0, 40e-6))
        pending[target].append(program.ireceive(target, source, this, tag=tag))
        pending[source].append(program.isend(source, target, this, tag=tag))
        for rank in (source, target):
            if random.random() < 0.3:
                count = int(random.integers(1, len(pending[rank]) + 1))
                program.compute(rank, random.uniform(0, 40e-6))
                program.wait(rank, *pending[rank][:count])
                del pending[rank][:count]
    for rank in range(ranks):
        if pending[rank]:
            program.wait(rank, *pending[rank])
    return program.graph()


def priced(graph: g.Graph, platform: Platform) -> tuple[g.Graph, np.ndarray]:
    """The graph with costs of its messages, each in a row, on a switch with a single segment."""
    (segment,) = platform.segments
    ops, size = graph.ops.copy(), graph.messages["size"].astype(float)
    alone = np.zeros(len(size), dtype=bool)
    for op, following in pairwise(ops):
        if op["kind"] == g.SEND and op["flags"] & g.BLOCKING:
            alone[op["slot"]] = following["kind"] == g.SENT
    send = segment.send_s + segment.send_s_per_byte * size
    isend = segment.isend_s + segment.isend_s_per_byte * size
    costs = np.zeros(len(size), g.COST)
    costs["overhead"] = np.where(alone, send, isend)
    costs["latency"], costs["transfer"] = segment.latency_s, segment.per_byte_s * size
    costs["receive"] = segment.receive_s + segment.receive_s_per_byte * size
    costs["gap"] = segment.gap_s
    costs["eager"], costs["gap_holds"] = size <= platform.eager, 1
    ops["cost"] = ops["slot"]
    return replace(graph, ops=ops), costs


PATTERNS = (halo, ring, pipeline, master, butterfly, scattered)


@pytest.mark.simgrid
@pytest.mark.parametrize(
    ("pattern", "size", "gap_s"),
    [
        (scattered, 60_000, 0.0),
        *slow(*product(PATTERNS, (8, 8000, 100_000), (0.0, 20e-6))),
    ],
)
def test_a_simulation_takes_as_long_as_the_evaluator_predicts(
    pattern: Callable[[int, int, np.random.Generator], g.Graph], size: int, gap_s: float
):
    platform = switch(8, gap_s)
    graph = pattern(8, size, np.random.default_rng(size))
    done = replay_with(simulated_bench(platform), graph)
    assert Evaluator(*priced(graph, platform)).run().ends == pytest.approx(done.rank_s, rel=1e-5)


def steps_of(content: bytes, ranks: int) -> list[np.ndarray]:
    """The steps of each rank."""
    count, communicators, members, _ = np.frombuffer(content, np.uint64, 4, 8).astype(int).tolist()
    assert count == ranks
    first = np.frombuffer(content, np.uint64, ranks + 1, 40).astype(int)
    steps = np.frombuffer(content, STEP, -1, 40 + 8 * (2 * ranks + 1 + 2 * communicators + members))
    return [steps[begin:end] for begin, end in pairwise(first)]


def test_what_lacks_a_partner_is_left_out_and_its_computation_kept():
    program = Program(3)
    program.compute(0, 1e-3)
    program.send(0, 1, 8)  # nobody receives it
    program.receive(1, 2, 8)  # nobody sends it
    program.send(1, 2, 16)
    program.receive(2, 1, 16)
    for rank in (0, 1):
        program.collective(rank, "Allreduce", 8)
    program.compute(2, 2e-3)
    steps = write_steps(program.graph())
    assert (steps.left_out_messages, steps.left_out_collectives) == (2, 1)
    assert steps.computed_s == pytest.approx(2e-3)
    zero, one, two = steps_of(steps.content, 3)
    assert set(zero["kind"]) == {g.COMPUTE} and zero["seconds"].sum() == pytest.approx(1e-3)
    assert one["kind"].tolist() == [g.COMPUTE] * 2 + [g.SEND, g.SENT] + [g.COMPUTE] * 2
    assert two["kind"].tolist() == [g.RECEIVE, g.RECEIVED]


def test_ranks_are_those_of_the_communicator_and_ends_know_their_starts():
    program = Program(4, [(3, 1)])
    first = program.ireceive(3, 1, 8, tag=1000, on=1)
    second = program.ireceive(3, 1, 8, tag=-5, on=1)
    program.wait(3, second, first)
    program.send(1, 3, 8, tag=1000, on=1)
    program.send(1, 3, 8, tag=-5, on=1)
    program.collective(3, "Bcast", 64, root=1, on=1)
    program.collective(1, "Bcast", 64, root=1, on=1)
    _, one, _, three = steps_of(write_steps(program.graph()).content, 4)
    assert three["peer"][[0, 1, 4]].tolist() == [1, 1, 1] and one["peer"][[0, 2, 4]].tolist() == [0, 0, 1]
    assert three["start"][[2, 3, 5]].tolist() == [1, 0, 4]
    assert three["tag"][0] == one["tag"][0] != three["tag"][1] == one["tag"][2]
    assert three["tag"][:2].min() >= 0 and three["tag"][:2].max() <= 1


def test_free_receives_take_any_sender_and_have_room_for_the_largest_message():
    program = Program(3)
    for sender, size in ((1, 8), (2, 4000)):
        program.send(sender, 0, size)
        program.receive(0, sender, size, flags=g.WILDCARD)
    graph = program.graph()
    traced, free = (steps_of(write_steps(graph, free_matching=free).content, 3) for free in (False, True))
    assert traced[0]["peer"][::2].tolist() == [1, 2] and traced[0]["bytes"][::2].tolist() == [8, 4000]
    assert free[0]["peer"][::2].tolist() == [-1, -1] and free[0]["bytes"][::2].tolist() == [4000, 4000]
    assert len({*free[0]["tag"][::2], free[1]["tag"][0], free[2]["tag"][0]}) == 1


def test_a_message_of_a_rank_outside_its_communicator_is_refused():
    program = Program(3, [(0, 1)])
    program.send(0, 2, 8, on=1)
    with pytest.raises(UsageError) as error:
        write_steps(program.graph())
    assert error.value.code == "rank-outside-communicator"


def changed(content: bytes, **fields: float) -> bytes:
    """The first step of rank 1 of two with other numbers."""
    steps = steps_of(content, 2)
    start = len(content) - sum(each.nbytes for each in steps)
    every = np.concatenate(steps)
    for name, value in fields.items():
        every[name][len(steps[0])] = value
    return content[:start] + every.tobytes()


def damaged(content: bytes) -> dict[str, bytes]:
    """Files of two ranks that are none, or have steps that no rank can take."""
    return {
        "empty": b"",
        "foreign": b"x" * len(content),
        "short": content[:-1],
        "header": content[:60],
        "ranks": write_steps(everything(3)).content,
        "sizes": content[:24] + b"\xff" * 8 + content[32:],
        "kind": changed(content, kind=9),
        "peer": changed(content, peer=2),
        "channel": changed(content, communicator=7),
        "place": changed(content, place=60_000),
        "seconds": changed(content, seconds=np.nan),
        "end": changed(content, kind=g.SENT, start=0),
        "collective": changed(content, kind=g.ENTER, tag=99),
    }


@pytest.mark.mpi
def test_damaged_steps_are_refused_by_all_ranks_and_wrong_messages_are_found(mpi):
    built = group_for(mpi, GROUP)
    content = write_steps(everything(2)).content
    files = damaged(content)
    names = [
        "none",
        "plan:lost",
        "plan:../up",
        *(f"plan:{name}" for name in files),
        "plan:longer",
        "plan:whole",
    ]
    cases = [built.catalog.case(f"replay graph={name}", 2) for name in names]
    # the first message then ends before its receive expects it to
    readable = {"longer": changed(content, bytes=200), "whole": content}
    texts = {f"{name}.steps": text for name, text in {**files, **readable}.items()}
    options = LaunchOptions("T", 0, budget_s=2.0, max_repetitions=1, files=texts)
    lines = list(launcher_for(mpi, built).run(cases, 2, options))
    assert [failure.case for failure in failures(lines)] == [case.line for case in cases[:-2]]
    assert {failure.reason for failure in failures(lines)} == {"refused"}
    longer, whole = records(lines)
    assert longer.verified.errors > 0 == whole.verified.errors
    assert longer.verified.first.startswith("rank 1: a message of 200 bytes")


def test_the_fake_machine_replays_a_program():
    done = replay_on(everything(4), "fake", launches=2, repetitions=3)
    assert [len(times) for times in done.times_s] == [3, 3]
    assert done.low_s <= done.time_s <= done.high_s and done.rank_s.argmax() == 3
    parts = done.computed_s + done.messages_s + done.collectives_s
    assert parts == pytest.approx(done.rank_s.mean(), rel=0.2)
