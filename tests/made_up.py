# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Records with made-up times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hockney.core.case import Case
from hockney.core.machine import Mpi
from hockney.core.record import SCHEMA, MetricSeries, Record, Stop, Sync, Verified


def record(case: Case | str, times: Sequence[float], **changes: Any) -> Record:
    line = case if isinstance(case, str) else case.line
    fields = {
        "schema": SCHEMA, "launch": "0.0", "origin": "measured", "position": 0, "case": line,
        "started_s": 0.0, "times_s": list(times), "batch": 1, "warmup_s": [], "bytes_moved": 0,
        "sync": Sync(kind="none"), "stop": Stop(reason="precision", precision=0.02, achieved=None),
        "verified": Verified(bytes=0, errors=0),
    }  # fmt: skip
    return Record(**{**fields, **changes})


def made_up(case: Case, seconds: float, metrics: Mapping[str, MetricSeries] | None = None) -> Record:
    """One repetition that took `seconds` on a simulated machine."""
    stop = Stop(reason="repetitions", precision=0.02, achieved=None)
    metrics = dict(metrics or {})
    return record(case, [seconds], origin="simulated", bytes_moved=case.bytes, stop=stop, metrics=metrics)


def made_up_mpi(family: str = "openmpi", version: str = "5.0.11", prefix: object = "/p", **more: str) -> Mpi:
    programs = {"mpicxx": f"{prefix}/bin/mpicxx", "mpiexec": "mpiexec", "source": "option"}
    return Mpi(family=family, version=version, prefix=str(prefix), **{**programs, **more})
