# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a simulated twin behaves like the machine from which it was calibrated: both surveys compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hockney.core.fit import Estimate, Fit
from hockney.core.platform import CALLED
from hockney.simulated.calibrate.calls import collective
from hockney.simulated.calibrate.survey import Survey

WITHIN = 0.20
"""The largest deviation of a collective of the twin that counts as agreement, unless the real one's interval
is wider."""
MESSAGE_WITHIN = 0.05
"""The same of a message."""
HARDLY = 0.01
"""Descriptions are rounded, and reading the clock has an effect, by about this much."""
MODELS = ("hockney", "loggp")


@dataclass(frozen=True)
class Agreement:
    """One number of both, which agree if their relative difference is at most `within`, or else if the
    twin's is in the real one's interval (a parameter's, widened by `within`). `counts` is false where the
    real machine's own fit is poor, so that its parameters bind nobody. `fitted`: the calibration has used
    this very number, so that agreement shows no more than care."""

    what: str
    unit: str
    real: Estimate
    twin: float
    agrees: bool
    counts: bool
    fitted: bool
    within: float

    @property
    def error(self) -> float:
        return self.twin / self.real.value - 1 if self.real.value else 0.0


def compare(real: Survey, twin: Survey) -> list[Agreement]:
    """The ping-pong at each size, every fitted parameter, every collective between two ranks."""
    return [*_one_way(real, twin), *_parameters(real, twin), *_collectives(real, twin)]


def _one_way(real: Survey, twin: Survey) -> Iterator[Agreement]:
    simulated = twin.one_way
    for size, median in real.one_way.items():
        if size in simulated:
            value = simulated[size].value
            close = abs(value / median.value - 1) <= MESSAGE_WITHIN
            agrees = close or inside(value, median)
            name = f"{real.ping_pong} {size} B"
            yield Agreement(name, "s", median, value, agrees, True, True, MESSAGE_WITHIN)


def _parameters(real: Survey, twin: Survey) -> Iterator[Agreement]:
    theirs: dict[tuple[str, str], Fit] = {(f.model, f.line): f for f in twin.fits.fits}
    for fit in real.fits.fits:
        other = theirs.get((fit.model, fit.line))
        if fit.model not in MODELS or other is None:
            continue
        for parameter in fit.parameters:
            counterpart = other.parameter(parameter.symbol)
            if counterpart is not None:
                agrees = overlaps(counterpart.estimate, parameter.estimate)
                yield Agreement(
                    f"{parameter.symbol} of {fit.subject}",
                    parameter.unit,
                    parameter.estimate,
                    counterpart.estimate.value,
                    agrees,
                    fit.verdict in ("good", "fair"),
                    False,
                    HARDLY,
                )


def _collectives(real: Survey, twin: Survey) -> Iterator[Agreement]:
    for operation in CALLED:
        simulated = collective(twin, operation)
        for size, median in collective(real, operation).items():
            if size in simulated and (size > 0 or operation == "barrier"):
                value = simulated[size].value
                close = abs(value / median.value - 1) <= WITHIN
                words = operation if operation == "barrier" else f"{operation} {size} B"
                agrees = close or inside(value, median)
                yield Agreement(words, "s", median, value, agrees, True, True, WITHIN)


def inside(value: float, estimate: Estimate) -> bool:
    low = estimate.value if estimate.low is None else estimate.low
    high = estimate.value if estimate.high is None else estimate.high
    return low <= value <= high


def overlaps(twin: Estimate, real: Estimate) -> bool:
    """Whether the twin's value is in the real interval, which is open if the data do not limit it. A twin
    without noise has almost no interval itself."""
    low = 0.0 if real.low is None else real.low
    high = float("inf") if real.high is None else real.high
    return low * (1 - HARDLY) <= twin.value <= high * (1 + HARDLY)
