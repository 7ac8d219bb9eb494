# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a small budget reduced the grid: the measured cases, compared with the plan for any budget."""

from __future__ import annotations

import math

from hockney.core.case import Case
from hockney.core.units import typed_seconds
from hockney.draw.page import Caveat
from hockney.models.least_time import least_of
from hockney.pages.evidence import Evidence, Options
from hockney.pages.format import quantity
from hockney.studies.granularity.plan import ROUNDS, plan

NAME = "granularity"


def caveat(evidence: Evidence) -> Caveat | None:
    """What the budget left out; None if nothing. Of a simulated or unfinished run nothing can be inferred."""
    measured = _together([m.case for m in evidence.of(NAME)])
    if not measured or evidence.left or evidence.machine.traits.simulated:
        return None
    ranks = tuple(sorted({case.ranks for case in measured}))
    options = Options(ranks=ranks, surveyed=evidence.surveyed, budget_s=math.inf)
    whole = plan(options, evidence.catalog, evidence.machine)
    works, all_works = _values(measured, "work"), _values(_together(whole), "work")
    fewer_works = works != all_works and works == all_works[: len(works)]
    details = any(case.get("shares") != "equal" for case in measured)
    if details and not fewer_works:
        return None
    enough = typed_seconds(ROUNDS * least_of(whole))
    budget = typed_seconds(evidence.settings.budget_s)
    return _grid_reduced(budget, works[-1] if fewer_works else None, details, enough)


def _together(cases: list[Case]) -> list[Case]:
    """The cases of the grid on several ranks."""
    return [case for case in cases if case.workload == NAME and case.ranks > 1]


def _values(cases: list[Case], parameter: str) -> list[float]:
    return sorted({case.number(parameter) for case in cases})


def _grid_reduced(budget: str, longest_s: float | None, details: bool, enough: str) -> Caveat:
    """`longest_s` is the longest work measured, if longer ones were left out; `details`: uneven work and
    other exchanges were measured. `budget` and `enough` are as typed after --budget."""
    missing = [] if longest_s is None else [f"work longer than {quantity(longest_s, 's')}"]
    if not details:
        missing.append("uneven work and exchanges with other MPI calls")
    return Caveat(
        "grid-reduced",
        f"a budget of {budget} is too small for the whole grid, which lacks {' and '.join(missing)}",
        "the extent of the grid",
        f"use --budget {enough} or more",
    )
