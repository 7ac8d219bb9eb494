# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of noise findings of 'hockney doctor'."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from hockney.core.errors import HockneyError
from hockney.core.fit import Modes
from hockney.core.units import format_percent, format_seconds
from hockney.lab.finding import Finding

What = Literal["computing", "messages"]
SUBJECT = "noise"
QUIET, BUSY = "machine-quiet", "machine-busy"
"""Codes of the finding that includes the load."""


def _name(what: What) -> str:
    return {"computing": "computing for 20 us", "messages": "messages of 8 B"}[what]


def not_real() -> Finding:
    return _skipped("only real machines have noise to measure")


def too_few_cores(cores: int) -> Finding:
    return _skipped(f"this needs 2 cores; available: {cores}")


def no_launch(problem: HockneyError) -> Finding:
    return _skipped(f"no ranks can be started ({problem.what})")


def launch_failed(problem: HockneyError) -> Finding:
    return Finding("note", SUBJECT, f"not measured: {problem}", "noise-launch-failed")


def too_few_visits(seconds: float) -> Finding:
    return Finding(
        "note",
        SUBJECT,
        f"unknown: too few visits in {format_seconds(seconds, 2)}; use a longer --noise",
        "noise-too-few-visits",
    )


def times_vary(
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
        f"{_name(what)} on {cores}: {format_seconds(fast)} to {format_seconds(slow)}"
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


def interference(
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


def precision_reachable(
    what: What,
    reached: Mapping[float, float],
    enough: bool,
    watched_s: float,
    numbers: Mapping[str, object],
) -> Finding:
    """`reached` is the half width of a 95% interval, by the seconds of the budget."""
    text = (
        f"{_name(what)}: a run as large as a survey can reach a precision of about {_precisions(reached)}, "
        f"if the machine stays as in these {format_seconds(watched_s, 2)}; a mode that lasts longer may be "
        "several times as slow or fast"
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


def precision_unknown_while_busy(
    what: What, reached: Mapping[float, float], numbers: Mapping[str, object]
) -> Finding:
    """`reached` as above, after the other programs have stopped."""
    text = (
        f"{_name(what)}: the precision of a survey on this busy machine cannot be predicted; on the quiet "
        f"machine, a run as large as a survey can reach about {_precisions(reached)}"
    )
    return Finding("note", SUBJECT, text, "precision-while-busy", numbers)


def precision_unknown(what: What, watched_s: float, numbers: Mapping[str, object]) -> Finding:
    longer = 4 * max(15, math.ceil(watched_s))
    text = (
        f"{_name(what)}: the precision of a survey is unknown, because modes last longer than the observation"
        f" ({format_seconds(watched_s, 2)}); use --noise {longer}s"
    )
    return Finding("note", SUBJECT, text, "precision-unknown", numbers)


def _precisions(reached: Mapping[float, float]) -> str:
    return ", ".join(
        f"{format_percent(value, 2)} in {_budget(seconds)}" for seconds, value in reached.items()
    )


def _budget(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def _skipped(reason: str) -> Finding:
    return Finding("note", SUBJECT, f"not measured: {reason}", "noise-not-measured")
