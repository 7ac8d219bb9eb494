# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts on the guidelines of a run."""

from __future__ import annotations

from hockney.models.guidelines import GuidelineVerdicts, judge
from hockney.pages.evidence import Evidence


def judge_run(evidence: Evidence) -> GuidelineVerdicts:
    """The verdicts on all cases of the run, which may belong to any study."""
    return judge(evidence.observations(), evidence.catalog, exact=evidence.machine.is_exact)
