# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A machine's parameters from an earlier survey, for a study that then need not measure them again."""

from __future__ import annotations

from pathlib import Path

import msgspec

from hockney.core.errors import UsageError, printable
from hockney.core.fit import Surveyed
from hockney.core.machine import Machine
from hockney.core.notice import Notice
from hockney.core.wording import option
from hockney.measurement.machine_diff import difference_text, survey_differences
from hockney.measurement.run_results import load_results
from hockney.models.applications.message_costs import usable_fit
from hockney.store import RunFolder


def read_survey(path: Path) -> tuple[Surveyed, tuple[Notice, ...]]:
    """The survey in the run folder `path`, and the notices of reading it.

    Raises UsageError if it does not give the cost of a message.
    """
    source = load_results(RunFolder.open(path))
    where = printable(str(path))
    if not source.run.records:
        raise UsageError(
            f"nothing was measured in {where}",
            "it has no parameters that a study could use",
            f"use 'hockney resume {where}'",
            code="survey-without-records",
            where=where,
        )
    if usable_fit(source.fits) is None:
        raise UsageError(
            f"{where} does not give the cost of a message",
            "no model of a ping-pong fits its data",
            "use a run of 'hockney survey', or leave out survey=",
            code="survey-without-message-costs",
            where=where,
        )
    return Surveyed(source.fits, source.machine, where), source.notices


def accept_survey(surveyed: Surveyed, here: Machine, force: bool) -> Surveyed:
    """The survey as stored with the study on the machine `here`. Raises UsageError if it was made on another
    machine or with another MPI, unless `force`: then the run stores the differences."""
    unalike = survey_differences(surveyed.machine, here)
    differences = tuple(difference_text(difference, surveyed.machine, here) for difference in unalike)
    if differences and not force:
        raise UsageError(
            f"the survey {surveyed.where} was made on another machine or with other settings",
            "; ".join(differences),
            f"survey this machine with 'hockney survey', or use the other survey with {option('force')}",
            code="survey-of-other-machine",
            where=surveyed.where,
            differences=tuple(differences),
        )
    return msgspec.structs.replace(surveyed, differences=differences)
