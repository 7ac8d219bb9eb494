# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in sentences: the recommended set-up, where the time goes, and the loss by an estimated
schedule."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from hockney.core.fit import Estimate
from hockney.core.wording import join_words, plural
from hockney.models.statistics import NOTABLE, time_to_decide
from hockney.pages.format import format_share, ratio_interval_suffix
from hockney.studies.needed_budget import budget_multiple, remedy
from hockney.suites.annealing.studies.annealing.choice import (
    Loss,
    SetupChoice,
    choose_setup,
    interim_choice,
    quality_on,
)
from hockney.suites.annealing.studies.annealing.columns import (
    format_millions,
    format_percentage_points,
    format_signed_percent,
)
from hockney.suites.annealing.studies.annealing.results import AnnealingPoint, AnnealingResults, predictions

BASIS_TEXTS = {"time": "the time of a run", "target": "the time until the target energy is reached"}


def headline(run: AnnealingResults) -> tuple[str, ...]:
    if not run.points:
        return ("Nothing was measured.",)
    setup_choice = choose_setup(run, run.headline_ranks)
    sentences = [_rates_sentence(run)] if setup_choice is None else list(_choice_sentences(run, setup_choice))
    sentences += [
        _communication_sentence(run),
        *_quality_sentences(run),
        *_balancing_sentences(run),
        _prediction_sentence(run),
    ]
    return tuple(sentence for sentence in sentences if sentence)


def _rates_sentence(run: AnnealingResults) -> str:
    """Returns a sentence on the rates, for runs with too few set-ups for a choice."""
    rates = [
        f"{_rate_text(p)} with {p.label} on {plural(p.ranks, 'rank')}"
        for p in run.headline_points or run.points[:1]
    ]
    return f"Steps of all walkers per second: {join_words(rates)}."


def _rate_text(p: AnnealingPoint) -> str:
    return f"{format_millions(p.rate.value)} million"


def _choice_sentences(run: AnnealingResults, setup_choice: SetupChoice) -> Iterator[str]:
    location = f"On {plural(setup_choice.ranks, 'rank')}"
    names, basis = join_words(p.label for p in setup_choice.rivals), BASIS_TEXTS[setup_choice.basis]
    if setup_choice.recommendation is None and setup_choice.has_unknown_quality:
        yield (
            f"Undecided: {location[0].lower()}{location[1:]}, {names} "
            f"{'is' if len(setup_choice.rivals) == 1 else 'are'} best by {basis}, but there are too few "
            "seeds to compare energies."
        )
    elif setup_choice.recommendation is None:
        yield f"Undecided: {location[0].lower()}{location[1:]}, {names} may be the best set-up by {basis}."
        yield _interim_sentence(run, setup_choice)
    elif setup_choice.outcome == "alike":
        condition = ", of the set-ups whose energies are not worse" if setup_choice.excludes_worse else ""
        yield (
            f"{location}{condition}, {names} are best and differ by less than {NOTABLE - 1:.0%} in {basis}: "
            f"take {setup_choice.recommendation.label}."
        )
    else:
        yield f"{location} take {setup_choice.recommendation.label}: {_reason(setup_choice)}."
    if setup_choice.recommendation is None:
        times = [time_to_decide(ratio) for ratio in setup_choice.undecided_ratios] or [math.inf]
        launches = min(len(p.records) for p in setup_choice.rivals)
        yield remedy(budget_multiple(times, launches), launches, run.evidence.settings)
    yield _comparison_sentence(run, setup_choice)


def _interim_sentence(run: AnnealingResults, setup_choice: SetupChoice) -> str:
    interim = interim_choice(run, setup_choice)
    if interim is None:
        return ""
    return (
        f"Until then take {interim.recommendation.label}: no other saves more than "
        f"{format_share(interim.saving)} (95%)."
    )


def _reason(setup_choice: SetupChoice) -> str:
    if setup_choice.basis == "target":
        return "it is the first to reach the target energy"
    condition = " of the set-ups whose energies are not worse" if setup_choice.excludes_worse else " set-up"
    return f"it is the fastest{condition}"


def _comparison_sentence(run: AnnealingResults, setup_choice: SetupChoice) -> str:
    """Returns a sentence that compares the set-up with the reference."""
    p = setup_choice.recommendation or setup_choice.fastest_point
    reference = run.reference(setup_choice.ranks)
    text = f"{p.label} makes {_rate_text(p)} steps per second"
    speedup = run.speedup(p)
    if speedup is not None:
        text += f", {_ratio_text(speedup)} times as many as one rank"
    if reference is None or reference is p:
        return f"{_capitalize(text)}."
    return (
        f"{_capitalize(text)}, and takes {_ratio_text(run.widened_ratio(p, reference))} times as long as "
        f"{reference.label}."
    )


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _ratio_text(value: Estimate) -> str:
    return f"{value.value:.2f}{ratio_interval_suffix(value)}"


def _communication_sentence(run: AnnealingResults) -> str:
    points = [p for p in run.headline_points if p.seconds_by_rank]
    if not points:
        return ""
    shares: dict[str, list[str]] = {}
    for p in points:
        shares.setdefault(format_share(p.communication), []).append(p.label)
    sentence = join_words(f"{share} in {join_words(names)}" for share, names in shares.items())
    return f"Communication takes {sentence}, of the ranks' time."


def _quality_sentences(run: AnnealingResults) -> Iterator[str]:
    """Yields sentences on the loss of quality of each set-up, and on whether its time is worth it."""
    quality = quality_on(run, run.headline_ranks)
    reference = quality.reference
    if reference is None or not quality.losses:
        return
    significant_losses = [loss for loss in quality.losses if loss.is_worse or loss.is_better]
    for loss in significant_losses:
        yield _loss_sentence(run, loss)
    insignificant_losses = [
        loss
        for loss in quality.losses
        if loss not in significant_losses and loss.loss_at_equal_steps is not None
    ]
    if insignificant_losses:
        yield _no_difference_sentence(insignificant_losses, reference)


def _no_difference_sentence(losses: Sequence[Loss], reference: AnnealingPoint) -> str:
    widest_loss = max(losses, key=_max_difference)
    names = join_words(loss.point.label for loss in losses)
    if _max_difference(widest_loss) == math.inf:
        return f"There are too few seeds to compare the energies of {names} with those of {reference.label}."
    return (
        f"The energies of {names} do not differ significantly from those of {reference.label}, at most "
        f"by {format_share(_max_difference(widest_loss))} (95%) over "
        f"{plural(widest_loss.seed_count, 'seed')}."
    )


def _max_difference(loss: Loss) -> float:
    """Returns the larger absolute bound of the interval."""
    difference = loss.loss_at_equal_steps
    if difference is None or difference.low is None or difference.high is None:
        return math.inf
    return max(abs(difference.low), abs(difference.high))


def _loss_sentence(run: AnnealingResults, loss: Loss) -> str:
    difference = loss.loss_at_equal_steps
    assert difference is not None
    direction = "higher" if loss.is_worse else "lower"
    size = format_signed_percent(abs(difference.value)).lstrip("+")
    bounds = sorted((abs(difference.low or 0.0), abs(difference.high or 0.0)))
    interval_text = " to ".join(format_signed_percent(bound).lstrip("+") for bound in bounds)
    text = (
        f"{_capitalize(loss.point.label)} takes {_ratio_text(run.widened_ratio(loss.point, loss.reference))} "
        f"times as long as {loss.reference.label} and finds energies {size} {direction} (95%: "
        f"{interval_text})"
    )
    if loss.target_ratio is None:
        return (
            f"{text}; it never reaches the target: it is not worth it."
            if loss.target_verdict == "slower"
            else f"{text}."
        )
    verdicts = {
        "faster": "it is worth it",
        "slower": "it is not worth it",
        "alike": "it makes no notable difference",
    }
    conclusion = verdicts.get(loss.target_verdict, "undecided whether it is worth it")
    return f"{text}; to the target it takes {_ratio_text(loss.target_ratio)} times as long: {conclusion}."


def _balancing_sentences(run: AnnealingResults) -> Iterator[str]:
    for comparison in run.balancing_comparisons:
        if comparison.point.ranks != run.headline_ranks:
            continue
        shares = comparison.point.measurement.case["shares"]
        effect = {
            "faster": "shortens a run to",
            "slower": "lengthens a run to",
        }.get(comparison.verdict, "does not change the time significantly:")
        yield (
            f"On uneven ranks (a step takes {shares}), load balancing {effect} "
            f"{_ratio_text(comparison.ratio)} of the "
            "time without."
        )


def _prediction_sentence(run: AnnealingResults) -> str:
    results = predictions(run)
    error, worst_prediction = results.median_error(), results.worst_prediction
    if error is None or worst_prediction is None:
        return ""
    count_text = f"median of {len(results.predictions)}" if len(results.predictions) > 1 else "one prediction"
    return (
        "Predicted shares of communication are off by "
        f"{format_percentage_points(error).lstrip('+')} percentage "
        f"points ({count_text}), at most by {format_percentage_points(worst_prediction.error)} "
        f"for {worst_prediction.point.label} on "
        f"{plural(worst_prediction.point.ranks, 'rank')}."
    )
