# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs with made-up visits: each launch visits each case at many moments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import models_data
import msgspec
import numpy as np

from hockney import measurement
from hockney.core.case import parse_canonical
from hockney.core.fit import Fits
from hockney.core.record import SCHEMA, Close, Record, RunRecords, Stop, Visits
from hockney.core.settings import Settings
from hockney.launch.fake import CLOCK
from hockney.models import summarise
from hockney.pages.evidence import Evidence
from hockney.system.bundled import catalog_with

CATALOG = catalog_with(measurement.bundled_catalog(), ["threads_pingpong"])
MACHINE = measurement.fake_bench("fake").machine
LINE = "pingpong buffers=hot bytes=8 ranks=2"
START = 1000.0
LAUNCH_S, VISIT_S, REPETITIONS = 5.0, 0.1, 3


def two_modes(random: np.random.Generator, slow: float, visits: int = 40) -> np.ndarray:
    """Times of visits of 0.2 us, a share of them twice as slow, in stretches of ten."""
    in_turn = np.repeat(random.random(visits // 10 + 1) < slow, 10)[:visits]
    return 0.2e-6 * np.where(in_turn, 2.0, 1.0) * (1 + 0.01 * random.standard_normal(visits))


def evidence(
    times: Mapping[str, Sequence[Sequence[float]]],
    outside_cores: Mapping[int, float] | None = None,
    *,
    visits: bool = True,
    precision: float = 0.02,
    steal: Mapping[int, float] | None = None,
) -> Evidence:
    """`times` has for each case, for each launch, the times of its visits (without `visits`: of repetitions);
    `outside_cores` is the load of other programs in some launches, `steal` that of the hypervisor."""
    count = max(map(len, times.values()))
    records = [
        record(case, k, launches[k], visits)
        for k in range(count)
        for case, launches in times.items()
        if k < len(launches)
    ]
    closes = [
        Close(
            schema=SCHEMA,
            launch=f"{k}.0",
            seconds=LAUNCH_S,
            exit_code=0,
            outside_cores=(outside_cores or {}).get(k, 0.0),
            steal=(steal or {}).get(k, 0.0),
        )
        for k in range(count)
    ]
    launches = (
        models_data.launch(f"{k}.0", started_s=START + LAUNCH_S * k, clock=CLOCK, bound=True)
        for k in range(count)
    )
    run = RunRecords(tuple(launches), tuple(records), (), tuple(closes))
    used = {case.partition(" ")[0] for case in times}
    fits = Fits(
        schema=SCHEMA,
        summaries=summarise(run, CATALOG),
        fits=[],
        workloads=[w for w in CATALOG.workloads if w.name in used],
    )
    settings = Settings("survey", precision=precision, launches=count)
    return Evidence(fits=fits, run=run, machine=MACHINE, settings=settings, planned_count=len(records))


def with_summary(evidence: Evidence, **fields) -> Evidence:
    """The evidence with fields of its first summary changed."""
    from dataclasses import replace

    first, *others = evidence.fits.summaries
    summaries = [msgspec.structs.replace(first, **fields), *others]
    return replace(evidence, fits=msgspec.structs.replace(evidence.fits, summaries=summaries))


def record(case: str, index: int, times: Sequence[float], visits: bool) -> Record:
    every = [float(t) for t in times for _ in range(REPETITIONS if visits else 1)]
    made = Visits(
        after_s=[VISIT_S * k for k in range(len(times))],
        repetitions=[REPETITIONS] * len(times),
        preempted=[0] * len(times),
    )
    return msgspec.structs.replace(
        models_data.record(parse_canonical(case), f"{index}.0", every),
        origin="measured",
        started_s=START + LAUNCH_S * index,
        batch=100,
        stop=Stop(reason="budget", precision=0.02, achieved=0.3),
        visits=made if visits else Visits(),
    )
