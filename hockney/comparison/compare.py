# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The comparison of two sides that have been read."""

from __future__ import annotations

from collections.abc import Mapping

from hockney.comparison import messages
from hockney.comparison.environment import differences, mixed
from hockney.comparison.expected import lacking, same_study
from hockney.comparison.pairing import in_turns, observed_in_turns, without_counterpart
from hockney.comparison.result import ComparedSides, Unmatched
from hockney.comparison.side import Side, joint_catalog
from hockney.core.case import Case
from hockney.core.catalog import Catalog, Workload
from hockney.core.fit import Cost
from hockney.draw.page import Caveat
from hockney.models.comparison import FEWEST_LAUNCHES, JudgedCases, Pair, judge, one_sided
from hockney.models.loaded_launches import FEWEST_QUIET


def compare(a: Side, b: Side, tolerance: float, cost: Cost = "typical") -> ComparedSides:
    """Judges every case that both sides measured; those of an interleaved comparison by pairs of launches.
    Raises Inconclusive if there is none."""
    turns = in_turns(a, b)
    if turns is not None:
        a, b = turns
    catalog = joint_catalog((a, b))
    if turns is None:
        seen_a, seen_b = a.observed(catalog, cost), b.observed(catalog, cost)
    else:
        seen_a, seen_b = observed_in_turns(a, b, catalog, cost)
    shared = [case for case in seen_a if case in seen_b]
    if not shared:
        raise messages.nothing_in_common(len(seen_a), len(seen_b))
    size = {case: catalog.entry(case.workload).size_of(case) for case in shared}
    shared.sort(key=lambda case: (case.workload, case.ranks, size[case], case.line))
    levels = a.levels(catalog), b.levels(catalog)
    pairs = [Pair(case, seen_a[case], seen_b[case], _level(case, *levels)) for case in shared]
    judged = judge(pairs, tolerance, exact_a=a.exact, exact_b=b.exact, paired=turns is not None)
    return ComparedSides(
        a=a,
        b=b,
        cost=cost,
        judged=judged,
        only_a=_unmatched(seen_a, seen_b, b, same_study(a.studies, b.studies), catalog),
        only_b=_unmatched(seen_b, seen_a, a, same_study(a.studies, b.studies), catalog),
        differences=differences(a, b),
        caveats=tuple(_caveats(a, b, judged)),
        catalog=catalog,
    )


def _level(case: Case, of_a: dict[Case, str], of_b: dict[Case, str]) -> str:
    return of_a[case] if of_a[case] == of_b[case] else ""


def _unmatched(
    there: Mapping[Case, object], here: Mapping[Case, object], side: Side, same: bool, catalog: Catalog
) -> tuple[Unmatched, ...]:
    """The cases `there` that are not among those of the `side`."""
    failed = side.failures(catalog)
    expected = lacking(
        there,
        here.keys(),
        side.planned(catalog),
        lambda case: catalog.entry(case.workload).size_of(case),
        same_study=same,
    )
    return tuple(
        Unmatched(case, failed.get(case, ""), case in expected) for case in there if case not in here
    )


def _caveats(a: Side, b: Side, judged: JudgedCases) -> list[Caveat]:
    found = []
    changed = _redefined(a, b)
    if changed:
        found.append(messages.workloads_redefined(changed))
    for side in (a, b):
        if side.wrong:
            found.append(messages.wrong_payload(side.name, side.wrong))
        if names := mixed(side):
            found.append(messages.mixed_environment(side.name, names))
        left = sum(run.left for run in side.runs)
        if left:
            found.append(messages.measurements_missing(side.name, left))
    loaded = {side.name: (side.loaded, side.launches) for side in (a, b) if side.loaded}
    if loaded:
        found.append(messages.loaded_launches(loaded, FEWEST_QUIET, paired=judged.paired))
    alone = without_counterpart(a, b) if judged.paired else 0
    if alone:
        found.append(messages.launches_without_counterpart(alone))
    if judged.modes:
        found.append(messages.machine_modes(judged.modes))
    lopsided = [each for each in judged.cases if one_sided(each.excluded)]
    if lopsided:
        most = max(lopsided, key=lambda each: max(each.excluded))
        found.append(
            messages.pairs_excluded_on_one_side(
                len(lopsided), len(judged.cases), most.excluded, most.launches[0]
            )
        )
    varying = [place for place, side in enumerate((a, b)) if not side.exact]
    few = [each for each in judged.cases if any(each.launches[k] < FEWEST_LAUNCHES for k in varying)]
    if few:
        found.append(messages.few_launches(len(few), len(judged.cases), FEWEST_LAUNCHES))
    return found


def _redefined(a: Side, b: Side) -> list[str]:
    """The workloads that both measured, but by different definitions."""
    shared = sorted(a.workloads.keys() & b.workloads.keys())
    return [name for name in shared if len(set(map(_meaning, (*a.workloads[name], *b.workloads[name])))) > 1]


def _meaning(workload: Workload) -> tuple[object, ...]:
    """What decides about its times."""
    parameters = tuple((p.name, p.kind, p.unit, p.default) for p in workload.parameters)
    return workload.time, workload.role, workload.operation, workload.size, parameters
