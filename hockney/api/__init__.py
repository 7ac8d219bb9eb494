# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The functions behind the command line: measure, resume, read and verify a run, predict, reproduce.

Programs and notebooks use `import hockney` (docs/python.md), whose names are stable; those here may change.

    from hockney import api

    run = api.survey(api.RunOptions(budget=30.0))
    run = api.run("granularity work=1ms:10ms serial=0,1%", api.RunOptions(ranks=(2, 4)))
    run = api.load("runs/mine")
    run.summaries, run.fits, run.caveats
    api.load("runs/mine", cost="undisturbed").fits
    run.report()
    run.export("times.csv")

Times are in seconds, sizes in bytes. All errors are `HockneyError`s: UsageError for an invalid question,
EnvironmentProblem for what this machine cannot do now, Inconclusive if the data allow no answer. Nothing is
printed; a listener, a function of a `hockney.lab.Event`, receives the progress of measuring.
"""

from typing import TYPE_CHECKING

from hockney.core import lazy

if TYPE_CHECKING:
    from hockney.api.barriers import choose_barriers
    from hockney.api.find_runs import (
        named_source,
        newest_complete,
        newest_complete_survey,
        newest_run,
        newest_source,
        newest_with_guidelines,
        newest_written,
        only_unfinished,
    )
    from hockney.api.forecast import Forecast, predict
    from hockney.api.importing.import_logs import import_logs
    from hockney.api.jobs import BatchOptions, Submitted, resume, script, submit, submit_again
    from hockney.api.judgements.baseline_check import BaselineCheck, check
    from hockney.api.judgements.comparison import Comparison, compare
    from hockney.api.judgements.guidelines import judge_guidelines
    from hockney.api.judgements.interleaved import interleaved, resume_interleaved
    from hockney.api.measure import Planned, plan, run, survey
    from hockney.api.predictions import KernelOptions, PredictedKernel, predictor_of
    from hockney.api.questions import Question, question
    from hockney.api.reproduction import Reproduced, reproduce
    from hockney.api.run_contents import Run, load
    from hockney.api.run_options import Replacements, RunOptions
    from hockney.api.verification import salvage, verify
else:
    __getattr__ = lazy.attributes(
        __name__,
        {
            "hockney.api.barriers": "choose_barriers",
            "hockney.api.judgements.comparison": "Comparison compare",
            "hockney.api.judgements.interleaved": "interleaved resume_interleaved",
            "hockney.api.find_runs": "named_source newest_complete newest_complete_survey newest_run"
            " newest_source newest_with_guidelines newest_written only_unfinished",
            "hockney.api.judgements.baseline_check": "BaselineCheck check",
            "hockney.api.judgements.guidelines": "judge_guidelines",
            "hockney.api.importing.import_logs": "import_logs",
            "hockney.api.jobs": "BatchOptions Submitted resume script submit submit_again",
            "hockney.api.measure": "Planned plan run survey",
            "hockney.api.forecast": "Forecast predict",
            "hockney.api.predictions": "KernelOptions PredictedKernel predictor_of",
            "hockney.api.questions": "Question question",
            "hockney.api.reproduction": "Reproduced reproduce",
            "hockney.api.run_contents": "Run load",
            "hockney.api.run_options": "Replacements RunOptions",
            "hockney.api.verification": "salvage verify",
        },
    )

__all__ = [
    "BaselineCheck",
    "BatchOptions",
    "Comparison",
    "Forecast",
    "KernelOptions",
    "Planned",
    "PredictedKernel",
    "Question",
    "Replacements",
    "Reproduced",
    "Run",
    "RunOptions",
    "Submitted",
    "check",
    "choose_barriers",
    "compare",
    "import_logs",
    "interleaved",
    "judge_guidelines",
    "load",
    "named_source",
    "newest_complete",
    "newest_complete_survey",
    "newest_run",
    "newest_source",
    "newest_with_guidelines",
    "newest_written",
    "only_unfinished",
    "plan",
    "predict",
    "predictor_of",
    "question",
    "reproduce",
    "resume",
    "resume_interleaved",
    "run",
    "salvage",
    "script",
    "submit",
    "submit_again",
    "survey",
    "verify",
]
