# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases to measure: the four kernels, the parameters of the models, and the rates of local work at the
kernels' sizes. No prediction uses the run of a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError, unknown
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.pages.evidence import Options, unique_cases
from hockney.studies.shared_parameters import SYNC, synchronization
from hockney.studies.sizes import default_ranks
from hockney.studies.survey import ping_pong_sweep
from hockney.suites.bsp.models.programs import LocalWork, distinct_local_work, supersteps
from hockney.suites.bsp.studies.bsp_parameters.plan import (
    LOCAL_WORK,
    MESSAGE_SIZES,
    add_pairs,
    described_rate,
    parameter_lines,
    rate_lines,
)
from hockney.suites.bsp.studies.bsp_parameters.plan import WORKLOADS as PARAMETER_WORKLOADS

_STYLES = ("bsp", "bpram", "mpi")

MATRIX_SIZES, SIMULATED_MATRIX_SIZES = (256, 512, 1000), (64, 128, 256)
KEYS_PER_RANK, SIMULATED_KEYS_PER_RANK = (1000, 10_000, 100_000, 1_000_000), (64, 1024, 16_384)
KERNELS = {
    "matrix_multiplication": "multiplication",
    "bitonic_sort": "sort",
    "sample_sort": "sort",
    "shortest_paths": "min-plus",
}
"""Kernels, each with the local work whose rate is its `rate` on a simulated machine."""
SORTS = ("bitonic_sort", "sample_sort")
MIN_KEYS = 64
"""Sorting fewer keys is too short to be measured well; the rate of larger sorts is used for it."""
KERNEL_NAMES = StudyParameter(
    "kernels",
    "text",
    "kernels to measure (default: all)",
    many=True,
    example="bitonic_sort,sample_sort",
)
SIZE = StudyParameter(
    "n",
    "integer",
    "rows of matrices, and nodes of graphs (default: 256,512,1000; simulated 64,128,256)",
    many=True,
    low=1,
    high=1 << 20,
    example="256,1000",
)
KEYS = StudyParameter(
    "keys",
    "integer",
    "keys of each rank (default: 1000 to 1000000; simulated 64,1024,16384)",
    many=True,
    low=1,
    high=1 << 30,
    example="1000,100000",
)
STYLES = StudyParameter(
    "styles",
    "text",
    "styles of communication: supersteps of BSPlib, blocks, calls of MPI",
    default="bsp,bpram",
    many=True,
)
PARAMETERS = (KERNEL_NAMES, SIZE, KEYS, STYLES, SYNC)
WORKLOADS = (*KERNELS, *PARAMETER_WORKLOADS)
"""Compiled on first use."""


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """Returns the cases to measure. As in bsp-parameters, `--sizes` replaces the bytes of relations of words,
    and of blocks."""
    ranks = options.ranks or default_ranks(machine)
    sync = synchronization(options, machine)
    kernels = [catalog.case(line) for line in kernel_lines(options, machine, ranks, sync)]
    if not kernels:
        raise UsageError(
            "no kernel can be measured",
            "bitonic sort needs a power of two of ranks",
            "use for example --ranks 4",
            code="no-kernel",
        )
    lines = [line for p in add_pairs(ranks) for line in parameter_lines(p, sync, options.sizes)]
    lines += [line for case in kernels for line in _local_work_lines(case, catalog, machine, sync)]
    return unique_cases(
        [*kernels, *(catalog.case(line) for line in (*lines, *ping_pong_sweep(MESSAGE_SIZES)))]
    )


def kernel_lines(options: Options, machine: Machine, ranks: Iterable[int], sync: str) -> Iterator[str]:
    """Yields every kernel at every size, in every style that its number of ranks allows."""
    simulated = machine.traits.simulated
    matrix_sizes = options.value(SIZE) or (SIMULATED_MATRIX_SIZES if simulated else MATRIX_SIZES)
    keys = options.value(KEYS) or (SIMULATED_KEYS_PER_RANK if simulated else KEYS_PER_RANK)
    styles = options.value(STYLES)
    for style in styles:
        if style not in ("bsp", "bpram", "mpi"):
            raise unknown("style", style, _STYLES)
    for kernel in _kernel_names(options.value(KERNEL_NAMES)):
        size_name, sizes = ("keys", keys) if kernel in SORTS else ("n", matrix_sizes)
        speed = _rate_arguments(kernel, machine)
        for p in ranks:
            for size in sizes:
                for variant in _variants(kernel, styles, p):
                    yield f"{kernel} {size_name}={size} {variant}{speed} sync={sync} ranks={p}"


def _kernel_names(names: Sequence[str]) -> Sequence[str]:
    for name in names:
        if name not in KERNELS:
            raise unknown("kernel", name, KERNELS)
    return names or tuple(KERNELS)


def _variants(kernel: str, styles: Iterable[str], ranks: int) -> Iterator[str]:
    """Yields the variants of a kernel. Bitonic sort, and routing along a butterfly, need a power of two of
    ranks."""
    is_power_of_two = ranks & (ranks - 1) == 0
    for style in styles:
        if kernel != "bitonic_sort" or is_power_of_two:
            yield f"style={style}"
        if kernel == "sample_sort" and style == "bpram" and is_power_of_two:
            yield f"style={style} route=butterfly"


def _rate_arguments(kernel: str, machine: Machine) -> str:
    """Returns the rates of a simulated machine, at which its local work is measured as well."""
    rate = described_rate(machine, KERNELS[kernel])
    if not rate:
        return ""
    merge_argument = f" merge_rate={described_rate(machine, 'merge'):.6g}" if kernel in SORTS else ""
    return f" rate={rate:.6g}{merge_argument}"


def _local_work_lines(case: Case, catalog: Catalog, machine: Machine, sync: str) -> Iterator[str]:
    """Yields cases of the local work of a kernel. Copies have the sizes of bsp-parameters."""
    operation = catalog.entry(case.workload).operation
    kernel_work = distinct_local_work(supersteps(operation, case) or ())
    copies = [work for work in LOCAL_WORK if work.operation == "copy"]
    for work in (*kernel_work, *copies):
        if work.values and _is_measurable(work):
            yield from rate_lines(work, case.ranks, catalog, machine, sync)


def _is_measurable(work: LocalWork) -> bool:
    keys = dict(work.values).get("keys")
    return not isinstance(keys, int) or keys >= MIN_KEYS
