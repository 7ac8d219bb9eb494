# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The comparison of two sides that have been read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hockney.core.case import Case
from hockney.core.catalog import Catalog, Workload
from hockney.core.errors import Inconclusive
from hockney.core.fit import Cost
from hockney.core.wording import join_words, list_names, plural, verb_form
from hockney.draw.page import Caveat
from hockney.judgements.comparison import ComparedSides, Unmatched
from hockney.judgements.environment import differences, mixed
from hockney.judgements.sides import (
    Side,
    in_turns,
    joint_catalog,
    lacking,
    observed_in_turns,
    same_study,
    without_counterpart,
)
from hockney.models.comparison import FEWEST_LAUNCHES, JudgedCases, Pair, judge, one_sided
from hockney.models.loaded_launches import FEWEST_QUIET
from hockney.models.statistics import MachineModes

_ALL_RATIOS = "all ratios"


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
        raise _nothing_in_common(len(seen_a), len(seen_b))
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
    other_cases: Mapping[Case, object],
    side_cases: Mapping[Case, object],
    side: Side,
    same: bool,
    catalog: Catalog,
) -> tuple[Unmatched, ...]:
    """The `other_cases` that are not among the `side_cases` of `side`."""
    failed = side.failures(catalog)
    expected = lacking(
        other_cases,
        side_cases.keys(),
        side.planned(catalog),
        lambda case: catalog.entry(case.workload).size_of(case),
        same_study=same,
    )
    return tuple(
        Unmatched(case, failed.get(case, ""), case in expected)
        for case in other_cases
        if case not in side_cases
    )


def _caveats(a: Side, b: Side, judged: JudgedCases) -> list[Caveat]:
    caveats = []
    changed = _redefined_workloads(a, b)
    if changed:
        caveats.append(
            Caveat(
                "workload-redefined",
                f"the engines of A and B define {plural(len(changed), 'workload')} differently: "
                f"{list_names(changed)}",
                "these workloads",
                "measure both sides with the same version of hockney",
            )
        )
    for side in (a, b):
        if side.wrong:
            caveats.append(
                Caveat(
                    "wrong-payload",
                    f"{side.name} has {plural(side.wrong, 'record')} with corrupted data",
                    _ALL_RATIOS,
                    "see the report of each run; do not trust times of an MPI that corrupts data",
                )
            )
        if names := mixed(side):
            caveats.append(
                Caveat(
                    "mixed-environment",
                    f"the runs of {side.name} differ in {list_names(names)}",
                    _ALL_RATIOS,
                    "compare runs that differ in one thing only",
                )
            )
        left = sum(run.left for run in side.runs)
        if left:
            caveats.append(
                Caveat(
                    "measurements-missing",
                    f"{side.name} is unfinished: {plural(left, 'measurement')} of its plan "
                    f"{verb_form(left, 'is', 'are')} missing",
                    "the cases that have fewer launches, or none",
                    "'hockney resume' measures them",
                )
            )
    loaded = {side.name: (side.loaded, side.launches) for side in (a, b) if side.loaded}
    if loaded:
        caveats.append(_loaded_launches(loaded, FEWEST_QUIET, paired=judged.paired))
    alone = without_counterpart(a, b) if judged.paired else 0
    if alone:
        caveats.append(
            Caveat(
                "launches-without-counterpart",
                f"{plural(alone, 'launch', 'launches')} of one side had no counterpart on the other",
                "nothing: only pairs of launches count",
                "'hockney resume' measures the missing launches",
            )
        )
    if judged.modes:
        caveats.append(_machine_modes(judged.modes))
    lopsided = [each for each in judged.cases if one_sided(each.excluded)]
    if lopsided:
        most = max(lopsided, key=lambda each: max(each.excluded))
        caveats.append(
            _pairs_excluded_on_one_side(len(lopsided), len(judged.cases), most.excluded, most.launches[0])
        )
    varying = [place for place, side in enumerate((a, b)) if not side.exact]
    few = [each for each in judged.cases if any(each.launches[k] < FEWEST_LAUNCHES for k in varying)]
    if few:
        caveats.append(
            Caveat(
                "few-launches",
                f"{len(few)} of {plural(len(judged.cases), 'case')} "
                f"{verb_form(len(few), 'has', 'have')} fewer than {FEWEST_LAUNCHES} launches on one side",
                "the ratios of these cases: their intervals are wide or missing",
                "measure with more launches (--launches 10)",
            )
        )
    return caveats


def _redefined_workloads(a: Side, b: Side) -> list[str]:
    """The workloads that both measured, but by different definitions."""
    shared = sorted(a.workloads.keys() & b.workloads.keys())
    return [name for name in shared if len(set(map(_meaning, (*a.workloads[name], *b.workloads[name])))) > 1]


def _meaning(workload: Workload) -> tuple[object, ...]:
    """What decides about its times."""
    parameters = tuple((p.name, p.kind, p.unit, p.default) for p in workload.parameters)
    return workload.time, workload.role, workload.operation, workload.size, parameters


def _nothing_in_common(of_a: int, of_b: int) -> Inconclusive:
    """The cases of each side."""
    if not of_a or not of_b:
        empty = "A" if not of_a else "B"
        return Inconclusive(
            f"{empty} has no measurements",
            "there is nothing to compare",
            "'hockney resume' measures the rest of an unfinished run",
            code="side-without-measurements",
            side=empty,
        )
    return Inconclusive(
        "A and B have no case in common",
        f"A has {plural(of_a, 'case')}, B has {plural(of_b, 'other case')}",
        "measure both with the same command, with the same --ranks and --sizes",
        code="no-common-case",
        of_a=of_a,
        of_b=of_b,
    )


def _pairs_excluded_on_one_side(count: int, cases: int, excluded: tuple[int, int], pairs: int) -> Caveat:
    """`excluded` are the pairs of one case that were excluded because B was far slower, or far faster."""
    slow = "B" if excluded[0] else "A"
    return Caveat(
        "pairs-excluded-on-one-side",
        f"the ratios of {count} of {plural(cases, 'case')} exclude pairs of launches, always with the same "
        f"side far slower, such as {slow} in {max(excluded)} of {pairs} pairs",
        "these cases: they are not reported as the same, since one side may be slow now and then",
        "measure with more launches: a change of the machine then affects both sides",
    )


def _machine_modes(modes: Sequence[MachineModes]) -> Caveat:
    """The caveat that the machine was in two modes during interleaved launches."""
    pairs = sum(each.pairs for each in modes)
    a, b = (sum(each.slow_counts[side] for each in modes) for side in range(2))
    factor, bound = max(each.factor for each in modes), max(each.share_bound for each in modes)
    uneven = ", and nothing is reported as the same" if any(each.is_uneven for each in modes) else ""
    return Caveat(
        "machine-modes",
        f"the machine was in two modes, and up to {factor:.2g} times as slow in {a} of "
        f"{plural(pairs, 'launch', 'launches')} of A and {b} of B; launches in the same mode are compared",
        f"{_ALL_RATIOS}: one side may be slow more often than the other, in up to {bound:.0%} of "
        f"launches{uneven}",
        "measure with more launches, or at a time when the machine's speed is steady",
    )


def _loaded_launches(loaded: Mapping[str, tuple[int, int]], fewest: int, *, paired: bool) -> Caveat:
    """The loaded launches of each side that has some, and all its launches; where `fewest` quiet ones, or
    pairs, measured a case, the loaded ones do not count."""
    sides = [
        f"{busy} of {plural(launches, 'launch', 'launches')} of {side}"
        for side, (busy, launches) in loaded.items()
    ]
    if max(launches - busy for busy, launches in loaded.values()) < fewest:
        use = "they are included, since there are too few quiet ones"
    else:
        counted = "quiet pairs of launches" if paired else "quiet launches"
        use = f"they are excluded where at least {fewest} {counted} measured a case"
    return Caveat(
        "loaded-launches",
        f"other programs used the machine in {join_words(sides)}; {use}",
        _ALL_RATIOS,
        "measure again when it is quiet",
    )
