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
WORDS = {
    "computation": "computing",
    "messages": "in messages",
    "collectives": "in collectives",
    "waiting": "waiting for others",
}
"""What ranks spend their time on; without barriers."""


def headline(run: NpbResults) -> tuple[str, ...]:
    if not run.points:
        return ("Nothing was measured.",)
    cost, *others = [*_barriers(run), ""]
    texts = [_wrong(run), _speed(run), _time(run), cost, _skew(run), *others, _predicted(run)]
    return tuple(text for text in texts if text)


def _wrong(run: NpbResults) -> str:
    if not run.wrong:
        return ""
    names = list(dict.fromkeys(p.kernel for p in run.wrong))
    first = run.wrong[0]
    return (
        f"Verified: no. {list_names(names, len(names))} gave wrong answers in {len(run.wrong)} of "
        f"{plural(len(run.points), 'case')}, so their times are not those of the benchmarks; "
        f"{first.kernel} on {plural(first.ranks, 'rank')}: {first_error(first.records)}."
    )


def _speed(run: NpbResults) -> str:
    """The speed-ups; on one rank only, or without one, the rates."""
    here = _here(run)
    known = [(p, s) for p in here if p.ranks > 1 and (s := run.speedup(p)) is not None]
    if not known:
        rates = [f"{p.kernel} {with_interval(p.rate, RATE)}" for p in here if p.rate is not None]
        shown = list_names(rates, len(rates))
        return f"On {plural(run.shown, 'rank')}, class {join_words(run.classes)}: {shown}." if rates else ""
    known.sort(key=lambda pair: pair[1].value)
    on = f"On {plural(run.shown, 'rank')}"
    (low, least), (high, most) = known[0], known[-1]
    if len(known) == 1:
        return f"{on}, {low.kernel} of class {low.size} has a speed-up of {ratio_words(least)}."
    return (
        f"{on}, the {len(known)} benchmarks (class {join_words(run.classes)}) have speed-ups from "
        f"{ratio_words(least)} for {low.kernel} to {ratio_words(most)} for {high.kernel}."
    )


def _time(run: NpbResults) -> str:
    here = [p for p in _here(run) if p.parts]
    if not here or run.shown == 1:
        return ""
    shares = {part: sum(p.share(part) for p in here) / len(here) for part in PARTS if part in WORDS}
    spent = join_words(f"{percent(share)} {WORDS[part]}" for part, share in shares.items())
    text = f"Ranks spend {spent}"
    if len(here) > 1:
        most = max(here, key=_not_computing)
        text += f", as the mean over the benchmarks; {most.kernel} computes least, "
        text += f"{percent(1 - _not_computing(most))} of its time"
    return f"{text}."


def _not_computing(p: NpbPoint) -> float:
    return 1 - p.share("computation")


def _barriers(run: NpbResults) -> Iterator[str]:
    """The paper's question at each place: what MPI's barrier costs, and what a better one wins back."""
    for place in PLACES:
        mpi, best = run.mean(run.shown, place, MPI), run.best(run.shown, place)
        first = mpi or best
        if first is None:
            continue
        name = "MPI's barrier" if first is mpi else f"the barrier {first.barrier}"
        text = f"With {name} after every {place}, {_longer(first)}"
        if mpi is not None and best is not None:
            text += f"; {_compared(run, best, mpi.barriers)}"
        yield f"{text}."


def _longer(effect: MeanEffect) -> str:
    """ "the 8 benchmarks take 1.04 times as long (95%: 1.02 to 1.06) in the geometric mean"."""
    count = len(effect.kernels)
    if count == 1:
        return f"{effect.kernels[0]} takes {ratio_words(effect.cost)} times as long"
    return f"the {count} benchmarks take {ratio_words(effect.cost)} times as long in the geometric mean"


def _compared(run: NpbResults, best: MeanEffect, spent: float) -> str:
    """What the best of the other barriers wins back of the time with MPI's: at most `spent`, the share in
    barriers."""
    others = sum((e.ranks, e.place) == (best.ranks, best.place) and e.barrier != MPI for e in run.means)
    name = best.barrier if others == 1 else f"{best.barrier}, the best of {others} others,"
    won = best.won
    if won is None:
        return f"{name} cannot be compared with it"
    if not isinstance(won, ExactValue):
        if won.low is None or won.high is None:
            return f"it is unknown whether {name} differs from it"
        if won.low <= 0 <= won.high:
            return (
                f"{name} does not change that significantly: it wins back {percent(won.value)}{_bounds(won)}"
            )
        possible = possible_gain(won, spent)
        if possible is None:
            return (
                f"undecided whether {name} wins back any of that: its time is {percent(won.value)}"
                f"{_bounds(won)} shorter, but only {percent(spent)} of it is spent in barriers"
            )
        won = possible
    share = f"{percent(abs(won.value))}{_bounds(won)} of that time"
    return f"{name} takes {share} more" if won.value < 0 else f"{name} wins back {share}"


def _bounds(share: Estimate) -> str:
    """ " (95%: 1.2% to 3.4%)", of the size of the share; empty if it is exact."""
    if isinstance(share, ExactValue) or share.low is None or share.high is None:
        return ""
    ends = (-share.high, -share.low) if share.high < 0 else (share.low, share.high)
    return f" (95%: {percent(ends[0])} to {percent(ends[1])})"


def _skew(run: NpbResults) -> str:
    """Arrival skew next to the cost of the barrier itself, with MPI's barrier at as many places as there are;
    the sentence before is about the same place."""
    for place in PLACES:
        mpi = run.mean(run.shown, place, MPI)
        if mpi is not None:
            return (
                f"Ranks then spend {percent(mpi.barriers)} of the time in barriers after the last rank has "
                f"arrived, which a better barrier could win back, and {percent(mpi.waiting)} waiting for "
                "ranks that arrive later, which it could not."
            )
    return ""


def _predicted(run: NpbResults) -> str:
    """How far predictions are off, and the worst one's cause."""
    found = predictions(run)
    error, worst = found.median_error, found.worst
    if error is None or worst is None:
        return ""
    name = f"{worst.point.kernel} on {plural(worst.point.ranks, 'rank')}"
    if len(found.of) == 1:
        text = f"The time of {name} was predicted with an error of {signed(worst.diagnosis.error)}"
    else:
        text = f"The predicted times are off by {percent(error)} (median of {len(found.of)}), at most by "
        text += f"{signed(worst.diagnosis.error)} for {name}"
    failing = worst.diagnosis.failing
    if failing is None:
        return f"{text}."
    where = f", above all in the phase '{worst.diagnosis.phase}'" if worst.diagnosis.phase else ""
    return f"{text}: it does not hold there that {ASSUMPTIONS[failing]}{where}."


def _here(run: NpbResults) -> list[NpbPoint]:
    return [p for p in run.plain if p.ranks == run.shown]


def ratio_words(value: Estimate) -> str:
    """ "1.95 (95%: 1.90 to 1.99)"."""
    return f"{ratio_number(value.value)}{ratio_bounds(value)}"
