# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Records of simulated machines with made-up times."""

from __future__ import annotations

from collections.abc import Mapping

from hockney.core.case import Case
from hockney.core.record import SCHEMA, MetricSeries, Record, Stop, Sync, Verified


def made_up(case: Case, seconds: float, metrics: Mapping[str, MetricSeries] | None = None) -> Record:
    """One repetition that took `seconds`."""
    return Record(
        schema=SCHEMA,
        launch="0.0",
        origin="simulated",
        position=0,
        case=case.line,
        started_s=0.0,
        times_s=[seconds],
        batch=1,
        warmup_s=[],
        bytes_moved=case.bytes,
        sync=Sync(kind="none"),
        stop=Stop(reason="repetitions", precision=0.02, achieved=None),
        verified=Verified(bytes=0, errors=0),
        metrics=dict(metrics or {}),
    )
