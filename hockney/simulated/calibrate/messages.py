# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about surveys that no machine can be made from."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.errors import Inconclusive, UsageError


def survey_was_simulated(survey: str, machine: str) -> UsageError:
    return UsageError(
        f"{survey} was simulated",
        "its machine is already described",
        f"use --machine sim:{machine}",
        code="survey-was-simulated",
    )


def no_pingpong(survey: str, ranks: Sequence[int]) -> Inconclusive:
    """`ranks` are the rank counts of the ping-pongs that were measured."""
    counts = ", ".join(map(str, ranks))
    why = f"it was measured with ranks={counts}" if ranks else "the cost of a message is read from it"
    return Inconclusive(
        f"{survey} has no ping-pong on 2 ranks",
        why,
        "measure it with 'hockney survey'",
        code="survey-without-pingpong",
        ranks=tuple(ranks),
    )


def no_model(survey: str, reason: str) -> Inconclusive:
    """`reason` "" where nothing was fitted."""
    return Inconclusive(
        f"the ping-pong of {survey} has no model",
        reason or "no model fits it",
        "measure more sizes",
        code="survey-without-model",
    )


def mixed_placement(survey: str) -> Inconclusive:
    return Inconclusive(
        f"the 2 ranks of {survey} were on one host in some launches and on two in others",
        "their times belong to two kinds of path",
        "survey each placement separately",
        code="survey-with-mixed-placement",
    )


def node_count_of_network(nodes: int, network_nodes: int, network: str) -> UsageError:
    return UsageError(
        f"--nodes {nodes} does not fit {network}, which has {network_nodes} nodes",
        "its shape determines their number",
        "remove --nodes",
        code="node-count-of-network",
        nodes=nodes,
        network_nodes=network_nodes,
    )


def too_many_cores(nodes: int, cores: int, limit: int) -> UsageError:
    return UsageError(
        f"{nodes} nodes with {cores} cores each are too many",
        f"the limit is {limit} cores",
        "use fewer nodes",
        code="too-many-cores",
        limit=limit,
    )
