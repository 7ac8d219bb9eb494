# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cost against the number of ranks, and predicted against measured costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hockney.core.case import MPI
from hockney.core.errors import HockneyError
from hockney.core.fit import Estimate
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.models.barriers import is_predictable, steps
from hockney.models.schedules import Mode
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity, with_interval
from hockney.pages.levels import ranks_on_nodes_text
from hockney.pages.series import estimates
from hockney.studies.barriers.headline import measured_layouts, ratio_text
from hockney.studies.barriers.results import BarrierResult, Candidate, EntryMode, choose

MPI_FUNCTIONS = {MPI: "MPI_Barrier", "mpi_nonblocking": "MPI_Ibarrier"}
BARRIER_KINDS = ("shared memory, one-sided", "made of messages", "of the MPI library")
ENTRY_MODES: tuple[tuple[EntryMode, str], ...] = (
    ("loop", "back to back"),
    ("alone", "alone, entered together"),
    ("late", "after the last entry, entered one after the other"),
    ("skew", "exits apart"),
)


def default_layout(evidence: Evidence, results: Sequence[BarrierResult]) -> tuple[int, int]:
    """The ranks and nodes on the first screen: the most ranks with a core each, otherwise the fewest
    ranks."""
    layouts_shown = measured_layouts([each for each in results if each.loop is not None])
    own_core_layouts = [(ranks, nodes) for ranks, nodes in layouts_shown if ranks <= evidence.cores]
    return own_core_layouts[-1] if own_core_layouts else layouts_shown[0] if layouts_shown else (0, 0)


def costs_figure(evidence: Evidence, ranks: int, nodes: int = 0) -> Figure | None:
    """The back-to-back cost of each barrier on `ranks` ranks; None for fewer than two barriers."""
    try:
        choice = choose(evidence, ranks, nodes)
    except HockneyError:
        return None
    if not choice.is_measured:
        return None
    rows = list(enumerate(choice.candidates))
    mpi = choice.candidate(MPI)
    series = (
        _cost_series(
            kind,
            [(position, candidate) for position, candidate in rows if _kind(candidate.algorithm) == kind],
            choice.best,
        )
        for kind in BARRIER_KINDS
    )
    return Figure(
        f"barriers-{ranks}-on-{nodes}" if nodes else f"barriers-{ranks}",
        f"A barrier of {ranks_on_nodes_text(ranks, nodes)}",
        _barrier_axis([candidate.algorithm for candidate in choice.candidates]),
        Axis("time of a call, back to back", "s"),
        tuple(entry for entry in series if entry.x),
        "Typical times with 95% intervals, the fastest on top; hollow: no interval.",
        marks=((mpi.seconds, MPI_FUNCTIONS[MPI]),) if mpi is not None else (),
    )


def _kind(algorithm: str) -> str:
    if algorithm in MPI_FUNCTIONS:
        return BARRIER_KINDS[2]
    return BARRIER_KINDS[1] if is_predictable(algorithm) else BARRIER_KINDS[0]


def _barrier_axis(algorithms: Sequence[str]) -> Axis:
    return Axis(
        "barrier", "barrier", "linear", names=tuple(MPI_FUNCTIONS.get(name, name) for name in algorithms)
    )


def _cost_series(kind: str, rows: Sequence[tuple[int, Candidate]], best: Candidate) -> Series:
    return estimates(
        kind, ((k, c.time, "the fastest" if c is best else ratio_text(c.ratio)) for k, c in rows)
    )


def entry_costs_figure(results: Sequence[BarrierResult]) -> Figure | None:
    """The effect of the ranks' entry on a barrier's cost, ordered by the back-to-back costs."""
    max_ranks, nodes = max(((each.ranks, each.nodes) for each in results), default=(0, 0))
    same_layout = [
        each for each in results if (each.ranks, each.nodes) == (max_ranks, nodes) and each.loop is not None
    ]
    if max_ranks < 2 or not any("alone" in each.times for each in same_layout):
        return None
    series = []
    for entry_mode, name in ENTRY_MODES:
        points = [
            (position, each.times[entry_mode])
            for position, each in enumerate(same_layout)
            if entry_mode in each.times
        ]
        series.append(
            estimates(name, ((position, time, quantity(time.value, "s")) for position, time in points))
        )
    return Figure(
        "barriers-entered",
        f"{ranks_on_nodes_text(max_ranks, nodes)}: the same barriers entered in other ways",
        _barrier_axis([each.algorithm for each in same_layout]),
        Axis("time", "s"),
        tuple(entry for entry in series if entry.x),
        "Ordered by the back-to-back costs.",
    )


RANKS_AXIS = Axis("ranks", "ranks", "linear")
TIME_AXIS = Axis("time of a call", "s")


FAMILIES = (
    ("barriers-rounds", "Barriers in rounds, with all ranks exchanging"),
    ("barriers-trees", "Barriers with a tree or a central rank: arrival, then wake-up"),
    ("barriers-total", "Barriers by total exchange: every rank signals every other"),
    ("barriers-others", "MPI's barrier, shared-memory and one-sided barriers"),
)
ROUNDS_FAMILY, TREES_FAMILY, TOTAL_EXCHANGE_FAMILY, OTHERS_FAMILY = (name for name, _ in FAMILIES)


def family(algorithm: str) -> str:
    if not is_predictable(algorithm):
        return OTHERS_FAMILY
    if algorithm.startswith("total_exchange"):
        return TOTAL_EXCHANGE_FAMILY
    return ROUNDS_FAMILY if steps(algorithm, 2)[0].mode is Mode.EXCHANGE else TREES_FAMILY


def family_members(name: str, results: Sequence[BarrierResult]) -> list[BarrierResult]:
    return [each for each in results if family(each.algorithm) == name]


def costs_over_ranks(results: Sequence[BarrierResult], form: str) -> Iterator[Figure]:
    """One figure for each family and number of nodes, with the lines of the prediction `form`. There are none
    if only one number of ranks was measured."""
    for nodes in sorted({each.nodes for each in results}):
        parallel_results = [each for each in results if each.ranks > 1 and each.nodes == nodes]
        if len({each.ranks for each in parallel_results}) > 1:
            yield from _family_figures(parallel_results, form, nodes)


def _family_figures(parallel_results: Sequence[BarrierResult], form: str, nodes: int) -> Iterator[Figure]:
    for name, title in FAMILIES:
        family = family_members(name, parallel_results)
        predicted_lines = _predicted_lines(family, form)
        drawn = [entry for entry in _measured_series(family, "loop") if entry.x] + predicted_lines
        if drawn:
            caption = "Points: medians of calls back to back with 95% intervals."
            caption += (
                f" Lines: predicted by {form}, from messages between two ranks." if predicted_lines else ""
            )
            name_and_title = (
                (f"{name}-on-{nodes}", f"{title}, {plural(nodes, 'node')}") if nodes else (name, title)
            )
            yield Figure(*name_and_title, RANKS_AXIS, TIME_AXIS, tuple(drawn), caption)


def predictions_figure(results: Sequence[BarrierResult]) -> Figure | None:
    """The figure of measured against predicted costs. Points of accurate predictions are on the line."""
    drawn = [
        _prediction_points("by structure", results, lambda each: each.structure_s),
        _prediction_points("messages one at a time", results, lambda each: each.messages_s),
    ]
    values = [value for series in drawn for value in (*series.x, *series.y)]
    if not values:
        return None
    line = Series("measured = predicted", (min(values), max(values)), (min(values), max(values)), kind="line")
    return Figure(
        "barriers-predicted",
        "Measured against predicted",
        Axis("predicted", "s"),
        Axis("measured back to back", "s"),
        (*drawn, line),
        "One point per barrier and number of ranks. Predictions use only messages between two ranks.",
    )


def _measured_series(results: Sequence[BarrierResult], entry_mode: EntryMode) -> list[Series]:
    series = []
    for name in dict.fromkeys(each.algorithm for each in results):
        points = [
            (each.ranks, each.times[entry_mode], name)
            for each in results
            if each.algorithm == name and entry_mode in each.times
        ]
        series.append(_points_with_intervals(name, sorted(points, key=lambda point: point[0])))
    return series


def _predicted_lines(results: Sequence[BarrierResult], form: str) -> list[Series]:
    lines = []
    for name in dict.fromkeys(each.algorithm for each in results):
        points = sorted(
            (result.ranks, time)
            for result in results
            if result.algorithm == name and (time := result.predicted(form)) is not None
        )
        if len(points) > 1:
            xs, ys = zip(*points, strict=True)
            lines.append(Series(f"{name}, predicted", tuple(map(float, xs)), ys, kind="line", group=name))
    return lines


def _prediction_points(
    name: str, results: Sequence[BarrierResult], prediction: Callable[[BarrierResult], float | None]
) -> Series:
    points = [
        (value, each.loop, f"{each.algorithm}, {each.ranks} ranks")
        for each in results
        if (value := prediction(each)) is not None and each.loop is not None
    ]
    return _points_with_intervals(name, points)


def _points_with_intervals(name: str, points: Sequence[tuple[float, Estimate, str]]) -> Series:
    return estimates(name, ((x, time, f"{label}: {with_interval(time, 's')}") for x, time, label in points))
