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
from hockney.studies.sizes import DEFAULT_SIZES, affordable_sizes, default_ranks, round_up_to_doubles
from hockney.studies.trains import TRAIN_LENGTH, train_lines

NAME = "survey"
HELP = "what message passing costs on this machine: ping-pong, streams, LogGP, collectives"
REFINES = True
"""Sizes between the planned ones are added around changes of a cost."""
ASKS_FOR_LEVELS = True

MAX_STREAM_BYTES = 1 << 20
"""Streams have many messages in flight. Beyond this size, their windows only measure memory."""

COLLECTIVE_SIZES = 9
"""Enough sizes for piecewise fits, because libraries choose the algorithm by size."""

TRAIN_SIZES_BYTES = (8, 256, 1024, 2048, 3072, 8 << 10, 32 << 10)
"""On both sides of common protocol changes (4 KiB in Open MPI's shared memory, 8 KiB on the T3E). One g and
one G describe the trains of one protocol; the fit uses those of the shortest messages."""


@dataclass(frozen=True)
class SurveySizes:
    """The maximum number of measured sizes for everything except the ping-pong with hot buffers, and the
    maximum number of rank counts unless the user requests them."""

    written: int = 32
    cold: int = 8
    other_patterns: int = 7
    streams: int = 8
    trains: int = len(TRAIN_SIZES_BYTES)
    overlap: int = 4
    collectives: int = COLLECTIVE_SIZES
    ranks: int = 32


SURVEY_SIZES_BY_DEPTH = (
    SurveySizes(),
    SurveySizes(written=24, cold=5, other_patterns=5, streams=5, trains=5, overlap=2, collectives=6, ranks=3),
    SurveySizes(written=13, cold=4, other_patterns=4, streams=4, trains=4, overlap=2, collectives=5, ranks=3),
    SurveySizes(written=6, cold=3, other_patterns=3, streams=3, trains=3, overlap=2, collectives=4, ranks=3),
)
"""The first entry that the budget allows is measured, otherwise the last. Even with the last one, there are
enough sizes to fit a message and LogGP, to find two pieces of a collective, and to determine its growth with
the ranks. Each number of ranks is a launch, except where cases are placed."""
CASES_PER_SECOND = 5
"""The maximum number of cases per second of the budget. A launch takes about 20 ms per case
(measurement/budget.py), and most uncertainty is due to differences between launches, so there should be at
least eight."""
MIN_BUDGET_S = 60.0
"""A smaller budget reduces the number of launches, not of sizes."""
MAX_INTERMEDIATE_LEVEL_SIZES = 9
"""The number of sizes of the ping-pong at levels other than the nearest and those used by models."""
MIN_TRAIN_SIZES = 3


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """All sizes between two ranks, and every collective at a few sizes on each number of ranks. If ranks meet
    at several levels, each of these is measured (`_placed_lines`)."""
    sizes = options.sizes or affordable_sizes(DEFAULT_SIZES, machine, options.budget_s)
    planned_lines = _placed_lines if machine.is_placed else _unplaced_lines
    max_cases = CASES_PER_SECOND * max(options.budget_s, MIN_BUDGET_S)
    cases: list[Case] = []
    for limits in SURVEY_SIZES_BY_DEPTH:
        cases = unique_cases(
            catalog.case(line) for line in planned_lines(sizes, options, catalog, machine, limits)
        )
        if len(cases) <= max_cases or not machine.traits.wall_clock:
            break
    if not cases:
        raise UsageError(
            "nothing to measure",
            "no case is left for these ranks and sizes",
            "use for example --ranks 2",
            code="nothing-to-survey",
        )
    return cases


def ping_pong_sweep(sizes: tuple[int, ...] = DEFAULT_SIZES, buffers: str = HOT) -> Iterator[str]:
    """The ping-pong from which models of one message are fitted."""
    return (f"pingpong bytes={size} buffers={buffers} ranks=2" for size in sizes)


def _unplaced_lines(
    sizes: tuple[int, ...], options: Options, catalog: Catalog, machine: Machine, limits: SurveySizes
) -> Iterator[str]:
    ranks = options.ranks or thin_out(default_ranks(machine), limits.ranks)
    if PAIR_RANKS in ranks:
        yield from _pair_lines(sizes, catalog, TRAIN_SIZES_BYTES, limits)
    for p in ranks:
        yield from _collective_lines(sizes, p, catalog, limits)


def _placed_lines(
    sizes: tuple[int, ...], options: Options, catalog: Catalog, machine: Machine, limits: SurveySizes
) -> Iterator[str]:
    """All patterns between two ranks at the levels used by models. At nearer levels, only the ping-pong and
    trains of messages, with all sizes of the ping-pong only at the nearest level. Collectives on two ranks of
    a node, on all of its ranks, on one rank of each node, and on all ranks; or on requested numbers of ranks
    within a node and over all nodes."""
    train_sizes = affordable_sizes(TRAIN_SIZES_BYTES, machine, options.budget_s, TRAIN_LENGTH)
    pair_lines = [*_pair_lines(sizes, catalog, train_sizes, limits)]
    few_train_lines = [*_train_lines(train_sizes, MIN_TRAIN_SIZES)]
    for level in machine.levels if not options.ranks or PAIR_RANKS in options.ranks else ():
        is_nearest = level == machine.levels[0]
        reduced_lines = [
            *ping_pong_sweep(sizes if is_nearest else thin_out(sizes, MAX_INTERMEDIATE_LEVEL_SIZES)),
            *few_train_lines,
        ]
        for line in pair_lines if level in places.prediction_levels(machine) else reduced_lines:
            yield line + places.level_words(level)
    for ranks, nodes in _collective_layouts(options, machine, limits):
        placement = (
            places.intra_node_pair_words(machine)
            if (ranks, nodes) == (PAIR_RANKS, 1)
            else places.node_words(nodes)
        )
        for line in _collective_lines(sizes, ranks, catalog, limits):
            yield line + placement


def _collective_layouts(options: Options, machine: Machine, limits: SurveySizes) -> list[tuple[int, int]]:
    """Numbers of ranks and nodes for collectives. Two ranks of a node show the cost of a rank's own work in a
    collective (`models/local_costs.py`)."""
    layout = machine.layout
    if layout is None:
        return []
    if options.ranks or 1 in (layout.nodes, layout.ranks_per_node):
        ranks = options.ranks or thin_out(default_ranks(machine), limits.ranks)
        return [(p, nodes) for p in ranks for nodes in places.node_counts(p, layout)]
    one_rank_per_node = [(layout.nodes, layout.nodes)] if layout.nodes > 2 else []
    return [(PAIR_RANKS, 1), (layout.ranks_per_node, 1), *one_rank_per_node, (layout.ranks, layout.nodes)]


def _pair_lines(
    sizes: tuple[int, ...], catalog: Catalog, train_sizes: tuple[int, ...], limits: SurveySizes
) -> Iterator[str]:
    """All sizes of the ping-pong; fewer sizes of the other patterns between two ranks."""
    stream_sizes = thin_out(tuple(size for size in sizes if 0 < size <= MAX_STREAM_BYTES), limits.streams)
    cold_sizes = thin_out(tuple(size for size in sizes if size >= 64), limits.cold)
    yield from ping_pong_sweep(sizes)
    yield from ping_pong_sweep(thin_out(sizes, limits.written), WRITTEN)
    yield from ping_pong_sweep(cold_sizes, "cold")
    for workload in catalog.with_role("point-to-point"):
        if not workload.performs(*PING_PONG):  # it already has its sweep
            other_sizes = thin_out(sizes, limits.other_patterns)
            yield from (f"{workload.name} {workload.size}={size} buffers=hot ranks=2" for size in other_sizes)
    for workload in catalog.with_role("stream"):
        yield from (f"{workload.name} {workload.size}={size} buffers=hot ranks=2" for size in stream_sizes)
    yield from _train_lines(train_sizes, limits.trains)
    yield from overlap.message_lines(sizes, catalog, limits.overlap)


def _train_lines(sizes: tuple[int, ...], max_sizes: int) -> Iterator[str]:
    for size in thin_out(sizes, max_sizes):
        yield from train_lines(size)


def _collective_lines(
    sizes: tuple[int, ...], ranks: int, catalog: Catalog, limits: SurveySizes
) -> Iterator[str]:
    rounded_sizes = round_up_to_doubles(sizes)
    measured_sizes = sorted(
        {*thin_out(rounded_sizes, limits.collectives), *[size for size in rounded_sizes if size > 0][:1]}
    )
    for workload in collectives.collective_workloads(catalog):
        if workload.size:
            yield from (
                f"{workload.name} {workload.size}={size} buffers=hot sync=barrier ranks={ranks}"
                for size in measured_sizes
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
    lead, remaining_sections = first_figure(
        [with_caveats(section, evidence) for section in sections if section is not None]
    )
    return study_page(
        evidence,
        title="Survey of message passing",
        headline=(key_results.overview_line(evidence), *overlap.sentences(evidence)),
        results=key_results.table(evidence),
        warnings=without_section_caveats(evidence),
        sections=remaining_sections,
        lead=lead,
    )


def answer(evidence: Evidence) -> dict[str, object]:
    """The rows of the table: the `result`, its typical and undisturbed value in `unit`, and its subject."""
    return {"results": key_results.document(evidence)}
