# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The steps of every rank in an iteration of a program, as text for the engine. It executes them without the
program's data (`engine/measure/program_steps.hpp` describes the lines)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from hockney.core.case import Case
from hockney.core.program_cases import PROGRAM, program_name, steps_file
from hockney.models.programs.description import read_stored_descriptions
from hockney.models.programs.parts import (
    CollectivePart,
    Iteration,
    Noise,
    StepsPart,
    TasksPart,
    relative_deviation,
)
from hockney.models.schedules.schedule import Mode, Step

REDUCTIONS = ("allreduce", "reduce", "reduce_scatter_block", "scan")
DOUBLE = 8
"""Bytes of an element of a reduction."""
MPI = "mpi"
"""The algorithm that MPI chooses."""
ALL_RANKS = "-1 0"
"""The grouping and the color of all ranks."""


def skeleton_text(iteration: Iteration) -> str:
    """The steps of all ranks. Vectors of reductions consist of doubles, so their bytes are rounded up."""
    return _Writer(iteration.ranks).text(iteration)


def program_files(cases: Iterable[Case], programs: Sequence[str]) -> dict[str, str]:
    """The steps of the programs in the cases, by file name. `programs` are the lines of a plan
    (`description.store_description`)."""
    cases_by_name = {(program_name(case), case.ranks) for case in cases if case.workload == PROGRAM}
    lines = {line.partition(" ")[0]: line for line in programs}
    return {
        steps_file(name, ranks): _read_and_write_steps(lines[name], ranks)
        for name, ranks in sorted(cases_by_name)
        if name in lines
    }


@lru_cache(maxsize=64)  # every launch on these ranks needs them
def _read_and_write_steps(line: str, ranks: int) -> str:
    """The steps of a program in a plan."""
    (description,) = read_stored_descriptions([line]).values()
    return skeleton_text(description.iteration(ranks))


class _Writer:
    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.common = [f"ranks {ranks}"]
        self.lines: list[list[str]] = [[] for _ in range(ranks)]
        self.groupings: dict[bytes, int] = {}

    def text(self, iteration: Iteration) -> str:
        for part, share in zip(iteration.parts, iteration.shares, strict=True):
            self._add_to_all(f"part {share!r}")
            if isinstance(part, StepsPart):
                for step in part.steps:
                    self._add_step(step, part.noise)
            elif isinstance(part, CollectivePart):
                self._add_collective(part)
            else:
                self._add_tasks(part)
        sections = ("\n".join((f"rank {rank}", *lines)) for rank, lines in enumerate(self.lines))
        return "\n".join((*self.common, *sections, ""))

    def _add_to_all(self, line: str) -> None:
        for lines in self.lines:
            lines.append(line)

    def _add_step(self, step: Step, noise: Noise) -> None:
        if step.joins:
            self._add_to_all(f"collective barrier 0 {MPI} {ALL_RANKS}")
        elif step.layers and (step.mode is Mode.POSTED or step.computed is not None):
            self._add_posted_messages(step, noise)
        elif step.layers and step.mode is Mode.EXCHANGE:
            for layer in step.layers:
                self._add_exchange(_messages(replace(step, layers=(layer,))))
        elif step.layers:
            self._add_blocking_messages(step)
        else:
            self._add_computation(step.computed, noise)

    def _add_computation(self, computed: np.ndarray | None, noise: Noise) -> None:
        """Add the computation. Measured times are replaced by a gamma distribution with the same
        deviation."""
        for rank, seconds in enumerate(() if computed is None else computed.tolist()):
            if seconds > 0:
                self.lines[rank].append(f"compute {seconds!r} {relative_deviation(noise)!r}")

    def _add_posted_messages(self, step: Step, noise: Noise) -> None:
        """Add MPI_Irecv and MPI_Isend, the computation that overlaps them, and MPI_Waitall."""
        communicating_ranks = set()
        for source, target, size in _messages(step):
            self.lines[target].append(f"ireceive {source} {size}")
            communicating_ranks |= {source, target}
        for source, target, size in _messages(step):
            self.lines[source].append(f"isend {target} {size}")
        self._add_computation(step.computed, noise)
        for rank in communicating_ranks:
            self.lines[rank].append("wait")

    def _add_exchange(self, messages: Iterator[tuple[int, int, int]]) -> None:
        """Add MPI_Sendrecv for ranks that send and receive, MPI_Send or MPI_Recv for the others."""
        sends, receives = {}, {}
        for source, target, size in messages:
            sends[source], receives[target] = f"{target} {size}", f"{source} {size}"
        for rank in sorted(sends.keys() | receives.keys()):
            is_exchange = rank in sends and rank in receives
            call = "exchange" if is_exchange else "send" if rank in sends else "receive"
            self.lines[rank].append(" ".join(filter(None, (call, sends.get(rank), receives.get(rank)))))

    def _add_blocking_messages(self, step: Step) -> None:
        """Add MPI_Send, then MPI_Recv."""
        for source, target, size in _messages(step):
            self.lines[source].append(f"send {target} {size}")
        for source, target, size in _messages(step):
            self.lines[target].append(f"receive {source} {size}")

    def _add_collective(self, part: CollectivePart) -> None:
        size = -(-part.size // DOUBLE) * DOUBLE if part.operation in REDUCTIONS else part.size
        line_start = f"collective {part.operation} {size} {part.algorithm or MPI}"
        if part.groups is None:
            self._add_to_all(f"{line_start} {ALL_RANKS}")
            return
        grouping = self.groupings.setdefault(part.groups.tobytes(), len(self.groupings))
        for color, members in enumerate(part.groups.tolist()):
            for rank in members:
                self.lines[rank].append(f"{line_start} {grouping} {color}")

    def _add_tasks(self, part: TasksPart) -> None:
        tasks_index = len(self.common) - 1
        self.common.append(" ".join(("tasks", *map(repr, part.seconds.tolist()))))
        for rank, lines in enumerate(self.lines):
            role = "worker" if rank else "master"
            lines.append(f"{role} {tasks_index} {part.to_worker} {part.to_master}")


def _messages(step: Step) -> Iterator[tuple[int, int, int]]:
    """Source, target and bytes of the messages, layer by layer."""
    for layer in step.layers:
        sizes = np.broadcast_to(np.round(layer.size), layer.source.shape).astype(int)
        yield from zip(layer.source.tolist(), layer.target.tolist(), sizes.tolist(), strict=True)
