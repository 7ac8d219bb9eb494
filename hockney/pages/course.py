# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How the cost of one case changed during the run: its visits against time, and a description of its
modes."""

from __future__ import annotations

from statistics import median, quantiles

from hockney.core.catalog import PING_PONG
from hockney.core.fit import Modes
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Section
from hockney.pages.evidence import Evidence, Measured
from hockney.pages.format import percent, quantity
from hockney.pages.levels import place_words

MIN_VISITS = 10
VARIES = 0.1
"""Visits vary if their middle 80% spread over more than this fraction of their median."""
MAX_POINTS = 1000
"""With more visits only every second, third and so on is drawn."""


def section(evidence: Evidence) -> Section | None:
    """The section for the most important case; None if its visits are all alike."""
    case = _most_important(evidence)
    if case is None or evidence.machine.traits.noiseless:
        return None
    visits = _visits(evidence, case)
    if len(visits) < MIN_VISITS:
        return None
    tenths = quantiles((time_s for _, time_s in visits), n=10, method="inclusive")
    low, middle, high = tenths[0], tenths[4], tenths[8]
    modes = case.summary.modes
    if modes is None and high - low <= VARIES * middle:
        return None
    cost = f"{_subject(case)} {quantity(low, 's')} to {quantity(high, 's')} in the middle 80% of the visits."
    return Section(
        title="Course over time",
        text=(cost if modes is None else _in_modes(case, modes),),
        figures=(_figure(case, visits),),
        closed=True,
    )


def _most_important(evidence: Evidence) -> Measured | None:
    """The smallest ping-pong, at the nearest level, else the first case."""
    ping_pongs = [m for m in evidence.levels[0].measured if m.workload.performs(*PING_PONG)]
    hot = [m for m in ping_pongs if m.case.get("buffers", "hot") == "hot"]
    smallest = min(hot or ping_pongs, key=lambda m: m.size, default=None)
    return smallest or next(iter(evidence.measured), None)


def _visits(evidence: Evidence, m: Measured) -> list[tuple[float, float]]:
    """The start of each visit, in seconds since the run's start, and its median time (s), in order. Includes
    visits of loaded launches, which are of interest here."""
    records = [record for record in evidence.run.by_case().get(m.summary.case, []) if record.times_s]
    began = min((record.started_s for record in evidence.run.records), default=0.0)
    visits = (
        (at_s - began, median(times_s))
        for record in records
        for at_s, times_s in zip(record.visit_starts_s, record.times_by_visit, strict=True)
    )
    return sorted(visits, key=lambda visit: visit[0])


def _in_modes(m: Measured, modes: Modes) -> str:
    fast, slow = quantity(modes.fast_s, "s"), quantity(modes.slow_s, "s")
    changes = (
        "it did not change during any launch"
        if modes.dwell_s is None
        else f"the machine switches about every {_roughly(modes.dwell_s)}"
    )
    return (
        f"{_subject(m)} {fast} in {percent(1 - modes.slow_share)} of the visits and {slow} in "
        f"{percent(modes.slow_share)}; {changes}."
    )


def _subject(m: Measured) -> str:
    if m.workload.performs(*PING_PONG):
        return f"{_name(m)} costs"
    return f"{m.case.line} takes"


def _name(m: Measured) -> str:
    if m.workload.performs(*PING_PONG):
        return " ".join(filter(None, (f"A message of {quantity(m.size, 'B')}", place_words(m.case.place))))
    return m.case.line


def _roughly(seconds: float) -> str:
    """ "4 s": durations of modes are known to one digit only."""
    number, unit = quantity(float(f"{seconds:.1g}"), "s").split()
    return f"{float(number):g} {unit}"


def _figure(m: Measured, visits: list[tuple[float, float]]) -> Figure:
    every = -(-len(visits) // MAX_POINTS)
    x, y = zip(*visits[::every], strict=True)
    drawn = "" if every == 1 else f" One of {every} visits is drawn."
    return Figure(
        name="course",
        title=f"{_name(m)} over time",
        x=Axis("time since the run began", "s", "linear"),
        y=Axis("time", "s", "linear"),
        series=(Series("median of a visit", x, y),),
        caption=f"One point per visit; launches follow one another.{drawn}",
    )
