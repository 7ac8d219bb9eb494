# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in sentences: which set-up to take, where the time goes, and what an estimated schedule
costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from hockney.core.fit import Estimate
from hockney.core.wording import join_words, plural
from hockney.models.statistics import NOTABLE, time_to_decide
from hockney.pages.format import percent, ratio_bounds
from hockney.studies.needed_budget import multiple, remedy
from hockney.suites.annealing.studies.annealing.choice import (
    Loss,
    SetupChoice,
    choice,
    quality,
    until_decided,
)
from hockney.suites.annealing.studies.annealing.columns import million, points, signed_percent
from hockney.suites.annealing.studies.annealing.results import AnnealingPoint, AnnealingResults, predictions

BASIS = {"time": "the time of a run", "target": "the time until the target energy is reached"}


def headline(run: AnnealingResults) -> tuple[str, ...]:
    if not run.points:
        return ("Nothing was measured.",)
    found = choice(run, run.shown)
    texts = [_rates(run)] if found is None else list(_choice(run, found))
    texts += [_communication(run), *_quality(run), *_balancing(run), _predicted(run)]
    return tuple(text for text in texts if text)


def _rates(run: AnnealingResults) -> str:
    """The rates in a sentence, when there are too few set-ups for a choice."""
    rates = [f"{_rate(p)} with {p.label} on {plural(p.ranks, 'rank')}" for p in run.here or run.points[:1]]
    return f"Steps of all walkers per second: {join_words(rates)}."


def _rate(p: AnnealingPoint) -> str:
    return f"{million(p.rate.value)} million"


def _choice(run: AnnealingResults, found: SetupChoice) -> Iterator[str]:
    on = f"On {plural(found.ranks, 'rank')}"
    names, basis = join_words(p.label for p in found.rivals), BASIS[found.basis]
    if found.take is None and found.unknown_quality:
        yield (
            f"Undecided: {on[0].lower()}{on[1:]}, {names} "
            f"{'is' if len(found.rivals) == 1 else 'are'} best by {basis}, but there are too few seeds to "
            "compare energies."
        )
    elif found.take is None:
        yield f"Undecided: {on[0].lower()}{on[1:]}, {names} may be the best set-up by {basis}."
        yield _until_decided(run, found)
    elif found.outcome == "alike":
        of = ", of the set-ups whose energies are not worse" if found.left_out else ""
        yield (
            f"{on}{of}, {names} are best and differ by less than {NOTABLE - 1:.0%} in {basis}: take "
            f"{found.take.label}."
        )
    else:
        yield f"{on} take {found.take.label}: {_reason(found)}."
    if found.take is None:
        times = [time_to_decide(each) for each in found.undecided] or [math.inf]
        launches = min(len(p.records) for p in found.rivals)
        yield remedy(multiple(times, launches), launches, run.evidence.settings)
    yield _compared(run, found)


def _until_decided(run: AnnealingResults, found: SetupChoice) -> str:
    meanwhile = until_decided(run, found)
    if meanwhile is None:
        return ""
    return (
        f"Until then take {meanwhile.take.label}: no other saves more than {percent(meanwhile.saving)} (95%)."
    )


def _reason(found: SetupChoice) -> str:
    if found.basis == "target":
        return "it is the first to reach the target energy"
    of = " of the set-ups whose energies are not worse" if found.left_out else " set-up"
    return f"it is the fastest{of}"


def _compared(run: AnnealingResults, found: SetupChoice) -> str:
    """How it compares with the reference."""
    p = found.take or found.fastest
    over = run.reference(found.ranks)
    text = f"{p.label} makes {_rate(p)} steps per second"
    speedup = run.speedup(p)
    if speedup is not None:
        text += f", {_number(speedup)} times as many as one rank"
    if over is None or over is p:
        return f"{_capital(text)}."
    return f"{_capital(text)}, and takes {_number(run.shown_ratio(p, over))} times as long as {over.label}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _number(value: Estimate) -> str:
    return f"{value.value:.2f}{ratio_bounds(value)}"


def _communication(run: AnnealingResults) -> str:
    shown = [p for p in run.here if p.by_rank]
    if not shown:
        return ""
    shares: dict[str, list[str]] = {}
    for p in shown:
        shares.setdefault(percent(p.communication), []).append(p.label)
    listed = join_words(f"{share} in {join_words(names)}" for share, names in shares.items())
    return f"Communication takes {listed}, of the ranks' time."


def _quality(run: AnnealingResults) -> Iterator[str]:
    """What estimating the schedule, or having none in common, costs, and whether that is worth the time."""
    found = quality(run, run.shown)
    over = found.reference
    if over is None or not found.losses:
        return
    telling = [each for each in found.losses if each.worse or each.better]
    for each in telling:
        yield _loss(run, each)
    alike = [each for each in found.losses if each not in telling and each.equal_steps is not None]
    if alike:
        yield _alike(alike, over)


def _alike(losses: Sequence[Loss], over: AnnealingPoint) -> str:
    widest = max(losses, key=_reach)
    names = join_words(each.point.label for each in losses)
    if _reach(widest) == math.inf:
        return f"There are too few seeds to compare the energies of {names} with those of {over.label}."
    return (
        f"The energies of {names} do not differ significantly from those of {over.label}, at most "
        f"by {percent(_reach(widest))} (95%) over {plural(widest.seeds, 'seed')}."
    )


def _reach(loss: Loss) -> float:
    """The end of the interval that is further from 0."""
    known = loss.equal_steps
    if known is None or known.low is None or known.high is None:
        return math.inf
    return max(abs(known.low), abs(known.high))


def _loss(run: AnnealingResults, each: Loss) -> str:
    loss = each.equal_steps
    assert loss is not None
    how = "higher" if each.worse else "lower"
    size = signed_percent(abs(loss.value)).lstrip("+")
    ends = sorted((abs(loss.low or 0.0), abs(loss.high or 0.0)))
    between = " to ".join(signed_percent(end).lstrip("+") for end in ends)
    text = (
        f"{_capital(each.point.label)} takes {_number(run.shown_ratio(each.point, each.over))} times as long "
        f"as {each.over.label} and finds energies {size} {how} (95%: {between})"
    )
    if each.target is None:
        return (
            f"{text}; it never reaches the target: it is not worth it."
            if each.worth == "slower"
            else f"{text}."
        )
    verdicts = {
        "faster": "it is worth it",
        "slower": "it is not worth it",
        "alike": "it makes no notable difference",
    }
    ending = verdicts.get(each.worth, "undecided whether it is worth it")
    return f"{text}; to the target it takes {_number(each.target)} times as long: {ending}."


def _balancing(run: AnnealingResults) -> Iterator[str]:
    for each in run.balancing:
        if each.point.ranks != run.shown:
            continue
        shares = each.point.measured.case["shares"]
        effect = {
            "faster": "shortens a run to",
            "slower": "lengthens a run to",
        }.get(each.verdict, "does not change the time significantly:")
        yield (
            f"On uneven ranks (a step takes {shares}), load balancing {effect} {_number(each.ratio)} of the "
            "time without."
        )


def _predicted(run: AnnealingResults) -> str:
    found = predictions(run)
    error, worst = found.median_error(), found.worst
    if error is None or worst is None:
        return ""
    of = f"median of {len(found.of)}" if len(found.of) > 1 else "one prediction"
    return (
        f"Predicted shares of communication are off by {points(error).lstrip('+')} percentage points ({of}), "
        f"at most by {points(worst.error)} for {worst.point.label} on {plural(worst.point.ranks, 'rank')}."
    )
