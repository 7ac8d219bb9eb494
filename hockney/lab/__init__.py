# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The only orchestrator: prepares a bench, lays out a run, measures it, and brings its results to models."""

from hockney.lab.bench import Bench, check, check_ranks
from hockney.lab.builds import bring_simgrid, install_library
from hockney.lab.calibration_check import survey_twin, surveyed
from hockney.lab.doctor import examine, look_around
from hockney.lab.events import (
    CaseBegan,
    CaseEnded,
    Counted,
    Event,
    LaunchBegan,
    LaunchEnded,
    Listener,
    MeasuringBegan,
    Notice,
    Status,
    Waiting,
    silent,
    teller,
)
from hockney.lab.executables import other_groups
from hockney.lab.finding import Finding
from hockney.lab.kinds import Kind, kind_of, listed, prepare, repeats_itself
from hockney.lab.kinds.fake import fake_bench
from hockney.lab.kinds.simulated import description_name
from hockney.lab.kinds.simulated import reference as simulated_reference
from hockney.lab.machine_diff import MachineDifference, differences, in_words, name_of, setting_differences
from hockney.lab.published import export_published
from hockney.lab.reproduce import run_part
from hockney.lab.results import Results, results
from hockney.lab.schedule import schedule
from hockney.lab.session import Outcome, begin, measure
from hockney.lab.survey_reuse import survey_of, take_survey
from hockney.system.bundled import bundled_catalog

__all__ = [
    "Bench",
    "CaseBegan",
    "CaseEnded",
    "Counted",
    "Event",
    "Finding",
    "Kind",
    "LaunchBegan",
    "LaunchEnded",
    "Listener",
    "MachineDifference",
    "MeasuringBegan",
    "Notice",
    "Outcome",
    "Results",
    "Status",
    "Waiting",
    "begin",
    "bring_simgrid",
    "bundled_catalog",
    "check",
    "check_ranks",
    "description_name",
    "differences",
    "examine",
    "export_published",
    "fake_bench",
    "in_words",
    "install_library",
    "kind_of",
    "listed",
    "look_around",
    "measure",
    "name_of",
    "other_groups",
    "prepare",
    "repeats_itself",
    "results",
    "run_part",
    "schedule",
    "setting_differences",
    "silent",
    "simulated_reference",
    "survey_of",
    "survey_twin",
    "surveyed",
    "take_survey",
    "teller",
]
