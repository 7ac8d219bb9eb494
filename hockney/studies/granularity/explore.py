# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The model to play with: this machine first, then every one that comes with hockney."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.draw.page import Explorer, ExplorerMachine, Section
from hockney.models.applications.contention import kind
from hockney.models.applications.granularity import Algorithm, work_needed
from hockney.models.applications.point_to_point_costs import CostPiece, PointToPointCosts
from hockney.studies.granularity import costs
from hockney.studies.granularity.text import WORD

WORK_S = (1e-6, 1000.0)
MOST_BYTES = 1 << 22
NO_END = 1 << 40
"""A description holds for messages of any length."""
MOST_RANKS = 1024
SHOWN = 0.8
"""At first the work is shown that has this efficiency."""


def section(messages: PointToPointCosts | None, evidence_cores: int, name: str = "") -> Section:
    """`name` is that of the simulated machine that was measured: it is not listed twice."""
    here = [] if messages is None else [_machine(messages, _note(messages), evidence_cores)]
    others = [
        _machine(each, note, MOST_RANKS) for each, note in costs.published() if each.name != name or not here
    ]
    machines = (*here, *others)
    first = messages or costs.published()[0][0]
    work = work_needed(SHOWN, Algorithm(1.0, WORD), first, 2) or WORK_S[0]
    most = min(MOST_RANKS, max(2, *(m.most_ranks for m in machines)))
    return Section(
        "Your algorithm",
        text=(
            "How long does your program compute between two exchanges, on one rank? How long are its "
            "messages, "
            "and what cannot be shared? The page computes equations 3 to 6 for any of these machines.",
        ),
        explorer=Explorer(
            name="explorer",
            title="Which efficiency will I get?",
            machines=machines,
            work_s=(*WORK_S, min(max(work, WORK_S[0]), WORK_S[1])),
            bytes=(0, MOST_BYTES, WORD),
            serial=(0.0, 1.0, 0.0),
            ranks=(1, most, 2),
            caption="The numbers of this machine are those of the section on what messages cost.",
        ),
    )


def _machine(messages: PointToPointCosts, note: str, cores: int) -> ExplorerMachine:
    return ExplorerMachine(
        name=messages.name,
        title=messages.title,
        note=note,
        pieces=_pieces(messages.pieces),
        shared=messages.shared,
        most_bytes=NO_END if messages.largest is None else messages.largest,
        most_ranks=messages.most_ranks or cores,
        eager=int(messages.eager) if messages.eager < NO_END else None,
        medium=messages.medium,
        half_duplex_s_per_byte=messages.half_duplex_s_per_byte,
        near=_pieces(messages.near),
        cores=messages.cores,
    )


def _pieces(pieces: Sequence[CostPiece]) -> tuple[tuple[int, float, float], ...]:
    return tuple((p.first, p.latency_s, p.per_byte_s) for p in pieces)


def _note(messages: PointToPointCosts) -> str:
    verdict = f"a {messages.verdict} fit of " if messages.verdict else ""
    return f"{verdict}{messages.source}; {kind(messages)}" + (f", {messages.why}" if messages.why else "")
