# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cases that a run adds to its plan while it measures: sizes between those planned, where a cost changes.

Later launches have them among the planned ones, so that all are compared at the same moments. They are not
in `plan.txt`: what a run was asked for is complete without them."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.case import Case
from hockney.core.record import RunRecords
from hockney.lab.bench import Bench
from hockney.models.refined_sizes import sizes_between
from hockney.models.statistics import Observation
from hockney.store import Plan

MOST_SHARE = 0.4
"""Of the cases planned: the time of these is not to be used up by others."""
DECISIONS = ((0.2, 0.6), (0.4, 0.85), (0.6, 1.0))
"""After which part of the launches sizes are added, and up to which part of the most: a gap becomes narrow in
steps, and what is added has launches still to come."""


class Refinement:
    """`cases` are those added so far; a run that is resumed goes on with those that it has records of."""

    def __init__(self, plan: Plan, bench: Bench, run: RunRecords) -> None:
        planned = set(plan.cases)
        self.bench = bench
        self.most = int(MOST_SHARE * len(planned))
        self.decisions = decisions(plan.settings.launches) if plan.settings.refine else {}
        index = {launch.launch: launch.index for launch in run.launches}
        measured = [(record.parsed_case(), index.get(record.launch)) for record in run.records]
        self.cases = tuple(dict.fromkeys(case for case, _ in measured if case not in planned))
        self.done = set(measured)

    def refine(self, rounds: int, observations: Sequence[Observation]) -> tuple[Case, ...]:
        """After so many rounds of launches, add sizes where the observed costs change; what is added."""
        most = int(self.decisions[rounds] * self.most)
        added = tuple(sizes_between(observations, max(0, most - len(self.cases))))
        self.cases += added
        return added

    def along_with(self, case: Case, launch: int) -> list[Case]:
        """Those added that the planned launch of this number, which measures `case`, has still to measure."""
        alike = (added for added in self.cases if self._launch_of(added) == self._launch_of(case))
        return [added for added in alike if (added, launch) not in self.done]

    def _launch_of(self, case: Case) -> tuple[int, str]:
        return case.ranks, self.bench.group_of(case)


def decisions(rounds: int) -> dict[int, float]:
    """After how many of the rounds of launches sizes are added, and up to which share of the most."""
    return {max(1, round(rounds * part)): share for part, share in DECISIONS}
