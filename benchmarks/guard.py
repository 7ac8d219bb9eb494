# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How often `hockney survey --check` is right: false alarms if nothing has changed, and slowdowns found.

Whole checks on the fake machine, with a baseline and new runs from one world: launches differ by a lognormal
factor of known width. `--rule first` shows what would happen if cases were measured only until they look
slower, and `--rule none` without launches beyond the plan.

    python benchmarks/guard.py --sets 100

`--looks` instead simulates single cases by their launches, many more of them: how often a case is reported as
the same if it is compared repeatedly and not measured any more once it is the same, also with baselines of
several runs that differ among themselves.

    python benchmarks/guard.py --looks --sets 400
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
from comparison import CATALOG, Pair, judge, several
from comparison_worlds import WORLDS as MACHINES
from comparison_worlds import observed

from hockney import api
from hockney.api.judgements import baseline
from hockney.core.layout import THIS_HOST, HostOptions
from hockney.launch import fake
from hockney.models.comparison import CaseVerdict
from hockney.models.statistics import PooledCase

CASES = (
    "allreduce bytes=8,1KiB,16KiB,64KiB ranks=2,4",
    "bcast bytes=8,1KiB,16KiB,64KiB ranks=2,4",
    "pingpong bytes=0,1KiB,64KiB",
)
LAUNCHES, BUDGET_S = 10, 20.0
WORLDS = {"launches 1%": 0.01, "launches 3%": 0.03, "launches 6%": 0.06}
FACTORS = (1.0, 1.05, 1.10)
"""By which allreduce is slower in the new run. One that is slower by the tolerance should not be called
slower in more than 5% of the checks: it is where false alarms are most frequent."""
MACHINE = "fake:seed={}"
PLANNED, MOST = 12, 40
"""Launches of a case in the first three fifths of the budget, and at most."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--rule", choices=("hockney", "first", "none"), default="hockney")
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--factors", nargs="+", type=float, default=list(FACTORS))
    parser.add_argument("--looks", action="store_true")
    given = parser.parse_args()
    if given.looks:
        for line in looks(given.sets):
            print(line, flush=True)
        return
    print(f"rule: {given.rule}, {given.sets} checks each, tolerance 5%")
    print("| world | slower by | slower | undecided | wrong operation | launches of the slowest case |")
    print("|---|---|---|---|---|---|")
    for name in given.worlds:
        for factor in given.factors:
            print(
                f"| {name} | {factor - 1:.0%} | "
                + " | ".join(row(WORLDS[name], factor, given.sets, given.rule))
                + " |"
            )
            sys.stdout.flush()


BASELINES = ((1, 10, 0.0), (1, 40, 0.0), (5, 10, 0.0), (5, 10, 0.01))
"""Runs of the baseline, launches of each, and how far runs are apart (standard deviation of logarithms)."""


def looks(sets: int) -> Iterator[str]:
    """The share of cases reported as the same: after the planned launches, and after all looks; and that
    reported as slower in the end."""
    yield "| world | baseline | runs apart | slower by | same at once | same in the end | slower in the end |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for name in ("quiet", "heavy tails"):
        for runs, launches, apart in BASELINES:
            for ratio in FACTORS:
                rng = np.random.default_rng([runs, launches, round(1000 * ratio), len(name)])
                found = [looked(name, runs, launches, apart, ratio, rng) for _ in range(sets)]
                counted = [
                    sum(each[place] == state for each in found) / sets
                    for place, state in ((0, "same"), (1, "same"), (1, "slower"))
                ]
                shares = " | ".join(f"{share:.1%}" for share in counted)
                yield f"| {name} | {runs} x {launches} | {apart:.0%} | {ratio - 1:.0%} | {shares} |"


def looked(
    name: str, runs: int, launches: int, apart: float, ratio: float, rng: np.random.Generator
) -> tuple[str, str]:
    """The verdict after PLANNED launches, and that after the last look."""
    case, world = CATALOG.case("pingpong bytes=8", 2), MACHINES[name]
    a = several(case, runs, launches, apart, 1.0, rng, world)
    most = min(MOST, baseline.MAX_LAUNCH_RATIO * runs * launches)
    effects = world.launches(most, rng) + apart * rng.standard_normal() + np.log(ratio)
    whole = observed(case, world, effects, rng, visits=5, repetitions=5)
    first, count = "", PLANNED
    while True:
        b = PooledCase.from_runs({0: whole.select_launches(range(count))})
        state = judge([Pair(case, a, b)], 0.05).cases[0].state
        first = first or state
        if state not in ("undecided", "slower") or count == most:
            return first, state
        count = min(most, int(np.ceil(count * baseline.RECOMPARE_FACTOR)))


def row(width: float, factor: float, sets: int, rule: str) -> Iterator[str]:
    verdicts: Counter[str] = Counter()
    wrong, launches = 0, 0
    for k in range(sets):
        comparison = checked(width, factor, 2 * k + 1, rule)
        verdicts[comparison.verdict] += 1
        wrong += any(
            each.state == "slower" and each.workload != "allreduce" for each in comparison.operations
        )
        launches += max(each.launches[1] for each in comparison.cases)
    yield f"{verdicts['slower'] / sets:.0%}"
    yield f"{verdicts['undecided'] / sets:.0%}"
    yield f"{wrong / sets:.0%}"
    yield f"{launches / sets:.0f}"


def checked(width: float, factor: float, seed: int, rule: str) -> api.Comparison:
    """One check in a world whose launches differ by this relative `width`."""
    made = fake.parse_fake_launcher

    def noisy(text: str, hosts: HostOptions = THIS_HOST, cores: int = fake.CORES) -> fake.FakeLauncher:
        launcher = made(text, hosts, cores)
        launcher.world = replace(launcher.world, launch_noise=width)
        return launcher

    new = MACHINE.format(seed + 1) + (f";slow=allreduce:{factor}" if factor != 1 else "")
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch("hockney.measurement.kinds.fake.parse_fake_launcher", noisy),
        mock.patch.object(baseline.OpenCases, "_is_open", RULES[rule]),
    ):
        base = Path(folder, "base")
        options = api.RunOptions(launches=LAUNCHES, budget=BUDGET_S, seed=seed, machine=MACHINE.format(seed))
        api.run(CASES, options, out=base)
        options = api.RunOptions(budget=BUDGET_S, seed=seed, machine=new)
        return api.check(str(base), options, out=Path(folder, "new")).comparison


def until_slower(self: baseline.OpenCases, each: CaseVerdict) -> bool:
    return each.state == "undecided" and each.launches[1] < baseline.MAX_LAUNCH_RATIO * each.launches[0]


def never(self: baseline.OpenCases, each: CaseVerdict) -> bool:
    return False


RULES = {"hockney": baseline.OpenCases._is_open, "first": until_slower, "none": never}


if __name__ == "__main__":
    main()
