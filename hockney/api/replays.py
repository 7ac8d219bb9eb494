# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Replay of the trace of a profiled program: predicted gains of changes, and agreement between executors."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import hockney
from hockney import measurement, report
from hockney.api.export import Library, frame
from hockney.api.judgements.history import archive_path
from hockney.api.notebook.log_events import log
from hockney.api.profile import Profile, load_profile
from hockney.api.programs import CommunicationSource, communication_source
from hockney.api.tables import Cell, Rows
from hockney.core.errors import Inconclusive, UsageError, printable, unknown
from hockney.core.fit import Cost, Estimate
from hockney.core.machine import Mpi, Traits
from hockney.core.paths import AnyPath, to_path
from hockney.core.wording import plural
from hockney.draw.page import Caveat, Page, Table
from hockney.machines import simulated
from hockney.machines.simulated.calibrate import CalibrationOptions, calibrate
from hockney.measurement import Listener, Status
from hockney.models.measured_costs import End
from hockney.models.statistics import estimate
from hockney.mpi import family_named
from hockney.pages.columns import columns_document
from hockney.profiles.efficiencies import MIN_LAUNCHES
from hockney.profiles.manifest import Manifest
from hockney.profiles.profile import Launch
from hockney.profiles.trace import PACKED, RAW, read_traces
from hockney.replay.answers import ExplainedRun, WhatIf
from hockney.replay.building import Placement, TraceGraph, build, job_from_launch
from hockney.replay.collectives import check_algorithms
from hockney.replay.executors import RECORDED, Execution, Replay, mean_in_mpi
from hockney.replay.graph import Graph, computed_by_rank
from hockney.replay.predictions import (
    SCORE_COLUMNS,
    Change,
    PredictedRun,
    Prediction,
    ScoreRow,
    TracedRun,
    freeze,
    read_scores,
    score_rows,
    scores_table,
)
from hockney.replay.pricing import Machine, make_machine
from hockney.replay.replayer import replay_on
from hockney.replay.scenarios import RequestedChanges, TracedProgram
from hockney.replay.tables import Answer, curve_rows, highest_latency
from hockney.replay.unexplained import unexplained_by_place
from hockney.store import RunFolder

if TYPE_CHECKING:
    from hockney.extrapolation.tables import ScalingAnswer

MAX_UNMATCHED = 3
TableName = Literal["changes", "critical_path", "delays", "ranks", "latency"]
"""Tables of a prediction."""


@dataclass(frozen=True)
class TracedLaunch:
    """A launch of a profile with the traces of all its ranks, as a graph."""

    profile: Profile
    launch: Launch
    trace_graph: TraceGraph

    @property
    def recorded_s(self) -> float:
        """Run time without the overhead of recording."""
        return float(np.max(self.trace_graph.end_s - self.trace_graph.recording_s, initial=0.0))

    @cached_property
    def launches_s(self) -> tuple[float, ...]:
        """Run times of all launches without the overhead of recording."""
        factor = self.recorded_s / self.launch.elapsed_s if self.launch.elapsed_s > 0 else 1.0
        return tuple(launch.elapsed_s * factor for launch in self.profile.recorded.launches)


def traced_run(profile: Profile, launch: Launch, recorded_s: float) -> TracedRun:
    """The run as a frozen prediction names it, with the SHA-256 of the files of its trace."""
    folder = profile.path / launch.entry.folder
    sha = hashlib.sha256()
    for path in sorted([*folder.glob(RAW), *folder.glob(PACKED)]):
        sha.update(path.name.encode() + b"\0" + path.read_bytes())
    return TracedRun(ranks=len(launch.ranks), recorded_s=recorded_s, sha256=sha.hexdigest())


class PredictionOfTraces(ABC):
    """A prediction for a traced program, of changes or of other numbers of ranks."""

    @property
    @abstractmethod
    def answer(self) -> Answer | ScalingAnswer:
        """The numbers, as tables, sentences and a document."""

    @property
    @abstractmethod
    def prediction(self) -> Prediction:
        """What `freeze` writes. Raises Inconclusive if there is no prediction, UsageError if there are
        several."""

    @property
    @abstractmethod
    def page(self) -> Page:
        """The report as data."""

    @property
    @abstractmethod
    def is_conclusive(self) -> bool:
        """Whether the traces allow a prediction."""

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        return self.answer.caveats

    @property
    def document(self) -> dict[str, Any]:
        """Document for programs, as printed by --json."""
        return self.answer.document

    def freeze(self, path: AnyPath) -> Path:
        """Write the prediction with a checksum of its content and return its path."""
        freeze(self.prediction, to_path(path))
        return to_path(path)

    def report(self, path: AnyPath) -> Path:
        """Write the page as one HTML file and return its path."""
        return report.write(self.page, to_path(path))

    def __repr__(self) -> str:
        return "\n".join(self.answer.sentences)


def frozen_prediction(
    manifest: Manifest,
    traces: Sequence[TracedRun],
    method: str,
    changes: Iterable[Change],
    runs: Iterable[PredictedRun],
    **others: Any,
) -> Prediction:
    """A prediction made now for the program of a profile."""
    return Prediction(
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        hockney=hockney.__version__,
        program=manifest.program,
        command=manifest.command,
        mpi=f"{family_named(manifest.mpi.family).title} {manifest.mpi.version}".strip(),
        traces=list(traces),
        method=method,
        changes=list(changes),
        runs=list(runs),
        **others,
    )


def traced_launch_of(profile: Profile) -> TracedLaunch:
    """Typical launch if it has a trace, otherwise the first one with a trace. Raises UsageError if there is
    none, EnvironmentProblem if the trace of a rank is missing."""
    recorded = profile.recorded
    for launch in (recorded.typical, *recorded.launches):
        traces = read_traces(launch)
        if traces:
            return TracedLaunch(profile, launch, build(traces, job_from_launch(launch)))
    raise UsageError(
        f"{printable(str(profile.path))} has no trace",
        "a profile without one knows sums of calls, but not their order",
        "profile the program with 'hockney profile --trace -- mpiexec ...'",
        code="profile-without-trace",
        path=str(profile.path),
    )


@dataclass(frozen=True, repr=False)
class TracePrediction(PredictionOfTraces):
    """Predicted gains of changes to a traced program. `asked` are changes made together; None means a table
    of all known changes. `latencies_s` is a range of latency added to every message."""

    traced: TracedLaunch
    situation: TracedProgram
    machine: str
    asked: RequestedChanges | None = None
    latencies_s: tuple[float, float] | None = None
    variables: Mapping[str, str] | None = None
    costs_caveats: tuple[Caveat, ...] = ()

    @cached_property
    def explained(self) -> ExplainedRun:
        return ExplainedRun(
            self.situation.unchanged_program,
            self.traced.recorded_s,
            self.traced.launches_s,
            self.situation.costs_only_program,
        )

    @property
    def withheld(self) -> bool:
        """Whether the prediction is withheld because the costs explain too little of the time. On another
        machine, calls have only that machine's costs."""
        return not self.explained.reliable and not (self.asked is not None and self.asked.machine)

    @cached_property
    def answer(self) -> Answer:
        explained, situation = self.explained, self.situation
        what_ifs: tuple[WhatIf, ...] = ()
        curve = None
        if not self.withheld:
            if self.asked is None:
                what_ifs = situation.predict_changes(explained, situation.standard_changes())
            elif self.asked.changes:
                what_ifs = (explained.predict_change(situation.candidate(self.asked, self.variables)),)
        if self.latencies_s is not None:
            program = situation.with_changes(self.asked or RequestedChanges())
            curve = program.evaluator.curve(program.latency, *self.latencies_s)
        recorded = self.traced.profile.recorded
        return Answer(
            recorded.manifest.program,
            self.traced.trace_graph.graph.ranks,
            self.machine,
            explained,
            what_ifs,
            explained.pop(situation.ideal_s),
            curve,
            self.asked is not None,
            tuple(self._caveats()),
            self.withheld,
        )

    def _caveats(self) -> Iterator[Caveat]:
        traced_graph = self.traced.trace_graph
        yield from self.costs_caveats
        if self.withheld:
            yield Caveat(
                "replay-error",
                self.explained.withheld_reason,
                "all predictions",
                "trace the program on an idle machine, or measure its costs again with 'hockney survey'",
            )
        if traced_graph.unmatched:
            unmatched = "; ".join(operation.text for operation in traced_graph.unmatched[:MAX_UNMATCHED])
            yield Caveat(
                "unmatched-operations",
                f"operations without a partner are left out: {unmatched}",
                "all predictions",
                "trace the whole program, with all its ranks",
            )
        if traced_graph.cut_s is not None:
            yield Caveat(
                "trace-cut",
                f"the trace ends before the program, after {traced_graph.cut_s:.3g} s",
                "all predictions, which are of this part",
                "trace with more space, or a shorter run",
            )
        if traced_graph.wildcards:
            yield Caveat(
                "wildcard-receives",
                f"{plural(traced_graph.wildcards, 'receive')} would take a message of any sender",
                "changes: other messages might come first",
                "'hockney replay' runs them on another executor",
            )
        if len(self.traced.launches_s) < MIN_LAUNCHES:
            yield Caveat(
                "few-launches",
                f"the profile has {plural(len(self.traced.launches_s), 'launch')}",
                "intervals of run times, which lack the differences between launches",
                "profile with --repeat 5",
            )

    @property
    def what_ifs(self) -> tuple[WhatIf, ...]:
        return self.answer.what_ifs

    @property
    def is_conclusive(self) -> bool:
        return not self.withheld

    @property
    def document(self) -> dict[str, Any]:
        return {"profile": printable(str(self.traced.profile.path)), **self.answer.document}

    @cached_property
    def prediction(self) -> Prediction:
        if self.latencies_s is not None:
            raise UsageError(
                "a range of latencies is no single prediction",
                "a check compares one run time",
                "give one latency, such as --latency 10us",
                code="freeze-of-range",
            )
        explained, recorded = self.explained, self.traced.profile.recorded
        if self.withheld:
            raise Inconclusive(
                "there is no prediction to freeze",
                explained.withheld_reason,
                "measure this machine's costs again with 'hockney survey'",
                code="prediction-withheld",
            )
        what_if = self.what_ifs[0] if self.asked is not None and self.what_ifs else None
        candidate = None if what_if is None else what_if.candidate
        trace = traced_run(self.traced.profile, self.traced.launch, explained.recorded_s)
        run_s = explained.run_s if what_if is None else what_if.run_s
        return frozen_prediction(
            recorded.manifest,
            [trace],
            explained.method if what_if is None else what_if.method,
            () if candidate is None else candidate.changes,
            [PredictedRun(ranks=trace.ranks, run_s=run_s)],
            unchanged_s=explained.run_s,
            ratio=Estimate(1.0, 1.0, 1.0) if what_if is None else what_if.ratio,
            choices=[] if candidate is None else list(candidate.choices),
            variables={} if candidate is None else dict(candidate.variables),
        )

    @cached_property
    def page(self) -> Page:
        curve = self.answer.curve or self.explained.curve(0.0, highest_latency(self.explained))
        return self.answer.page(curve)

    def table(self, name: TableName = "changes") -> Rows:
        """Return a table: `changes` with their gains, `critical_path` by call site, `delays` between ranks,
        `ranks`, or `latency`, the run time as a function of the latency added to each message, with all
        breakpoints."""
        return prediction_rows(self.answer, name)

    def frame(self, name: TableName = "changes", library: Library | None = None) -> Any:
        """Table as a DataFrame of pandas or polars, see `Run.frame`."""
        return frame(self.table(name), library)


def prediction_rows(answer: Answer, name: str) -> Rows:
    explained = answer.explained
    rows: dict[str, list[dict[str, Cell]]] = {
        "changes": [
            {
                "change": what_if.text,
                "run_s": what_if.run_s.value,
                "run_low_s": what_if.run_s.low,
                "run_high_s": what_if.run_s.high,
                "gain": what_if.gain.value,
                "gain_low": what_if.gain.low,
                "gain_high": what_if.gain.high,
                "decided": what_if.decided,
            }
            for what_if in answer.what_ifs
        ],
        "critical_path": [
            {"place": point.place, "seconds": point.seconds, **point.parts} for point in explained.path_rows()
        ],
        "delays": [
            {
                "place": delay.place,
                "kind": delay.kind,
                "by_rank": delay.by_rank,
                "by_place": delay.by_place,
                "count": delay.count,
                "seconds": delay.seconds,
            }
            for delay in explained.delays()
        ],
        "ranks": [
            {
                "rank": rank.rank,
                "on_path_s": rank.on_path_s,
                "slack_s": rank.slack_s,
                "delays_s": rank.delays_s,
            }
            for rank in explained.ranks()
        ],
        "latency": [
            {"latency_s": x, "run_s": run_s, "slope": slope} for x, run_s, slope in curve_rows(answer.curve)
        ],
    }
    if name not in rows:
        raise unknown("table of a prediction", name, list(rows), code="unknown-prediction-table")
    selected_rows = rows[name]
    return Rows.of(
        {key: [row[key] for row in selected_rows] for key in (selected_rows[0] if selected_rows else {})}
    )


def predict_trace(
    profile: AnyPath | Profile,
    *,
    algorithms: Mapping[str, str] | None = None,
    eager_limit: int | None = None,
    latency: float | tuple[float, float] | None = None,
    bandwidth: float | None = None,
    aggregate: bool = False,
    overlap: bool = False,
    balance: bool = False,
    no_noise: bool = False,
    machine: str = "",
    compute_scale: float | None = None,
    run: AnyPath | None = None,
    cost: Cost = "typical",
    listen: Listener | None = None,
) -> TracePrediction:
    """Predict the time of a traced program with changes, or without any a table of all known changes::

        hockney.predict_trace("runs/app")
        hockney.predict_trace("runs/app", algorithms={"allreduce": "best"}, latency=10e-6)

    `algorithms` maps operations to algorithms; "best" is the fastest known one. `latency` (s) is added to
    every message; a pair of latencies gives the run time between them. `bandwidth` is relative to the
    machine's. `machine` is the name of another machine or the folder of a survey of one, on which computation
    takes `compute_scale` times as long. If that survey ran on several hosts, each rank has its own host. The
    costs of the program's machine come from `run` (default: the profile's survey).

    Raises UsageError if there is no trace and for unknown algorithms and machines, Inconclusive if no run
    contains the cost of messages."""
    listen = log if listen is None else listen
    profile = profile if isinstance(profile, Profile) else load_profile(profile)
    listen(Status("reading the trace"))
    traced_launch = traced_launch_of(profile)
    ranks = traced_launch.trace_graph.graph.ranks
    survey = run if run is not None else profile.manifest.survey
    source = communication_source(survey, "", cost, listen, (ranks,), larger=False)
    other_machines = {}
    if machine:
        price = other_machine(machine, cost, listen, (ranks,))
        other_machines[machine] = price(traced_launch.trace_graph)
    low, high = latency if isinstance(latency, tuple) else (latency, latency)
    is_range = low != high
    changes = RequestedChanges(
        algorithms=check_algorithms(algorithms or {}),
        eager_limit=eager_limit,
        latency_s=None if is_range else low,
        bandwidth=bandwidth,
        aggregate=aggregate,
        overlap=overlap,
        balance=balance,
        no_noise=no_noise,
        machine=machine,
        compute_scale=compute_scale,
    )
    variables = None if eager_limit is None else eager_variables(profile, eager_limit)
    return TracePrediction(
        traced_launch,
        TracedProgram(
            traced_launch.trace_graph, machines_of(source, traced_launch.trace_graph), other_machines
        ),
        machine_text(source, survey),
        changes if changes.changes or is_range else None,
        (low, high) if is_range and low is not None and high is not None else None,
        variables,
    )


def other_machine(
    machine: str,
    cost: Cost,
    listen: Listener,
    counts: Sequence[int],
    *,
    larger: bool = False,
    ranks_per_node: int = 0,
) -> Callable[[TraceGraph], dict[End, Machine]]:
    """The costs between the ranks of a program on a described machine, or on the one of a survey's folder.
    If that ran on several hosts, each rank has its own host, unless it is given how many share one. Raises
    UsageError for an unknown machine, and unless it may be `larger`, if it is too small for these numbers of
    ranks."""
    ranks = tuple(counts)
    if not Path(machine).is_dir():
        source = communication_source(None, machine, cost, listen, ranks, larger=larger)
        return lambda trace_graph: machines_of(source, trace_graph)
    source = communication_source(machine, "", cost, listen, ranks, larger=True)
    if source.origin.hosts > 1:
        ranks_per_node = ranks_per_node or 1
    return lambda trace_graph: machines_of(source, with_ranks_per_node(trace_graph, ranks_per_node))


def with_ranks_per_node(trace_graph: TraceGraph, ranks_per_node: int) -> TraceGraph:
    """The program with so many ranks on each host, one host after the other (0: as it is)."""
    if not ranks_per_node:
        return trace_graph
    placement = Placement.from_hosts(np.arange(trace_graph.graph.ranks) // ranks_per_node)
    return replace(trace_graph, placement=placement)


def machines_of(source: CommunicationSource, trace_graph: TraceGraph) -> dict[End, Machine]:
    """Costs between the program's ranks for each bound of their intervals."""
    return {
        end: make_machine(costs, trace_graph.placement, source.fits) for end, costs in source.costs.items()
    }


def machine_text(source: CommunicationSource, survey: AnyPath | None) -> str:
    if survey is not None:
        return printable(str(survey))
    return source.origin.name or "this machine"


def eager_variables(profile: Profile, limit: int) -> dict[str, str]:
    """Environment variables that set the eager limit of the program's MPI. Raises UsageError if there are
    none."""
    mpi_used = profile.manifest.mpi
    family = family_named(mpi_used.family)
    mpi = Mpi(
        family=mpi_used.family, version=mpi_used.version, prefix="", mpicxx="", mpiexec="", source="path"
    )
    variables = family.eager_limit(mpi, limit)
    if not variables:
        raise UsageError(
            f"the eager limit of {family.title or 'this MPI'} cannot be set",
            "no variable for it is known",
            "leave it out",
            code="no-eager-limit",
            mpi=mpi_used.family,
        )
    return variables


@dataclass(frozen=True)
class Scores:
    """Record of checked predictions in an archive, with the number of unreadable lines."""

    path: Path
    rows: tuple[ScoreRow, ...]
    damaged: int

    @property
    def sentences(self) -> Iterator[str]:
        location = printable(str(self.path))
        if not self.rows:
            yield (
                f"No prediction was checked yet ({location}): 'hockney profile --check FILE -- mpiexec ...'."
            )
        else:
            total = self.rows[0]
            yield (
                f"{plural(total.checks, 'checked prediction')} in {location}: median "
                f"error {total.median:.1%}, {total.coverage:.0%} within "
                "their intervals."
            )
        if self.damaged:
            yield f"{plural(self.damaged, 'line')} of the record cannot be read."

    @property
    def table(self) -> Table:
        return scores_table(self.rows)

    @property
    def document(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "archive": printable(str(self.path)),
            "scores": columns_document(SCORE_COLUMNS, self.rows),
            "damaged_lines": self.damaged,
        }


def prediction_scores(archive: AnyPath | None = None) -> Scores:
    """Read the scores of checked predictions from the archive ($HOCKNEY_ARCHIVE, or history)."""
    path = archive_path(archive)
    scores, damaged_count = read_scores(path)
    return Scores(path, tuple(score_rows(scores)), damaged_count)


HERE, MODEL, SMPI = "here", "model", "smpi"
EXECUTORS = (MODEL, SMPI, "sim:NAME", "lan:NAME", HERE)
"""What can execute a trace again."""


def replay_trace(
    profile: AnyPath | Profile,
    on: Sequence[str] = (MODEL,),
    *,
    run: AnyPath | None = None,
    mpi: str = "",
    free_matching: bool = False,
    listen: Listener | None = None,
) -> Replay:
    """Run a traced program again. `on` lists executors, which all perform the same computation and
    communication. "model", which is always included, uses the costs of the survey `run` (default: the
    profile's). "smpi" is SimGrid on a machine calibrated from that survey. "sim:NAME" and "lan:NAME" are
    simulated and emulated machines. "here" is this machine, on which the replayer makes the calls with `mpi`.
    With `free_matching`, receives from any sender accept the first message that arrives.

    Raises UsageError if there is no trace or for an unknown executor, and the errors of measuring."""
    listen = log if listen is None else listen
    for name in on:
        if name not in (MODEL, SMPI, HERE) and not _is_executor(name):
            raise unknown("executor", name, EXECUTORS, code="unknown-executor")
    profile = profile if isinstance(profile, Profile) else load_profile(profile)
    listen(Status("reading the trace"))
    traced_launch = traced_launch_of(profile)
    trace_graph, graph = traced_launch.trace_graph, traced_launch.trace_graph.graph
    computed = computed_by_rank(graph)
    recorded = Execution(
        RECORDED,
        profile.recorded.typical.ranks[0].hostname,
        Estimate(traced_launch.recorded_s, None, None),
        mean_in_mpi(trace_graph.end_s - trace_graph.recording_s, computed),
        trace_graph.calls_s / max(1, graph.ranks),
    )
    survey = run if run is not None else profile.manifest.survey
    executions = [recorded]
    caveats = []
    try:
        source = communication_source(survey, "", "typical", listen, (graph.ranks,), larger=False)
        executions.append(
            _run_evaluator(MODEL, machine_text(source, survey), source, trace_graph, computed, recorded)
        )
    except Inconclusive as error:
        if MODEL in on:
            raise
        caveats.append(
            Caveat("no-model", error.what, "the comparison, which lacks the model", "run 'hockney survey'")
        )
    for name in dict.fromkeys(executor for executor in on if executor != MODEL):
        listen(Status(f"replaying on {name}"))
        if ":" in name and _traits(name).simulated:
            source = communication_source(None, name, "typical", listen, (graph.ranks,), larger=False)
            executions.append(_run_evaluator(f"{MODEL} of {name}", name, source, trace_graph, computed))
        executions.append(_run_replayer(name, graph, survey, mpi, free_matching, listen))
    return Replay(
        profile.manifest.program,
        graph.ranks,
        graph.places,
        tuple(executions),
        frozenset({MODEL, SMPI, HERE}),
        tuple(caveats),
    )


def _run_evaluator(
    name: str,
    machine: str,
    source: CommunicationSource,
    trace_graph: TraceGraph,
    computed: np.ndarray,
    recorded: Execution | None = None,
) -> Execution:
    """Execute with the evaluator. On the machine of the `recorded` run, the result includes the times of call
    sites, each under the assumption that earlier calls began as recorded."""
    situation = TracedProgram(trace_graph, machines_of(source, trace_graph))
    program, sites_s = situation.costs_only_program, None
    if recorded is not None and recorded.sites_s is not None and trace_graph.recorded_times is not None:
        sites_s = recorded.sites_s - unexplained_by_place(situation.graph) / max(1, trace_graph.graph.ranks)
    bounds = sorted(program.run_s.values())
    value = program.value_s
    interval = Estimate(value, bounds[0], bounds[-1]) if len(bounds) > 1 else Estimate(value, None, None)
    return Execution(name, machine, interval, mean_in_mpi(program.ends, computed), sites_s, program.method)


def _is_executor(name: str) -> bool:
    """Whether the name is that of another machine on which ranks can run."""
    if ":" not in name:
        return False
    traits = _traits(name)
    return traits.simulated or traits.emulated


def _traits(machine: str) -> Traits:
    """Traits of a machine. Raises UsageError for an unknown kind."""
    return measurement.kind_of(machine).TRAITS


def _run_replayer(
    name: str, graph: Graph, survey: AnyPath | None, mpi: str, free_matching: bool, listen: Listener
) -> Execution:
    """Execute with the replayer, which makes the calls."""
    # Operations of graphs are lower case, the replayer's have MPI's names.
    graph = replace(graph, operations=tuple(operation.capitalize() for operation in graph.operations))
    with contextlib.ExitStack() as stack:
        machine = {HERE: "", SMPI: ""}.get(name, name)
        if name == SMPI:
            machine = stack.enter_context(_calibrate_machine(survey))
        replayed = replay_on(graph, machine, mpi=mpi, free_matching=free_matching, listen=listen)
    substituted = replayed.steps.substitutions
    substituted_text = ", ".join(
        f"{plural(count, f'call of {operation}')}" for operation, count in sorted(substituted.items())
    )
    return Execution(
        name,
        name if ":" in name else replayed.machine.host,
        estimate(replayed.time_s, replayed.low_s, replayed.high_s),
        replayed.messages_s + replayed.collectives_s,
        replayed.places_s,
        f"in place of {substituted_text} the replayer calls others that move as much"
        if substituted_text
        else "",
    )


@contextlib.contextmanager
def _calibrate_machine(survey: AnyPath | None) -> Iterator[str]:
    """Calibrate a simulated machine from the survey."""
    if survey is None:
        raise UsageError(
            "a simulated machine like this one needs a survey",
            "the profile names none",
            "name a survey with --run, or a machine such as --on sim:t3e",
            code="replay-without-survey",
        )
    calibration_survey_, _ = measurement.calibration_survey(RunFolder.open(to_path(survey)))
    platform = calibrate(calibration_survey_, CalibrationOptions())
    with tempfile.TemporaryDirectory(prefix="hockney-") as folder:
        path = Path(folder) / "calibrated.toml"
        path.write_text(simulated.write(platform), encoding="utf-8")
        yield f"sim:{path}"
