# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Judgement of performance guidelines from a run that measured both of their sides."""

from __future__ import annotations

from hockney.api.judgements.sides import catalog_of
from hockney.api.run_contents import Run
from hockney.core.errors import Inconclusive
from hockney.models.guidelines import FACTOR, GuidelineVerdicts, comparisons, is_decisive, judge
from hockney.models.statistics import observe
from hockney.store import RunFolder


def has_guidelines(folder: RunFolder) -> bool:
    """Whether the plan contains both sides of a guideline. Raises EnvironmentProblem if it is unreadable."""
    return is_decisive(comparisons(folder.plan().cases, catalog_of(folder)))


def judge_guidelines(run: Run, factor: float = FACTOR) -> GuidelineVerdicts:
    """Judge every guideline for which the run measured both sides. Raises Inconclusive if there is none."""
    catalog = catalog_of(run.folder)
    observations = observe(run.reading.run, catalog, run.cost)
    verdicts = judge(observations, catalog, factor, exact=run.machine.is_exact)
    if not is_decisive(verdict.comparison for verdict in verdicts.judged):
        raise Inconclusive(
            "no guideline can be judged",
            "the run has no collective next to another way to the same result, at matching sizes",
            "'hockney run guidelines' measures them",
            code="no-guideline-to-judge",
        )
    return verdicts
