# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A described machine in the simulator's format: the lines that the plug-in engine/smpi/platform.cpp reads,
and smpirun's options for the algorithm of each collective operation.

Each line has one key and its numbers, in seconds, bytes and their quotients; keys that are missing are zero.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

from msgspec.structs import replace

from hockney.core.platform import Network, Noise, Platform, Segment
from hockney.core.smpi_algorithms import chosen


def platform_lines(platform: Platform, *, events: int = 0, seed_offset: int = 0) -> str:
    """The whole description as text. `events`: the number of messages after which the simulation is ended, 0
    for never; `seed_offset` is added to the noise's seed, so that launches differ as real ones do."""
    slower = slowed(platform, launch_factor(platform.noise, seed_offset))
    return "".join(f"{line}\n" for line in _lines(slower, events, seed_offset))


def launch_factor(noise: Noise | None, launch: int) -> float:
    """How many times as long as described the network takes in this launch."""
    if noise is None or not noise.per_launch:
        return 1.0
    return math.exp(noise.per_launch * abs(random.Random(noise.seed + launch).gauss(0.0, 1.0)))


def slowed(platform: Platform, factor: float) -> Platform:
    """With a network between nodes that takes `factor` times as long; processors are as fast."""
    if factor == 1:
        return platform
    segments = (
        replace(
            each,
            latency_s=factor * each.latency_s,
            per_byte_s=factor * each.per_byte_s,
            gap_s=factor * each.gap_s,
            gap_s_per_byte=factor * each.gap_s_per_byte,
        )
        for each in platform.segments
    )
    network = replace(
        platform.network,
        nic=platform.network.nic / factor,
        link=platform.network.link / factor,
        hop_s=factor * platform.network.hop_s,
        medium_message_s=factor * platform.network.medium_message_s,
        medium_s_per_byte=factor * platform.network.medium_s_per_byte,
    )
    return replace(platform, network=network, segments=tuple(segments))


def _lines(platform: Platform, events: int, seed_offset: int) -> Iterator[str]:
    network = platform.network
    yield f"shape {network.shape}"
    yield from _extents(network)
    for group in platform.nodes:
        yield f"nodes {group.count} {group.cores}"
    yield f"nic {network.nic!r}"
    yield f"duplex {network.duplex}"
    yield f"link {network.link!r}"
    yield f"hop {network.hop_s!r}"
    if network.medium_message_s or network.medium_s_per_byte:
        yield f"medium {network.medium_message_s!r} {network.medium_s_per_byte!r}"
    yield f"eager {platform.eager}"
    yield f"flops {platform.flops!r}"
    if platform.clock_s:
        yield f"clock {platform.clock_s!r}"
    for key, segments in (("segment", platform.segments), ("on-node", platform.on_node)):
        for segment in segments:
            yield f"{key} {_numbers(segment)}"
    if platform.noise is not None:
        yield f"noise {platform.noise.relative!r} {platform.noise.seed + seed_offset}"
    if events:
        yield f"events {events}"


def _extents(network: Network) -> Iterator[str]:
    if network.shape in ("torus", "mesh"):
        yield f"dims {_words(network.dims)}"
    elif network.shape == "fat-tree":
        for key in ("down", "up", "cables"):
            yield f"{key} {_words(getattr(network, key))}"
    elif network.shape == "dragonfly":
        yield f"dragonfly {_words(network.dragonfly)}"


def _numbers(segment: Segment) -> str:
    sending = (segment.send_s, segment.send_s_per_byte)
    isend = sending[0] if segment.isend_s is None else segment.isend_s
    isend_per_byte = sending[1] if segment.isend_s_per_byte is None else segment.isend_s_per_byte
    flight = (segment.latency_s, segment.per_byte_s)
    receiving = (segment.receive_s, segment.receive_s_per_byte)
    gap = (segment.gap_s, segment.gap_s_per_byte)
    exchange = (segment.exchange_s, segment.exchange_s_per_byte)
    processor = (segment.processor_s, segment.processor_s_per_byte)
    isending = (isend, isend_per_byte)
    return _words((segment.first, *sending, *isending, *flight, *receiving, *gap, *exchange, *processor))


def _words(numbers: tuple[float, ...]) -> str:
    return " ".join(repr(number) for number in numbers)


def algorithm_words(platform: Platform) -> list[str]:
    """smpirun's options for the algorithm of every operation that has a choice."""
    return [f"--cfg=smpi/{operation}:{name}" for operation, name in chosen(platform.collectives).items()]
