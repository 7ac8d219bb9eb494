# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cost against the number of ranks, and predicted against measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hockney.core.case import MPI
from hockney.core.errors import HockneyError
from hockney.core.fit import Estimate
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.models.barriers import predicted, steps
from hockney.models.schedules import Mode
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity, with_interval
from hockney.pages.levels import ranks_on_nodes_text
from hockney.pages.series import estimates
from hockney.studies.barriers.headline import layouts, times_as_long
from hockney.studies.barriers.results import BarrierResult, Candidate, Way, choose

CALLED = {MPI: "MPI_Barrier", "mpi_nonblocking": "MPI_Ibarrier"}
KINDS = ("shared memory, one-sided", "made of messages", "of the MPI library")
ENTRY_TITLES: tuple[tuple[Way, str], ...] = (
    ("loop", "back to back"),
    ("alone", "alone, entered together"),
    ("late", "after the last entry, entered one after the other"),
    ("skew", "exits apart"),
)


def first_layout(evidence: Evidence, results: Sequence[BarrierResult]) -> tuple[int, int]:
    """The ranks and nodes on the first screen: the most with a core per rank, otherwise the fewest."""
    counts = layouts([each for each in results if each.loop is not None])
    own = [(ranks, nodes) for ranks, nodes in counts if ranks <= evidence.cores]
    return own[-1] if own else counts[0] if counts else (0, 0)


def costs_on_ranks(evidence: Evidence, ranks: int, nodes: int = 0) -> Figure | None:
    """The cost of each barrier, called back to back on `ranks` ranks; None for fewer than two barriers."""
    try:
        choice = choose(evidence, ranks, nodes)
    except HockneyError:
        return None
    if not choice.measured:
        return None
    rows = list(enumerate(choice.candidates))
    mpi = choice.of(MPI)
    series = (
        _cost_series(kind, [(k, c) for k, c in rows if _kind(c.algorithm) == kind], choice.best)
        for kind in KINDS
    )
    return Figure(
        f"barriers-{ranks}-on-{nodes}" if nodes else f"barriers-{ranks}",
        f"A barrier of {ranks_on_nodes_text(ranks, nodes)}",
        _barrier_axis([c.algorithm for c in choice.candidates]),
        Axis("time of a call, back to back", "s"),
        tuple(s for s in series if s.x),
        "Typical times with 95% intervals, the fastest on top; hollow: no interval.",
        marks=((mpi.seconds, CALLED[MPI]),) if mpi is not None else (),
    )


def _kind(algorithm: str) -> str:
    if algorithm in CALLED:
        return KINDS[2]
    return KINDS[1] if predicted(algorithm) else KINDS[0]


def _barrier_axis(algorithms: Sequence[str]) -> Axis:
    return Axis("barrier", "barrier", "linear", names=tuple(CALLED.get(name, name) for name in algorithms))


def _cost_series(kind: str, rows: Sequence[tuple[int, Candidate]], best: Candidate) -> Series:
    return estimates(
        kind, ((k, c.time, "the fastest" if c is best else times_as_long(c.ratio)) for k, c in rows)
    )


def entry_costs(results: Sequence[BarrierResult]) -> Figure | None:
    """The effect of the way of entering on a barrier's cost, in the order of the costs back to back."""
    most, nodes = max(((each.ranks, each.nodes) for each in results), default=(0, 0))
    same_layout = [
        each for each in results if (each.ranks, each.nodes) == (most, nodes) and each.loop is not None
    ]
    if most < 2 or not any("alone" in each.times for each in same_layout):
        return None
    series = []
    for way, name in ENTRY_TITLES:
        points = [(k, each.times[way]) for k, each in enumerate(same_layout) if way in each.times]
        series.append(estimates(name, ((k, v, quantity(v.value, "s")) for k, v in points)))
    return Figure(
        "barriers-entered",
        f"{ranks_on_nodes_text(most, nodes)}: the same barriers entered in other ways",
        _barrier_axis([each.algorithm for each in same_layout]),
        Axis("time", "s"),
        tuple(s for s in series if s.x),
        "Ordered by the back-to-back costs.",
    )


RANKS = Axis("ranks", "ranks", "linear")
TIME = Axis("time of a call", "s")


FAMILIES = (
    ("barriers-rounds", "Barriers in rounds, with all ranks exchanging"),
    ("barriers-trees", "Barriers with a tree or a central rank: arrival, then wake-up"),
    ("barriers-total", "Barriers by total exchange: every rank signals every other"),
    ("barriers-others", "MPI's barrier, shared-memory and one-sided barriers"),
)
ROUNDS, TREES, TOTAL, OTHERS = (name for name, _ in FAMILIES)


def family(algorithm: str) -> str:
    if not predicted(algorithm):
        return OTHERS
    if algorithm.startswith("total_exchange"):
        return TOTAL
    return ROUNDS if steps(algorithm, 2)[0].mode is Mode.EXCHANGE else TREES


def members(name: str, results: Sequence[BarrierResult]) -> list[BarrierResult]:
    return [each for each in results if family(each.algorithm) == name]


def costs_over_ranks(results: Sequence[BarrierResult], form: str) -> Iterator[Figure]:
    """One figure for each family and number of nodes, with the lines of the prediction `form`; none if only
    one number of ranks was measured."""
    for nodes in sorted({each.nodes for each in results}):
        several = [each for each in results if each.ranks > 1 and each.nodes == nodes]
        if len({each.ranks for each in several}) > 1:
            yield from _costs_over_ranks(several, form, nodes)


def _costs_over_ranks(several: Sequence[BarrierResult], form: str, nodes: int) -> Iterator[Figure]:
    for name, title in FAMILIES:
        family = members(name, several)
        lines = _lines(family, form)
        drawn = [s for s in _series(family, "loop") if s.x] + lines
        if drawn:
            caption = "Points: medians of calls back to back with 95% intervals."
            caption += f" Lines: predicted by {form}, from messages between two ranks." if lines else ""
            where = (f"{name}-on-{nodes}", f"{title}, {plural(nodes, 'node')}") if nodes else (name, title)
            yield Figure(*where, RANKS, TIME, tuple(drawn), caption)


def predictions(results: Sequence[BarrierResult]) -> Figure | None:
    """Points of accurate predictions are on the line."""
    drawn = [
        _pairs("by structure", results, lambda each: each.structure_s),
        _pairs("messages one at a time", results, lambda each: each.messages_s),
    ]
    ends = [value for series in drawn for value in (*series.x, *series.y)]
    if not ends:
        return None
    line = Series("measured = predicted", (min(ends), max(ends)), (min(ends), max(ends)), kind="line")
    return Figure(
        "barriers-predicted",
        "Measured against predicted",
        Axis("predicted", "s"),
        Axis("measured back to back", "s"),
        (*drawn, line),
        "One point per barrier and number of ranks. Predictions use only messages between two ranks.",
    )


def _series(results: Sequence[BarrierResult], way: Way) -> list[Series]:
    drawn = []
    for name in dict.fromkeys(each.algorithm for each in results):
        points = [
            (each.ranks, each.times[way], name)
            for each in results
            if each.algorithm == name and way in each.times
        ]
        drawn.append(_cloud(name, sorted(points, key=lambda k: k[0])))
    return drawn


def _lines(results: Sequence[BarrierResult], form: str) -> list[Series]:
    drawn = []
    for name in dict.fromkeys(each.algorithm for each in results):
        points = sorted(
            (e.ranks, t) for e in results if e.algorithm == name and (t := e.predicted(form)) is not None
        )
        if len(points) > 1:
            xs, ys = zip(*points, strict=True)
            drawn.append(Series(f"{name}, predicted", tuple(map(float, xs)), ys, kind="line", group=name))
    return drawn


def _pairs(
    name: str, results: Sequence[BarrierResult], prediction: Callable[[BarrierResult], float | None]
) -> Series:
    points = [
        (value, each.loop, f"{each.algorithm}, {each.ranks} ranks")
        for each in results
        if (value := prediction(each)) is not None and each.loop is not None
    ]
    return _cloud(name, points)


def _cloud(name: str, points: Sequence[tuple[float, Estimate, str]]) -> Series:
    return estimates(name, ((x, v, f"{word}: {with_interval(v, 's')}") for x, v, word in points))
