# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about models: algorithms that do not exist, unknown costs of messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hockney.core.errors import Inconclusive, UsageError, printable
from hockney.core.fit import Cost
from hockney.core.wording import plural

Quantity = Literal["work", "serial", "bytes", "exchanges", "imbalance"]

_QUANTITIES: dict[Quantity, tuple[str, str]] = {
    "work": ("a computation of {:g} s", "give a time greater than 0"),
    "serial": ("a serial fraction of {:g}", "give 0 to 1, or 0% to 100%"),
    "bytes": ("a message of {:g} B", "give 0 bytes or more"),
    "exchanges": ("{:g} exchanges", "give 0 or more"),
    "imbalance": ("an imbalance of {:g}", "give 1 (even work) or more"),
}


def impossible_algorithm(quantity: Quantity, value: float) -> UsageError:
    what, remedy = _QUANTITIES[quantity]
    return UsageError(
        f"{what.format(value)} is out of range",
        "no algorithm can have it",
        remedy,
        code="impossible-algorithm",
        quantity=quantity,
        value=value,
    )


def refused_fit(source: str, subject: str, why: str) -> UsageError:
    return UsageError(
        f"there is no model of messages in {source}",
        f"the fit of '{subject}' was refused: {why}",
        "measure more sizes",
        code="refused-fit",
        subject=subject,
    )


def no_message_model(where: str, refused: str, why: str) -> Inconclusive:
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


def other_cost_of_survey(where: str, survey: str, wanted: Cost, kept: Cost) -> Inconclusive:
    return Inconclusive(
        f"{where} has no {wanted} message costs",
        f"its message costs are from {printable(survey)}, of which the {kept} ones were kept",
        f"give the survey itself: --run {printable(survey)}",
        code="other-cost-of-survey",
        cost=wanted,
        survey=survey,
    )


def unknown_collective_algorithm(operation: str, algorithm: str, known: Sequence[str]) -> UsageError:
    few = f"its algorithms are {', '.join(known)}" if known else "there is no model of this operation"
    return UsageError(
        f"the cost of {printable(operation)} algorithm={printable(algorithm)} is unknown",
        few,
        "give one of them" if known else "give a collective of docs/collectives.md",
        code="unknown-collective-algorithm",
        operation=operation,
        algorithm=algorithm,
    )


def rank_count_not_modelled(operation: str, algorithm: str, ranks: int, why: str) -> UsageError:
    return UsageError(
        f"the cost of {operation} algorithm={algorithm} on {ranks} ranks cannot be computed",
        why,
        "give another number of ranks",
        code="rank-count-not-modelled",
        operation=operation,
        algorithm=algorithm,
        ranks=ranks,
    )


def ranks_per_node_beyond_cores(ranks_per_node: int, cores: int) -> UsageError:
    return UsageError(
        f"{ranks_per_node} ranks per node are too many",
        f"a node has {plural(cores, 'core')}",
        f"use --ranks-per-node {cores} or less",
        code="ranks-per-node-beyond-cores",
        ranks_per_node=ranks_per_node,
        cores=cores,
    )


def nodes_beyond_machine(nodes: int, limit: int) -> UsageError:
    return UsageError(
        f"{plural(nodes, 'node')} are too many",
        f"the machine has {limit}",
        f"use --nodes {limit} or less",
        code="nodes-beyond-machine",
        nodes=nodes,
        limit=limit,
    )


def ranks_beyond_layout(ranks: int, nodes: int, ranks_per_node: int) -> UsageError:
    return UsageError(
        f"{ranks} ranks do not fit on {plural(nodes, 'node')} with {ranks_per_node} each",
        f"these are {nodes * ranks_per_node} ranks",
        "leave out --nodes or --ranks-per-node",
        code="ranks-beyond-layout",
        ranks=ranks,
        nodes=nodes,
        ranks_per_node=ranks_per_node,
    )
