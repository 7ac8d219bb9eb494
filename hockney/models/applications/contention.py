# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Do messages in flight at once share the bandwidth? Decided by which of the two models predicts the measured
times better.

Ping-pongs cannot decide: a single message has a shared cable to itself. Patterns in which many ranks send at
once can: the round-robin exchange (every second rank sends), the bisection (the lower half sends) and
ping-pongs of many pairs, with at least 4 ranks, each on its own core, and messages long enough to make a
difference. Several pairs of a node share its network card, whatever is between the nodes: then only the
exchange decides, of which one message at a time leaves a node.

If they do share it, exchanges of all sizes decide in which way: messages share the bandwidth and nothing
else, or each holds the medium for its whole one-way time, as a frame does on a bus if most of a short
message's time is that of its headers on the wire.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hockney.core.case import Case, parse_canonical
from hockney.core.fit import Summary
from hockney.models.applications.point_to_point_costs import PointToPointCosts, Undecided
from hockney.models.applications.ring_exchange import exchange_time
from hockney.models.fits.verdict import error_size
from hockney.models.levels import NETWORK

FEWEST_RANKS = 4
"""With fewer ranks there is one message in flight at a time."""

PAIRS = "pairs_pingpong"
TELLING_WORKLOADS = {
    "round_robin": ("exchange", "ordered"),
    "bisection": ("direction", "one"),
    PAIRS: ("source", "named"),
}
"""Workloads and ways of exchanging that can decide: those for which `predicted` has a formula."""

TELLING = 1.2
"""A case can decide if the two predictions differ by at least this factor."""

CLEARLY, USABLE = 1.2, 0.5
"""Nothing is decided if the worse error is less than CLEARLY times the better one, or if the better one is
larger than USABLE."""


@dataclass(frozen=True)
class ContentionCase:
    """One measured case and its predicted times (s): if messages share the bandwidth, with a switch, and if
    they hold the medium in turn."""

    measured: float
    shared: float
    switched: float
    in_turn: float

    @property
    def tells(self) -> bool:
        return max(self.shared, self.switched) >= TELLING * min(self.shared, self.switched) > 0


def judged(messages: PointToPointCosts, summaries: Iterable[Summary]) -> PointToPointCosts:
    """`messages` with `shared` decided by the measured cases, and `why`, to be read after the network's
    `kind`. A switch if no case decides, or if neither model is clearly better and usable."""
    cases = contention_cases(messages, summaries)
    telling = [case for case in cases if case.tells]
    if not telling:
        return _assumed(messages, _silence(cases), "short" if cases else "unmeasured")
    shared = _error([(case.shared, case.measured) for case in telling])
    switched = _error([(case.switched, case.measured) for case in telling])
    better, worse = sorted((shared, switched))
    count = f"{len(telling)} measured case{'s' if len(telling) > 1 else ''} of {FEWEST_RANKS} and more ranks"
    if worse < CLEARLY * better or better > USABLE:
        errors = f"a switch is typically {error_size(switched)} off and a shared medium {error_size(shared)}"
        decide = "do not decide" if len(telling) > 1 else "does not decide"
        return _assumed(messages, f"{count} {decide}: {errors}", "contradictory")
    other = kind(replace(messages, shared=shared > switched))
    decided = replace(
        messages,
        shared=shared < switched,
        sharing="measured",
        undecided="",
        why=f"which predicts {count} best, typically {error_size(better)} off; "
        f"{other} is {error_size(worse)} off",
    )
    return _in_turn_or_at_once(decided, cases) if decided.shared else decided


def _in_turn_or_at_once(shared: PointToPointCosts, cases: Sequence[ContentionCase]) -> PointToPointCosts:
    """`shared`, or the same with messages that hold the medium in turn, if that is clearly better."""
    short = [case for case in cases if case.in_turn >= TELLING * case.shared]
    if not short:
        return shared
    at_once = _error([(case.shared, case.measured) for case in short])
    in_turn = _error([(case.in_turn, case.measured) for case in short])
    if in_turn * CLEARLY >= at_once:
        return shared
    count = f"{len(short)} measured case{'s' if len(short) > 1 else ''}"
    return replace(
        holding(shared),
        why=f"which predicts {count} of {FEWEST_RANKS} and more ranks best, typically {error_size(in_turn)} "
        f"off; {kind(shared)} is {error_size(at_once)} off",
    )


def holding(messages: PointToPointCosts) -> PointToPointCosts:
    """`messages` on a medium that each holds for its whole time; what later pieces add to the fixed time is
    spent before."""
    first = messages.pieces[0]
    per_byte_s = min(piece.per_byte_s for piece in messages.pieces)
    return replace(messages, shared=True, medium=(max(0.0, first.latency_s), max(0.0, per_byte_s)))


def _assumed(messages: PointToPointCosts, reason: str, undecided: Undecided) -> PointToPointCosts:
    why = f"assumed because {reason}"
    return replace(messages, shared=False, sharing="assumed", undecided=undecided, why=why)


def kind(messages: PointToPointCosts) -> str:
    """The kind of network, as text."""
    if any(messages.medium):
        return "a medium that messages use in turn"
    return "a shared medium" if messages.shared else "a switch"


def overruled(messages: PointToPointCosts, shared: bool) -> PointToPointCosts:
    """`messages` on a network chosen by the user, whatever the measurements show."""
    forced = replace(messages, shared=shared, medium=(0.0, 0.0), sharing="requested", why="as requested")
    if messages.sharing == "assumed":
        return forced
    same = kind(forced) == kind(messages)
    return (
        messages if same else replace(forced, why=f"as requested; otherwise {kind(messages)}, {messages.why}")
    )


def contention_cases(messages: PointToPointCosts, summaries: Iterable[Summary]) -> list[ContentionCase]:
    """The cases that could decide, whatever the length of their messages."""
    networks = (
        replace(messages, shared=True, node=None),
        replace(messages, shared=False),
        replace(holding(messages), node=None),
    )
    cases = []
    for summary in summaries:
        case = parse_canonical(summary.case)
        measured = summary.cost(messages.cost).value
        nodes = case.nodes or summary.nodes
        if _usable(case, messages, nodes) and measured > 0:
            times = (predicted(each.spread(nodes), case) for each in networks)
            cases.append(ContentionCase(measured, *times))
    return cases


def predicted(messages: PointToPointCosts, case: Case) -> float:
    """Seconds of a round-robin exchange, or of messages of many pairs in one direction."""
    if case.workload == "round_robin":
        return exchange_time(messages, case.bytes, case.ranks)
    pairs = int(case.number("pairs")) or case.ranks // 2
    if not messages.shared and messages.node is not None and messages.place != NETWORK:
        return messages.together(case.bytes, pairs)
    piece = messages.piece(case.bytes, case.ranks)
    hold = messages.medium[0] + messages.medium[1] * case.bytes
    at_once = pairs if messages.shared else 1
    fixed, per_byte = piece.latency_s - messages.medium[0], piece.per_byte_s - messages.medium[1]
    return pairs * hold + fixed + per_byte * at_once * case.bytes


def _usable(case: Case, messages: PointToPointCosts, nodes: int) -> bool:
    """`nodes` are those on which its ranks were, 0 if that is not known."""
    way, value = TELLING_WORKLOADS.get(case.workload, ("", ""))
    asks = bool(way) and case.get(way, value) == value
    fits = messages.most_ranks is None or case.ranks <= messages.most_ranks
    starts = case.workload == PAIRS or case.get("sync") in ("window", "barrier")
    hot = case.get("buffers", "hot") == "hot"
    sure = messages.known(case.bytes) and messages.change(case.bytes, case.ranks) is None
    one_node = nodes in (0, 1) and messages.near is None and case.place != NETWORK
    alone = case.workload == "round_robin" or nodes == case.ranks or one_node
    several = case.ranks >= FEWEST_RANKS and case.number("pairs", FEWEST_RANKS) != 1
    return asks and fits and starts and hot and sure and alone and several


def _error(pairs: Sequence[tuple[float, float]]) -> float:
    """The median relative error; a time half as long counts as much as one twice as long."""
    errors = sorted(abs(math.log(model / measured)) for model, measured in pairs)
    middle = (errors[len(errors) // 2] + errors[(len(errors) - 1) // 2]) / 2
    return math.expm1(middle)


def _silence(cases: Sequence[ContentionCase]) -> str:
    if cases:
        return "no measured exchange has messages long enough to decide"
    return (
        f"no exchange of {FEWEST_RANKS} or more ranks, each on its own core, was measured; "
        "between 2 ranks it makes no difference"
    )
