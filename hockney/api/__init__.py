# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The functions behind the command line: measure, resume, read and verify a run, predict, reproduce.

Programs and notebooks use `import hockney` (docs/python.md), whose names are stable. The names in this
package may change.

    from hockney import api

    run = api.survey(api.RunOptions(budget=30.0))
    run = api.run("granularity work=1ms:10ms serial=0,1%", api.RunOptions(ranks=(2, 4)))
    run = api.load("runs/mine")
    run.summaries, run.fits, run.caveats
    api.load("runs/mine", cost="undisturbed").fits
    run.report()
    run.export("times.csv")

Times are in seconds, sizes in bytes. All errors are `HockneyError`s: UsageError for an invalid question,
EnvironmentProblem if this machine lacks something, Inconclusive if the data allow no answer. Nothing is
printed. A listener, which is called with each `hockney.measurement.Event`, receives the progress of
measuring.
"""

from typing import TYPE_CHECKING

from hockney.core import lazy

if TYPE_CHECKING:
    from hockney.api.barriers import choose_barriers
    from hockney.api.benchmark_logs import import_logs
    from hockney.api.find_runs import (
        newest_complete_run,
        newest_complete_survey,
        newest_guidelines_run,
        newest_run,
        newest_run_in_any_state,
        only_unfinished_run,
    )
    from hockney.api.forecast import Forecast, predict
    from hockney.api.job_resumption import resume
    from hockney.api.job_submission import BatchOptions, SubmittedJob, make_job_script, submit, submit_again
    from hockney.api.judgements.baseline import BaselineCheck, check
    from hockney.api.judgements.comparison import Comparison, compare
    from hockney.api.judgements.guidelines import judge_guidelines
    from hockney.api.judgements.interleaved import resume_interleaved, run_interleaved_comparison
    from hockney.api.measure import PlannedRun, plan, run, survey
    from hockney.api.predictions import KernelOptions, PredictedKernel, predictor_of
    from hockney.api.profile import Profile, load_profile
    from hockney.api.programs import Program, ProgramPrediction, program_of_options
    from hockney.api.questions import Question, parse_question
    from hockney.api.replays import TracePrediction, predict_trace, prediction_scores, replay_trace
    from hockney.api.reproduction import ReproductionResult, reproduce
    from hockney.api.run_contents import Run, load
    from hockney.api.run_options import Replacements, RunOptions
    from hockney.api.scaling_predictions import ScalingPrediction, predict_scaling
    from hockney.api.verification import salvage, verify
else:
    __getattr__ = lazy.attribute_getter(__name__)
