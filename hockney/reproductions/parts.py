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
    "t3e+full-duplex", "paragon-10x1". It is simulated, unless the cases are measured `on` another, the
    value of --machine: then in `launches` launches and about `budget_s` seconds (0: simulated cases end by
    themselves). `workloads` are the catalog's entries of the cases, if models are to be fitted to their
    results.
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
    """The results of a part's run so far; `platform` is the described machine, `machine` the one that the run
    measured (None: nothing depends on it)."""

    part: Part
    platform: Platform
    run: RunRecords
    machine: Machine | None = None

    def seconds(self, workload: str, **fixed: Value) -> float | None:
        """Time of the part's single case with these parameters (`ranks` is one of them): the median of its
        repetitions; None if it was not measured."""
        times = [t for r in self.records(workload, **fixed) for t in r.times_s]
        return median(times) if times else None

    def records(self, workload: str, **fixed: Value) -> list[Record]:
        """The records of the part's single case with these parameters."""
        return self._records.get(self.case(workload, **fixed).line, [])

    def case(self, workload: str, **fixed: Value) -> Case:
        """The part's single case with these parameters."""
        cases = [c for c in self.part.cases if c.workload == workload and fixed.items() <= c.values.items()]
        if len(cases) != 1:
            raise LookupError(f"{len(cases)} cases of {self.part.name} are {workload} with {fixed}, not one")
        return cases[0]

    @cached_property
    def fits(self) -> Fits:
        """Summaries and models of the part's results."""
        catalog = Catalog(schema=SCHEMA, engine="", workloads=list(self.part.workloads))
        return models.fit_all(self.run, catalog, cores=None)

    @cached_property
    def _records(self) -> dict[str, list[Record]]:
        return self.run.by_case()
