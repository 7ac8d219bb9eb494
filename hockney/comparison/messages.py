# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of caveats and errors about comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hockney.core.errors import Inconclusive
from hockney.core.wording import listing, plural, together
from hockney.draw.page import Caveat
from hockney.models.statistics import MachineModes

ALL = "all ratios"


def nothing_in_common(of_a: int, of_b: int) -> Inconclusive:
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


def workloads_redefined(names: Sequence[str]) -> Caveat:
    return Caveat(
        "workload-redefined",
        f"the engines of A and B define {plural(len(names), 'workload')} differently: {listing(names)}",
        "these workloads",
        "measure both sides with the same version of hockney",
    )


def wrong_payload(side: str, count: int) -> Caveat:
    return Caveat(
        "wrong-payload",
        f"{side} has {plural(count, 'record')} in which data arrived wrong",
        ALL,
        "see the report of each run; do not trust times of an MPI that corrupts data",
    )


def mixed_environment(side: str, names: Sequence[str]) -> Caveat:
    return Caveat(
        "mixed-environment",
        f"the runs of {side} differ in {listing(names)}",
        ALL,
        "compare runs that differ in one thing only",
    )


def launches_without_counterpart(count: int) -> Caveat:
    return Caveat(
        "launches-without-counterpart",
        f"{plural(count, 'launch', 'launches')} of one side had no counterpart on the other",
        "nothing: only pairs of launches count",
        "'hockney resume' measures those that are missing",
    )


def pairs_excluded_on_one_side(count: int, of: int, most: tuple[int, int], pairs: int) -> Caveat:
    """`most` pairs of one of these cases were excluded in which B was far slower, or far faster."""
    slow = "B" if most[0] else "A"
    return Caveat(
        "pairs-excluded-on-one-side",
        f"the ratios of {count} of {plural(of, 'case')} exclude pairs of launches in which always the same "
        f"side was far slower, such as {slow} in {max(most)} of {pairs} pairs",
        "these cases: they are not reported as the same, since one side may be slow now and then",
        "measure with more launches: a change of the machine then affects both sides",
    )


def machine_modes(modes: Sequence[MachineModes]) -> Caveat:
    """Of interleaved launches."""
    pairs = sum(each.pairs for each in modes)
    a, b = (sum(each.slow[side] for each in modes) for side in range(2))
    factor, bound = max(each.factor for each in modes), max(each.share_bound for each in modes)
    uneven = ", and nothing is reported as the same" if any(each.uneven for each in modes) else ""
    return Caveat(
        "machine-modes",
        f"the machine was in two modes, and up to {factor:.2g} times as slow in {a} of "
        f"{plural(pairs, 'launch', 'launches')} of A and {b} of B; launches in the same mode are compared",
        f"{ALL}: one side may be slow more often than the other, in up to {bound:.0%} of launches{uneven}",
        "measure with more launches, or when the machine keeps its speed",
    )


def loaded_launches(loaded: Mapping[str, tuple[int, int]], fewest: int, *, paired: bool) -> Caveat:
    """The loaded launches of each side that has some, and all its launches; where `fewest` quiet ones, or
    pairs, measured a case, the loaded ones do not count."""
    sides = [f"{some} of {plural(of, 'launch', 'launches')} of {side}" for side, (some, of) in loaded.items()]
    if max(of - some for some, of in loaded.values()) < fewest:
        use = "they are included, since there are too few quiet ones"
    else:
        counted = "quiet pairs of launches" if paired else "quiet launches"
        use = f"they are excluded where at least {fewest} {counted} measured a case"
    return Caveat(
        "loaded-launches",
        f"other programs used the machine in {together(sides)}; {use}",
        ALL,
        "measure again when it is quiet",
    )


def measurements_missing(side: str, count: int) -> Caveat:
    return Caveat(
        "measurements-missing",
        f"{side} is unfinished: {plural(count, 'measurement')} of its plan are missing",
        "the cases that have fewer launches, or none",
        "'hockney resume' measures them",
    )


def few_launches(count: int, of: int, fewest: int) -> Caveat:
    return Caveat(
        "few-launches",
        f"{count} of {plural(of, 'case')} have fewer than {fewest} launches on one side",
        "these cases, whose ratios have wide intervals or none",
        "measure with more launches (--launches 10)",
    )
