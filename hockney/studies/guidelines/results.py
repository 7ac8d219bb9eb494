# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The guidelines of a run, judged."""

from __future__ import annotations

from hockney.models.guidelines import Verdicts, judge
from hockney.pages.evidence import Evidence


def judged(evidence: Evidence) -> Verdicts:
    """Of all its cases; a run of any study may have them."""
    observations = evidence.observed(evidence.run.records, evidence.fits.cost)
    return judge(observations, evidence.catalog, exact=evidence.machine.exact)
