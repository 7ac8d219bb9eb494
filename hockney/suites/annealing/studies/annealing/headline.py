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
    interim_choice,
    quality_on,
)
from hockney.suites.annealing.studies.annealing.columns import in_millions, percentage_points, signed_percent
from hockney.suites.annealing.studies.annealing.results import AnnealingPoint, AnnealingResults, predictions

BASIS = {"time": "the time of a run", "target": "the time until the target energy is reached"}


def headline(run: AnnealingResults) -> tuple[str, ...]:
    if not run.points:
        return ("Nothing was measured.",)
    setup_choice = choice(run, run.headline_ranks)
    texts = [_rates_sentence(run)] if setup_choice is None else list(_choice_sentences(run, setup_choice))
    texts += [
        _communication_sentence(run),
        *_quality_sentences(run),
        *_balancing_sentences(run),
        _prediction_sentence(run),
    ]
    return tuple(text for text in texts if text)


def _rates_sentence(run: AnnealingResults) -> str:
    """The rates in a sentence, when there are too few set-ups for a choice."""
    rates = [
        f"{_rate(p)} with {p.label} on {plural(p.ranks, 'rank')}"
        for p in run.headline_points or run.points[:1]
    ]
    return f"Steps of all walkers per second: {join_words(rates)}."


def _rate(p: AnnealingPoint) -> str:
    return f"{in_millions(p.rate.value)} million"


def _choice_sentences(run: AnnealingResults, setup_choice: SetupChoice) -> Iterator[str]:
    location = f"On {plural(setup_choice.ranks, 'rank')}"
    names, basis = join_words(p.label for p in setup_choice.rivals), BASIS[setup_choice.basis]
    if setup_choice.take is None and setup_choice.unknown_quality:
        yield (
            f"Undecided: {location[0].lower()}{location[1:]}, {names} "
            f"{'is' if len(setup_choice.rivals) == 1 else 'are'} best by {basis}, but there are too few "
            "seeds to compare energies."
        )
    elif setup_choice.take is None:
        yield f"Undecided: {location[0].lower()}{location[1:]}, {names} may be the best set-up by {basis}."
        yield _interim_sentence(run, setup_choice)
    elif setup_choice.outcome == "alike":
        condition = ", of the set-ups whose energies are not worse" if setup_choice.left_out else ""
        yield (
            f"{location}{condition}, {names} are best and differ by less than {NOTABLE - 1:.0%} in {basis}: "
            f"take {setup_choice.take.label}."
        )
    else:
        yield f"{location} take {setup_choice.take.label}: {_reason_words(setup_choice)}."
    if setup_choice.take is None:
        times = [time_to_decide(each) for each in setup_choice.undecided] or [math.inf]
        launches = min(len(p.records) for p in setup_choice.rivals)
        yield remedy(multiple(times, launches), launches, run.evidence.settings)
    yield _comparison_sentence(run, setup_choice)


def _interim_sentence(run: AnnealingResults, setup_choice: SetupChoice) -> str:
    interim = interim_choice(run, setup_choice)
    if interim is None:
        return ""
    return f"Until then take {interim.take.label}: no other saves more than {percent(interim.saving)} (95%)."


def _reason_words(setup_choice: SetupChoice) -> str:
    if setup_choice.basis == "target":
        return "it is the first to reach the target energy"
    condition = " of the set-ups whose energies are not worse" if setup_choice.left_out else " set-up"
    return f"it is the fastest{condition}"


def _comparison_sentence(run: AnnealingResults, setup_choice: SetupChoice) -> str:
    """A sentence that compares the set-up with the reference."""
    p = setup_choice.take or setup_choice.fastest
    reference = run.reference(setup_choice.ranks)
    text = f"{p.label} makes {_rate(p)} steps per second"
    speedup = run.speedup(p)
    if speedup is not None:
        text += f", {_number(speedup)} times as many as one rank"
    if reference is None or reference is p:
        return f"{_capitalize(text)}."
    return (
        f"{_capitalize(text)}, and takes {_number(run.judged_ratio(p, reference))} times as long as "
        f"{reference.label}."
    )


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _number(value: Estimate) -> str:
    return f"{value.value:.2f}{ratio_bounds(value)}"


def _communication_sentence(run: AnnealingResults) -> str:
    points = [p for p in run.headline_points if p.by_rank]
    if not points:
        return ""
    shares: dict[str, list[str]] = {}
    for p in points:
        shares.setdefault(percent(p.communication), []).append(p.label)
    sentence = join_words(f"{share} in {join_words(names)}" for share, names in shares.items())
    return f"Communication takes {sentence}, of the ranks' time."


def _quality_sentences(run: AnnealingResults) -> Iterator[str]:
    """Sentences on the loss of quality of each set-up, and whether its time is worth it."""
    quality = quality_on(run, run.headline_ranks)
    reference = quality.reference
    if reference is None or not quality.losses:
        return
    significant = [each for each in quality.losses if each.worse or each.better]
    for each in significant:
        yield _loss_sentence(run, each)
    alike = [each for each in quality.losses if each not in significant and each.equal_steps is not None]
    if alike:
        yield _no_difference_sentence(alike, reference)


def _no_difference_sentence(losses: Sequence[Loss], reference: AnnealingPoint) -> str:
    widest = max(losses, key=_largest_difference)
    names = join_words(each.point.label for each in losses)
    if _largest_difference(widest) == math.inf:
        return f"There are too few seeds to compare the energies of {names} with those of {reference.label}."
    return (
        f"The energies of {names} do not differ significantly from those of {reference.label}, at most "
        f"by {percent(_largest_difference(widest))} (95%) over {plural(widest.seeds, 'seed')}."
    )


def _largest_difference(loss: Loss) -> float:
    """The end of the interval that is further from 0."""
    difference = loss.equal_steps
    if difference is None or difference.low is None or difference.high is None:
        return math.inf
    return max(abs(difference.low), abs(difference.high))


def _loss_sentence(run: AnnealingResults, each: Loss) -> str:
    loss = each.equal_steps
    assert loss is not None
    direction = "higher" if each.worse else "lower"
    size = signed_percent(abs(loss.value)).lstrip("+")
    ends = sorted((abs(loss.low or 0.0), abs(loss.high or 0.0)))
    between = " to ".join(signed_percent(end).lstrip("+") for end in ends)
    text = (
        f"{_capitalize(each.point.label)} takes {_number(run.judged_ratio(each.point, each.reference))} "
        f"times as long as {each.reference.label} and finds energies {size} {direction} (95%: {between})"
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


def _balancing_sentences(run: AnnealingResults) -> Iterator[str]:
    for each in run.balancing:
        if each.point.ranks != run.headline_ranks:
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


def _prediction_sentence(run: AnnealingResults) -> str:
    results = predictions(run)
    error, worst = results.median_error(), results.worst
    if error is None or worst is None:
        return ""
    count_words = (
        f"median of {len(results.predictions)}" if len(results.predictions) > 1 else "one prediction"
    )
    return (
        f"Predicted shares of communication are off by {percentage_points(error).lstrip('+')} percentage "
        f"points ({count_words}), at most by {percentage_points(worst.error)} for {worst.point.label} on "
        f"{plural(worst.point.ranks, 'rank')}."
    )
