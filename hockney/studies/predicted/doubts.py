# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What makes a prediction doubtful, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hockney.core.platform import Platform
from hockney.draw.page import Warning
from hockney.models.network import ASSUMED
from hockney.models.prediction import Prediction
from hockney.studies.predicted.words import percent, size
from hockney.studies.provenance import UNSAID, provenance
from hockney.studies.words import plural

ALL = "all numbers"


@dataclass(frozen=True)
class Known:
    """Where the times are from: the `platform` that a name stands for, or a run, of whose kind of machine
    (as in `core.machine.Machine`) and on how many `hosts`, the two ranks of its ping-pong on `pair_hosts`."""

    platform: Platform | None = None
    kind: str = "real"
    hosts: int = 1
    pair_hosts: int = 1


def doubts(prediction: Prediction, known: Known) -> tuple[Warning, ...]:
    return tuple(
        each
        for found in (_fit, _guesses, _kind, _size, _cores, _hosts, _network)
        for each in found(prediction, known)
    )


def _fit(prediction: Prediction, known: Known) -> Iterator[Warning]:
    messages = prediction.messages
    if messages.verdict == "poor":
        text = f"the model of messages is poor: {messages.doubt}"
        yield Warning("poor-fit", text, ALL, "survey on a quieter machine, or with a larger --budget")


def _guesses(prediction: Prediction, known: Known) -> Iterator[Warning]:
    if known.platform is None:
        return
    weak = [p.what for p in provenance(known.platform) if p.status in ("guess", UNSAID)]
    weak = [what for what in dict.fromkeys(weak) if what != "number of nodes"]
    if weak:
        text = f"{' and '.join(weak)} of {known.platform.title} {'is' if len(weak) == 1 else 'are'} guessed"
        yield Warning(
            "guesses", text, ALL, f"'hockney machines --show {known.platform.name}' tells what is known"
        )


def _kind(prediction: Prediction, known: Known) -> Iterator[Warning]:
    said = {"fake": "made up for tests", "simulated": "simulated", "published": "printed in a paper"}
    if known.platform is None and known.kind in said:
        text = f"the run's numbers were {said[known.kind]}, not measured"
        yield Warning(known.kind, text, ALL, "give --run with a survey of a real machine for numbers of one")


def _size(prediction: Prediction, known: Known) -> Iterator[Warning]:
    messages, count = prediction.messages, prediction.algorithm.bytes
    lengths = f"sizes from {size(messages.smallest)} to {size(messages.largest or 0)} were measured"
    todo = "survey with --sizes that hold it"
    if not messages.known(count):
        yield Warning("extrapolated", f"a message of {size(count)} is extrapolated: {lengths}", ALL, todo)
        return
    beyond = [
        each.lever.name
        for each in prediction.changes
        if each.lever.algorithm and not messages.known(each.lever.algorithm.bytes)
    ]
    if beyond:
        text = f"the messages of {' and '.join(beyond)} are extrapolated: {lengths}"
        yield Warning("extrapolated", text, "what it would bring", todo)


def _cores(prediction: Prediction, known: Known) -> Iterator[Warning]:
    crowded = [row for row in prediction.rows if row.shared_by > 1]
    cores = prediction.messages.most_ranks
    if not crowded or cores is None:
        return
    most = " and ".join(f"{percent(1 / row.shared_by)} on {row.ranks}" for row in crowded)
    ranks = " and ".join(str(row.ranks) for row in crowded)
    yield Warning(
        "oversubscribed",
        f"{ranks} ranks share {plural(cores, 'core')}: those on one core compute in turn, so that efficiency "
        f"is at most {most} ranks; that is in the numbers, waiting for the scheduler is not",
        f"all numbers on {ranks} ranks",
        "ask for fewer ranks, or for a machine with more cores",
    )


def _hosts(prediction: Prediction, known: Known) -> Iterator[Warning]:
    most = prediction.messages.most_ranks
    if known.hosts < 2 or known.pair_hosts > 1 or most is None:
        return
    within = most // known.hosts
    far = [row.ranks for row in prediction.rows if row.ranks > within]
    if far:
        text = f"the ping-pong was within one host, but {' and '.join(map(str, far))} ranks need several"
        yield Warning(
            "one-host",
            text,
            f"numbers on more than {within} ranks: between hosts a message costs more",
            "survey with the two ranks of a pair on two hosts",
        )


def _network(prediction: Prediction, known: Known) -> Iterator[Warning]:
    guessed = prediction.messages.why.startswith(ASSUMED)
    several = [row.ranks for row in prediction.rows if row.ranks > 2 and row.shared_by == 1]
    if guessed and several and prediction.algorithm.bytes > 0:
        text = "whether messages under way at once share the network was not measured, a switch is assumed"
        touches = f"numbers on {' and '.join(map(str, several))} ranks"
        todo = f"'hockney run pingpong bytes=0:4MiB round_robin ranks={max(4, several[-1])}' measures it"
        yield Warning("network-assumed", text, touches, todo)
