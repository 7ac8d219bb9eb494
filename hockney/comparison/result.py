# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The result of a comparison."""

from __future__ import annotations

from dataclasses import dataclass

from hockney.comparison.environment import Difference
from hockney.comparison.side import Side
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.fit import Cost
from hockney.draw.page import Caveat
from hockney.models.comparison import CaseVerdict, JudgedCases, OperationVerdict, State


@dataclass(frozen=True)
class Unmatched:
    """A case that only one side measured. `failure` is why the other side has no result, if it tried:
    hung, died, refused, memory, corrupted."""

    case: Case
    failure: str = ""


@dataclass(frozen=True)
class ComparedSides:
    """Times of B relative to those of A. `differences` are those of their environments, `caveats` reasons
    to doubt the result; `catalog` defines the workloads."""

    a: Side
    b: Side
    cost: Cost
    judged: JudgedCases
    only_a: tuple[Unmatched, ...]
    only_b: tuple[Unmatched, ...]
    differences: tuple[Difference, ...]
    caveats: tuple[Caveat, ...]
    catalog: Catalog

    @property
    def tolerance(self) -> float:
        return self.judged.tolerance

    @property
    def cases(self) -> tuple[CaseVerdict, ...]:
        return self.judged.cases

    @property
    def operations(self) -> tuple[OperationVerdict, ...]:
        return self.judged.operations

    @property
    def state(self) -> State:
        """slower if an operation is; otherwise undecided if one is, or if B failed in a case of A; otherwise
        faster if one is."""
        states: set[State] = {operation.state for operation in self.operations}
        if self.failed:
            states.add("undecided")
        if "unknown" in states:
            states.add("undecided")
        order: tuple[State, ...] = ("slower", "undecided", "faster", "same")
        return next(state for state in order if state in states)

    def of(self, *states: State) -> list[CaseVerdict]:
        """The cases with these verdicts, biggest changes first."""
        return [each for each in self.judged.biggest_first if each.state in states]

    @property
    def failed(self) -> tuple[Unmatched, ...]:
        """Cases that A measured and on which B failed."""
        return tuple(each for each in self.only_a if each.failure)

    @property
    def several_levels(self) -> bool:
        """Whether operations were measured at more than one level."""
        return len({operation.level for operation in self.operations}) > 1
