# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs of empty messages between two ranks in a run, from which barriers are predicted."""

from __future__ import annotations

from dataclasses import dataclass

from hockney.core.fit import Estimate
from hockney.models import LogGPOverheads, loggp_overheads
from hockney.models.barriers import MessageCosts
from hockney.pages.evidence import Evidence


@dataclass(frozen=True)
class EmptyMessages:
    """Measured times (s), empty messages except for `broadcast`, of one byte; see `MessageCosts`."""

    one_way: Estimate
    exchange: Estimate
    broadcast: Estimate
    base: Estimate
    overheads: LogGPOverheads | None

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


def empty_messages(evidence: Evidence) -> EmptyMessages | None:
    """None if ping-pong or exchange are missing."""

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
    )


def _overheads(evidence: Evidence) -> LogGPOverheads | None:
    measured = (
        m for name in ("prtt", "receive_overhead", "pingpong") for m in evidence.of(name, ranks=2, bytes=0)
    )
    return loggp_overheads(evidence.observed(m.case for m in measured))
