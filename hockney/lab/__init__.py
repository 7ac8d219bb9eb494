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
    __getattr__ = lazy.attributes(__name__)
