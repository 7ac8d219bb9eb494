# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about barriers."""

from __future__ import annotations

from hockney.core.errors import Inconclusive, UsageError


def barriers_have_no_sizes() -> UsageError:
    return UsageError(
        "barriers have no sizes",
        "their messages are empty",
        "leave --sizes out",
        code="barriers-have-no-sizes",
    )


def one_rank_needs_no_barrier() -> UsageError:
    return UsageError(
        "one rank needs no barrier",
        "it waits for no other rank",
        "give --ranks 2 or more",
        code="one-rank-needs-no-barrier",
    )


def no_loop_of_barriers() -> Inconclusive:
    return Inconclusive(
        "the run has no back-to-back barriers",
        "barriers are ranked by their times",
        "'hockney run barriers' measures them",
        code="no-loop-of-barriers",
    )


def ranks_beyond_models(ranks: int, limit: int) -> Inconclusive:
    return Inconclusive(
        f"{ranks} ranks were not measured",
        f"the models hold for up to {limit} ranks",
        f"'hockney run barriers --ranks {ranks}' measures them",
        code="ranks-beyond-models",
        ranks=ranks,
        limit=limit,
    )


def no_costs_for_prediction(ranks: int) -> Inconclusive:
    return Inconclusive(
        f"{ranks} ranks were not measured",
        "the run has no cost of a message to predict them from",
        f"'hockney run barriers --ranks {ranks}' measures them",
        code="no-costs-for-prediction",
        ranks=ranks,
    )


def ranks_do_not_fill(ranks: int, ranks_per_node: int) -> UsageError:
    return UsageError(
        f"{ranks} ranks do not fill the nodes with {ranks_per_node} each",
        "every node has the same number of ranks",
        f"use a multiple of {ranks_per_node} ranks, as many as the nodes have",
        code="ranks-do-not-fill",
        ranks=ranks,
        ranks_per_node=ranks_per_node,
    )
