# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How the cost of one case changed during the run: the times of its visits, and a description of its
modes."""

from __future__ import annotations

from statistics import median, quantiles

from hockney.core.catalog import PING_PONG
from hockney.core.fit import Modes
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Section
from hockney.pages.evidence import Evidence, MeasuredCase
from hockney.pages.format import format_share, quantity
from hockney.pages.levels import level_phrase

MIN_VISITS = 10
MIN_RELATIVE_RANGE = 0.1
"""The visits vary if the range of their middle 80% exceeds this fraction of their median."""
MAX_POINTS = 1000
"""If there are more visits, only every second, third and so on is drawn."""


def section(evidence: Evidence) -> Section | None:
    """Return the section on the most important case, or None if all its visits took about the same time."""
    case = _main_case(evidence)
    if case is None or evidence.machine.traits.noiseless:
        return None
    visits = _visit_times(evidence, case)
    if len(visits) < MIN_VISITS:
        return None
    deciles = quantiles((time_s for _, time_s in visits), n=10, method="inclusive")
    low_s, median_s, high_s = deciles[0], deciles[4], deciles[8]
    modes = case.summary.modes
    if modes is None and high_s - low_s <= MIN_RELATIVE_RANGE * median_s:
        return None
    sentence = (
        f"{_subject(case)} {quantity(low_s, 's')} to {quantity(high_s, 's')} in the middle 80% of the visits."
    )
    return Section(
        title="Course over time",
        text=(sentence if modes is None else _describe_modes(case, modes),),
        figures=(_figure(case, visits),),
        closed=True,
    )


def _main_case(evidence: Evidence) -> MeasuredCase | None:
    """Return the smallest ping-pong at the nearest level, or else the first case."""
    ping_pongs = [m for m in evidence.levels[0].measured if m.workload.performs(*PING_PONG)]
    hot_ping_pongs = [m for m in ping_pongs if m.case.get("buffers", "hot") == "hot"]
    smallest_case = min(hot_ping_pongs or ping_pongs, key=lambda m: m.size, default=None)
    return smallest_case or next(iter(evidence.measured), None)


def _visit_times(evidence: Evidence, measured_case: MeasuredCase) -> list[tuple[float, float]]:
    """Return the start of each visit, in seconds since the start of the run, and its median time (s), in
    order. Visits of loaded launches are included, because they are of interest here."""
    records = [
        record for record in evidence.run.by_case().get(measured_case.summary.case, []) if record.times_s
    ]
    run_start_s = min((record.started_s for record in evidence.run.records), default=0.0)
    visits = (
        (start_s - run_start_s, median(times_s))
        for record in records
        for start_s, times_s in zip(record.visit_starts_s, record.times_by_visit, strict=True)
    )
    return sorted(visits, key=lambda visit: visit[0])


def _describe_modes(measured_case: MeasuredCase, modes: Modes) -> str:
    fast, slow = quantity(modes.fast_s, "s"), quantity(modes.slow_s, "s")
    switching = (
        "it did not change during any launch"
        if modes.dwell_s is None
        else f"the machine switches about every {_rounded_duration(modes.dwell_s)}"
    )
    return (
        f"{_subject(measured_case)} {fast} in {format_share(1 - modes.slow_share)} of the visits and "
        f"{slow} in "
        f"{format_share(modes.slow_share)}; {switching}."
    )


def _subject(measured_case: MeasuredCase) -> str:
    if measured_case.workload.performs(*PING_PONG):
        return f"{_name(measured_case)} costs"
    return f"{measured_case.case.line} takes"


def _name(measured_case: MeasuredCase) -> str:
    if measured_case.workload.performs(*PING_PONG):
        return " ".join(
            filter(
                None,
                (f"A message of {quantity(measured_case.size, 'B')}", level_phrase(measured_case.case.place)),
            )
        )
    return measured_case.case.line


def _rounded_duration(seconds: float) -> str:
    """Format a duration, such as "4 s". The durations of modes are only known to one digit."""
    number, unit = quantity(float(f"{seconds:.1g}"), "s").split()
    return f"{float(number):g} {unit}"


def _figure(measured_case: MeasuredCase, visits: list[tuple[float, float]]) -> Figure:
    step = -(-len(visits) // MAX_POINTS)
    x, y = zip(*visits[::step], strict=True)
    note = "" if step == 1 else f" One of {step} visits is drawn."
    return Figure(
        name="course",
        title=f"{_name(measured_case)} over time",
        x=Axis("time since the run began", "s", "linear"),
        y=Axis("time", "s", "linear"),
        series=(Series("median of a visit", x, y),),
        caption=f"One point per visit; launches follow one another.{note}",
    )
