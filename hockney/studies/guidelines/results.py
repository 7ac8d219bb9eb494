# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The guidelines of a run, judged."""

from __future__ import annotations

from hockney.models.guidelines import Verdicts, judge
from hockney.pages.evidence import Evidence


def judged(evidence: Evidence) -> Verdicts:
    """The verdicts on all cases of the run; a run of any study may have them."""
    return judge(evidence.observations(), evidence.catalog, exact=evidence.machine.is_exact)
