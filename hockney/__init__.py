# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney: the cost of message passing on a machine, and the performance of parallel algorithms on it.

    import hockney

    run = hockney.survey(budget=30)                 # or hockney.open("runs/latest")
    run.frame()                                     # the summaries, in pandas or polars
    run.model("pingpong", ranks=2)(bytes=40_000)    # a time with its 95% interval
    run.figure("latency")                           # of Plotly
    hockney.predict(work=100e-6, message=40_000, serial=0.01, ranks=[2, 4, 8])

docs/python.md lists the stable names.
"""

TYPE_CHECKING = False
"""Like `typing.TYPE_CHECKING`; `typing` is not imported here, because Ctrl-C ends in a traceback until the
command line is loaded."""

if TYPE_CHECKING:
    from hockney.api.benchmark_logs import import_logs
    from hockney.api.forecast import Forecast
    from hockney.api.judgements.comparison import Comparison, compare
    from hockney.api.judgements.history import History
    from hockney.api.judgements.interleaved import compare_interleaved, resume_interleaved
    from hockney.api.notebook.fitted_model import FittedModel
    from hockney.api.notebook.front_door import open, predict, resume, run, survey, verify
    from hockney.api.profile import Profile, load_profile, profile
    from hockney.api.programs import Program, ProgramPrediction
    from hockney.api.replays import TracePrediction, predict_trace, replay_trace
    from hockney.api.run_contents import Run
    from hockney.api.run_options import RunOptions
    from hockney.api.scaling_predictions import ScalingPrediction, predict_scaling
    from hockney.core.errors import (
        EnvironmentProblem,
        HockneyError,
        Inconclusive,
        RunInterrupted,
        UsageError,
    )
    from hockney.core.fit import Estimate
else:

    def __getattr__(name):
        from hockney.core import lazy

        return lazy.attribute_getter(__name__)(name)


__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "EnvironmentProblem",
    "Estimate",
    "FittedModel",
    "Forecast",
    "History",
    "HockneyError",
    "Inconclusive",
    "Profile",
    "Program",
    "ProgramPrediction",
    "Run",
    "RunInterrupted",
    "RunOptions",
    "ScalingPrediction",
    "TracePrediction",
    "UsageError",
    "__version__",
    "compare",
    "compare_interleaved",
    "import_logs",
    "load_profile",
    "open",
    "predict",
    "predict_scaling",
    "predict_trace",
    "profile",
    "replay_trace",
    "resume",
    "resume_interleaved",
    "run",
    "survey",
    "verify",
]


def __dir__() -> list[str]:
    return __all__
