# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The only orchestrator: prepares a bench, lays out a run, measures it, and brings its results to models."""

from hockney.lab.bench import (
    SIMULATED,
    Bench,
    check,
    check_ranks,
    fake_bench,
    fake_catalog,
    is_fake,
    other_groups,
    prepare,
)
from hockney.lab.calibration_check import survey_twin, surveyed
from hockney.lab.doctor import Finding, examine, look_around
from hockney.lab.events import (
    CaseBegan,
    CaseEnded,
    Event,
    LaunchBegan,
    LaunchEnded,
    MeasuringBegan,
    Notice,
    Waiting,
)
from hockney.lab.library import install_library
from hockney.lab.machine_diff import differences
from hockney.lab.published import export_published
from hockney.lab.reproduce import run_part
from hockney.lab.results import Results, results
from hockney.lab.schedule import schedule
from hockney.lab.session import Outcome, begin, measure
from hockney.lab.simgrid import bring_simgrid
from hockney.lab.survey_reuse import survey_of, take_survey

__all__ = [
    "SIMULATED",
    "Bench",
    "CaseBegan",
    "CaseEnded",
    "Event",
    "Finding",
    "LaunchBegan",
    "LaunchEnded",
    "MeasuringBegan",
    "Notice",
    "Outcome",
    "Results",
    "Waiting",
    "begin",
    "bring_simgrid",
    "check",
    "check_ranks",
    "differences",
    "examine",
    "export_published",
    "fake_bench",
    "fake_catalog",
    "install_library",
    "is_fake",
    "look_around",
    "measure",
    "other_groups",
    "prepare",
    "results",
    "run_part",
    "schedule",
    "survey_of",
    "survey_twin",
    "surveyed",
    "take_survey",
]
