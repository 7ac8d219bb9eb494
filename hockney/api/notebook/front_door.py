# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of `import hockney`.

A run is passed as a path (text or `Path`) or as a `Run`. Quantities are numbers (seconds, bytes, fractions)
or text as on the command line: budget=30 and budget="30s", message=40_000 and message="40kB". Progress is
logged as "hockney" with `logging`, or passed to `listen`, a function of a `hockney.measurement.Event`. All
errors are `HockneyError`s.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hockney.api import find_runs, forecast, measure, verification
from hockney.api.forecast import Forecast
from hockney.api.job_resumption import resume as resume_run
from hockney.api.notebook import keywords
from hockney.api.notebook.keywords import (
    Quantities,
    Quantity,
    ResumeKeywords,
    RunKeywords,
    replacements,
    run_options,
    with_resume_keywords,
    with_run_keywords,
)
from hockney.api.notebook.log_events import log
from hockney.api.questions import Question
from hockney.api.run_contents import Run, load
from hockney.core.errors import unknown
from hockney.core.fit import Cost
from hockney.core.paths import AnyPath
from hockney.measurement import Listener
from hockney.measurement.events import Finding
from hockney.models.applications.granularity import Algorithm

if TYPE_CHECKING:
    from typing_extensions import Unpack

NETWORKS = {"shared": True, "switch": False}


@with_run_keywords
def survey(
    *, out: AnyPath | None = None, listen: Listener | None = None, **options: Unpack[RunKeywords]
) -> Run:
    """Measure the cost of message passing on this machine::

        run = hockney.survey(budget=30, ranks=2)

    `options` are the fields of `RunOptions`. The default of `machine` is $HOCKNEY_MACHINE. `out` is the run's
    folder (default: a new one in runs). Raises the same errors as `run`.
    """
    return measure.survey(run_options(options, os.environ), out=out, listen=listen or log)


@with_run_keywords
def run(
    question: str | Sequence[str] | Question,
    *,
    out: AnyPath | None = None,
    listen: Listener | None = None,
    **options: Unpack[RunKeywords],
) -> Run:
    """Measure a study or cases, with the arguments of the command `hockney run`::

        run = hockney.run("pingpong bytes=0:64KiB barrier", launches=5)

    `options` and `out` are the same as for `survey`. Raises UsageError before anything is written, and
    EnvironmentProblem if nothing can be launched. Measurements are kept after an error or an interruption,
    and `resume` continues the run.
    """
    return measure.run(question, run_options(options, os.environ), out=out, listen=listen or log)


@with_resume_keywords
def resume(
    run: AnyPath | Run | None = None,
    *,
    budget: Quantity | None = None,
    listen: Listener | None = None,
    **options: Unpack[ResumeKeywords],
) -> Run:
    """Measure the remaining cases of a run (default: the only unfinished one in runs).

    `budget` (s) is the time for all remaining cases. Other options replace those of the run. Raises
    the same errors as `run`.
    """
    replacements_given = replacements(options)
    return resume_run(
        find_runs.only_unfinished_run(listen or log).path if run is None else _path(run),
        budget=None if budget is None else keywords.seconds_argument("budget", budget),
        replacements=replacements_given,
        listen=listen or log,
    )


def open(run: AnyPath | Run | None = None, *, cost: Cost = "typical", listen: Listener | None = None) -> Run:
    """Open an existing run (default: the newest complete one in runs)::

        run = hockney.open("runs/latest")

    Its models describe the typical `cost` of each case, or the undisturbed one. Raises UsageError if
    there is no such run.
    """
    keywords.check_cost(cost)
    return load(find_runs.newest_complete_run(listen or log) if run is None else run, cost)


def predict(
    work: Quantity,
    message: Quantity,
    *,
    serial: Quantity = 0,
    exchanges: float = 1,
    imbalance: float = 1,
    ranks: Quantities = (),
    run: AnyPath | Run | None = None,
    machine: AnyPath = "",
    network: str | None = None,
    larger_machine: bool = False,
    cost: Cost | None = None,
    listen: Listener | None = None,
) -> Forecast:
    """Predict the speed-up and efficiency of a parallel algorithm, and what would improve them::

        hockney.predict(work=100e-6, message=40_000, serial=0.01, ranks=[2, 4, 8])

    A single rank computes for `work` seconds, of which the fraction `serial` cannot be divided. For this work
    there are `exchanges` with the neighbors on a ring, with messages of `message` bytes. `imbalance` is the
    parallel work of the busiest rank relative to the mean. The cost of messages comes from `run` (default:
    the newest survey in runs) or from a described `machine`. `network`, shared or switch, overrides the
    measured kind. With `larger_machine`, ranks beyond the number of cores run on a larger machine of this
    kind instead of sharing cores. `cost` selects the typical or the undisturbed cost (default: the one that
    `run` was opened with).

    Nothing is measured. Raises UsageError for invalid values, Inconclusive if the cost of messages is
    unknown.
    """
    if network is not None and network not in NETWORKS:
        raise unknown("network", network, NETWORKS, code="unknown-network-word")
    algorithm = Algorithm(
        keywords.read_seconds(work),
        keywords.read_size(message),
        keywords.read_share(serial),
        exchanges,
        imbalance,
    )
    effective_cost: Cost = cost or (run.cost if isinstance(run, Run) else "typical")
    keywords.check_cost(effective_cost)
    return forecast.predict(
        algorithm,
        ranks=keywords.read_counts(ranks),
        run=None if run is None else _path(run),
        machine=os.fspath(machine),
        shared=None if network is None else NETWORKS[network],
        larger=larger_machine,
        cost=effective_cost,
        listen=listen or log,
    )


def verify(run: AnyPath | Run | None = None, *, listen: Listener | None = None) -> list[Finding]:
    """Check that the measurements of a run (default: the newest in runs) are unchanged, complete and correct.

    The `verdict` of a finding is good, note or bad. Raises UsageError if there is no such run.
    """
    return verification.verify(
        find_runs.newest_run_in_any_state(listen or log).path if run is None else _path(run)
    )


def _path(run: AnyPath | Run) -> AnyPath:
    return run.path if isinstance(run, Run) else run
