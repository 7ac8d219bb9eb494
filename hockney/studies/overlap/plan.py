# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases: nonblocking operations with computation between the call and MPI_Wait, over sizes and numbers of
calls of MPI_Test; and if available, with MPI's progress thread and without such calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hockney.core.case import Case
from hockney.core.catalog import Catalog, Workload
from hockney.core.errors import UsageError, unknown
from hockney.core.launch_setting import LaunchSetting
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.core.units import thin_out
from hockney.pages.evidence import Options, unique_cases
from hockney.studies.overlap.results import OVERLAP_ROLE
from hockney.studies.progress import (
    OWN_PROGRESS,
    THREAD_PROGRESS,
    measures_own_progress,
    requested_thread_setting,
)
from hockney.studies.shared_parameters import SYNC, synchronization
from hockney.studies.sizes import default_ranks, round_up_to_doubles

WORKLOADS = ("overlap", "overlap_vector", "overlap_ibarrier")
"""Compiled on first use."""
SIZES = (8, 1 << 10, 8 << 10, 32 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20)
"""Sizes on both sides of common eager limits."""
MAX_THREAD_SIZES = 3
"""Few, because if a thread shares the core of its rank, every message waits some milliseconds for the
scheduler."""
OPERATION_PARAMETER = "operation"
"""The parameter of a workload with several operations."""

OPERATIONS = StudyParameter(
    "operations",
    "text",
    "message, or nonblocking collectives",
    default="message,iallreduce,ibcast",
    many=True,
    example="message,ialltoall",
)
TESTS = StudyParameter(
    "tests",
    "integer",
    "numbers of calls of MPI_Test, evenly spaced in the computation",
    default="0,4,64",
    high=1e6,
    many=True,
)
COMPUTING = StudyParameter(
    "computing",
    "real",
    "computation, relative to the time of the communication",
    default="1",
    low=0.01,
    high=1000,
)
PROGRESS = StudyParameter(
    "progress",
    "choice",
    "own: by calls of MPI only; thread: also by MPI's progress thread, with the fewest tests, for 3 "
    "sizes (default: both, where MPI has a thread for all transports)",
    choices=(OWN_PROGRESS, THREAD_PROGRESS),
    many=True,
    example="own,thread",
)
PARAMETERS = (OPERATIONS, TESTS, COMPUTING, PROGRESS, SYNC)


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    sizes = options.sizes or SIZES
    cases = [
        catalog.case(line)
        for operation in options.value(OPERATIONS)
        for ranks in options.ranks or default_ranks(machine)
        for line in _workload_lines(*_find_workload(operation, catalog), ranks, sizes, options, machine)
    ]
    if not cases:
        raise UsageError(
            "there is nothing to measure on these ranks",
            "messages are measured between 2 ranks",
            "use --ranks 2, or a collective, for example operations=iallreduce",
            code="only-between-two",
        )
    return unique_cases(cases)


def launch_settings(options: Options, machine: Machine) -> Sequence[LaunchSetting]:
    """The setting of the progress thread, if it is measured. Raises UsageError if it is requested and MPI has
    none."""
    return requested_thread_setting(options.value(PROGRESS), machine)


def _workload_lines(
    workload: Workload,
    prefix: str,
    ranks: int,
    sizes: Sequence[int],
    options: Options,
    machine: Machine,
) -> Iterator[str]:
    """The cases of a workload; none if it does not run on this number of ranks."""
    if ranks < workload.min_ranks or (workload.max_ranks and ranks > workload.max_ranks):
        return
    settings = launch_settings(options, machine)
    tests = options.value(TESTS)
    sizes = round_up_to_doubles(tuple(sizes)) if workload.size else (0,)
    with_thread = thin_out(sizes, MAX_THREAD_SIZES)
    for size in sizes:
        line = f"{prefix}{f' {workload.size}={size}' if workload.size else ''} ranks={ranks}"
        line += f" computing={options.value(COMPUTING):g} sync={synchronization(options, machine)}"
        if measures_own_progress(options.value(PROGRESS)):
            yield from (f"{line} tests={count}" for count in tests)
        if size in with_thread:
            yield from (f"{line} tests={tests[0]} setting={setting.name}" for setting in settings)


def _find_workload(operation: str, catalog: Catalog) -> tuple[Workload, str]:
    """The workload with this operation, and the beginning of its lines. Raises UsageError for an unknown
    operation."""
    by_operation: dict[str, tuple[Workload, str]] = {}
    for workload in catalog.with_role(OVERLAP_ROLE):
        parameter = workload.parameter(OPERATION_PARAMETER)
        if parameter is None:
            by_operation[workload.operation] = workload, workload.name
        else:
            by_operation |= {
                name: (workload, f"{workload.name} {OPERATION_PARAMETER}={name}")
                for name in parameter.choices
            }
    if operation not in by_operation:
        raise unknown("nonblocking operation", operation, by_operation, code="unknown-nonblocking-operation")
    return by_operation[operation]
