# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The Intel Paragon of Juurlink (1998): one message, two that cross, and the bisection of a line of nodes.

The description was fitted to the two formulas, so their rows only show that the simulator reproduces its
description. The bisection is predicted from the links' printed rate and from a node's bandwidth in the
formulas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hockney import reference
from hockney.core.catalog import Catalog
from hockney.core.platform import Platform
from hockney.draw.figure import Axis, Figure
from hockney.draw.page import Page, Section
from hockney.machines import simulated
from hockney.pages.format import quantity
from hockney.reproductions import pages
from hockney.reproductions.compared import Check, ComparedNumber, Statement, status_of
from hockney.reproductions.parts import Answer, Part
from hockney.suites.bsp.reproductions import paragon_bsp, paragon_kernels

NAME = "paragon"
TITLE = "Intel Paragon: messages, bisection, BSP and BPRAM"
WORKLOADS = (*paragon_bsp.WORKLOADS, *paragon_kernels.KERNELS)
"""Compiled on first use."""
PAPER = "paragon"
FIGURES = {str(number): f"paragon-figure-{number}" for number in range(1, 10)}
PAPER_VALUES = reference.published(PAPER)

SIZES = (0, 8, 64, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576)
WORKLOAD_TITLES = {"pingpong": "unidirectional", "pingpong_double": "bidirectional"}
FORMULA = "paragon/formula/{}"
BISECTION_BYTES = 65536
LINE_LENGTHS = (2, 4, 6, 8, 10)
CONSTANT_TOLERANCE = 0.05
"""The bandwidth counts as constant if it is within 5% of the largest."""
LINEAR_TOLERANCE = 0.1
"""The bandwidth grows almost linearly if it is within 10% of one pair's bandwidth times the number of pairs.
"""
PAIR_TABLE = "one message, and two that cross"
DIRECTIONS = {"both": "", "one": "only the lower half sends"}
"""Directions of the bisection: each processor sends, as in the paper, or only the lower half, the other
possible interpretation."""


def parts(catalog: Catalog) -> list[Part]:
    pairs = [f"{workload} bytes={size} ranks=2" for workload in WORKLOAD_TITLES for size in SIZES]
    lines = [
        f"bisection bytes={BISECTION_BYTES} direction={direction} sync=window ranks={p}"
        for direction in DIRECTIONS
        for p in LINE_LENGTHS
    ]
    return [
        Part("pairs", "paragon", tuple(map(catalog.case, pairs))),
        Part("bisection", "paragon-10x1", tuple(map(catalog.case, lines))),
        *(_mesh_part(mesh, catalog) for mesh in paragon_bsp.MESHES),
        _slow_copies_part(catalog),
    ]


def _mesh_part(mesh: str, catalog: Catalog) -> Part:
    """Returns the part of a mesh, with the cases of parameters and of kernels."""
    platform = simulated.platform(paragon_bsp.machine_name(mesh))
    case_lines = [*paragon_bsp.case_lines(mesh), *paragon_kernels.case_lines(mesh, platform)]
    return paragon_bsp.part(mesh, tuple(map(catalog.case, case_lines)), catalog)


def _slow_copies_part(catalog: Catalog) -> Part:
    """Returns the part with sample sort in BPRAM by both routes."""
    name = f"paragon-{paragon_kernels.SAMPLE_MESH}+{paragon_kernels.SLOW_COPIES}"
    case_lines = paragon_kernels.sample_sort_lines(
        simulated.platform(name), ("style=bpram", paragon_kernels.BUTTERFLY_STYLE)
    )
    return Part(paragon_kernels.SLOW_COPIES, name, tuple(map(catalog.case, case_lines)))


def compare(answers: Mapping[str, Answer]) -> list[ComparedNumber]:
    pairs, bisection = answers["pairs"], answers["bisection"]
    saturation_rows = [row for direction in DIRECTIONS for row in _saturation_rows(bisection, direction)]
    bulk_rows = [*paragon_bsp.compare(answers), *paragon_kernels.compare(answers)]
    return [*_time_rows(pairs), *_line_rows(pairs), *saturation_rows, *bulk_rows]


def _time_rows(pairs: Answer) -> list[ComparedNumber]:
    rows = []
    for workload, title in WORKLOAD_TITLES.items():
        formula = PAPER_VALUES.formula(FORMULA.format(workload))
        for size in SIZES:
            key = f"{formula.key}/{size}"
            rows.append(
                ComparedNumber(
                    key,
                    f"{title}, {quantity(size, 'B')}",
                    formula.time(size),
                    pairs.seconds(workload, bytes=size),
                    None,
                    "s",
                    status_of(pairs.platform, key),
                    table=PAIR_TABLE,
                )
            )
    return rows


def _line_rows(pairs: Answer) -> list[ComparedNumber]:
    """Compares the values that the paper derives from its first formula with those of a line through the
    simulated times."""
    bandwidth = PAPER_VALUES.row("paragon/text/bandwidth")
    half_size = PAPER_VALUES.row("paragon/text/half-size")
    line = _fit_line(pairs)
    statuses = [status_of(pairs.platform, row.key) for row in (bandwidth, half_size)]
    return [
        ComparedNumber(
            bandwidth.key, "asymptotic bandwidth", bandwidth.si, line and 1 / line[1], None, "B/s",
            statuses[0], table=PAIR_TABLE,
        ),
        ComparedNumber(
            half_size.key, "half-performance length", half_size.value, line and line[0] / line[1] / 1e3, None,
            half_size.unit, statuses[1], table=PAIR_TABLE,
        ),
    ]  # fmt: skip


def _fit_line(pairs: Answer) -> tuple[float, float] | None:
    """Returns the startup time and the time per byte of a line through the one-way times, fitted by relative
    errors."""
    times = [time_s for size in SIZES if (time_s := pairs.seconds("pingpong", bytes=size))]
    if len(times) < len(SIZES):
        return None
    slope, start = np.polyfit(SIZES, times, 1, w=[1 / time_s for time_s in times])
    return float(start), float(slope)


def _saturation_rows(bisection: Answer, direction: str) -> list[ComparedNumber]:
    linear_row = PAPER_VALUES.row("paragon/bisection/linear-to")
    constant_row = PAPER_VALUES.row("paragon/bisection/constant-from")
    rates = bandwidths(bisection, direction)
    model = {p: described_bandwidth(bisection.platform, p, direction) for p in LINE_LENGTHS}
    mechanism = DIRECTIONS[direction]
    return [
        ComparedNumber(
            row.key, label, row.si, limit(rates) if rates else None, limit(model),
            "processors", status_of(bisection.platform, row.key, mechanism), mechanism, note,
            table=f"bisection, {mechanism}" if mechanism else "bisection",
        )
        for row, label, limit, note in (
            (
                linear_row, "bandwidth grows almost linearly up to", linear_limit,
                f"within {LINEAR_TOLERANCE:.0%} of linear",
            ),
            (
                constant_row, "bandwidth is constant from", constant_start,
                f"within {CONSTANT_TOLERANCE:.0%} of the largest",
            ),
        )
    ]  # fmt: skip


def bandwidths(bisection: Answer, direction: str = "both") -> dict[int, float]:
    """Returns the bandwidth (B/s) over the middle link in each direction, by processors; empty if one is
    missing."""
    times = {p: bisection.seconds("bisection", ranks=p, direction=direction) for p in LINE_LENGTHS}
    return (
        {p: p / 2 * BISECTION_BYTES / time_s for p, time_s in times.items() if time_s}
        if all(times.values())
        else {}
    )


def described_bandwidth(platform: Platform, processors: int, direction: str = "both") -> float:
    """Returns the bandwidth (B/s) by the description: p/2 messages share the middle link in each direction
    that is used, and a node's interface carries one message, or one in each direction."""
    segment, network = platform.segment(BISECTION_BYTES), platform.network
    both_directions = direction == "both"
    overhead = segment.isend_s if both_directions and segment.isend_s is not None else segment.send_s
    start = overhead + segment.latency_s + (processors - 1) * network.hop_s + segment.receive_s
    node_s_per_byte = segment.per_byte_s - 1 / min(network.nic, network.link)
    bottleneck_s_per_byte = max((2 if both_directions else 1) / network.nic, processors / 2 / network.link)
    return (
        processors
        / 2
        * BISECTION_BYTES
        / (start + BISECTION_BYTES * (bottleneck_s_per_byte + node_s_per_byte))
    )


def linear_limit(bandwidth: Mapping[int, float]) -> int:
    pair_bandwidth = bandwidth[2]
    return max(p for p in LINE_LENGTHS if bandwidth[p] >= (1 - LINEAR_TOLERANCE) * pair_bandwidth * p / 2)


def constant_start(bandwidth: Mapping[int, float]) -> int:
    return min(p for p in LINE_LENGTHS if bandwidth[p] >= (1 - CONSTANT_TOLERANCE) * max(bandwidth.values()))


def checks(answers: Mapping[str, Answer], comparisons: Sequence[ComparedNumber]) -> list[Check]:
    def rows_of(*keys: str) -> list[ComparedNumber]:
        return [row for row in comparisons if row.key.startswith(keys) and row.status != "variant"]

    unidirectional, bidirectional = (FORMULA.format(workload) + "/" for workload in WORKLOAD_TITLES)
    return [
        Statement("unidirectional", "figure 1", "146 + 0.0115 m us, within 1%").within(
            rows_of(unidirectional), 0.01
        ),
        Statement("bidirectional", "figure 1", "216 + 0.0226 m us, within 2%").within(
            rows_of(bidirectional), 0.02
        ),
        Statement("bandwidth", "text on figure 1", "87 MB/s and 12.7 KB, within 1%").within(
            rows_of("paragon/text/"), 0.01
        ),
        _bisection_check(answers["bisection"]),
        *paragon_bsp.checks(answers, comparisons),
        *paragon_kernels.checks(answers, comparisons),
    ]


def _bisection_check(bisection: Answer) -> Check:
    linear_processors, constant_processors = (
        int(PAPER_VALUES.row(f"paragon/bisection/{key}").si) for key in ("linear-to", "constant-from")
    )
    claim = (
        f"the bandwidth of the bisection grows almost linearly to {linear_processors} processors and stays "
        f"constant from {constant_processors}"
    )
    statement = Statement("bisection", "figure 2", claim)
    rates = bandwidths(bisection)
    if not rates:
        return statement.unknown()
    holds = linear_limit(rates) >= linear_processors and constant_start(rates) == constant_processors
    return statement.check(holds, f"linear to {linear_limit(rates)}, constant from {constant_start(rates)}")


def page(
    answers: Mapping[str, Answer], comparisons: Sequence[ComparedNumber], checks: Sequence[Check]
) -> Page:
    pairs, bisection = answers["pairs"], answers["bisection"]
    sections = [
        Section("One message, and two that cross", figures=(_time_figure(pairs), _rate_figure(pairs))),
        Section("Bisection", figures=(_bisection_figure(bisection),)),
        Section(
            "Parameters of BSP and BPRAM", figures=paragon_bsp.figures(answers, comparisons), multiples=True
        ),
        Section("Kernels", figures=paragon_kernels.figures(answers), multiples=True),
    ]
    return pages.reproduction_page(
        (NAME, TITLE, PAPER_VALUES.citation),
        answers,
        comparisons,
        checks,
        _summary(comparisons, checks),
        sections,
    )


def _summary(comparisons: Sequence[ComparedNumber], checks: Sequence[Check]) -> tuple[str, ...]:
    error = pages.largest_error(row for row in comparisons if row.key.startswith("paragon/formula/"))
    sentences = [
        "On the Intel Paragon one message took 146 us + 0.0115 us a byte, and 216 us + 0.0226 us a byte "
        "where both nodes sent at once."
    ]
    if error is None:
        return (*sentences, "Nothing was simulated yet.")
    sentences.append(
        f"The simulated machine was fitted to these two formulas and gives them within {error:.1%}, which "
        "shows only that the simulator reproduces its description."
    )
    linear_row, constant_row = (
        next(row for row in comparisons if row.key == f"paragon/bisection/{key}" and row.status != "variant")
        for key in ("linear-to", "constant-from")
    )
    if linear_row.simulated is not None and constant_row.simulated is not None:
        sentences.append(
            "Predicted, not fitted: the bandwidth over the middle of a line of nodes grows in proportion up "
            f"to {linear_row.simulated:g} processors (the paper: {linear_row.published:g}) and is constant "
            f"from {constant_row.simulated:g} on (the paper: {constant_row.published:g})."
        )
    return (*sentences, *paragon_kernels.summary([check for check in checks if check.where]))


def _time_figure(pairs: Answer) -> Figure:
    series = []
    for workload, title in WORKLOAD_TITLES.items():
        formula = PAPER_VALUES.formula(FORMULA.format(workload))
        series += [
            pages.make_series(
                f"{title}, published", [(size, formula.time(size)) for size in SIZES], "line", title
            ),
            pages.make_series(
                f"{title}, simulated",
                [(size, pairs.seconds(workload, bytes=size)) for size in SIZES],
                group=title,
            ),
        ]
    return Figure(
        "paragon-figure-1",
        "Figure 1: time of a message",
        Axis("message size", "B", "log", zero=True),
        Axis("time", "s"),
        tuple(series),
        "Lines: 146 + 0.0115 m us unidirectional, 216 + 0.0226 m us bidirectional. Points: simulated.",
    )


def _rate_figure(pairs: Answer) -> Figure:
    formula = PAPER_VALUES.formula(FORMULA.format("pingpong"))
    half_size = PAPER_VALUES.row("paragon/text/half-size").si
    sizes = [size for size in SIZES if size]
    times = [(size, pairs.seconds("pingpong", bytes=size)) for size in sizes]
    series = (
        pages.make_series("published", [(size, size / formula.time(size)) for size in sizes], "line", "rate"),
        pages.make_series(
            "simulated", [(size, size / time_s if time_s else None) for size, time_s in times], group="rate"
        ),
    )
    return Figure(
        "paragon-bandwidth",
        "Bandwidth of one message",
        Axis("message size", "B"),
        Axis("bandwidth", "B/s", "linear"),
        series,
        "The mark is the published half-performance length.",
        marks=((half_size, "12.7 KB"),),
    )


def _bisection_figure(bisection: Answer) -> Figure:
    series = []
    for direction, description in DIRECTIONS.items():
        described_points = [(p, described_bandwidth(bisection.platform, p, direction)) for p in LINE_LENGTHS]
        title = description or "each sends"
        series += [
            pages.make_series(f"{title}, from the description", described_points, "line", title),
            pages.make_series(f"{title}, simulated", bandwidths(bisection, direction).items(), group=title),
        ]
    return Figure(
        "paragon-figure-2",
        "Figure 2: bandwidth over the middle link of a p x 1 line",
        Axis("processors", "processors", "linear"),
        Axis("bandwidth in a direction", "B/s", "linear"),
        tuple(series),
        "Each processor i sends 64 KB to p-i-1. The paper: almost linear growth to 6, constant from 8.",
        marks=((6.0, "linear to 6"), (8.0, "constant from 8")),
    )
