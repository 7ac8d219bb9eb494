# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in sentences: the combined performance of many pairs, whether it saturates, and how much
messages slow each other."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.layout import NETWORK
from hockney.core.wording import plural
from hockney.models.max_rate import FULL, GAP, ONE, RATE
from hockney.models.significance import NOTABLE, UNDECIDED_VERDICTS
from hockney.pages.format import interval_suffix, quantity, ratio_interval_suffix, with_interval
from hockney.studies.needed_budget import budget_multiple, remedy
from hockney.studies.pairs.columns import pattern_title, rate_interval, rate_text
from hockney.studies.pairs.plan import BOTH_WAYS, ONE_RANK_PER_NODE, level_phrase
from hockney.studies.pairs.results import PairsPoint, PairsResults, Pattern, saturation

MIN_RATE_SHARE = 0.8
"""The minimum share of the message rate that the gap allows. If the shortest messages reach less, the gap is
extrapolated."""


def _saturated_path(pattern: Pattern) -> str:
    return "the network" if pattern.level in (NETWORK, ONE_RANK_PER_NODE) else "the shared path"


def headline(run: PairsResults) -> tuple[str, ...]:
    if not run.points:
        return ("Nothing was measured.",)
    return tuple(text for text in _sentences(run) if text)


def _sentences(run: PairsResults) -> Iterator[str]:
    for pattern in run.streams:
        yield bandwidth_sentence(run, pattern)
        yield _message_rate_sentence(run, pattern)
        yield _model_sentence(run, pattern)
    for pattern in run.patterns:
        if not pattern.is_stream:
            yield _slowdown_sentence(run, pattern)
    if times := run.times_to_decide():
        yield remedy(budget_multiple(times, run.launches), run.launches, run.evidence.settings)


def bandwidth_sentence(run: PairsResults, pattern: Pattern) -> str:
    """The bandwidth of the most pairs, and the number from which it is saturated."""
    row = run.row(pattern, run.sizes(pattern)[-1])
    last = row[-1]
    direction_text = " in both directions" if pattern.direction == BOTH_WAYS else ""
    size = quantity(last.size, "B")
    text = (
        f"{_placement(pattern)}, {plural(last.pairs, 'pair')}{' at once' if last.pairs > 1 else ''} "
        f"{_verb(last)} "
        f"{with_interval(last.bandwidth, 'B/s')}{direction_text} with messages of {size}"
    )
    if len(row) == 1:
        return f"{text}; what more pairs add was not measured."
    return f"{text}; {_saturation_text(pattern, row)}."


def _saturation_text(pattern: Pattern, row: tuple[PairsPoint, ...]) -> str:
    result, last = saturation(row), row[-1]
    if result.reached is None:
        return f"whether {plural(last.pairs, 'pair')} saturate {_saturated_path(pattern)} is undecided"
    if not result.reached:
        slowdown_text = f", although {_slowdown_text(row)}" if last.slowdown_verdict == "slower" else ""
        return f"up to {plural(last.pairs, 'pair')}, more pairs carry more{slowdown_text}"
    pairs = plural(result.pairs, "pair")
    return f"from {pairs} on {_saturated_path(pattern)} is saturated, so that {_slowdown_text(row)}"


def _slowdown_text(row: tuple[PairsPoint, ...]) -> str:
    last = row[-1]
    times = f"{last.slowdown.value:.2f}{ratio_interval_suffix(last.slowdown)} times"
    max_pairs_text, min_pairs_text = plural(last.pairs, "pair"), plural(row[0].pairs, "pair")
    return f"with {max_pairs_text} a message takes {times} as long as with {min_pairs_text}"


def _message_rate_sentence(run: PairsResults, pattern: Pattern) -> str:
    """A sentence on the message rate of the shortest messages."""
    row = run.row(pattern, run.sizes(pattern)[0])
    if len(row) < 2 or row[0].size == run.sizes(pattern)[-1]:
        return ""
    first, last = row[0], row[-1]
    factor = first.measured.summary.typical.value / last.measured.summary.typical.value
    return (
        f"Of {quantity(last.size, 'B')}, {plural(last.pairs, 'pair')} send {rate_text(last.rate.value)} "
        f"messages a second{interval_suffix(last.rate, rate_interval(last.rate))}, {factor:.2f} times as "
        "many as "
        f"{plural(first.pairs, 'pair')}."
    )


def _model_sentence(run: PairsResults, pattern: Pattern) -> str:
    """A sentence on the shared rate if the fit is usable, otherwise on the fit."""
    fit = run.fit(pattern)
    if fit is None or fit.verdict in ("refused", "poor"):
        placement = level_phrase(pattern.level)
        return "" if fit is None else f"The model of sharing {placement} is {fit.verdict}: {fit.why}."
    parameters = {p.symbol: p.estimate for p in fit.parameters}
    single_rate = quantity(parameters[ONE].value, "B/s")
    if parameters[RATE].high is None:
        min_rate = quantity(parameters[RATE].low or parameters[RATE].value, "B/s")
        return (
            f"The rate that pairs share {level_phrase(pattern.level)} is at least {min_rate}; one pair "
            f"reaches {single_rate}."
        )
    shared_rate = with_interval(parameters[RATE], "B/s")
    text = f"By the max-rate model, pairs share {shared_rate}, of which one takes up to {single_rate}"
    if FULL in parameters:
        pairs = parameters[FULL].value
        text += f", so that {'one pair uses' if pairs < NOTABLE else f'{pairs:.2g} pairs use'} all of it"
    max_message_rate = max(p.rate.value for p in run.row(pattern, run.sizes(pattern)[0]))
    if GAP in parameters and max_message_rate * parameters[GAP].value > MIN_RATE_SHARE:
        text += f"; together they send at most {rate_text(1 / parameters[GAP].value)} messages a second"
    return f"{text}."


def _slowdown_sentence(run: PairsResults, pattern: Pattern) -> str:
    """A sentence on the slowdown of ping-pongs with the shortest and the longest message."""
    texts = []
    for size in dict.fromkeys((run.sizes(pattern)[0], run.sizes(pattern)[-1])):
        row = run.row(pattern, size)
        if len(row) > 1:
            last = row[-1]
            state = " (undecided)" if last.slowdown_verdict in UNDECIDED_VERDICTS else ""
            times = f"{last.slowdown.value:.2f}{ratio_interval_suffix(last.slowdown)} times"
            texts.append((quantity(size, "B"), times, state))
    if not texts:
        return ""
    min_pairs, *_, max_pairs = run.pair_counts(pattern)
    (first_size, times, state), *later_texts = texts
    other_texts = "".join(
        f", one of {other_size} {factor}{other_state}" for other_size, factor, other_state in later_texts
    )
    return (
        f"{_placement(pattern)}, with {plural(max_pairs, 'pair')} at once, a ping-pong's message of "
        f"{first_size} takes {times} "
        f"as long as with {plural(min_pairs, 'pair')}{state}{other_texts}."
    )


def _verb(last: PairsPoint) -> str:
    return "reaches" if last.pairs == 1 else "reach"


def _placement(pattern: Pattern) -> str:
    return pattern_title(pattern).split(",")[0]
