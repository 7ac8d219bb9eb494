# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The only orchestrator: prepares a bench, sets up a run, measures it, and passes its results to models."""

from typing import TYPE_CHECKING

from hockney.core import lazy

if TYPE_CHECKING:
    from hockney.lab.bench import Bench, check, check_memory, check_ranks, check_settings
    from hockney.lab.builds import bring_simgrid, install_library
    from hockney.lab.calibration_check import survey_twin, surveyed
    from hockney.lab.doctor import examine, look_around
    from hockney.lab.events import (
        CaseBegan,
        CaseEnded,
        CasesChosen,
        CaseSettled,
        Counted,
        Event,
        LaunchBegan,
        LaunchEnded,
        Listener,
        MeasurementsAdded,
        MeasuringBegan,
        Notice,
        Status,
        Waiting,
        Working,
        notifier,
        silent,
    )
    from hockney.lab.executables import other_groups
    from hockney.lab.finding import Finding
    from hockney.lab.kinds import Kind, kind_of, listed, prepare, repeats_itself
    from hockney.lab.kinds.fake import fake_bench
    from hockney.lab.kinds.simulated import description_name, simulated_reference
    from hockney.lab.launch_order import schedule
    from hockney.lab.machine_diff import (
        MachineDifference,
        differences,
        in_words,
        name_of,
        setting_differences,
    )
    from hockney.lab.published import export_published
    from hockney.lab.reproduce import run_part
    from hockney.lab.run_results import Results, results
    from hockney.lab.session import Outcome, begin, measure
    from hockney.lab.survey_reuse import survey_of, take_survey
    from hockney.system.bundled import bundled_catalog, bundled_groups, bundled_workloads
else:
    __getattr__ = lazy.attributes(
        __name__,
        {
            "hockney.lab.bench": "Bench check check_memory check_ranks check_settings",
            "hockney.lab.builds": "bring_simgrid install_library",
            "hockney.lab.calibration_check": "survey_twin surveyed",
            "hockney.lab.doctor": "examine look_around",
            "hockney.lab.events": "CaseBegan CaseEnded CaseSettled CasesChosen Counted Event LaunchBegan "
            "LaunchEnded Listener MeasurementsAdded MeasuringBegan Notice Status Waiting Working silent "
            "notifier",
            "hockney.lab.executables": "other_groups",
            "hockney.lab.finding": "Finding",
            "hockney.lab.kinds": "Kind kind_of listed prepare repeats_itself",
            "hockney.lab.kinds.fake": "fake_bench",
            "hockney.lab.kinds.simulated": "description_name simulated_reference",
            "hockney.lab.machine_diff": "MachineDifference differences in_words name_of setting_differences",
            "hockney.lab.published": "export_published",
            "hockney.lab.reproduce": "run_part",
            "hockney.lab.run_results": "Results results",
            "hockney.lab.launch_order": "schedule",
            "hockney.lab.session": "Outcome begin measure",
            "hockney.lab.survey_reuse": "survey_of take_survey",
            "hockney.system.bundled": "bundled_catalog bundled_groups bundled_workloads",
        },
    )

__all__ = [
    "Bench",
    "CaseBegan",
    "CaseEnded",
    "CaseSettled",
    "CasesChosen",
    "Counted",
    "Event",
    "Finding",
    "Kind",
    "LaunchBegan",
    "LaunchEnded",
    "Listener",
    "MachineDifference",
    "MeasurementsAdded",
    "MeasuringBegan",
    "Notice",
    "Outcome",
    "Results",
    "Status",
    "Waiting",
    "Working",
    "begin",
    "bring_simgrid",
    "bundled_catalog",
    "bundled_groups",
    "bundled_workloads",
    "check",
    "check_memory",
    "check_ranks",
    "check_settings",
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
    "notifier",
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
]
