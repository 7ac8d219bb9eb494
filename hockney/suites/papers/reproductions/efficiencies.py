# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Efficiencies of Hanebutte and Tatsumi (1996) over the work T, as their benchmark gives them: every process
computes for T/np seconds, then all exchange messages of L words of 4 bytes."""

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
WORK = Axis("T, computing time on one process", "s")
EFFICIENCY = Axis("efficiency", "", "linear", include=(0.0, 1.0))


@dataclass(frozen=True, order=True)
class Cell:
    """Processes, words of a message, and work (s)."""

    processes: int
    words: int
    work: float


def cells(processes: Iterable[int], words: Sequence[int], works: Sequence[float]) -> list[Cell]:
    return [Cell(p, length, work) for p in processes for length in words for work in works]


def cases(catalog: Catalog, requested: Iterable[Cell], iterations: int) -> tuple[Case, ...]:
    return tuple(
        catalog.case(
            f"granularity bytes={WORD_BYTES * cell.words} work={cell.work} iterations={iterations} "
            f"ranks={cell.processes}"
        )
        for cell in requested
    )


def times(answer: Answer, cell: Cell) -> list[float]:
    """Seconds of an iteration in each launch, the mean of its repetitions, as the paper averages."""
    records = answer.records(
        "granularity", ranks=cell.processes, bytes=WORD_BYTES * cell.words, work=cell.work
    )
    return [math.fsum(r.times_s) / len(r.times_s) for r in records if r.times_s]


def efficiency_of_time(cell: Cell, seconds: float) -> float:
    """T / (np t)."""
    return cell.work / (cell.processes * seconds)


def efficiency(answer: Answer, cell: Cell) -> float | None:
    """The efficiency, by the mean time of all launches; None if it was not measured."""
    seconds = times(answer, cell)
    return efficiency_of_time(cell, math.fsum(seconds) / len(seconds)) if seconds else None


def break_even(answer: Answer, processes: int, words: int, works: Sequence[float]) -> float | None:
    """The work (s) with which np processes are as fast as one (efficiency 1/np), interpolated between
    measured works; None if it is beyond them."""
    efficiencies = [
        (work, value)
        for work in works
        if (value := efficiency(answer, Cell(processes, words, work))) is not None
    ]
    level = 1 / processes
    for (low, low_efficiency), (high, high_efficiency) in pairwise(efficiencies):
        if low_efficiency <= level <= high_efficiency:
            # np t - T is the communication, which hardly depends on T.
            communication = math.sqrt((low / low_efficiency - low) * (high / high_efficiency - high))
            return communication / (processes - 1)
    return None
