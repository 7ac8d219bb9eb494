# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What to measure: every collective by hockney's algorithms and by MPI, and with Open MPI also by each of its
own algorithms, which launch settings force. Not those of its barrier, which also separates the measurements
of all other operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hockney.core.case import ALGORITHM, MPI, Case
from hockney.core.catalog import Catalog, Workload
from hockney.core.launch_setting import LaunchSetting
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.models.tuning import openmpi
from hockney.models.tuning.points import PLAIN, TABLED, comparable
from hockney.mpi import family_of
from hockney.pages.evidence import Options, unique_cases
from hockney.studies.sizes import default_ranks, whole_doubles

SIZES = tuple(8**k for k in range(1, 8))
"""8 B to 2 MiB."""
OPERATIONS = StudyParameter(
    "operations", "choice", "only these collectives", choices=TABLED, many=True, example="bcast,allreduce"
)
INTERNAL = StudyParameter(
    "internal",
    "choice",
    "whether Open MPI's own algorithms are measured too, in separate launches",
    default="yes",
    choices=("yes", "no"),
)
PARAMETERS = (OPERATIONS, INTERNAL)


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    sizes = [size for size in whole_doubles(options.sizes or SIZES) if size > 0]
    settings = launch_settings(options, machine)
    lines = [
        line
        for workload in _workloads(options, catalog)
        for ranks in options.ranks or default_ranks(machine)
        for line in _lines(workload, sizes, ranks, bool(settings))
    ]
    return unique_cases(catalog.case(line) for line in lines)


def launch_settings(options: Options, machine: Machine) -> Sequence[LaunchSetting]:
    """The settings that force Open MPI's algorithms, if its mpiexec starts the ranks."""
    has_forcing = machine.mpi is not None and family_of(machine.mpi).forces_algorithms
    forcible = has_forcing and machine.traits.uses_mpiexec
    return openmpi.forcing() if forcible and options.value(INTERNAL) == "yes" else ()


def _workloads(options: Options, catalog: Catalog) -> list[Workload]:
    operations = options.value(OPERATIONS) or TABLED
    return [
        workload
        for workload in catalog.workloads
        if comparable(workload) and workload.algorithms and workload.operation in operations
    ]


def _lines(workload: Workload, sizes: Sequence[int], ranks: int, internal: bool) -> Iterator[str]:
    """The cases of each algorithm at each size; for a barrier, which has no size, with each way of timing
    it."""
    ways = [f"{workload.size}={size}" for size in sizes] if workload.size else ["sync=loop", "sync=window"]
    forced = openmpi.forced(workload.operation, ranks) if internal else []
    for way in ways:
        case = f"{workload.name} {way} ranks={ranks}"
        yield from (f"{case} {ALGORITHM}={name}" for name in workload.algorithms)
        if forced:
            yield from (f"{case} {ALGORITHM}={MPI} setting={setting}" for setting in (PLAIN, *forced))
