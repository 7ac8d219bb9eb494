# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What makes the numbers of this study doubtful, beside what makes those of any run so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hockney.draw.page import Caveat
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.pages import caveats as general
from hockney.pages.evidence import Evidence
from hockney.pages.format import listing, percent, plural, quantity, together
from hockney.studies.granularity.cells import Cell
from hockney.studies.granularity.text import length, share

MISSED = 0.01
"""Computing is meant to take what was preset to 1%."""
SHORTEST_S = 1e-4
"""From here on; of shorter works the error is said in the table only."""


def caveats(
    evidence: Evidence, found: Sequence[Cell], messages: PointToPointCosts | None, cores: int
) -> tuple[Caveat, ...]:
    """All caveats of the run, with what oversubscription does to efficiencies; then those of this study."""
    listed = [_explained(c.caveat, found, cores) for c in general.caveats(evidence)]
    crowded = crowded_counts(found, cores)
    if crowded and not any(w.code == "oversubscribed" for w in listed):
        listed.append(_explained(Caveat("oversubscribed", "", "", ""), found, cores))
    more = (_missed(evidence), _poor(messages), _unknown_sizes(found, messages))
    return (*listed, *(w for w in more if w is not None))


def crowded_counts(found: Sequence[Cell], cores: int) -> tuple[int, ...]:
    """Numbers of ranks that have no core each."""
    return tuple(sorted({cell.ranks for cell in found if cell.ranks > cores}))


def _explained(caveat: Caveat, found: Sequence[Cell], cores: int) -> Caveat:
    crowded = crowded_counts(found, cores)
    if caveat.code != "oversubscribed" or not crowded:
        return caveat
    most = ", ".join(f"{share(cores / p)} on {p} ranks" for p in crowded)
    counts = together(crowded)
    return replace(
        caveat,
        text=f"{counts} ranks share {plural(cores, 'core')}: their efficiency is at most cores / ranks "
        f"({most}), and a message waits until the scheduler runs its receiver, which can take milliseconds",
        touches=f"cases on {counts} ranks",
        todo="use fewer ranks (--ranks) or a larger machine; predictions have ranks on "
        "one core compute in turn, but not wait for the scheduler",
    )


def _missed(evidence: Evidence) -> Caveat | None:
    """Computing that did not take what was preset."""
    bad = [
        r
        for r in evidence.run.records
        if r.work is not None and r.work.preset_s >= SHORTEST_S and r.work.error > MISSED
    ]
    if not bad:
        return None
    worst = max(bad, key=lambda r: r.work.error if r.work else 0.0)
    return Caveat(
        "preset",
        f"in {plural(len(bad), 'measurement')} the ranks did not compute as long as was preset: the worst "
        f"missed {quantity(worst.work.preset_s if worst.work else 0.0, 's')} by "
        f"{percent(worst.work.error if worst.work else 0.0)}",
        listing(sorted({r.case for r in bad})),
        "measured serial times are what efficiencies stand on, so this matters where ranks differ; "
        "measure again on a quiet machine",
    )


def _poor(messages: PointToPointCosts | None) -> Caveat | None:
    if messages is None or messages.verdict != "poor":
        return None
    return Caveat(
        "model",
        f"the model of messages is poor: {messages.doubt or 'it does not describe the ping-pong well'}",
        "all predictions"
        if messages.cores < 2
        else f"predictions on up to {messages.cores} ranks, of one node",
        "survey again with more time or on a quiet machine",
    )


def _unknown_sizes(found: Sequence[Cell], messages: PointToPointCosts | None) -> Caveat | None:
    """Messages beyond those that the model was fitted to."""
    if messages is None:
        return None
    unknown = sorted({cell.bytes for cell in found if cell.ranks > 1 and not messages.known(cell.bytes)})
    if not unknown:
        return None
    return Caveat(
        "extrapolated",
        "the model of messages was fitted to other sizes than these",
        f"predictions with messages of {listing([length(size) for size in unknown])}",
        "survey with --sizes up to the largest message",
    )
