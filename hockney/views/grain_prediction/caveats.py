# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Caveats about a prediction, with remedies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from hockney import simulated
from hockney.core.case import HOT
from hockney.core.layout import NETWORK
from hockney.core.platform import Platform
from hockney.core.record import Origin
from hockney.draw.page import Caveat
from hockney.models.applications.contention import FEWEST_RANKS
from hockney.models.applications.grain_prediction import Prediction, RanksRow
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.npb.forecast import KernelRow
from hockney.views.grain_prediction import messages
from hockney.views.origins import UNSAID, provenance

BETWEEN_NODES = ("latency", "byte-cost", "network")
"""What only messages between nodes take their time from, where those on a node are described apart."""
REWRITTEN = 4096
"""Bytes from which it takes longer to send what was just written (docs/method.md)."""
WIDE = 1.25
"""From this ratio of its ends, the interval of a message's time requires a caveat."""


@dataclass(frozen=True)
class CostsOrigin:
    """The origin of the times: the `platform` that a `name` selects, or a run, whose machine's numbers have
    this `origin`, on this number of `hosts`, with the two ranks of its ping-pong on `pair_hosts`. `run` are
    the caveats of the runs that gave numbers."""

    platform: Platform | None = None
    name: str = ""
    origin: Origin = "measured"
    hosts: int = 1
    pair_hosts: int = 1
    run: tuple[Caveat, ...] = ()


class Predicted(Protocol):
    """A prediction of any kind of program for numbers of ranks."""

    @property
    def messages(self) -> PointToPointCosts: ...

    @property
    def rows(self) -> Sequence[RanksRow | KernelRow]: ...


def caveats(prediction: Prediction, known: CostsOrigin) -> tuple[Caveat, ...]:
    """The most serious first."""
    of_algorithm = (caveat for check in _OF_ALGORITHM for caveat in check(prediction, known))
    return *caveats_of_costs(prediction, known), *of_algorithm


def caveats_of_costs(prediction: Predicted, known: CostsOrigin) -> tuple[Caveat, ...]:
    """Those of the costs of messages and of the runs. What both have is stated once, for this prediction."""
    first, then = (
        [caveat for check in checks for caveat in check(prediction, known)]
        for checks in (_OF_RANKS, _OF_COSTS)
    )
    codes = {caveat.code for caveat in (*first, *then)}
    return *first, *(caveat for caveat in known.run if caveat.code not in codes), *then


def _fit(prediction: Predicted, known: CostsOrigin) -> Iterator[Caveat]:
    for costs, where in _levels(prediction):
        if costs.verdict == "poor":
            yield messages.poor_fit(costs.doubt, where)


def _modes(prediction: Predicted, known: CostsOrigin) -> Iterator[Caveat]:
    for costs, where in _levels(prediction):
        if costs.two_modes is not None:
            yield messages.launches_in_two_modes(costs.two_modes.text, where)


def _levels(prediction: Predicted) -> Iterator[tuple[PointToPointCosts, str]]:
    """Each kind of messages, and the numbers that depend on it."""
    costs = prediction.messages
    differ = costs.near is not None and costs.near.pieces != costs.pieces
    for level in costs.levels():
        yield level, messages.numbers(costs.cores if differ else 0, within=level is costs.near)


def _calibration(prediction: Predicted, known: CostsOrigin) -> Iterator[Caveat]:
    if known.platform is not None and known.platform.poor_fit:
        yield messages.poor_calibration(known.platform.title, known.platform.poor_fit)
    if known.platform is not None and known.platform.two_modes:
        yield messages.two_mode_calibration(known.platform.title, known.platform.two_modes)


def _guesses(prediction: Predicted, known: CostsOrigin) -> Iterator[Caveat]:
    if known.platform is None:
        return
    apart = simulated.between_nodes_guessed(known.platform)
    left_out = ("node-count", *(BETWEEN_NODES if apart else ()))
    weak = [
        p.what for p in provenance(known.platform) if p.status in ("guess", UNSAID) and p.code not in left_out
    ]
    if weak:
        yield messages.guesses(list(dict.fromkeys(weak)), known.platform.title, known.name)


def _between_nodes(prediction: Predicted, known: CostsOrigin) -> Iterator[Caveat]:
    if known.platform is None or not (reason := simulated.between_nodes_guessed(known.platform)):
        return
    most = known.platform.nodes[0].cores
    far = [row.ranks for row in prediction.rows if row.ranks > most]
    if far:
        yield messages.between_nodes(known.platform.title, far, most, reason)


def _noise(prediction: Predicted, known: CostsOrigin) -> Iterator[Caveat]:
    if known.platform is not None and known.platform.noise is not None:
        yield messages.noise(known.platform.title)


def _origin(prediction: Predicted, known: CostsOrigin) -> Iterator[Caveat]:
    if known.platform is None and known.origin in messages.NOT_MEASURED:
        yield messages.not_measured(known.origin)


def _size(prediction: Prediction, known: CostsOrigin) -> Iterator[Caveat]:
    costs, count = prediction.messages, prediction.algorithm.bytes
    ends = costs.smallest, costs.largest or 0
    if not costs.known(count):
        yield messages.extrapolated(count, *ends)
        return
    beyond = [
        change.lever.name
        for change in prediction.changes
        if change.lever.algorithm and not costs.known(change.lever.algorithm.bytes)
    ]
    if beyond:
        yield messages.extrapolated_changes(beyond, *ends)


def _hot(prediction: Prediction, known: CostsOrigin) -> Iterator[Caveat]:
    if prediction.algorithm.bytes >= REWRITTEN and prediction.messages.buffers == HOT:
        yield messages.hot_buffers()


def _change(prediction: Prediction, known: CostsOrigin) -> Iterator[Caveat]:
    count = prediction.algorithm.bytes
    unsure = []
    for costs in prediction.messages.levels():
        change, bounds = costs.change(count), costs.bounds(count)
        if change is not None and bounds is not None and bounds[1] >= WIDE * bounds[0]:
            unsure.append(change)
    for change in dict.fromkeys(unsure):
        yield messages.protocol_change(*change, count)


def _imbalance(prediction: Prediction, known: CostsOrigin) -> Iterator[Caveat]:
    factor = prediction.algorithm.imbalance
    few = [row.ranks for row in prediction.rows if 1 < row.ranks < factor]
    if few:
        yield messages.imbalance(few, factor)


def _cores(prediction: Predicted, known: CostsOrigin) -> Iterator[Caveat]:
    crowded = [row for row in prediction.rows if row.shared_by > 1]
    cores = prediction.messages.most_ranks
    if crowded and cores is not None:
        yield messages.oversubscribed(
            [row.ranks for row in crowded], cores, [row.shared_by for row in crowded]
        )


def _larger(prediction: Prediction, known: CostsOrigin) -> Iterator[Caveat]:
    cores = prediction.messages.most_ranks
    if prediction.larger and cores is not None:
        yield messages.larger_machine([row.ranks for row in prediction.rows if row.ranks > cores], cores)


def _hosts(prediction: Predicted, known: CostsOrigin) -> Iterator[Caveat]:
    most = prediction.messages.most_ranks
    if known.hosts < 2 or known.pair_hosts > 1 or most is None or prediction.messages.near is not None:
        return
    within = most // known.hosts
    far = [row.ranks for row in prediction.rows if row.ranks > within]
    if far:
        yield messages.one_host(far, within)


def _one_level(prediction: Predicted, known: CostsOrigin) -> Iterator[Caveat]:
    """Messages of a level that the run lacks, taken to cost as much as those that it has."""
    costs = prediction.messages
    if known.platform is not None or costs.near is None or costs.near.pieces != costs.pieces:
        return
    between = costs.place == NETWORK or known.pair_hosts > 1
    missing = [row for row in prediction.rows if row.ranks > 1 and _needs(costs, row.ranks, between)]
    if missing:
        yield messages.one_level([row.ranks for row in missing], between=between)


def _needs(costs: PointToPointCosts, ranks: int, within: bool) -> bool:
    """Whether so many ranks send messages within a node, or between nodes."""
    return costs.per_node(ranks) > 1 if within else costs.count_of_nodes(ranks) > 1


def _network(prediction: Prediction, known: CostsOrigin) -> Iterator[Caveat]:
    guessed = prediction.messages.sharing == "assumed"
    several = [row.ranks for row in prediction.rows if row.ranks > 2 and row.shared_by == 1]
    if guessed and several and prediction.algorithm.bytes > 0:
        most = prediction.messages.most_ranks
        possible = max(FEWEST_RANKS, several[-1] if most is None else min(several[-1], most))
        if most is not None and most < FEWEST_RANKS:
            possible = 0
        yield messages.network_assumed(several, FEWEST_RANKS, possible, prediction.messages.undecided)


_OF_RANKS = (_one_level, _between_nodes, _hosts, _origin, _cores)
_OF_COSTS = (_fit, _modes, _calibration, _guesses, _noise)
_OF_ALGORITHM = (_size, _larger, _hot, _change, _imbalance, _network)
