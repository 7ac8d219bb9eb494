# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of `import hockney`.

A run is given as a path (text or `Path`) or as a `Run`. Quantities are numbers (seconds, bytes, fractions) or
words as on the command line: budget=30 and budget="30s", message=40_000 and message="40kB". What happens
meanwhile is in the log "hockney" of `logging`; `listen` takes a function of a `hockney.lab.Event` instead.
Everything that goes wrong is a `HockneyError`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, get_args

from hockney.api import find_runs, forecast, measure, verification
from hockney.api.forecast import Forecast
from hockney.api.notebook import messages, quantities
from hockney.api.notebook.log_events import log
from hockney.api.notebook.quantities import Quantities, Quantity
from hockney.api.notebook.run_keywords import RunKeywords, run_options, variable_words, with_run_keywords
from hockney.api.questions import Question
from hockney.api.run_contents import Run, load
from hockney.core.errors import UsageError
from hockney.core.fit import Cost
from hockney.core.paths import AnyPath
from hockney.lab import Listener
from hockney.lab.finding import Finding
from hockney.models.applications.granularity import Algorithm

if TYPE_CHECKING:
    from typing_extensions import Unpack

NETWORKS = {"shared": True, "switch": False}


@with_run_keywords
def survey(
    *, out: AnyPath | None = None, listen: Listener | None = None, **options: Unpack[RunKeywords]
) -> Run:
    """Measure what message passing costs on this machine.

        run = hockney.survey(budget=30, ranks=2)

    `options` are the fields of `RunOptions`; `machine` is $HOCKNEY_MACHINE where neither is given. `out` is
    the run's folder, by default a new one in runs. Raises as `run` does.
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
    """Measure a study or cases, as behind `hockney run`.

        run = hockney.run("pingpong bytes=0:64KiB barrier", launches=5)

    `options` and `out` as for `survey`. Raises UsageError before anything is written, EnvironmentProblem
    where nothing can be launched. What was measured is kept then, and where it is interrupted: `resume`.
    """
    return measure.run(question, run_options(options, os.environ), out=out, listen=listen or log)


def resume(
    run: AnyPath | Run | None = None,
    *,
    budget: Quantity | None = None,
    mpi: AnyPath = "",
    machine: AnyPath = "",
    mpiexec_args: str = "",
    variables: Mapping[str, str] | Iterable[str] = (),
    listen: Listener | None = None,
) -> Run:
    """Measure what a run planned and does not have; by default the only unfinished one in runs.

    `budget` (s) is for all that is left; the others are used instead of the run's own. Raises as `run` does.
    """
    return measure.resume(
        find_runs.only_unfinished(listen or log).path if run is None else _path(run),
        budget=None if budget is None else _inside("budget", budget),
        mpi=os.fspath(mpi),
        machine=os.fspath(machine),
        mpiexec_args=mpiexec_args,
        variables=variable_words(variables),
        listen=listen or log,
    )


def open(run: AnyPath | None = None, *, cost: Cost = "typical", listen: Listener | None = None) -> Run:
    """A run that was measured before, by default the newest complete one in runs.

        run = hockney.open("runs/latest")

    Its models are those of the typical `cost` of each case, or of the undisturbed one. Raises UsageError
    where there is no run.
    """
    _check_cost(cost)
    return load(find_runs.newest_complete(listen or log).path if run is None else run, cost)


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
    cost: Cost | None = None,
    listen: Listener | None = None,
) -> Forecast:
    """Predict speed-up and efficiency of a parallel algorithm, and what would help it. Nothing is measured.

        hockney.predict(work=100e-6, message=40_000, serial=0.01, ranks=[2, 4, 8])

    One rank alone computes `work` seconds between two `exchanges`, the share `serial` of it cannot be
    divided; messages to the neighbours on a ring have `message` bytes; `imbalance` is the parallel work of
    the busiest rank over the mean. What messages cost is known from `run` (by default the newest survey in
    runs) or from a described `machine`; `network` shared or switch overrules the evidence. `cost` of a run
    is by default its own, or typical.

    Raises UsageError for what no algorithm or machine has, Inconclusive where nothing says what messages
    cost.
    """
    if network is not None and network not in NETWORKS:
        raise messages.unknown_network_word(network, NETWORKS)
    algorithm = Algorithm(
        quantities.seconds(work), quantities.size(message), quantities.share(serial), exchanges, imbalance
    )
    chosen: Cost = cost or (run.cost if isinstance(run, Run) else "typical")
    _check_cost(chosen)
    return forecast.predict(
        algorithm,
        ranks=quantities.counts(ranks),
        run=None if run is None else _path(run),
        machine=os.fspath(machine),
        shared=None if network is None else NETWORKS[network],
        cost=chosen,
        listen=listen or log,
    )


def verify(run: AnyPath | Run | None = None, *, listen: Listener | None = None) -> list[Finding]:
    """Whether the files of a run are what was written, complete, and right; by default of the newest one in
    runs. A finding's `verdict` is good, note or bad. Raises UsageError where there is no run."""
    return verification.verify(find_runs.newest_written(listen or log).path if run is None else _path(run))


def _path(run: AnyPath | Run) -> AnyPath:
    return run.path if isinstance(run, Run) else run


def _inside(name: str, seconds: Quantity) -> float:
    try:
        return quantities.seconds(seconds)
    except UsageError as error:
        raise error.inside(name) from error


def _check_cost(cost: str) -> None:
    if cost not in get_args(Cost):
        raise messages.unknown_cost_word(cost, get_args(Cost))
