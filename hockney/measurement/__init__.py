# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The only orchestrator: prepares a bench, sets up a run, measures it, and passes its results to models."""

from typing import TYPE_CHECKING

from hockney.core import lazy

if TYPE_CHECKING:
    from hockney.measurement.bench import (
        Bench,
        check,
        check_memory,
        check_network,
        check_ranks,
        check_settings,
        look,
        on_other_hosts,
    )
    from hockney.measurement.budget import thinned
    from hockney.measurement.builds import bring_simgrid, install_library, other_groups
    from hockney.measurement.calibration_check import survey_twin, surveyed
    from hockney.measurement.doctor import examine, look_around
    from hockney.measurement.events import (
        CaseBegan,
        CaseEnded,
        CasesChosen,
        CaseSettled,
        Counted,
        Event,
        Finding,
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
    from hockney.measurement.interleaved import Turn, begin_in_turns, measure_in_turns, pair_count
    from hockney.measurement.kinds import Kind, kind_of, listed, prepare, repeats_itself
    from hockney.measurement.kinds.fake import fake_bench
    from hockney.measurement.kinds.imported import imported_reference
    from hockney.measurement.kinds.lan import emulated_reference
    from hockney.measurement.kinds.sim import description_name, simulated_reference
    from hockney.measurement.machine_diff import (
        MachineDifference,
        differences,
        in_words,
        name_of,
        setting_differences,
        unlike,
    )
    from hockney.measurement.read_only_runs import export_published, write_run
    from hockney.measurement.reproduce import run_part
    from hockney.measurement.rounds import Goal, schedule
    from hockney.measurement.run_results import Results, results
    from hockney.measurement.session import Outcome, begin, begin_again, measure
    from hockney.measurement.survey_reuse import survey_of, take_survey
    from hockney.system.bundled import bundled_catalog, bundled_groups, bundled_workloads
else:
    __getattr__ = lazy.attributes(__name__)
