# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs of messages and collectives for predictions of programs: the cases that show them, and the costs
from the run, its survey or the machine's description."""

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
from hockney.studies.survey import ping_pong_sweep

MIN_LONGEST_BYTES = 4 << 10
"""The minimum size of the ping-pong's longest message, even if the benchmarks send shorter ones."""
MAX_STREAM_BYTES = 1 << 20
MAX_OTHER_SIZES = 5
"""The number of sizes of each pattern other than the ping-pong."""


@dataclass(frozen=True)
class CommunicationNeeds:
    """The communication of a program on `ranks` ranks: bytes of its longest message, and its collectives,
    each with its operation, ranks, and bytes of the largest block or vector."""

    ranks: int
    max_message_bytes: int
    collectives: tuple[tuple[str, int, int], ...]


def communication_needs(iteration: Iteration) -> CommunicationNeeds:
    collectives = (
        (measured_operation(part.operation), part.group_size(iteration.ranks), part.size)
        for part in iteration.parts
        if isinstance(part, CollectivePart)
    )
    return CommunicationNeeds(
        iteration.ranks, round(iteration.longest_message), tuple(dict.fromkeys(collectives))
    )


def cost_cases(
    programs: Iterable[CommunicationNeeds], catalog: Catalog, machine: Machine, buffers: str = WRITTEN
) -> Iterator[str]:
    """A ping-pong up to the longest message, messages in both directions and in a stream, and each collective
    at the programs' sizes. By default the data was recently written, as in the benchmarks."""
    parallel_programs = [program for program in programs if program.ranks > 1]
    if not parallel_programs:
        return
    max_bytes = max(MIN_LONGEST_BYTES, *(program.max_message_bytes for program in parallel_programs))
    sizes = (0, *doubling_series(1, 1 << (max_bytes - 1).bit_length()))
    yield from places.at_prediction_levels(_messages(sizes, catalog, buffers), machine)
    yield from _collectives(parallel_programs, catalog, buffers)


def _messages(sizes: tuple[int, ...], catalog: Catalog, buffers: str) -> Iterator[str]:
    yield from ping_pong_sweep(sizes, buffers)
    for workload in catalog.with_role("point-to-point"):
        if workload.performs("point-to-point", "sendrecv"):
            yield from (
                f"{workload.name} bytes={s} buffers={buffers} ranks=2"
                for s in thin_out(sizes, MAX_OTHER_SIZES + 2)
            )
    stream_sizes = [size for size in sizes if 0 < size <= MAX_STREAM_BYTES]
    for workload in catalog.with_role("stream"):
        if not workload.bidirectional:
            yield from (
                f"{workload.name} bytes={s} buffers={buffers} ranks=2"
                for s in thin_out(stream_sizes, MAX_OTHER_SIZES)
            )


def _collectives(programs: Iterable[CommunicationNeeds], catalog: Catalog, buffers: str) -> Iterator[str]:
    """Cases with at least two sizes of each operation, so that a line can be fitted."""
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
                measured_sizes = thin_out(sorted({8, *sizes}), MAX_OTHER_SIZES)
                yield from (
                    f"{workload.name} bytes={s} buffers={buffers} sync=barrier ranks={ranks}"
                    for s in measured_sizes
                )


def find_communication_costs(evidence: Evidence, buffers: str = WRITTEN) -> Communication | None:
    """The costs of communication, in such buffers if measured; None if the cost of a message is unknown."""
    platform = evidence.machine.platform
    if platform is not None:
        return Communication(costs_of_description(platform), platform=platform)
    surveyed = evidence.survey
    try:
        hosts = evidence.run.max_hosts()
        message = messages_of_run(
            evidence.fits, evidence.machine, "this run", surveyed, hosts=hosts, buffers=buffers
        )
    except HockneyError:
        return None
    return communication_from_fits(evidence.fits if surveyed is None else surveyed.fits, message)
