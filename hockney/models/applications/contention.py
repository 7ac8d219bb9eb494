# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Do messages in flight at once share the bandwidth? Decided by which of the two models predicts the measured
times better.

Ping-pongs cannot decide: a single message has a shared cable to itself. Patterns in which many ranks send at
once can: the round-robin exchange (every second rank sends) and the bisection (the lower half sends), with at
least 4 ranks, each on its own core, and messages long enough to make a difference.
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

FEWEST_RANKS = 4
"""With fewer ranks there is one message in flight at a time."""

TELLING_WORKLOADS = {"round_robin": ("exchange", "ordered"), "bisection": ("direction", "one")}
"""Workloads and ways of exchanging that can decide: the two for which `predicted` has a formula."""

TELLING = 1.2
"""A case can decide if the two predictions differ by at least this factor."""

CLEARLY, USABLE = 1.2, 0.5
"""Nothing is decided if the worse error is less than CLEARLY times the better one, or if the better one is
larger than USABLE."""


@dataclass(frozen=True)
class ContentionCase:
    """One measured case and its predicted times on a shared medium and with a switch (s)."""

    case: str
    measured: float
    shared: float
    switched: float

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
    return replace(
        messages,
        shared=shared < switched,
        sharing="measured",
        undecided="",
        why=f"which predicts {count} best, typically {error_size(better)} off; "
        f"{other} is {error_size(worse)} off",
    )


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
    shared, switched = replace(messages, shared=True), replace(messages, shared=False)
    cases = []
    for summary in summaries:
        case = parse_canonical(summary.case)
        measured = summary.cost(messages.cost).value
        if _usable(case, messages) and measured > 0:
            times = (predicted(each, case) for each in (shared, switched))
            cases.append(ContentionCase(summary.case, measured, *times))
    return cases


def predicted(messages: PointToPointCosts, case: Case) -> float:
    """Seconds of a round-robin exchange or of a bisection in one direction."""
    if case.workload == "round_robin":
        return exchange_time(messages, case.bytes, case.ranks)
    piece = messages.piece(case.bytes, case.ranks)
    at_once = case.ranks // 2 if messages.shared else 1
    return piece.latency_s + piece.per_byte_s * at_once * case.bytes


def _usable(case: Case, messages: PointToPointCosts) -> bool:
    way, value = TELLING_WORKLOADS.get(case.workload, ("", ""))
    asks = bool(way) and case.get(way, value) == value
    fits = messages.most_ranks is None or case.ranks <= messages.most_ranks
    starts = case.get("sync") in ("window", "barrier") and case.get("buffers", "hot") == "hot"
    sure = messages.known(case.bytes) and messages.change(case.bytes, case.ranks) is None
    return asks and fits and starts and sure and case.ranks >= FEWEST_RANKS


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
