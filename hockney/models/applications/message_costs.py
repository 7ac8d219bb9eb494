# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Message costs of a machine, from the best available source: a run's fit, or a machine's description."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hockney.core.case import HOT
from hockney.core.catalog import PING_PONG, Workload
from hockney.core.errors import Inconclusive, printable
from hockney.core.fit import Fit, Fits, Summary, UsedSurvey
from hockney.core.layout import LEVELS, NETWORK, NODE, farthest_level_in_node
from hockney.core.machine import Machine
from hockney.core.platform import Platform
from hockney.models.applications.contention import DECISIVE_WORKLOADS, judge_contention
from hockney.models.applications.node_sharing import STREAM, measured_sharing
from hockney.models.applications.point_to_point_costs import (
    PointToPointCosts,
    costs_from_fit,
    costs_from_platform,
    without_network,
)
from hockney.models.levels import place_of_fit

PAIRS_PING_PONG = "pairs_pingpong"
VERDICTS = ("good", "fair", "poor")


def is_relevant(workload: Workload) -> bool:
    """Whether measurements of this workload can affect the results of the functions below. Fits and summaries
    of other workloads need not be computed."""
    return workload.performs(*PING_PONG) or workload.name in (*DECISIVE_WORKLOADS, STREAM, PAIRS_PING_PONG)


def messages_for(
    fits: Fits, machine: Machine, where: str, *, hosts: int = 1, buffers: str = HOT
) -> PointToPointCosts:
    """Message costs from the fits of a run on `machine`. `where` is the run as the user named it; `hosts` is
    the number of machines like this one on which its ranks ran. With `buffers` WRITTEN, the costs apply to
    messages in such buffers if the run measured them, otherwise to HOT ones.

    If the run contains ping-pongs within a node and between nodes, both costs are known, and ranks fill the
    nodes as in the run. A simulated machine's description provides the kind of network and, for nodes with
    several cores, the cost of messages between nodes if the run lacks it. On a real machine, the kind is
    inferred from the run's exchanges (see `contention`). Raises Inconclusive if the run has no usable fit.
    """
    costs = _costs_before_judging(fits, machine, where, hosts, buffers)
    return (
        costs
        if machine.platform is not None
        else _with_contention_judged(costs, fits, machine, fits.summaries)
    )


def _with_contention_judged(
    costs: PointToPointCosts, fits: Fits, machine: Machine, summaries: Iterable[Summary]
) -> PointToPointCosts:
    """Return the costs with the kind of network inferred from exchanges. Exchanges use hot buffers, so the
    costs of messages in hot buffers decide."""
    if costs.buffers == HOT:
        return judge_contention(costs, summaries)
    judged_hot = judge_contention(_costs_before_judging(fits, machine, "", 1, HOT), summaries)
    return replace(
        costs,
        shared=judged_hot.shared,
        sharing=judged_hot.sharing,
        undecided_reason=judged_hot.undecided_reason,
        why=judged_hot.why,
        medium=judged_hot.medium,
    )


def _costs_before_judging(
    fits: Fits, machine: Machine, where: str, hosts: int, buffers: str
) -> PointToPointCosts:
    fits_in_use = chosen_fits(fits, buffers)
    if fits_in_use is None:
        raise _no_fit_error(fits, where)
    costs = _costs_of_fit(fits_in_use.main_fit, fits, machine, where, hosts)
    if fits_in_use.within_node_fit is not None:
        within_node = without_network(_costs_of_fit(fits_in_use.within_node_fit, fits, machine, where, hosts))
        costs = replace(
            costs,
            within_node=within_node,
            cores=machine.ranks_per_node or max(1, machine.cores),
            nodes=_node_count(machine, hosts),
            source=f"{costs.source} within a node and between nodes",
            min_size=max(costs.min_size, within_node.min_size),
            max_size=min(
                (level.max_size for level in (costs, within_node) if level.max_size is not None), default=None
            ),
        )
    return (
        costs
        if machine.platform is None
        else _with_described_network(costs, costs_of_description(machine.platform))
    )


def _costs_of_fit(fit: Fit, fits: Fits, machine: Machine, where: str, hosts: int) -> PointToPointCosts:
    costs = costs_from_fit(
        fit,
        name=machine.host,
        title=_title(machine),
        source=f"the ping-pong of {where}",
        most_ranks=_max_ranks(machine, hosts),
    )
    level = place_of_fit(fit, fits)
    levels = (NETWORK,) if level == NETWORK else (level, NODE)
    buffers = str(fit.subject.get("buffers", HOT))
    return replace(
        costs, cost=fits.cost, place=level, node_sharing=measured_sharing(fits, levels), buffers=buffers
    )


def messages_of_run(
    fits: Fits,
    machine: Machine,
    where: str,
    surveyed: UsedSurvey | None,
    *,
    hosts: int = 1,
    buffers: str = HOT,
) -> PointToPointCosts:
    """Message costs from a run: from a survey's times if the run includes these, otherwise from its own
    ping-pong, but never from a measured efficiency. Exchanges of at least 4 ranks, both of the survey and of
    the run, decide whether messages share the network. Raises Inconclusive if the fits are for another cost
    than the survey's stored ones."""
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
    return _with_contention_judged(
        costs, surveyed.fits, surveyed.machine, [*surveyed.fits.summaries, *fits.summaries]
    )


def costs_of_description(platform: Platform) -> PointToPointCosts:
    """Message costs from a machine's description, simulated or from a paper."""
    costs = costs_from_platform(platform, source="the machine's description")
    shape = platform.network.shape
    why = "according to the machine's description" + (f" of a {shape}" if shape != "switch" else "")
    return replace(costs, sharing="described", why=why)


def usable_fit(fits: Fits, level: str | None = None, buffers: str = HOT) -> Fit | None:
    """The best fit of Hockney's model for ranks that met at `level` (None: any). Ping-pongs with these
    buffers come first, then those with hot buffers, then any others."""
    candidates = [
        fit
        for fit in [*fits.select_by_role("hockney", *PING_PONG), *_single_pair_fits(fits)]
        if fit.verdict in VERDICTS and fit.segments and level in (None, place_of_fit(fit, fits))
    ]
    return min(
        candidates,
        key=lambda fit: (
            fit.subject.workload == PAIRS_PING_PONG,
            not fit.subject.matches(buffers=buffers, ranks=2),
            not fit.subject.matches(buffers=HOT, ranks=2),
            VERDICTS.index(fit.verdict),
        ),
        default=None,
    )


def _single_pair_fits(fits: Fits) -> list[Fit]:
    """Fits of ping-pongs of many pairs that were measured with a single pair."""
    return [
        fit
        for fit in fits.select("hockney", PAIRS_PING_PONG)
        if fit.subject.matches(pairs=1, source="named", buffers=HOT)
    ]


@dataclass(frozen=True)
class ChosenFits:
    """The ping-pongs from which messages are predicted. `main_fit` is between nodes and `within_node_fit`
    within a node; if only one level was measured, `main_fit` is for that level."""

    main_fit: Fit
    within_node_fit: Fit | None = None


def chosen_fits(fits: Fits, buffers: str = HOT) -> ChosenFits | None:
    """Choose the fits. Within a node, the farthest level is used. A ping-pong of ranks at an unknown level is
    only used if there is no other."""
    fits_by_level = {
        level: fit for level in ("", *LEVELS) if (fit := usable_fit(fits, level, buffers)) is not None
    }
    within_node = fits_by_level.get(farthest_level_in_node(fits_by_level))
    between_nodes = fits_by_level.get(NETWORK)
    if between_nodes is not None:
        return ChosenFits(between_nodes, within_node)
    main_fit = within_node or fits_by_level.get("")
    return None if main_fit is None else ChosenFits(main_fit)


def _node_count(machine: Machine, hosts: int) -> int:
    """The number of nodes; 0 if unknown."""
    if machine.platform is not None:
        return sum(group.count for group in machine.platform.nodes)
    node_count = max(hosts, machine.layout.nodes if machine.layout is not None else 0)
    return node_count if node_count > 1 else 0


def _title(machine: Machine) -> str:
    has_cpu_name = machine.cpu not in ("", "none", machine.host)
    return f"{machine.host} ({machine.cpu})" if has_cpu_name else machine.host


def _max_ranks(machine: Machine, hosts: int) -> int | None:
    """The number of ranks with a core each; None for published numbers. Ranks on emulated hosts sleep instead
    of computing, so each has its host's processors to itself even if hosts share them."""
    if machine.emulated is not None:
        return machine.emulated.hosts * max(1, machine.ranks_per_node)
    return machine.cores * hosts if machine.cores > 0 and not machine.traits.published else None


def _with_described_network(
    measured_costs: PointToPointCosts, described_costs: PointToPointCosts
) -> PointToPointCosts:
    """Return the run's times with the description's network. Two ranks fill the first node. If nodes have
    several cores, the measured messages therefore stay within a node unless the run placed the ranks, and the
    fit's interval and verdict do not apply to more ranks."""
    with_network = replace(
        measured_costs,
        shared=described_costs.shared,
        sharing=described_costs.sharing,
        why=described_costs.why,
        eager_limit=described_costs.eager_limit,
        medium=described_costs.medium,
        half_duplex_s_per_byte=described_costs.half_duplex_s_per_byte,
        max_ranks=described_costs.max_ranks,
        cores=measured_costs.cores or described_costs.cores,
    )
    if described_costs.within_node is None or measured_costs.within_node is not None:
        return with_network
    if measured_costs.place == NETWORK:
        return replace(
            with_network,
            source=f"{measured_costs.source} between nodes and {described_costs.source} on a node",
            within_node=described_costs.within_node,
        )
    return replace(
        described_costs,
        name=measured_costs.name,
        title=measured_costs.title,
        source=f"{measured_costs.source} on a node and {described_costs.source} between nodes",
        within_node=without_network(replace(measured_costs, eager_limit=described_costs.eager_limit)),
        cost=measured_costs.cost,
    )


def _no_fit_error(fits: Fits, where: str) -> Inconclusive:
    refused_fit = next(iter(fits.select_by_role("hockney", *PING_PONG)), None)
    return _no_message_model(
        where, refused_fit.line if refused_fit else "", refused_fit.why if refused_fit else ""
    )


def _no_message_model(where: str, refused_subject: str, why: str) -> Inconclusive:
    """The error. `refused_subject` is the subject of a refused fit and `why` the reason; both are "" if there
    is no fit."""
    return Inconclusive(
        f"{where} has no model of messages",
        f"the fit of '{refused_subject}' was refused: {why}"
        if refused_subject
        else "it has no ping-pong between 2 ranks",
        "'hockney survey' measures what is needed",
        code="no-message-model",
        refused=refused_subject,
    )


def no_inter_node_costs(where: str, nodes: int) -> Inconclusive:
    return Inconclusive(
        f"{where} has no model of messages between nodes",
        f"its ping-pong was within a node, and the ranks are on {nodes} nodes",
        "measure messages between nodes too: 'hockney survey --nodes 2'",
        code="no-messages-between-nodes",
        nodes=nodes,
    )
