# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs for the tests of this folder: the simulator of the coverage study, and records by hand."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import made_up
import numpy as np

from hockney.core.case import Case
from hockney.core.fit import CurvePoint, Estimate, Fit, FittedSegment, Summary
from hockney.core.machine import Machine
from hockney.core.record import SCHEMA, Clock, Launch, Rank, Record, RunRecords, Verified
from hockney.models.statistics import Observation, observe_case
from hockney.system.bundled import bundled_catalog

CATALOG = bundled_catalog()


def benchmark(name: str) -> ModuleType:
    """A module of benchmarks/, which is not a package."""
    if name not in sys.modules:
        path = Path(__file__).parents[1] / "benchmarks" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


simulate = benchmark("simulated").simulate
Noise = benchmark("simulated").Noise
NOISE = Noise("tails", launches=3, repetitions=1000)
HERE = Machine(schema=1, kind="real", host="n0", system="Linux", cpu="Z80", cores=8, threads=8, hockney="0")


def launch(name: str, **more: object) -> Launch:
    values = {
        "index": int(name.partition(".")[0]),
        "started_s": 0.0,
        "ranks": [Rank(host="n0", pid=rank, cpus=str(rank)) for rank in range(2)],
        "clock": Clock(resolution_s=1e-9, overhead_s=1e-8),
        **dict.fromkeys(("mpi_standard", "library", "engine", "compiler"), ""),
    }
    return Launch(schema=SCHEMA, launch=name, origin="fake", **(values | more))


def summary(case: str, seconds: float, within: float = 0.1, **more: object) -> Summary:
    """The summary of a case whose typical time has an interval of `within`."""
    typical = Estimate(seconds, (1 - within) * seconds, (1 + within) * seconds)
    return Summary(
        case=CATALOG.case(case).line, typical=typical,
        quartiles=(seconds,) * 4, within=0.0, between=None, repetitions=9, launches=3, bytes_moved=8,
        verified_bytes=8, errors=0, **more,
    )  # fmt: skip


def line_fit(subject: str, latency_s: float, per_byte_s: float, within: float = 0.1) -> Fit:
    """A fit of one straight line up to 1 MiB, with an interval of `within`."""
    times = [(float(x), latency_s + per_byte_s * x) for x in (0, 8, 1024, 65536, 1 << 20)]
    segment = FittedSegment(
        first=0, beyond=None, latency=Estimate(latency_s, None, None),
        per_byte=Estimate(per_byte_s, None, None), smallest=0, largest=1 << 20,
    )  # fmt: skip
    curve = [CurvePoint(x, t, t * (1 - within), t * (1 + within)) for x, t in times]
    return Fit(
        model="hockney", line=subject, parameters=[], verdict="good", why="", segments=[segment], curve=curve
    )


def record(case: Case, launch: str, times: Sequence[float], errors: int = 0) -> Record:
    size = int(dict(case.parameters).get("bytes", 0))
    verified = Verified(bytes=100, errors=errors)
    return made_up.record(case, times, launch=launch, origin="fake", bytes_moved=size, verified=verified)


def observed(
    case: Case,
    logs: Sequence[float] | np.ndarray,
    prefix: str = "",
    random: np.random.Generator | None = None,
) -> Observation:
    """One launch for each of `logs`, its typical time's log; with `random`, repetitions scatter by 1%."""
    scatter = random.normal(0, 0.01, (len(logs), 30)) if random else np.zeros((len(logs), 9))
    times = np.exp(np.asarray(logs)[:, None] + scatter)
    seen = observe_case([record(case, f"{prefix}{k}", of.tolist()) for k, of in enumerate(times)], CATALOG)
    assert seen is not None
    return seen


def exact(
    true: Callable[[Case], float], cases: Sequence[Case], launches: int = 3, repetitions: int = 10
) -> RunRecords:
    """A run without any noise."""
    return RunRecords(
        records=tuple(
            record(case, f"{launch}-{case.ranks}", [true(case)] * repetitions)
            for launch in range(launches)
            for case in cases
        )
    )
