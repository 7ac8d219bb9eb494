# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How fast the evaluator and the event-driven model of traced programs are.

    python benchmarks/replay.py [--graphs 64x1000,1024x1000] [--repeat 3] [--out benchmarks/results/replay.md]

The graphs are made in memory: steps of computation and of an exchange of 8 KiB with both neighbors on a ring
(MPI_Irecv, MPI_Isend, MPI_Waitall), and after every tenth step an allreduce of 8 bytes by recursive doubling.
The computation of each rank and step varies.
An event is an operation of a rank, the start or the end of a message, so that a message has four.
Rates are events per second of CPU time on one core, the best of several passes; the order is found once.
*Slope* is a pass that gives the derivative by latency too, *path* one with the critical path and all waits.
The event-driven model runs on a switch that nothing limits, and on one with a NIC of 10 GB/s for each rank.
Memory is the peak of the process, which holds the graph.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hockney import process
from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.discovery.cpu import processors
from hockney.models.routes import UNLIMITED
from hockney.replay import native
from hockney.replay.evaluator import Evaluator, Parameter
from hockney.replay.graph import (
    BLOCKING,
    COST,
    GROUP,
    MESSAGE,
    OP,
    RECEIVE,
    RECEIVED,
    SEND,
    SENT,
    TOGETHER,
    Graph,
)
from hockney.replay.network_model import NetworkModel

EVERY = 10
"""Steps to each allreduce."""
HALO = ((RECEIVE, 0, 0), (RECEIVE, 1, 0), (SEND, 0, 0), (SEND, 1, 0),
        (RECEIVED, 0, 0), (RECEIVED, 1, TOGETHER), (SENT, 0, TOGETHER), (SENT, 1, TOGETHER))  # fmt: skip
"""Kind, direction and flags."""
ROUND = ((SEND, 0, BLOCKING), (RECEIVE, 0, TOGETHER), (RECEIVED, 0, TOGETHER), (SENT, 0, TOGETHER))
PLACES = ("halo", "allreduce")


def costs(latency: float = 1e-6) -> np.ndarray:
    """Of a message of the halo, and one of the allreduce."""
    table = np.zeros(2, dtype=COST)
    table["overhead"], table["receive"], table["latency"], table["gap"] = 2e-7, 3e-7, latency, 1e-7
    table["transfer"] = 8192 * 1e-10, 8 * 1e-10
    table["eager"], table["gap_holds"], table["level"] = 1, 1, 4
    return table


def halo(ranks: int, steps: int, seed: int = 1) -> Graph:
    """A graph; `ranks` is a power of two."""
    rounds = ranks.bit_length() - 1
    each = steps * len(HALO) + steps // EVERY * rounds * len(ROUND)
    random = np.random.default_rng(seed)
    rank = np.arange(ranks, dtype=np.uint32)
    ops = np.zeros((ranks, each), dtype=OP)
    slowness = (1 + 0.03 * random.standard_normal(ranks)).astype(np.float32)
    number = steps * 2 + steps // EVERY * rounds
    messages = np.zeros((number, ranks), dtype=MESSAGE)
    messages["source"] = rank
    column = layer = 0

    def add(kind: int, flags: int, place: int, senders: np.ndarray, row: int) -> None:
        nonlocal column
        mine = rank if kind in (SEND, SENT) else senders
        ops["kind"][:, column], ops["flags"][:, column], ops["place"][:, column] = kind, flags, place
        ops["cost"][:, column] = place
        ops["slot"][:, column] = row * ranks + mine
        column += 1

    for step in range(steps):
        noise = 1 + 0.01 * random.standard_normal(ranks).astype(np.float32)
        ops["computed_s"][:, column] = 1e-4 * slowness * noise
        for row, way in enumerate((1, -1)):
            messages["target"][layer + row] = (rank.astype(np.int64) + way) % ranks
        messages["size"][layer : layer + 2] = 8192
        for kind, way, flags in HALO:
            senders = (rank.astype(np.int64) - (1, -1)[way]) % ranks
            add(kind, flags, 0, senders, layer + way)
        layer += 2
        if step % EVERY == EVERY - 1:
            for bit in range(rounds):
                messages["target"][layer], messages["size"][layer] = rank ^ (1 << bit), 8
                for kind, _, flags in ROUND:
                    add(kind, flags, 1, rank ^ (1 << bit), layer)
                layer += 1
    first = np.arange(ranks + 1, dtype=np.int64) * each
    return Graph(
        ops.reshape(-1),
        first,
        messages.reshape(-1),
        np.zeros(0, dtype=GROUP),
        (),
        (np.arange(ranks),),
        PLACES,
    )


def platform(ranks: int, nic: float) -> Platform:
    network = Network(nodes=(NodeGroup(count=ranks),), nic=nic)
    return Platform(name="switch", title="Switch", network=network, segments=(Segment(latency_s=1e-6),))


def rate(graph: Graph, action: Callable[[], object], times: int) -> float:
    """Millions of events per second of CPU time, the best of several."""
    seconds = []
    for _ in range(times):
        begin = time.process_time()
        action()
        seconds.append(time.process_time() - begin)
    return len(graph.ops) / min(seconds) / 1e6


def study(ranks: int, steps: int, repeat: int) -> str:
    """A row of the table."""
    begin = time.perf_counter()
    table = costs()
    native.library()
    graph = halo(ranks, steps)
    made_s = time.perf_counter() - begin
    found: list[Evaluator] = []
    order = rate(graph, lambda: found.append(Evaluator(graph, table)), 1)
    evaluator = found[0]
    latency = Parameter.latency(table)
    static = [
        rate(graph, evaluator.run, repeat),
        rate(graph, lambda: evaluator.slope(latency, 0.0), repeat),
        rate(graph, evaluator.critical_path, 1),
    ]
    events, ends = [], []
    for nic in (UNLIMITED, 1e10):
        model = NetworkModel(graph, platform(ranks, nic), table)
        events.append(rate(graph, lambda model=model: ends.append(model.run()), max(repeat - 1, 1)))
    if not np.allclose(ends[0].ends, evaluator.run().ends, rtol=1e-9):
        sys.exit("the two models differ where nothing is shared")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    wall_s = time.perf_counter() - begin - made_s
    rates = " | ".join(f"{each:.0f}" for each in (order, *static))
    slow = " | ".join(f"{each:.1f}" for each in events)
    size = f"{ranks} | {len(graph.ops) / 1e6:.1f}"
    return f"| {size} | {rates} | {slow} | {memory:.0f} | {made_s:.0f} | {wall_s:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", default="64x1000,1024x1000,4096x400,65536x60", help="ranks x steps")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        ranks, steps = map(int, arguments.one.split("x"))
        print(study(ranks, steps, arguments.repeat))
        return
    rows = [
        "| ranks | events, M | order, M/s | clocks, M/s | slope, M/s | path, M/s | event-driven, M/s "
        "| with NICs, M/s | memory, MB | making, s | all, s |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for graph in arguments.graphs.split(","):
        done = process.capture(
            [sys.executable, __file__, "--one", graph, "--repeat", str(arguments.repeat)], timeout=3600
        )
        if not done.ok:
            sys.exit(done.err)
        rows.append(done.out.strip())
        print(rows[-1], flush=True)
    here = processors()
    load = f"load average at the end {os.getloadavg()[0]:.1f}"
    rows += ["", f"{here.cores.usable} cores ({here.model}); {load}."]
    if arguments.out:
        intro = __doc__.partition("\n\n")[2].partition("\n\n")[2].strip()
        title = "# How fast traced programs are evaluated\n\n`python benchmarks/replay.py`\n\n"
        arguments.out.write_text(f"{title}{intro}\n\n" + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
