# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The only orchestrator: prepares a bench, sets up a run, measures it, and passes its results to models."""

from typing import TYPE_CHECKING

from hockney.core import lazy

if TYPE_CHECKING:
    from hockney.measurement.bench import (
        Bench,
        add_topology,
        bench_for_job,
        check_memory,
        check_network,
        check_ranks,
        check_settings,
        check_start,
        find_levels,
    )
    from hockney.measurement.budget import thin_sizes
    from hockney.measurement.builds import install_library, other_groups, provide_simgrid, source_workloads
    from hockney.measurement.calibration_check import calibration_survey, survey_twin
    from hockney.measurement.doctor import examine, inspect_host
    from hockney.measurement.events import (
        CaseBegan,
        CaseEnded,
        CasesChosen,
        CaseSettled,
        Event,
        Finding,
        LaunchBegan,
        LaunchEnded,
        Listener,
        MeasurementsAdded,
        MeasuringBegan,
        Notice,
        Status,
        StepDone,
        Waiting,
        Working,
        ignore_event,
        notifier,
    )
    from hockney.measurement.interleaved import (
        InterleavedSide,
        begin_interleaved,
        measure_interleaved,
        pair_count,
    )
    from hockney.measurement.kinds import (
        Kind,
        kind_of,
        prepare,
        public_kinds,
        repeats_itself,
        varies_by_launch,
    )
    from hockney.measurement.kinds.fake import fake_bench
    from hockney.measurement.kinds.imported import imported_reference
    from hockney.measurement.kinds.lan import emulated_reference
    from hockney.measurement.kinds.sim import description_name, simulated_reference
    from hockney.measurement.machine_diff import (
        MachineDifference,
        difference_text,
        resume_differences,
        setting_differences,
        survey_differences,
    )
    from hockney.measurement.read_only_runs import export_published, write_run
    from hockney.measurement.reproduce import run_part
    from hockney.measurement.rounds import RESERVED_SHARE, Goal, schedule
    from hockney.measurement.run_results import Results, load_results
    from hockney.measurement.session import Outcome, create_run, measure, replace_plan
    from hockney.measurement.survey_reuse import accept_survey, read_survey
    from hockney.system.bundled import bundled_catalog, bundled_groups, bundled_workloads
else:
    __getattr__ = lazy.attribute_getter(__name__)
