# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Message costs of a machine, from the best available source: a run's fit, or a machine's description."""

from __future__ import annotations

from dataclasses import replace

from hockney.core.case import Value
from hockney.core.catalog import PING_PONG, Workload
from hockney.core.errors import Inconclusive
from hockney.core.fit import Fit, Fits
from hockney.core.machine import Machine
from hockney.core.platform import Platform
from hockney.core.survey_reference import Surveyed
from hockney.models import messages
from hockney.models.applications.contention import TELLING_WORKLOADS, judged
from hockney.models.applications.point_to_point_costs import PointToPointCosts, of_fit, of_platform

WANTED: dict[str, Value] = {"buffers": "hot", "ranks": 2}
BEST_FIRST = ("good", "fair", "poor")


def relevant(workload: Workload) -> bool:
    """Whether measurements of this workload can change what the functions below return: the fits and
    summaries of others need not be computed."""
    return workload.performs(*PING_PONG) or workload.name in TELLING_WORKLOADS


def messages_for(fits: Fits, machine: Machine, where: str, *, hosts: int = 1) -> PointToPointCosts:
    """From the fits of a run on `machine`; `where` is the run as the user named it, `hosts` the number of
    machines like this one on which its ranks ran.

    A simulated machine's description gives its kind of network and, for nodes with several cores, the cost of
    messages between nodes; on a real machine the kind is inferred from the run's exchanges (see
    `contention`). Raises Inconclusive where the run has no fit to use.
    """
    fit = usable_fit(fits)
    if fit is None:
        raise _nothing(fits, where)
    costs = of_fit(
        fit,
        name=machine.host,
        title=_title(machine),
        source=f"the ping-pong of {where}",
        most_ranks=_room(machine, hosts),
    )
    costs = replace(costs, cost=fits.cost)
    if machine.platform is not None:
        return _on_description(costs, described(machine.platform))
    return judged(costs, fits.summaries)


def messages_of_run(
    fits: Fits, machine: Machine, where: str, surveyed: Surveyed | None, *, hosts: int = 1
) -> PointToPointCosts:
    """From a run that may include a survey's times: then from the survey's, otherwise from the run's own
    ping-pong; never from a measured efficiency. Whether messages share the network is decided by exchanges of
    4 and more ranks, of the survey and of the run itself. Raises Inconclusive if the fits are for another
    cost than those that were kept of the survey."""
    if surveyed is None:
        return messages_for(fits, machine, where, hosts=hosts)
    if surveyed.fits.cost != fits.cost:
        raise messages.other_cost_of_survey(where, surveyed.where, fits.cost, surveyed.fits.cost)
    costs = messages_for(surveyed.fits, surveyed.machine, surveyed.where, hosts=hosts)
    if surveyed.machine.platform is not None:
        return costs
    return judged(costs, [*surveyed.fits.summaries, *fits.summaries])


def described(platform: Platform) -> PointToPointCosts:
    """From a machine's description, simulated or from a paper."""
    costs = of_platform(platform, source="the machine's description")
    shape = platform.network.shape
    why = "according to the machine's description" + (f" of a {shape}" if shape != "switch" else "")
    return replace(costs, sharing="described", why=why)


def usable_fit(fits: Fits) -> Fit | None:
    """Hockney's model of the ping-pong with hot buffers, otherwise of another ping-pong."""
    usable = [f for f in fits.of_role("hockney", *PING_PONG) if f.verdict in BEST_FIRST and f.segments]
    return min(
        usable,
        key=lambda f: (not f.subject.has(**WANTED), BEST_FIRST.index(f.verdict)),
        default=None,
    )


def _title(machine: Machine) -> str:
    known = machine.cpu not in ("", "none", machine.host)
    return f"{machine.host} ({machine.cpu})" if known else machine.host


def _room(machine: Machine, hosts: int) -> int | None:
    """The number of ranks that have their own core; unknown for published numbers."""
    return machine.cores * hosts if machine.cores > 0 and not machine.traits.published else None


def _on_description(measured: PointToPointCosts, description: PointToPointCosts) -> PointToPointCosts:
    """The run's times with the network of the description. Two ranks fill the first node, so if nodes have
    several cores, the measured messages stay on a node: for more ranks the fit's interval and verdict do not
    apply."""
    near = description.cores > 1
    return replace(
        measured,
        source=f"{measured.source} on a node and {description.source} between nodes"
        if near
        else measured.source,
        pieces=description.pieces if near else measured.pieces,
        near=measured.pieces if near else (),
        shared=description.shared,
        sharing=description.sharing,
        why=description.why,
        eager=description.eager,
        medium=description.medium,
        half_duplex_s_per_byte=description.half_duplex_s_per_byte,
        cores=description.cores,
        most_ranks=description.most_ranks,
    )


def _nothing(fits: Fits, where: str) -> Inconclusive:
    refused = next(iter(fits.of_role("hockney", *PING_PONG)), None)
    return messages.no_message_model(where, refused.line if refused else "", refused.why if refused else "")
