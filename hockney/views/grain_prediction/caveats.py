# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What makes a prediction doubtful, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hockney.core.platform import Platform
from hockney.core.record import Origin
from hockney.core.units import format_percent
from hockney.draw.page import Caveat
from hockney.models.applications.contention import FEWEST_RANKS
from hockney.models.applications.grain_prediction import Prediction
from hockney.pages.format import plural, together
from hockney.views.grain_prediction.words import size
from hockney.views.origins import UNSAID, provenance

ALL = "all numbers"
NOT_MEASURED = {"fake": "made up for tests", "simulated": "simulated", "published": "printed in a paper"}
WIDE = 1.25
"""From this ratio of its ends an interval of a message's time is worth a word."""


@dataclass(frozen=True)
class CostsOrigin:
    """Where the times are from: the `platform` that a name stands for, or a run, whose machine's numbers have
    this `origin`, and on how many `hosts`, the two ranks of its ping-pong on `pair_hosts`."""

    platform: Platform | None = None
    origin: Origin = "measured"
    hosts: int = 1
    pair_hosts: int = 1


def caveats(prediction: Prediction, known: CostsOrigin) -> tuple[Caveat, ...]:
    return tuple(
        each
        for found in (_fit, _guesses, _noise, _origin, _size, _change, _imbalance, _cores, _hosts, _network)
        for each in found(prediction, known)
    )


def _fit(prediction: Prediction, known: CostsOrigin) -> Iterator[Caveat]:
    messages = prediction.messages
    if messages.verdict == "poor":
        text = f"the model of messages is poor: {messages.doubt}"
        touches = ALL if messages.cores < 2 else f"numbers on up to {messages.cores} ranks, of one node"
        yield Caveat("poor-fit", text, touches, "survey on a quieter machine, or with a larger --budget")


def _guesses(prediction: Prediction, known: CostsOrigin) -> Iterator[Caveat]:
    if known.platform is None:
        return
    weak = [p.what for p in provenance(known.platform) if p.status in ("guess", UNSAID)]
    weak = [what for what in dict.fromkeys(weak) if what != "number of nodes"]
    if weak:
        text = f"{together(weak)} of {known.platform.title} {'is' if len(weak) == 1 else 'are'} guessed"
        yield Caveat(
            "guesses", text, ALL, f"'hockney machines --show {known.platform.name}' tells what is known"
        )


def _noise(prediction: Prediction, known: CostsOrigin) -> Iterator[Caveat]:
    if known.platform is not None and known.platform.noise is not None:
        text = f"messages of {known.platform.title} vary, and the prediction has the least they take"
        yield Caveat("noise", text, ALL, "simulate it with 'hockney run granularity'")


def _origin(prediction: Prediction, known: CostsOrigin) -> Iterator[Caveat]:
    if known.platform is None and known.origin in NOT_MEASURED:
        text = f"the run's numbers were {NOT_MEASURED[known.origin]}, not measured"
        yield Caveat(known.origin, text, ALL, "give --run with a survey of a real machine for numbers of one")


def _size(prediction: Prediction, known: CostsOrigin) -> Iterator[Caveat]:
    messages, count = prediction.messages, prediction.algorithm.bytes
    lengths = f"sizes from {size(messages.smallest)} to {size(messages.largest or 0)} were measured"
    todo = "survey with --sizes that hold it"
    if not messages.known(count):
        yield Caveat("extrapolated", f"a message of {size(count)} is extrapolated: {lengths}", ALL, todo)
        return
    beyond = [
        each.lever.name
        for each in prediction.changes
        if each.lever.algorithm and not messages.known(each.lever.algorithm.bytes)
    ]
    if beyond:
        text = f"the messages of {together(beyond)} are extrapolated: {lengths}"
        yield Caveat("extrapolated", text, "what it would bring", todo)


def _change(prediction: Prediction, known: CostsOrigin) -> Iterator[Caveat]:
    count = prediction.algorithm.bytes
    change, bounds = prediction.messages.change(count), prediction.messages.bounds(count)
    if change is None or bounds is None or bounds[1] < WIDE * bounds[0]:
        return
    low, high = map(size, change)
    text = (
        f"somewhere between {low} and {high} the library changes its way of sending: whether before or after "
        f"{size(count)}, is not known"
    )
    yield Caveat(
        "change", text, ALL, f"survey with --sizes that hold {size(count)}, or ask for {low} or {high}"
    )


def _imbalance(prediction: Prediction, known: CostsOrigin) -> Iterator[Caveat]:
    asked = prediction.algorithm.imbalance
    few = [str(row.ranks) for row in prediction.rows if 1 < row.ranks < asked]
    if few:
        text = f"the busiest of {together(few)} ranks cannot have {asked:g} times the mean: it has all"
        yield Caveat("imbalance", text, f"numbers on {together(few)} ranks", "give a smaller --imbalance")


def _cores(prediction: Prediction, known: CostsOrigin) -> Iterator[Caveat]:
    crowded = [row for row in prediction.rows if row.shared_by > 1]
    cores = prediction.messages.most_ranks
    if not crowded or cores is None:
        return
    most = together(f"{format_percent(1 / row.shared_by)} on {row.ranks}" for row in crowded)
    ranks = together(row.ranks for row in crowded)
    yield Caveat(
        "oversubscribed",
        f"{ranks} ranks share {plural(cores, 'core')}: those on one core compute in turn, so that efficiency "
        f"is at most {most} ranks; that is in the numbers, waiting for the scheduler is not",
        f"all numbers on {ranks} ranks",
        "ask for fewer ranks, or for a machine with more cores",
    )


def _hosts(prediction: Prediction, known: CostsOrigin) -> Iterator[Caveat]:
    most = prediction.messages.most_ranks
    if known.hosts < 2 or known.pair_hosts > 1 or most is None:
        return
    within = most // known.hosts
    far = [row.ranks for row in prediction.rows if row.ranks > within]
    if far:
        text = f"the ping-pong was within one host, but {together(far)} ranks need several"
        yield Caveat(
            "one-host",
            text,
            f"numbers on more than {within} ranks: between hosts a message costs more",
            "survey with the two ranks of a pair on two hosts",
        )


def _network(prediction: Prediction, known: CostsOrigin) -> Iterator[Caveat]:
    guessed = prediction.messages.sharing == "assumed"
    several = [row.ranks for row in prediction.rows if row.ranks > 2 and row.shared_by == 1]
    if guessed and several and prediction.algorithm.bytes > 0:
        text = "whether messages under way at once share the network is not known, a switch is assumed"
        touches = f"numbers on {together(several)} ranks"
        most = prediction.messages.most_ranks
        if most is not None and most < FEWEST_RANKS:
            todo = f"it takes {FEWEST_RANKS} cores to measure it; --network shared tells the other case"
        else:
            todo = f"'hockney run granularity --ranks 2,{max(FEWEST_RANKS, several[-1])}' measures it"
        yield Caveat("network-assumed", text, touches, todo)
