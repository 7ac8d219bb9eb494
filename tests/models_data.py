# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs for the tests of this folder: the simulator of the coverage study, and records by hand."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np

from hockney.core.case import Case
from hockney.core.record import SCHEMA, Record, RunRecords, Stop, Sync, Verified
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


def record(case: Case, launch: str, times: Sequence[float], errors: int = 0) -> Record:
    return Record(
        schema=SCHEMA,
        launch=launch,
        origin="fake",
        position=0,
        case=case.line,
        started_s=0.0,
        times_s=list(times),
        batch=1,
        warmup_s=[],
        bytes_moved=int(dict(case.parameters).get("bytes", 0)),
        sync=Sync(kind="none"),
        stop=Stop(reason="precision", precision=0.02, achieved=None),
        verified=Verified(bytes=100, errors=errors),
    )


def observed(
    case: Case,
    logs: Sequence[float] | np.ndarray,
    prefix: str = "",
    random: np.random.Generator | None = None,
) -> Observation:
    """One launch for each of `logs`, the logs of its typical time; with `random`, repetitions differ by 1%."""
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
