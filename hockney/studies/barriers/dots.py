# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""All barriers in one figure, the fastest on top: calls back to back, and entered in other ways."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.case import MPI
from hockney.core.errors import HockneyError
from hockney.draw.figure import Axis, Figure, Series
from hockney.models.barriers import predicted
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity
from hockney.pages.levels import spread_ranks
from hockney.pages.series import estimates
from hockney.studies.barriers.best import Candidate, choose
from hockney.studies.barriers.headline import layouts, times_as_long
from hockney.studies.barriers.results import BarrierResult, BarrierResults, Way

CALLED = {MPI: "MPI_Barrier", "mpi_nonblocking": "MPI_Ibarrier"}
KINDS = ("shared memory, one-sided", "made of messages", "of the MPI library")
WAYS: tuple[tuple[Way, str], ...] = (
    ("loop", "back to back"),
    ("alone", "alone, entered together"),
    ("late", "after the last entry, entered one after the other"),
    ("skew", "exits apart"),
)


def shown_first(evidence: Evidence, every: Sequence[BarrierResult]) -> tuple[int, int]:
    """The ranks and nodes on the first screen: the most with a core per rank, otherwise the fewest."""
    counts = layouts([each for each in every if each.loop is not None])
    own = [(ranks, nodes) for ranks, nodes in counts if ranks <= BarrierResults.of(evidence).cores]
    return own[-1] if own else counts[0] if counts else (0, 0)


def costs(evidence: Evidence, ranks: int, nodes: int = 0) -> Figure | None:
    """A call back to back on this many ranks; None if fewer than two barriers were measured."""
    try:
        choice = choose(evidence, ranks, nodes)
    except HockneyError:
        return None
    if not choice.measured:
        return None
    rows = list(enumerate(choice.candidates))
    mpi = choice.of(MPI)
    series = (
        _row(kind, [(k, c) for k, c in rows if _kind(c.algorithm) == kind], choice.best) for kind in KINDS
    )
    return Figure(
        f"barriers-{ranks}-on-{nodes}" if nodes else f"barriers-{ranks}",
        f"A barrier of {spread_ranks(ranks, nodes)}",
        _names([c.algorithm for c in choice.candidates]),
        Axis("time of a call, back to back", "s"),
        tuple(s for s in series if s.x),
        "Typical times with 95% intervals, the fastest on top; hollow: no interval.",
        marks=((mpi.seconds, CALLED[MPI]),) if mpi is not None else (),
    )


def _kind(algorithm: str) -> str:
    if algorithm in CALLED:
        return KINDS[2]
    return KINDS[1] if predicted(algorithm) else KINDS[0]


def _names(algorithms: Sequence[str]) -> Axis:
    return Axis("barrier", "barrier", "linear", names=tuple(CALLED.get(name, name) for name in algorithms))


def _row(kind: str, rows: Sequence[tuple[int, Candidate]], best: Candidate) -> Series:
    return estimates(
        kind, ((k, c.time, "the fastest" if c is best else times_as_long(c.ratio)) for k, c in rows)
    )


def entered(every: Sequence[BarrierResult]) -> Figure | None:
    """The effect of the way of entering on a barrier's cost, in the order of the costs back to back."""
    most, nodes = max(((each.ranks, each.nodes) for each in every), default=(0, 0))
    selected = [each for each in every if (each.ranks, each.nodes) == (most, nodes) and each.loop is not None]
    if most < 2 or not any("alone" in each.times for each in selected):
        return None
    series = []
    for way, name in WAYS:
        known = [(k, each.times[way]) for k, each in enumerate(selected) if way in each.times]
        series.append(estimates(name, ((k, v, quantity(v.value, "s")) for k, v in known)))
    return Figure(
        "barriers-entered",
        f"{spread_ranks(most, nodes)}: the same barriers entered in other ways",
        _names([each.algorithm for each in selected]),
        Axis("time", "s"),
        tuple(s for s in series if s.x),
        "Ordered by the back-to-back costs.",
    )
