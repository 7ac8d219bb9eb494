# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The result of a comparison."""

from __future__ import annotations

from dataclasses import dataclass

from hockney.comparison.environment import REPORTED, Difference
from hockney.comparison.side import Side
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.fit import Cost
from hockney.draw.page import Caveat
from hockney.models.comparison import CaseVerdict, Effect, JudgedCases, OperationVerdict, State

ORDER: tuple[State, ...] = ("slower", "faster", "undecided", "unknown", "same")
"""Of operations for readers: what has changed comes first."""


@dataclass(frozen=True)
class Unmatched:
    """A case that only one side measured. `failure` is why the other side has no result, if it tried:
    hung, died, refused, memory, corrupted. `expected`: the other side should have measured it
    (`hockney.comparison.expected`)."""

    case: Case
    failure: str = ""
    expected: bool = False


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
    def paired(self) -> bool:
        """Whether the launches of A and B took turns and count in pairs."""
        return self.judged.paired

    @property
    def effect(self) -> Effect | None:
        """Whether B differs from A at all; None unless the launches of A and B took turns."""
        return self.judged.effect

    @property
    def reported(self) -> tuple[Difference, ...]:
        """The differences in what MPI reports: itself, transport, binding."""
        return tuple(each for each in self.differences if each.name in REPORTED)

    @property
    def cases(self) -> tuple[CaseVerdict, ...]:
        return self.judged.cases

    @property
    def operations(self) -> tuple[OperationVerdict, ...]:
        return self.judged.operations

    @property
    def changed_first(self) -> list[OperationVerdict]:
        """The operations by verdict, then those with the biggest changes first; those that are the same by
        name."""
        return sorted(
            self.operations,
            key=lambda each: (
                ORDER.index(each.state),
                0.0 if each.state == "same" else -max(case.change for case in each.cases),
            ),
        )

    @property
    def state(self) -> State:
        """slower if an operation is; otherwise undecided if one is, or if B failed in a case of A or lacks
        one that it should have; otherwise faster if one is."""
        states: set[State] = {operation.state for operation in self.operations}
        if self.failed or self.missing:
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
    def missing(self) -> tuple[Unmatched, ...]:
        """Cases that A measured, and that B should have measured."""
        return tuple(each for each in self.only_a if each.expected and not each.failure)

    @property
    def several_levels(self) -> bool:
        """Whether operations were measured at more than one level."""
        return len({operation.level for operation in self.operations}) > 1
