# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Choosing a barrier, from a run that measured them."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.api.run_contents import Run
from hockney.core.errors import Inconclusive
from hockney.studies.barriers.best import Choice, choose


def choose_barriers(run: Run, ranks: Sequence[int]) -> tuple[list[Choice], list[Inconclusive]]:
    """For each number of ranks (default: the measured ones) the choice, or why there is none.

    Times are per call, in seconds.
    """
    choices, unknown = [], []
    for p in ranks or sorted({case.ranks for case in run.plan.cases}):
        try:
            choices.append(choose(run.evidence, p))
        except Inconclusive as error:
            unknown.append(error)
    return choices, unknown
