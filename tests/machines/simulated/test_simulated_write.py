# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A written machine file parses to the same machine, whatever its numbers and texts."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from hockney.core import platform
from hockney.core.platform import (
    Detours,
    Fault,
    Libraries,
    Network,
    NodeGroup,
    Noise,
    Origin,
    Platform,
    Segment,
)
from hockney.core.smpi_algorithms import ALGORITHMS
from hockney.machines import simulated

SECONDS = st.one_of(st.just(0.0), st.floats(0.0, 2e6, allow_nan=False), st.floats(1e-12, 1e-3))
RATE = st.floats(1e-3, 1e18)
SIZE = st.one_of(st.integers(0, 1 << 50), st.integers(0, 1 << 30).map(lambda k: k * 1024))
COUNT = st.integers(1, 40)
COUNTS = st.lists(COUNT, min_size=1, max_size=4).map(tuple)
WORD = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,9}(\+[a-z][a-z0-9-]{0,5})?", fullmatch=True)
ALGORITHMS = [
    (operation, name) for operation in platform.SELECTABLE_COLLECTIVES for name in ALGORITHMS[operation]
]
TEXT = st.text(max_size=30)
FILLED = TEXT.filter(str.strip)


PROCESSOR = ("processor_s", "processor_s_per_byte")


def segments(least: int) -> st.SearchStrategy[tuple[Segment, ...]]:
    """Between nodes (`least` = 1), or on a node."""
    without = ("first", "latency_s", *(PROCESSOR if least == 0 else ()))
    times = {f.name: SECONDS for f in msgspec.structs.fields(Segment) if f.name not in without}
    some = st.fixed_dictionaries({"latency_s": SECONDS}, optional=times)
    firsts = st.sets(st.integers(1, 1 << 40), max_size=3).map(lambda found: [0, *sorted(found)])
    made = firsts.flatmap(
        lambda at: st.tuples(*(some.map(lambda kept, f=first: Segment(first=f, **kept)) for first in at))
    )
    return st.one_of(made, st.just(())) if least == 0 else made


def networks() -> st.SearchStrategy[Network]:
    groups = st.lists(st.builds(NodeGroup, count=COUNT, cores=COUNT), min_size=1, max_size=3).map(tuple)
    levels = st.integers(1, 3).flatmap(lambda n: st.tuples(*[st.tuples(*[COUNT] * n)] * 3))
    extents = st.one_of(
        st.tuples(st.sampled_from(["torus", "mesh"]), COUNTS).map(lambda x: {"shape": x[0], "dims": x[1]}),
        st.tuples(st.sampled_from(["switch", "bus"]), groups).map(lambda x: {"shape": x[0], "nodes": x[1]}),
        levels.map(lambda x: {"shape": "fat-tree", "down": x[0], "up": x[1], "cables": x[2]}),
        st.tuples(*[COUNT] * 4).map(lambda x: {"shape": "dragonfly", "dragonfly": x}),
    )
    rest = st.fixed_dictionaries(
        {},
        optional={
            "nic": RATE,
            "link": RATE,
            "duplex": st.sampled_from(["full", "half"]),
            "hop_s": SECONDS,
            "medium_message_s": SECONDS,
            "medium_s_per_byte": SECONDS,
            "broadcast": st.sampled_from(["messages", "medium"]),
        },
    )
    return st.tuples(extents, rest).map(lambda both: Network(**both[0], **both[1]))


def detours() -> st.SearchStrategy[Detours]:
    """Detours with gaps before, between and after them."""
    gap = st.floats(1e-9, 10.0)

    def made(pairs: list[tuple[float, float]], last: float, nodes: tuple[int, ...], step: int) -> Detours:
        starts, lengths, end = [], [], 0.0
        for before, length in pairs:
            starts.append(end + before)
            lengths.append(length)
            end = starts[-1] + length
        return Detours(
            period_s=end + last,
            start_s=tuple(starts),
            length_s=tuple(lengths),
            nodes=nodes,
            first_rank=step - 1,
            rank_step=step,
        )

    pairs = st.lists(st.tuples(gap, gap), min_size=1, max_size=3)
    return st.builds(made, pairs, gap, st.sampled_from([(), (0,)]), COUNT)


def one_core_per_processor(machine: Platform) -> Platform:
    """The time of processors is only taken from nodes with one core."""
    if all(group.cores == 1 for group in machine.nodes):
        return machine
    free = tuple(msgspec.structs.replace(s, **dict.fromkeys(PROCESSOR, 0.0)) for s in machine.segments)
    return msgspec.structs.replace(machine, segments=free)


OPTIONAL = {
    "source": TEXT,
    "eager": SIZE,
    "on_node": segments(0),
    "collectives": st.lists(st.sampled_from(ALGORITHMS)).map(dict),
    "flops": st.floats(1.0, 1e21),
    "rates": st.dictionaries(st.sampled_from(platform.RATED_KERNELS), st.floats(1.0, 1e18), max_size=2),
    "memory": st.dictionaries(st.integers(2, 1 << 20), st.floats(1.0, 1e18), max_size=3).map(
        lambda each: tuple(sorted({1: 1e10, **each}.items()))
    ),
    "sum_s_per_byte": SECONDS,
    "hardware_barrier_s": st.one_of(st.none(), SECONDS),
    "barrier_cluster": st.integers(1, 1 << 20),
    "barrier_round_s": SECONDS,
    "calls": st.dictionaries(
        st.sampled_from(platform.OPERATIONS_WITH_CALL_COSTS),
        st.dictionaries(SIZE, SECONDS, min_size=1, max_size=3).map(lambda each: tuple(sorted(each.items()))),
        max_size=2,
    ),
    "libraries": st.builds(
        Libraries,
        write_s=SECONDS, read_s=SECONDS, superstep_s=SECONDS, buffer_s_per_byte=SECONDS, step_s=SECONDS,
    ),
    "clock_s": SECONDS,
    "noise": st.one_of(st.none(), st.builds(Noise, relative=st.floats(0, 10), seed=st.integers(0, 2**20))),
    "faults": st.lists(
        st.builds(
            Fault,
            nodes=st.just((0,)), slowdown=st.floats(1, 1e6), loss=st.floats(0, 0.99), resend_s=SECONDS,
        ),
        max_size=2,
    ).map(tuple),
    "detours": st.lists(detours(), max_size=2).map(tuple),
    "origins": st.lists(
        st.builds(
            Origin,
            key=st.sampled_from(["network", "network.link", "segments[0].latency_s", "flops"]),
            status=st.sampled_from(["printed", "fitted", "guess"]),
            source=FILLED,
            rows=st.lists(TEXT, max_size=6).map(tuple),
        ),
        max_size=2,
    ).map(tuple),
    "notes": st.lists(TEXT, max_size=2).map(tuple),
    "poor_fit": TEXT,
    "two_modes": TEXT,
}  # fmt: skip
PLATFORMS = st.fixed_dictionaries(
    {"name": WORD, "title": FILLED, "network": networks(), "segments": segments(1)}, optional=OPTIONAL
).map(lambda kept: one_core_per_processor(Platform(**kept)))


def test_the_property_tries_every_field():
    given_ones = {"name", "title", "network", "segments", *OPTIONAL}
    assert given_ones == {f.name for f in msgspec.structs.fields(Platform)}


@settings(max_examples=150, deadline=None)
@given(PLATFORMS)
def test_what_is_written_reads_back_equal(machine):
    text = simulated.write(machine)
    assert simulated.read(text) == machine
    assert simulated.write(simulated.read(text)) == text


def test_numbers_are_written_with_units():
    text = simulated.write(
        Platform(
            name="m",
            title='"M"',
            network=Network(shape="switch", nodes=(NodeGroup(count=3, cores=2),), link=308e6),
            segments=(Segment(latency_s=10.5e-6, per_byte_s=20e-9), Segment(first=4096, latency_s=1.0)),
            eager=4096,
            flops=6e8,
            rates={"cg": 2e7, "min-plus": 1.5e3},
        )
    )
    for line in (
        'title = "\\"M\\""',
        'eager = "4KiB"',
        'flops = "600Mflop/s"',
        'cg = "20Mop/s"',
        'min-plus = "1.5kop/s"',
        "nodes = [{count = 3, cores = 2}]",
        'link = "308MB/s"',
        'latency_s = "10.5us"',
        'per_byte_s = "20ns/B"',
        'latency_s = "1s"',
    ):
        assert line in text.splitlines()
    assert "collectives" not in text and "hop_s" not in text
