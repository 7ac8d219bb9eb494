# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs of messages and collectives on which predictions of programs are based: which cases show
them, and what the run, its survey or the machine's description states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hockney.core.case import WRITTEN
from hockney.core.catalog import Catalog
from hockney.core.errors import HockneyError
from hockney.core.machine import Machine
from hockney.core.units import doubling_series, thin_out
from hockney.models.applications.message_costs import costs_of_description, messages_of_run
from hockney.models.programs.communication import Communication, communication_from_fits
from hockney.models.programs.parts import CollectivePart, Iteration, measured_operation
from hockney.pages.evidence import Evidence
from hockney.studies import places
from hockney.studies.survey import sweep

MIN_LONGEST_BYTES = 4 << 10
"""Bytes of the ping-pong's longest message, even if the benchmarks send shorter ones."""
MAX_STREAM_BYTES = 1 << 20
FEW = 5
"""Sizes of each pattern other than the ping-pong."""


@dataclass(frozen=True)
class Needs:
    """What a program on `ranks` ranks sends: bytes of its longest message, and its collectives, each with its
    operation, ranks, and bytes of the largest block or vector."""

    ranks: int
    longest: int
    collectives: tuple[tuple[str, int, int], ...]


def needs_of(iteration: Iteration) -> Needs:
    collectives = (
        (measured_operation(part.operation), part.group_size(iteration.ranks), part.size)
        for part in iteration.parts
        if isinstance(part, CollectivePart)
    )
    return Needs(iteration.ranks, round(iteration.longest_message), tuple(dict.fromkeys(collectives)))


def cost_cases(
    programs: Iterable[Needs], catalog: Catalog, machine: Machine, buffers: str = WRITTEN
) -> Iterator[str]:
    """A ping-pong up to the longest message, messages in both directions and in a stream, and each
    collective at the sizes that the programs have; by default of data that were just written, as those of the
    benchmarks are."""
    several = [program for program in programs if program.ranks > 1]
    if not several:
        return
    longest = max(MIN_LONGEST_BYTES, *(program.longest for program in several))
    sizes = (0, *doubling_series(1, 1 << (longest - 1).bit_length()))
    yield from places.at_each(_messages(sizes, catalog, buffers), machine)
    yield from _collectives(several, catalog, buffers)


def _messages(sizes: tuple[int, ...], catalog: Catalog, buffers: str) -> Iterator[str]:
    yield from sweep(sizes, buffers)
    for workload in catalog.with_role("point-to-point"):
        if workload.performs("point-to-point", "sendrecv"):
            yield from (
                f"{workload.name} bytes={s} buffers={buffers} ranks=2" for s in thin_out(sizes, FEW + 2)
            )
    streamed = [size for size in sizes if 0 < size <= MAX_STREAM_BYTES]
    for workload in catalog.with_role("stream"):
        if not workload.bidirectional:
            yield from (
                f"{workload.name} bytes={s} buffers={buffers} ranks=2" for s in thin_out(streamed, FEW)
            )


def _collectives(programs: Iterable[Needs], catalog: Catalog, buffers: str) -> Iterator[str]:
    """The cases that measure at least two sizes of each operation, for a line through them."""
    sizes_by_operation: dict[tuple[str, int], set[int]] = {}
    for program in programs:
        for operation, ranks, block in program.collectives:
            size = max(8, -(-block // 8) * 8)
            if ranks > 1:
                sizes_by_operation.setdefault((operation, ranks), set()).update(
                    (size,) if size > 8 else (size, 2 * size)
                )
    for (operation, ranks), sizes in sorted(sizes_by_operation.items()):
        if operation == "barrier":
            yield f"barrier sync=barrier ranks={ranks}"
            continue
        for workload in catalog.with_role("collective"):
            if workload.operation == operation:
                few = thin_out(sorted({8, *sizes}), FEW)
                yield from (
                    f"{workload.name} bytes={s} buffers={buffers} sync=barrier ranks={ranks}" for s in few
                )


def communication(evidence: Evidence, buffers: str = WRITTEN) -> Communication | None:
    """The costs of communication, if possible in such buffers; None if the cost of a message is unknown."""
    platform = evidence.machine.platform
    if platform is not None:
        return Communication(costs_of_description(platform), platform=platform)
    surveyed = evidence.survey
    try:
        most = evidence.run.max_hosts()
        message = messages_of_run(
            evidence.fits, evidence.machine, "this run", surveyed, hosts=most, buffers=buffers
        )
    except HockneyError:
        return None
    return communication_from_fits(evidence.fits if surveyed is None else surveyed.fits, message)
