# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the algorithms would take by the costs of messages between two ranks (`models.collective_costs`)."""

from __future__ import annotations

from collections.abc import Mapping

from hockney.core.case import MPI
from hockney.core.errors import HockneyError
from hockney.models import collective_costs
from hockney.pages.evidence import Evidence
from hockney.studies.collectives.results import CollectiveResults

Predicted = Mapping[tuple[str, str, int, int], float]
"""Seconds by operation, algorithm, ranks and block."""


def predicted(evidence: Evidence) -> Predicted:
    """Predictions for every user-level algorithm that was measured and has a cost model; computed once for
    each run."""
    return evidence.cached(_predicted)


def _predicted(evidence: Evidence) -> Predicted:
    cases: dict[tuple[str, str, int, int], list[int]] = {}
    for p in CollectiveResults.of(evidence).points:
        for name in p.times:
            if name != MPI:
                cases.setdefault((p.operation, name, p.ranks, p.nodes), []).append(p.block)
    found: dict[tuple[str, str, int, int], float] = {}
    hosts = evidence.run.max_hosts()
    for (operation, name, ranks, nodes), blocks in cases.items():
        try:
            times = collective_costs.predict(
                evidence.fits, evidence.machine, operation, name, ranks, blocks,
                where="this run", hosts=hosts, nodes=nodes,
            )  # fmt: skip
        except HockneyError:  # no model of messages, or none of this algorithm on so many ranks
            continue
        found |= {(operation, name, ranks, each.size): each.time.value for each in times}
    return found
