# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How often `hockney compare` is right: `python benchmarks/comparison.py [--part coverage ...] [--sets 400]`.

Pairs of runs are simulated launch by launch and go through the same functions as measured ones.

- coverage: how often the 95% interval of the ratio of a case contains the truth, by world and number of
  launches, and how often equal times are reported as different.
- pairs: runs of 60 cases in which nothing differs: the share of pairs with any case or operation that is
  reported as slower or faster. The cases of a launch share its effect.
- runs: the coverage of the ratio of one case if a side has several runs, which differ among themselves.
- power: one operation is slower: how many of its cases are found, and how many others are reported.
- speed: the time of `hockney.compare` for two folders of 1000 records each.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from hockney.core.case import Case
from hockney.core.record import SCHEMA, Record, Stop, Sync, Verified, Visits
from hockney.models.comparison import JudgedCases, Pair, judge
from hockney.models.statistics import Observation, PooledCase, observe_case
from hockney.system.bundled import bundled_catalog

CATALOG = bundled_catalog()
TIME_S = 1e-6
NOT_AT_ALL = 1e-9
"""A tolerance of practically 0: any difference counts."""
LAUNCH_S = 5.0
OPERATIONS = ("allreduce", "bcast", "allgather", "alltoall", "reduce")


@dataclass(frozen=True)
class World:
    """`launch`, `visit` and `repetition` are the standard deviations of the logarithms of their factors. The
    launches' is normal, or Student's with `tail` degrees of freedom if that is not 0. A launch is slow with
    probability `share`, and takes `factor` times as long; `stays` is the probability that the next one is in
    the same mode whatever the share. 2% of the repetitions are longer by a Pareto factor without variance."""

    launch: float = 0.02
    visit: float = 0.01
    repetition: float = 0.05
    tail: float = 0.0
    share: float = 0.0
    factor: float = 1.0
    stays: float = 0.0

    def launches(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """The log of each launch's factor, which all its cases share."""
        normal = rng.standard_normal(count)
        logs = self.launch * (rng.standard_t(self.tail, count) if self.tail else normal)
        slow = np.empty(count, dtype=bool)
        for k in range(count):
            same = k > 0 and rng.random() < self.stays
            slow[k] = slow[k - 1] if same else rng.random() < self.share
        return np.asarray(logs + np.where(slow, np.log(self.factor), 0.0))


WORLDS = {
    "quiet": World(),
    "launches alike": World(launch=0.0),
    "launches differ": World(launch=0.10),
    "heavy tails": World(tail=2.5, launch=0.03),
    "slow visits": World(visit=0.10, launch=0.01),
    "modes 30%, 1.5": World(share=0.3, factor=1.5),
    "modes 50%, 3.2": World(share=0.5, factor=3.2),
    "modes that last": World(share=0.3, factor=1.5, stays=0.5),
}


def observed(
    case: Case,
    world: World,
    launches: np.ndarray,
    rng: np.random.Generator,
    *,
    visits: int,
    repetitions: int,
    own: float = 0.0,
) -> Observation:
    """A case in launches with these log factors, each multiplied by one of the case's own."""
    shape = (len(launches), visits, repetitions)
    logs = (launches + own * rng.standard_normal(len(launches)))[:, None, None]
    logs = logs + world.visit * rng.standard_normal(shape[:2])[..., None]
    logs = logs + world.repetition * rng.standard_normal(shape)
    longer = np.where(rng.random(shape) < 0.02, 1 + rng.pareto(1.5, shape), 1.0)
    times = TIME_S * np.exp(logs) * longer
    seen = observe_case([_record(case, k, times[k]) for k in range(len(launches))], CATALOG)
    assert seen is not None
    return seen


def _record(case: Case, launch: int, times: np.ndarray) -> Record:
    visits, repetitions = times.shape
    return Record(
        schema=SCHEMA,
        launch=str(launch),
        origin="simulated",
        position=0,
        case=case.line,
        started_s=LAUNCH_S * launch,
        times_s=times.ravel().tolist(),
        batch=1,
        warmup_s=[],
        bytes_moved=case.bytes,
        sync=Sync(kind="none"),
        stop=Stop(reason="precision", precision=0.02, achieved=None),
        verified=Verified(bytes=0, errors=0),
        visits=Visits(
            after_s=[LAUNCH_S * k / visits for k in range(visits)],
            repetitions=[repetitions] * visits,
            preempted=[0] * visits,
        ),
    )


@dataclass(frozen=True)
class Measured:
    """How much is measured in each launch of a case."""

    visits: int = 10
    repetitions: int = 5


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
    return judge([Pair(case, *(PooledCase.of({0: side}) for side in sides))], tolerance)


def cases(operations: Sequence[str] = OPERATIONS, sizes: int = 12) -> list[Case]:
    return [CATALOG.case(f"{name} bytes={8 << k}", 2) for name in operations for k in range(sizes)]


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
    return [Pair(case, *(PooledCase.of({0: side[case]}) for side in both)) for case in cases()]


def alarms(judged: JudgedCases) -> int:
    """Cases and operations reported as slower or faster."""
    means = [each.mean_state for each in judged.operations]
    return sum(state in ("slower", "faster") for state in (*(c.state for c in judged.cases), *means))


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


RUNS = ((1, 10), (2, 10), (3, 5), (3, 10), (5, 10))
"""Runs of a side, and launches of each."""


def runs(sets: int) -> list[str]:
    """`apart`: the standard deviation of the log factor of a run."""
    lines = [
        "| runs a side | launches of each | apart | contains the truth | half width |",
        "|---:|---:|---:|---:|---:|",
    ]
    case = CATALOG.case("pingpong bytes=8", 2)
    for count, launches in RUNS:
        for apart in (0.0, 0.01, 0.03):
            rng = np.random.default_rng(count)
            hits, widths = [], []
            for k in range(max(2, sets // 2)):
                ratio = (1.0, 1.07)[k % 2]
                a = _several(case, count, launches, apart, 1.0, rng)
                found = judge([Pair(case, a, _several(case, count, launches, apart, ratio, rng))], 0.05)
                low, high = found.cases[0].ratio.low or 0.0, found.cases[0].ratio.high or np.inf
                hits.append(low <= ratio <= high)
                widths.append(np.log(high / low) / 2 if low and np.isfinite(high) else np.inf)
            shares = f"{np.mean(hits):.1%} | {np.median(widths):.1%}"
            lines.append(f"| {count} | {launches} | {apart:.0%} | {shares} |")
    return lines


def _several(
    case: Case, count: int, launches: int, apart: float, ratio: float, rng: np.random.Generator
) -> PooledCase:
    world, how = WORLDS["quiet"], Measured()
    made = {}
    for number in range(count):
        effects = world.launches(launches, rng) + apart * rng.standard_normal() + np.log(ratio)
        seen = observed(case, world, effects, rng, visits=how.visits, repetitions=how.repetitions)
        at_s = tuple(moments + 1e4 * number for moments in seen.visits_at_s)
        made[number] = replace(seen, visits_at_s=at_s)
    return PooledCase.of(made)


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
                out.append(msgspec.structs.replace(_record(case, k, times), launch=launch.launch))


PARTS = {"coverage": coverage, "pairs": pairs, "runs": runs, "power": power, "speed": speed}


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
