# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Single simulated messages: exact times for every size and call, routes through every shape, and which rank
waits for which."""

from __future__ import annotations

import re

import pytest
from golden_files import Golden
from oracle import EAGER, LARGE, SMALL, Simulator, machine

from hockney.core.platform import NodeGroup, Noise, Segment
from hockney.launch.smpi import explain_simulator, platform_lines

pytestmark = pytest.mark.simgrid

NANO = 3e-9
"""SimGrid treats times within 1 ns as equal."""
EVEN = Segment(send_s=1e-6, latency_s=10e-6, per_byte_s=1e-9, receive_s=1e-6)
PAIR = NodeGroup(count=2)
MEGABYTE = 1_000_000


def one(simulator: Simulator, word: str, ranks: int = 2, **more) -> float:
    """Microseconds of one operation on an even machine."""
    took = simulator.times(machine(*more.pop("nodes", ()), segments=(EVEN,), **more), ranks, word)
    return took[word] * 1e6


@pytest.mark.parametrize("nic", [1e12, 1e9])
def test_point_to_point_is_exact(simulator: Simulator, nic: float) -> None:
    """Both sides of every change point and of the eager limit, with links and without; including 16 bytes of
    envelope and empty messages."""
    sizes = (0, 1, 8, 15, 16, 17, 1999, 2000, 2001, EAGER, EAGER + 1, 65536, 1 << 20, 4 << 20)
    words = [f"{call}:{size}" for call in ("send", "isend") for size in sizes]
    took = simulator.times(machine(PAIR, nic=nic), 2, *words)
    for size in sizes:
        segment = LARGE if size >= LARGE.first else SMALL
        assert took[f"send:{size}"] == pytest.approx(segment.one_way(size), abs=NANO)
        isend = segment.one_way(size)
        if segment is SMALL:
            isend += SMALL.isend_s - SMALL.send_s
        assert took[f"isend:{size}"] == pytest.approx(isend, abs=NANO)


def test_any_source(simulator: Simulator) -> None:
    assert one(simulator, "any_source:8", nodes=(PAIR,)) == pytest.approx(12.008, abs=0.003)


@pytest.mark.parametrize("cores", [1, 2])
def test_messages_that_meet_may_cost_more(simulator: Simulator, cores: int) -> None:
    dear = Segment(send_s=1e-6, latency_s=10e-6, per_byte_s=1e-9, receive_s=1e-6, exchange_s=5e-6)
    platform = machine(NodeGroup(count=2 // cores, cores=cores), segments=(dear,))
    took = simulator.times(platform, 2, "send:100", "exchange:100", "send:10000", "exchange:10000")
    for size in (100, 10000):
        assert took[f"send:{size}"] == pytest.approx(dear.one_way(size), abs=NANO)
        assert took[f"exchange:{size}"] == pytest.approx(dear.one_way(size) + 5e-6, abs=NANO)


def test_the_gap_keeps_messages_apart(simulator: Simulator) -> None:
    slow = Segment(send_s=1e-6, latency_s=10e-6, receive_s=1e-6, gap_s=4e-6)
    took = simulator.times(machine(PAIR, segments=(slow,)), 2, "ten:8")
    assert took["ten:8"] == pytest.approx(1e-6 + 9 * 4e-6 + 11e-6, abs=NANO)
    assert one(simulator, "ten:8", nodes=(PAIR,)) == pytest.approx(21.008, abs=0.01)


def test_duplex(simulator: Simulator) -> None:
    full = one(simulator, f"exchange:{MEGABYTE}", nodes=(PAIR,), nic=1e9)
    half = one(simulator, f"exchange:{MEGABYTE}", nodes=(PAIR,), nic=1e9, duplex="half")
    assert full == pytest.approx(1012, rel=1e-3)
    assert half == pytest.approx(2012, rel=1e-3)


@pytest.mark.parametrize(
    ("shape", "dims", "ranks", "hops"),
    [
        ("torus", (8,), 2, 1), ("torus", (8,), 5, 4), ("torus", (8,), 8, 1), ("mesh", (8,), 8, 7),
        ("torus", (5,), 4, 2), ("torus", (4, 4, 4), 64, 3), ("mesh", (4, 4, 4), 64, 9),
        ("mesh", (3, 2), 5, 2), ("torus", (3, 2, 2, 2), 24, 4),
    ],
)  # fmt: skip
def test_hops(simulator: Simulator, shape: str, dims: tuple[int, ...], ranks: int, hops: int) -> None:
    """From the first to the last rank, the shorter way round; a limited cable rate does not change it."""
    for link in (1e12, 1e9):
        took = one(simulator, "send:0", ranks, shape=shape, dims=dims, hop_s=1e-6, link=link)
        assert took == pytest.approx(12 + hops, abs=0.003)


@pytest.mark.parametrize(
    ("ranks", "hops", "network"),
    [
        (2, 2, {"shape": "fat-tree", "down": (2, 2, 2), "up": (1, 2, 2), "cables": (1, 1, 1)}),
        (8, 6, {"shape": "fat-tree", "down": (2, 2, 2), "up": (1, 2, 2), "cables": (1, 1, 1)}),
        # On one router; along the chassis; across too; along, to another group, along and across.
        (2, 0, {"shape": "dragonfly", "dragonfly": (3, 2, 4, 2)}),
        (8, 1, {"shape": "dragonfly", "dragonfly": (3, 2, 4, 2)}),
        (16, 2, {"shape": "dragonfly", "dragonfly": (3, 2, 4, 2)}),
        (48, 4, {"shape": "dragonfly", "dragonfly": (3, 2, 4, 2)}),
    ],
)
def test_hops_through_switches(simulator: Simulator, ranks: int, hops: int, network: dict) -> None:
    assert one(simulator, "send:0", ranks, hop_s=1e-6, **network) == pytest.approx(12 + hops, abs=0.003)


def test_one_medium_serves_one_message_after_the_other(simulator: Simulator) -> None:
    medium = {"medium_message_s": 1e-3, "medium_s_per_byte": 1e-6, "nodes": (NodeGroup(count=8),)}
    assert one(simulator, "send:100", 8, **medium) == pytest.approx(1100 + 12.1, abs=0.003)
    assert one(simulator, "halves:100", 8, **medium) == pytest.approx(8 * 1100 + 12.1, abs=0.01)


@pytest.mark.parametrize(
    ("ranks", "flows", "network"),
    [
        (8, 8, {"shape": "bus", "nodes": (NodeGroup(count=8),)}),
        (8, 4, {"shape": "mesh", "dims": (8,)}),
        (8, 2, {"shape": "torus", "dims": (8,)}),
        (8, 1, {"shape": "switch", "nodes": (NodeGroup(count=8),)}),
        (16, 1, {"shape": "fat-tree", "down": (4, 4), "up": (1, 4), "cables": (1, 1)}),
        (16, 2, {"shape": "fat-tree", "down": (4, 4), "up": (1, 2), "cables": (1, 1)}),
        (16, 2, {"shape": "fat-tree", "down": (4, 4), "up": (1, 1), "cables": (1, 2)}),
        (16, 4, {"shape": "fat-tree", "down": (4, 4), "up": (1, 1), "cables": (1, 1)}),
        (32, 16, {"shape": "dragonfly", "dragonfly": (2, 2, 4, 2)}),
    ],
)
def test_bisection(simulator: Simulator, ranks: int, flows: int, network: dict) -> None:
    """One half exchanges with the other: this many messages share the busiest cable, in each direction."""
    took = one(simulator, f"halves:{MEGABYTE}", ranks, link=1e9, **network)
    assert took == pytest.approx(flows * 1000 + 12, rel=2e-3)


def test_noise_is_the_same_for_the_same_seed(simulator: Simulator) -> None:
    words = [f"send:{size}" for size in range(40)]

    def noisy(seed: int) -> list[float]:
        platform = machine(PAIR, segments=(EVEN,), noise=Noise(relative=0.1, seed=seed))
        return list(simulator.times(platform, 2, *words).values())

    first, again, other = noisy(1), noisy(1), noisy(2)
    assert first == again != other
    added = [took - EVEN.one_way(size) for size, took in enumerate(first)]
    assert min(added) >= -NANO
    assert 0.4e-6 < sorted(added)[20] < 1.1e-6  # the median of |N| is 0.67, of 10% of 10 us


def test_too_many_messages_end_the_simulation(simulator: Simulator) -> None:
    platform = machine(PAIR)
    done = simulator.run(platform_lines(platform, max_events=20), ["n0", "n1"], ["ten:0", "ten:1", "ten:2"])
    assert done.returncode != 0
    explanation = explain_simulator(done.returncode, done.stderr.splitlines())
    assert explanation.code == "too-many-simulated-messages" and "20" in explanation.why


COMPUTING_S = 0.01
"""As in probe.cpp."""
SERVED = Segment(send_s=1e-6, latency_s=10e-6, per_byte_s=1e-9, receive_s=2e-6, processor_s=50e-6)
BUSY = Segment(
    send_s=1e-6,
    latency_s=10e-6,
    per_byte_s=1e-9,
    receive_s=2e-6,
    processor_s=50e-6,
    processor_s_per_byte=1e-9,
)


@pytest.mark.parametrize("size", [0, 1000, EAGER, EAGER + 1, 100_000])
def test_a_program_that_waits_for_a_message_waits_for_the_processor(simulator: Simulator, size: int) -> None:
    took = simulator.times(machine(PAIR, segments=(BUSY,)), 2, f"send:{size}")
    alone = Segment(send_s=1e-6, latency_s=10e-6, per_byte_s=1e-9, receive_s=2e-6).one_way(size)
    assert took[f"send:{size}"] == pytest.approx(alone + 50e-6 + 1e-9 * size, abs=NANO)
    assert took[f"send:{size}"] == pytest.approx(BUSY.one_way(size), abs=NANO)


def test_messages_slow_computing_down_by_the_time_of_the_processor(simulator: Simulator) -> None:
    """On the receiver's node and on the sender's, where the message has set out before computing begins."""
    words = ("receiver_computes:1000", "sender_computes:1000")
    receiver, sender = simulator.times(machine(PAIR, segments=(BUSY,)), 2, *words).values()
    assert receiver == pytest.approx(COMPUTING_S + 51e-6 + 2e-6, abs=NANO)
    assert sender == pytest.approx(1e-6 + 51e-6 + COMPUTING_S, abs=NANO)
    free = Segment(send_s=1e-6, latency_s=10e-6, per_byte_s=1e-9, receive_s=2e-6)
    receiver, sender = simulator.times(machine(PAIR, segments=(free,)), 2, *words).values()
    assert receiver == pytest.approx(COMPUTING_S + 2e-6, abs=NANO)
    assert sender == pytest.approx(1e-6 + COMPUTING_S, abs=NANO)


@pytest.mark.parametrize("link", [1e12, 1e8])
def test_the_processor_serves_one_message_after_the_other(simulator: Simulator, link: float) -> None:
    """Seven messages arrive at once; with a shared cable they arrive later, at a node that computes."""
    nodes = (NodeGroup(count=8),)
    bus = machine(*nodes, segments=(SERVED,), shape="bus", link=link)
    computing = simulator.times(bus, 8, "all_send_to_computing:0")["all_send_to_computing:0"]
    assert computing == pytest.approx(COMPUTING_S + 7 * (50e-6 + 2e-6), abs=NANO)
    linear = machine(*nodes, segments=(SERVED,), collectives={"gather": "ompi_basic_linear"})
    gather = simulator.times(linear, 8, "gather:0")["gather:0"]
    assert gather == pytest.approx(1e-6 + 10e-6 + 7 * (50e-6 + 2e-6), abs=NANO)


def test_the_senders_processor_keeps_its_messages_apart(simulator: Simulator) -> None:
    took = simulator.times(machine(PAIR, segments=(SERVED,)), 2, "ten:0")
    assert took["ten:0"] == pytest.approx(9 * (1e-6 + 50e-6) + SERVED.one_way(0), abs=9 * NANO)


BAD_LINES = (
    "colour blue",
    "segment 0 1e-6",
    "hop soon",
    "hop -1",
    "nodes 0 1",
    "nodes 2.5 1",
    "shape cube",
    "duplex half half",
    "segment 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0",
    "segment 0 0 0 0 0 1 0 0 0 0 0 0 0 -1 0",
)
IMPOSSIBLE = (
    "nodes 2 1\n",
    "shape torus\nsegment 0 0 0 0 0 1e-6 0 0 0 0 0 0 0 0 0\n",
    "segment 0 0 0 0 0 1e-6 0 0 0 0 0 0 0 0 0\n",
    "segment 8 0 0 0 0 1e-6 0 0 0 0 0 0 0 0 0\n",
    "nodes 2 4\nsegment 0 0 0 0 0 1e-6 0 0 0 0 0 0 0 1e-5 0\n",
)


def refusal(simulator: Simulator, text: str) -> str:
    """The plug-in's error message about a platform that it rejects."""
    done = simulator.run(text, ["n0", "n1"], ["send:0"])
    assert done.returncode == 3
    [line] = [line for line in done.stderr.splitlines() if line.startswith("hockney-platform: ")]
    return line


def test_a_bad_line_is_named(simulator: Simulator, golden: Golden) -> None:
    text = platform_lines(machine(PAIR))
    refusals = [refusal(simulator, f"{text}{line}\n") for line in BAD_LINES]
    number = text.count("\n") + 1
    assert all(re.search(rf"\b{number}\b", line) for line in refusals)
    golden("bad_lines.txt", "\n".join(refusals))


def test_a_machine_that_cannot_be_is_refused(simulator: Simulator, golden: Golden) -> None:
    golden("impossible_machines.txt", "\n".join(refusal(simulator, text) for text in IMPOSSIBLE))
