# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The figures and tables of the T3E's page: published points, simulated lines, and the mechanism that
explains deviations. They show time and aggregated bandwidth of each operation over the processes and over the
buffer size, and every printed time next to those of SimGrid's MPI, the models and each algorithm.

The published curves over the size are known only at the sizes of the tables."""

from __future__ import annotations

from collections.abc import Mapping

from hockney.core.case import MPI
from hockney.core.units import format_value
from hockney.core.wording import join_words
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Table
from hockney.reference.aggregated_bandwidth import DEFINITIONS
from hockney.reproductions import pages
from hockney.reproductions.parts import Answer
from hockney.studies.collectives.plan import T3E_SIZES
from hockney.suites.papers.reproductions import t3e_algorithms
from hockney.suites.papers.reproductions.t3e_cases import (
    ALGORITHMS,
    BUFFER_SETTINGS,
    FIGURE_PROCESSES,
    FIGURE_SIZES,
    FORMULA,
    MECHANISMS,
    MESSAGE_BARRIER,
    OPERATIONS,
    PAPER_VALUES,
    PROCESSES,
    SIZE_TITLES,
    SIZES,
    counted_seconds,
    is_simulated,
    mechanism_seconds,
    printed_row,
    seconds,
)
from hockney.suites.papers.reproductions.t3e_findings import format_percent

ROOT_OPERATIONS = ("gather", "scatter")
Points = list[tuple[int, "float | None"]]


def pair_figures(answers: Mapping[str, Answer]) -> tuple[Figure, ...]:
    answer = answers["pairs"]
    times = [(size, answer.seconds("pingpong", bytes=size)) for size in T3E_SIZES]
    formula_times = [(size, FORMULA.time(size)) for size in T3E_SIZES]
    time_figure = Figure(
        "t3e-pingpong-time",
        "Time of a message",
        Axis("message size", "B", "log", zero=True),
        Axis("time", "s"),
        (
            pages.make_series("17 + x/50, 56 + x/308 us", formula_times, "line", "one way"),
            pages.make_series("simulated", times, group="one way"),
        ),
        "Line: the two printed formulas. Points: simulated.",
    )
    series = [
        pages.make_series(
            "from the formulas", [(x, x / seconds) for x, seconds in formula_times if x], "line", "one way"
        )
    ]
    for part, setting in (("pairs", ""), *BUFFER_SETTINGS.items()):
        name = f"simulated, MPI_BUFFER_MAX {setting}" if setting else "simulated"
        setting_times = ((x, answers[part].seconds("pingpong", bytes=x)) for x in T3E_SIZES if x)
        series.append(
            pages.make_series(
                name, [(x, x / seconds if seconds else None) for x, seconds in setting_times], group=name
            )
        )
    rate_figure = Figure(
        "t3e-figure-1",
        "Figure 1: bandwidth of one message",
        Axis("message size", "B"),
        Axis("bandwidth", "B/s", "linear"),
        tuple(series),
        "The paper: 300 MB/s. A message of the ping-pong is always expected, so that the setting of "
        "MPI_BUFFER_MAX changes its time only if messages that wait for their receiver cost more.",
    )
    return time_figure, rate_figure


def barrier_figure(tables: Answer) -> Figure:
    def barrier_points(algorithm: str) -> Points:
        return [(p, tables.seconds("barrier", algorithm=algorithm, ranks=p)) for p in FIGURE_PROCESSES]

    printed_s = PAPER_VALUES.row("t3e/text/barrier/256").si
    return Figure(
        "t3e-figure-2",
        "Figure 2: time of MPI_Barrier",
        Axis("processes", "processes"),
        Axis("time", "s"),
        (
            pages.make_series("published", [(256, printed_s)], group="MPI_Barrier"),
            pages.make_series("MPI_Barrier, simulated", barrier_points(MPI), "line", "MPI_Barrier"),
            pages.make_series(
                "dissemination of messages, simulated", barrier_points(MESSAGE_BARRIER), "line", "messages"
            ),
        ),
        "The paper prints one number, and says that the barrier is nearly constant up to 64 processes: "
        "clusters of processes are synchronised among themselves, then the clusters.",
    )


def figure_over_processes(operation: str, answers: Mapping[str, Answer], bandwidth: bool) -> Figure:
    """Draws the time or bandwidth of one operation over the processes."""
    series: list[Series] = []
    for size, total in FIGURE_SIZES.items():
        if bandwidth and size == "8":
            continue
        for label, kind, points in _curves(operation, size, answers):
            if bandwidth:
                points = [(p, _rate(operation, total, p, seconds)) for p, seconds in points]
            if any(y is not None for _, y in points):
                series.append(
                    pages.make_series(f"{SIZE_TITLES[size]}, {label}", points, kind, SIZE_TITLES[size])
                )
    location = "at the root" if operation in ROOT_OPERATIONS else "of all processes together"
    return Figure(
        f"t3e-{operation}-{'bandwidth' if bandwidth else 'time'}",
        f"{'Bandwidth' if bandwidth else 'Time'} of {OPERATIONS[operation]}",
        Axis("processes", "processes"),
        Axis(f"bandwidth {location}", "B/s") if bandwidth else Axis("time", "s"),
        tuple(series),
        "Points: published. Lines: simulated with messages only, with the mechanism that would explain "
        "the discrepancy, and the paper's own way of counting messages.",
    )


def _rate(operation: str, total: int, processes: int, time: float | None) -> float | None:
    return total * (1 if operation in ROOT_OPERATIONS else processes) / time if time else None


def _curves(operation: str, size: str, answers: Mapping[str, Answer]) -> list[tuple[str, str, Points]]:
    total, tables = FIGURE_SIZES[size], answers["tables"]
    is_printed = size in SIZES
    lines: list[tuple[str, str, Points]] = [
        ("published", "points", [(p, printed_row(operation, size, p).si) for p in PROCESSES if is_printed]),
        (
            "simulated",
            "line",
            [
                (p, seconds(tables, operation, total, p))
                for p in FIGURE_PROCESSES
                if is_simulated(operation, size, p)
            ],
        ),
        (
            "counted",
            "line",
            [(p, counted_seconds(tables.platform, operation, total, p)) for p in FIGURE_PROCESSES],
        ),
    ]
    lines += [
        (
            mechanism.title,
            "line",
            [(p, mechanism_seconds(answers, mechanism, operation, total, p)) for p in mechanism.processes],
        )
        for mechanism in MECHANISMS
        if (operation, size) in mechanism.explained_rows
    ]
    return lines


def figure_over_sizes(operation: str, answer: Answer, bandwidth: bool) -> Figure:
    """Draws the time or aggregated bandwidth of one operation over the buffer size."""
    definition = DEFINITIONS[operation]
    names = t3e_algorithms.curve_algorithms(answer.platform, operation)
    series: list[Series] = []
    for p in PROCESSES:
        group = f"{p} processes"
        lines: list[tuple[str, str, Points]] = [
            (group, "points", [(total, printed_row(operation, size, p).si) for size, total in SIZES.items()])
        ]
        lines += [(f"{group}, {name}", "line", _curve(answer, operation, name, p)) for name in names]
        for label, kind, points in lines:
            if bandwidth:
                points = [
                    (x, definition.of_buffer(x, p, seconds) if seconds else None) for x, seconds in points
                ]
            if any(y is not None for _, y in points):
                series.append(pages.make_series(label, points, kind, group))
    title = OPERATIONS[operation]
    return Figure(
        f"t3e-{operation}-{'bandwidth' if bandwidth else 'time'}-by-size",
        f"{'Aggregated bandwidth' if bandwidth else 'Time'} of {title} against buffer size",
        Axis("buffer size", "B"),
        Axis("aggregated bandwidth", "B/s") if bandwidth else Axis("time", "s"),
        tuple(series),
        _caption(operation, names, bandwidth),
    )


def _curve(answer: Answer, operation: str, algorithm: str, processes: int) -> Points:
    sizes = sorted({*SIZES.values(), *t3e_algorithms.CURVE_SIZES})
    return [(size, t3e_algorithms.seconds(answer, operation, algorithm, size, processes)) for size in sizes]


def _caption(operation: str, names: list[str], bandwidth: bool) -> str:
    definition = DEFINITIONS[operation]
    sentences = [
        "Points: published.",
        f"Lines: simulated, {_style_list(names)}.",
        f"Size: {definition.buffer}.",
    ]
    if bandwidth:
        sentences.append(f"Bandwidth: {definition.rule}.")
    if operation == "alltoall":
        sentences.append("A line ends early where there are too many messages to simulate.")
    return " ".join(sentences)


def _style_list(names: list[str]) -> str:
    """Returns the line styles of a group in drawing order, such as "linear (solid) and bruck (dashed)"."""
    if len(names) < 2:
        return "".join(names)
    return join_words(f"{name} ({style})" for name, style in zip(names, ("solid", "dashed"), strict=True))


LEADING_COLUMNS = ("size", "processes", "published")


def models_table(operation: str, answers: Mapping[str, Answer]) -> Table:
    """Returns a table of every printed time of an operation and its aggregated bandwidth, next to
    SimGrid's MPI and the models."""
    platform, definition = answers[ALGORITHMS].platform, DEFINITIONS[operation]
    machine_algorithm = t3e_algorithms.machine_algorithm(platform, operation)
    rows = []
    for size, p in _printed_cases():
        row, total = printed_row(operation, size, p), SIZES[size]
        rate = format_value(definition.of_buffer(total, p, row.si), "B/s")
        simgrid_s = (
            seconds(answers["tables"], operation, total, p) if is_simulated(operation, size, p) else None
        )
        loggp_s = t3e_algorithms.loggp_seconds(platform, operation, machine_algorithm, total, p)
        times = (simgrid_s, loggp_s, counted_seconds(platform, operation, total, p))
        rows.append((*_leading_cells(operation, size, p), rate, *(_cell(time, row.si) for time in times)))
    columns = (*LEADING_COLUMNS, "bandwidth", "SimGrid's MPI", f"{machine_algorithm} by LogGP", "counted")
    return Table(
        f"t3e-{operation}",
        f"{OPERATIONS[operation]}: published, simulated and modelled",
        columns,
        tuple(rows),
        numeric=tuple(range(1, len(columns))),
        caption=f"Size: {definition.buffer}. Bandwidth: {definition.rule}, of the published time. SimGrid's "
        f"MPI uses the algorithm in the machine's description ({machine_algorithm}). By LogGP: the same "
        f"from the costs of "
        "one message; messages do not compete. Counted: whole messages one after the other, as in the "
        "paper's text.",
    )


def algorithms_table(operation: str, answer: Answer) -> Table:
    """Returns a table of every printed time of an operation next to each algorithm."""
    names = t3e_algorithms.requested_algorithms(answer, operation)
    rows = []
    for size, p in _printed_cases():
        times = [t3e_algorithms.seconds(answer, operation, name, SIZES[size], p) for name in names]
        published_s = printed_row(operation, size, p).si
        rows.append((*_leading_cells(operation, size, p), *(_cell(time, published_s) for time in times)))
    has_empty_cells = any(not cell for row in rows for cell in row)
    return Table(
        f"t3e-{operation}-algorithms",
        f"{OPERATIONS[operation]}: every algorithm",
        (*LEADING_COLUMNS, *names),
        tuple(rows),
        numeric=tuple(range(1, len(LEADING_COLUMNS) + len(names))),
        caption="In brackets: error, or x times the published time."
        + (" Empty: too many messages to simulate." if has_empty_cells else ""),
    )


def _printed_cases() -> list[tuple[str, int]]:
    return [(size, p) for size in SIZES for p in PROCESSES]


def _leading_cells(operation: str, size: str, processes: int) -> tuple[str, str, str]:
    return SIZE_TITLES[size], str(processes), format_value(printed_row(operation, size, processes).si, "s")


def _cell(time: float | None, published_s: float) -> str:
    """Returns a time and its error, such as "27.4 us (-13%)"; from five times the published time on, the
    factor, such as "332 us (x9)"."""
    if time is None:
        return ""
    factor = time / published_s
    return f"{format_value(time, 's')} ({f'x{factor:.0f}' if factor >= 5 else format_percent(factor - 1)})"
