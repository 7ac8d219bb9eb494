# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The survey: the costs of message passing on this machine."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.case import Case
from hockney.core.catalog import PING_PONG, Catalog
from hockney.core.machine import Machine
from hockney.core.units import thin
from hockney.draw.page import Page
from hockney.pages import collectives, course, headline, loggp, point_to_point, quality
from hockney.pages.caveats import everywhere, with_caveats
from hockney.pages.evidence import Evidence, Options, once
from hockney.pages.first_screen import first_figure
from hockney.pages.study_page import study_page
from hockney.studies import messages
from hockney.studies.overlap import survey as overlap
from hockney.studies.sizes import DEFAULT, default_ranks, whole_doubles
from hockney.studies.trains import trains

NAME = "survey"
HELP = "what message passing costs on this machine: ping-pong, streams, LogGP, collectives"
REFINES = True
"""Sizes between the planned ones are added around changes of a cost."""

STREAM_LIMIT = 1 << 20
"""Streams have many messages in flight at once; beyond this size their windows only measure memory."""

COLLECTIVE_SIZES = 9
"""Enough for piecewise fits: libraries change algorithm with the size."""

TRAIN_SIZES = (8, 256, 1024, 2048, 3072, 8 << 10, 32 << 10)
"""On both sides of the usual changes of protocol (4 KiB in Open MPI's shared memory, 8 KiB on the T3E): one g
and one G describe the trains of one protocol, and the fit takes those of the shortest messages."""


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """The full sweep of sizes between two ranks; every collective at a few sizes on each rank count."""
    sizes = options.sizes or DEFAULT
    ranks = options.ranks or default_ranks(machine)
    lines = [*_pairs(sizes, catalog), *overlap.lines(sizes, catalog)] if 2 in ranks else []
    lines += [line for p in ranks for line in _collectives(sizes, p, catalog)]
    if not lines:
        raise messages.nothing_to_survey()
    return once(catalog.case(line) for line in lines)


def sweep(sizes: tuple[int, ...] = DEFAULT) -> Iterator[str]:
    """The ping-pong to which models of one message are fitted."""
    return (f"pingpong bytes={s} buffers=hot ranks=2" for s in sizes)


def _pairs(sizes: tuple[int, ...], catalog: Catalog) -> Iterator[str]:
    """The full sweep of the ping-pong; the other patterns between two ranks at fewer sizes."""
    streamed = thin(tuple(s for s in sizes if 0 < s <= STREAM_LIMIT), 8)
    beyond_cache = thin(tuple(s for s in sizes if s >= 64), 8)
    yield from sweep(sizes)
    yield from (f"pingpong bytes={s} buffers=cold ranks=2" for s in beyond_cache)
    for workload in catalog.of_role("point-to-point"):
        if not workload.performs(*PING_PONG):  # it already has its sweep
            yield from (f"{workload.name} {workload.size}={s} buffers=hot ranks=2" for s in thin(sizes, 7))
    for workload in catalog.of_role("stream"):
        yield from (f"{workload.name} {workload.size}={s} buffers=hot ranks=2" for s in streamed)
    for size in TRAIN_SIZES:
        yield from trains(size)


def _collectives(sizes: tuple[int, ...], ranks: int, catalog: Catalog) -> Iterator[str]:
    doubles = whole_doubles(sizes)
    few = sorted({*thin(doubles, COLLECTIVE_SIZES), *[s for s in doubles if s > 0][:1]})
    for workload in collectives.of(catalog):
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
        overlap.section(evidence),
        quality.parameters(evidence),
        course.section(evidence),
        quality.spread(evidence),
        quality.verification(evidence),
    ]
    lead, rest = first_figure([with_caveats(s, evidence) for s in sections if s is not None])
    return study_page(
        evidence,
        title="Survey of message passing",
        headline=tuple(filter(None, (*headline.sentences(evidence), overlap.sentence(evidence)))),
        warnings=everywhere(evidence),
        sections=rest,
        lead=lead,
    )
