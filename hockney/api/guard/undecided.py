# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which cases of a check need more launches: those that may be slower than in the baseline.

A case that looks slower is measured until the budget ends as well, and not only until it looks slower:
stopping at the first significant ratio would raise the number of false alarms with each look (P. Armitage,
C. K. McPherson, B. C. Rowe, J. R. Statist. Soc. A 132 (1969) 235). What is the same or faster is not measured
again: that only makes fewer alarms. Launches of the new run beyond several times those of the baseline decide
nothing: the interval of their ratio is then that of the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hockney.comparison import MeasuredRun, Side, compare
from hockney.core.case import Case
from hockney.core.errors import Inconclusive
from hockney.core.fit import Cost
from hockney.core.record import RunRecords
from hockney.core.settings import Settings
from hockney.lab import Bench
from hockney.models.comparison import FEWEST_LAUNCHES, CaseVerdict

AGAIN = 1.25
"""The comparison is repeated when there are this many times as many launches: it takes time, too."""
MOST_LAUNCHES = 4
"""Launches of a case for each one in the baseline: with more, the interval of the ratio shrinks by a tenth at
most."""


@dataclass
class Undecided:
    """`side` is the baseline; the new run is measured on the `bench`."""

    side: Side
    bench: Bench
    settings: Settings
    tolerance: float
    cost: Cost = "typical"
    compared_at: int = field(default=0, init=False)
    found: set[Case] = field(default_factory=set, init=False)

    def __call__(self, cases: Sequence[Case], run: RunRecords) -> Sequence[Case]:
        if not self.compared_at or len(run.launches) >= AGAIN * self.compared_at:
            self.compared_at = len(run.launches)
            self.found = self._compare(run)
        return [case for case in cases if case in self.found]

    def _compare(self, run: RunRecords) -> set[Case]:
        new = MeasuredRun("", self.bench.machine, run, self.settings, self.bench.catalog)
        try:
            compared = compare(self.side, Side("B", (new,)), self.tolerance, self.cost)
        except Inconclusive:  # nothing was measured
            return set()
        return {each.case for each in compared.cases if self._is_open(each)}

    def _is_open(self, each: CaseVerdict) -> bool:
        """A ratio without an interval gets one only by launches that are missing here."""
        before, now = each.launches
        if each.state == "unknown":
            return now < FEWEST_LAUNCHES
        enough = not self.side.exact and now >= MOST_LAUNCHES * before
        return each.state in ("undecided", "slower") and not enough
