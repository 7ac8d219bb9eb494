# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The T3E's figures: published points, simulated lines, and the mechanism that explains deviations."""

from __future__ import annotations

from collections.abc import Mapping

from hockney.core.case import MPI
from hockney.draw.figure import Axis, Figure, Series
from hockney.reproductions import pages
from hockney.reproductions.parts import Answer
from hockney.studies.collectives.plan import T3E_SIZES
from hockney.suites.papers.reproductions.t3e_cases import (
    BUFFERS,
    BY_MESSAGES,
    FORMULA,
    FOUR_SIZES,
    FROM_TWO,
    MECHANISMS,
    OPERATIONS,
    PRINTED,
    PROCESSES,
    SIZE_WORDS,
    SIZES,
    counted,
    printed,
    seconds,
    simulated,
    tried,
)

AT_THE_ROOT = ("gather", "scatter")
Points = list[tuple[int, "float | None"]]


def pairs(answers: Mapping[str, Answer]) -> tuple[Figure, ...]:
    answer = answers["pairs"]
    times = [(size, answer.seconds("pingpong", bytes=size)) for size in T3E_SIZES]
    formula = [(size, FORMULA.time(size)) for size in T3E_SIZES]
    time = Figure(
        "t3e-pingpong-time",
        "Time of a message",
        Axis("message size", "B", "log", zero=True),
        Axis("time", "s"),
        (
            pages.series("17 + x/50, 56 + x/308 us", formula, "line", "one way"),
            pages.series("simulated", times, group="one way"),
        ),
        "Line: the two printed formulas. Points: simulated.",
    )
    drawn = [pages.series("from the formulas", [(x, x / t) for x, t in formula if x], "line", "one way")]
    for part, setting in (("pairs", ""), *BUFFERS.items()):
        name = f"simulated, MPI_BUFFER_MAX {setting}" if setting else "simulated"
        found = ((x, answers[part].seconds("pingpong", bytes=x)) for x in T3E_SIZES if x)
        drawn.append(pages.series(name, [(x, x / t if t else None) for x, t in found], group=name))
    rate = Figure(
        "t3e-figure-1",
        "Figure 1: bandwidth of one message",
        Axis("message size", "B"),
        Axis("bandwidth", "B/s", "linear"),
        tuple(drawn),
        "The paper: 300 MB/s. A message of the ping-pong is always expected, so that the setting of "
        "MPI_BUFFER_MAX changes its time only if messages that wait for their receiver cost more.",
    )
    return time, rate


def barrier(tables: Answer) -> Figure:
    def seconds(algorithm: str) -> Points:
        return [(p, tables.seconds("barrier", algorithm=algorithm, ranks=p)) for p in FROM_TWO]

    printed_s = PRINTED.row("t3e/text/barrier/256").si
    return Figure(
        "t3e-figure-2",
        "Figure 2: time of MPI_Barrier",
        Axis("processes", "processes"),
        Axis("time", "s"),
        (
            pages.series("published", [(256, printed_s)], group="MPI_Barrier"),
            pages.series("MPI_Barrier, simulated", seconds(MPI), "line", "MPI_Barrier"),
            pages.series("dissemination of messages, simulated", seconds(BY_MESSAGES), "line", "messages"),
        ),
        "The paper prints one number, and says that the barrier is nearly constant up to 64 processes: "
        "clusters of processes are synchronised among themselves, then the clusters.",
    )


def operation(name: str, answers: Mapping[str, Answer]) -> tuple[Figure, ...]:
    """Time and bandwidth of one operation over the processes."""
    return _figure(name, answers, False), _figure(name, answers, True)


def _figure(name: str, answers: Mapping[str, Answer], bandwidth: bool) -> Figure:
    drawn: list[Series] = []
    for size, total in FOUR_SIZES.items():
        if bandwidth and size == "8":
            continue
        for words, kind, points in _lines(name, size, answers):
            if bandwidth:
                points = [(p, _rate(name, total, p, t)) for p, t in points]
            if any(y is not None for _, y in points):
                drawn.append(pages.series(f"{SIZE_WORDS[size]}, {words}", points, kind, SIZE_WORDS[size]))
    where = "at the root" if name in AT_THE_ROOT else "of all processes together"
    return Figure(
        f"t3e-{name}-{'bandwidth' if bandwidth else 'time'}",
        f"{'Bandwidth' if bandwidth else 'Time'} of {OPERATIONS[name]}",
        Axis("processes", "processes"),
        Axis(f"bandwidth {where}", "B/s") if bandwidth else Axis("time", "s"),
        tuple(drawn),
        "Points: published. Lines: simulated with messages only, with the mechanism that would explain "
        "the discrepancy, and the paper's own way of counting messages.",
    )


def _rate(name: str, total: int, processes: int, time: float | None) -> float | None:
    return total * (1 if name in AT_THE_ROOT else processes) / time if time else None


def _lines(name: str, size: str, answers: Mapping[str, Answer]) -> list[tuple[str, str, Points]]:
    total, tables = FOUR_SIZES[size], answers["tables"]
    known = size in SIZES
    lines: list[tuple[str, str, Points]] = [
        ("published", "points", [(p, printed(name, size, p).si) for p in PROCESSES if known]),
        (
            "simulated",
            "line",
            [(p, seconds(tables, name, total, p)) for p in FROM_TWO if simulated(name, size, p)],
        ),
        ("counted", "line", [(p, counted(tables.platform, name, total, p)) for p in FROM_TWO]),
    ]
    lines += [
        (m.words, "line", [(p, tried(answers, m, name, total, p)) for p in m.processes])
        for m in MECHANISMS
        if (name, size) in m.explains
    ]
    return lines
