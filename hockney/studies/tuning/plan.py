# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases: every collective by hockney's algorithms and by MPI, and with Open MPI also by each of its own
algorithms, which launch settings force. Those of its barrier are excluded, because it also separates the
measurements of all other operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hockney.core.case import ALGORITHM, MPI, Case
from hockney.core.catalog import Catalog, Workload
from hockney.core.launch_setting import LaunchSetting
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.models.tuning import openmpi
from hockney.models.tuning.points import PLAIN, TABLE_OPERATIONS, is_comparable
from hockney.mpi import family_of
from hockney.pages.evidence import Options, unique_cases
from hockney.studies.sizes import default_ranks, round_up_to_doubles

SIZES = tuple(8**k for k in range(1, 8))
"""Sizes from 8 B to 2 MiB."""
OPERATIONS = StudyParameter(
    "operations",
    "choice",
    "only these collectives",
    choices=TABLE_OPERATIONS,
    many=True,
    example="bcast,allreduce",
)
INTERNAL_ALGORITHMS = StudyParameter(
    "internal",
    "choice",
    "whether Open MPI's own algorithms are measured too, in separate launches",
    default="yes",
    choices=("yes", "no"),
)
PARAMETERS = (OPERATIONS, INTERNAL_ALGORITHMS)


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    sizes = [size for size in round_up_to_doubles(options.sizes or SIZES) if size > 0]
    settings = launch_settings(options, machine)
    lines = [
        line
        for workload in _requested_workloads(options, catalog)
        for ranks in options.ranks or default_ranks(machine)
        for line in _workload_lines(workload, sizes, ranks, bool(settings))
    ]
    return unique_cases(catalog.case(line) for line in lines)


def launch_settings(options: Options, machine: Machine) -> Sequence[LaunchSetting]:
    """The settings that force Open MPI's algorithms, if its mpiexec starts the ranks."""
    has_forcible_algorithms = machine.mpi is not None and family_of(machine.mpi).forces_algorithms
    can_force_algorithms = has_forcible_algorithms and machine.traits.uses_mpiexec
    return (
        openmpi.forcing_settings()
        if can_force_algorithms and options.value(INTERNAL_ALGORITHMS) == "yes"
        else ()
    )


def _requested_workloads(options: Options, catalog: Catalog) -> list[Workload]:
    operations = options.value(OPERATIONS) or TABLE_OPERATIONS
    return [
        workload
        for workload in catalog.workloads
        if is_comparable(workload) and workload.algorithms and workload.operation in operations
    ]


def _workload_lines(
    workload: Workload, sizes: Sequence[int], ranks: int, has_internal_algorithms: bool
) -> Iterator[str]:
    """The cases of each algorithm at each size. A barrier, which has no size, is timed in two ways."""
    size_or_sync_words = (
        [f"{workload.size}={size}" for size in sizes] if workload.size else ["sync=loop", "sync=window"]
    )
    forcing_settings = (
        openmpi.settings_of_operation(workload.operation, ranks) if has_internal_algorithms else []
    )
    for words in size_or_sync_words:
        case = f"{workload.name} {words} ranks={ranks}"
        yield from (f"{case} {ALGORITHM}={name}" for name in workload.algorithms)
        if forcing_settings:
            yield from (
                f"{case} {ALGORITHM}={MPI} setting={setting}" for setting in (PLAIN, *forcing_settings)
            )
