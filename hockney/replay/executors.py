# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Compares executions of a traced program: by the evaluator of its graph, and by the replayer, which makes
its calls on a simulated or emulated machine or on this one. Names the call sites at which they disagree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hockney.core.fit import Estimate
from hockney.core.wording import list_names, plural
from hockney.draw.page import Caveat, Table
from hockney.pages.columns import INTERVAL_HEADING, SECONDS_FORMAT, Column, Format, columns_document
from hockney.pages.format import format_signed_tenths, quantity
from hockney.profiles.columns import columns_table

MAX_DIFFERENCE = 0.05
"""Call sites that differ by a larger share of a rank's mean time in MPI are named."""
MAX_SITES = 8
RECORDED = "recorded"


@dataclass(frozen=True)
class Execution:
    """A run of the program by one executor on `machine`. `mpi_s` is a rank's mean time outside of
    computation, and `sites_s` is that time by place (None if the executor has only sums). `method` describes
    the run. The recorded run is an Execution too."""

    executor: str
    machine: str
    run_s: Estimate
    mpi_s: float
    sites_s: np.ndarray | None = None
    method: str = ""


@dataclass(frozen=True)
class SiteDifference:
    """The mean times (s) of a rank at one place, as recorded and by an executor, and their difference as a
    share of a rank's recorded time in MPI."""

    executor: str
    place: str
    recorded_s: float
    replayed_s: float
    share: float


@dataclass(frozen=True)
class Replay:
    """Executions of one program, the recorded one first. `same_machine` contains the executors of the machine
    on which the program ran. Only these should agree with the recorded run."""

    program: str
    ranks: int
    places: tuple[str, ...]
    executions: tuple[Execution, ...]
    same_machine: frozenset[str]
    caveats: tuple[Caveat, ...] = ()

    @property
    def recorded_run(self) -> Execution:
        return self.executions[0]

    def error(self, execution: Execution) -> float:
        """The error of the run time relative to the recorded one."""
        return (
            execution.run_s.value / self.recorded_run.run_s.value - 1
            if self.recorded_run.run_s.value
            else 0.0
        )

    @property
    def differences(self) -> tuple[SiteDifference, ...]:
        """Call sites at which an executor of the same machine disagrees with the recorded run, largest
        first."""
        recorded_run = self.recorded_run
        if recorded_run.sites_s is None or recorded_run.mpi_s <= 0:
            return ()
        differences = []
        for execution in self.executions[1:]:
            if execution.sites_s is None or execution.executor not in self.same_machine:
                continue
            shares = (execution.sites_s - recorded_run.sites_s) / recorded_run.mpi_s
            for k in np.flatnonzero(np.abs(shares) > MAX_DIFFERENCE).tolist():
                recorded_s, replayed_s = float(recorded_run.sites_s[k]), float(execution.sites_s[k])
                differences.append(
                    SiteDifference(
                        execution.executor, self.places[k], recorded_s, replayed_s, float(shares[k])
                    )
                )
        return tuple(sorted(differences, key=lambda execution: -abs(execution.share)))

    @property
    def agrees(self) -> bool:
        """Whether all executors of the same machine agree with the recorded run at each call site and in
        total."""
        mpi_s = self.recorded_run.mpi_s
        mpi_agrees = [
            abs(execution.mpi_s - mpi_s) <= MAX_DIFFERENCE * mpi_s
            for execution in self.executions[1:]
            if execution.executor in self.same_machine
        ]
        return all(mpi_agrees) and not self.differences

    @property
    def sentences(self) -> Iterator[str]:
        for execution in self.executions[1:]:
            yield (
                f"{execution.executor}: {quantity(execution.run_s.value, 's')}, "
                f"{format_signed_tenths(self.error(execution))} of the recorded "
                f"{quantity(self.recorded_run.run_s.value, 's')}"
                f"{f' ({execution.method})' if execution.method else ''}."
            )
        if self.differences:
            sites = dict.fromkeys(execution.place for execution in self.differences)
            yield (
                f"The replay disagrees with the recorded run at {plural(len(sites), 'call site')}: "
                f"{list_names(list(sites))}."
            )

    @property
    def tables(self) -> tuple[Table, ...]:
        rows = [(self, execution) for execution in self.executions]
        tables = [columns_table("executors", "Run times", EXECUTIONS, rows)]
        if self.differences:
            tables.append(columns_table("sites", "Different call sites", SITES, self.differences[:MAX_SITES]))
        return tuple(tables)

    @property
    def document(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "program": self.program,
            "ranks": self.ranks,
            "executors": columns_document(EXECUTIONS, [(self, execution) for execution in self.executions]),
            "agrees": self.agrees,
            "differences": columns_document(SITES, self.differences),
            "call_sites": [
                {
                    "place": place,
                    "seconds": {
                        execution.executor: float(execution.sites_s[k])
                        for execution in self.executions
                        if execution.sites_s is not None
                    },
                }
                for k, place in enumerate(self.places)
            ],
            "warnings": list(self.caveats),
        }


EXECUTIONS: tuple[Column[tuple[Replay, Execution]], ...] = (
    Column("executor", lambda row: row[1].executor, key="executor"),
    Column("machine", lambda row: row[1].machine, key="machine"),
    Column("run time", lambda row: row[1].run_s, SECONDS_FORMAT, "run_s", INTERVAL_HEADING),
    Column("to recorded", lambda row: row[0].error(row[1]), Format(format_signed_tenths), "error"),
    Column("in MPI", lambda row: row[1].mpi_s, SECONDS_FORMAT, "mpi_s"),
    Column("", lambda row: row[1].method, key="how"),
)
SITES: tuple[Column[SiteDifference], ...] = (
    Column("call", lambda row: row.place, key="place"),
    Column("executor", lambda row: row.executor, key="executor"),
    Column("recorded", lambda row: row.recorded_s, SECONDS_FORMAT, "recorded_s"),
    Column("replayed", lambda row: row.replayed_s, SECONDS_FORMAT, "replayed_s"),
    Column("of MPI", lambda row: row.share, Format(format_signed_tenths), "share"),
)


def mean_in_mpi(end_s: np.ndarray, computed_s: np.ndarray) -> float:
    """The mean time over the ranks that is not computation (s)."""
    return float(np.mean(np.maximum(end_s - computed_s, 0.0))) if len(end_s) else 0.0
