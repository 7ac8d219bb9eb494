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
from hockney.models.least_time import min_launch_seconds
from hockney.pages import caveats as general
from hockney.pages.evidence import Evidence, Options
from hockney.pages.format import format_share, quantity
from hockney.pages.labels import case_labels
from hockney.studies.granularity.columns import byte_length_text, length_text, percent_text
from hockney.studies.granularity.plan import ROUNDS_PER_BUDGET, plan
from hockney.studies.granularity.results import Cell, crowded_counts

MAX_PRESET_ERROR = 0.01
"""Computing should take the preset time within 1%."""
MIN_WORK_S = 1e-4
"""For shorter work, the error is only shown in the table."""


NEGLIGIBLE_EXCESS = 0.02
"""No clock and no interval is more accurate than this. One rank has an efficiency of exactly 1."""


def caveats(
    evidence: Evidence, measured: Sequence[Cell], messages: PointToPointCosts | None, cores: int
) -> tuple[Caveat, ...]:
    """All caveats of the run, with the effect of oversubscription on efficiencies, then those of this
    study."""
    oversubscribed_ranks = crowded_counts(measured, cores)
    all_caveats = [
        oversubscribed_caveat(oversubscribed_ranks, cores)
        if oversubscribed_ranks and run_caveat.caveat.code == "oversubscribed"
        else run_caveat.caveat
        for run_caveat in general.caveats(evidence)
        if run_caveat.caveat.code != "poor-fit"  # `_poor_fit_caveat` has it
    ]
    if oversubscribed_ranks and not any(caveat.code == "oversubscribed" for caveat in all_caveats):
        all_caveats.append(oversubscribed_caveat(oversubscribed_ranks, cores))
    study_caveats = (
        _reduced_grid_caveat(evidence),
        _preset_caveat(evidence),
        _efficiency_above_one_caveat(measured),
        _poor_fit_caveat(messages),
        _detours_caveat(evidence),
        _extrapolation_caveat(measured, messages),
    )
    return (*all_caveats, *(caveat for caveat in study_caveats if caveat is not None))


def _preset_caveat(evidence: Evidence) -> Caveat | None:
    """The caveat that computing missed its preset time."""
    inaccurate_records = [
        record
        for record in evidence.run.records
        if (record.metric("work") or 0.0) >= MIN_WORK_S
        and (record.metric("work_error") or 0.0) > MAX_PRESET_ERROR
    ]
    if not inaccurate_records:
        return None
    worst_record = max(inaccurate_records, key=lambda record: record.metric("work_error") or 0.0)
    cases = sorted(set(map(case_labels(evidence), (record.case for record in inaccurate_records))))
    work_s = worst_record.metric("work") or 0.0
    error = worst_record.metric("work_error") or 0.0
    return Caveat(
        "preset",
        f"in {plural(len(inaccurate_records), 'measurement')} the ranks did not compute for the preset "
        "time: the worst "
        f"missed {quantity(work_s, 's')} by {format_share(error)}",
        list_names(list(cases)),
        "efficiencies are based on measured serial times, so this matters where ranks differ; "
        "measure again on a quiet machine",
    )


def _efficiency_above_one_caveat(measured: Sequence[Cell]) -> Caveat | None:
    """The caveat that efficiencies exceed 1 by more than their interval."""
    cells_above_one = [cell for cell in measured if _exceeds_one(cell.efficiency)]
    if not cells_above_one:
        return None
    highest = max(cells_above_one, key=lambda cell: cell.efficiency.value)
    low = highest.efficiency.low
    bound = "no interval" if low is None else f"95%: at least {percent_text(low)}"
    return Caveat(
        "efficiency-above-one",
        f"efficiencies above 100% in {plural(len(cells_above_one), 'cell')}, up to "
        f"{percent_text(highest.efficiency.value)} "
        f"({bound}): the machine was slower while one rank was measured",
        f"those cells; the highest has T = {quantity(highest.work_s, 's')} and "
        f"{byte_length_text(highest.bytes)} on "
        f"{highest.ranks} ranks",
        "measure again on a quiet machine, with a larger --budget: then both are measured in more launches",
    )


def _exceeds_one(efficiency: Estimate) -> bool:
    is_above = efficiency.value > 1 + NEGLIGIBLE_EXCESS
    return is_above and (efficiency.low is None or efficiency.low > 1)


def _detours_caveat(evidence: Evidence) -> Caveat | None:
    platform = evidence.machine.platform
    if platform is None or not platform.detours:
        return None
    return Caveat(
        "detours-omitted",
        "the predictions omit the machine's detours, which lengthen computation, and exchanges with ranks "
        "that are in one",
        "all predictions",
        "compare with a machine file without detours",
    )


def _poor_fit_caveat(messages: PointToPointCosts | None) -> Caveat | None:
    poor_levels = (
        [] if messages is None else [level for level in messages.levels() if level.verdict == "poor"]
    )
    if messages is None or not poor_levels:
        return None
    affected = "all predictions"
    if messages.within_node and len(poor_levels) == 1 and messages.cores > 1:
        intra_node, inter_node = (
            f"up to {messages.cores} ranks, of one node",
            f"more than {messages.cores} ranks",
        )
        affected = f"predictions on {intra_node if poor_levels[-1] is messages.within_node else inter_node}"
    return Caveat(
        "model",
        "the model of messages is poor: "
        f"{poor_levels[-1].doubt or 'it does not describe the ping-pong well'}",
        affected,
        "survey again with more time or on a quiet machine",
    )


def _extrapolation_caveat(measured: Sequence[Cell], messages: PointToPointCosts | None) -> Caveat | None:
    """The caveat of messages outside the fitted range of the model."""
    if messages is None:
        return None
    unknown_sizes = sorted(
        {cell.bytes for cell in measured if cell.ranks > 1 and not messages.is_known(cell.bytes)}
    )
    if not unknown_sizes:
        return None
    return Caveat(
        "extrapolated",
        "the model of messages was fitted to other sizes",
        f"predictions with messages of {list_names(list([length_text(size) for size in unknown_sizes]))}",
        "survey with --sizes up to the largest message",
    )


def oversubscribed_caveat(ranks: Sequence[int], cores: int) -> Caveat:
    counts_text = join_words(ranks)
    limits = ", ".join(f"{percent_text(cores / count)} on {count} ranks" for count in ranks)
    return Caveat(
        "oversubscribed",
        f"{counts_text} ranks share {plural(cores, 'core')}: their efficiency is at most cores / ranks "
        f"({limits}), and a message waits until the scheduler runs its receiver, which can take "
        "milliseconds",
        f"cases on {counts_text} ranks",
        "use fewer ranks (--ranks) or a larger machine; predictions assume that ranks on one core take turns "
        "without waiting for the scheduler",
    )


NAME = "granularity"


def _reduced_grid_caveat(evidence: Evidence) -> Caveat | None:
    """The caveat that the budget reduced the grid; None otherwise, and for simulated or unfinished runs, for
    which this is unknown."""
    measured = _grid_cases([result.case for result in evidence.of(NAME)])
    if not measured or evidence.missing_count or evidence.machine.traits.simulated:
        return None
    ranks = tuple(sorted({case.ranks for case in measured}))
    options = Options(ranks=ranks, survey=evidence.survey, budget_s=math.inf)
    full_grid = plan(options, evidence.catalog, evidence.machine)
    works, all_works = _parameter_values(measured, "work"), _parameter_values(_grid_cases(full_grid), "work")
    has_fewer_works = works != all_works and works == all_works[: len(works)]
    has_details = any(case.get("shares") != "equal" for case in measured)
    if has_details and not has_fewer_works:
        return None
    missing = [f"work longer than {quantity(works[-1], 's')}"] if has_fewer_works else []
    if not has_details:
        missing.append("uneven work and exchanges with other MPI calls")
    return Caveat(
        "grid-reduced",
        f"a budget of {format_time_option(evidence.settings.budget_s)} is too small for the whole grid, "
        f"which lacks {' and '.join(missing)}",
        "the extent of the grid",
        f"use --budget {format_time_option(ROUNDS_PER_BUDGET * min_launch_seconds(full_grid))} or more",
    )


def _grid_cases(cases: list[Case]) -> list[Case]:
    """The cases of the grid on several ranks."""
    return [case for case in cases if case.workload == NAME and case.ranks > 1]


def _parameter_values(cases: list[Case], parameter: str) -> list[float]:
    return sorted({case.number(parameter) for case in cases})
