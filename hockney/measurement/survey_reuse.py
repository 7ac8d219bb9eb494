# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Reuse of a machine's parameters from an earlier survey, so that a study need not measure them again."""

from __future__ import annotations

from pathlib import Path

import msgspec

from hockney.core.errors import UsageError, printable
from hockney.core.fit import UsedSurvey
from hockney.core.machine import Machine
from hockney.core.notice import Notice
from hockney.core.wording import option
from hockney.measurement.machine_diff import difference_text, survey_differences
from hockney.measurement.run_results import load_results
from hockney.models.applications.message_costs import usable_fit
from hockney.store import RunFolder


def read_survey(path: Path) -> tuple[UsedSurvey, tuple[Notice, ...]]:
    """Return the survey in the run folder `path`, and the notices from reading it.

    Raises UsageError if the survey does not give the cost of a message.
    """
    results = load_results(RunFolder.open(path))
    path_text = printable(str(path))
    if not results.run.records:
        raise UsageError(
            f"nothing was measured in {path_text}",
            "it has no parameters that a study could use",
            f"use 'hockney resume {path_text}'",
            code="survey-without-records",
            where=path_text,
        )
    if usable_fit(results.fits) is None:
        raise UsageError(
            f"{path_text} does not give the cost of a message",
            "no model of a ping-pong fits its data",
            "use a run of 'hockney survey', or leave out survey=",
            code="survey-without-message-costs",
            where=path_text,
        )
    return UsedSurvey(results.fits, results.machine, path_text), results.notices


def accept_survey(survey: UsedSurvey, machine: Machine, force: bool) -> UsedSurvey:
    """Return the survey as stored with the study on `machine`. Raises UsageError if it was made on another
    machine or with another MPI, unless `force` is set; then the run stores the differences."""
    machine_differences = survey_differences(survey.machine, machine)
    differences = tuple(
        difference_text(difference, survey.machine, machine) for difference in machine_differences
    )
    if differences and not force:
        raise UsageError(
            f"the survey {survey.where} was made on another machine or with other settings",
            "; ".join(differences),
            f"survey this machine with 'hockney survey', or use the other survey with {option('force')}",
            code="survey-of-other-machine",
            where=survey.where,
            differences=tuple(differences),
        )
    return msgspec.structs.replace(survey, differences=differences)
