# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The assumptions of a prediction and the best number of ranks, in sentences."""

from __future__ import annotations

from collections.abc import Callable

from hockney.core.fit import Estimate
from hockney.core.platform import Platform
from hockney.core.units import format_percent, format_rate, format_seconds, format_significant, format_size
from hockney.core.wording import plural
from hockney.draw.amount import Amount
from hockney.models.applications.contention import kind
from hockney.models.applications.grain_prediction import HALF, Prediction
from hockney.models.applications.granularity import Algorithm
from hockney.models.applications.node_sharing import NodeSharing
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.levels import NETWORK
from hockney.models.programs.forecast import KernelForecast
from hockney.pages.format import with_interval
from hockney.pages.origins import in_short

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))

BUFFERS = {"written": " that was just written", "hot": " in hot buffers", "cold": " in cold buffers"}

FEW = 1e-3
"""Smaller values are written with an exponent."""


def assumed(prediction: Prediction, platform: Platform | None) -> tuple[str, ...]:
    """The algorithm, the source of message times, and the network. `platform` is the description that a
    machine's name selects."""
    messages = prediction.messages
    of = f"on {messages.title}, by {messages.source}"
    message = "an undisturbed message" if messages.cost == "undisturbed" else "a message"
    size = format_size(prediction.algorithm.bytes)
    buffers = BUFFERS.get(messages.buffers, "")
    one = f"{message} of {size}{buffers} takes {_one_way(prediction)} in one direction"
    fit = _fits(messages) if platform is None else f" ({in_short(platform)})"
    return (
        f"Assumed: {algorithm(prediction.algorithm)}.",
        f"Messages {of}: {one}{fit}.",
        f"Network: {kind(messages)}, {messages.why}.",
        *_shared(messages),
    )


def _shared(messages: PointToPointCosts) -> tuple[str, ...]:
    """What messages of one node share that set out at once, if pairs were measured."""
    levels = ((level, level.node) for level in messages.levels())
    known = [(_where(level, messages), node) for level, node in levels if node is not None]
    words = [f"{_rate(node)} {where}, measured with {plural(node.pairs, 'pair')}" for where, node in known]
    return (f"Messages that set out from one node at once share {', and '.join(words)}.",) if words else ()


def _where(level: PointToPointCosts, messages: PointToPointCosts) -> str:
    far = messages.place == NETWORK and level is not messages.near
    return "between nodes" if far else "within a node"


def _rate(node: NodeSharing) -> str:
    rate = node.estimate
    return f"at least {format_rate(rate.value)}" if rate.high is None else with_interval(rate, "B/s")


def _fits(messages: PointToPointCosts) -> str:
    """The verdicts of the fits from which the times are."""
    of = {True: "the fit on a node", False: "that between nodes"} if messages.near else {False: "the fit"}
    words = [
        f"{of[level is messages.near]} is {level.verdict}: {level.doubt}"
        for level in messages.levels()
        if level.verdict
    ]
    return f" ({'; '.join(words)})" if words else ""


def _one_way(prediction: Prediction) -> str:
    text, far = with_interval(prediction.one_way, "s"), prediction.between
    return text if far is None else f"{text} on a node and {with_interval(far, 's')} between nodes"


def algorithm(what: Algorithm) -> str:
    """The algorithm's numbers as text."""
    parts = (
        f"{format_percent(what.serial)} of it serial, the rest shared" if what.serial else "all of it shared"
    )
    even = f", {what.imbalance:g} times the mean on the busiest rank" if what.imbalance > 1 else " evenly"
    shared = "all of it serial" if what.serial == 1 else f"{parts}{even}"
    return (
        f"{seconds(what.work_s)} of computation on one rank, {shared}; {what.exchanges:g} "
        f"exchange{'' if what.exchanges == 1 else 's'} of {format_size(what.bytes)} with the neighbors"
    )


def best(prediction: Prediction) -> tuple[str, ...]:
    found = prediction.best
    fastest, thrifty = found.fastest, found.thrifty
    range_ = f"of 1 to {found.most}"
    if found.most == 1:
        return ("Best: 1 rank; the machine has no more.",)
    ends = "" if len(set(found.ends)) == 1 else f" (95%: {found.ends[0]} to {found.ends[1]})"
    if fastest.ranks == 1:
        first = f"Best: 1 rank{ends}; no other number {range_} is faster."
    else:
        first = (
            f"Best: {fastest.ranks} ranks{ends}, speed-up {ratio(fastest.speed_up)}, "
            f"the largest {range_} ranks."
        )
    if thrifty.ranks == 1:
        return first, f"With more than 1 rank, the efficiency is below {format_percent(HALF)}."
    return first, f"Up to {thrifty.ranks} ranks have an efficiency of at least {format_percent(HALF)}."


def changed(prediction: Prediction | KernelForecast) -> str:
    """Introduces the table of possible improvements."""
    now = next(r for r in prediction.rows if r.ranks == prediction.changed)
    return f"What would help on {now.ranks} ranks (now {share(now.efficiency)} efficient):"


def seconds(value: float) -> str:
    """The time with at most three digits, without redundant zeros: 1 s, 2.5 ms."""
    if value >= 100:
        return format_seconds(value)
    factor, unit = next((each for each in UNITS if value >= each[0] * 0.9995), UNITS[-1])
    return f"{float(f'{value / factor:.3g}'):g} {unit}"


def time(estimate: Estimate) -> str:
    """ "608 ms [600, 615]": three digits, in one unit."""
    value = estimate.value
    if value >= 100 or (estimate.high or 0) >= 100:
        return _ranged(estimate, format_seconds)
    factor, unit = next((each for each in UNITS if value >= each[0] * 0.9995), UNITS[-1])
    return _ranged(estimate, lambda v: digits(v / factor), f" {unit}")


def timed(estimate: Estimate) -> Amount:
    """The same as a cell of a table."""
    if estimate.low is None or estimate.high is None:
        return Amount(time(estimate), (estimate.value,), "s")
    return Amount(time(estimate), (estimate.value, estimate.low, estimate.high), "s", "{} [{}, {}]")


def ratio(estimate: Estimate) -> str:
    return _ranged(estimate, digits)


def share(estimate: Estimate) -> str:
    """A part of a whole in percent: "82.2% [81.9, 82.6]"."""
    few = 0 < 100 * estimate.value < FEW
    return f"<{FEW}%" if few else _ranged(estimate, lambda value: digits(100 * value), "%")


def digits(value: float) -> str:
    """Three significant digits, including trailing zeros, down to FEW; all of an integer part."""
    if value >= 1000:
        return f"{value:.0f}"
    return f"<{FEW}" if 0 < value < FEW else format_significant(value, 3)


def _ranged(estimate: Estimate, shown: Callable[[float], str], unit: str = "") -> str:
    ends = (
        ""
        if estimate.low is None or estimate.high is None
        else (f" [{shown(estimate.low)}, {shown(estimate.high)}]")
    )
    return f"{shown(estimate.value)}{unit}{ends}"
