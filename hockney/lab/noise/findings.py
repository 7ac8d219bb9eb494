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
    yield _interference(watched)
    for series in watched.series:
        if series.usual:
            yield _precision(series)


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


def _interference(watched: Watch) -> Finding:
    outside, steal = watched.load.outside_cores, watched.load.steal
    numbers = {
        "seconds": watched.seconds,
        "preempted": watched.preempted,
        "outside_cores": outside,
        "steal": steal,
    }
    quiet = (
        watched.preempted <= FEW_PREEMPTED
        and (outside or 0) <= LOADED_OUTSIDE_CORES
        and (steal or 0) <= LOADED_STEAL
    )
    return messages.interference(watched.seconds, watched.preempted, outside, steal, quiet, numbers)


def _precision(series: WatchedCase) -> Finding:
    reached = reachable(series.noise)
    numbers = _named(series) | {"precision": {f"{seconds:.0f}": value for seconds, value in reached.items()}}
    known = {seconds: value for seconds, value in reached.items() if value is not None}
    if len(known) < len(reached):
        return messages.precision_unknown(_what(series), series.noise.watched_s, numbers)
    return messages.precision_reachable(_what(series), known, known[WANTED_AT_S] <= WANTED_PRECISION, numbers)
