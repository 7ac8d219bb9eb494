# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A described machine in the simulator's format."""

from __future__ import annotations

from itertools import product

import pytest
from msgspec.structs import replace

from hockney.core.errors import UsageError
from hockney.core.platform import Network, NodeGroup, Noise, Platform, Segment
from hockney.core.smpi_algorithms import ALGORITHMS, DEFAULT_ALGORITHMS, check_algorithm
from hockney.launch.smpi import algorithm_words, launch_factor, launch_seed, platform_lines, scale_network

SEGMENTS = (
    Segment(send_s=1e-6, latency_s=1e-5, per_byte_s=2e-8, receive_s=2e-6),
    Segment(
        first=4096, isend_s=0.0, isend_s_per_byte=1e-9, latency_s=5e-5, gap_s=3e-6, gap_s_per_byte=1e-9,
        exchange_s=7e-5, exchange_s_per_byte=1e-10, processor_s=4e-5, processor_s_per_byte=2e-9,
    ),
)  # fmt: skip


def described(network: Network, **more) -> Platform:
    return Platform(name="m", title="M", network=network, segments=SEGMENTS, **more)


def test_every_line() -> None:
    network = Network(
        shape="torus", dims=(8, 4), nic=308e6, duplex="half", link=480e6, hop_s=2e-8,
        medium_message_s=1e-3, medium_s_per_byte=1e-6,
    )  # fmt: skip
    noise = Noise(relative=0.05, seed=7)
    platform = described(network, eager=4096, clock_s=1e-7, on_node=(Segment(latency_s=1e-6),), noise=noise)
    assert platform_lines(platform, max_events=1000, launch=2) == (
        "shape torus\n"
        "dims 8 4\n"
        "nodes 32 1\n"
        "nic 308000000.0\n"
        "duplex half\n"
        "link 480000000.0\n"
        "hop 2e-08\n"
        "medium 0.001 1e-06\n"
        "eager 4096\n"
        "flops 1000000000.0\n"
        "clock 1e-07\n"
        "segment 0 1e-06 0.0 1e-06 0.0 1e-05 2e-08 2e-06 0.0 0.0 0.0 0.0 0.0 0.0 0.0\n"
        "segment 4096 0.0 0.0 0.0 1e-09 5e-05 0.0 0.0 0.0 3e-06 1e-09 7e-05 1e-10 4e-05 2e-09\n"
        "on-node 0 0.0 0.0 0.0 0.0 1e-06 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0\n"
        "noise 0.05 1481243224723884\n"
        "events 1000\n"
    )


def test_a_launch_has_a_network_of_its_own_speed() -> None:
    """Twice as slow in everything between nodes, and nothing else: two messages that meet too."""
    network = Network(nic=308e6, link=480e6, hop_s=2e-8, medium_message_s=1e-3, nodes=(NodeGroup(count=2),))
    noise = Noise(relative=0.05, per_launch=0.3, seed=7)
    factors = [launch_factor(noise, launch) for launch in range(200)]
    assert min(factors) >= 1 and len(set(factors)) == 200
    assert 1.15 < sorted(factors)[100] < 1.31  # the median of |N| is 0.67
    assert factors == [launch_factor(noise, launch) for launch in range(200)]
    assert launch_factor(Noise(relative=0.05), 3) == 1.0

    platform = described(network, on_node=(Segment(latency_s=1e-6),), noise=noise)
    text = platform_lines(platform, launch=2)
    steady = replace(platform, noise=Noise(relative=0.05, seed=7))
    assert text == platform_lines(scale_network(steady, factors[2]), launch=2)
    twice = scale_network(platform, 2.0)
    assert (twice.network.link, twice.network.nic, twice.network.hop_s) == (240e6, 154e6, 4e-8)
    assert twice.network.medium_message_s == 2e-3 and twice.on_node == platform.on_node
    for slow, plain in zip(twice.segments, platform.segments, strict=True):
        assert (slow.send_s, slow.receive_s, slow.processor_s) == (
            plain.send_s, plain.receive_s, plain.processor_s,
        )  # fmt: skip
        for name in ("latency_s", "per_byte_s", "gap_s", "gap_s_per_byte"):
            assert getattr(slow, name) == 2 * getattr(plain, name)


def test_launches_share_no_seeds() -> None:
    numbers = [range(20), range(20), ("latency", "losses", "detours")]
    seeds = {launch_seed(*each) for each in product(*numbers)}
    assert len(seeds) == 20 * 20 * 3 and max(seeds) < 2**52
    factors = {launch_factor(Noise(relative=0.0, per_launch=0.1, seed=k), 9 - k) for k in range(10)}
    assert len(factors) == 10


def test_what_is_nothing_is_not_said() -> None:
    text = platform_lines(described(Network(nodes=(NodeGroup(count=2, cores=16), NodeGroup(count=1)))))
    keys = [line.split()[0] for line in text.splitlines()]
    assert keys == [
        "shape",
        "nodes",
        "nodes",
        "nic",
        "duplex",
        "link",
        "hop",
        "eager",
        "flops",
        *["segment"] * 2,
    ]
    assert "nodes 2 16\nnodes 1 1\n" in text


@pytest.mark.parametrize(
    ("network", "lines"),
    [
        (
            Network(shape="fat-tree", down=(4, 8), up=(1, 2), cables=(1, 3)),
            "down 4 8\nup 1 2\ncables 1 3\nnodes 32 1\n",
        ),
        (Network(shape="dragonfly", dragonfly=(3, 2, 4, 2)), "dragonfly 3 2 4 2\nnodes 48 1\n"),
    ],
)
def test_extents(network: Network, lines: str) -> None:
    assert f"shape {network.shape}\n{lines}" in platform_lines(described(network))


def test_every_choice_is_made() -> None:
    words = algorithm_words(described(Network(), collectives={"bcast": "NTSL", "gatherv": "default"}))
    assert "--cfg=smpi/bcast:NTSL" in words
    assert "--cfg=smpi/barrier:ompi_bruck" in words
    assert len(words) == len(DEFAULT_ALGORITHMS)
    for operation, name in DEFAULT_ALGORITHMS.items():
        check_algorithm(operation, name)


@pytest.mark.parametrize(
    ("operation", "name", "unknown", "suggestion"),
    [
        ("bcast", "binomal_tree", "binomal_tree", "binomial_tree"),
        ("bcast", "x", "x", ""),
        ("gatherv", "ompi_binomial", "ompi_binomial", ""),
        ("brodcast", "ring", "brodcast", "bcast"),
    ],
)
def test_unknown_names_are_refused(operation: str, name: str, unknown: str, suggestion: str) -> None:
    with pytest.raises(UsageError) as refused:
        algorithm_words(described(Network(), collectives={operation: name}))
    assert refused.value.fields["name"] == unknown and refused.value.suggestion == suggestion


def test_the_table_has_no_name_twice() -> None:
    assert set(DEFAULT_ALGORITHMS) < set(ALGORITHMS)
    assert all(len(set(names)) == len(names) > 0 for names in ALGORITHMS.values())
