# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How often a comparison of sides that took turns is right: the part `interleaved` of `comparison`.

The launches of both sides are one series in time, in blocks ABBA or BAAB at random, so that what lasts for
several launches, or drifts, affects both."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from comparison_worlds import (
    CATALOG,
    CHANGING,
    NOT_AT_ALL,
    WORLDS,
    Measured,
    World,
    alarms,
    cases,
    observed_at_once,
)

from hockney.core.case import Case
from hockney.models.comparison import Pair, judge
from hockney.models.statistics import PooledCase

TOLERANCE = 0.02
TURNS = WORLDS | CHANGING
SIZES = 4
"""Of each of the five operations: short launches have room for few cases."""


def order(pairs: int, rng: np.random.Generator) -> np.ndarray:
    """The places in time of the launches of A, and of B, by pair."""
    places = np.empty((2, pairs), dtype=int)
    for first in range(0, pairs, 2):
        begins = int(rng.integers(2))
        for pair in range(first, min(first + 2, pairs)):
            side = begins if pair == first else 1 - begins
            places[side, pair], places[1 - side, pair] = 2 * pair, 2 * pair + 1
    return places


def in_turns(
    measured: list[Case],
    world: World,
    pairs: int,
    rng: np.random.Generator,
    how: Measured,
    slower: Callable[[Case], float] = lambda case: 1.0,
    own: float = 0.01,
) -> list[Pair]:
    """These cases in so many pairs; in B a case takes `slower(case)` times as long."""
    effects, places = world.launches(2 * pairs, rng), order(pairs, rng)
    found = []
    for case in measured:
        sides = [
            observed_at_once(
                case,
                world,
                effects[places[side]] + side * np.log(slower(case)),
                rng,
                visits=how.visits,
                repetitions=how.repetitions,
                own=own,
            )
            for side in range(2)
        ]
        found.append(Pair(case, *(PooledCase.from_runs({0: side}) for side in sides)))
    return found


def interleaved(sets: int) -> Iterator[str]:
    yield from coverage(sets)
    yield ""
    yield from equal(max(1, sets // 4))
    yield ""
    yield from power(max(1, sets // 10))


def coverage(sets: int) -> Iterator[str]:
    """`not in pairs`: the half width if the same launches count as independent."""
    yield "| world | pairs | contains the truth | half width | not in pairs |"
    yield "|---|---:|---:|---:|---:|"
    case = [CATALOG.case("pingpong bytes=8", 2)]
    for name, world in TURNS.items():
        for pairs in (6, 10, 20, 40):
            rng = np.random.default_rng([pairs, len(name)])
            hits, widths, apart = [], [], []
            for k in range(sets):
                truth = (1.0, 1.07)[k % 2]
                made = in_turns(case, world, pairs, rng, Measured(4, 5), lambda of, by=truth: by, own=0.0)
                for paired, kept in ((True, widths), (False, apart)):
                    found = judge(made, NOT_AT_ALL, paired=paired).cases[0].ratio
                    low, high = found.low or 0.0, found.high or np.inf
                    kept.append(np.log(high / low) / 2 if low and np.isfinite(high) else np.inf)
                    if paired:
                        hits.append(low <= truth <= high)
            shares = f"{np.mean(hits):.1%} | {np.median(widths):.1%} | {np.median(apart):.1%}"
            yield f"| {name} | {pairs} | {shares} |"


def equal(sets: int) -> Iterator[str]:
    yield "| world | pairs | false reports at tolerance 0 | at 2% | false effects |"
    yield "|---|---:|---:|---:|---:|"
    for name, world in TURNS.items():
        for pairs in (10, 20):
            rng = np.random.default_rng([pairs, len(name)])
            found = []
            for _ in range(sets):
                made = in_turns(cases(sizes=SIZES), world, pairs, rng, Measured(1, 10))
                strict, usual = (judge(made, each, paired=True) for each in (NOT_AT_ALL, TOLERANCE))
                effect = usual.effect is not None and usual.effect.state == "found"
                found.append((alarms(strict) > 0, alarms(usual) > 0, effect))
            yield (
                f"| {name} | {pairs} | "
                + " | ".join(f"{share:.1%}" for share in np.mean(found, axis=0))
                + " |"
            )


SLOW = "allgather"


def power(sets: int) -> Iterator[str]:
    yield "| world | pairs | slower by | operation found | cases found | effect found | false per pair |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name in ("quiet", "launches differ", "heavy tails", "modes 50%, 3.2", "modes that last", *CHANGING):
        for pairs in (10, 20, 40):
            for factor in (1.05, 1.10):
                rng = np.random.default_rng([pairs, len(name)])
                rows = []
                for _ in range(sets):
                    made = in_turns(
                        cases(sizes=SIZES),
                        TURNS[name],
                        pairs,
                        rng,
                        Measured(1, 10),
                        lambda case, by=factor: by if case.workload == SLOW else 1.0,
                    )
                    judged = judge(made, TOLERANCE, paired=True)
                    changed = [
                        each.case.workload for each in judged.cases if each.state in ("slower", "faster")
                    ]
                    right = changed.count(SLOW)
                    operation = next(each for each in judged.operations if each.workload == SLOW)
                    effect = judged.effect is not None and judged.effect.state == "found"
                    rows.append(
                        (
                            operation.state == "slower",
                            right / len(operation.cases),
                            effect,
                            len(changed) - right,
                        )
                    )
                whole, part, effect, false = np.mean(rows, axis=0)
                shares = f"{whole:.0%} | {part:.0%} | {effect:.0%} | {false:.2f}"
                yield f"| {name} | {pairs} | {factor - 1:.0%} | {shares} |"
