# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How often the intervals of both costs cover where a machine's times come in two modes that last seconds:
`python benchmarks/coverage_modes.py [--sets 400] [--world modes ...]`.

A survey of one case is simulated visit by visit (ten launches of 5 s, each with 40 visits of 20 repetitions,
`--between` seconds apart) and goes through the same functions as a measured one. The mode is one process in
time, which continues from launch to launch. The truth of the undisturbed cost is the median of all
repetitions in the fast mode of the typical launch; that of the typical cost is the long-run geometric mean of
the modes' medians, factor ** share times as much.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from coverage import CATALOG, Tally

from hockney.core.case import Case
from hockney.core.fit import Estimate
from hockney.core.record import SCHEMA, Record, RunRecords, Stop, Sync, Verified, Visits
from hockney.models import observe
from hockney.models.statistics import summarise_observations

FAST_S = 1e-6
CASE = Case.of("pingpong", 2, buffers="hot", bytes=8)


@dataclass(frozen=True)
class World:
    """Two modes. The slow one has `share` of the time, in which everything takes `factor` times as long. A
    mode lasts `dwell_s` on average, exponentially distributed: the slow one 2 share times that, the fast one
    2 (1 - share) times. `launch`, `visit` and `repetition` are the standard deviations of the logarithms of
    their factors, and 2% of the repetitions are longer by a Pareto factor without variance."""

    factor: float = 1.0
    share: float = 0.0
    dwell_s: float = 1.0
    launch: float = 0.01
    visit: float = 0.01
    repetition: float = 0.05

    @property
    def undisturbed(self) -> float:
        return FAST_S * _median(self.repetition)

    @property
    def typical(self) -> float:
        return float(self.undisturbed * self.factor**self.share)


@dataclass(frozen=True)
class Plan:
    """How one survey visits its case."""

    launches: int = 10
    visits: int = 40
    seconds: float = 5.0
    between_s: float = 1.0
    repetitions: int = 20


def survey(world: World, plan: Plan, rng: np.random.Generator) -> RunRecords:
    every = plan.seconds / plan.visits
    begins = np.arange(plan.launches) * (plan.seconds + plan.between_s)
    within = np.arange(plan.visits) * every
    slow = _slow(world, (begins[:, None] + within).ravel(), rng).reshape(plan.launches, plan.visits)
    shape = (plan.launches, plan.visits, plan.repetitions)
    logs = world.repetition * rng.standard_normal(shape)
    logs += world.visit * rng.standard_normal(shape[:2])[..., None]
    logs += world.launch * rng.standard_normal(shape[:1])[:, None, None]
    logs += np.where(slow, np.log(world.factor), 0.0)[..., None]
    times = FAST_S * np.exp(logs) * _longer(shape, rng)
    return RunRecords(
        records=tuple(
            _record(k, begin, within, times[k], plan.repetitions) for k, begin in enumerate(begins.tolist())
        )
    )


def _longer(shape: int | tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(shape) < 0.02, 1 + rng.pareto(1.5, shape), 1.0)


@cache
def _median(repetition: float) -> float:
    """Of the factors of all repetitions."""
    rng = np.random.default_rng(1)
    count = 2_000_000
    return float(np.median(np.exp(repetition * rng.standard_normal(count)) * _longer(count, rng)))


def _slow(world: World, at_s: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Whether the machine is in the slow mode at these moments, which rise from 0."""
    if world.share == 0:
        return np.zeros(len(at_s), dtype=bool)
    slow = bool(rng.random() < world.share)
    ends, states = [0.0], []
    while ends[-1] <= at_s[-1]:
        mean = 2 * world.dwell_s * (world.share if slow else 1 - world.share)
        ends.append(ends[-1] + rng.exponential(mean))
        states.append(slow)
        slow = not slow
    return np.array(states)[np.searchsorted(ends, at_s, side="right") - 1]


def _record(index: int, begin: float, within: np.ndarray, times: np.ndarray, repetitions: int) -> Record:
    return Record(
        schema=SCHEMA,
        launch=f"{index}.0",
        origin="simulated",
        position=0,
        case=CASE.line,
        started_s=begin,
        times_s=times.ravel().tolist(),
        batch=1,
        warmup_s=[],
        bytes_moved=8,
        sync=Sync(kind="none"),
        stop=Stop(reason="precision", precision=0.02, achieved=None),
        verified=Verified(bytes=0, errors=0),
        visits=Visits(
            after_s=within.tolist(),
            repetitions=[repetitions] * len(within),
            preempted=[0] * len(within),
        ),
    )


def modes(rng: np.random.Generator) -> tuple[str, World]:
    """Modes last 0.5 to 10 s, the slow one takes 1.3 to 2.5 times as long in 20 to 70% of the time."""
    dwell = float(np.exp(rng.uniform(np.log(0.5), np.log(10))))
    kind = next(f"modes of {low:g} to {high:g} s" for low, high in SPANS if dwell <= high)
    return kind, World(factor=rng.uniform(1.3, 2.5), share=rng.uniform(0.2, 0.7), dwell_s=dwell)


def quiet(rng: np.random.Generator) -> tuple[str, World]:
    """Launches differ by 1%, nothing else happens."""
    return "no modes", World()


SPANS = ((0.5, 2.0), (2.0, 5.0), (5.0, 10.1))
WORLDS: dict[str, Callable[[np.random.Generator], tuple[str, World]]] = {"modes": modes, "quiet": quiet}


def study(
    name: str, sets: int, plan: Plan | None = None, seed: int = 1
) -> tuple[Tally, dict[str, list[float]]]:
    """The tally of both costs, and by cost the ratios (at least 1) of each two surveys of one world."""
    tally, rng = Tally(), np.random.default_rng(seed)
    ratios: dict[str, list[float]] = {}
    for _ in range(sets):
        kind, world = WORLDS[name](rng)
        found = [_costs(survey(world, plan or Plan(), rng)) for _ in range(2)]
        for cost, truth in (("typical", world.typical), ("undisturbed", world.undisturbed)):
            for costs in found:
                tally.judge(f"{cost}, {kind}", costs[cost], truth)
            first, second = (costs[cost].value for costs in found)
            ratios.setdefault(f"{cost}, {kind}", []).append(max(first, second) / min(first, second))
    return tally, ratios


def _costs(run: RunRecords) -> dict[str, Estimate]:
    (summary,) = summarise_observations(observe(run, CATALOG))
    assert summary.undisturbed is not None
    return {"typical": summary.typical, "undisturbed": summary.undisturbed.cost}


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage of both costs where times come in two modes.")
    parser.add_argument("--sets", type=int, default=400, help="pairs of surveys")
    parser.add_argument("--world", choices=WORLDS, action="append")
    parser.add_argument("--between", type=float, default=Plan.between_s, help="seconds between launches")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name in options.world or WORLDS:
        begin = time.process_time()
        tally, ratios = study(name, options.sets, Plan(between_s=options.between), options.seed)
        print(f"\n### {name}: {options.sets} pairs of surveys, {time.process_time() - begin:.0f} s\n")
        print("\n".join(tally.rows()))
        print("\n| survey to survey | median | 95% |\n|---|---:|---:|")
        for kind, values in ratios.items():
            print(f"| {kind} | {np.median(values):.3f} | {np.quantile(values, 0.95):.3f} |", flush=True)


if __name__ == "__main__":
    main()
