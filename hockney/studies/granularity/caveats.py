# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""The warnings of this study: those of every run, and those of its grid."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hockney.core.case import Case
from hockney.core.fit import Estimate
from hockney.core.units import format_time_option
from hockney.core.wording import join_words, list_names, plural
from hockney.draw.page import Caveat
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.least_time import least_of
from hockney.pages import caveats as general
from hockney.pages.evidence import Evidence, Options
from hockney.pages.format import format_share, quantity
from hockney.pages.labels import case_labels
from hockney.studies.granularity.columns import length, plain_length, share
from hockney.studies.granularity.plan import ROUNDS, plan
from hockney.studies.granularity.results import Cell, crowded_counts

MISSED_SHARE = 0.01
"""Computing should take the preset time to within 1%."""
MIN_WORK_S = 1e-4
"""For shorter works the error is only given in the table."""


NEGLIGIBLE_EXCESS = 0.02
"""No clock and no interval is better than this; one rank has an efficiency of exactly 1."""


def caveats(
    evidence: Evidence, measured: Sequence[Cell], messages: PointToPointCosts | None, cores: int
) -> tuple[Caveat, ...]:
    """All caveats of the run, with the effect of oversubscription on efficiencies; then those of this
    study."""
    crowded = crowded_counts(measured, cores)
    listed = [
        oversubscribed_caveat(crowded, cores) if crowded and c.caveat.code == "oversubscribed" else c.caveat
        for c in general.caveats(evidence)
        if c.caveat.code != "poor-fit"  # `_poor_fit` has it
    ]
    if crowded and not any(w.code == "oversubscribed" for w in listed):
        listed.append(oversubscribed_caveat(crowded, cores))
    more = (
        _reduced_grid(evidence),
        _missed_preset(evidence),
        _above_one(measured),
        _poor_fit(messages),
        _unknown_sizes(measured, messages),
    )
    return (*listed, *(w for w in more if w is not None))


def _missed_preset(evidence: Evidence) -> Caveat | None:
    """Computing that missed its preset."""
    bad = [
        r
        for r in evidence.run.records
        if (r.metric("work") or 0.0) >= MIN_WORK_S and (r.metric("work_error") or 0.0) > MISSED_SHARE
    ]
    if not bad:
        return None
    worst = max(bad, key=lambda r: r.metric("work_error") or 0.0)
    cases = sorted(set(map(case_labels(evidence), (r.case for r in bad))))
    work_s = worst.metric("work") or 0.0
    error = worst.metric("work_error") or 0.0
    return Caveat(
        "preset",
        f"in {plural(len(bad), 'measurement')} the ranks did not compute for the preset time: the worst "
        f"missed {quantity(work_s, 's')} by {format_share(error)}",
        list_names(list(cases)),
        "efficiencies are based on measured serial times, so this matters where ranks differ; "
        "measure again on a quiet machine",
    )


def _above_one(measured: Sequence[Cell]) -> Caveat | None:
    """Efficiencies that exceed 1 by more than their interval."""
    above = [cell for cell in measured if _exceeds_one(cell.efficiency)]
    if not above:
        return None
    most = max(above, key=lambda cell: cell.efficiency.value)
    low = most.efficiency.low
    bound = "no interval" if low is None else f"95%: at least {share(low)}"
    return Caveat(
        "efficiency-above-one",
        f"efficiencies above 100% in {plural(len(above), 'cell')}, up to {share(most.efficiency.value)} "
        f"({bound}): the machine was slower while one rank was measured",
        f"those cells; the highest has T = {quantity(most.work_s, 's')} and {plain_length(most.bytes)} on "
        f"{most.ranks} ranks",
        "measure again on a quiet machine, with a larger --budget: then both are measured in more launches",
    )


def _exceeds_one(efficiency: Estimate) -> bool:
    above = efficiency.value > 1 + NEGLIGIBLE_EXCESS
    return above and (efficiency.low is None or efficiency.low > 1)


def _poor_fit(messages: PointToPointCosts | None) -> Caveat | None:
    poor = [] if messages is None else [level for level in messages.levels() if level.verdict == "poor"]
    if messages is None or not poor:
        return None
    numbers = "all predictions"
    if messages.within_node and len(poor) == 1 and messages.cores > 1:
        within, beyond = f"up to {messages.cores} ranks, of one node", f"more than {messages.cores} ranks"
        numbers = f"predictions on {within if poor[-1] is messages.within_node else beyond}"
    return Caveat(
        "model",
        f"the model of messages is poor: {poor[-1].doubt or 'it does not describe the ping-pong well'}",
        numbers,
        "survey again with more time or on a quiet machine",
    )


def _unknown_sizes(measured: Sequence[Cell], messages: PointToPointCosts | None) -> Caveat | None:
    """Messages outside the fitted range of the model."""
    if messages is None:
        return None
    unknown = sorted(
        {cell.bytes for cell in measured if cell.ranks > 1 and not messages.is_known(cell.bytes)}
    )
    if not unknown:
        return None
    return Caveat(
        "extrapolated",
        "the model of messages was fitted to other sizes",
        f"predictions with messages of {list_names(list([length(size) for size in unknown]))}",
        "survey with --sizes up to the largest message",
    )


def oversubscribed_caveat(ranks: Sequence[int], cores: int) -> Caveat:
    counts = join_words(ranks)
    highest = ", ".join(f"{share(cores / p)} on {p} ranks" for p in ranks)
    return Caveat(
        "oversubscribed",
        f"{counts} ranks share {plural(cores, 'core')}: their efficiency is at most cores / ranks "
        f"({highest}), and a message waits until the scheduler runs its receiver, which can take "
        "milliseconds",
        f"cases on {counts} ranks",
        "use fewer ranks (--ranks) or a larger machine; predictions assume that ranks on one core take turns "
        "without waiting for the scheduler",
    )


NAME = "granularity"


def _reduced_grid(evidence: Evidence) -> Caveat | None:
    """What the budget left out; None if nothing. Of a simulated or unfinished run nothing can be inferred."""
    measured = _grid_cases([m.case for m in evidence.of(NAME)])
    if not measured or evidence.missing_count or evidence.machine.traits.simulated:
        return None
    ranks = tuple(sorted({case.ranks for case in measured}))
    options = Options(ranks=ranks, survey=evidence.survey, budget_s=math.inf)
    full_grid = plan(options, evidence.catalog, evidence.machine)
    works, all_works = _parameter_values(measured, "work"), _parameter_values(_grid_cases(full_grid), "work")
    fewer_works = works != all_works and works == all_works[: len(works)]
    details = any(case.get("shares") != "equal" for case in measured)
    if details and not fewer_works:
        return None
    missing = [f"work longer than {quantity(works[-1], 's')}"] if fewer_works else []
    if not details:
        missing.append("uneven work and exchanges with other MPI calls")
    return Caveat(
        "grid-reduced",
        f"a budget of {format_time_option(evidence.settings.budget_s)} is too small for the whole grid, "
        f"which lacks {' and '.join(missing)}",
        "the extent of the grid",
        f"use --budget {format_time_option(ROUNDS * least_of(full_grid))} or more",
    )


def _grid_cases(cases: list[Case]) -> list[Case]:
    """The cases of the grid on several ranks."""
    return [case for case in cases if case.workload == NAME and case.ranks > 1]


def _parameter_values(cases: list[Case], parameter: str) -> list[float]:
    return sorted({case.number(parameter) for case in cases})
