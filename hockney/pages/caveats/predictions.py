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
from hockney.models.applications.contention import MIN_RANKS
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.pages.caveats.machine import ALL_NUMBERS, between_nodes_caveats, calibration_caveats
from hockney.pages.origins import UNSTATED, provenance

if TYPE_CHECKING:
    from hockney.models.applications.grain_prediction import Prediction, RanksRow
    from hockney.models.programs.scaling import ProgramForecast, ProgramRow

NonMeasuredOrigin = Literal["fake", "simulated", "published", "imported"]

ORIGIN_TEXTS: dict[NonMeasuredOrigin, str] = {
    "fake": "made up for tests",
    "simulated": "simulated",
    "published": "printed in a paper",
    "imported": "printed by another benchmark",
}

NETWORK_PARAMETERS = ("latency", "byte-cost", "network")
"""Codes of the parameters that only affect messages between nodes, if messages on a node are described
separately."""
MIN_REWRITTEN_BYTES = 4096
"""Messages of at least this size take longer to send if they were just written (docs/method.md)."""
WIDE_INTERVAL_RATIO = 1.25
"""A larger ratio of the upper to the lower bound of a message's time causes a caveat."""


@dataclass(frozen=True)
class CostsOrigin:
    """The origin of message times: the `platform` that a `name` selects, or a run. The machine's numbers in
    that run have this `origin`; it used this number of `hosts`, with the two ranks of its ping-pong on
    `pair_hosts`. `run` contains the caveats of the source runs."""

    platform: Platform | None = None
    name: str = ""
    origin: Origin = "measured"
    hosts: int = 1
    pair_hosts: int = 1
    run: tuple[Caveat, ...] = ()


class AnyPrediction(Protocol):
    """A prediction of any kind of program for several rank counts."""

    @property
    def messages(self) -> PointToPointCosts: ...

    @property
    def rows(self) -> Sequence[RanksRow | ProgramRow]: ...


def prediction_caveats(prediction: Prediction, origin: CostsOrigin) -> tuple[Caveat, ...]:
    """Return the caveats about a prediction, the most serious first."""
    algorithm_caveats = (caveat for check in _ALGORITHM_CHECKS for caveat in check(prediction, origin))
    return *cost_caveats(prediction, origin), *algorithm_caveats


def program_caveats(forecast: ProgramForecast, messages: PointToPointCosts) -> tuple[Caveat, ...]:
    """Return the caveats about a described program, the most serious first."""
    longest_bytes = forecast.longest_message
    extrapolation = (
        [] if messages.is_known(longest_bytes) else [_extrapolated_message_caveat(longest_bytes, messages)]
    )
    return *extrapolation, *_check_message_buffers(longest_bytes, messages), *_check_simulated_links(forecast)


def cost_caveats(prediction: AnyPrediction, origin: CostsOrigin) -> tuple[Caveat, ...]:
    """Return the caveats about the costs of messages and about the runs. A caveat common to both appears
    once, in the form for this prediction."""
    rank_caveats, remaining_caveats = (
        [caveat for check in checks for caveat in check(prediction, origin)]
        for checks in (_RANK_CHECKS, _COST_CHECKS)
    )
    codes = {caveat.code for caveat in (*rank_caveats, *remaining_caveats)}
    return *rank_caveats, *(caveat for caveat in origin.run if caveat.code not in codes), *remaining_caveats


def _check_poor_fit(prediction: AnyPrediction, origin: CostsOrigin) -> Iterator[Caveat]:
    for costs, affected in _affected_levels(prediction):
        if costs.verdict == "poor":
            yield Caveat(
                "poor-fit",
                f"the model of messages is poor: {costs.doubt}",
                affected,
                "survey on a quieter machine, or with a larger --budget",
            )


def _check_two_modes(prediction: AnyPrediction, origin: CostsOrigin) -> Iterator[Caveat]:
    for costs, affected in _affected_levels(prediction):
        if costs.two_modes is not None:
            yield Caveat(
                LAUNCHES_IN_TWO_MODES,
                f"{costs.two_modes.text}; chance decides how many are in each, and so the cost of a message",
                affected,
                "predict for the fast mode with --cost undisturbed, or survey again or with a larger "
                "--budget",
            )


def _affected_levels(prediction: AnyPrediction) -> Iterator[tuple[PointToPointCosts, str]]:
    """Yield the costs at each level, with the numbers that depend on them."""
    costs = prediction.messages
    has_distinct_levels = costs.within_node is not None and costs.within_node.pieces != costs.pieces
    for level in costs.levels():
        yield (
            level,
            _affected_numbers(costs.cores if has_distinct_levels else 0, within=level is costs.within_node),
        )


def _check_calibration(prediction: AnyPrediction, origin: CostsOrigin) -> Iterator[Caveat]:
    if origin.platform is not None:
        yield from calibration_caveats(origin.platform)


def _check_guesses(prediction: AnyPrediction, origin: CostsOrigin) -> Iterator[Caveat]:
    if origin.platform is None:
        return
    is_guessed = simulated.between_nodes_guessed(origin.platform)
    excluded_codes = ("node-count", *(NETWORK_PARAMETERS if is_guessed else ()))
    guessed_names = [
        p.what
        for p in provenance(origin.platform)
        if p.status in ("guess", UNSTATED) and p.code not in excluded_codes
    ]
    if guessed_names:
        unique_names = list(dict.fromkeys(guessed_names))
        yield Caveat(
            "guesses",
            f"{join_words(unique_names)} of {origin.platform.title} "
            f"{'is' if len(unique_names) == 1 else 'are'} "
            "guessed",
            ALL_NUMBERS,
            f"'hockney machines --show {origin.name}' shows what is known",
        )


def _check_between_nodes(prediction: AnyPrediction, origin: CostsOrigin) -> Iterator[Caveat]:
    if origin.platform is not None:
        yield from between_nodes_caveats(origin.platform, [row.ranks for row in prediction.rows], "numbers")


def _check_noise(prediction: AnyPrediction, origin: CostsOrigin) -> Iterator[Caveat]:
    if origin.platform is not None and origin.platform.varies:
        yield Caveat(
            "noise",
            f"message times of {origin.platform.title} vary, and the prediction uses the shortest",
            ALL_NUMBERS,
            "simulate it with 'hockney run granularity'",
        )


def _check_origin(prediction: AnyPrediction, origin: CostsOrigin) -> Iterator[Caveat]:
    if origin.platform is None and origin.origin in ORIGIN_TEXTS:
        yield Caveat(
            origin.origin,
            f"the run's numbers were {ORIGIN_TEXTS[origin.origin]}, not measured",
            ALL_NUMBERS,
            "give --run with a survey of a real machine to predict for it",
        )


def _check_extrapolation(prediction: Prediction, origin: CostsOrigin) -> Iterator[Caveat]:
    costs = prediction.messages
    if not costs.is_known(prediction.algorithm.bytes):
        yield _extrapolated_message_caveat(prediction.algorithm.bytes, costs)
        return
    extrapolated_levers = [
        change.lever.name
        for change in prediction.changes
        if change.lever.algorithm and not costs.is_known(change.lever.algorithm.bytes)
    ]
    if extrapolated_levers:
        yield _extrapolation_caveat(
            f"the messages of {join_words(extrapolated_levers)} are", costs, "their improvements"
        )


def _extrapolated_message_caveat(message_bytes: float, costs: PointToPointCosts) -> Caveat:
    return _extrapolation_caveat(f"a message of {format_size(message_bytes)} is", costs, ALL_NUMBERS)


def _extrapolation_caveat(subject: str, costs: PointToPointCosts, numbers: str) -> Caveat:
    sizes = f"{format_size(costs.min_size)} to {format_size(costs.max_size or 0)}"
    return Caveat(
        "extrapolated",
        f"{subject} extrapolated: sizes from {sizes} were measured",
        numbers,
        "survey with --sizes that include it",
    )


def _check_hot_buffers(prediction: Prediction, origin: CostsOrigin) -> Iterator[Caveat]:
    yield from _check_message_buffers(prediction.algorithm.bytes, prediction.messages)


def _check_message_buffers(message_bytes: float, messages: PointToPointCosts) -> Iterator[Caveat]:
    if message_bytes >= MIN_REWRITTEN_BYTES and messages.buffers == HOT:
        yield Caveat(
            "hot-buffers",
            "programs send messages that they have just written; the run only measured hot buffers, which "
            "are never rewritten",
            "predicted times, which are too short from a few KiB on",
            "measure a new survey, or pingpong buffers=written",
        )


def _check_protocol_change(prediction: Prediction, origin: CostsOrigin) -> Iterator[Caveat]:
    message_bytes = prediction.algorithm.bytes
    uncertain_changes = []
    for costs in prediction.messages.levels():
        change, time_bounds = costs.change_around(message_bytes), costs.bounds(message_bytes)
        if (
            change is not None
            and time_bounds is not None
            and time_bounds[1] >= WIDE_INTERVAL_RATIO * time_bounds[0]
        ):
            uncertain_changes.append(change)
    for low, high in dict.fromkeys(uncertain_changes):
        size, below, above = format_size(message_bytes), format_size(low), format_size(high)
        yield Caveat(
            "change",
            f"somewhere between {below} and {above} the library changes its protocol: whether before or "
            f"after {size} is unknown",
            ALL_NUMBERS,
            f"survey with --sizes that include {size}, or predict for {below} or {above}",
        )


def _check_imbalance(prediction: Prediction, origin: CostsOrigin) -> Iterator[Caveat]:
    factor = prediction.algorithm.imbalance
    affected_ranks = [row.ranks for row in prediction.rows if 1 < row.ranks < factor]
    if affected_ranks:
        yield Caveat(
            "imbalance",
            f"on {join_words(affected_ranks)} ranks, {factor:g} times the mean work is more than all of "
            "the work",
            f"numbers on {join_words(affected_ranks)} ranks",
            "give a smaller --imbalance",
        )


def _check_shared_cores(prediction: AnyPrediction, origin: CostsOrigin) -> Iterator[Caveat]:
    shared_rows = [row for row in prediction.rows if row.shared_by > 1]
    cores = prediction.messages.max_ranks
    if shared_rows and cores is not None:
        ranks = join_words([row.ranks for row in shared_rows])
        limits = join_words(f"{format_percent(1 / row.shared_by)} on {row.ranks}" for row in shared_rows)
        yield Caveat(
            "oversubscribed",
            f"{ranks} ranks share {plural(cores, 'core')}: ranks on one core compute in turn, so efficiency "
            f"is at most {limits} ranks; the numbers include that, but not waiting for the scheduler",
            f"all numbers on {ranks} ranks",
            "predict for fewer ranks, or for a machine with more cores",
        )


def _check_larger_machine(prediction: Prediction, origin: CostsOrigin) -> Iterator[Caveat]:
    cores = prediction.messages.max_ranks
    if prediction.on_larger_machine and cores is not None:
        ranks = [row.ranks for row in prediction.rows if row.ranks > cores]
        yield Caveat(
            "larger-machine",
            f"{join_words(ranks)} ranks are predicted for a larger machine of this kind, assuming that "
            f"messages cost the same as on the {plural(cores, 'core')} of this one",
            f"all numbers on {join_words(ranks)} ranks",
            "leave out --larger-machine to let them share the cores",
        )


def _check_one_host(prediction: AnyPrediction, origin: CostsOrigin) -> Iterator[Caveat]:
    max_ranks = prediction.messages.max_ranks
    if (
        origin.hosts < 2
        or origin.pair_hosts > 1
        or max_ranks is None
        or prediction.messages.within_node is not None
    ):
        return
    ranks_per_host = max_ranks // origin.hosts
    far_ranks = [row.ranks for row in prediction.rows if row.ranks > ranks_per_host]
    if far_ranks:
        yield Caveat(
            "one-host",
            f"the ping-pong was within one host, but {join_words(far_ranks)} ranks need several",
            f"numbers on more than {ranks_per_host} ranks: between hosts a message costs more",
            "survey with the two ranks of a pair on two hosts",
        )


def _check_one_level(prediction: AnyPrediction, origin: CostsOrigin) -> Iterator[Caveat]:
    """Yield a caveat if the run lacks one level, whose messages are assumed to cost the same as those of the
    other level."""
    costs = prediction.messages
    if origin.platform is not None or costs.within_node is None or costs.within_node.pieces != costs.pieces:
        return
    is_between_nodes = costs.place == NETWORK or origin.pair_hosts > 1
    affected_ranks = [
        row.ranks
        for row in prediction.rows
        if row.ranks > 1 and _sends_at_level(costs, row.ranks, is_between_nodes)
    ]
    if affected_ranks:
        measured_level, missing_level, comparison = (
            ("between nodes", "within a node", "less")
            if is_between_nodes
            else ("within a node", "between nodes", "more")
        )
        yield Caveat(
            "one-level",
            f"messages {missing_level} were not measured; they are assumed to cost the same as "
            f"{measured_level}",
            f"numbers on {join_words(affected_ranks)} ranks: a message {missing_level} costs {comparison}",
            "survey with --nodes 2 and --ranks-per-node 2 or more",
        )


def _sends_at_level(costs: PointToPointCosts, ranks: int, within: bool) -> bool:
    """Check whether ranks send messages within a node, or between nodes."""
    return costs.per_node(ranks) > 1 if within else costs.node_count(ranks) > 1


def _check_network(prediction: Prediction, origin: CostsOrigin) -> Iterator[Caveat]:
    affected_ranks = [row.ranks for row in prediction.rows if row.ranks > 2 and row.shared_by == 1]
    if prediction.messages.sharing == "assumed" and affected_ranks and prediction.algorithm.bytes > 0:
        yield Caveat(
            "network-assumed",
            "it is unknown whether simultaneous messages share the network; a switch is assumed",
            f"numbers on {join_words(affected_ranks)} ranks",
            _network_remedy(prediction.messages, affected_ranks[-1]),
        )


def _network_remedy(messages: PointToPointCosts, ranks: int) -> str:
    """Describe how to measure whether messages share the network, on up to `ranks` ranks if there are enough
    cores."""
    max_ranks = messages.max_ranks
    if messages.undecided_reason == "contradictory":
        return "the measured exchanges do not decide it; --network shared predicts the other case"
    if max_ranks is not None and max_ranks < MIN_RANKS:
        return f"measuring it needs {MIN_RANKS} cores; --network shared predicts the other case"
    usable_ranks = max(MIN_RANKS, ranks if max_ranks is None else min(ranks, max_ranks))
    folder, size_option = (
        ("runs/longer", " --sizes 1words,1MiB")
        if messages.undecided_reason == "short"
        else ("runs/network", "")
    )
    command = f"hockney run granularity --ranks 2,{usable_ranks} --out {folder}{size_option}"
    return f"'{command}' measures it; then predict with --run {folder}"


_RANK_CHECKS = (_check_one_level, _check_between_nodes, _check_one_host, _check_origin, _check_shared_cores)
_COST_CHECKS = (_check_poor_fit, _check_two_modes, _check_calibration, _check_guesses, _check_noise)
_ALGORITHM_CHECKS = (
    _check_extrapolation,
    _check_larger_machine,
    _check_hot_buffers,
    _check_protocol_change,
    _check_imbalance,
    _check_network,
)


def _affected_numbers(cores: int, *, within: bool) -> str:
    """Describe the numbers that depend on messages within a node of several `cores`, or on those between
    nodes. With 0 cores, all numbers depend on all messages."""
    if cores < 2:
        return ALL_NUMBERS
    return f"numbers on up to {cores} ranks, of one node" if within else f"numbers on more than {cores} ranks"


def _check_simulated_links(forecast: ProgramForecast) -> Iterator[Caveat]:
    """Yield a caveat if links were not simulated, as for a program with many messages or for some
    networks."""
    bounded_ranks = [row.ranks for row in forecast.rows if not row.iteration.contention]
    if not bounded_ranks:
        return
    simulated_ranks = (row.ranks for row in forecast.rows if row.iteration.contention and row.ranks > 1)
    max_simulated = max((count for count in simulated_ranks if count < max(bounded_ranks)), default=0)
    ranks_text = f"on {join_words(bounded_ranks)} ranks"
    yield Caveat(
        "links-bounded",
        f"{ranks_text} the messages were not followed on the links that they share; each step takes at "
        "least as "
        "long as the bytes through the busiest node",
        f"numbers {ranks_text}, which may be too short",
        f"predict for up to {max_simulated} ranks, where links are simulated"
        if max_simulated
        else "simulate all messages with 'hockney run' on this machine (--machine sim:NAME)",
    )
