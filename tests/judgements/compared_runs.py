# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of a quiet machine, made by hand."""

from __future__ import annotations

from collections.abc import Sequence

import models_data
import msgspec

from hockney.core.machine import Machine, Mpi
from hockney.core.record import SCHEMA, Launch, Rank, Record, RunRecords
from hockney.core.settings import Settings
from hockney.judgements.sides import MeasuredRun, Side
from hockney.system.bundled import bundled_catalog

CATALOG = bundled_catalog()
MPI = Mpi(family="openmpi", version="5.0.8", prefix="/opt/old", mpicxx="", mpiexec="", source="path")
MACHINE = Machine(
    schema=SCHEMA, kind="real", host="node7", system="Linux", cpu="CPU", cores=4, threads=4, hockney="1",
    mpi=MPI, governor="performance", settings={"OMPI_MCA_btl": "self,sm"},
)  # fmt: skip
CASES = ("bcast bytes=64 ranks=2", "bcast bytes=1024 ranks=4", "barrier ranks=2")


def launch(name: str, ranks: int, hosts: Sequence[str] = ("node7",), index: int = 0) -> Launch:
    placed = [Rank(host=hosts[k % len(hosts)], pid=k, cpus=str(k)) for k in range(ranks)]
    return models_data.launch(name, index=index, started_s=1.7e9, ranks=placed, binding="core")


def run(
    lines: Sequence[str] = CASES,
    machine: Machine = MACHINE,
    factor: float = 1.0,
    hosts: Sequence[str] = ("node7",),
    launches: int | Sequence[int] = 6,
    scatter: Sequence[float] = (),
    **settings: object,
) -> MeasuredRun:
    """A quiet run: each case in each launch with as many ranks. `launches` are their number, or their
    numbers; `scatter` has an additional factor for each."""
    cases = [CATALOG.case(line) for line in lines]
    made: list[Launch] = []
    records: list[Record] = []
    numbers = range(launches) if isinstance(launches, int) else launches
    for place, number in enumerate(numbers):
        time_s = 1e-6 * factor * (scatter[place] if scatter else 1 + 0.001 * number)
        for ranks in sorted({case.ranks for case in cases}):
            made.append(launch(f"{number}.{ranks}", ranks, hosts, number))
            for case in (case for case in cases if case.ranks == ranks):
                one = models_data.record(case, made[-1].launch, [time_s] * 20)
                records.append(msgspec.structs.replace(one, started_s=1.7e9 + number))
    chosen = Settings(**{"study": "cases", **settings})
    return MeasuredRun("a run", machine, RunRecords(tuple(made), tuple(records)), chosen, CATALOG)


def side(name: str, *runs: MeasuredRun) -> Side:
    return Side(name, runs or (run(),))


def changed(**fields: object) -> Machine:
    return msgspec.structs.replace(MACHINE, **fields)
