# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Decides whether concurrent messages share the bandwidth: by which of the two models predicts the measured
times better.

Ping-pongs cannot decide this, because a single message has a shared cable to itself. Patterns in which many
ranks send at once can: the round-robin exchange (every second rank sends), the bisection (the lower half
sends) and ping-pongs of many pairs. They need at least 4 ranks, each on its own core, and messages long
enough to make a difference. Several pairs of a node share its network card, whatever connects the nodes. In
that case only the exchange decides, because only one of its messages leaves a node at a time.

If messages share the bandwidth, exchanges of all sizes decide how. Either only the bandwidth is shared, or
each message occupies the medium for its whole one-way time. The latter describes frames on a bus if headers
make up most of a short message's time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hockney.core.case import Case, parse_canonical
from hockney.core.fit import Summary
from hockney.models.applications.point_to_point_costs import PointToPointCosts, UndecidedReason
from hockney.models.applications.ring_exchange import exchange_time
from hockney.models.fits.verdict import format_error
from hockney.models.levels import NETWORK

MIN_RANKS = 4
"""With fewer ranks, only one message is in flight at a time."""

PAIRS_PING_PONG = "pairs_pingpong"
DECISIVE_WORKLOADS = {
    "round_robin": ("exchange", "ordered"),
    "bisection": ("direction", "one"),
    PAIRS_PING_PONG: ("source", "named"),
}
"""Workloads that can decide, each with the parameter and value required by the formula of
`predicted_time`."""

DECISIVE_FACTOR = 1.2
"""A case can decide if the two predictions differ by at least this factor."""

CLEAR_FACTOR, MAX_USABLE_ERROR = 1.2, 0.5
"""The decision requires that the larger error is at least CLEAR_FACTOR times the smaller one, and that the
smaller one is at most MAX_USABLE_ERROR."""


@dataclass(frozen=True)
class ContentionCase:
    """A measured case with its predicted times (s) on a shared medium, on a switch, and on a medium that
    messages use in turn."""

    measured_s: float
    shared_s: float
    switched_s: float
    in_turn_s: float

    @property
    def is_decisive(self) -> bool:
        return (
            max(self.shared_s, self.switched_s) >= DECISIVE_FACTOR * min(self.shared_s, self.switched_s) > 0
        )


def judge_contention(messages: PointToPointCosts, summaries: Iterable[Summary]) -> PointToPointCosts:
    """Return `messages` with `shared` decided by the measured cases. Their `why` continues a sentence that
    begins with `network_kind`. A switch is assumed if no case decides, or if neither model is clearly better
    and usable."""
    cases = contention_cases(messages, summaries)
    decisive_cases = [case for case in cases if case.is_decisive]
    if not decisive_cases:
        return _assume_switch(messages, _reason_for_no_decision(cases), "short" if cases else "unmeasured")
    shared_error = _median_error([(case.shared_s, case.measured_s) for case in decisive_cases])
    switched_error = _median_error([(case.switched_s, case.measured_s) for case in decisive_cases])
    smaller_error, larger_error = sorted((shared_error, switched_error))
    plural = "s" if len(decisive_cases) > 1 else ""
    case_count = f"{len(decisive_cases)} measured case{plural} of {MIN_RANKS} and more ranks"
    if larger_error < CLEAR_FACTOR * smaller_error or smaller_error > MAX_USABLE_ERROR:
        errors_text = (
            f"a switch is typically {format_error(switched_error)} off "
            f"and a shared medium {format_error(shared_error)}"
        )
        verb = "do not decide" if len(decisive_cases) > 1 else "does not decide"
        return _assume_switch(messages, f"{case_count} {verb}: {errors_text}", "contradictory")
    other_kind = network_kind(replace(messages, shared=shared_error > switched_error))
    decided = replace(
        messages,
        shared=shared_error < switched_error,
        sharing="measured",
        undecided_reason="",
        why=f"which predicts {case_count} best, typically {format_error(smaller_error)} off; "
        f"{other_kind} is {format_error(larger_error)} off",
    )
    return _judge_turns(decided, cases) if decided.shared else decided


def _judge_turns(shared: PointToPointCosts, cases: Sequence[ContentionCase]) -> PointToPointCosts:
    """Return `shared` with messages that use the medium in turn if that predicts the cases clearly better,
    otherwise `shared`."""
    decisive_cases = [case for case in cases if case.in_turn_s >= DECISIVE_FACTOR * case.shared_s]
    if not decisive_cases:
        return shared
    shared_error = _median_error([(case.shared_s, case.measured_s) for case in decisive_cases])
    in_turn_error = _median_error([(case.in_turn_s, case.measured_s) for case in decisive_cases])
    if in_turn_error * CLEAR_FACTOR >= shared_error:
        return shared
    case_count = f"{len(decisive_cases)} measured case{'s' if len(decisive_cases) > 1 else ''}"
    return replace(
        with_medium_in_turn(shared),
        why=f"which predicts {case_count} of {MIN_RANKS} and more ranks best, "
        f"typically {format_error(in_turn_error)} off; "
        f"{network_kind(shared)} is {format_error(shared_error)} off",
    )


def with_medium_in_turn(messages: PointToPointCosts) -> PointToPointCosts:
    """Return `messages` on a medium that each of them occupies for its whole time. Latency added by later
    pieces is spent before the medium is used."""
    first_piece = messages.pieces[0]
    per_byte_s = min(piece.per_byte_s for piece in messages.pieces)
    return replace(messages, shared=True, medium=(max(0.0, first_piece.latency_s), max(0.0, per_byte_s)))


def _assume_switch(messages: PointToPointCosts, reason: str, undecided: UndecidedReason) -> PointToPointCosts:
    why = f"assumed because {reason}"
    return replace(messages, shared=False, sharing="assumed", undecided_reason=undecided, why=why)


def network_kind(messages: PointToPointCosts) -> str:
    """The kind of network, as text."""
    if any(messages.medium):
        return "a medium that messages use in turn"
    return "a shared medium" if messages.shared else "a switch"


def override_network(messages: PointToPointCosts, shared: bool) -> PointToPointCosts:
    """Return `messages` on the network that the user chose, whatever the measurements show."""
    overridden = replace(messages, shared=shared, medium=(0.0, 0.0), sharing="requested", why="as requested")
    if messages.sharing == "assumed":
        return overridden
    has_same_kind = network_kind(overridden) == network_kind(messages)
    return (
        messages
        if has_same_kind
        else replace(overridden, why=f"as requested; otherwise {network_kind(messages)}, {messages.why}")
    )


def contention_cases(messages: PointToPointCosts, summaries: Iterable[Summary]) -> list[ContentionCase]:
    """The cases that could decide, regardless of the length of their messages."""
    networks = (
        replace(messages, shared=True, node_sharing=None),
        replace(messages, shared=False),
        replace(with_medium_in_turn(messages), node_sharing=None),
    )
    cases = []
    for summary in summaries:
        case = parse_canonical(summary.case)
        measured = summary.cost(messages.cost).value
        node_count = case.nodes or summary.nodes
        if _is_usable(case, messages, node_count) and measured > 0:
            predicted_times = (predicted_time(network.spread_over(node_count), case) for network in networks)
            cases.append(ContentionCase(measured, *predicted_times))
    return cases


def predicted_time(messages: PointToPointCosts, case: Case) -> float:
    """Seconds of a round-robin exchange, or of many pairs' messages in one direction."""
    if case.workload == "round_robin":
        return exchange_time(messages, case.bytes, case.ranks)
    pairs = int(case.number("pairs")) or case.ranks // 2
    if not messages.shared and messages.node_sharing is not None and messages.place != NETWORK:
        return messages.concurrent_time(case.bytes, pairs)
    piece = messages.piece(case.bytes, case.ranks)
    occupied_s = messages.medium[0] + messages.medium[1] * case.bytes
    sharing_count = pairs if messages.shared else 1
    latency_s, per_byte_s = piece.latency_s - messages.medium[0], piece.per_byte_s - messages.medium[1]
    return pairs * occupied_s + latency_s + per_byte_s * sharing_count * case.bytes


def _is_usable(case: Case, messages: PointToPointCosts, node_count: int) -> bool:
    """Whether the formulas of `predicted_time` apply. The ranks ran on `node_count` nodes (0: unknown)."""
    parameter, value = DECISIVE_WORKLOADS.get(case.workload, ("", ""))
    is_decisive_pattern = bool(parameter) and case.get(parameter, value) == value
    has_cores = messages.max_ranks is None or case.ranks <= messages.max_ranks
    is_synchronized = case.workload == PAIRS_PING_PONG or case.get("sync") in ("window", "barrier")
    is_hot = case.get("buffers", "hot") == "hot"
    has_known_time = messages.is_known(case.bytes) and messages.change_around(case.bytes, case.ranks) is None
    one_node = node_count in (0, 1) and messages.within_node is None and case.place != NETWORK
    uses_separate_links = case.workload == "round_robin" or node_count == case.ranks or one_node
    has_several_pairs = case.ranks >= MIN_RANKS and case.number("pairs", MIN_RANKS) != 1
    return (
        is_decisive_pattern
        and has_cores
        and is_synchronized
        and is_hot
        and has_known_time
        and uses_separate_links
        and has_several_pairs
    )


def _median_error(pairs: Sequence[tuple[float, float]]) -> float:
    """The median relative error. Half and twice the measured time count the same."""
    errors = sorted(abs(math.log(predicted / measured)) for predicted, measured in pairs)
    median = (errors[len(errors) // 2] + errors[(len(errors) - 1) // 2]) / 2
    return math.expm1(median)


def _reason_for_no_decision(cases: Sequence[ContentionCase]) -> str:
    if cases:
        return "no measured exchange has messages long enough to decide"
    return (
        f"no exchange of {MIN_RANKS} or more ranks, each on its own core, was measured; "
        "between 2 ranks it makes no difference"
    )
