# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A machine's parameters from the run of an earlier survey, for a study that need not measure them again."""

from __future__ import annotations

from pathlib import Path

import msgspec

from hockney.core.errors import UsageError, printable
from hockney.core.machine import Machine
from hockney.core.survey_reference import Surveyed
from hockney.lab.machine_diff import in_words, unlike
from hockney.lab.results import results
from hockney.models.applications.message_costs import usable_fit
from hockney.store import RunFolder


def survey_of(path: Path) -> tuple[Surveyed, tuple[str, ...]]:
    """The survey in the run folder `path`, and what reading it had to say.

    Raises UsageError where it says nothing of what a message costs.
    """
    found = results(RunFolder.open(path), save=False)
    where = printable(str(path))
    if not found.run.records:
        raise UsageError(
            f"nothing was measured in {where}",
            "a survey's parameters are wanted",
            f"'hockney resume {where}'",
        )
    if usable_fit(found.fits) is None:
        raise UsageError(
            f"{where} does not say what a message costs",
            "no model of a ping-pong fits it",
            "name a run of 'hockney survey', or leave out survey=",
        )
    return Surveyed(found.fits, found.machine, where), found.notices


def take_survey(surveyed: Surveyed, here: Machine, force: bool) -> Surveyed:
    """The survey as the study on the machine `here` keeps it. Raises UsageError where it was made on another
    machine or with another MPI, unless `force`: then the run keeps what differs."""
    unalike = unlike(surveyed.machine, here)
    differences = tuple(in_words(difference, surveyed.machine, here) for difference in unalike)
    if differences and not force:
        raise UsageError(
            f"the survey {surveyed.where} was made on another machine",
            "; ".join(differences),
            "survey this one with 'hockney survey', or take it as it is with --force",
        )
    return msgspec.structs.replace(surveyed, differences=differences)
