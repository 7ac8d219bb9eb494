# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which algorithm comes nearest to the T3E's printed times, and which times none of them reaches.

The paper does not print the algorithms of the T3E's MPI. One whose simulated times are near is a possible
explanation, not a proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log

from hockney.reproductions.compared import CLOSE, Compared
from hockney.suites.papers.reproductions.t3e_cases import OPERATIONS, SIZES

NEAR = CLOSE[-1]
TIE = 1.03


@dataclass(frozen=True)
class Match:
    """How near an algorithm comes to the printed times of one size on PROCESSES. `factor` is the geometric
    mean of the factors, 1 or more, between simulated and published times, of those that were simulated."""

    operation: str
    size: str
    algorithm: str
    errors: tuple[float | None, ...]
    factor: float

    @property
    def complete(self) -> bool:
        return None not in self.errors

    @property
    def near(self) -> int:
        """How many times are within NEAR."""
        return sum(error is not None and abs(error) <= NEAR for error in self.errors)


def matches(compared: Iterable[Compared]) -> dict[tuple[str, str], list[Match]]:
    """The algorithms by operation and size, the nearest first. Those that were not simulated on all PROCESSES
    follow the others; those that were not simulated at all are left out."""
    grouped: dict[tuple[str, str, str], list[Compared]] = {}
    for row in compared:
        if row.series == "algorithms":
            grouped.setdefault((*_place(row), row.mechanism.partition("=")[2]), []).append(row)
    found: dict[tuple[str, str], list[Match]] = {}
    for (operation, size, algorithm), each in grouped.items():
        ratios = [_ratio(row) for row in each if row.simulated]
        if ratios:
            errors = tuple(row.error for row in each)
            match = Match(operation, size, algorithm, errors, exp(sum(ratios) / len(ratios)))
            found.setdefault((operation, size), []).append(match)
    for several in found.values():
        several.sort(key=lambda match: (not match.complete, match.factor))
    asked = [(operation, size) for operation in OPERATIONS for size in SIZES]
    return {key: found[key] for key in asked if key in found}


def nearest(compared: Iterable[Compared]) -> list[Match]:
    """The nearest algorithm of each operation and size."""
    return [several[0] for several in matches(compared).values()]


def tied(several: Sequence[Match]) -> list[Match]:
    """The nearest algorithm, and others that are as near but for TIE: the times do not tell them apart."""
    first = several[0]
    return [
        match for match in several if match.complete == first.complete and match.factor <= TIE * first.factor
    ]


def unexplained(compared: Sequence[Compared]) -> list[Compared]:
    """The printed times that the nearest algorithm of their operation and size misses by more than NEAR; an
    algorithm that comes near on one number of processes only is a coincidence."""
    first = {(match.operation, match.size): match.algorithm for match in nearest(compared)}
    rows = [row for row in compared if row.series == "algorithms"]
    own = [row for row in rows if first.get(_place(row)) == row.mechanism.partition("=")[2]]
    return [row for row in own if row.error is not None and abs(row.error) > NEAR]


def out_of_reach(compared: Iterable[Compared]) -> set[str]:
    """The keys of the printed times that no algorithm reaches within NEAR."""
    rows = [row for row in compared if row.series == "algorithms" and row.error is not None]
    near = {row.key for row in rows if abs(row.error or 0.0) <= NEAR}
    return {row.key for row in rows} - near


def _place(row: Compared) -> tuple[str, str]:
    """Operation and size."""
    operation, size = row.key.split("/")[2:4]
    return operation, size


def _ratio(row: Compared) -> float:
    return abs(log((row.simulated or 0.0) / row.published))
