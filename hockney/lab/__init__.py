# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The only orchestrator: prepares a bench, sets up a run, measures it, and passes its results to models."""

from typing import TYPE_CHECKING

from hockney.core import lazy

if TYPE_CHECKING:
    from hockney.lab.bench import (
        Bench,
        check,
        check_memory,
        check_network,
        check_ranks,
        check_settings,
        look,
        on_other_hosts,
    )
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
    from hockney.lab.interleaved import Turn, begin_in_turns, measure_in_turns, pair_count
    from hockney.lab.kinds import Kind, kind_of, listed, prepare, repeats_itself
    from hockney.lab.kinds.fake import fake_bench
    from hockney.lab.kinds.imported import imported_reference
    from hockney.lab.kinds.lan import emulated_reference
    from hockney.lab.kinds.sim import description_name, simulated_reference
    from hockney.lab.launch_order import schedule
    from hockney.lab.machine_diff import (
        MachineDifference,
        differences,
        in_words,
        name_of,
        setting_differences,
        unlike,
    )
    from hockney.lab.published import export_published
    from hockney.lab.read_only_runs import write_run
    from hockney.lab.reproduce import run_part
    from hockney.lab.run_results import Results, results
    from hockney.lab.session import Outcome, begin, begin_again, measure
    from hockney.lab.stopping import Goal
    from hockney.lab.survey_reuse import survey_of, take_survey
    from hockney.lab.thinning import thinned
    from hockney.system.bundled import bundled_catalog, bundled_groups, bundled_workloads
else:
    __getattr__ = lazy.attributes(
        __name__,
        {
            "hockney.lab.bench": "Bench check check_memory check_network check_ranks check_settings look"
            " on_other_hosts",
            "hockney.lab.builds": "bring_simgrid install_library",
            "hockney.lab.calibration_check": "survey_twin surveyed",
            "hockney.lab.doctor": "examine look_around",
            "hockney.lab.events": "CaseBegan CaseEnded CaseSettled CasesChosen Counted Event LaunchBegan "
            "LaunchEnded Listener MeasurementsAdded MeasuringBegan Notice Status Waiting Working silent "
            "notifier",
            "hockney.lab.executables": "other_groups",
            "hockney.lab.finding": "Finding",
            "hockney.lab.interleaved": "Turn begin_in_turns measure_in_turns pair_count",
            "hockney.lab.kinds": "Kind kind_of listed prepare repeats_itself",
            "hockney.lab.kinds.lan": "emulated_reference",
            "hockney.lab.kinds.fake": "fake_bench",
            "hockney.lab.kinds.imported": "imported_reference",
            "hockney.lab.kinds.sim": "description_name simulated_reference",
            "hockney.lab.machine_diff": "MachineDifference differences in_words name_of setting_differences "
            "unlike",
            "hockney.lab.published": "export_published",
            "hockney.lab.read_only_runs": "write_run",
            "hockney.lab.reproduce": "run_part",
            "hockney.lab.run_results": "Results results",
            "hockney.lab.launch_order": "schedule",
            "hockney.lab.session": "Outcome begin begin_again measure",
            "hockney.lab.stopping": "Goal",
            "hockney.lab.survey_reuse": "survey_of take_survey",
            "hockney.lab.thinning": "thinned",
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
    "Goal",
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
    "Turn",
    "Waiting",
    "Working",
    "begin",
    "begin_again",
    "begin_in_turns",
    "bring_simgrid",
    "bundled_catalog",
    "bundled_groups",
    "bundled_workloads",
    "check",
    "check_memory",
    "check_network",
    "check_ranks",
    "check_settings",
    "description_name",
    "differences",
    "emulated_reference",
    "examine",
    "export_published",
    "fake_bench",
    "imported_reference",
    "in_words",
    "install_library",
    "kind_of",
    "listed",
    "look",
    "look_around",
    "measure",
    "measure_in_turns",
    "name_of",
    "notifier",
    "on_other_hosts",
    "other_groups",
    "pair_count",
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
    "thinned",
    "unlike",
    "write_run",
]
