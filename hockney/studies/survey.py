# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The survey: the costs of message passing on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hockney.core.case import HOT, WRITTEN, Case
from hockney.core.catalog import PING_PONG, Catalog
from hockney.core.errors import UsageError
from hockney.core.layout import PAIR_RANKS
from hockney.core.machine import Machine
from hockney.core.units import thin_out
from hockney.draw.page import Page
from hockney.pages import collectives, course, key_results, loggp, point_to_point, quality
from hockney.pages.caveats import with_caveats, without_section_caveats
from hockney.pages.evidence import Evidence, Options, unique_cases
from hockney.pages.levels import predicted
from hockney.pages.study_page import first_figure, study_page
from hockney.studies import places
from hockney.studies.overlap import survey as overlap
from hockney.studies.sizes import DEFAULT, affordable, default_ranks, whole_doubles
from hockney.studies.trains import MESSAGES, trains

NAME = "survey"
HELP = "what message passing costs on this machine: ping-pong, streams, LogGP, collectives"
REFINES = True
"""Sizes between the planned ones are added around changes of a cost."""
ASKS_FOR_LEVELS = True

STREAM_LIMIT = 1 << 20
"""Streams have many messages in flight at once; beyond this size their windows only measure memory."""

COLLECTIVE_SIZES = 9
"""Enough for piecewise fits: libraries change algorithm with the size."""

TRAIN_SIZES = (8, 256, 1024, 2048, 3072, 8 << 10, 32 << 10)
"""On both sides of the usual changes of protocol (4 KiB in Open MPI's shared memory, 8 KiB on the T3E): one g
and one G describe the trains of one protocol, and the fit takes those of the shortest messages."""


@dataclass(frozen=True)
class SurveySizes:
    """The number of sizes that are measured at most, of everything but the ping-pong with hot buffers; and of
    numbers of ranks that nobody requested."""

    written: int = 32
    cold: int = 8
    others: int = 7
    streams: int = 8
    trains: int = len(TRAIN_SIZES)
    overlap: int = 4
    collectives: int = COLLECTIVE_SIZES
    ranks: int = 32


SURVEY_SIZES_BY_DEPTH = (
    SurveySizes(),
    SurveySizes(written=24, cold=5, others=5, streams=5, trains=5, overlap=2, collectives=6, ranks=3),
    SurveySizes(written=13, cold=4, others=4, streams=4, trains=4, overlap=2, collectives=5, ranks=3),
    SurveySizes(written=6, cold=3, others=3, streams=3, trains=3, overlap=2, collectives=4, ranks=3),
)
"""The first one that the budget affords is measured, or the last. Fits of a message and of LogGP still have
enough sizes there, a collective can have two pieces, and its growth with the ranks be told. Each number of
ranks is a launch, except where cases are placed."""
CASES_PER_SECOND = 5
"""The maximum number of cases per second of the budget: a launch takes some 20 ms for each case
(measurement/budget.py), and most uncertainty comes from differences between launches, so at least eight
should fit."""
MIN_BUDGET_S = 60.0
"""A smaller budget has fewer launches, not fewer sizes."""
BETWEEN = 9
"""Sizes of the ping-pong at a level that is neither the nearest nor one from which models predict."""
MIN_TRAINS = 3


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """The full sweep of sizes between two ranks; every collective at a few sizes on each rank count. If ranks
    meet at several levels, the same for each of them (`_placed`)."""
    sizes = options.sizes or affordable(DEFAULT, machine, options.budget_s)
    lines_of = _placed if machine.is_placed else _unplaced
    most = CASES_PER_SECOND * max(options.budget_s, MIN_BUDGET_S)
    planned: list[Case] = []
    for extent in SURVEY_SIZES_BY_DEPTH:
        planned = unique_cases(
            catalog.case(line) for line in lines_of(sizes, options, catalog, machine, extent)
        )
        if len(planned) <= most or not machine.traits.wall_clock:
            break
    if not planned:
        raise UsageError(
            "nothing to measure",
            "no case is left for these ranks and sizes",
            "use for example --ranks 2",
            code="nothing-to-survey",
        )
    return planned


def sweep(sizes: tuple[int, ...] = DEFAULT, buffers: str = HOT) -> Iterator[str]:
    """The ping-pong to which models of one message are fitted."""
    return (f"pingpong bytes={s} buffers={buffers} ranks=2" for s in sizes)


def _unplaced(
    sizes: tuple[int, ...], options: Options, catalog: Catalog, machine: Machine, extent: SurveySizes
) -> Iterator[str]:
    ranks = options.ranks or thin_out(default_ranks(machine), extent.ranks)
    if PAIR_RANKS in ranks:
        yield from _pairs(sizes, catalog, TRAIN_SIZES, extent)
    for p in ranks:
        yield from _collectives(sizes, p, catalog, extent)


def _placed(
    sizes: tuple[int, ...], options: Options, catalog: Catalog, machine: Machine, extent: SurveySizes
) -> Iterator[str]:
    """Everything between two ranks at the levels from which models predict; at nearer ones only the ping-pong
    and trains of messages, at fewer sizes except for the nearest one's ping-pong. Collectives on two ranks of
    a node, on all of them, on one rank of each node, and on all ranks; on requested numbers of ranks within a
    node and over all nodes."""
    train_sizes = affordable(TRAIN_SIZES, machine, options.budget_s, MESSAGES)
    pairs = [*_pairs(sizes, catalog, train_sizes, extent)]
    few_trains = [*_trains(train_sizes, MIN_TRAINS)]
    for level in machine.levels if not options.ranks or PAIR_RANKS in options.ranks else ():
        nearest = level == machine.levels[0]
        nearer = [*sweep(sizes if nearest else thin_out(sizes, BETWEEN)), *few_trains]
        for line in pairs if level in places.spanned(machine) else nearer:
            yield line + places.at(level)
    for ranks, nodes in _spreads(options, machine, extent):
        where = places.of_pair(machine) if (ranks, nodes) == (PAIR_RANKS, 1) else places.spread_over(nodes)
        for line in _collectives(sizes, ranks, catalog, extent):
            yield line + where


def _spreads(options: Options, machine: Machine, extent: SurveySizes) -> list[tuple[int, int]]:
    """Numbers of ranks and nodes for collectives. Those of two ranks of a node show what a rank's own work in
    a collective costs (`models/local_costs.py`)."""
    layout = machine.layout
    if layout is None:
        return []
    if options.ranks or 1 in (layout.nodes, layout.ranks_per_node):
        ranks = options.ranks or thin_out(default_ranks(machine), extent.ranks)
        return [(p, nodes) for p in ranks for nodes in places.node_counts(p, layout)]
    one_of_each = [(layout.nodes, layout.nodes)] if layout.nodes > 2 else []
    return [(PAIR_RANKS, 1), (layout.ranks_per_node, 1), *one_of_each, (layout.ranks, layout.nodes)]


def _pairs(
    sizes: tuple[int, ...], catalog: Catalog, train_sizes: tuple[int, ...], extent: SurveySizes
) -> Iterator[str]:
    """The full sweep of the ping-pong; the other patterns between two ranks at fewer sizes."""
    streamed = thin_out(tuple(s for s in sizes if 0 < s <= STREAM_LIMIT), extent.streams)
    beyond_cache = thin_out(tuple(s for s in sizes if s >= 64), extent.cold)
    yield from sweep(sizes)
    yield from sweep(thin_out(sizes, extent.written), WRITTEN)
    yield from sweep(beyond_cache, "cold")
    for workload in catalog.with_role("point-to-point"):
        if not workload.performs(*PING_PONG):  # it already has its sweep
            few = thin_out(sizes, extent.others)
            yield from (f"{workload.name} {workload.size}={s} buffers=hot ranks=2" for s in few)
    for workload in catalog.with_role("stream"):
        yield from (f"{workload.name} {workload.size}={s} buffers=hot ranks=2" for s in streamed)
    yield from _trains(train_sizes, extent.trains)
    yield from overlap.lines(sizes, catalog, extent.overlap)


def _trains(sizes: tuple[int, ...], max_sizes: int) -> Iterator[str]:
    for size in thin_out(sizes, max_sizes):
        yield from trains(size)


def _collectives(sizes: tuple[int, ...], ranks: int, catalog: Catalog, extent: SurveySizes) -> Iterator[str]:
    doubles = whole_doubles(sizes)
    few = sorted({*thin_out(doubles, extent.collectives), *[s for s in doubles if s > 0][:1]})
    for workload in collectives.collective_workloads(catalog):
        if workload.size:
            yield from (
                f"{workload.name} {workload.size}={s} buffers=hot sync=barrier ranks={ranks}" for s in few
            )
        else:
            yield f"{workload.name} sync=barrier ranks={ranks}"
            yield f"{workload.name} sync=window ranks={ranks}"


def page(evidence: Evidence) -> Page:
    sections = [
        point_to_point.section(evidence),
        loggp.section(evidence),
        collectives.section(evidence),
        predicted.section(evidence),
        overlap.section(evidence),
        quality.parameters_section(evidence),
        course.section(evidence),
        quality.spread_section(evidence),
        quality.verification_section(evidence),
    ]
    lead, rest = first_figure([with_caveats(s, evidence) for s in sections if s is not None])
    return study_page(
        evidence,
        title="Survey of message passing",
        headline=(key_results.overview_line(evidence), *overlap.sentences(evidence)),
        results=key_results.table(evidence),
        warnings=without_section_caveats(evidence),
        sections=rest,
        lead=lead,
    )


def answer(evidence: Evidence) -> dict[str, object]:
    """The rows of the table: `result`, its typical and undisturbed value in `unit`, and what it is about."""
    return {"results": key_results.document(evidence)}
