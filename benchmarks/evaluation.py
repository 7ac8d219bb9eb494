# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the evaluation of collectives on described machines, compared with simulations of the same calls.

    python benchmarks/evaluation.py [--machines sim:t3e,sim:benchmarks/fat_tree.toml] [--ranks 64,256]
                                    [--only allreduce,iallreduce] [--bytes 8,2048] [--out FILE]

The program makes the same call several times and ends with a reduction. Its graph, as it would be predicted,
is evaluated with the machine's description; SimGrid runs collective_programs.c. Nothing computes or is
traced, so that a difference is an error of the evaluation, or of the algorithm that is assumed.
All-to-all operations with more than 256 MiB in flight are left out, as their simulation takes gigabytes.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scaling import compiled_calls, compiled_simulation, simulated_s

from hockney import measurement
from hockney.core.errors import HockneyError
from hockney.core.platform import Platform
from hockney.launch.smpi import SmpiLauncher
from hockney.measurement import notifier
from hockney.models.applications.message_costs import costs_of_description
from hockney.models.programs.communication import Communication
from hockney.profiles.operations import COLLECTIVES, FROM_ROOT, TO_ROOT
from hockney.replay import graph as g
from hockney.replay.building import Placement, TraceGraph
from hockney.replay.pricing import make_machine
from hockney.replay.scenarios import TracedProgram

SOURCE = Path(__file__).with_name("collective_programs.c")
OPERATIONS = tuple(name.lower() for name in COLLECTIVES)
MACHINES = "sim:benchmarks/fat_tree.toml,sim:t3e"
STEPS = 4
MOST_BYTES = 1 << 28
LIMIT = 0.02


@dataclass(frozen=True)
class Line:
    """Seconds of one case."""

    operation: str
    size: int
    ranks: int
    machine: str
    evaluated_s: float
    simulated_s: float

    @property
    def error(self) -> float:
        return self.evaluated_s / self.simulated_s - 1


def graph_of(operation: str, size: int, ranks: int) -> g.Graph:
    """The calls of a program that makes a call (nonblocking: `i` and its name) and waits for it several
    times, and ends with a reduction of 8 bytes."""
    is_nonblocking = operation not in OPERATIONS
    name = operation[1:] if is_nonblocking else operation
    calls = [(name, size)] * STEPS + [("reduce", 8)]
    names = list(dict.fromkeys(called for called, _ in calls))
    ops, groups = np.zeros((ranks, len(calls), 2), g.OP), np.zeros(len(calls), g.GROUP)
    for number, (called, call_size) in enumerate(calls):
        from_root, to_root = (called.capitalize() in each for each in (FROM_ROOT, TO_ROOT))
        groups[number] = (names.index(called), 0, 0 if from_root or to_root else -1, ranks, call_size)
        call = ops[:, number]
        call["kind"], call["slot"] = (g.ENTER, g.LEAVE), number
        call["flags"] = g.ROOTED_FROM * from_root | g.ROOTED_TO * to_root
        if from_root or to_root:
            call["flags"][0] |= g.AT_ROOT
        if not is_nonblocking or number == STEPS:
            call["flags"] |= np.array((g.BLOCKING, g.TOGETHER), dtype=np.uint8)
    first = 2 * len(calls) * np.arange(ranks + 1, dtype=np.int64)
    return g.Graph(
        ops.reshape(-1), first, np.zeros(0, g.MESSAGE), groups, tuple(names), (np.arange(ranks),), ("call",),
        np.zeros(ranks),
    )  # fmt: skip


def evaluated_s(operation: str, size: int, ranks: int, platform: Platform) -> float:
    placement = Placement.from_hosts(np.arange(ranks))
    machine = make_machine(Communication(costs_of_description(platform), platform=platform), placement)
    graph = graph_of(operation, size, ranks)
    trace_graph = TraceGraph(graph, placement, np.zeros(ranks), np.zeros(1), np.zeros(ranks))
    return TracedProgram(trace_graph, {"value": machine}).costs_only_program.value_s


def cases(operations: list[str], sizes: list[int], rank_counts: list[int]) -> Iterator[tuple[str, int, int]]:
    for operation in operations:
        is_single = "bcast" in operation or operation.endswith("reduce")
        for ranks in rank_counts:
            for size in (8,) if operation.endswith("barrier") else sizes:
                if is_single or size * ranks**2 <= MOST_BYTES:
                    yield operation, size, ranks


def table(lines: list[Line]) -> list[str]:
    """Errors by operation and size: a column for each machine and number of ranks."""
    columns = list(dict.fromkeys((line.machine, line.ranks) for line in lines))
    found = {(line.operation, line.size, line.machine, line.ranks): line for line in lines}
    rows = [
        "| call | bytes | " + " | ".join(f"{machine}, {ranks} ranks" for machine, ranks in columns) + " |",
        "|---|--:|" + "--:|" * len(columns),
    ]
    for operation, size in dict.fromkeys((line.operation, line.size) for line in lines):
        errors = [found.get((operation, size, *column)) for column in columns]
        texts = ["" if line is None else f"{line.error:+.2%}" for line in errors]
        rows.append(f"| `{operation}` | {size} | {' | '.join(texts)} |")
    errors = np.abs([line.error for line in lines])
    rows += ["", f"{len(lines)} cases: median error {np.median(errors):.2%}, largest {errors.max():.1%}; "
             f"{np.count_nonzero(errors > LIMIT)} above {LIMIT:.0%}."]  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--machines", default=MACHINES)
    parser.add_argument("--ranks", default="64,256")
    parser.add_argument("--bytes", default="8,2048,65536,1048576")
    both = [*OPERATIONS, *(f"i{name}" for name in OPERATIONS)]
    parser.add_argument("--only", default=",".join(both), help="calls, such as iallreduce")
    parser.add_argument("--out", type=Path, help="the table, written after each case")
    given = parser.parse_args()
    ranks, sizes = ([int(each) for each in text.split(",")] for text in (given.ranks, given.bytes))
    lines: list[Line] = []
    with tempfile.TemporaryDirectory(prefix="hockney-evaluation-") as name:
        program, calls = compiled_simulation(SOURCE, Path(name)), compiled_calls(Path(name))
        for machine in given.machines.split(","):
            launcher = measurement.prepare(machine, "", True, notifier(lambda event: None), []).launcher
            assert isinstance(launcher, SmpiLauncher)
            run = replace(launcher, engine=program)
            for operation, size, count in cases(given.only.split(","), sizes, ranks):
                words = [operation, str(size), str(STEPS)]
                try:
                    seconds = evaluated_s(operation, size, count, run.platform)
                    truth_s = simulated_s(run, calls, count, words, private=False)
                except HockneyError as error:
                    print(f"{operation} {size} {count}: {error}", flush=True)
                    continue
                lines.append(Line(operation, size, count, run.platform.name, seconds, truth_s))
                print(lines[-1].operation, size, count, f"{lines[-1].error:+.3%}", flush=True)
                if given.out is not None:
                    given.out.write_text("\n".join(table(lines)) + "\n")
    print("\n".join(table(lines)))


if __name__ == "__main__":
    main()
