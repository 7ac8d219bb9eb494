# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.case import MPI
from hockney.core.fit import Estimate, ExactValue
from hockney.core.wording import join_words, list_names, plural
from hockney.pages.format import percent, ratio_bounds, signed, with_interval
from hockney.pages.metrics import RATE
from hockney.suites.npb.programs.assumptions import ASSUMPTIONS
from hockney.suites.npb.studies.npb.columns import first_error, ratio_number
from hockney.suites.npb.studies.npb.results import (
    PARTS,
    MeanEffect,
    NpbPoint,
    NpbResults,
    possible_gain,
    predictions,
)

PLACES = ("step", "iteration")
PART_WORDS = {
    "computation": "computing",
    "messages": "in messages",
    "collectives": "in collectives",
    "waiting": "waiting for others",
}
"""Words for the parts of the ranks' time, without barriers."""


def headline(run: NpbResults) -> tuple[str, ...]:
    if not run.points:
        return ("Nothing was measured.",)
    cost, *more_barriers = [*_barrier_sentences(run), ""]
    texts = [
        _wrong_sentence(run),
        _speed_sentence(run),
        _time_sentence(run),
        cost,
        _skew_sentence(run),
        *more_barriers,
        _prediction_sentence(run),
    ]
    return tuple(text for text in texts if text)


def _wrong_sentence(run: NpbResults) -> str:
    if not run.wrong_points:
        return ""
    names = list(dict.fromkeys(p.kernel for p in run.wrong_points))
    example = run.wrong_points[0]
    return (
        f"Verified: no. {list_names(names, len(names))} gave wrong answers in {len(run.wrong_points)} of "
        f"{plural(len(run.points), 'case')}, so their times are not those of the benchmarks; "
        f"{example.kernel} on {plural(example.ranks, 'rank')}: {first_error(example.records)}."
    )


def _speed_sentence(run: NpbResults) -> str:
    """The speed-ups; on one rank only, or without one, the rates."""
    points = _headline_points(run)
    speedups = [(p, s) for p in points if p.ranks > 1 and (s := run.speedup(p)) is not None]
    if not speedups:
        rates = [f"{p.kernel} {with_interval(p.rate, RATE)}" for p in points if p.rate is not None]
        rate_list = list_names(rates, len(rates))
        return (
            f"On {plural(run.headline_ranks, 'rank')}, class {join_words(run.classes)}: {rate_list}."
            if rates
            else ""
        )
    speedups.sort(key=lambda pair: pair[1].value)
    location = f"On {plural(run.headline_ranks, 'rank')}"
    (slowest, lowest), (fastest, highest) = speedups[0], speedups[-1]
    if len(speedups) == 1:
        return (
            f"{location}, {slowest.kernel} of class {slowest.size} has a speed-up of {ratio_words(lowest)}."
        )
    return (
        f"{location}, the {len(speedups)} benchmarks (class {join_words(run.classes)}) have speed-ups from "
        f"{ratio_words(lowest)} for {slowest.kernel} to {ratio_words(highest)} for {fastest.kernel}."
    )


def _time_sentence(run: NpbResults) -> str:
    points = [p for p in _headline_points(run) if p.parts]
    if not points or run.headline_ranks == 1:
        return ""
    shares = {part: sum(p.share(part) for p in points) / len(points) for part in PARTS if part in PART_WORDS}
    share_list = join_words(f"{percent(share)} {PART_WORDS[part]}" for part, share in shares.items())
    text = f"Ranks spend {share_list}"
    if len(points) > 1:
        least_computing = max(points, key=_other_share)
        text += f", as the mean over the benchmarks; {least_computing.kernel} computes least, "
        text += f"{percent(1 - _other_share(least_computing))} of its time"
    return f"{text}."


def _other_share(p: NpbPoint) -> float:
    return 1 - p.share("computation")


def _barrier_sentences(run: NpbResults) -> Iterator[str]:
    """The paper's question at each place: what MPI's barrier costs, and what a better one wins back."""
    for barrier_at in PLACES:
        mpi, best = run.mean(run.headline_ranks, barrier_at, MPI), run.best(run.headline_ranks, barrier_at)
        effect = mpi or best
        if effect is None:
            continue
        name = "MPI's barrier" if effect is mpi else f"the barrier {effect.barrier}"
        text = f"With {name} after every {barrier_at}, {_longer_words(effect)}"
        if mpi is not None and best is not None:
            text += f"; {_comparison_words(run, best, mpi.barriers)}"
        yield f"{text}."


def _longer_words(effect: MeanEffect) -> str:
    """ "the 8 benchmarks take 1.04 times as long (95%: 1.02 to 1.06) in the geometric mean"."""
    count = len(effect.kernels)
    if count == 1:
        return f"{effect.kernels[0]} takes {ratio_words(effect.cost)} times as long"
    return f"the {count} benchmarks take {ratio_words(effect.cost)} times as long in the geometric mean"


def _comparison_words(run: NpbResults, best: MeanEffect, barrier_share: float) -> str:
    """The gain of the best other barrier, as a share of the time with MPI's: at most `barrier_share`."""
    other_count = sum(
        (e.ranks, e.barrier_at) == (best.ranks, best.barrier_at) and e.barrier != MPI for e in run.means
    )
    name = best.barrier if other_count == 1 else f"{best.barrier}, the best of {other_count} others,"
    win = best.win
    if win is None:
        return f"{name} cannot be compared with it"
    if not isinstance(win, ExactValue):
        if win.low is None or win.high is None:
            return f"it is unknown whether {name} differs from it"
        if win.low <= 0 <= win.high:
            return (
                f"{name} does not change that significantly: it wins back {percent(win.value)}{_bounds(win)}"
            )
        possible = possible_gain(win, barrier_share)
        if possible is None:
            return (
                f"undecided whether {name} wins back any of that: its time is {percent(win.value)}"
                f"{_bounds(win)} shorter, but only {percent(barrier_share)} of it is spent in barriers"
            )
        win = possible
    share = f"{percent(abs(win.value))}{_bounds(win)} of that time"
    return f"{name} takes {share} more" if win.value < 0 else f"{name} wins back {share}"


def _bounds(share: Estimate) -> str:
    """ " (95%: 1.2% to 3.4%)", of the size of the share; empty if it is exact."""
    if isinstance(share, ExactValue) or share.low is None or share.high is None:
        return ""
    ends = (-share.high, -share.low) if share.high < 0 else (share.low, share.high)
    return f" (95%: {percent(ends[0])} to {percent(ends[1])})"


def _skew_sentence(run: NpbResults) -> str:
    """Arrival skew next to the cost of the barrier itself, with MPI's barrier at as many places as there are;
    the sentence before is about the same place."""
    for barrier_at in PLACES:
        mpi = run.mean(run.headline_ranks, barrier_at, MPI)
        if mpi is not None:
            return (
                f"Ranks then spend {percent(mpi.barriers)} of the time in barriers after the last rank has "
                f"arrived, which a better barrier could win back, and {percent(mpi.waiting)} waiting for "
                "ranks that arrive later, which it could not."
            )
    return ""


def _prediction_sentence(run: NpbResults) -> str:
    """A sentence on the errors of the predictions, and the cause of the worst."""
    results = predictions(run)
    error, worst = results.median_error, results.worst
    if error is None or worst is None:
        return ""
    name = f"{worst.point.kernel} on {plural(worst.point.ranks, 'rank')}"
    if len(results.of) == 1:
        text = f"The time of {name} was predicted with an error of {signed(worst.diagnosis.error)}"
    else:
        text = f"The predicted times are off by {percent(error)} (median of {len(results.of)}), at most by "
        text += f"{signed(worst.diagnosis.error)} for {name}"
    failing = worst.diagnosis.failing
    if failing is None:
        return f"{text}."
    where = f", above all in the phase '{worst.diagnosis.phase}'" if worst.diagnosis.phase else ""
    return f"{text}: it does not hold there that {ASSUMPTIONS[failing]}{where}."


def _headline_points(run: NpbResults) -> list[NpbPoint]:
    return [p for p in run.plain if p.ranks == run.headline_ranks]


def ratio_words(value: Estimate) -> str:
    """ "1.95 (95%: 1.90 to 1.99)"."""
    return f"{ratio_number(value.value)}{ratio_bounds(value)}"
