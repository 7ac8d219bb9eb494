# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the noise of this machine for the doctor. A few launches visit two cases as often as possible:
computing, which needs only one core, and short messages between two cores. The numbers are part of the
doctor's JSON document."""

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
from hockney.measurement.budget import TYPICAL_LAUNCH_COST_S, VISITS_PER_CASE, launch_count
from hockney.measurement.events import Finding
from hockney.models.statistics import (
    LOADED_OUTSIDE_CORES,
    LOADED_STEAL,
    MeasuredNoise,
    launch_times,
    measure_noise,
)

FINDING_SUBJECT = "noise"

BUSY_CODE = "machine-busy"

QUIET_CODE = "machine-quiet"

MAX_STEADY_SPREAD = 1.1
MAX_QUIET_PREEMPTED_SHARE = 0.05
SURVEY_PRECISION = 0.02
SURVEY_BUDGET_S = 60.0
"""The usual precision and budget of a survey."""


def noise_findings(
    create_launcher: LauncherFactory, cores: Cores, catalog: Catalog, seconds: float, one_host: bool
) -> Iterator[Finding]:
    """Observe the machine for `seconds`, if it has two cores."""
    if one_host and min(cores.usable, len(cores.cpus)) < 2:
        yield noise_skipped_finding(f"this needs 2 cores; available: {min(cores.usable, len(cores.cpus))}")
        return
    try:
        noise_watch = watch_noise(create_launcher, cores, catalog, seconds, one_host)
    except HockneyError as problem:
        yield Finding("note", FINDING_SUBJECT, f"not measured: {problem}", "noise-launch-failed")
        return
    yield from noise_explanations(noise_watch)


def noise_explanations(noise_watch: NoiseWatch) -> Iterator[Finding]:
    if not noise_watch.series:
        text = f"unknown: too few visits in {format_seconds(noise_watch.seconds, 2)}; use a longer --noise"
        yield Finding("note", FINDING_SUBJECT, text, "noise-too-few-visits")
        return
    for series in noise_watch.series:
        yield _times_finding(series)
    is_quiet = _is_quiet(noise_watch)
    yield _interference_finding(noise_watch, is_quiet)
    for series in noise_watch.series:
        if series.is_default_pair:
            yield _precision_finding(series, is_quiet)


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
        duration_text = f", each lasting about {format_seconds(modes.dwell_s, 2)}" if modes.dwell_s else ""
        text += (
            f"; two modes, {format_seconds(modes.fast_s)} and {format_seconds(modes.slow_s)}"
            f" ({format_percent(modes.slow_share, 2)} of the visits){duration_text}"
        )
    numbers = _case_numbers(series) | {
        "typical_s": noise.typical_s,
        "fast_s": noise.fast_s,
        "slow_s": noise.slow_s,
        "spread": noise.spread,
        "visits": series.visit_count,
        "watched_s": noise.watched_s,
        "preempted": series.preempted_visits / max(1, series.visit_count),
        "correlation_s": noise.correlation_s,
        "modes": None if modes is None else msgspec.to_builtins(modes),
    }
    if modes is None and noise.spread <= MAX_STEADY_SPREAD:
        return Finding("good", FINDING_SUBJECT, text, "noise-low", numbers)
    return Finding("note", FINDING_SUBJECT, text, "noise-high", numbers)


def _is_quiet(noise_watch: NoiseWatch) -> bool:
    return (
        noise_watch.preempted_share <= MAX_QUIET_PREEMPTED_SHARE
        and (noise_watch.load.outside_cores or 0) <= LOADED_OUTSIDE_CORES
        and (noise_watch.load.steal or 0) <= LOADED_STEAL
    )


def _interference_finding(noise_watch: NoiseWatch, is_quiet: bool) -> Finding:
    """Report the load from other programs."""
    outside_cores, steal_share = noise_watch.load.outside_cores, noise_watch.load.steal
    parts = [f"ranks lost their cores in {format_percent(noise_watch.preempted_share, 2)} of the visits"]
    if outside_cores is not None:
        parts.append(f"other programs used {outside_cores:.2f} processors")
    if steal_share is not None:
        parts.append(f"the hypervisor took {format_percent(steal_share, 2)} of processor time")
    text = f"during {format_seconds(noise_watch.seconds, 2)}: {', '.join(parts)}"
    numbers = {
        "seconds": noise_watch.seconds,
        "preempted": noise_watch.preempted_share,
        "outside_cores": outside_cores,
        "steal": steal_share,
    }
    if is_quiet:
        return Finding("good", FINDING_SUBJECT, text, QUIET_CODE, numbers)
    return Finding(
        "note", FINDING_SUBJECT, f"{text}; stop other programs before measuring", BUSY_CODE, numbers
    )


def _precision_finding(series: WatchedCase, is_quiet: bool) -> Finding:
    """Report the precision that a survey can reach. `MeasuredNoise` clips visits that lost their core, and
    observed only a few seconds of the load. On a busy machine, the precision therefore applies only to the
    time after the load."""
    precisions = reachable_precision(series.noise)
    watched_s = series.noise.watched_s
    precision_by_budget = {f"{seconds:.0f}": value for seconds, value in precisions.items()}
    numbers = _case_numbers(series) | {
        "precision": precision_by_budget if is_quiet else dict.fromkeys(precision_by_budget),
        "precision_when_quiet": precision_by_budget,
        "watched_s": watched_s,
    }
    reachable = {seconds: value for seconds, value in precisions.items() if value is not None}
    if len(reachable) < len(precisions):
        text = (
            f"{series.activity}: the precision of a survey is unknown, because modes last longer than the "
            f"observation ({format_seconds(watched_s, 2)}); use --noise {4 * max(15, math.ceil(watched_s))}s"
        )
        return Finding("note", FINDING_SUBJECT, text, "precision-unknown", numbers)
    precision_text = ", ".join(
        f"{format_percent(value, 2)} in {_format_budget(seconds)}" for seconds, value in reachable.items()
    )
    if not is_quiet:
        text = (
            f"{series.activity}: the precision of a survey on this busy machine cannot be predicted; on the "
            f"quiet machine, a run as large as a survey can reach about {precision_text}"
        )
        return Finding("note", FINDING_SUBJECT, text, "precision-while-busy", numbers)
    text = (
        f"{series.activity}: a run as large as a survey can reach a precision of about {precision_text}, "
        "if the "
        f"machine stays as in these {format_seconds(watched_s, 2)}; a mode that lasts longer may be several "
        "times as slow or fast"
    )
    if series.activity == ACTIVITIES[MESSAGE_CASE]:
        text += "; most cases of a survey vary more than this one"
    if reachable[SURVEY_BUDGET_S] <= SURVEY_PRECISION:
        return Finding("good", FINDING_SUBJECT, text, "precision-reachable", numbers)
    return Finding("note", FINDING_SUBJECT, text, "precision-low", numbers)


def _format_budget(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def noise_skipped_finding(reason: str) -> Finding:
    return Finding("note", FINDING_SUBJECT, f"not measured: {reason}", "noise-not-measured")


COMPUTE_CASE, MESSAGE_CASE = "compute work=20us", "pingpong bytes=8"
ACTIVITIES = {COMPUTE_CASE: "computing for 20 us", MESSAGE_CASE: "messages of 8 B"}
SINGLE_RANK_SHARE = 0.2
"""Fraction of the time for a single rank."""
DEFAULT_PAIR_SHARE = 0.5
"""Fraction of the remaining time for the two cores to which ranks are bound by default, if other pairs are
measured too."""
MAX_PAIRS = 4
MAX_LAUNCHES = 6
"""Maximum number of launches on the default pair of cores, which show how much launches differ."""
MIN_LAUNCH_S = 1.0
"""Minimum time of each of these launches."""

MIN_VISIT_S = 0.25e-3
"""Shorter than any visit, so that visits continue until the time is used up."""
REPETITIONS_PER_VISIT = 30
"""Repetitions of each visit."""
UNREACHABLE_PRECISION = 1e-6
"""A precision that no case reaches, because a precise case would not be visited any more."""

BUDGETS_S = (30.0, 60.0, 300.0)

LauncherFactory = Callable[[Cores], Launcher]


@dataclass(frozen=True)
class WatchedCase:
    """One case on the cores `cpus`, as reported by the ranks. `is_default_pair` is set if two ranks are bound
    to these cores by default."""

    case: Case
    cpus: tuple[str, ...]
    is_default_pair: bool
    visit_count: int
    preempted_visits: int
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
    def preempted_share(self) -> float:
        """The share of visits during which a rank was preempted."""
        return sum(case.preempted_visits for case in self.series) / max(
            1, sum(case.visit_count for case in self.series)
        )


def watch_noise(
    create_launcher: LauncherFactory, cores: Cores, catalog: Catalog, seconds: float, one_host: bool
) -> NoiseWatch:
    """Measure the noise of one core and of a few pairs of cores, for `seconds` in total, without the time to
    start ranks. On several hosts, only the pair that the MPI selects is measured. Raises LaunchFailed."""
    start_load = moment()
    pairs_s = (1 - SINGLE_RANK_SHARE) * seconds
    other_pairs = other_core_pairs(cores) if one_host else []
    default_pair_s = DEFAULT_PAIR_SHARE * pairs_s if other_pairs else pairs_s
    launches = max(1, min(MAX_LAUNCHES, int(default_pair_s / MIN_LAUNCH_S)))
    series = _watched_cases(
        _launch(create_launcher(cores), catalog, 1, SINGLE_RANK_SHARE * seconds, 0), is_default_pair=False
    )
    lines: list[Line] = []
    for index in range(1, launches + 1):
        lines += _launch(create_launcher(cores), catalog, 2, default_pair_s / launches, index)
    series += _watched_cases(lines, is_default_pair=True)
    for index, pair in enumerate(other_pairs, start=launches + 1):
        pair_s = (pairs_s - default_pair_s) / len(other_pairs)
        series += _watched_cases(
            _launch(create_launcher(pair), catalog, 2, pair_s, index), is_default_pair=False
        )
    end_load = moment()
    return NoiseWatch(tuple(series), load_between(start_load, end_load), end_load.wall_s - start_load.wall_s)


def other_core_pairs(cores: Cores) -> list[Cores]:
    """Return different pairs from the first two cores, to which ranks are bound: the first and the last, the
    last two, and the first and the middle one."""
    last_index = len(cores.cpus) - 1
    candidates = [(0, last_index), (last_index - 1, last_index), (0, len(cores.cpus) // 2)]
    pairs = {pair for pair in candidates if pair[0] >= 0 and pair[0] != pair[1]} - {(0, 1)}
    return [
        Cores(tuple(cores.cpus[i] for i in pair), tuple(cores.logical[i] for i in pair), 2, True)
        for pair in sorted(pairs, key=candidates.index)
    ][: MAX_PAIRS - 1]


SURVEY_CASE_COUNT = 180
"""Approximate number of cases of a survey on two ranks."""


def reachable_precision(measured_noise: MeasuredNoise) -> dict[float, float | None]:
    """Return the approximate precision that a survey reaches, by its budget in seconds."""
    precisions = {}
    for budget in BUDGETS_S:
        launches = launch_count(budget, TYPICAL_LAUNCH_COST_S, 1, SURVEY_CASE_COUNT)
        precisions[budget] = measured_noise.precision(budget, launches, launches * VISITS_PER_CASE)
    return precisions


def _launch(launcher: Launcher, catalog: Catalog, ranks: int, seconds: float, index: int) -> list[Line]:
    plan = [catalog.case(text, ranks) for text in (COMPUTE_CASE, MESSAGE_CASE)[:ranks]]
    visits = max(2, int(seconds / len(plan) / MIN_VISIT_S))
    options = LaunchOptions(
        f"noise.{index}",
        index,
        seconds,
        precision=UNREACHABLE_PRECISION,
        max_repetitions=REPETITIONS_PER_VISIT * visits,
        visits=visits,
    )
    with closing(launcher.run(plan, ranks, options)) as lines:
        return [line for line in lines if isinstance(line, Launch | Record)]


def _watched_cases(lines: Iterable[Line], is_default_pair: bool) -> list[WatchedCase]:
    """Return the cases of launches with the same ranks, without those with too few visits."""
    run = RunRecords.of(lines)
    cpus = tuple(rank.cpus for rank in run.launches[-1].ranks) if run.launches else ()
    watched_cases = []
    for case, records in run.by_case().items():
        times_by_launch = [launch_times(record) for record in records if record.times_s]
        case_noise = measure_noise(
            [launch.visits for launch in times_by_launch], [launch.at_s for launch in times_by_launch]
        )
        if case_noise is not None:
            preemptions = [count > 0 for record in records for count in record.visits.preempted]
            watched_cases.append(
                WatchedCase(
                    parse_canonical(case),
                    cpus,
                    is_default_pair,
                    len(preemptions),
                    sum(preemptions),
                    case_noise,
                )
            )
    return watched_cases
