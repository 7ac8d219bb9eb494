# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of a reproduction, and their results."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import median

from hockney import models
from hockney.core.case import Case, Value
from hockney.core.catalog import Catalog, Workload
from hockney.core.fit import Fits
from hockney.core.machine import Machine
from hockney.core.platform import Platform
from hockney.core.record import SCHEMA, Record, RunRecords


@dataclass(frozen=True)
class Part:
    """Cases on one machine, in a run folder called `name`.

    `machine` is the described machine of the paper: the value of --machine without "sim:", such as "t3e",
    "t3e+full-duplex", "paragon-10x1". It is simulated, unless the cases are measured on the machine `on` (a
    value of --machine). Then they are measured in `launches` launches and about `budget_s` seconds (0:
    simulated cases end by themselves). `workloads` are the catalog's entries of the cases, if models are to
    be fitted to their results.
    """

    name: str
    machine: str
    cases: tuple[Case, ...]
    workloads: tuple[Workload, ...] = ()
    on: str = ""
    launches: int = 1
    budget_s: float = 0.0


@dataclass(frozen=True)
class Answer:
    """The results of a part's run so far. `platform` is the described machine, `machine` the machine that the
    run measured (None if nothing depends on it)."""

    part: Part
    platform: Platform
    run: RunRecords
    machine: Machine | None = None

    def seconds(self, workload: str, **values: Value) -> float | None:
        """Return the time of the part's single case with these parameters (including `ranks`), as the median
        of its repetitions; None if it was not measured."""
        times = [time_s for record in self.records(workload, **values) for time_s in record.times_s]
        return median(times) if times else None

    def records(self, workload: str, **values: Value) -> list[Record]:
        """Return the records of the part's single case with these parameters."""
        return self._records.get(self.case(workload, **values).line, [])

    def case(self, workload: str, **values: Value) -> Case:
        """Return the part's single case with these parameters."""
        cases = [
            case
            for case in self.part.cases
            if case.workload == workload and values.items() <= case.values.items()
        ]
        if len(cases) != 1:
            raise LookupError(f"{len(cases)} cases of {self.part.name} are {workload} with {values}, not one")
        return cases[0]

    @cached_property
    def fits(self) -> Fits:
        """Summaries and models of the part's results."""
        catalog = Catalog(schema=SCHEMA, engine="", workloads=list(self.part.workloads))
        return models.fit_all(self.run, catalog, cores=None)

    @cached_property
    def _records(self) -> dict[str, list[Record]]:
        return self.run.by_case()
