# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A survey of the fake machine, for explanations."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import hockney
from hockney.core.fit import UsedSurvey
from hockney.profiles.machine_costs import MachineCosts


@cache
def fake_survey() -> UsedSurvey:
    with TemporaryDirectory() as folder:
        run = hockney.survey(machine="fake", seed=1, budget=5, ranks=(2, 4, 8), out=Path(folder) / "s")
        return UsedSurvey(run.fits, run.machine, "runs/survey")


def fake_costs() -> MachineCosts:
    return MachineCosts(fake_survey())
