# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs of messages for predictions: this machine's from its survey, the paper's, and those of the
machines included in hockney."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from hockney import reference
from hockney.core.errors import HockneyError
from hockney.core.machine import Machine
from hockney.machines import simulated
from hockney.models.applications.message_costs import (
    costs_of_description,
    messages_for,
    messages_of_run,
    no_inter_node_costs,
)
from hockney.models.applications.point_to_point_costs import CostPiece, PointToPointCosts
from hockney.pages.evidence import Evidence, Options
from hockney.pages.origins import provenance_summary

PUBLICATION = reference.published("granularity")
PAPER_MACHINE = "sun-ethernet"
SUN_TITLE = "SUNs on Ethernet, by the paper"


@dataclass(frozen=True)
class MachineCosts:
    """The costs of messages on the measured machine, or the reason why they are unknown."""

    messages: PointToPointCosts | None
    why: str = ""


def expected_costs(options: Options, machine: Machine) -> PointToPointCosts | None:
    """The costs of messages known before anything is measured; None if unknown. Raises Inconclusive for a
    survey without a model of them."""
    if options.survey is not None:
        return messages_for(options.survey.fits, options.survey.machine, options.survey.where)
    return None if machine.platform is None else costs_of_description(machine.platform)


def run_costs(evidence: Evidence) -> MachineCosts:
    """The costs from the given survey, otherwise from the run's own ping-pong, but never from the grid. They
    must include messages between nodes if the grid is on several nodes."""
    surveyed = evidence.survey
    nodes = max((result.case.nodes for result in evidence.of("granularity")), default=0)
    try:
        hosts = evidence.run.max_hosts()
        costs = messages_of_run(evidence.fits, evidence.machine, "this run", surveyed, hosts=hosts)
        if not costs.covers_node_count(nodes):
            source = "this run" if surveyed is None else surveyed.where
            raise no_inter_node_costs(source, nodes)
    except HockneyError as error:
        return MachineCosts(None, str(error))
    return MachineCosts(costs)


def printed_costs() -> PointToPointCosts:
    """Equation 3 with the printed t_start and t_w."""
    start_s = PUBLICATION.row("granularity/parameter/t_start").si
    per_byte_s = PUBLICATION.row("granularity/parameter/t_w").si
    return PointToPointCosts(
        name=PAPER_MACHINE,
        title=SUN_TITLE,
        pieces=(CostPiece(0, start_s, per_byte_s),),
        shared=True,
        source=PUBLICATION.citation,
        sharing="printed",
        why="equation 3 has the factor np/2",
    )


@cache
def published_costs() -> tuple[tuple[PointToPointCosts, str], ...]:
    """The machines included in hockney, each with a note on the origin of its numbers."""
    platforms = [simulated.platform(name) for name in simulated.names()]
    return tuple((costs_of_description(platform), provenance_summary(platform)) for platform in platforms)
