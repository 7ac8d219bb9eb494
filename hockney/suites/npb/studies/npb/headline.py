# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.case import MPI
from hockney.core.fit import Estimate, ExactValue
from hockney.core.wording import join_words, list_names, plural
from hockney.pages.format import format_share, format_signed, ratio_interval_suffix, with_interval
from hockney.pages.metrics import RATE_UNIT
from hockney.suites.npb.programs.assumptions import ASSUMPTIONS
from hockney.suites.npb.studies.npb.columns import first_error, ratio_number
from hockney.suites.npb.studies.npb.results import (
    PARTS,
    MeanEffect,
    NpbPoint,
    NpbResults,
    possible_saving,
    predictions,
)

PLACES = ("step", "iteration")
PART_PHRASES = {
    "computation": "computing",
    "messages": "in messages",
    "collectives": "in collectives",
    "waiting": "waiting for others",
}
"""Phrases for the parts of the ranks' time, without barriers."""


def headline(run: NpbResults) -> tuple[str, ...]:
    if not run.points:
        return ("Nothing was measured.",)
    barrier_sentence, *more_barrier_sentences = [*_barrier_sentences(run), ""]
    sentences = [
        _wrong_sentence(run),
        _speed_sentence(run),
        _time_sentence(run),
        barrier_sentence,
        _skew_sentence(run),
        *more_barrier_sentences,
        _prediction_sentence(run),
    ]
    return tuple(sentence for sentence in sentences if sentence)


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
    """Returns a sentence on the speed-ups, or on the rates if only one rank was measured or one rank is
    missing."""
    points = _headline_points(run)
    speedups = [(p, speedup) for p in points if p.ranks > 1 and (speedup := run.speedup(p)) is not None]
    if not speedups:
        rates = [f"{p.kernel} {with_interval(p.rate, RATE_UNIT)}" for p in points if p.rate is not None]
        rate_list = list_names(rates, len(rates))
        return (
            f"On {plural(run.headline_ranks, 'rank')}, class {join_words(run.classes)}: {rate_list}."
            if rates
            else ""
        )
    speedups.sort(key=lambda pair: pair[1].value)
    location = f"On {plural(run.headline_ranks, 'rank')}"
    (slowest_point, lowest_speedup), (fastest_point, highest_speedup) = speedups[0], speedups[-1]
    if len(speedups) == 1:
        return (
            f"{location}, {slowest_point.kernel} of class {slowest_point.size} has a speed-up of "
            f"{ratio_text(lowest_speedup)}."
        )
    return (
        f"{location}, the {len(speedups)} benchmarks (class {join_words(run.classes)}) have speed-ups from "
        f"{ratio_text(lowest_speedup)} for {slowest_point.kernel} to "
        f"{ratio_text(highest_speedup)} for {fastest_point.kernel}."
    )


def _time_sentence(run: NpbResults) -> str:
    points = [p for p in _headline_points(run) if p.parts]
    if not points or run.headline_ranks == 1:
        return ""
    shares = {
        part: sum(p.share(part) for p in points) / len(points) for part in PARTS if part in PART_PHRASES
    }
    share_list = join_words(f"{format_share(share)} {PART_PHRASES[part]}" for part, share in shares.items())
    text = f"Ranks spend {share_list}"
    if len(points) > 1:
        max_overhead_point = max(points, key=_non_computation_share)
        text += f", as the mean over the benchmarks; {max_overhead_point.kernel} computes least, "
        text += f"{format_share(1 - _non_computation_share(max_overhead_point))} of its time"
    return f"{text}."


def _non_computation_share(p: NpbPoint) -> float:
    return 1 - p.share("computation")


def _barrier_sentences(run: NpbResults) -> Iterator[str]:
    """Yields a sentence on each place of barriers: the cost of MPI's barrier, and the time that a better
    one saves, which is the paper's question."""
    for barrier_at in PLACES:
        mpi_effect, best_effect = (
            run.mean_effect(run.headline_ranks, barrier_at, MPI),
            run.best_effect(run.headline_ranks, barrier_at),
        )
        effect = mpi_effect or best_effect
        if effect is None:
            continue
        name = "MPI's barrier" if effect is mpi_effect else f"the barrier {effect.barrier}"
        text = f"With {name} after every {barrier_at}, {_slowdown_text(effect)}"
        if mpi_effect is not None and best_effect is not None:
            text += f"; {_comparison_text(run, best_effect, mpi_effect.barrier_share)}"
        yield f"{text}."


def _slowdown_text(effect: MeanEffect) -> str:
    """Returns a text such as "the 8 benchmarks take 1.04 times as long (95%: 1.02 to 1.06) in the
    geometric mean"."""
    count = len(effect.kernels)
    if count == 1:
        return f"{effect.kernels[0]} takes {ratio_text(effect.cost)} times as long"
    return f"the {count} benchmarks take {ratio_text(effect.cost)} times as long in the geometric mean"


def _comparison_text(run: NpbResults, best_effect: MeanEffect, barrier_share: float) -> str:
    """Returns a text on the saving by the best other barrier, as a share of the time with MPI's and at
    most `barrier_share`."""
    other_count = sum(
        (effect.ranks, effect.barrier_at) == (best_effect.ranks, best_effect.barrier_at)
        and effect.barrier != MPI
        for effect in run.mean_effects
    )
    name = (
        best_effect.barrier
        if other_count == 1
        else f"{best_effect.barrier}, the best of {other_count} others,"
    )
    saving = best_effect.saving
    if saving is None:
        return f"{name} cannot be compared with it"
    if not isinstance(saving, ExactValue):
        if saving.low is None or saving.high is None:
            return f"it is unknown whether {name} differs from it"
        if saving.low <= 0 <= saving.high:
            return (
                f"{name} does not change that significantly: it wins back "
                f"{format_share(saving.value)}{_bounds_text(saving)}"
            )
        possible = possible_saving(saving, barrier_share)
        if possible is None:
            return (
                f"undecided whether {name} wins back any of that: its time is {format_share(saving.value)}"
                f"{_bounds_text(saving)} shorter, but only {format_share(barrier_share)} of it is "
                "spent in barriers"
            )
        saving = possible
    share = f"{format_share(abs(saving.value))}{_bounds_text(saving)} of that time"
    return f"{name} takes {share} more" if saving.value < 0 else f"{name} wins back {share}"


def _bounds_text(share: Estimate) -> str:
    """Returns an interval such as " (95%: 1.2% to 3.4%)", without signs; empty if the share is exact."""
    if isinstance(share, ExactValue) or share.low is None or share.high is None:
        return ""
    bounds = (-share.high, -share.low) if share.high < 0 else (share.low, share.high)
    return f" (95%: {format_share(bounds[0])} to {format_share(bounds[1])})"


def _skew_sentence(run: NpbResults) -> str:
    """Returns a sentence on the arrival skew and the cost of the barrier itself, for the first measured
    place of MPI's barrier. It follows the sentence on the same place."""
    for barrier_at in PLACES:
        mpi_effect = run.mean_effect(run.headline_ranks, barrier_at, MPI)
        if mpi_effect is not None:
            return (
                f"Ranks then spend {format_share(mpi_effect.barrier_share)} of the time in barriers "
                "after the last rank has "
                "arrived, which a better barrier could win back, and "
                f"{format_share(mpi_effect.waiting_share)} waiting for "
                "ranks that arrive later, which it could not."
            )
    return ""


def _prediction_sentence(run: NpbResults) -> str:
    """Returns a sentence on the errors of the predictions, and the cause of the largest."""
    results = predictions(run)
    error, worst_prediction = results.median_error, results.worst_prediction
    if error is None or worst_prediction is None:
        return ""
    name = f"{worst_prediction.point.kernel} on {plural(worst_prediction.point.ranks, 'rank')}"
    if len(results.predictions) == 1:
        text = (
            f"The time of {name} was predicted with an error of "
            f"{format_signed(worst_prediction.diagnosis.error)}"
        )
    else:
        text = (
            f"The predicted times are off by {format_share(error)} (median of {len(results.predictions)}), "
            "at most by "
        )
        text += f"{format_signed(worst_prediction.diagnosis.error)} for {name}"
    failed_assumption = worst_prediction.diagnosis.failed_assumption
    if failed_assumption is None:
        return f"{text}."
    phase_text = (
        f", above all in the phase '{worst_prediction.diagnosis.phase}'"
        if worst_prediction.diagnosis.phase
        else ""
    )
    return f"{text}: it does not hold there that {ASSUMPTIONS[failed_assumption]}{phase_text}."


def _headline_points(run: NpbResults) -> list[NpbPoint]:
    return [p for p in run.barrier_free_points if p.ranks == run.headline_ranks]


def ratio_text(value: Estimate) -> str:
    """Returns a text such as "1.95 (95%: 1.90 to 1.99)"."""
    return f"{ratio_number(value.value)}{ratio_interval_suffix(value)}"
