# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Results in sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone

from hockney.core.case import parse_canonical
from hockney.core.units import format_percent, format_seconds
from hockney.core.wording import listing, plural
from hockney.history.result import CheckedRun, ShownHistory
from hockney.models.history import FEWEST_RUNS, CheckedOperation, CheckState, LevelChange, TimeSeries
from hockney.pages.format import ratio_bounds

WORDS: dict[CheckState, str] = {
    "usual": "as usual",
    "unknown": "too few runs",
    "undecided": "undecided, runs differ too much",
}
MOST_LISTED = 5
USUAL = {"algorithm": "mpi", "buffers": "hot", "sync": "barrier", "iterations": 1}


def verdict(state: CheckState) -> str:
    return WORDS.get(state, state)


def day(seconds: float) -> str:
    """ "2026-01-31", UTC; empty outside the calendar's range."""
    return moment(seconds).partition(" ")[0]


def moment(seconds: float) -> str:
    try:
        date = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return ""
    return date.strftime("%Y-%m-%d %H:%M")


def short(series: TimeSeries) -> str:
    """ "allreduce bytes=64 ranks=4": without what nearly all cases have."""
    if not series.case:
        return series.workload
    case = parse_canonical(series.case)
    words = [f"{name}={value}" for name, value in case.values.items() if USUAL.get(name) != value]
    return " ".join([case.workload, *words])


def answer(checked: CheckedRun) -> tuple[str, ...]:
    """The result, then a sentence for each operation, the slower ones first."""
    order: Sequence[CheckState] = ("slower", "unknown", "undecided", "faster", "usual")
    ordered = sorted(checked.operations, key=lambda each: order.index(each.state))
    return (overall(checked), *(operation(each, checked) for each in ordered))


def wrong(checked: CheckedRun) -> str:
    return f"data arrived wrong in {plural(checked.wrong, 'record')} of the run"


def overall(checked: CheckedRun) -> str:
    """Wrong data first: times of operations whose results are wrong say little."""
    return f"{wrong(checked).capitalize()}. {times(checked)}" if checked.wrong else times(checked)


def times(checked: CheckedRun) -> str:
    count = len(checked.operations)
    of = plural(count, "operation")
    counted: Callable[..., int] = lambda *states: sum(each.state in states for each in checked.operations)  # noqa: E731
    slower, faster, open_ = counted("slower"), counted("faster"), counted("unknown", "undecided")
    against = f"the {plural(checked.earlier, 'earlier run')} on {checked.machine}"
    if slower:
        return f"The run is slower than usual in {slower} of {of}{_worst(checked)}."
    if checked.failed:
        return (
            f"Undecided: no operation is slower than usual, but {plural(len(checked.failed), 'case')} failed."
        )
    if checked.missing:
        lacks = plural(len(checked.missing), "case")
        return f"Undecided: no operation is slower than usual, but the run lacks {lacks} that it should have."
    if open_:
        needed = max((each.mean.needed for each in checked.operations), default=0)
        if needed:
            more = plural(needed, "more run")
            return (
                f"Undecided: {open_} of {of} {'has' if open_ == 1 else 'have'} too few earlier runs; "
                f"{more} would do (at least {FEWEST_RUNS})."
            )
        return f"Undecided: in {open_} of {of}, runs differ so much that twice the time would be usual."
    if faster:
        return f"The run is faster than usual in {faster} of {of}; none is slower."
    return f"The run is as usual: {of}, compared with {against}."


def _worst(checked: CheckedRun) -> str:
    slower = [case for each in checked.operations for case in each.of("slower")]
    if not slower:
        return ""
    worst = max(slower, key=lambda each: each.ratio.value)
    return f", most in {short(worst.series)} ({worst.ratio.value:.2f} times as long)"


def operation(each: CheckedOperation, checked: CheckedRun) -> str:
    """ "allreduce: slower in 3 of 12 cases, most in ...; on average 1.04 (95%: ...); ..."."""
    level = f" {each.level}" if each.level and checked.several_levels else ""
    count, mean = len(each.cases), each.mean
    parts = [
        f"{state} in {len(found)} of {plural(count, 'case')}, most in {short(found[0].series)}: "
        f"{found[0].ratio.value:.2f}{ratio_bounds(found[0].ratio)}"
        for state in ("slower", "faster")
        if (found := each.of(state))
    ]
    parts = parts or [verdict(each.state)]
    parts.append(f"on average {mean.ratio.value:.2f}{ratio_bounds(mean.ratio)} times the usual time")
    if mean.needed:
        parts.append(f"{plural(mean.needed, 'more run')} needed")
    elif mean.noticeable is not None:
        parts.append(f"a change by {format_percent(mean.noticeable - 1, 2)} would be noticed")
    if mean.since is not None:
        parts.append(f"usual since {since(mean.since)}")
    return f"{each.workload}{level}: {'; '.join(parts)}."


def since(change: LevelChange) -> str:
    """ "2026-01-31, when times became 1.20 (95%: 1.15 to 1.26) times as long"."""
    ratio = f"{change.ratio.value:.2f}{ratio_bounds(change.ratio)}"
    return f"{day(change.at.at_s)}, when times became {ratio} times as long"


def dates(change: LevelChange) -> str:
    """The days between which the change happened, with 95% certainty."""
    first, last = day(change.first_s), day(change.last_s)
    return first if first == last else f"{first} to {last}"


def run(checked: CheckedRun) -> str:
    """ "cases-20260131T093000Z-0123456789ab (new stack), node7, 2026-01-31 09:30 UTC, 12 earlier runs"."""
    label = f" ({checked.label})" if checked.label else ""
    earlier = plural(checked.earlier, "earlier run")
    return f"{checked.name}{label}, {checked.machine}, {moment(checked.at_s)} UTC, {earlier}"


def levels(checked: CheckedRun) -> list[str]:
    """The operations whose level has changed, since when the usual time is what it is."""
    return [
        f"{each.workload}: usual since {since(each.mean.since)}."
        for each in checked.operations
        if each.mean.since is not None
    ]


def without_result(checked: CheckedRun) -> list[str]:
    """What the run lacks."""
    texts = []
    if checked.failed:
        listed = listing([f"{case} ({reason})" for case, reason in checked.failed])
        texts.append(f"{plural(len(checked.failed), 'case')} failed: {listed}.")
    if checked.absent:
        count = plural(len(checked.absent), "operation")
        texts.append(f"The run has no result of {count} of the run before: {listing(checked.absent)}.")
    if checked.missing:
        listed = listing(list(checked.missing), MOST_LISTED)
        texts.append(f"It lacks {plural(len(checked.missing), 'case')} that it should have: {listed}.")
    return texts


def shown(history: ShownHistory) -> str:
    """The result: how many series changed, and the largest last change."""
    count = len(history.trends)
    changed = [(machine, trend) for machine, trend in history.trends if trend.changes]
    of = f"{count} {'series' if count > 1 else 'time series'} of {plural(history.runs, 'run')}"
    if not changed:
        return f"No change found in {of}."
    largest = max(changed, key=lambda each: abs(each[1].changes[-1].ratio.value - 1))
    change = largest[1].changes[-1]
    return (
        f"{len(changed)} of {of} changed; the largest last change: {short(largest[1].series)}, "
        f"{change.ratio.value:.2f}{ratio_bounds(change.ratio)} times as long since {day(change.at.at_s)}."
    )


def value(series: TimeSeries, log_value: float) -> str:
    """A time, or a percentage relative to the typical one for an operation."""
    return format_seconds(log_value) if series.case else f"{log_value:.3f}"
