# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Efficiencies of the benchmark of Hanebutte and Tatsumi (1996) over the work T: every process computes
for T/np seconds, then all processes exchange messages of L words of 4 bytes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.draw.figure import Axis
from hockney.reproductions.parts import Answer

WORD_BYTES = 4
WORK_AXIS = Axis("T, computing time on one process", "s")
EFFICIENCY_AXIS = Axis("efficiency", "", "linear", include=(0.0, 1.0))


@dataclass(frozen=True, order=True)
class Cell:
    """Number of processes, words of a message, and work (s)."""

    processes: int
    message_words: int
    work: float


def grid_cells(
    processes: Iterable[int], message_words: Sequence[int], work_values: Sequence[float]
) -> list[Cell]:
    return [
        Cell(p, word_count, work) for p in processes for word_count in message_words for work in work_values
    ]


def cases(catalog: Catalog, grid: Iterable[Cell], iterations: int) -> tuple[Case, ...]:
    return tuple(
        catalog.case(
            f"granularity bytes={WORD_BYTES * cell.message_words} work={cell.work} iterations={iterations} "
            f"ranks={cell.processes}"
        )
        for cell in grid
    )


def launch_means(answer: Answer, cell: Cell) -> list[float]:
    """Returns the seconds of an iteration in each launch, as the mean of its repetitions, like the
    paper's."""
    records = answer.records(
        "granularity", ranks=cell.processes, bytes=WORD_BYTES * cell.message_words, work=cell.work
    )
    return [math.fsum(record.times_s) / len(record.times_s) for record in records if record.times_s]


def efficiency_of_time(cell: Cell, seconds: float) -> float:
    """Returns T / (np t)."""
    return cell.work / (cell.processes * seconds)


def efficiency(answer: Answer, cell: Cell) -> float | None:
    """Returns the efficiency by the mean time of all launches; None if it was not measured."""
    seconds = launch_means(answer, cell)
    return efficiency_of_time(cell, math.fsum(seconds) / len(seconds)) if seconds else None


def break_even(
    answer: Answer, processes: int, message_words: int, work_values: Sequence[float]
) -> float | None:
    """Returns the work (s) for which np processes are as fast as one (efficiency 1/np), interpolated
    between measured works; None if it is outside their range."""
    efficiencies = [
        (work, value)
        for work in work_values
        if (value := efficiency(answer, Cell(processes, message_words, work))) is not None
    ]
    level = 1 / processes
    for (low, low_efficiency), (high, high_efficiency) in pairwise(efficiencies):
        if low_efficiency <= level <= high_efficiency:
            # np t - T is the communication, which is almost independent of T.
            communication_s = math.sqrt((low / low_efficiency - low) * (high / high_efficiency - high))
            return communication_s / (processes - 1)
    return None
