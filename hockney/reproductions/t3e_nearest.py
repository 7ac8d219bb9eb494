# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which algorithm comes nearest to the T3E's printed times, and which times none of them reaches.

The paper does not print the algorithms of the T3E's MPI. One whose simulated times are near is a possible
explanation, not a proof.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log

from hockney.reproductions.compared import CLOSE, Compared
from hockney.reproductions.t3e_cases import OPERATIONS, SIZES

NEAR = CLOSE[-1]


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
    """By operation and size, the nearest algorithm first. Those that were not simulated on all PROCESSES
    follow the others, those that were not simulated at all are left out."""
    grouped: dict[tuple[str, str, str], list[Compared]] = {}
    for row in compared:
        if row.series == "algorithms":
            operation, size = row.key.split("/")[2:4]
            grouped.setdefault((operation, size, row.mechanism.partition("=")[2]), []).append(row)
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


def unexplained(compared: Iterable[Compared]) -> list[Compared]:
    """The printed times that no algorithm reaches within NEAR: a row of each, that of the nearest one."""
    by_key: dict[str, list[Compared]] = {}
    for row in compared:
        if row.series == "algorithms" and row.simulated:
            by_key.setdefault(row.key, []).append(row)
    best = [min(rows, key=_ratio) for rows in by_key.values()]
    return [row for row in best if abs(row.error or 0.0) > NEAR]


def _ratio(row: Compared) -> float:
    return abs(log((row.simulated or 0.0) / row.published))
