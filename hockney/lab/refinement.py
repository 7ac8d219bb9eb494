# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cases that a run adds while it measures: sizes between the planned ones, around changes of a cost.

Later launches include them among the planned cases, so that all are measured under the same conditions. They
are not in `plan.txt`: the requested run is complete without them."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.case import Case
from hockney.core.record import RunRecords
from hockney.core.settings import FEWEST_LAUNCHES
from hockney.lab.bench import Bench
from hockney.models.refined_sizes import sizes_between
from hockney.models.statistics import Observation
from hockney.store import Plan

MOST_SHARE = 0.4
"""Maximum relative to the planned cases, whose time must not be used up by added ones."""
DECISIONS = ((0.2, 0.6), (0.4, 0.85), (0.6, 1.0))
"""After which fraction of the launches sizes are added, and up to which fraction of the maximum: gaps become
narrow in steps, and added cases need launches still to come."""


class Refinement:
    """`cases` are those added so far; a resumed run continues with those for which it has records. If the
    budget is so small that hockney chose the fewest launches, the planned cases need all of it."""

    def __init__(self, plan: Plan, bench: Bench, run: RunRecords) -> None:
        planned = set(plan.cases)
        self.bench = bench
        self.most = int(MOST_SHARE * len(planned))
        few = plan.settings.extend and plan.settings.launches <= FEWEST_LAUNCHES
        self.decisions = decisions(plan.settings.launches) if plan.settings.refine and not few else {}
        index = {launch.launch: launch.index for launch in run.launches}
        measured = [(record.parsed_case(), index.get(record.launch)) for record in run.records]
        self.cases = tuple(dict.fromkeys(case for case, _ in measured if case not in planned))
        self.done = set(measured)

    def refine(self, rounds: int, observations: Sequence[Observation]) -> tuple[Case, ...]:
        """After this number of rounds of launches, add sizes around changes of the observed costs; returns
        the added cases."""
        most = int(self.decisions[rounds] * self.most)
        added = tuple(sizes_between(observations, max(0, most - len(self.cases))))
        self.cases += added
        return added

    def along_with(self, case: Case, launch: int) -> list[Case]:
        """The added cases that the planned launch of this number, which measures `case`, has still to
        measure."""
        launch_of = self.bench.launch_of
        alike = (added for added in self.cases if launch_of(added) == launch_of(case))
        return [added for added in alike if (added, launch) not in self.done]


def decisions(rounds: int) -> dict[int, float]:
    """The numbers of rounds after which sizes are added, and up to which share of the maximum."""
    return {max(1, round(rounds * part)): share for part, share in DECISIONS}
