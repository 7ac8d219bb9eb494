# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Message costs of a machine, from the best available source: a run's fit, or a machine's description."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hockney.core.case import HOT
from hockney.core.catalog import PING_PONG, Workload
from hockney.core.errors import Inconclusive, printable
from hockney.core.fit import Fit, Fits, Summary, Surveyed
from hockney.core.layout import LEVELS, NETWORK, NODE, farthest_level_in_node
from hockney.core.machine import Machine
from hockney.core.platform import Platform
from hockney.models.applications.contention import TELLING_WORKLOADS, judged
from hockney.models.applications.node_sharing import STREAM, measured_sharing
from hockney.models.applications.point_to_point_costs import (
    PointToPointCosts,
    of_fit,
    of_platform,
    within_a_node,
)
from hockney.models.levels import place_of_fit

ONE_PAIR = "pairs_pingpong"
BEST_FIRST = ("good", "fair", "poor")


def relevant(workload: Workload) -> bool:
    """Whether measurements of this workload can change what the functions below return: the fits and
    summaries of others need not be computed."""
    return workload.performs(*PING_PONG) or workload.name in (*TELLING_WORKLOADS, STREAM, ONE_PAIR)


def messages_for(
    fits: Fits, machine: Machine, where: str, *, hosts: int = 1, buffers: str = HOT
) -> PointToPointCosts:
    """Message costs from the fits of a run on `machine`; `where` is the run as the user named it, `hosts` the
    number of machines like this one on which its ranks ran. With `buffers` WRITTEN, the costs of messages in
    such buffers if the run measured these, otherwise in HOT ones.

    If the run has ping-pongs within a node and between nodes, both costs are known, and ranks fill the nodes
    as those of the run did. A simulated machine's description gives its kind of network and, for nodes with
    several cores, the cost of messages between nodes that the run lacks; on a real machine the kind is
    inferred from the run's exchanges (see `contention`). Raises Inconclusive where the run has no fit to use.
    """
    costs = _unjudged(fits, machine, where, hosts, buffers)
    return costs if machine.platform is not None else _judged(costs, fits, machine, fits.summaries)


def _judged(
    costs: PointToPointCosts, fits: Fits, machine: Machine, summaries: Iterable[Summary]
) -> PointToPointCosts:
    """The costs with the kind of network that exchanges show. Exchanges have hot buffers, so messages in such
    buffers decide."""
    if costs.buffers == HOT:
        return judged(costs, summaries)
    hot = judged(_unjudged(fits, machine, "", 1, HOT), summaries)
    return replace(
        costs, shared=hot.shared, sharing=hot.sharing, undecided=hot.undecided, why=hot.why, medium=hot.medium
    )


def _unjudged(fits: Fits, machine: Machine, where: str, hosts: int, buffers: str) -> PointToPointCosts:
    chosen = chosen_fits(fits, buffers)
    if chosen is None:
        raise _nothing(fits, where)
    costs = _of_run(chosen.main, fits, machine, where, hosts)
    if chosen.near is not None:
        near = within_a_node(_of_run(chosen.near, fits, machine, where, hosts))
        costs = replace(
            costs,
            near=near,
            cores=machine.ranks_per_node or max(1, machine.cores),
            nodes=_nodes(machine, hosts),
            source=f"{costs.source} within a node and between nodes",
            smallest=max(costs.smallest, near.smallest),
            largest=min((x.largest for x in (costs, near) if x.largest is not None), default=None),
        )
    return costs if machine.platform is None else _on_description(costs, described(machine.platform))


def _of_run(fit: Fit, fits: Fits, machine: Machine, where: str, hosts: int) -> PointToPointCosts:
    costs = of_fit(
        fit,
        name=machine.host,
        title=_title(machine),
        source=f"the ping-pong of {where}",
        most_ranks=_room(machine, hosts),
    )
    place = place_of_fit(fit, fits)
    at = (NETWORK,) if place == NETWORK else (place, NODE)
    buffers = str(fit.subject.get("buffers", HOT))
    return replace(costs, cost=fits.cost, place=place, node=measured_sharing(fits, at), buffers=buffers)


def messages_of_run(
    fits: Fits,
    machine: Machine,
    where: str,
    surveyed: Surveyed | None,
    *,
    hosts: int = 1,
    buffers: str = HOT,
) -> PointToPointCosts:
    """Message costs from a run: from a survey's times if it includes these, otherwise from its own ping-pong;
    never from a measured efficiency. Whether messages share the network is decided by exchanges of 4 and more
    ranks, of the survey and of the run itself. Raises Inconclusive if the fits are for another cost than
    those that were kept of the survey."""
    if surveyed is None:
        return messages_for(fits, machine, where, hosts=hosts, buffers=buffers)
    if surveyed.fits.cost != fits.cost:
        raise Inconclusive(
            f"{where} has no {fits.cost} message costs",
            f"its message costs are from {printable(surveyed.where)}, of which the {surveyed.fits.cost} ones "
            "were kept",
            f"give the survey itself: --run {printable(surveyed.where)}",
            code="other-cost-of-survey",
            cost=fits.cost,
            survey=surveyed.where,
        )
    costs = messages_for(surveyed.fits, surveyed.machine, surveyed.where, hosts=hosts, buffers=buffers)
    if surveyed.machine.platform is not None:
        return costs
    return _judged(costs, surveyed.fits, surveyed.machine, [*surveyed.fits.summaries, *fits.summaries])


def described(platform: Platform) -> PointToPointCosts:
    """Message costs from a machine's description, simulated or from a paper."""
    costs = of_platform(platform, source="the machine's description")
    shape = platform.network.shape
    why = "according to the machine's description" + (f" of a {shape}" if shape != "switch" else "")
    return replace(costs, sharing="described", why=why)


def usable_fit(fits: Fits, place: str | None = None, buffers: str = HOT) -> Fit | None:
    """Hockney's model of the ping-pong with such buffers, otherwise with hot ones, otherwise of another
    ping-pong; of ranks that met at the level `place` (None: anywhere)."""
    usable = [
        f
        for f in [*fits.select_by_role("hockney", *PING_PONG), *_of_one_pair(fits)]
        if f.verdict in BEST_FIRST and f.segments and place in (None, place_of_fit(f, fits))
    ]
    return min(
        usable,
        key=lambda f: (
            f.subject.workload == ONE_PAIR,
            not f.subject.matches(buffers=buffers, ranks=2),
            not f.subject.matches(buffers=HOT, ranks=2),
            BEST_FIRST.index(f.verdict),
        ),
        default=None,
    )


def _of_one_pair(fits: Fits) -> list[Fit]:
    """A ping-pong of many pairs with only one of them."""
    return [
        f for f in fits.select("hockney", ONE_PAIR) if f.subject.matches(pairs=1, source="named", buffers=HOT)
    ]


@dataclass(frozen=True)
class ChosenFits:
    """The ping-pongs from which messages are predicted: between nodes and, `near`, within one; or the only
    one there is."""

    main: Fit
    near: Fit | None = None


def chosen_fits(fits: Fits, buffers: str = HOT) -> ChosenFits | None:
    """Within a node that of the farthest level. A ping-pong of ranks whose level is not known is only taken
    if no other is."""
    found = {place: fit for place in ("", *LEVELS) if (fit := usable_fit(fits, place, buffers)) is not None}
    within = found.get(farthest_level_in_node(found))
    between = found.get(NETWORK)
    if between is not None:
        return ChosenFits(between, within)
    main = within or found.get("")
    return None if main is None else ChosenFits(main)


def _nodes(machine: Machine, hosts: int) -> int:
    """The number of nodes; 0 if unknown."""
    if machine.platform is not None:
        return sum(group.count for group in machine.platform.nodes)
    known = max(hosts, machine.layout.nodes if machine.layout is not None else 0)
    return known if known > 1 else 0


def _title(machine: Machine) -> str:
    known = machine.cpu not in ("", "none", machine.host)
    return f"{machine.host} ({machine.cpu})" if known else machine.host


def _room(machine: Machine, hosts: int) -> int | None:
    """The number of ranks that have their own core; unknown for published numbers. Ranks on emulated hosts
    compute asleep, so that each has its host's processors to itself, whatever these share."""
    if machine.emulated is not None:
        return machine.emulated.hosts * max(1, machine.ranks_per_node)
    return machine.cores * hosts if machine.cores > 0 and not machine.traits.published else None


def _on_description(measured: PointToPointCosts, description: PointToPointCosts) -> PointToPointCosts:
    """The run's times with the network of the description. Two ranks fill the first node, so if nodes have
    several cores, the measured messages stay on a node unless the run placed them: for more ranks the fit's
    interval and verdict do not apply."""
    network = replace(
        measured,
        shared=description.shared,
        sharing=description.sharing,
        why=description.why,
        eager=description.eager,
        medium=description.medium,
        half_duplex_s_per_byte=description.half_duplex_s_per_byte,
        most_ranks=description.most_ranks,
        cores=measured.cores or description.cores,
    )
    if description.near is None or measured.near is not None:
        return network
    if measured.place == NETWORK:
        return replace(
            network,
            source=f"{measured.source} between nodes and {description.source} on a node",
            near=description.near,
        )
    return replace(
        description,
        name=measured.name,
        title=measured.title,
        source=f"{measured.source} on a node and {description.source} between nodes",
        near=within_a_node(replace(measured, eager=description.eager)),
        cost=measured.cost,
    )


def _nothing(fits: Fits, where: str) -> Inconclusive:
    refused = next(iter(fits.select_by_role("hockney", *PING_PONG)), None)
    return _no_message_model(where, refused.line if refused else "", refused.why if refused else "")


def _no_message_model(where: str, refused: str, why: str) -> Inconclusive:
    """`refused` is the subject of a fit that was refused, with `why`; "" if there is no fit."""
    return Inconclusive(
        f"{where} has no model of messages",
        f"the fit of '{refused}' was refused: {why}" if refused else "it has no ping-pong between 2 ranks",
        "'hockney survey' measures what is needed",
        code="no-message-model",
        refused=refused,
    )


def no_messages_between_nodes(where: str, nodes: int) -> Inconclusive:
    return Inconclusive(
        f"{where} has no model of messages between nodes",
        f"its ping-pong was within a node, and the ranks are on {nodes} nodes",
        "measure messages between nodes too: 'hockney survey --nodes 2'",
        code="no-messages-between-nodes",
        nodes=nodes,
    )
