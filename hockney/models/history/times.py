# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Times measured by the runs of an archive, one for each case of a run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import msgspec


class CaseTime(msgspec.Struct, frozen=True):
    """Typical time of a case in a run (s) with its 95% interval, None if unknown. `level` is the level at
    which its ranks met, in words."""

    case: str
    level: str
    launches: int
    typical_s: float
    low_s: float | None
    high_s: float | None


class RunTimes(msgspec.Struct, frozen=True):
    """Times of all cases of a run, and the facts of its environment by name. `by` identifies the program that
    computed them."""

    by: str
    times: list[CaseTime]
    facts: dict[str, str]


@dataclass(frozen=True)
class DatedRun:
    """A run with its name and date (s since 1970)."""

    name: str
    at_s: float
    times: RunTimes


@dataclass(frozen=True)
class FactChange:
    """A fact about the environment that changed between the previous run and `run`; "" if it was not
    recorded."""

    run: str
    at_s: float
    fact: str
    before: str
    after: str


def fact_changes(runs: list[DatedRun]) -> list[FactChange]:
    """Changes between successive runs, which are in the order of their dates."""
    changes = []
    for earlier, later in pairwise(runs):
        old, new = earlier.times.facts, later.times.facts
        for fact in dict.fromkeys((*old, *new)):
            before, after = old.get(fact, ""), new.get(fact, "")
            if before != after:
                changes.append(FactChange(later.name, later.at_s, fact, before, after))
    return changes
