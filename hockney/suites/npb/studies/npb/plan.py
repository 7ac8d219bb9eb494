# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases to measure: every benchmark on one rank and on several. On several ranks, also each barrier at
each place where the benchmarks have none."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence

from hockney.core.case import MPI, Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError, unknown
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.models.loggp_sim import message_startup
from hockney.pages.evidence import Options, unique_cases
from hockney.studies.program_costs import communication_needs, cost_cases
from hockney.studies.shared_parameters import (
    PREDICT,
    SURVEY,
    SYNC,
    require_simulated_machine,
    synchronization,
)
from hockney.studies.sizes import default_ranks
from hockney.suites.npb.programs import PIPELINED, program_of
from hockney.suites.npb.programs.program import Indivisible, NpbProgram, uniform_rates

WORKLOADS = ("ep", "cg", "mg", "ft", "is", "lu", "bt", "sp")
"""Compiled on first use."""
PAPER_CHOICE = "paper"
PAPER_CLASSES = {"ep": "W", "mg": "paper", "cg": "A", "lu": "W", "bt": "W"}
"""Krishnamurthy's benchmarks (1998), with the classes of their sizes."""
SMALL_CLASS, MEDIUM_CLASS = "S", "W"
MEDIUM_BUDGET_S = 300.0
"""Budget for class W. Three launches of all benchmarks with the default barriers take about 4 minutes on
one rank and on two, on two shared virtual cores."""
BARRIERS = (MPI, "dissemination", "tournament")
SHARED_MEMORY_BARRIERS = (MPI, "dissemination", "hierarchical")
"""Barriers for ranks that share memory. The last one uses shared memory, and messages between hosts."""

BENCHMARK_NAMES = StudyParameter(
    "kernels",
    "text",
    "benchmarks to measure (default: all), or paper: those of Krishnamurthy (1998)",
    many=True,
    example="cg,lu",
)
CLASS = StudyParameter(
    "class",
    "choice",
    "problem size (default: S, from a budget of 5m on W), or paper: the paper's benchmarks and sizes",
    choices=("S", "W", "A", "B", "C", PAPER_CHOICE),
    example="A",
)
BARRIER = StudyParameter(
    "barrier",
    "text",
    "barriers to place (default: mpi,dissemination and a barrier in shared memory, elsewhere tournament)",
    many=True,
    example="mpi,shm_dissemination",
)
BARRIER_PLACE = StudyParameter(
    "barrier_at",
    "choice",
    "where: after every iteration, after every step of one, or nowhere",
    default="step",
    choices=("none", "iteration", "step"),
    many=True,
    example="iteration,step",
)
RATE = StudyParameter(
    "rate",
    "real",
    "operations per second of a rank of a simulated machine (default: as described)",
    above=0.0,
    high=1e18,
    example="1e8",
)
ARITHMETIC = StudyParameter(
    "arithmetic",
    "choice",
    "none: computing only takes its time, on a simulated machine, and nothing is verified",
    default="real",
    choices=("real", "none"),
)
FAULT = StudyParameter(
    "fault",
    "choice",
    "bit: one bit is inverted half way, which verification must find",
    default="none",
    choices=("none", "bit"),
)
STARTUP = StudyParameter(
    "startup",
    "real",
    "what a message costs a rank: LU, BT and SP divide their pipelines by it (default: as described, or 2us)",
    unit="s",
    above=0.0,
    high=1.0,
    example="50us",
)
PARAMETERS = (
    BENCHMARK_NAMES,
    CLASS,
    BARRIER,
    BARRIER_PLACE,
    RATE,
    STARTUP,
    ARITHMETIC,
    FAULT,
    PREDICT,
    SURVEY,
    SYNC,
)


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """Returns the cases to measure. One rank is always measured, since speed-up is relative to it."""
    if options.sizes:
        raise UsageError(
            "the NAS benchmarks have no message size",
            "--sizes is for workloads with messages of a chosen size",
            "use class=, for example class=A",
            code="benchmarks-have-no-sizes",
        )
    require_simulated_machine(options, machine, RATE, ARITHMETIC)
    ranks = sorted({1, *(options.ranks or default_ranks(machine))})
    lines = [line for name in benchmark_names(options) for line in _case_lines(name, ranks, options, machine)]
    cases = [catalog.case(line) for line in lines]
    if options.value(PREDICT) == "yes" and options.survey is None and machine.platform is None:
        needs = (communication_needs(program.iteration(uniform_rates(1.0))) for program in _programs(cases))
        cases += [catalog.case(line) for line in cost_cases(needs, catalog, machine)]
    return unique_cases(cases)


def _programs(cases: Iterable[Case]) -> Iterator[NpbProgram]:
    """Yields the programs of the cases, except for numbers of ranks among which the benchmark cannot be
    divided. The engine rejects these."""
    for case in cases:
        with contextlib.suppress(Indivisible):
            yield program_of(case)


def benchmark_names(options: Options) -> Sequence[str]:
    """Returns the names of the benchmarks, in the order of WORKLOADS."""
    names = set()
    for name in options.value(BENCHMARK_NAMES):
        if name not in (*WORKLOADS, PAPER_CHOICE):
            raise unknown("benchmark", name, (*WORKLOADS, PAPER_CHOICE), code="unknown-nas-benchmark")
        names |= set(PAPER_CLASSES) if name == PAPER_CHOICE else {name}
    if not names:
        names = set(PAPER_CLASSES if options.value(CLASS) == PAPER_CHOICE else WORKLOADS)
    return [name for name in WORKLOADS if name in names]


def _case_lines(name: str, ranks: Sequence[int], options: Options, machine: Machine) -> Iterator[str]:
    arguments = [name, f"class={_class_of(name, options)}", f"sync={synchronization(options, machine)}"]
    arguments += [f"{parameter.name}={options.value(parameter)}" for parameter in (ARITHMETIC, FAULT)]
    if rate := _rate_value(name, options, machine):
        arguments.append(f"rate={rate:.6g}")
    line = " ".join(arguments)
    places = [barrier_at for barrier_at in options.value(BARRIER_PLACE) if barrier_at != "none"]
    for p in ranks:
        startup = _startup_argument(name, p, options, machine)
        yield f"{line}{startup} ranks={p}"
        for barrier in _barrier_names(options, machine) if p > 1 else ():
            for barrier_at in places:
                yield f"{line}{startup} barrier={barrier} barrier_at={barrier_at} ranks={p}"


def _class_of(name: str, options: Options) -> str:
    class_choice = options.value(CLASS)
    if class_choice == PAPER_CHOICE:
        return PAPER_CLASSES.get(name, MEDIUM_CLASS)
    return str(class_choice or (MEDIUM_CLASS if options.budget_s >= MEDIUM_BUDGET_S else SMALL_CLASS))


def _barrier_names(options: Options, machine: Machine) -> Sequence[str]:
    default = SHARED_MEMORY_BARRIERS if machine.traits.shared_memory else BARRIERS
    return options.value(BARRIER) or default


def _startup_argument(name: str, ranks: int, options: Options, machine: Machine) -> str:
    """Returns the argument for benchmarks with pipelines; empty for the engine's default."""
    described_s = 0.0 if machine.platform is None else message_startup(machine.platform, ranks)
    seconds = float(options.value(STARTUP) or described_s)
    return f" startup={seconds:.6g}" if seconds and name in PIPELINED else ""


def _rate_value(name: str, options: Options, machine: Machine) -> float:
    """Returns the given rate, or else the rate in a simulated machine's description; 0 on other machines."""
    described_rate = 0.0 if machine.platform is None else machine.platform.rate(name)
    return float(options.value(RATE) or described_rate)
