# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The T3E paper's figures 1 to 12: time and aggregated bandwidth of each operation against the size of the
buffer. The published curves are known only at the sizes of the tables."""

from __future__ import annotations

from collections.abc import Mapping

from hockney.core.wording import together
from hockney.draw.figure import Axis, Figure, Series
from hockney.reference.aggregated_bandwidth import DEFINITIONS
from hockney.reproductions import pages
from hockney.reproductions.parts import Answer
from hockney.suites.papers.reproductions import t3e_algorithms
from hockney.suites.papers.reproductions.t3e_cases import ALGORITHMS, OPERATIONS, PROCESSES, SIZES, printed

Points = list[tuple[int, "float | None"]]


def figures(operation: str, answers: Mapping[str, Answer]) -> tuple[Figure, Figure]:
    """Time and aggregated bandwidth."""
    return _figure(operation, answers[ALGORITHMS], False), _figure(operation, answers[ALGORITHMS], True)


def _figure(operation: str, answer: Answer, bandwidth: bool) -> Figure:
    definition = DEFINITIONS[operation]
    names = t3e_algorithms.curves(answer.platform, operation)
    drawn: list[Series] = []
    for p in PROCESSES:
        group = f"{p} processes"
        lines: list[tuple[str, str, Points]] = [
            (group, "points", [(total, printed(operation, size, p).si) for size, total in SIZES.items()])
        ]
        lines += [(f"{group}, {name}", "line", _curve(answer, operation, name, p)) for name in names]
        for words, kind, points in lines:
            if bandwidth:
                points = [(x, definition.of_buffer(x, p, t) if t else None) for x, t in points]
            if any(y is not None for _, y in points):
                drawn.append(pages.series(words, points, kind, group))
    title = OPERATIONS[operation]
    return Figure(
        f"t3e-{operation}-{'bandwidth' if bandwidth else 'time'}-by-size",
        f"{'Aggregated bandwidth' if bandwidth else 'Time'} of {title} against buffer size",
        Axis("buffer size", "B"),
        Axis("aggregated bandwidth", "B/s") if bandwidth else Axis("time", "s"),
        tuple(drawn),
        _caption(operation, names, bandwidth),
    )


def _curve(answer: Answer, operation: str, algorithm: str, processes: int) -> Points:
    sizes = sorted({*SIZES.values(), *t3e_algorithms.CURVE_SIZES})
    return [(s, t3e_algorithms.seconds(answer, operation, algorithm, s, processes)) for s in sizes]


def _caption(operation: str, names: list[str], bandwidth: bool) -> str:
    definition = DEFINITIONS[operation]
    texts = [
        "Points: published.",
        f"Lines: simulated, {_styles(names)}.",
        f"Size: {definition.buffer}.",
    ]
    if bandwidth:
        texts.append(f"Bandwidth: {definition.rule}.")
    if operation == "alltoall":
        texts.append("A line ends early where there are too many messages to simulate.")
    return " ".join(texts)


def _styles(names: list[str]) -> str:
    """The lines of a group are drawn in this order: "linear (solid) and bruck (dashed)"."""
    if len(names) < 2:
        return "".join(names)
    return together(f"{name} ({style})" for name, style in zip(names, ("solid", "dashed"), strict=True))
