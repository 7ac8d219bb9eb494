# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that Hypothesis makes up."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from made_graphs import Writer

from hockney.models.schedules import Mode, relation
from hockney.models.schedules.schedule import Step
from hockney.replay.graph import (
    AT_ROOT,
    BLOCKING,
    BUFFERED,
    COMPUTE,
    ENTER,
    LEAVE,
    RECEIVE,
    RECEIVED,
    ROOTED_FROM,
    ROOTED_TO,
    SEND,
    SENT,
    SYNCHRONOUS,
    TOGETHER,
)

TICK = 2.0**-20
"""Times are multiples of it, so that sums are exact and equal times frequent."""
TIMES = ("overhead", "latency", "transfer", "receive")


@st.composite
def program_steps(draw):
    """Computation, and messages that are posted before computation, some of them large, on 2 to 6 ranks."""
    ranks = draw(st.integers(2, 6))
    ticks = st.lists(st.integers(0, 50), min_size=ranks, max_size=ranks)
    seconds = ticks.map(lambda each: 2.0**-20 * np.array(each))
    pairs = [(a, b) for a in range(ranks) for b in range(ranks) if a != b]
    steps = []
    for _ in range(draw(st.integers(1, 3))):
        steps.append(Step((), computed=draw(seconds)))
        chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
        sizes = draw(st.lists(st.sampled_from([100, 6000]), min_size=len(chosen), max_size=len(chosen)))
        source, target = map(np.array, zip(*chosen, strict=True))
        posted = relation(source, target, np.array(sizes), Mode.POSTED)
        steps.append(Step(posted.layers, posted.mode, computed=draw(st.none() | seconds)))
        steps += [Step((), joins=True)] if draw(st.booleans()) else []
    return ranks, steps


@st.composite
def programs(draw, gaps=True):
    """Random calls in an order without a deadlock if messages leave at once, and the costs."""
    ranks = draw(st.integers(1, 5))
    writer = Writer(ranks)
    rows = [
        writer.row(
            **{name: TICK * draw(st.integers(0, 9)) for name in TIMES},
            gap=TICK * draw(st.integers(0, 20)) if gaps else 0.0,
            eager=draw(st.booleans()), gap_holds=draw(st.booleans()), level=draw(st.integers(0, 4)),
        )
        for _ in range(draw(st.integers(1, 3)))
    ]  # fmt: skip
    pending: list[list[tuple[int, int, int]]] = [[] for _ in range(ranks)]

    def computed() -> float:
        return TICK * draw(st.sampled_from([0, 0, 1, 5, 40]))

    def wait(rank: int, count: int) -> None:
        for number, (kind, slot, row) in enumerate(pending[rank][:count]):
            writer.add(
                rank, kind, slot, row, TOGETHER if number else 0, 0.0 if number else computed(), f"w{rank}"
            )
        pending[rank] = pending[rank][count:]

    for _ in range(draw(st.integers(0, 12))):
        what = draw(st.integers(0, 9))
        source, target = draw(st.integers(0, ranks - 1)), draw(st.integers(0, ranks - 1))
        row = draw(st.sampled_from(rows))
        if what < 7:
            slot = writer.message(source, target, 8 * draw(st.integers(0, 2)))
            mode = draw(st.sampled_from([0, 0, BUFFERED, SYNCHRONOUS]))
            blocking = what < 3 and source != target

            def receive(slot=slot, row=row, target=target, blocking=blocking) -> None:
                writer.add(target, RECEIVE, slot, row, BLOCKING if blocking else 0, computed(), "r")
                if blocking:
                    writer.add(target, RECEIVED, slot, row, TOGETHER, place="r")
                else:
                    pending[target].append((RECEIVED, slot, row))

            early = draw(st.booleans()) and not blocking
            if early:
                receive()
            writer.add(source, SEND, slot, row, mode | (BLOCKING if blocking else 0), computed(), "s")
            if blocking:
                writer.add(source, SENT, slot, row, TOGETHER, place="s")
            else:
                pending[source].append((SENT, slot, row))
            if not early:
                receive()
        elif what == 7:
            rooted = draw(st.sampled_from([0, ROOTED_FROM, ROOTED_TO]))
            slot = writer.group(source if rooted else -1)
            for rank in range(ranks):
                flags = rooted | (AT_ROOT if rooted and rank == source else 0)
                writer.add(rank, ENTER, slot, row, flags | BLOCKING, computed(), "e")
                writer.add(rank, LEAVE, slot, row, flags | TOGETHER, place="l")
        elif what == 8:
            writer.add(source, COMPUTE, computed=computed(), place="c")
        else:
            wait(source, draw(st.integers(0, len(pending[source]))))
    for rank in range(ranks):
        wait(rank, len(pending[rank]))
    tail = draw(
        st.just(()) | st.lists(st.integers(0, 9).map(lambda n: n * TICK), min_size=ranks, max_size=ranks)
    )
    return writer.graph(tail), writer.costs()
