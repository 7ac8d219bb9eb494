# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The doctor's findings about noise; the numbers go into its JSON document."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from hockney.core.binding import Cores
from hockney.core.catalog import Catalog
from hockney.core.errors import HockneyError
from hockney.core.fit import Modes
from hockney.core.units import format_percent, format_seconds
from hockney.measurement.finding import Finding
from hockney.measurement.noise.watch import COMPUTING, Launchers, Watch, WatchedCase, reachable, watch
from hockney.models.statistics import LOADED_OUTSIDE_CORES, LOADED_STEAL

What = Literal["computing", "messages"]

SUBJECT = "noise"

BUSY = "machine-busy"

QUIET = "machine-quiet"

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
        yield noise_skipped(f"this needs 2 cores; available: {min(cores.usable, len(cores.cpus))}")
        return
    try:
        watched = watch(launchers, cores, catalog, seconds, one_host)
    except HockneyError as problem:
        yield Finding("note", SUBJECT, f"not measured: {problem}", "noise-launch-failed")
        return
    yield from explained(watched)


def explained(watched: Watch) -> Iterator[Finding]:
    if not watched.series:
        yield Finding(
            "note",
            SUBJECT,
            f"unknown: too few visits in {format_seconds(watched.seconds, 2)}; use a longer --noise",
            "noise-too-few-visits",
        )
        return
    for series in watched.series:
        yield _times(series)
    quiet = _quiet(watched)
    yield _interference(watched, quiet)
    for series in watched.series:
        if series.usual:
            yield _precision(series, quiet)


def _what(series: WatchedCase) -> What:
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
    return _times_vary(_what(series), series.cpus, (found.fast_s, found.slow_s), found.modes, steady, numbers)


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
    return _interference_found(watched.seconds, watched.preempted, outside, steal, quiet, numbers)


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
        return _precision_unknown(_what(series), watched_s, numbers)
    if not quiet:
        return _precision_unknown_while_busy(_what(series), known, numbers)
    enough = known[WANTED_AT_S] <= WANTED_PRECISION
    return _precision_reachable(_what(series), known, enough, watched_s, numbers)


def _times_vary(
    what: What,
    cpus: Sequence[str],
    ends: tuple[float, float],
    modes: Modes | None,
    steady: bool,
    numbers: Mapping[str, object],
) -> Finding:
    """`ends` are the 10% and 90% points of the times of visits."""
    cores = ("cpus " if len(cpus) > 1 else "cpu ") + " and ".join(cpus)
    fast, slow = ends
    text = (
        f"{_activity(what)} on {cores}: {format_seconds(fast)} to {format_seconds(slow)}"
        f" in 80% of the visits (ratio {slow / fast:.2f})"
    )
    if modes is not None:
        lasting = f", each lasting about {format_seconds(modes.dwell_s, 2)}" if modes.dwell_s else ""
        text += (
            f"; two modes, {format_seconds(modes.fast_s)} and {format_seconds(modes.slow_s)}"
            f" ({format_percent(modes.slow_share, 2)} of the visits){lasting}"
        )
    return Finding(
        "good" if steady else "note", SUBJECT, text, "noise-low" if steady else "noise-high", numbers
    )


def _precision_reachable(
    what: What,
    reached: Mapping[float, float],
    enough: bool,
    watched_s: float,
    numbers: Mapping[str, object],
) -> Finding:
    """`reached` is the half width of a 95% interval, by the seconds of the budget."""
    text = (
        f"{_activity(what)}: a run as large as a survey can reach a precision of about "
        f"{_precisions_within(reached)}, if the machine stays as in these {format_seconds(watched_s, 2)}; a "
        "mode that lasts longer may be several times as slow or fast"
    )
    if what == "messages":
        text += "; most cases of a survey vary more than this one"
    return Finding(
        "good" if enough else "note",
        SUBJECT,
        text,
        "precision-reachable" if enough else "precision-low",
        numbers,
    )


def _precision_unknown_while_busy(
    what: What, reached: Mapping[float, float], numbers: Mapping[str, object]
) -> Finding:
    """`reached` as above, after the other programs have stopped."""
    text = (
        f"{_activity(what)}: the precision of a survey on this busy machine cannot be predicted; on the "
        f"quiet machine, a run as large as a survey can reach about {_precisions_within(reached)}"
    )
    return Finding("note", SUBJECT, text, "precision-while-busy", numbers)


def _precision_unknown(what: What, watched_s: float, numbers: Mapping[str, object]) -> Finding:
    longer = 4 * max(15, math.ceil(watched_s))
    text = (
        f"{_activity(what)}: the precision of a survey is unknown, because modes last longer than the "
        f"observation ({format_seconds(watched_s, 2)}); use --noise {longer}s"
    )
    return Finding("note", SUBJECT, text, "precision-unknown", numbers)


def _precisions_within(reached: Mapping[float, float]) -> str:
    return ", ".join(
        f"{format_percent(value, 2)} in {_budget(seconds)}" for seconds, value in reached.items()
    )


def _budget(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def _interference_found(
    seconds: float,
    preempted: float,
    outside_cores: float | None,
    steal: float | None,
    quiet: bool,
    numbers: Mapping[str, object],
) -> Finding:
    """`preempted` is a share of the visits, `steal` of the processor time. The machine is `quiet` if all are
    small."""
    parts = [f"ranks lost their cores in {format_percent(preempted, 2)} of the visits"]
    if outside_cores is not None:
        parts.append(f"other programs used {outside_cores:.2f} processors")
    if steal is not None:
        parts.append(f"the hypervisor took {format_percent(steal, 2)} of processor time")
    text = f"during {format_seconds(seconds, 2)}: {', '.join(parts)}"
    if not quiet:
        text += "; stop other programs before measuring"
    return Finding("good" if quiet else "note", SUBJECT, text, QUIET if quiet else BUSY, numbers)


def noise_skipped(reason: str) -> Finding:
    return Finding("note", SUBJECT, f"not measured: {reason}", "noise-not-measured")


def _activity(what: What) -> str:
    return {"computing": "computing for 20 us", "messages": "messages of 8 B"}[what]
