# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the noise of this machine for the doctor. A few launches visit two cases as often as possible:
computing, which needs just a core, and short messages between two cores. The numbers go into the doctor's
JSON document."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass

import msgspec

from hockney.core.case import Case, parse_canonical
from hockney.core.catalog import Catalog
from hockney.core.errors import HockneyError
from hockney.core.layout import Cores
from hockney.core.record import Launch, Line, Record, RunRecords
from hockney.core.units import format_percent, format_seconds
from hockney.discovery.load import Load, load_between, moment
from hockney.launch.launcher import Launcher, LaunchOptions
from hockney.measurement.budget import TYPICAL_COST_S, VISITS, launch_count
from hockney.measurement.events import Finding
from hockney.models.statistics import (
    LOADED_OUTSIDE_CORES,
    LOADED_STEAL,
    MeasuredNoise,
    launch_times,
    measure_noise,
)

SUBJECT = "noise"

BUSY = "machine-busy"

QUIET = "machine-quiet"

STEADY_SPREAD = 1.1
QUIET_PREEMPTED_SHARE = 0.05
WANTED_PRECISION = 0.02
WANTED_AT_S = 60.0
"""A survey's usual precision and budget."""


def noise_findings(
    launchers: Launchers, cores: Cores, catalog: Catalog, seconds: float, one_host: bool
) -> Iterator[Finding]:
    """Observe the machine for `seconds`, if it has two cores."""
    if one_host and min(cores.usable, len(cores.cpus)) < 2:
        yield noise_skipped(f"this needs 2 cores; available: {min(cores.usable, len(cores.cpus))}")
        return
    try:
        watched = watch_noise(launchers, cores, catalog, seconds, one_host)
    except HockneyError as problem:
        yield Finding("note", SUBJECT, f"not measured: {problem}", "noise-launch-failed")
        return
    yield from explain(watched)


def explain(watched: NoiseWatch) -> Iterator[Finding]:
    if not watched.series:
        text = f"unknown: too few visits in {format_seconds(watched.seconds, 2)}; use a longer --noise"
        yield Finding("note", SUBJECT, text, "noise-too-few-visits")
        return
    for series in watched.series:
        yield _times_finding(series)
    quiet = _is_quiet(watched)
    yield _interference_finding(watched, quiet)
    for series in watched.series:
        if series.usual:
            yield _precision_finding(series, quiet)


def _case_numbers(series: WatchedCase) -> dict[str, object]:
    return {"case": series.case.line, "cpus": series.cpus}


def _times_finding(series: WatchedCase) -> Finding:
    noise, modes = series.noise, series.noise.modes
    text = (
        f"{series.activity} on {'cpus' if len(series.cpus) > 1 else 'cpu'} {' and '.join(series.cpus)}: "
        f"{format_seconds(noise.fast_s)} to {format_seconds(noise.slow_s)} in 80% of the visits "
        f"(ratio {noise.slow_s / noise.fast_s:.2f})"
    )
    if modes is not None:
        lasting = f", each lasting about {format_seconds(modes.dwell_s, 2)}" if modes.dwell_s else ""
        text += (
            f"; two modes, {format_seconds(modes.fast_s)} and {format_seconds(modes.slow_s)}"
            f" ({format_percent(modes.slow_share, 2)} of the visits){lasting}"
        )
    numbers = _case_numbers(series) | {
        "typical_s": noise.typical_s,
        "fast_s": noise.fast_s,
        "slow_s": noise.slow_s,
        "spread": noise.spread,
        "visits": series.visits,
        "watched_s": noise.watched_s,
        "preempted": series.preempted / max(1, series.visits),
        "correlation_s": noise.correlation_s,
        "modes": None if modes is None else msgspec.to_builtins(modes),
    }
    if modes is None and noise.spread <= STEADY_SPREAD:
        return Finding("good", SUBJECT, text, "noise-low", numbers)
    return Finding("note", SUBJECT, text, "noise-high", numbers)


def _is_quiet(watched: NoiseWatch) -> bool:
    return (
        watched.preempted <= QUIET_PREEMPTED_SHARE
        and (watched.load.outside_cores or 0) <= LOADED_OUTSIDE_CORES
        and (watched.load.steal or 0) <= LOADED_STEAL
    )


def _interference_finding(watched: NoiseWatch, quiet: bool) -> Finding:
    """Reports the load from other programs."""
    outside, steal = watched.load.outside_cores, watched.load.steal
    parts = [f"ranks lost their cores in {format_percent(watched.preempted, 2)} of the visits"]
    if outside is not None:
        parts.append(f"other programs used {outside:.2f} processors")
    if steal is not None:
        parts.append(f"the hypervisor took {format_percent(steal, 2)} of processor time")
    text = f"during {format_seconds(watched.seconds, 2)}: {', '.join(parts)}"
    numbers = {
        "seconds": watched.seconds,
        "preempted": watched.preempted,
        "outside_cores": outside,
        "steal": steal,
    }
    if quiet:
        return Finding("good", SUBJECT, text, QUIET, numbers)
    return Finding("note", SUBJECT, f"{text}; stop other programs before measuring", BUSY, numbers)


def _precision_finding(series: WatchedCase, quiet: bool) -> Finding:
    """`MeasuredNoise` clips visits that lost their core, and has seen only a few seconds of the load, so that
    on a busy machine its precision is promised only for the time after the load."""
    precisions = reachable_precision(series.noise)
    watched_s = series.noise.watched_s
    values = {f"{seconds:.0f}": value for seconds, value in precisions.items()}
    numbers = _case_numbers(series) | {
        "precision": values if quiet else dict.fromkeys(values),
        "precision_when_quiet": values,
        "watched_s": watched_s,
    }
    reachable = {seconds: value for seconds, value in precisions.items() if value is not None}
    if len(reachable) < len(precisions):
        text = (
            f"{series.activity}: the precision of a survey is unknown, because modes last longer than the "
            f"observation ({format_seconds(watched_s, 2)}); use --noise {4 * max(15, math.ceil(watched_s))}s"
        )
        return Finding("note", SUBJECT, text, "precision-unknown", numbers)
    within = ", ".join(
        f"{format_percent(value, 2)} in {_budget(seconds)}" for seconds, value in reachable.items()
    )
    if not quiet:
        text = (
            f"{series.activity}: the precision of a survey on this busy machine cannot be predicted; on the "
            f"quiet machine, a run as large as a survey can reach about {within}"
        )
        return Finding("note", SUBJECT, text, "precision-while-busy", numbers)
    text = (
        f"{series.activity}: a run as large as a survey can reach a precision of about {within}, if the "
        f"machine stays as in these {format_seconds(watched_s, 2)}; a mode that lasts longer may be several "
        "times as slow or fast"
    )
    if series.activity == ACTIVITIES[MESSAGES]:
        text += "; most cases of a survey vary more than this one"
    if reachable[WANTED_AT_S] <= WANTED_PRECISION:
        return Finding("good", SUBJECT, text, "precision-reachable", numbers)
    return Finding("note", SUBJECT, text, "precision-low", numbers)


def _budget(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def noise_skipped(reason: str) -> Finding:
    return Finding("note", SUBJECT, f"not measured: {reason}", "noise-not-measured")


COMPUTING, MESSAGES = "compute work=20us", "pingpong bytes=8"
ACTIVITIES = {COMPUTING: "computing for 20 us", MESSAGES: "messages of 8 B"}
SINGLE_RANK_SHARE = 0.2
"""Fraction of the time for a single rank."""
USUAL_SHARE = 0.5
"""Fraction of the remaining time for the two cores to which ranks are bound, if there are other pairs."""
MOST_PAIRS = 4
MOST_LAUNCHES = 6
"""On the usual two cores, to measure how much launches differ."""
LAUNCH_S = 1.0
"""Minimum for each of them."""

VISIT_S = 0.25e-3
"""Shorter than any visit, so that visits continue until the time is up."""
REPETITIONS = 30
"""Per visit."""
UNREACHABLE = 1e-6
"""A precision that no case reaches, because it would not be visited any more."""

BUDGETS_S = (30.0, 60.0, 300.0)

Launchers = Callable[[Cores], Launcher]


@dataclass(frozen=True)
class WatchedCase:
    """One case on the cores `cpus`, as reported by the ranks. `usual`: whether two ranks are bound there by
    default."""

    case: Case
    cpus: tuple[str, ...]
    usual: bool
    visits: int
    preempted: int
    noise: MeasuredNoise

    @property
    def activity(self) -> str:
        return next(text for case, text in ACTIVITIES.items() if case.split()[0] == self.case.workload)


@dataclass(frozen=True)
class NoiseWatch:
    series: tuple[WatchedCase, ...]
    load: Load
    seconds: float

    @property
    def preempted(self) -> float:
        """The share of visits during which a rank was preempted."""
        return sum(s.preempted for s in self.series) / max(1, sum(s.visits for s in self.series))


def watch_noise(
    launchers: Launchers, cores: Cores, catalog: Catalog, seconds: float, one_host: bool
) -> NoiseWatch:
    """The noise of one core and of a few pairs of cores, `seconds` in all without starting ranks. On several
    hosts only of the pair that the MPI chooses. Raises LaunchFailed."""
    before = moment()
    left = (1 - SINGLE_RANK_SHARE) * seconds
    others = other_core_pairs(cores) if one_host else []
    usual = USUAL_SHARE * left if others else left
    launches = max(1, min(MOST_LAUNCHES, int(usual / LAUNCH_S)))
    series = _watched_cases(
        _launch(launchers(cores), catalog, 1, SINGLE_RANK_SHARE * seconds, 0), usual=False
    )
    lines: list[Line] = []
    for index in range(1, launches + 1):
        lines += _launch(launchers(cores), catalog, 2, usual / launches, index)
    series += _watched_cases(lines, usual=True)
    for index, pair in enumerate(others, start=launches + 1):
        share = (left - usual) / len(others)
        series += _watched_cases(_launch(launchers(pair), catalog, 2, share, index), usual=False)
    after = moment()
    return NoiseWatch(tuple(series), load_between(before, after), after.wall_s - before.wall_s)


def other_core_pairs(cores: Cores) -> list[Cores]:
    """Distinct pairs besides the first two cores, to which ranks are bound: the first and the last, the last
    two, the first and the middle one."""
    last = len(cores.cpus) - 1
    wanted = [(0, last), (last - 1, last), (0, len(cores.cpus) // 2)]
    pairs = {pair for pair in wanted if pair[0] >= 0 and pair[0] != pair[1]} - {(0, 1)}
    return [
        Cores(tuple(cores.cpus[i] for i in pair), tuple(cores.logical[i] for i in pair), 2, True)
        for pair in sorted(pairs, key=wanted.index)
    ][: MOST_PAIRS - 1]


SURVEY_CASES = 180
"""Approximate number of cases of a survey on two ranks."""


def reachable_precision(measured_noise: MeasuredNoise) -> dict[float, float | None]:
    """The approximate precision that a survey reaches, by its budget in seconds."""
    precisions = {}
    for budget in BUDGETS_S:
        launches = launch_count(budget, TYPICAL_COST_S, 1, SURVEY_CASES)
        precisions[budget] = measured_noise.precision(budget, launches, launches * VISITS)
    return precisions


def _launch(launcher: Launcher, catalog: Catalog, ranks: int, seconds: float, index: int) -> list[Line]:
    plan = [catalog.case(text, ranks) for text in (COMPUTING, MESSAGES)[:ranks]]
    visits = max(2, int(seconds / len(plan) / VISIT_S))
    options = LaunchOptions(
        f"noise.{index}",
        index,
        seconds,
        precision=UNREACHABLE,
        max_repetitions=REPETITIONS * visits,
        visits=visits,
    )
    with closing(launcher.run(plan, ranks, options)) as lines:
        return [line for line in lines if isinstance(line, Launch | Record)]


def _watched_cases(lines: Iterable[Line], usual: bool) -> list[WatchedCase]:
    """The cases of launches of the same ranks; those with too few visits are left out."""
    run = RunRecords.of(lines)
    cpus = tuple(rank.cpus for rank in run.launches[-1].ranks) if run.launches else ()
    watched = []
    for case, records in run.by_case().items():
        times = [launch_times(record) for record in records if record.times_s]
        found = measure_noise([launch.visits for launch in times], [launch.at_s for launch in times])
        if found is not None:
            lost = [count > 0 for record in records for count in record.visits.preempted]
            watched.append(WatchedCase(parse_canonical(case), cpus, usual, len(lost), sum(lost), found))
    return watched
