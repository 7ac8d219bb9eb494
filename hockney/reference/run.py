# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of a published machine to a run, so that fits, figures and tables treat printed numbers like
measured ones.

A row with a case becomes a record of one repetition. A formula becomes one record for each size at which it
is drawn. The origin of the records states that nothing was measured here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from hockney import __version__
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import Inconclusive
from hockney.core.machine import Machine, Traits
from hockney.core.record import (
    SCHEMA,
    Clock,
    Launch,
    Rank,
    Record,
    RunRecords,
    Stop,
    Sync,
    SyncKind,
    Verified,
)
from hockney.reference.papers import Published

TRAITS = Traits(origin="published", noiseless=True, local=False, shared_memory=False, wall_clock=False)


def run_of(paper: Published, catalog: Catalog) -> tuple[Machine, RunRecords]:
    """Convert the machine of `paper` (exactly one, see `Published.of`) and its numbers to records.

    Cases are completed by `catalog`. Numbers for the same number of ranks share a launch. If a paper prints
    two numbers for one case, the second is in a separate launch. Raises Inconclusive if no number corresponds
    to a case of the engine.
    """
    machine = paper.machines[0]
    printed_times = list(_printed_times(paper, catalog))
    if not printed_times:
        raise Inconclusive(
            f"no published number for {machine.name} can be compared",
            "none of them corresponds to a case that hockney measures",
            f"'hockney machines --show {machine.name}' prints the published numbers",
            code="no-printed-cases",
            machine=machine.name,
        )
    occurrences: dict[Case, int] = {}
    cases_by_launch: dict[tuple[int, int], list[tuple[Case, float]]] = {}
    for case, seconds in printed_times:
        occurrences[case] = occurrences.get(case, 0) + 1
        cases_by_launch.setdefault((case.ranks, occurrences[case]), []).append((case, seconds))
    launches = []
    records = []
    for index, key in enumerate(sorted(cases_by_launch)):
        launches.append(_launch(machine.name, index, ranks=key[0]))
        for position, (case, seconds) in enumerate(cases_by_launch[key]):
            records.append(_record(case, catalog, seconds, launches[-1].launch, position))
    return _machine(paper, max(ranks for ranks, _ in cases_by_launch)), RunRecords(
        tuple(launches), tuple(records)
    )


def _printed_times(paper: Published, catalog: Catalog) -> Iterator[tuple[Case, float]]:
    for formula in paper.formulas:
        if formula.case:
            for size in formula.sizes():
                yield catalog.case(f"{formula.case} bytes={size}", formula.ranks), formula.time(size)
    for row in paper.rows:
        if row.case and row.ranks is not None:
            yield catalog.case(row.case, row.ranks), row.si


def _launch(name: str, index: int, ranks: int) -> Launch:
    return Launch(
        schema=SCHEMA,
        launch=f"published-{index}",
        index=index,
        origin=TRAITS.origin,
        started_s=0.0,
        ranks=[Rank(host=name, pid=0, cpus="")] * ranks,
        mpi_standard="",
        library="",
        engine="",
        compiler="",
        clock=Clock(overhead_s=0.0, resolution_s=0.0),
    )


def _record(case: Case, catalog: Catalog, seconds: float, launch: str, position: int) -> Record:
    return Record(
        schema=SCHEMA,
        launch=launch,
        origin=TRAITS.origin,
        position=position,
        case=case.line,
        started_s=0.0,
        times_s=[seconds],
        batch=1,
        warmup_s=[],
        bytes_moved=catalog.entry(case.workload).payload_bytes(case),
        sync=Sync(kind=cast(SyncKind, case.get("sync", "none"))),
        stop=Stop(reason="repetitions", precision=0.0, achieved=None),
        verified=Verified(bytes=0, errors=0),
    )


def _machine(paper: Published, ranks: int) -> Machine:
    machine = paper.machines[0]
    return Machine(
        schema=SCHEMA,
        kind="published",
        traits=TRAITS,
        host=machine.name,
        system="",
        cpu=machine.title,
        cores=ranks,
        threads=ranks,
        hockney=__version__,
        citation=paper.citation,
        notes=[machine.text, *paper.method, *paper.transcription, *paper.inconsistencies],
    )
