# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases: every collective with MPI's and every user-level algorithm, over buffer sizes and ranks; and
messages between two ranks, also with other eager limits.

All algorithms for one number of ranks are measured in the same launches, so that their ratios do not contain
differences between launches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hockney.core.case import MPI, Case
from hockney.core.catalog import Catalog, Workload
from hockney.core.errors import UsageError
from hockney.core.launch_setting import LaunchSetting
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.core.smpi_algorithms import unknown_algorithm, unknown_collective
from hockney.mpi import family_of
from hockney.pages.evidence import Options, unique_cases
from hockney.studies import places
from hockney.studies.collectives.results import OWN_LIMIT, block_bytes, is_t3e, limit_setting_name
from hockney.studies.shared_parameters import synchronization
from hockney.studies.sizes import default_ranks
from hockney.studies.survey import ping_pong_sweep

T3E_SIZES = (0, 8, 64, 256, 1024, 2048, 4000, 4095, 4097, 8192, 8193, 16384, 65536, 262144, 524288, 1048576)
"""Sizes of messages between two ranks of a T3E: the paper's, and some near its protocol changes."""
SIZES = (8, 128, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20)
"""Sizes that include those of the paper's tables: 8 B, 1 KB and 1 MB."""
SIZES_SIMULATED = (8, 1 << 10, 8 << 10, 64 << 10, 1 << 20)

RANKS_T3E = (2, 8, 32)
"""Numbers of ranks on the simulated T3E, up to the smallest number of processes in the paper's tables."""

OPERATIONS = StudyParameter(
    "operations", "text", "collectives to measure (default: all)", many=True, example="bcast,allreduce"
)
ALGORITHMS = StudyParameter(
    "algorithms",
    "text",
    "user-level algorithms to compare with MPI's own (default: all)",
    many=True,
    example="binomial,ring",
)
SYNC = StudyParameter(
    "sync",
    "choice",
    "how the ranks start; with loop, as in the paper, consecutive calls overlap (default: barrier, simulated "
    "window)",
    choices=("barrier", "window", "loop"),
)
EAGER_LIMITS = StudyParameter(
    "eager",
    "integer",
    "eager limits to try on 2 ranks, 0 for none",
    unit="B",
    default="1KiB,4KiB,16KiB,64KiB",
    high=1 << 20,
    many=True,
)
PARAMETERS = (OPERATIONS, ALGORITHMS, SYNC, EAGER_LIMITS)


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    simulated = machine.traits.simulated
    default_counts = RANKS_T3E if is_t3e(machine) else default_ranks(machine)
    ranks = tuple(rank_count for rank_count in options.ranks or default_counts if rank_count > 1)
    sizes = options.sizes or (SIZES_SIMULATED if simulated else SIZES)
    sync = synchronization(options, machine)
    workloads = _requested_workloads(options.value(OPERATIONS), catalog)
    algorithms = _requested_algorithms(options.value(ALGORITHMS), workloads)
    lines = [
        f"{workload.name} algorithm={algorithm} {workload.size}={size} buffers=hot sync={sync} "
        f"ranks={rank_count}"
        for workload in workloads
        for algorithm in algorithms[workload.name]
        for rank_count in ranks
        for size in sorted({block_bytes(workload.operation, buffer, rank_count) for buffer in sizes})
    ]
    if not lines:
        raise UsageError(
            "nothing to measure",
            "a collective needs at least two ranks",
            "use for example --ranks 2",
            code="no-collective",
        )
    t3e_sizes = T3E_SIZES if is_t3e(machine) else ()
    pair_lines = [
        *places.at_prediction_levels([*ping_pong_sweep(), *ping_pong_sweep(t3e_sizes)], machine),
        *_eager_limit_lines(options, machine),
    ]
    return unique_cases(catalog.case(line) for line in (*lines, *pair_lines))


def _requested_workloads(names: Iterable[str], catalog: Catalog) -> list[Workload]:
    """The collectives that have algorithms. Raises UsageError for an unknown name."""
    by_operation = {
        workload.operation: workload for workload in catalog.with_role("collective") if workload.algorithms
    }
    for name in names:
        if name not in by_operation:
            raise unknown_collective(name, by_operation)
    return [workload for name, workload in by_operation.items() if not names or name in names]


def _requested_algorithms(requested: Iterable[str], workloads: Iterable[Workload]) -> dict[str, list[str]]:
    """The algorithms by workload. MPI's own comes first and is always measured. Raises UsageError for a name
    that no workload has."""
    choices = {
        workload.name: sorted(workload.algorithms, key=lambda algorithm_name: algorithm_name != MPI)
        for workload in workloads
    }
    all_names = dict.fromkeys(algorithm_name for names in choices.values() for algorithm_name in names)
    for algorithm_name in requested:
        if algorithm_name not in all_names:
            raise unknown_algorithm(algorithm_name, ", ".join(choices), all_names)
    return {
        workload: [
            algorithm for algorithm in names if algorithm == MPI or not requested or algorithm in requested
        ]
        for workload, names in choices.items()
    }


EAGER_SIZES = tuple(512 << k for k in range(10))
"""Sizes from 512 B to 256 KiB, on both sides of every limit."""


def eager_variables(limit: int, machine: Machine) -> dict[str, str]:
    """The variables for an eager limit; empty if there are none known for the machine's MPI."""
    if machine.traits.is_fake:
        return {"FAKE_EAGER_LIMIT": str(limit)}
    if machine.mpi is None or not machine.traits.uses_mpiexec:
        return {}
    return family_of(machine.mpi).eager_limit(machine.mpi, limit)


def eager_limits(options: Options, machine: Machine) -> list[int]:
    """The limits to try; empty if the machine has no such variables, or if two ranks are not measured."""
    limits = [limit for limit in options.value(EAGER_LIMITS) if limit]
    if options.ranks and 2 not in options.ranks:
        return []
    return [limit for limit in limits if eager_variables(limit, machine)]


def launch_settings(options: Options, machine: Machine) -> Sequence[LaunchSetting]:
    limits = eager_limits(options, machine)
    own_settings = [LaunchSetting(OWN_LIMIT, ())] if limits else []
    return [
        *own_settings,
        *(LaunchSetting.of(limit_setting_name(limit), eager_variables(limit, machine)) for limit in limits),
    ]


def _eager_limit_lines(options: Options, machine: Machine) -> Iterator[str]:
    """The cases, on ranks of one node if nodes have several ranks."""
    placement = places.level_words(places.prediction_levels(machine)[0])
    for setting in launch_settings(options, machine):
        for size in EAGER_SIZES:
            yield f"pingpong bytes={size} buffers=hot ranks=2 setting={setting.name}{placement}"
