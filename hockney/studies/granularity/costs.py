# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs of messages on which predictions are based: this machine's from its survey, the paper's, and
those of the machines that come with hockney."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from hockney import reference
from hockney.core.errors import HockneyError
from hockney.core.machine import Machine
from hockney.draw.page import Section, Table
from hockney.machines import simulated
from hockney.models.applications.contention import kind
from hockney.models.applications.message_costs import (
    described,
    messages_for,
    messages_of_run,
    no_messages_between_nodes,
)
from hockney.models.applications.point_to_point_costs import CostPiece, PointToPointCosts
from hockney.models.applications.ring_exchange import exchange_time
from hockney.pages import point_to_point
from hockney.pages.evidence import Evidence, Options
from hockney.pages.format import quantity
from hockney.pages.origins import in_short
from hockney.studies.granularity.text import length

PRINTED = reference.published("granularity")
PAPERS_MACHINE = "sun-ethernet"
WITHIN, BETWEEN = "within a node", "between nodes"
SUN = "SUNs on Ethernet, by the paper"


@dataclass(frozen=True)
class MachineCosts:
    """The costs of messages on the measured machine, or why they are not known."""

    messages: PointToPointCosts | None
    why: str = ""


def expected_costs(options: Options, machine: Machine) -> PointToPointCosts | None:
    """The costs of messages known before anything is measured; None if there are none. Raises Inconclusive
    for a survey without a model of them."""
    if options.surveyed is not None:
        return messages_for(options.surveyed.fits, options.surveyed.machine, options.surveyed.where)
    return None if machine.platform is None else described(machine.platform)


def known(evidence: Evidence) -> MachineCosts:
    """The costs from the given survey, otherwise from the run's own ping-pong; never from the grid. They must
    include messages between nodes if the grid is on several nodes."""
    surveyed = evidence.surveyed
    nodes = max((m.case.nodes for m in evidence.of("granularity")), default=0)
    try:
        most = evidence.run.max_hosts()
        costs = messages_of_run(evidence.fits, evidence.machine, "this run", surveyed, hosts=most)
        if not costs.reaches(nodes):
            where = "this run" if surveyed is None else surveyed.where
            raise no_messages_between_nodes(where, nodes)
    except HockneyError as error:
        return MachineCosts(None, str(error))
    return MachineCosts(costs)


def cores(evidence: Evidence) -> int:
    """The cores of all hosts of the run, assuming that they are alike."""
    return evidence.run.cores(evidence.machine)


def printed() -> PointToPointCosts:
    """Equation 3 with the printed t_start and t_w."""
    start = PRINTED.row("granularity/parameter/t_start").si
    per_byte = PRINTED.row("granularity/parameter/t_w").si
    return PointToPointCosts(
        name=PAPERS_MACHINE,
        title=SUN,
        pieces=(CostPiece(0, start, per_byte),),
        shared=True,
        source=PRINTED.citation,
        sharing="printed",
        why="equation 3 has the factor np/2",
    )


@cache
def published() -> tuple[tuple[PointToPointCosts, str], ...]:
    """The machines that come with hockney, each with a note on the origin of its numbers."""
    platforms = [simulated.platform(name) for name in simulated.names()]
    return tuple((described(p), in_short(p)) for p in platforms)


def section(costs: MachineCosts) -> Section:
    """The basis of the predictions."""
    messages = costs.messages
    if messages is None:
        return Section("What messages cost", text=(f"There is no prediction: {costs.why}.",))
    text = []
    for level in messages.levels():
        words = _fitted(level)
        if words:
            where = WITHIN if level is messages.near else BETWEEN
            text.append(f" {where.capitalize()}:{words}" if _both(messages) else words)
    known_up_to = f" Sizes up to {quantity(messages.largest, 'B')} were measured." if messages.largest else ""
    return Section(
        "What messages cost",
        text=(
            f"One message, from {messages.source}.{''.join(text)}{known_up_to}",
            f"The network: {kind(messages)}, {messages.why}." if messages.why else "",
            _factor(messages),
        ),
        tables=_tables(messages),
    )


def _both(messages: PointToPointCosts) -> bool:
    """Whether messages within a node and between nodes were measured."""
    return messages.near is not None and bool(messages.verdict)


def _fitted(level: PointToPointCosts) -> str:
    doubt = f": {level.doubt}." if level.doubt else "."
    return f" The fit is {level.verdict}{doubt}" if level.verdict else ""


def _tables(messages: PointToPointCosts) -> tuple[Table, ...]:
    """One, or one for each level that was measured."""
    title = "Time of a message in one direction"
    if not _both(messages) or messages.near is None:
        return (_table("messages", title, messages),)
    return (
        _table("messages", f"{title}, {BETWEEN}", messages),
        _table("messages-within", f"{title}, {WITHIN}", messages.near),
    )


def _table(name: str, title: str, messages: PointToPointCosts) -> Table:
    rows = tuple(
        (
            quantity(piece.first, "B"),
            quantity(piece.latency_s, "s") if piece.latency_s >= 0 else point_to_point.NO_LATENCY,
            quantity(piece.per_byte_s, "s/B"),
            quantity(1 / piece.per_byte_s, "B/s") if piece.per_byte_s else "",
        )
        for piece in messages.pieces
    )
    return Table(name, title, ("from", "latency", "per byte", "bandwidth"), rows, numeric=(0, 1, 2, 3))


def _factor(messages: PointToPointCosts) -> str:
    """The paper's statement, equation 3 with this machine's numbers, for messages of one word on 2 ranks."""
    size = 4
    total = quantity(exchange_time(messages, size, 2), "s")
    one = quantity(messages.one_way(size), "s")
    return (
        f"An exchange of {length(size)} between 2 ranks consists of two consecutive messages: 2 x "
        f"{one} = {total}."
    )
