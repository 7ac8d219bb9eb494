# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The level of communication of a case or of a fit: within a node, or between nodes."""

from __future__ import annotations

from hockney.core.case import NODES, PLACE, Case, parse_canonical
from hockney.core.fit import Fit, Fits, Subject
from hockney.core.layout import NETWORK, meeting_level


def levels_agree(place: str, other: str) -> bool:
    """Whether both are between nodes, or both within a node; true if one of them is unknown."""
    return not place or not other or (place == NETWORK) == (other == NETWORK)


def place_of_fit(fit: Fit, fits: Fits) -> str:
    """Level of all of a fit's cases; "" if the levels differ."""
    subject = fit.subject
    if PLACE in subject:
        return str(subject[PLACE])
    cases = ((parse_canonical(summary.case), summary) for summary in fits.summaries)
    levels = {meeting_level(case, summary) for case, summary in cases if _is_of(case, subject)}
    return levels.pop() if len(levels) == 1 else ""


def _is_of(case: Case, subject: Subject) -> bool:
    """Whether a fit without a level belongs to this case."""
    same = case.workload == subject.workload and all(case.get(k) == v for k, v in subject.fixed)
    return same and PLACE not in case and case.get(NODES) == subject.get(NODES)
