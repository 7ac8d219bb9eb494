# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The comparison of two sides that were read from run folders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from hockney.core.case import NODES, Case
from hockney.core.catalog import Catalog, Workload
from hockney.core.errors import Inconclusive
from hockney.core.fit import Cost
from hockney.core.wording import join_words, list_names, plural, verb_form
from hockney.draw.page import Caveat
from hockney.judgements.comparison import ComparedSides, UnmatchedCase
from hockney.judgements.environment import environment_differences, mixed_facts
from hockney.judgements.sides import (
    Side,
    find_missing_cases,
    interleaved_observations,
    is_same_study,
    joint_catalog,
    match_interleaved_runs,
    unpaired_launch_count,
)
from hockney.models.comparison import (
    MIN_LAUNCHES,
    JudgedCases,
    Pair,
    RunOfMachine,
    is_one_sided,
    judge,
)
from hockney.models.loaded_launches import MIN_QUIET_LAUNCHES
from hockney.models.statistics import MachineModes

ALL_RATIOS = "all ratios"


JudgeParts = Callable[[Sequence[RunOfMachine], Sequence[RunOfMachine], Catalog, float], JudgedCases]


def compare(
    a: Side,
    b: Side,
    tolerance: float,
    cost: Cost = "typical",
    judge_parts: JudgeParts | None = None,
) -> ComparedSides:
    """Judge every case that both sides measured, or the parts of the machine. The launches of an interleaved
    comparison are judged in pairs, and not by parts. Raises Inconclusive without a common case."""
    interleaved_sides = match_interleaved_runs(a, b)
    if interleaved_sides is not None:
        a, b = interleaved_sides
    catalog = joint_catalog((a, b))
    if interleaved_sides is None:
        pooled_a, pooled_b = a.pooled_cases(catalog, cost), b.pooled_cases(catalog, cost)
    else:
        pooled_a, pooled_b = interleaved_observations(a, b, catalog, cost)
    common_cases = [case for case in pooled_a if case in pooled_b]
    judges_parts = judge_parts is not None and interleaved_sides is None
    if not common_cases and not (judges_parts and pooled_a and pooled_b):
        raise _no_common_case_error(len(pooled_a), len(pooled_b))
    sizes = {case: catalog.entry(case.workload).size_of(case) for case in common_cases}
    common_cases.sort(key=lambda case: (case.workload, case.ranks, sizes[case], case.line))
    if judge_parts is not None and judges_parts:
        judged_cases = judge_parts(a.runs, b.runs, catalog, tolerance)
    else:
        levels = a.levels(catalog), b.levels(catalog)
        pairs = [
            Pair(case, pooled_a[case], pooled_b[case], _common_level(case, *levels)) for case in common_cases
        ]
        judged_cases = judge(
            pairs, tolerance, exact_a=a.is_exact, exact_b=b.is_exact, paired=interleaved_sides is not None
        )
    same_study = is_same_study(a.studies, b.studies)
    only_a = _unmatched_cases(pooled_a, pooled_b, b, same_study, catalog)
    only_b = _unmatched_cases(pooled_b, pooled_a, a, same_study, catalog)
    if judges_parts:
        only_a, only_b = _without_ranks(only_a, pooled_b), _without_ranks(only_b, pooled_a)
    return ComparedSides(
        a=a,
        b=b,
        cost=cost,
        judged_cases=judged_cases,
        only_a=only_a,
        only_b=only_b,
        differences=environment_differences(a, b),
        caveats=tuple(_comparison_caveats(a, b, judged_cases)),
        catalog=catalog,
    )


def _common_level(case: Case, levels_a: dict[Case, str], levels_b: dict[Case, str]) -> str:
    return levels_a[case] if levels_a[case] == levels_b[case] else ""


def _unmatched_cases(
    candidates: Mapping[Case, object],
    side_cases: Mapping[Case, object],
    side: Side,
    is_same_study: bool,
    catalog: Catalog,
) -> tuple[UnmatchedCase, ...]:
    """Return the `candidates`, the other side's cases, that are not among the `side_cases` of `side`."""
    failures = side.failures(catalog)
    expected_cases = find_missing_cases(
        candidates,
        side_cases.keys(),
        side.planned_cases(catalog),
        lambda case: catalog.entry(case.workload).size_of(case),
        same_study=is_same_study,
    )
    return tuple(
        UnmatchedCase(case, failures.get(case, ""), case in expected_cases)
        for case in candidates
        if case not in side_cases
    )


def _without_ranks(
    unmatched: Iterable[UnmatchedCase], side_cases: Iterable[Case]
) -> tuple[UnmatchedCase, ...]:
    """Return the unmatched cases except those that the side measured on another number of nodes."""
    measured = set(map(_without_nodes, side_cases))
    return tuple(item for item in unmatched if _without_nodes(item.case) not in measured)


def _without_nodes(case: Case) -> tuple[object, ...]:
    return case.workload, *(item for item in case.parameters if item[0] != NODES)


def _comparison_caveats(a: Side, b: Side, judged_cases: JudgedCases) -> list[Caveat]:
    caveats = []
    redefined_names = _redefined_workloads(a, b)
    if redefined_names:
        caveats.append(
            Caveat(
                "workload-redefined",
                f"the engines of A and B define {plural(len(redefined_names), 'workload')} differently: "
                f"{list_names(redefined_names)}",
                "these workloads",
                "measure both sides with the same version of hockney",
            )
        )
    for side in (a, b):
        if side.wrong_count:
            caveats.append(
                Caveat(
                    "wrong-payload",
                    f"{side.name} has {plural(side.wrong_count, 'record')} with corrupted data",
                    ALL_RATIOS,
                    "see the report of each run; do not trust times of an MPI that corrupts data",
                )
            )
        if mixed_names := mixed_facts(side):
            caveats.append(
                Caveat(
                    "mixed-environment",
                    f"the runs of {side.name} differ in {list_names(mixed_names)}",
                    ALL_RATIOS,
                    "compare runs that differ in one thing only",
                )
            )
        missing_count = sum(run.missing_count for run in side.runs)
        if missing_count:
            caveats.append(
                Caveat(
                    "measurements-missing",
                    f"{side.name} is unfinished: {plural(missing_count, 'measurement')} of its plan "
                    f"{verb_form(missing_count, 'is', 'are')} missing",
                    "the cases that have fewer launches, or none",
                    "'hockney resume' measures them",
                )
            )
    loaded_counts = {
        side.name: (side.loaded_count, side.launch_count) for side in (a, b) if side.loaded_count
    }
    if loaded_counts:
        caveats.append(
            _loaded_launches_caveat(loaded_counts, MIN_QUIET_LAUNCHES, is_paired=judged_cases.paired)
        )
    unpaired_count = unpaired_launch_count(a, b) if judged_cases.paired else 0
    if unpaired_count:
        caveats.append(
            Caveat(
                "launches-without-counterpart",
                f"{plural(unpaired_count, 'launch', 'launches')} of one side had no counterpart on the other",
                "nothing: only pairs of launches count",
                "'hockney resume' measures the missing launches",
            )
        )
    if judged_cases.modes:
        caveats.append(_machine_modes_caveat(judged_cases.modes))
    one_sided_cases = [verdict for verdict in judged_cases.cases if is_one_sided(verdict.excluded)]
    if one_sided_cases:
        worst = max(one_sided_cases, key=lambda verdict: max(verdict.excluded))
        caveats.append(
            _one_sided_exclusion_caveat(
                len(one_sided_cases), len(judged_cases.cases), worst.excluded, worst.launches[0]
            )
        )
    inexact_sides = [index for index, side in enumerate((a, b)) if not side.is_exact]
    short_cases = [
        verdict
        for verdict in judged_cases.cases
        if any(verdict.launches[k] < MIN_LAUNCHES for k in inexact_sides)
    ]
    if short_cases:
        caveats.append(
            Caveat(
                "few-launches",
                f"{len(short_cases)} of {plural(len(judged_cases.cases), 'case')} "
                f"{verb_form(len(short_cases), 'has', 'have')} fewer than {MIN_LAUNCHES} launches on "
                "one side",
                "the ratios of these cases: their intervals are wide or missing",
                "measure with more launches (--launches 10)",
            )
        )
    return caveats


def _redefined_workloads(a: Side, b: Side) -> list[str]:
    """Return the workloads that both sides measured with different definitions."""
    common_names = sorted(a.workloads.keys() & b.workloads.keys())
    return [
        name
        for name in common_names
        if len(set(map(_timing_definition, (*a.workloads[name], *b.workloads[name])))) > 1
    ]


def _timing_definition(workload: Workload) -> tuple[object, ...]:
    """Return the parts of the definition that determine the workload's times."""
    parameters = tuple((p.name, p.kind, p.unit, p.default) for p in workload.parameters)
    return workload.time, workload.role, workload.operation, workload.size, parameters


def _no_common_case_error(count_a: int, count_b: int) -> Inconclusive:
    """Return the error for sides without a common case, given the number of cases of each."""
    if not count_a or not count_b:
        empty_side = "A" if not count_a else "B"
        return Inconclusive(
            f"{empty_side} has no measurements",
            "there is nothing to compare",
            "'hockney resume' measures the rest of an unfinished run",
            code="side-without-measurements",
            side=empty_side,
        )
    return Inconclusive(
        "A and B have no case in common",
        f"A has {plural(count_a, 'case')}, B has {plural(count_b, 'other case')}",
        "measure both with the same command, with the same --ranks and --sizes",
        code="no-common-case",
        of_a=count_a,
        of_b=count_b,
    )


def _one_sided_exclusion_caveat(
    affected_count: int, case_count: int, excluded: tuple[int, int], pair_count: int
) -> Caveat:
    """Return the caveat about excluded pairs. `excluded` counts the pairs of one case that were excluded
    because B was far slower, and because it was far faster."""
    slow_side = "B" if excluded[0] else "A"
    return Caveat(
        "pairs-excluded-on-one-side",
        f"the ratios of {affected_count} of {plural(case_count, 'case')} exclude pairs of launches, always "
        "with the same "
        f"side far slower, such as {slow_side} in {max(excluded)} of {pair_count} pairs",
        "these cases: they are not reported as the same, since one side may be slow now and then",
        "measure with more launches: a change of the machine then affects both sides",
    )


def _machine_modes_caveat(modes: Sequence[MachineModes]) -> Caveat:
    """Return the caveat that the machine had two modes during interleaved launches."""
    pair_count = sum(pair_modes.pairs for pair_modes in modes)
    a, b = (sum(pair_modes.slow_counts[side] for pair_modes in modes) for side in range(2))
    factor, share_bound = (
        max(pair_modes.factor for pair_modes in modes),
        max(pair_modes.share_bound for pair_modes in modes),
    )
    uneven_text = (
        ", and nothing is reported as the same" if any(pair_modes.is_uneven for pair_modes in modes) else ""
    )
    return Caveat(
        "machine-modes",
        f"the machine was in two modes, and up to {factor:.2g} times as slow in {a} of "
        f"{plural(pair_count, 'launch', 'launches')} of A and {b} of B; launches in the same mode are "
        "compared",
        f"{ALL_RATIOS}: one side may be slow more often than the other, in up to {share_bound:.0%} of "
        f"launches{uneven_text}",
        "measure with more launches, or at a time when the machine's speed is steady",
    )


def _loaded_launches_caveat(
    loaded_counts: Mapping[str, tuple[int, int]], min_quiet: int, *, is_paired: bool
) -> Caveat:
    """Return the caveat about loaded launches, given the numbers of loaded and of all launches of each
    affected side. Loaded launches are excluded from cases with at least `min_quiet` quiet launches or
    pairs."""
    side_texts = [
        f"{loaded_count} of {plural(launch_count, 'launch', 'launches')} of {side}"
        for side, (loaded_count, launch_count) in loaded_counts.items()
    ]
    if max(launch_count - loaded_count for loaded_count, launch_count in loaded_counts.values()) < min_quiet:
        treatment = "they are included, since there are too few quiet ones"
    else:
        quiet_unit = "quiet pairs of launches" if is_paired else "quiet launches"
        treatment = f"they are excluded where at least {min_quiet} {quiet_unit} measured a case"
    return Caveat(
        "loaded-launches",
        f"other programs used the machine in {join_words(side_texts)}; {treatment}",
        ALL_RATIOS,
        "measure again when it is quiet",
    )
