# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs of empty messages between two ranks in a run, from which barriers are predicted."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hockney.core.fit import Estimate
from hockney.core.layout import NETWORK, farthest_level_in_node
from hockney.models import LogGPOverheads, loggp_overheads
from hockney.models.barriers import MessageCosts
from hockney.pages.evidence import Evidence


@dataclass(frozen=True)
class EmptyMessages:
    """Measured times (s), empty messages except for `broadcast`, of one byte; see `MessageCosts`. `place` is
    the level at which the ranks met, "" if the cases do not name it."""

    one_way: Estimate
    exchange: Estimate
    broadcast: Estimate
    base: Estimate
    overheads: LogGPOverheads | None
    place: str = ""

    @property
    def costs(self) -> MessageCosts:
        known = self.overheads
        return MessageCosts(
            one_way_s=self.one_way.value,
            exchange_s=self.exchange.value,
            broadcast_s=self.broadcast.value,
            base_s=self.base.value,
            send_s=known.send.value if known else 0.0,
            receive_s=known.receive.value if known else 0.0,
            gap_s=known.gap.value if known else 0.0,
        )


@dataclass(frozen=True)
class LevelsOfMessages:
    """Empty messages between nodes and, if they were measured too, within a node; or the only ones."""

    between: EmptyMessages
    near: EmptyMessages | None = None

    @property
    def levels(self) -> tuple[EmptyMessages, ...]:
        return (self.between,) if self.near is None else (self.near, self.between)

    def costs(self, per_node: int) -> MessageCosts:
        """The costs on nodes with `per_node` consecutive ranks each."""
        if self.near is None:
            return self.between.costs
        return replace(self.between.costs, near=self.near.costs, per_node=per_node)


def messages_by_level(evidence: Evidence) -> LevelsOfMessages | None:
    """Within a node those of the farthest level. None if ping-pong or exchange are missing."""
    known = {part.place: found for part in evidence.levels if (found := empty_messages(part)) is not None}
    near, between = known.get(farthest_level_in_node(known)), known.get(NETWORK)
    if between is not None:
        return LevelsOfMessages(between, near)
    only = near or empty_messages(evidence)
    return None if only is None else LevelsOfMessages(only)


def empty_messages(evidence: Evidence) -> EmptyMessages | None:
    """The empty messages of one level; None if ping-pong or exchange are missing."""

    def typical(workload: str, **fixed: str | int) -> Estimate | None:
        measured = evidence.of(workload, ranks=2, **fixed)
        return measured[0].summary.typical if measured else None

    one_way, exchange = typical("pingpong", bytes=0), typical("pingpong_double", bytes=0)
    if one_way is None or exchange is None:
        return None
    of_a_byte = typical("pingpong", bytes=1), typical("bcast", bytes=1, sync="window") or one_way
    return EmptyMessages(
        one_way=one_way,
        exchange=exchange,
        broadcast=max((each for each in of_a_byte if each is not None), key=lambda each: each.value),
        base=typical("isend_recv", bytes=0) or one_way,
        overheads=_overheads(evidence),
        place=evidence.place,
    )


def _overheads(evidence: Evidence) -> LogGPOverheads | None:
    measured = (
        m for name in ("prtt", "receive_overhead", "pingpong") for m in evidence.of(name, ranks=2, bytes=0)
    )
    return loggp_overheads(evidence.observed(m.case for m in measured))
