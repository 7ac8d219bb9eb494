# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""LogGP by the parametrised round trip time PRTT(n, d, s): n messages of s bytes, d seconds apart, one back.

T. Hoefler, A. Lichei, W. Rehm, 'Low-Overhead LogGP Parameter Assessment for Modern Interconnection
Networks', IPDPS 2007 (PMEO-PDS); LogGP itself: Alexandrov, Ionescu, Schauser, Scheiman, SPAA'95.

    o_s(s)       = (PRTT(n, d, s) - PRTT(1, 0, s)) / (n - 1) - d       with d longer than the gap
    g + G (s-1)  = (PRTT(n, 0, s) - PRTT(1, 0, s)) / (n - 1)           a line over s, g >= 0 and G >= 0
    o_r(s)       = the receive call, timed when the message has arrived already
    L            = PRTT(1, 0, s) / 2 - o_s(s) - o_r(s) - G (s-1)       at the smallest s

Some programs state half of PRTT(1, 0, s) as L, overheads included; here they are taken out, as in LogGP.
Every one of these is a linear combination of the cases' median times (`linear`). The fit's curve is the
time of one message, L + o_s(s) + o_r(s) + G (s-1), to be compared with a ping-pong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.fit import CurvePoint, Fit, FittedParameter, Subject
from hockney.models.fits.linear import SizeLine
from hockney.models.fits.model import SIZE, Scope, explains
from hockney.models.fits.verdict import deviations, refused, verdict
from hockney.models.statistics import Medians, Observation

TRAIN, OVERHEAD = "train", "overhead"
"""Roles of what the model is made of: trains of messages, and the receive call by itself."""


@explains(TRAIN, order=2, free=("messages", "delay", SIZE), together_with=(OVERHEAD,))
def of_trains(observations: Sequence[Observation], subject: Subject, scope: Scope) -> list[Fit]:
    return [fit_loggp(observations, subject)]


def fit_loggp(observations: Sequence[Observation], subject: Subject) -> Fit:
    """The model from all observations of trains and receive calls that belong together.

    Parameters by symbol: L, o_s, o_r, g (s), G, O_s, O_r (s/B). o_s and o_r hold at the smallest size
    measured; O_s and O_r are what they grow by with each further byte.
    """
    seen = [each for each in observations if each.role in (TRAIN, OVERHEAD)]
    inputs = _Inputs.of(seen)
    missing = inputs.missing()
    if missing:
        return refused("loggp", subject, missing)
    return _report(Medians.of(seen), inputs, subject)


@dataclass(frozen=True)
class _Inputs:
    """Which row of the observations is what, by size: PRTT(1,0,s); PRTT(n,0,s) with n; PRTT(n,d,s) with
    n and d; the receive call. The largest n and d win."""

    single: dict[int, int]
    burst: dict[int, tuple[int, int]]
    delayed: dict[int, tuple[int, int, float]]
    receive: dict[int, int]

    @staticmethod
    def of(seen: Sequence[Observation]) -> _Inputs:
        single, burst, delayed, receive = {}, {}, {}, {}
        ascending = sorted(range(len(seen)), key=lambda row: _count_and_delay(seen[row]))
        for row in ascending:
            count, delay = _count_and_delay(seen[row])
            size = int(seen[row].size)
            if seen[row].role == OVERHEAD:
                receive[size] = row
            elif count == 1 and delay == 0:
                single[size] = row
            elif count > 1 and delay == 0:
                burst[size] = (row, count)
            elif count > 1:
                delayed[size] = (row, count, delay)
        return _Inputs(single, burst, delayed, receive)

    def missing(self) -> str:
        """What forbids the fit, in words; empty when all is there."""
        gaps = self.single.keys() & self.burst.keys()
        if len(gaps) < 2:
            return f"g and G need PRTT(1,0,s) and PRTT(n,0,s) at two sizes at least; there are {len(gaps)}"
        if not self.single.keys() & self.delayed.keys():
            return "o_s needs PRTT(n,d,s) with a delay d > 0 at a size that PRTT(1,0,s) has; there is none"
        if not self.receive:
            return "o_r needs a receive call timed after the message came (receive_overhead); there is none"
        return ""


def _count_and_delay(seen: Observation) -> tuple[int, float]:
    return int(seen.case.number("messages", 1)), float(seen.case.number("delay"))


def _lines(medians: Medians, inputs: _Inputs) -> tuple[SizeLine, SizeLine, SizeLine]:
    """The lines of the gap, of o_s and of o_r."""
    cases = len(medians.center)

    def difference(more: int, single: int, count: int) -> np.ndarray:
        row = np.zeros(cases)
        row[more], row[single] = 1 / (count - 1), -1 / (count - 1)
        return row

    sizes = sorted(inputs.single.keys() & inputs.burst.keys())
    rows = np.array([difference(inputs.burst[s][0], inputs.single[s], inputs.burst[s][1]) for s in sizes])
    gap = SizeLine.through(medians, sizes, rows, np.zeros(len(sizes)), 1.0)

    sizes = sorted(inputs.single.keys() & inputs.delayed.keys())
    rows = np.array([difference(inputs.delayed[s][0], inputs.single[s], inputs.delayed[s][1]) for s in sizes])
    delays = np.array([inputs.delayed[s][2] for s in sizes])
    send = SizeLine.through(medians, sizes, rows, -delays, float(sizes[0]))

    sizes = sorted(inputs.receive)
    rows = np.eye(cases)[[inputs.receive[s] for s in sizes]]
    receive = SizeLine.through(medians, sizes, rows, np.zeros(len(sizes)), float(sizes[0]))
    return gap, send, receive


def _report(medians: Medians, inputs: _Inputs, subject: Subject) -> Fit:
    gap, send, receive = _lines(medians, inputs)
    smallest = min(inputs.single)
    half_trip = np.zeros(len(medians.center))
    half_trip[inputs.single[smallest]] = 0.5
    steps = max(smallest - 1, 0)
    (o_s, send_row, send_constant), (o_r, receive_row, receive_constant) = (
        send.at(smallest),
        receive.at(smallest),
    )
    free = float(half_trip @ medians.center) - o_s - o_r - steps * gap.slope
    row = half_trip - send_row - receive_row - steps * gap.rows[1]
    constant = -send_constant - receive_constant - steps * gap.constants[1]
    latency = medians.contrast(max(free, 0.0), row, constant)

    parameters = [FittedParameter(name="latency of the network", symbol="L", unit="s", estimate=latency)]
    for line, name, symbol, slope_name, slope in (
        (send, "overhead of sending", "o_s", "overhead of sending a byte", "O_s"),
        (receive, "overhead of receiving", "o_r", "overhead of receiving a byte", "O_r"),
        (gap, "gap between messages", "g", "gap between bytes", "G"),
    ):
        note = "" if line is gap else f"at {line.origin:g} B"
        base, per_byte = line.parameters(medians)
        parameters.append(FittedParameter(name=name, symbol=symbol, unit="s", estimate=base, note=note))
        parameters.append(FittedParameter(name=slope_name, symbol=slope, unit="s/B", estimate=per_byte))

    sizes = sorted(inputs.single.keys() & inputs.burst.keys())
    bursts = medians.center[[inputs.burst[s][0] for s in sizes]]
    fitted = np.array(
        [medians.center[inputs.single[s]] + (inputs.burst[s][1] - 1) * gap.at(s)[0] for s in sizes]
    )
    grade, why = verdict(
        bursts, fitted, errors=medians.errors, doubts=_doubts(medians, inputs, free, send, gap)
    )
    error, worst = deviations(bursts, fitted)

    curve = []
    for size in sizes:
        parts = [send.at(size), receive.at(size)]
        longer = max(size - 1, 0)
        one_way = medians.contrast(
            latency.value + sum(part[0] for part in parts) + longer * gap.slope,
            row + sum(part[1] for part in parts) + longer * gap.rows[1],
            constant + sum(part[2] for part in parts) + longer * gap.constants[1],
        )
        ends = (one_way.value if end is None else end for end in (one_way.low, one_way.high))
        curve.append(CurvePoint(float(size), one_way.value, *ends))
    return Fit(
        model="loggp",
        line=subject.line,
        parameters=parameters,
        verdict=grade,
        why=why,
        error=error,
        worst=worst,
        curve=curve,
    )


def _doubts(
    medians: Medians, inputs: _Inputs, free_latency: float, send: SizeLine, gap: SizeLine
) -> list[str]:
    doubts = []
    if free_latency < 0:
        doubts.append(
            "the overheads measured exceed half the round trip, as they may where both ends work at the same "
            "time (shared memory), so L is set to 0"
        )
    if send.base == 0:
        doubts.append("the delayed messages took no longer than the delays, so o_s is set to 0")
    # A sender that waits less than the gap is held up by the network: its steps then take the gap.
    short = [s for s, (_, _, delay) in inputs.delayed.items() if delay + send.at(s)[0] < 1.05 * gap.at(s)[0]]
    if short:
        doubts.append(
            f"the delay is shorter than the gap at {min(short)} B and more, so o_s is too large there"
        )
    return doubts
