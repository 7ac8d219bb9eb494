# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cost against the number of ranks, and predicted against measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hockney.core.fit import Estimate
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.models.barriers import predicted, steps
from hockney.models.schedules import Mode
from hockney.pages.format import with_interval
from hockney.pages.series import estimates
from hockney.studies.barriers.results import BarrierResult, Way

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


def members(name: str, every: Sequence[BarrierResult]) -> list[BarrierResult]:
    return [each for each in every if family(each.algorithm) == name]


def against_ranks(every: Sequence[BarrierResult], form: str) -> Iterator[Figure]:
    """One figure for each family and number of nodes, with the lines of the prediction `form`; none if only
    one number of ranks was measured."""
    for nodes in sorted({each.nodes for each in every}):
        several = [each for each in every if each.ranks > 1 and each.nodes == nodes]
        if len({each.ranks for each in several}) > 1:
            yield from _against_ranks(several, form, nodes)


def _against_ranks(several: Sequence[BarrierResult], form: str, nodes: int) -> Iterator[Figure]:
    for name, title in FAMILIES:
        selected = members(name, several)
        lines = _lines(selected, form)
        drawn = [s for s in _series(selected, "loop") if s.x] + lines
        if drawn:
            caption = "Points: medians of calls back to back with 95% intervals."
            caption += f" Lines: predicted by {form}, from messages between two ranks." if lines else ""
            where = (f"{name}-on-{nodes}", f"{title}, {plural(nodes, 'node')}") if nodes else (name, title)
            yield Figure(*where, RANKS, TIME, tuple(drawn), caption)


def predictions(every: Sequence[BarrierResult]) -> Figure | None:
    """Points of accurate predictions are on the line."""
    drawn = [
        _pairs("by structure", every, lambda each: each.structure_s),
        _pairs("messages one at a time", every, lambda each: each.messages_s),
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
        known = [
            (each.ranks, each.times[way], name)
            for each in results
            if each.algorithm == name and way in each.times
        ]
        drawn.append(_cloud(name, sorted(known, key=lambda k: k[0])))
    return drawn


def _lines(results: Sequence[BarrierResult], form: str) -> list[Series]:
    drawn = []
    for name in dict.fromkeys(each.algorithm for each in results):
        known = sorted(
            (e.ranks, t) for e in results if e.algorithm == name and (t := e.predicted(form)) is not None
        )
        if len(known) > 1:
            xs, ys = zip(*known, strict=True)
            drawn.append(Series(f"{name}, predicted", tuple(map(float, xs)), ys, kind="line", group=name))
    return drawn


def _pairs(
    name: str, every: Sequence[BarrierResult], prediction: Callable[[BarrierResult], float | None]
) -> Series:
    known = [
        (value, each.loop, f"{each.algorithm}, {each.ranks} ranks")
        for each in every
        if (value := prediction(each)) is not None and each.loop is not None
    ]
    return _cloud(name, known)


def _cloud(name: str, known: Sequence[tuple[float, Estimate, str]]) -> Series:
    return estimates(name, ((x, v, f"{word}: {with_interval(v, 's')}") for x, v, word in known))
