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
from hockney.models.applications.point_to_point_costs import PointToPointCosts, Undecided
from hockney.pages.origins import UNSAID, provenance

if TYPE_CHECKING:
    from hockney.models.applications.grain_prediction import Prediction, RanksRow
    from hockney.models.programs.scaling import ProgramForecast, ProgramRow

_ALL_NUMBERS = "all numbers"

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
    unfollowed = [row.ranks for row in forecast.rows if not row.iteration.contention]
    followed = [row.ranks for row in forecast.rows if row.iteration.contention and row.ranks > 1]
    caveats = list(_hot_buffers_for(longest, messages))
    if not messages.known(longest):
        caveats.insert(0, _extrapolated(longest, messages.smallest, messages.largest or 0))
    return (*caveats, *([_links_bounded(unfollowed, followed)] if unfollowed else []))


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
    if origin.platform is not None and origin.platform.poor_fit:
        yield Caveat(
            "poor-calibration",
            f"the messages of {origin.platform.title} were calibrated from a poor fit: "
            f"{origin.platform.poor_fit}",
            _ALL_NUMBERS,
            "survey on a quieter machine, or with a larger --budget, and calibrate again",
        )
    if origin.platform is not None and origin.platform.two_modes:
        yield Caveat(
            "two-mode-calibration",
            f"{origin.platform.title} was calibrated from typical times, and {origin.platform.two_modes}: "
            "its times are between both modes",
            _ALL_NUMBERS,
            "calibrate again with --cost undisturbed, or from a longer survey",
        )


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
            _ALL_NUMBERS,
            f"'hockney machines --show {origin.name}' shows what is known",
        )


def _between_nodes(prediction: Predicted, origin: CostsOrigin) -> Iterator[Caveat]:
    if origin.platform is None or not (reason := simulated.between_nodes_guessed(origin.platform)):
        return
    most = origin.platform.nodes[0].cores
    far_ranks = [row.ranks for row in prediction.rows if row.ranks > most]
    if far_ranks:
        yield Caveat(
            "between-nodes",
            f"{join_words(far_ranks)} ranks of {origin.platform.title} are on several nodes; the cost of "
            f"messages between nodes was not measured and is a guess ({reason})",
            f"numbers on more than {plural(most, 'rank')}",
            "calibrate from a survey between two hosts, or with the --network of a machine that states where "
            "its costs are from",
        )


def _noise(prediction: Predicted, origin: CostsOrigin) -> Iterator[Caveat]:
    if origin.platform is not None and origin.platform.noise is not None:
        yield Caveat(
            "noise",
            f"message times of {origin.platform.title} vary, and the prediction uses the shortest",
            _ALL_NUMBERS,
            "simulate it with 'hockney run granularity'",
        )


def _not_measured(prediction: Predicted, origin: CostsOrigin) -> Iterator[Caveat]:
    if origin.platform is None and origin.origin in NOT_MEASURED:
        yield Caveat(
            origin.origin,
            f"the run's numbers were {NOT_MEASURED[origin.origin]}, not measured",
            _ALL_NUMBERS,
            "give --run with a survey of a real machine to predict for it",
        )


def _extrapolation(prediction: Prediction, origin: CostsOrigin) -> Iterator[Caveat]:
    costs, count = prediction.messages, prediction.algorithm.bytes
    ends = costs.smallest, costs.largest or 0
    if not costs.known(count):
        yield _extrapolated(count, *ends)
        return
    extrapolated = [
        change.lever.name
        for change in prediction.changes
        if change.lever.algorithm and not costs.known(change.lever.algorithm.bytes)
    ]
    if extrapolated:
        yield _extrapolated_changes(extrapolated, *ends)


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
    for change in dict.fromkeys(unsure):
        yield _protocol_change(*change, count)


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
        yield _oversubscribed([row.ranks for row in crowded], cores, [row.shared_by for row in crowded])


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
    missing = [row for row in prediction.rows if row.ranks > 1 and _sends_at_level(costs, row.ranks, between)]
    if missing:
        yield _one_level_caveat([row.ranks for row in missing], between=between)


def _sends_at_level(costs: PointToPointCosts, ranks: int, within: bool) -> bool:
    """Whether ranks send messages within a node, or between nodes."""
    return costs.per_node(ranks) > 1 if within else costs.count_of_nodes(ranks) > 1


def _network(prediction: Prediction, origin: CostsOrigin) -> Iterator[Caveat]:
    guessed = prediction.messages.sharing == "assumed"
    several = [row.ranks for row in prediction.rows if row.ranks > 2 and row.shared_by == 1]
    if guessed and several and prediction.algorithm.bytes > 0:
        most = prediction.messages.most_ranks
        possible = max(FEWEST_RANKS, several[-1] if most is None else min(several[-1], most))
        if most is not None and most < FEWEST_RANKS:
            possible = 0
        yield _network_assumed(several, FEWEST_RANKS, possible, prediction.messages.undecided)


_OF_RANKS = (_one_level, _between_nodes, _one_host, _not_measured, _shared_cores)
_OF_COSTS = (_poor_fit, _two_modes, _calibration, _guesses, _noise)
_OF_ALGORITHM = (_extrapolation, _larger_machine, _hot_buffers, _change, _imbalance, _network)


_SIMULATION = "simulate all messages with 'hockney run' on this machine (--machine sim:NAME)"


def _affected_numbers(cores: int, *, within: bool) -> str:
    """The numbers that depend on messages within a node of several `cores`, or on those between nodes; on
    all messages with 0 cores."""
    if cores < 2:
        return _ALL_NUMBERS
    return f"numbers on up to {cores} ranks, of one node" if within else f"numbers on more than {cores} ranks"


def _links_bounded(ranks: Sequence[int], followed: Sequence[int]) -> Caveat:
    """Links were simulated on `followed` ranks: those of a program with many messages, or of some networks,
    never are."""
    fewer = max((each for each in followed if each < max(ranks)), default=0)
    remedy = f"predict for up to {fewer} ranks, where links are simulated" if fewer else _SIMULATION
    return Caveat(
        "links-bounded",
        f"on {join_words(ranks)} ranks the messages were not followed on the links that they share; each "
        "step takes at least as long as the bytes through the busiest node",
        f"numbers on {join_words(ranks)} ranks, which may be too short",
        remedy,
    )


def _extrapolated(bytes_: float, smallest: float, largest: float) -> Caveat:
    return Caveat(
        "extrapolated",
        f"a message of {format_size(bytes_)} is extrapolated: {_measured_sizes(smallest, largest)}",
        _ALL_NUMBERS,
        "survey with --sizes that include it",
    )


def _extrapolated_changes(changes: Sequence[str], smallest: float, largest: float) -> Caveat:
    """`changes` of the algorithm that make messages longer or shorter."""
    return Caveat(
        "extrapolated",
        f"the messages of {join_words(changes)} are extrapolated: {_measured_sizes(smallest, largest)}",
        "their improvements",
        "survey with --sizes that include it",
    )


def _protocol_change(low: float, high: float, bytes_: float) -> Caveat:
    size, below, above = format_size(bytes_), format_size(low), format_size(high)
    return Caveat(
        "change",
        f"somewhere between {below} and {above} the library changes its protocol: whether before or after "
        f"{size} is unknown",
        _ALL_NUMBERS,
        f"survey with --sizes that include {size}, or predict for {below} or {above}",
    )


def _oversubscribed(ranks: Sequence[int], cores: int, ranks_a_core: Sequence[float]) -> Caveat:
    limits = (f"{format_percent(1 / share)} on {p}" for p, share in zip(ranks, ranks_a_core, strict=True))
    return Caveat(
        "oversubscribed",
        f"{join_words(ranks)} ranks share {plural(cores, 'core')}: ranks on one core compute in turn, so "
        f"efficiency is at most {join_words(limits)} ranks; the numbers include that, but not waiting for "
        "the scheduler",
        f"all numbers on {join_words(ranks)} ranks",
        "predict for fewer ranks, or for a machine with more cores",
    )


def _network_assumed(
    ranks: Sequence[int], needed_cores: int, possible_ranks: int, undecided: Undecided
) -> Caveat:
    """`needed_cores` are required to measure it; `possible_ranks` is a number of ranks on which this machine
    can, 0 if it has too few cores. `undecided`: why exchanges that were measured do not tell."""
    if undecided == "contradictory":
        remedy = "the measured exchanges do not decide it; --network shared predicts the other case"
    elif not possible_ranks:
        remedy = f"measuring it needs {needed_cores} cores; --network shared predicts the other case"
    else:
        out = "runs/longer" if undecided == "short" else "runs/network"
        sizes = " --sizes 1words,1MiB" if undecided == "short" else ""
        run = f"hockney run granularity --ranks 2,{possible_ranks} --out {out}{sizes}"
        remedy = f"'{run}' measures it; then predict with --run {out}"
    return Caveat(
        "network-assumed",
        "it is unknown whether simultaneous messages share the network; a switch is assumed",
        f"numbers on {join_words(ranks)} ranks",
        remedy,
    )


def _one_level_caveat(ranks: Sequence[int], *, between: bool) -> Caveat:
    """Messages were measured `between` nodes only, or within a node only."""
    measured, lacking, differ = (
        ("between nodes", "within a node", "less") if between else ("within a node", "between nodes", "more")
    )
    return Caveat(
        "one-level",
        f"messages {lacking} were not measured; they are assumed to cost the same as {measured}",
        f"numbers on {join_words(ranks)} ranks: a message {lacking} costs {differ}",
        "survey with --nodes 2 and --ranks-per-node 2 or more",
    )


def _measured_sizes(smallest: float, largest: float) -> str:
    return f"sizes from {format_size(smallest)} to {format_size(largest)} were measured"
