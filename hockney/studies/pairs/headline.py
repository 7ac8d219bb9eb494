# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in sentences: what many pairs reach at once, whether that saturates, and how much their messages
slow each other."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.layout import NETWORK
from hockney.core.wording import plural
from hockney.models.max_rate import FULL, GAP, ONE, RATE
from hockney.models.significance import NOTABLE, UNDECIDED_VERDICTS
from hockney.pages.format import interval_suffix, quantity, ratio_interval_suffix, with_interval
from hockney.studies.needed_budget import multiple, remedy
from hockney.studies.pairs.columns import rate_interval, rate_text, way_title
from hockney.studies.pairs.plan import APART, BOTH, between
from hockney.studies.pairs.results import PairsPoint, PairsResults, Way, saturation

NEARLY = 0.8
"""The share of the message rate that the gap allows. If the shortest messages reach less, the gap is
extrapolated."""


def _saturated_path(way: Way) -> str:
    return "the network" if way.level in (NETWORK, APART) else "the shared path"


def headline(run: PairsResults) -> tuple[str, ...]:
    if not run.points:
        return ("Nothing was measured.",)
    return tuple(text for text in _sentences(run) if text)


def _sentences(run: PairsResults) -> Iterator[str]:
    for way in run.streams:
        yield reached(run, way)
        yield _message_rate(run, way)
        yield _model(run, way)
    for way in run.ways:
        if not way.streams:
            yield _slowed(run, way)
    if needed := run.times_to_decide():
        yield remedy(multiple(needed, run.launches), run.launches, run.evidence.settings)


def reached(run: PairsResults, way: Way) -> str:
    """The bandwidth of the most pairs, and from how many on it is saturated."""
    row = run.row(way, run.sizes(way)[-1])
    last = row[-1]
    both = " in both directions" if way.direction == BOTH else ""
    size = quantity(last.size, "B")
    text = (
        f"{_where(way)}, {plural(last.pairs, 'pair')}{' at once' if last.pairs > 1 else ''} {_reach(last)} "
        f"{with_interval(last.bandwidth, 'B/s')}{both} with messages of {size}"
    )
    if len(row) == 1:
        return f"{text}; what more pairs add was not measured."
    return f"{text}; {_saturated(way, row)}."


def _saturated(way: Way, row: tuple[PairsPoint, ...]) -> str:
    result, last = saturation(row), row[-1]
    if result.reached is None:
        return f"whether {plural(last.pairs, 'pair')} saturate {_saturated_path(way)} is undecided"
    if not result.reached:
        slower = f", although {_longer(row)}" if last.slowed == "slower" else ""
        return f"up to {plural(last.pairs, 'pair')}, more pairs carry more{slower}"
    pairs = plural(result.pairs, "pair")
    return f"from {pairs} on {_saturated_path(way)} is saturated, so that {_longer(row)}"


def _longer(row: tuple[PairsPoint, ...]) -> str:
    last = row[-1]
    times = f"{last.slowdown.value:.2f}{ratio_interval_suffix(last.slowdown)} times"
    most, fewest = plural(last.pairs, "pair"), plural(row[0].pairs, "pair")
    return f"with {most} a message takes {times} as long as with {fewest}"


def _message_rate(run: PairsResults, way: Way) -> str:
    """The message rate of the shortest messages, in a sentence."""
    row = run.row(way, run.sizes(way)[0])
    if len(row) < 2 or row[0].size == run.sizes(way)[-1]:
        return ""
    first, last = row[0], row[-1]
    factor = first.measured.summary.typical.value / last.measured.summary.typical.value
    return (
        f"Of {quantity(last.size, 'B')}, {plural(last.pairs, 'pair')} send {rate_text(last.rate.value)} "
        f"messages a second{interval_suffix(last.rate, rate_interval(last.rate))}, {factor:.2f} times as "
        "many as "
        f"{plural(first.pairs, 'pair')}."
    )


def _model(run: PairsResults, way: Way) -> str:
    """The shared rate, if the fit is usable."""
    fit = run.fit(way)
    if fit is None or fit.verdict in ("refused", "poor"):
        where = between(way.level)
        return "" if fit is None else f"The model of sharing {where} is {fit.verdict}: {fit.why}."
    parameters = {p.symbol: p.estimate for p in fit.parameters}
    one = quantity(parameters[ONE].value, "B/s")
    if parameters[RATE].high is None:
        least = quantity(parameters[RATE].low or parameters[RATE].value, "B/s")
        return f"The rate that pairs share {between(way.level)} is at least {least}; one pair reaches {one}."
    shared = with_interval(parameters[RATE], "B/s")
    text = f"By the max-rate model, pairs share {shared}, of which one takes up to {one}"
    if FULL in parameters:
        pairs = parameters[FULL].value
        text += f", so that {'one pair uses' if pairs < NOTABLE else f'{pairs:.2g} pairs use'} all of it"
    most = max(p.rate.value for p in run.row(way, run.sizes(way)[0]))
    if GAP in parameters and most * parameters[GAP].value > NEARLY:
        text += f"; together they send at most {rate_text(1 / parameters[GAP].value)} messages a second"
    return f"{text}."


def _slowed(run: PairsResults, way: Way) -> str:
    """The slowdown of ping-pongs with the shortest and the longest message, in a sentence."""
    texts = []
    for size in dict.fromkeys((run.sizes(way)[0], run.sizes(way)[-1])):
        row = run.row(way, size)
        if len(row) > 1:
            last = row[-1]
            state = " (undecided)" if last.slowed in UNDECIDED_VERDICTS else ""
            times = f"{last.slowdown.value:.2f}{ratio_interval_suffix(last.slowdown)} times"
            texts.append((quantity(size, "B"), times, state))
    if not texts:
        return ""
    fewest, *_, most = run.counts(way)
    (first, times, state), *more = texts
    others = "".join(f", one of {other} {factor}{open_}" for other, factor, open_ in more)
    return (
        f"{_where(way)}, with {plural(most, 'pair')} at once, a ping-pong's message of {first} takes {times} "
        f"as long as with {plural(fewest, 'pair')}{state}{others}."
    )


def _reach(last: PairsPoint) -> str:
    return "reaches" if last.pairs == 1 else "reach"


def _where(way: Way) -> str:
    return way_title(way).split(",")[0]
