# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of the surveys of a machine and of its simulated twin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from hockney.core import layout
from hockney.core.case import PLACE
from hockney.core.fit import Estimate, Subject
from hockney.core.platform import OPERATIONS_WITH_CALL_COSTS
from hockney.machines.simulated.calibrate.calls import collective
from hockney.machines.simulated.calibrate.survey import Survey, in_simulation

WITHIN = 0.20
"""The largest deviation of a collective of the twin that counts as agreement, unless the real one's interval
is wider."""
MESSAGE_WITHIN = 0.05
"""The largest deviation of a message that counts as agreement."""
HARDLY = 0.01
"""Descriptions are rounded, and reading the clock has an effect, by about this much."""
DECIDED = 0.25
"""A larger deviation inside the real one's interval is undecided: the interval is too wide to show whether
the twin is right."""
MODELS = ("hockney", "loggp")

Verdict = Literal["agrees", "undecided", "disagrees"]


@dataclass(frozen=True)
class Agreement:
    """Agreement of one quantity. A time agrees if its relative difference is at most `within`. Any quantity
    agrees if the twin's value is in the real interval (widened by `within` for parameters) and at most
    `DECIDED` off. It is undecided if it is in the interval but further off, otherwise it disagrees. `counts`
    is false if the real machine's fit is poor. `fitted` quantities were inputs of the calibration, so their
    agreement only confirms consistency."""

    what: str
    unit: str
    real: Estimate
    twin: float
    verdict: Verdict
    counts: bool
    fitted: bool
    within: float

    @property
    def error(self) -> float:
        return self.twin / self.real.value - 1 if self.real.value else 0.0


def compare(real: Survey, twin: Survey) -> list[Agreement]:
    """Compare the ping-pong at each size and level, all fitted parameters, and all collectives between two
    ranks."""
    levels = [(level, twin.at(in_simulation(level.place))) for level in real.levels]
    agreements = [
        agreement for level, twin_level in levels for agreement in _compare_one_way(level, twin_level)
    ]
    agreements += _compare_parameters(real, twin)
    return [
        *agreements,
        *(agreement for level, twin_level in levels for agreement in _compare_collectives(level, twin_level)),
    ]


def _level_text(survey: Survey) -> str:
    return f", {layout.LEVEL_PHRASES[layout.parse_level(survey.place)]}" if survey.place else ""


def _compare_one_way(real: Survey, twin: Survey) -> Iterator[Agreement]:
    simulated = twin.one_way
    for size, median in real.one_way.items():
        if size in simulated:
            value = simulated[size].value
            verdict = _time_verdict(value, median, MESSAGE_WITHIN)
            name = f"{real.ping_pong} {size} B{_level_text(real)}"
            yield Agreement(name, "s", median, value, verdict, True, True, MESSAGE_WITHIN)


def _compare_parameters(real: Survey, twin: Survey) -> Iterator[Agreement]:
    twin_fits = {(candidate.model, candidate.line): candidate for candidate in twin.fits.fits}
    for fit in real.fits.fits:
        level = str(fit.subject.get(PLACE, ""))
        twin_fit = twin_fits.get((fit.model, _twin_subject(fit.subject).line))
        if fit.model not in MODELS or level not in ("", *real.places) or twin_fit is None:
            continue
        for parameter in fit.parameters:
            counterpart = twin_fit.parameter(parameter.symbol)
            if counterpart is not None:
                value = counterpart.estimate.value
                inside_widened = overlaps(counterpart.estimate, parameter.estimate)
                yield Agreement(
                    f"{parameter.symbol} of {fit.subject}",
                    parameter.unit,
                    parameter.estimate,
                    value,
                    _verdict(value, parameter.estimate, inside_widened),
                    fit.verdict in ("good", "fair"),
                    False,
                    HARDLY,
                )


def _twin_subject(subject: Subject) -> Subject:
    """Subject of the twin's corresponding fit."""
    parameters = (
        (name, in_simulation(str(value)) if name == PLACE else value) for name, value in subject.fixed
    )
    return Subject(subject.workload, tuple(parameters))


def _compare_collectives(real: Survey, twin: Survey) -> Iterator[Agreement]:
    for operation in OPERATIONS_WITH_CALL_COSTS:
        simulated = collective(twin, operation)
        for size, median in collective(real, operation).items():
            if size in simulated and (size > 0 or operation == "barrier"):
                value = simulated[size].value
                description = (
                    operation if operation == "barrier" else f"{operation} {size} B"
                ) + _level_text(real)
                verdict = _time_verdict(value, median, WITHIN)
                yield Agreement(description, "s", median, value, verdict, True, True, WITHIN)


def _time_verdict(twin: float, real: Estimate, within: float) -> Verdict:
    if abs(twin / real.value - 1) <= within:
        return "agrees"
    return _verdict(twin, real, is_inside(twin, real))


def _verdict(twin: float, real: Estimate, in_interval: bool) -> Verdict:
    if not in_interval:
        return "disagrees"
    return "agrees" if abs(twin - real.value) <= DECIDED * abs(real.value) else "undecided"


def is_inside(value: float, estimate: Estimate) -> bool:
    low = estimate.value if estimate.low is None else estimate.low
    high = estimate.value if estimate.high is None else estimate.high
    return low <= value <= high


def overlaps(twin: Estimate, real: Estimate) -> bool:
    """Whether the twin's value is in the real interval, which may be unbounded. A twin without noise has
    almost no interval itself."""
    low = 0.0 if real.low is None else real.low
    high = float("inf") if real.high is None else real.high
    return low * (1 - HARDLY) <= twin.value <= high * (1 + HARDLY)
