# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs with known parameters and realistic noise, for studies of what the models' intervals are worth.

A time is true(case) * launch * repetition. The factor of a launch is lognormal with median 1: one part all
cases of the launch share, one part each case has for itself. The factors of its repetitions come from one
of three populations, each scaled to median 1, each with heavy tails (2% of the repetitions are longer by a
Pareto-distributed factor without variance):

    tails   independent lognormal, sigma 6%
    modes   two modes 20% apart, the slower with 35% of the time, lasting some 5 to 20 repetitions
    drift   first-order autoregressive logarithm, correlation 0.9 from one repetition to the next

So the median of the population of all repetitions of the typical launch is exactly true(case): the truth
that intervals of medians must cover, and that of parameters are those of true().
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.signal import lfilter

from hockney.core.case import Case
from hockney.core.record import SCHEMA, Record, RunRecords, Stop, Sync, Verified

POPULATIONS = ("tails", "modes", "drift")


@dataclass(frozen=True)
class Noise:
    """`shared` and `own` are the standard deviations of a launch's factor, common and for each case."""

    population: str
    launches: int = 3
    repetitions: int = 300
    shared: float = 0.01
    own: float = 0.003


def simulate(
    true: Callable[[Case], float], cases: Iterable[Case], noise: Noise, rng: np.random.Generator
) -> RunRecords:
    """A run of all cases. Each rank count has launches of its own, as with mpiexec. A case's `delay` is
    kept exactly: the engine waits by the clock, so only the rest of the time is noisy."""
    cases = list(cases)
    records = []
    for launch in range(noise.launches):
        shared = {ranks: rng.normal(0, noise.shared) for ranks in sorted({case.ranks for case in cases})}
        for position, case in enumerate(cases):
            factor = np.exp(shared[case.ranks] + rng.normal(0, noise.own))
            times = true(case) * factor * repetitions(noise.population, noise.repetitions, rng)
            records.append(_record(case, f"{launch}-{case.ranks}", position, times + _waiting(case)))
    return RunRecords(records=tuple(records))


def repetitions(population: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """n consecutive factors whose population has median 1."""
    return _raw(population, n, rng) / _median(population)


def _raw(population: str, n: int, rng: np.random.Generator) -> np.ndarray:
    if population == "drift":
        steps = rng.standard_normal(n + 100) * np.sqrt(1 - 0.9**2)
        factor = np.exp(0.05 * lfilter([1.0], [1.0, -0.9], steps)[100:])
    elif population == "modes":
        lasting = rng.uniform(5, 20)
        changes = rng.random(n + 200) < np.full(n + 200, 1 / lasting)
        spells = np.cumsum(changes)
        slow = rng.random(spells[-1] + 1) < 0.35
        factor = np.where(slow[spells[200:]], 1.2, 1.0) * np.exp(0.03 * rng.standard_normal(n))
    else:
        factor = np.exp(0.06 * rng.standard_normal(n))
    return factor * np.where(rng.random(n) < 0.02, 1 + rng.pareto(1.5, n), 1.0)


@lru_cache(maxsize=8)
def _median(population: str) -> float:
    rng = np.random.default_rng(1)
    return float(np.median(np.concatenate([_raw(population, 4000, rng) for _ in range(1500)])))


def _waiting(case: Case) -> float:
    values = dict(case.parameters)
    return (
        float(values.get("delay", 0)) * (int(values.get("messages", 1)) - 1)
        if case.workload == "prtt"
        else 0.0
    )


def _record(case: Case, launch: str, position: int, times: np.ndarray) -> Record:
    return Record(
        schema=SCHEMA,
        launch=launch,
        origin="simulated",
        position=position,
        case=case.line,
        started_s=0.0,
        times_s=times.tolist(),
        batch=1,
        warmup_s=[],
        bytes_moved=int(dict(case.parameters).get("bytes", 0)),
        sync=Sync(kind="none"),
        stop=Stop(reason="precision", precision=0.02, achieved=None),
        verified=Verified(bytes=0, errors=0),
    )
