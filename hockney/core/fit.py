# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What `fits.json` holds: summaries of cases and fitted models, all derived from `records.jsonl`.

Every number comes with its 95% interval, every fit with a verdict.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Verdict = Literal["good", "fair", "poor", "refused"]


class Estimate(msgspec.Struct, frozen=True):
    """A value with its 95% interval; the ends are None where the data allow no interval."""

    value: float
    low: float | None
    high: float | None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """One case over all its launches.

    `median` is the median time of one operation (s). `within` is the spread inside a launch (the
    interquartile range over the median, averaged over launches), `between` the spread of the launches'
    medians (their standard deviation over the median; None with one launch). `quartiles` are the 5, 25,
    75 and 95% points of all repetitions (s).
    """

    case: str
    median: Estimate
    quartiles: tuple[float, float, float, float]
    within: float
    between: float | None
    repetitions: int
    launches: int
    bytes_moved: int
    verified_bytes: int
    errors: int


class FittedParameter(msgspec.Struct, frozen=True, kw_only=True):
    """One fitted parameter. `symbol` as the field writes it (L, o_s, r_inf), `unit` s, B, s/B, B/s or ""."""

    name: str
    symbol: str
    unit: str
    estimate: Estimate
    note: str = ""


class CurvePoint(msgspec.Struct, frozen=True):
    """The fitted model at `x` (bytes or ranks): time in seconds with the 95% band of the model."""

    x: float
    time: float
    low: float
    high: float


class FittedSegment(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of a piecewise model: time = latency + bytes * per_byte for first <= bytes < beyond."""

    first: int
    beyond: int | None
    latency: Estimate
    per_byte: Estimate


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """One model fitted to the records of one subject.

    `model` names it (hockney, loggp, logarithmic, linear), `subject` is the workload with the
    parameters held fixed ("pingpong buffers=hot ranks=2"), `error` the median relative error of the
    model over the points it was fitted to, `worst` the largest. `verdict` refused means: `parameters`
    is empty and `why` says what in the data forbids the fit.
    """

    model: str
    subject: str
    parameters: list[FittedParameter]
    verdict: Verdict
    why: str
    error: float | None = None
    worst: float | None = None
    segments: list[FittedSegment] = []
    change_points: list[Estimate] = []
    curve: list[CurvePoint] = []

    def parameter(self, symbol: str) -> FittedParameter | None:
        return next((p for p in self.parameters if p.symbol == symbol), None)


class Fits(msgspec.Struct, frozen=True, kw_only=True):
    """The whole of `fits.json`."""

    schema: int
    summaries: list[Summary]
    fits: list[Fit]

    def of(self, model: str, workload: str) -> list[Fit]:
        return [f for f in self.fits if f.model == model and f.subject.split()[0] == workload]
