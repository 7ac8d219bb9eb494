# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The steps of every rank in an iteration of a program, as text for the engine, which executes them without
the program's data (`engine/measure/program_steps.hpp` describes the lines)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from hockney.core.case import Case
from hockney.core.program_cases import PROGRAM, program_name, steps_file
from hockney.models.programs.description import read_stored
from hockney.models.programs.parts import CollectivePart, Iteration, Noise, StepsPart, TasksPart, deviation
from hockney.models.schedules.schedule import Mode, Step

REDUCTIONS = ("allreduce", "reduce", "reduce_scatter_block", "scan")
DOUBLE = 8
"""Bytes of an element of a reduction."""
MPI = "mpi"
"""The algorithm that MPI chooses."""
WORLD = "-1 0"
"""The grouping and the colour of all ranks."""


def skeleton(iteration: Iteration) -> str:
    """The steps of all ranks. Vectors of reductions consist of doubles: their bytes are rounded up."""
    return _Writer(iteration.ranks).text(iteration)


def program_files(cases: Iterable[Case], programs: Sequence[str]) -> dict[str, str]:
    """The steps of the programs that the cases name, by the names of their files. `programs` are the lines of
    a plan (`description.stored`)."""
    named = {(program_name(case), case.ranks) for case in cases if case.workload == PROGRAM}
    lines = {line.partition(" ")[0]: line for line in programs}
    return {
        steps_file(name, ranks): _steps(lines[name], ranks) for name, ranks in sorted(named) if name in lines
    }


@lru_cache(maxsize=64)  # every launch on these ranks needs them
def _steps(line: str, ranks: int) -> str:
    """The steps of a program of a plan."""
    (description,) = read_stored([line]).values()
    return skeleton(description.iteration(ranks))


class _Writer:
    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.common = [f"ranks {ranks}"]
        self.lines: list[list[str]] = [[] for _ in range(ranks)]
        self.groupings: dict[bytes, int] = {}

    def text(self, iteration: Iteration) -> str:
        for part, share in zip(iteration.parts, iteration.shares, strict=True):
            self._all(f"part {share!r}")
            if isinstance(part, StepsPart):
                for step in part.steps:
                    self._step(step, part.noise)
            elif isinstance(part, CollectivePart):
                self._collective(part)
            else:
                self._tasks(part)
        sections = ("\n".join((f"rank {rank}", *lines)) for rank, lines in enumerate(self.lines))
        return "\n".join((*self.common, *sections, ""))

    def _all(self, line: str) -> None:
        for lines in self.lines:
            lines.append(line)

    def _step(self, step: Step, noise: Noise) -> None:
        if step.joins:
            self._all(f"collective barrier 0 {MPI} {WORLD}")
        elif step.layers and (step.mode is Mode.POSTED or step.computed is not None):
            self._posted(step, noise)
        elif step.layers and step.mode is Mode.EXCHANGE:
            for layer in step.layers:
                self._exchange(_messages(replace(step, layers=(layer,))))
        elif step.layers:
            self._blocking(step)
        else:
            self._compute(step.computed, noise)

    def _compute(self, computed: np.ndarray | None, noise: Noise) -> None:
        """Measured times vary as a gamma distribution with their deviation."""
        for rank, seconds in enumerate(() if computed is None else computed.tolist()):
            if seconds > 0:
                self.lines[rank].append(f"compute {seconds!r} {deviation(noise)!r}")

    def _posted(self, step: Step, noise: Noise) -> None:
        """MPI_Irecv and MPI_Isend, the computation that overlaps them, and MPI_Waitall."""
        busy = set()
        for source, target, size in _messages(step):
            self.lines[target].append(f"ireceive {source} {size}")
            busy |= {source, target}
        for source, target, size in _messages(step):
            self.lines[source].append(f"isend {target} {size}")
        self._compute(step.computed, noise)
        for rank in busy:
            self.lines[rank].append("wait")

    def _exchange(self, messages: Iterator[tuple[int, int, int]]) -> None:
        """MPI_Sendrecv of the ranks that do both."""
        sent, received = {}, {}
        for source, target, size in messages:
            sent[source], received[target] = f"{target} {size}", f"{source} {size}"
        for rank in sorted(sent.keys() | received.keys()):
            both = rank in sent and rank in received
            call = "exchange" if both else "send" if rank in sent else "receive"
            self.lines[rank].append(" ".join(filter(None, (call, sent.get(rank), received.get(rank)))))

    def _blocking(self, step: Step) -> None:
        """MPI_Send, then MPI_Recv."""
        for source, target, size in _messages(step):
            self.lines[source].append(f"send {target} {size}")
        for source, target, size in _messages(step):
            self.lines[target].append(f"receive {source} {size}")

    def _collective(self, part: CollectivePart) -> None:
        size = -(-part.size // DOUBLE) * DOUBLE if part.operation in REDUCTIONS else part.size
        start = f"collective {part.operation} {size} {part.algorithm or MPI}"
        if part.groups is None:
            self._all(f"{start} {WORLD}")
            return
        grouping = self.groupings.setdefault(part.groups.tobytes(), len(self.groupings))
        for color, members in enumerate(part.groups.tolist()):
            for rank in members:
                self.lines[rank].append(f"{start} {grouping} {color}")

    def _tasks(self, part: TasksPart) -> None:
        number = len(self.common) - 1
        self.common.append(" ".join(("tasks", *map(repr, part.seconds.tolist()))))
        for rank, lines in enumerate(self.lines):
            role = "worker" if rank else "master"
            lines.append(f"{role} {number} {part.to_worker} {part.to_master}")


def _messages(step: Step) -> Iterator[tuple[int, int, int]]:
    """Source, target and bytes of the messages, layer by layer."""
    for layer in step.layers:
        sizes = np.broadcast_to(np.round(layer.size), layer.source.shape).astype(int)
        yield from zip(layer.source.tolist(), layer.target.tolist(), sizes.tolist(), strict=True)
