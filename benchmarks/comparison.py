# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How often `hockney compare` is right: `python benchmarks/comparison.py [--part coverage ...] [--sets 400]`.

Pairs of runs are simulated launch by launch and go through the same functions as measured ones.

- coverage: how often the 95% interval of the ratio of a case contains the truth, by world and number of
  launches, and how often equal times are reported as different.
- pairs: runs of 60 cases in which nothing differs: the share of pairs with any case or operation that is
  reported as slower or faster. The cases of a launch share its effect.
- runs: the coverage of the ratio of one case if sides have several runs, which differ among themselves, also
  if B has only one, as in a check against a baseline.
- power: one operation is slower: how many of its cases are found, and how many others are reported.
- interleaved: sides that took turns, also on machines that drift: coverage, false reports, false effects, and
  power (`comparison_interleaved`).
- speed: the time of `hockney.compare` for two folders of 1000 records each.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
from comparison_interleaved import interleaved
from comparison_worlds import (
    CATALOG,
    NOT_AT_ALL,
    TIME_S,
    WORLDS,
    Measured,
    World,
    alarms,
    cases,
    made_record,
    observed,
)

from hockney.core.case import Case
from hockney.models.comparison import JudgedCases, Pair, judge
from hockney.models.statistics import PooledCase


def one_pair(
    world: World, launches: int, ratio: float, rng: np.random.Generator, how: Measured, tolerance: float
) -> JudgedCases:
    """A case that takes `ratio` times as long in B."""
    case = CATALOG.case("pingpong bytes=8", 2)
    sides = [
        observed(
            case,
            world,
            world.launches(launches, rng) + np.log(factor),
            rng,
            visits=how.visits,
            repetitions=how.repetitions,
        )
        for factor in (1.0, ratio)
    ]
    return judge([Pair(case, *(PooledCase.from_runs({0: side}) for side in sides))], tolerance)


def pair_of_runs(
    world: World,
    launches: int,
    rng: np.random.Generator,
    how: Measured,
    slower: Callable[[Case], float] = lambda case: 1.0,
    own: float = 0.01,
) -> list[Pair]:
    """Two runs of all `cases`; in B a case takes `slower(case)` times as long. `own` is the standard
    deviation of the log factor that a launch has for a single case."""
    both = []
    for side in range(2):
        effects = world.launches(launches, rng)
        measure = partial(observed, rng=rng, visits=how.visits, repetitions=how.repetitions, own=own)
        both.append(
            {
                case: measure(case, world, effects + (np.log(slower(case)) if side else 0.0))
                for case in cases()
            }
        )
    return [Pair(case, *(PooledCase.from_runs({0: side[case]}) for side in both)) for case in cases()]


def coverage(sets: int) -> list[str]:
    lines = [
        "| world | launches | contains the truth | half width | reported at tolerance 0 | at 5% |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, world in WORLDS.items():
        for launches in (3, 5, 10, 20):
            rng = np.random.default_rng([launches, len(name)])
            hits, widths, alarmed, beyond = [], [], [], []
            for k in range(sets):
                ratio = 1.0 if k % 2 == 0 else 1.07
                judged = one_pair(world, launches, ratio, rng, Measured(), NOT_AT_ALL)
                found = judged.cases[0].ratio
                low, high = found.low or 0.0, found.high or np.inf
                hits.append(low <= ratio <= high)
                widths.append(np.log(high / low) / 2 if low and np.isfinite(high) else np.inf)
                if ratio == 1.0:
                    alarmed.append(alarms(judged) > 0)
                    beyond.append(low > 1.05 or high < 1 / 1.05)
            lines.append(
                f"| {name} | {launches} | {np.mean(hits):.1%} | {np.median(widths):.1%} "
                f"| {np.mean(alarmed):.1%} | {np.mean(beyond):.1%} |"
            )
    return lines


def pairs(sets: int) -> Iterator[str]:
    yield "| world | launches | false reports at tolerance 0 | at 5% |"
    yield "|---|---:|---:|---:|"
    for name, world in WORLDS.items():
        for launches in (5, 10):
            rng = np.random.default_rng([launches, len(name)])
            found = []
            for _ in range(max(1, sets // 4)):
                both = pair_of_runs(world, launches, rng, Measured(1, 20))
                found.append([alarms(judge(both, tolerance)) > 0 for tolerance in (NOT_AT_ALL, 0.05)])
            strict, usual = np.mean(found, axis=0)
            yield f"| {name} | {launches} | {strict:.1%} | {usual:.1%} |"


RUNS = (
    (1, 1, 10),
    (2, 2, 10),
    (3, 3, 5),
    (3, 3, 10),
    (5, 5, 10),
    (2, 1, 10),
    (3, 1, 10),
    (5, 1, 10),
    (5, 1, 5),
)
"""Runs of A and of B, and launches of each."""


def runs(sets: int) -> Iterator[str]:
    """`apart`: the standard deviation of the log factor of a run."""
    yield "| runs of A | of B | launches of each | apart | contains the truth | half width |"
    yield "|---:|---:|---:|---:|---:|---:|"
    case = CATALOG.case("pingpong bytes=8", 2)
    for of_a, of_b, launches in RUNS:
        for apart in (0.0, 0.01, 0.03):
            rng = np.random.default_rng([of_a, of_b])
            hits, widths = [], []
            for k in range(max(2, sets // 2)):
                ratio = (1.0, 1.07)[k % 2]
                a = several(case, of_a, launches, apart, 1.0, rng)
                found = judge([Pair(case, a, several(case, of_b, launches, apart, ratio, rng))], 0.05)
                low, high = found.cases[0].ratio.low or 0.0, found.cases[0].ratio.high or np.inf
                hits.append(low <= ratio <= high)
                widths.append(np.log(high / low) / 2 if low and np.isfinite(high) else np.inf)
            shares = f"{np.mean(hits):.1%} | {np.median(widths):.1%}"
            yield f"| {of_a} | {of_b} | {launches} | {apart:.0%} | {shares} |"


def several(
    case: Case,
    count: int,
    launches: int,
    apart: float,
    ratio: float,
    rng: np.random.Generator,
    world: World = WORLDS["quiet"],
) -> PooledCase:
    how = Measured()
    made = {}
    for number in range(count):
        effects = world.launches(launches, rng) + apart * rng.standard_normal() + np.log(ratio)
        seen = observed(case, world, effects, rng, visits=how.visits, repetitions=how.repetitions)
        at_s = tuple(moments + 1e4 * number for moments in seen.visits_at_s)
        made[number] = replace(seen, visits_at_s=at_s)
    return PooledCase.from_runs(made)


SLOW = "allgather"


def _slow(factor: float, case: Case) -> float:
    return factor if case.workload == SLOW else 1.0


def power(sets: int) -> list[str]:
    lines = [
        "| world | launches | slower by | cases found | operation found | false reports per pair |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name in ("quiet", "launches differ", "heavy tails"):
        for launches in (5, 10, 20):
            for factor in (1.10, 1.30):
                rng = np.random.default_rng([launches, len(name)])
                found, whole, false = [], [], []
                for _ in range(max(1, sets // 20)):
                    both = pair_of_runs(WORLDS[name], launches, rng, Measured(1, 20), partial(_slow, factor))
                    judged = judge(both, 0.05)
                    changed = [each for each in judged.cases if each.state in ("slower", "faster")]
                    right = sum(each.case.workload == SLOW for each in changed)
                    found.append(right / sum(each.case.workload == SLOW for each in judged.cases))
                    false.append(len(changed) - right)
                    whole.append(next(o.state for o in judged.operations if o.workload == SLOW) == "slower")
                lines.append(
                    f"| {name} | {launches} | {factor - 1:.0%} | {np.mean(found):.0%} | {np.mean(whole):.0%} "
                    f"| {np.mean(false):.2f} |"
                )
    return lines


def speed(sets: int) -> list[str]:
    """The median of five comparisons of two runs of 100 cases in 10 launches each, with 40 visits of 20
    repetitions, as in a survey."""
    import hockney

    with tempfile.TemporaryDirectory() as folder:
        for seed, name in enumerate("ab"):
            _written(Path(folder, name), np.random.default_rng(seed))
        seconds = []
        for _ in range(5):
            began = time.perf_counter()
            made = hockney.compare(Path(folder, "a"), Path(folder, "b"))
            seconds.append(time.perf_counter() - began)
            began = time.perf_counter()
            made.report(Path(folder, "page.html"))
            page = time.perf_counter() - began
        records = len(made.compared.a.runs[0].records)
    times = f"{np.median(seconds):.2f} s, its page {page:.2f} s"
    return [f"{records} records a side, {len(made.cases)} cases: {times}"]


def _written(path: Path, rng: np.random.Generator) -> None:
    """A run folder; its machine and launches are those of the fake machine."""
    from hockney import api
    from hockney.store import Item, Plan, RunFolder

    chosen, launches = cases(sizes=20), range(10)
    options = api.RunOptions(machine="fake", launches=len(launches), budget=10)
    like = api.run(["pingpong bytes=8"], options, out=path.with_suffix(".fake"))
    items = tuple(Item(k, place, case) for k in launches for place, case in enumerate(chosen))
    folder = RunFolder.create(path, Plan(like.settings, items), like.machine, catalog=CATALOG)
    with folder.append() as out:
        for k, launch in zip(launches, like.reading.run.launches, strict=True):
            out.append(launch)
            for case in chosen:
                times = TIME_S * np.exp(0.05 * rng.standard_normal((40, 20)))
                out.append(msgspec.structs.replace(made_record(case, k, times), launch=launch.launch))


PARTS = {
    "coverage": coverage,
    "pairs": pairs,
    "runs": runs,
    "power": power,
    "interleaved": interleaved,
    "speed": speed,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--part", choices=PARTS, action="append")
    given = parser.parse_args()
    for name in given.part or PARTS:
        began = time.monotonic()
        print(f"\n## {name}\n")
        for line in PARTS[name](given.sets):
            print(line, flush=True)
        print(f"\n{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
