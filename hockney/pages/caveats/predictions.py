# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""Caveats about a prediction, with remedies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from hockney.core.case import HOT
from hockney.core.fit import LAUNCHES_IN_TWO_MODES
from hockney.core.layout import NETWORK
from hockney.core.platform import Platform
from hockney.core.record import Origin
from hockney.core.units import format_percent, format_size
from hockney.core.wording import join_words, plural
from hockney.draw.page import Caveat
from hockney.machines import simulated
from hockney.models.applications.contention import FEWEST_RANKS
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.pages.caveats.machine import ALL_NUMBERS, between_nodes_caveats, calibration_caveats
from hockney.pages.origins import UNSAID, provenance

if TYPE_CHECKING:
    from hockney.models.applications.grain_prediction import Prediction, RanksRow
    from hockney.models.programs.scaling import ProgramForecast, ProgramRow

NotMeasured = Literal["fake", "simulated", "published", "imported"]

NOT_MEASURED: dict[NotMeasured, str] = {
    "fake": "made up for tests",
    "simulated": "simulated",
    "published": "printed in a paper",
    "imported": "printed by another benchmark",
}

BETWEEN_NODES = ("latency", "byte-cost", "network")
"""What only messages between nodes take their time from, where those on a node are described apart."""
MIN_REWRITTEN_BYTES = 4096
"""Bytes from which it takes longer to send what was just written (docs/method.md)."""
WIDE_RATIO = 1.25
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
    def rows(self) -> Sequence[RanksRow | ProgramRow]: ...


def prediction_caveats(prediction: Prediction, origin: CostsOrigin) -> tuple[Caveat, ...]:
    """The caveats about predictions, the most serious first."""
    of_algorithm = (caveat for check in _OF_ALGORITHM for caveat in check(prediction, origin))
    return *cost_caveats(prediction, origin), *of_algorithm


def program_caveats(forecast: ProgramForecast, messages: PointToPointCosts) -> tuple[Caveat, ...]:
    """The caveats about a described program, the most serious first."""
    longest = forecast.longest_message
    extrapolated = [] if messages.known(longest) else [_extrapolated_message(longest, messages)]
    return *extrapolated, *_hot_buffers_for(longest, messages), *_links_bounded(forecast)


def cost_caveats(prediction: Predicted, origin: CostsOrigin) -> tuple[Caveat, ...]:
    """The caveats about the costs of messages and about the runs. A caveat of both is stated once, for this
    prediction."""
    first, then = (
        [caveat for check in checks for caveat in check(prediction, origin)]
        for checks in (_OF_RANKS, _OF_COSTS)
    )
    codes = {caveat.code for caveat in (*first, *then)}
    return *first, *(caveat for caveat in origin.run if caveat.code not in codes), *then


def _poor_fit(prediction: Predicted, origin: CostsOrigin) -> Iterator[Caveat]:
    for costs, where in _levels(prediction):
        if costs.verdict == "poor":
            yield Caveat(
                "poor-fit",
                f"the model of messages is poor: {costs.doubt}",
                where,
                "survey on a quieter machine, or with a larger --budget",
            )


def _two_modes(prediction: Predicted, origin: CostsOrigin) -> Iterator[Caveat]:
    for costs, where in _levels(prediction):
        if costs.two_modes is not None:
            yield Caveat(
                LAUNCHES_IN_TWO_MODES,
                f"{costs.two_modes.text}; chance decides how many are in each, and so the cost of a message",
                where,
                "predict for the fast mode with --cost undisturbed, or survey again or with a larger "
                "--budget",
            )


def _levels(prediction: Predicted) -> Iterator[tuple[PointToPointCosts, str]]:
    """Each kind of messages, and the numbers that depend on it."""
    costs = prediction.messages
    differ = costs.near is not None and costs.near.pieces != costs.pieces
    for level in costs.levels():
        yield level, _affected_numbers(costs.cores if differ else 0, within=level is costs.near)


def _calibration(prediction: Predicted, origin: CostsOrigin) -> Iterator[Caveat]:
    if origin.platform is not None:
        yield from calibration_caveats(origin.platform)


def _guesses(prediction: Predicted, origin: CostsOrigin) -> Iterator[Caveat]:
    if origin.platform is None:
        return
    guessed = simulated.between_nodes_guessed(origin.platform)
    left_out = ("node-count", *(BETWEEN_NODES if guessed else ()))
    weak = [
        p.what
        for p in provenance(origin.platform)
        if p.status in ("guess", UNSAID) and p.code not in left_out
    ]
    if weak:
        parameters = list(dict.fromkeys(weak))
        yield Caveat(
            "guesses",
            f"{join_words(parameters)} of {origin.platform.title} {'is' if len(parameters) == 1 else 'are'} "
            "guessed",
            ALL_NUMBERS,
            f"'hockney machines --show {origin.name}' shows what is known",
        )


def _between_nodes(prediction: Predicted, origin: CostsOrigin) -> Iterator[Caveat]:
    if origin.platform is not None:
        yield from between_nodes_caveats(origin.platform, [row.ranks for row in prediction.rows], "numbers")


def _noise(prediction: Predicted, origin: CostsOrigin) -> Iterator[Caveat]:
    if origin.platform is not None and origin.platform.noise is not None:
        yield Caveat(
            "noise",
            f"message times of {origin.platform.title} vary, and the prediction uses the shortest",
            ALL_NUMBERS,
            "simulate it with 'hockney run granularity'",
        )


def _not_measured(prediction: Predicted, origin: CostsOrigin) -> Iterator[Caveat]:
    if origin.platform is None and origin.origin in NOT_MEASURED:
        yield Caveat(
            origin.origin,
            f"the run's numbers were {NOT_MEASURED[origin.origin]}, not measured",
            ALL_NUMBERS,
            "give --run with a survey of a real machine to predict for it",
        )


def _extrapolation(prediction: Prediction, origin: CostsOrigin) -> Iterator[Caveat]:
    costs = prediction.messages
    if not costs.known(prediction.algorithm.bytes):
        yield _extrapolated_message(prediction.algorithm.bytes, costs)
        return
    extrapolated = [
        change.lever.name
        for change in prediction.changes
        if change.lever.algorithm and not costs.known(change.lever.algorithm.bytes)
    ]
    if extrapolated:
        yield _extrapolated(f"the messages of {join_words(extrapolated)} are", costs, "their improvements")


def _extrapolated_message(count: float, costs: PointToPointCosts) -> Caveat:
    return _extrapolated(f"a message of {format_size(count)} is", costs, ALL_NUMBERS)


def _extrapolated(what: str, costs: PointToPointCosts, numbers: str) -> Caveat:
    sizes = f"{format_size(costs.smallest)} to {format_size(costs.largest or 0)}"
    return Caveat(
        "extrapolated",
        f"{what} extrapolated: sizes from {sizes} were measured",
        numbers,
        "survey with --sizes that include it",
    )


def _hot_buffers(prediction: Prediction, origin: CostsOrigin) -> Iterator[Caveat]:
    yield from _hot_buffers_for(prediction.algorithm.bytes, prediction.messages)


def _hot_buffers_for(count: float, messages: PointToPointCosts) -> Iterator[Caveat]:
    if count >= MIN_REWRITTEN_BYTES and messages.buffers == HOT:
        yield Caveat(
            "hot-buffers",
            "programs send messages that they have just written; the run only measured hot buffers, which "
            "are never rewritten",
            "predicted times, which are too short from a few KiB on",
            "measure a new survey, or pingpong buffers=written",
        )


def _change(prediction: Prediction, origin: CostsOrigin) -> Iterator[Caveat]:
    count = prediction.algorithm.bytes
    unsure = []
    for costs in prediction.messages.levels():
        change, bounds = costs.change(count), costs.bounds(count)
        if change is not None and bounds is not None and bounds[1] >= WIDE_RATIO * bounds[0]:
            unsure.append(change)
    for low, high in dict.fromkeys(unsure):
        size, below, above = format_size(count), format_size(low), format_size(high)
        yield Caveat(
            "change",
            f"somewhere between {below} and {above} the library changes its protocol: whether before or "
            f"after {size} is unknown",
            ALL_NUMBERS,
            f"survey with --sizes that include {size}, or predict for {below} or {above}",
        )


def _imbalance(prediction: Prediction, origin: CostsOrigin) -> Iterator[Caveat]:
    factor = prediction.algorithm.imbalance
    few = [row.ranks for row in prediction.rows if 1 < row.ranks < factor]
    if few:
        yield Caveat(
            "imbalance",
            f"on {join_words(few)} ranks, {factor:g} times the mean work is more than all of the work",
            f"numbers on {join_words(few)} ranks",
            "give a smaller --imbalance",
        )


def _shared_cores(prediction: Predicted, origin: CostsOrigin) -> Iterator[Caveat]:
    crowded = [row for row in prediction.rows if row.shared_by > 1]
    cores = prediction.messages.most_ranks
    if crowded and cores is not None:
        ranks = join_words([row.ranks for row in crowded])
        limits = join_words(f"{format_percent(1 / row.shared_by)} on {row.ranks}" for row in crowded)
        yield Caveat(
            "oversubscribed",
            f"{ranks} ranks share {plural(cores, 'core')}: ranks on one core compute in turn, so efficiency "
            f"is at most {limits} ranks; the numbers include that, but not waiting for the scheduler",
            f"all numbers on {ranks} ranks",
            "predict for fewer ranks, or for a machine with more cores",
        )


def _larger_machine(prediction: Prediction, origin: CostsOrigin) -> Iterator[Caveat]:
    cores = prediction.messages.most_ranks
    if prediction.larger and cores is not None:
        ranks = [row.ranks for row in prediction.rows if row.ranks > cores]
        yield Caveat(
            "larger-machine",
            f"{join_words(ranks)} ranks are predicted for a larger machine of this kind, assuming that "
            f"messages cost the same as on the {plural(cores, 'core')} of this one",
            f"all numbers on {join_words(ranks)} ranks",
            "leave out --larger-machine to let them share the cores",
        )


def _one_host(prediction: Predicted, origin: CostsOrigin) -> Iterator[Caveat]:
    most = prediction.messages.most_ranks
    if origin.hosts < 2 or origin.pair_hosts > 1 or most is None or prediction.messages.near is not None:
        return
    within = most // origin.hosts
    far_ranks = [row.ranks for row in prediction.rows if row.ranks > within]
    if far_ranks:
        yield Caveat(
            "one-host",
            f"the ping-pong was within one host, but {join_words(far_ranks)} ranks need several",
            f"numbers on more than {within} ranks: between hosts a message costs more",
            "survey with the two ranks of a pair on two hosts",
        )


def _one_level(prediction: Predicted, origin: CostsOrigin) -> Iterator[Caveat]:
    """Messages of a level that the run lacks, taken to cost as much as those that it has."""
    costs = prediction.messages
    if origin.platform is not None or costs.near is None or costs.near.pieces != costs.pieces:
        return
    between = costs.place == NETWORK or origin.pair_hosts > 1
    missing = [
        row.ranks for row in prediction.rows if row.ranks > 1 and _sends_at_level(costs, row.ranks, between)
    ]
    if missing:
        measured, lacking, differ = (
            ("between nodes", "within a node", "less")
            if between
            else ("within a node", "between nodes", "more")
        )
        yield Caveat(
            "one-level",
            f"messages {lacking} were not measured; they are assumed to cost the same as {measured}",
            f"numbers on {join_words(missing)} ranks: a message {lacking} costs {differ}",
            "survey with --nodes 2 and --ranks-per-node 2 or more",
        )


def _sends_at_level(costs: PointToPointCosts, ranks: int, within: bool) -> bool:
    """Whether ranks send messages within a node, or between nodes."""
    return costs.per_node(ranks) > 1 if within else costs.count_of_nodes(ranks) > 1


def _network(prediction: Prediction, origin: CostsOrigin) -> Iterator[Caveat]:
    several = [row.ranks for row in prediction.rows if row.ranks > 2 and row.shared_by == 1]
    if prediction.messages.sharing == "assumed" and several and prediction.algorithm.bytes > 0:
        yield Caveat(
            "network-assumed",
            "it is unknown whether simultaneous messages share the network; a switch is assumed",
            f"numbers on {join_words(several)} ranks",
            _network_remedy(prediction.messages, several[-1]),
        )


def _network_remedy(messages: PointToPointCosts, ranks: int) -> str:
    """How to measure whether messages share the network, on `ranks` ranks as far as there are cores."""
    most = messages.most_ranks
    if messages.undecided == "contradictory":
        return "the measured exchanges do not decide it; --network shared predicts the other case"
    if most is not None and most < FEWEST_RANKS:
        return f"measuring it needs {FEWEST_RANKS} cores; --network shared predicts the other case"
    possible = max(FEWEST_RANKS, ranks if most is None else min(ranks, most))
    out, sizes = (
        ("runs/longer", " --sizes 1words,1MiB") if messages.undecided == "short" else ("runs/network", "")
    )
    run = f"hockney run granularity --ranks 2,{possible} --out {out}{sizes}"
    return f"'{run}' measures it; then predict with --run {out}"


_OF_RANKS = (_one_level, _between_nodes, _one_host, _not_measured, _shared_cores)
_OF_COSTS = (_poor_fit, _two_modes, _calibration, _guesses, _noise)
_OF_ALGORITHM = (_extrapolation, _larger_machine, _hot_buffers, _change, _imbalance, _network)


def _affected_numbers(cores: int, *, within: bool) -> str:
    """The numbers that depend on messages within a node of several `cores`, or on those between nodes; on
    all messages with 0 cores."""
    if cores < 2:
        return ALL_NUMBERS
    return f"numbers on up to {cores} ranks, of one node" if within else f"numbers on more than {cores} ranks"


def _links_bounded(forecast: ProgramForecast) -> Iterator[Caveat]:
    """The links of a program with many messages, or of some networks, are never simulated."""
    bounded = [row.ranks for row in forecast.rows if not row.iteration.contention]
    if not bounded:
        return
    followed = (row.ranks for row in forecast.rows if row.iteration.contention and row.ranks > 1)
    fewer = max((each for each in followed if each < max(bounded)), default=0)
    ranks = f"on {join_words(bounded)} ranks"
    yield Caveat(
        "links-bounded",
        f"{ranks} the messages were not followed on the links that they share; each step takes at least as "
        "long as the bytes through the busiest node",
        f"numbers {ranks}, which may be too short",
        f"predict for up to {fewer} ranks, where links are simulated"
        if fewer
        else "simulate all messages with 'hockney run' on this machine (--machine sim:NAME)",
    )
