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
from hockney.measurement.bench import Bench
from hockney.models.refined_sizes import sizes_between
from hockney.models.statistics import Observation
from hockney.store import Plan, additions

MOST_SHARE = 0.4
"""Maximum relative to the planned cases, whose time must not be used up by added ones."""


class Refinement:
    """`cases` are those added so far, including those of `run`, which a resumed run continues with; `new` are
    those added here. If the budget is so small that hockney chose the fewest launches, the planned cases need
    all of it."""

    def __init__(self, plan: Plan, bench: Bench, run: RunRecords) -> None:
        planned = set(plan.cases)
        self.bench = bench
        self.most = int(MOST_SHARE * len(planned))
        few = plan.settings.extend and plan.settings.launches <= FEWEST_LAUNCHES
        self.additions = additions(plan.settings.launches) if plan.settings.refine and not few else {}
        measured = dict.fromkeys(record.parse_case() for record in run.records)
        self.cases = tuple(case for case in measured if case not in planned)
        self.new: tuple[Case, ...] = ()

    def refine(self, rounds: int, observations: Sequence[Observation]) -> tuple[Case, ...]:
        """Add sizes around changes of the observed costs after this number of rounds of launches; returns the
        added cases."""
        most = int(self.additions[rounds] * self.most)
        added = tuple(sizes_between(observations, max(0, most - len(self.cases))))
        self.cases += added
        self.new += added
        return added

    def along_with(self, case: Case) -> list[Case]:
        """The cases added here that a later launch, which measures `case`, measures as well. What `run` lacks
        of those added before is among the work left (`store.left`)."""
        launch_of = self.bench.launch_of
        return [added for added in self.new if launch_of(added) == launch_of(case)]
