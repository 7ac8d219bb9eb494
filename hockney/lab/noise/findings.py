# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The doctor's findings about noise; the numbers go into its JSON document."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from hockney.core.binding import Cores
from hockney.core.catalog import Catalog
from hockney.core.errors import HockneyError
from hockney.lab.finding import Finding
from hockney.lab.noise import messages
from hockney.lab.noise.watch import COMPUTING, Launchers, Watch, WatchedCase, reachable, watch
from hockney.models.statistics import LOADED_OUTSIDE_CORES, LOADED_STEAL

LITTLE_SPREAD = 1.1
FEW_PREEMPTED = 0.05
WANTED_PRECISION = 0.02
WANTED_AT_S = 60.0
"""A survey's usual precision and budget."""


def noise_findings(
    launchers: Launchers, cores: Cores, catalog: Catalog, seconds: float, one_host: bool
) -> Iterator[Finding]:
    """Observe the machine for `seconds`, if it has two cores."""
    if one_host and min(cores.usable, len(cores.cpus)) < 2:
        yield messages.too_few_cores(min(cores.usable, len(cores.cpus)))
        return
    try:
        watched = watch(launchers, cores, catalog, seconds, one_host)
    except HockneyError as problem:
        yield messages.launch_failed(problem)
        return
    yield from explained(watched)


def explained(watched: Watch) -> Iterator[Finding]:
    if not watched.series:
        yield messages.too_few_visits(watched.seconds)
        return
    for series in watched.series:
        yield _times(series)
    quiet = _quiet(watched)
    yield _interference(watched, quiet)
    for series in watched.series:
        if series.usual:
            yield _precision(series, quiet)


def _what(series: WatchedCase) -> messages.What:
    return "computing" if series.case.workload == COMPUTING.split()[0] else "messages"


def _named(series: WatchedCase) -> dict[str, object]:
    return {"case": series.case.line, "cpus": series.cpus}


def _times(series: WatchedCase) -> Finding:
    found = series.noise
    numbers = _named(series) | {
        "typical_s": found.typical_s,
        "fast_s": found.fast_s,
        "slow_s": found.slow_s,
        "spread": found.spread,
        "visits": series.visits,
        "watched_s": found.watched_s,
        "preempted": series.preempted / max(1, series.visits),
        "correlation_s": found.correlation_s,
        "modes": None if found.modes is None else msgspec.to_builtins(found.modes),
    }
    steady = found.modes is None and found.spread <= LITTLE_SPREAD
    return messages.times_vary(
        _what(series), series.cpus, (found.fast_s, found.slow_s), found.modes, steady, numbers
    )


def _quiet(watched: Watch) -> bool:
    return (
        watched.preempted <= FEW_PREEMPTED
        and (watched.load.outside_cores or 0) <= LOADED_OUTSIDE_CORES
        and (watched.load.steal or 0) <= LOADED_STEAL
    )


def _interference(watched: Watch, quiet: bool) -> Finding:
    outside, steal = watched.load.outside_cores, watched.load.steal
    numbers = {
        "seconds": watched.seconds,
        "preempted": watched.preempted,
        "outside_cores": outside,
        "steal": steal,
    }
    return messages.interference(watched.seconds, watched.preempted, outside, steal, quiet, numbers)


def _precision(series: WatchedCase, quiet: bool) -> Finding:
    """`MeasuredNoise` clips visits that lost their core, and has seen only a few seconds of the load, so that
    on a busy machine its precision is promised only for the time after the load."""
    reached = reachable(series.noise)
    values = {f"{seconds:.0f}": value for seconds, value in reached.items()}
    now = values if quiet else dict.fromkeys(values)
    watched_s = series.noise.watched_s
    numbers = _named(series) | {
        "precision": now,
        "precision_when_quiet": values,
        "watched_s": watched_s,
    }
    known = {seconds: value for seconds, value in reached.items() if value is not None}
    if len(known) < len(reached):
        return messages.precision_unknown(_what(series), watched_s, numbers)
    if not quiet:
        return messages.precision_unknown_while_busy(_what(series), known, numbers)
    enough = known[WANTED_AT_S] <= WANTED_PRECISION
    return messages.precision_reachable(_what(series), known, enough, watched_s, numbers)
