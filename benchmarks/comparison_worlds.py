# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Worlds in which launches differ, and cases measured in them, for the benchmarks of comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.case import Case
from hockney.core.record import SCHEMA, Record, Stop, Sync, Verified, Visits
from hockney.models.comparison import JudgedCases
from hockney.models.statistics import Observation, observe_case
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
    the same mode whatever the share. From each launch to the next, the machine gets slower by `drift`, and
    changes by a random walk with the deviation `walk`. 2% of the repetitions are longer by a Pareto factor
    without variance."""

    launch: float = 0.02
    visit: float = 0.01
    repetition: float = 0.05
    tail: float = 0.0
    share: float = 0.0
    factor: float = 1.0
    stays: float = 0.0
    drift: float = 0.0
    walk: float = 0.0

    def launches(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """The log of each launch's factor, which all its cases share."""
        normal = rng.standard_normal(count)
        logs = self.launch * (rng.standard_t(self.tail, count) if self.tail else normal)
        slow = np.empty(count, dtype=bool)
        for k in range(count):
            same = k > 0 and rng.random() < self.stays
            slow[k] = slow[k - 1] if same else rng.random() < self.share
        changes = self.drift * np.arange(count) + np.cumsum(self.walk * rng.standard_normal(count))
        return np.asarray(logs + changes + np.where(slow, np.log(self.factor), 0.0))


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
CHANGING = {
    "drift": World(drift=0.005, walk=0.01),
    "modes of ten launches": World(share=0.35, factor=2.8, stays=0.85),
}
"""Only turns make comparisons on such a machine."""


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
    seen = observe_case([made_record(case, k, times[k]) for k in range(len(launches))], CATALOG)
    assert seen is not None
    return seen


def observed_at_once(
    case: Case,
    world: World,
    launches: np.ndarray,
    rng: np.random.Generator,
    *,
    visits: int,
    repetitions: int,
    own: float = 0.0,
) -> Observation:
    """The same without records, in a hundredth of the time: launches without intervals of their own, which
    pairs do not need, and whose typical time is the mean of the visits' medians."""
    shape = (len(launches), visits, repetitions)
    logs = launches + own * rng.standard_normal(len(launches))
    logs = logs[:, None] + world.visit * rng.standard_normal(shape[:2])
    noise = world.repetition * rng.standard_normal(shape)
    noise += np.where(rng.random(shape) < 0.02, np.log1p(rng.pareto(1.5, shape)), 0.0)
    unknown = np.full(len(launches), np.nan)
    names = tuple(map(str, range(len(launches))))
    typical = np.log(TIME_S) + (logs + np.median(noise, axis=2)).mean(axis=1)
    entry = CATALOG.entry(case.workload)
    quantile, visited = np.full(len(launches), 1.96), tuple(typical[:, None])
    at_s = tuple(LAUNCH_S * np.arange(len(launches))[:, None])
    return Observation(
        case, entry, names, typical, unknown, unknown, quantile, visits=visited, visits_at_s=at_s
    )


def made_record(case: Case, launch: int, times: np.ndarray) -> Record:
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


def cases(operations: Sequence[str] = OPERATIONS, sizes: int = 12) -> list[Case]:
    return [CATALOG.case(f"{name} bytes={8 << k}", 2) for name in operations for k in range(sizes)]


def alarms(judged: JudgedCases) -> int:
    """Cases and operations reported as slower or faster."""
    means = [each.mean_state for each in judged.operations]
    return sum(state in ("slower", "faster") for state in (*(c.state for c in judged.cases), *means))
