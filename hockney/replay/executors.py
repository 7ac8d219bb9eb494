# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A traced program run again by several executors: the evaluator of its graph, and the replayer, which makes
its calls on a simulated, an emulated or this machine. Where they disagree, the call site is named."""

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

LARGEST_DIFFERENCE = 0.05
"""Of a rank's mean time in MPI: call sites that differ by more are named."""
MOST_SITES = 8
RECORDED = "recorded"


@dataclass(frozen=True)
class Execution:
    """A run of the program by one executor, on the `machine` of these costs or on the machine itself. `mpi_s`
    is the mean time of a rank that is not computation; `sites_s` those of each place, None if the executor
    has only sums. `how` says what was done. The recorded run is one too."""

    executor: str
    machine: str
    run_s: Estimate
    mpi_s: float
    sites_s: np.ndarray | None = None
    how: str = ""


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
    """`executions` begin with the recorded one. `same_machine` are the names of executors of the machine on
    which the program ran: only these should agree with it."""

    program: str
    ranks: int
    places: tuple[str, ...]
    executions: tuple[Execution, ...]
    same_machine: frozenset[str]
    caveats: tuple[Caveat, ...] = ()

    @property
    def recorded(self) -> Execution:
        return self.executions[0]

    def error(self, execution: Execution) -> float:
        """The run time relative to the recorded one."""
        return execution.run_s.value / self.recorded.run_s.value - 1 if self.recorded.run_s.value else 0.0

    @property
    def differences(self) -> tuple[SiteDifference, ...]:
        """Call sites at which an executor of the same machine disagrees with the recorded run, the largest
        first."""
        recorded = self.recorded
        if recorded.sites_s is None or recorded.mpi_s <= 0:
            return ()
        found = []
        for each in self.executions[1:]:
            if each.sites_s is None or each.executor not in self.same_machine:
                continue
            shares = (each.sites_s - recorded.sites_s) / recorded.mpi_s
            for k in np.flatnonzero(np.abs(shares) > LARGEST_DIFFERENCE).tolist():
                before, now = float(recorded.sites_s[k]), float(each.sites_s[k])
                found.append(SiteDifference(each.executor, self.places[k], before, now, float(shares[k])))
        return tuple(sorted(found, key=lambda each: -abs(each.share)))

    @property
    def agrees(self) -> bool:
        """Whether all executors of the same machine agree with the recorded run at all call sites, and in the
        time in MPI."""
        mpi_s = self.recorded.mpi_s
        sums = [
            abs(each.mpi_s - mpi_s) <= LARGEST_DIFFERENCE * mpi_s
            for each in self.executions[1:]
            if each.executor in self.same_machine
        ]
        return all(sums) and not self.differences

    @property
    def sentences(self) -> Iterator[str]:
        for each in self.executions[1:]:
            yield (
                f"{each.executor}: {quantity(each.run_s.value, 's')}, "
                f"{format_signed_tenths(self.error(each))} of "
                f"the recorded {quantity(self.recorded.run_s.value, 's')}"
                f"{f' ({each.how})' if each.how else ''}."
            )
        if self.differences:
            sites = dict.fromkeys(each.place for each in self.differences)
            yield (
                f"The replay disagrees with the recorded run at {plural(len(sites), 'call site')}: "
                f"{list_names(list(sites))}."
            )

    @property
    def tables(self) -> tuple[Table, ...]:
        rows = [(self, each) for each in self.executions]
        found = [columns_table("executors", "Run times", EXECUTIONS, rows)]
        if self.differences:
            found.append(columns_table("sites", "Different call sites", SITES, self.differences[:MOST_SITES]))
        return tuple(found)

    @property
    def document(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "program": self.program,
            "ranks": self.ranks,
            "executors": columns_document(EXECUTIONS, [(self, each) for each in self.executions]),
            "agrees": self.agrees,
            "differences": columns_document(SITES, self.differences),
            "call_sites": [
                {
                    "place": place,
                    "seconds": {
                        each.executor: float(each.sites_s[k])
                        for each in self.executions
                        if each.sites_s is not None
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
    Column("", lambda row: row[1].how, key="how"),
)
SITES: tuple[Column[SiteDifference], ...] = (
    Column("call", lambda d: d.place, key="place"),
    Column("executor", lambda d: d.executor, key="executor"),
    Column("recorded", lambda d: d.recorded_s, SECONDS_FORMAT, "recorded_s"),
    Column("replayed", lambda d: d.replayed_s, SECONDS_FORMAT, "replayed_s"),
    Column("of MPI", lambda d: d.share, Format(format_signed_tenths), "share"),
)


def mean_in_mpi(end_s: np.ndarray, computed_s: np.ndarray) -> float:
    """The mean over the ranks of what is not computation (s)."""
    return float(np.mean(np.maximum(end_s - computed_s, 0.0))) if len(end_s) else 0.0
