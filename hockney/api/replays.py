# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Replay the trace of a profiled program: what changes would bring, and whether other executors agree."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

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
from hockney.profiles.efficiencies import FEWEST_LAUNCHES
from hockney.profiles.profile import Launch
from hockney.profiles.trace import PACKED, RAW, read_traces
from hockney.replay.answers import ExplainedRun, WhatIf
from hockney.replay.building import Placement, TraceGraph, build, job_from_launch
from hockney.replay.collectives import check_algorithms
from hockney.replay.executors import RECORDED, Execution, Replay, mean_in_mpi
from hockney.replay.graph import Graph, computed_by_rank
from hockney.replay.predictions import (
    SCORE_COLUMNS,
    Prediction,
    ScoreRow,
    freeze,
    read_scores,
    score_rows,
    scores_table,
)
from hockney.replay.pricing import Machine, machine_of
from hockney.replay.replayer import replay_on
from hockney.replay.scenarios import NEGLIGIBLE, RequestedChanges, TracedProgram
from hockney.replay.tables import Answer, curve_rows, highest_latency
from hockney.replay.unexplained import unexplained_by_place
from hockney.store import RunFolder

MOST_UNMATCHED = 3
TableName = Literal["changes", "critical_path", "delays", "ranks", "latency"]
"""Tables of a prediction."""


@dataclass(frozen=True)
class TracedLaunch:
    """A profile's launch with the traces of all its ranks, as a graph."""

    profile: Profile
    launch: Launch
    built: TraceGraph

    @property
    def recorded_s(self) -> float:
        """Of the run, without what recording added."""
        return float(np.max(self.built.end_s - self.built.recording_s, initial=0.0))

    @cached_property
    def launches_s(self) -> tuple[float, ...]:
        """The run times of all launches, likewise."""
        factor = self.recorded_s / self.launch.elapsed_s if self.launch.elapsed_s > 0 else 1.0
        return tuple(launch.elapsed_s * factor for launch in self.profile.recorded.launches)

    @cached_property
    def checksum(self) -> str:
        """The SHA-256 of the files of the trace."""
        folder = self.profile.path / self.launch.entry.folder
        sha = hashlib.sha256()
        for path in sorted([*folder.glob(RAW), *folder.glob(PACKED)]):
            sha.update(path.name.encode() + b"\0" + path.read_bytes())
        return sha.hexdigest()


def traced(profile: Profile) -> TracedLaunch:
    """The typical launch if it has a trace, or the first one that has. Raises UsageError if there is none,
    EnvironmentProblem if a rank has none."""
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
class TracePrediction:
    """What changes would bring for a traced program. `asked` are those that are made together, None for a
    table of all that are known; `latencies_s` is a range of latency added to every message."""

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
            self.situation.unchanged,
            self.traced.recorded_s,
            self.traced.launches_s,
            self.situation.costs_only,
        )

    @property
    def withheld(self) -> bool:
        """Whether the costs explain too little. On another machine the calls have its costs alone."""
        return not self.explained.reliable and not (self.asked is not None and self.asked.machine)

    @cached_property
    def answer(self) -> Answer:
        explained, situation = self.explained, self.situation
        what_ifs: tuple[WhatIf, ...] = ()
        curve = None
        if not self.withheld:
            if self.asked is None:
                found = (explained.what_if(situation.candidate(each)) for each in situation.usual())
                useful = (each for each in found if abs(each.gain.value) > NEGLIGIBLE)
                what_ifs = tuple(sorted(useful, key=lambda each: (-each.gain.value, each.text)))
            elif self.asked.changes:
                what_ifs = (explained.what_if(situation.candidate(self.asked, self.variables)),)
        if self.latencies_s is not None:
            program = situation.with_changes(self.asked or RequestedChanges())
            curve = program.evaluator.curve(program.latency, *self.latencies_s)
        recorded = self.traced.profile.recorded
        return Answer(
            recorded.manifest.program,
            self.traced.built.graph.ranks,
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
        built = self.traced.built
        yield from self.costs_caveats
        if self.withheld:
            yield Caveat(
                "replay-error",
                self.explained.why_withheld,
                "all predictions",
                "trace the program on an idle machine, or measure its costs again with 'hockney survey'",
            )
        if built.unmatched:
            some = "; ".join(each.text for each in built.unmatched[:MOST_UNMATCHED])
            yield Caveat(
                "unmatched-operations",
                f"operations without a partner are left out: {some}",
                "all predictions",
                "trace the whole program, with all its ranks",
            )
        if built.cut_s is not None:
            yield Caveat(
                "trace-cut",
                f"the trace ends before the program, after {built.cut_s:.3g} s",
                "all predictions, which are of this part",
                "trace with more space, or a shorter run",
            )
        if built.wildcards:
            yield Caveat(
                "wildcard-receives",
                f"{plural(built.wildcards, 'receive')} would take a message of any sender",
                "changes: other messages might come first",
                "'hockney replay' runs them on another executor",
            )
        if len(self.traced.launches_s) < FEWEST_LAUNCHES:
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
    def caveats(self) -> tuple[Caveat, ...]:
        return self.answer.caveats

    @cached_property
    def document(self) -> dict[str, Any]:
        """Everything for programs, as --json prints it."""
        return {"profile": printable(str(self.traced.profile.path)), **self.answer.document}

    @cached_property
    def prediction(self) -> Prediction:
        """The prediction as it is frozen. Raises Inconclusive if it is withheld, UsageError for a range."""
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
                explained.why_withheld,
                "measure this machine's costs again with 'hockney survey'",
                code="prediction-withheld",
            )
        asked = self.what_ifs[0] if self.asked is not None and self.what_ifs else None
        manifest = recorded.manifest
        candidate = None if asked is None else asked.candidate
        return Prediction(
            created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            hockney=hockney.__version__,
            program=manifest.program,
            command=manifest.command,
            mpi=f"{family_named(manifest.mpi.family).title} {manifest.mpi.version}".strip(),
            ranks=self.traced.built.graph.ranks,
            trace=self.traced.checksum,
            method=explained.method if asked is None else asked.method,
            changes=[] if candidate is None else list(candidate.changes),
            recorded_s=explained.recorded_s,
            run_s=explained.run_s,
            changed_s=explained.run_s if asked is None else asked.run_s,
            ratio=Estimate(1.0, 1.0, 1.0) if asked is None else asked.ratio,
            choices=[] if candidate is None else list(candidate.choices),
            variables={} if candidate is None else dict(candidate.variables),
        )

    def freeze(self, path: AnyPath) -> Path:
        """Write the prediction, with the checksum of its content. Returns its path."""
        freeze(self.prediction, to_path(path))
        return to_path(path)

    @cached_property
    def page(self) -> Page:
        """The report as data."""
        curve = self.answer.curve or self.explained.curve(0.0, highest_latency(self.explained))
        return self.answer.page(curve)

    def report(self, path: AnyPath) -> Path:
        """Write the page as one HTML file. Returns its path."""
        return report.write(self.page, to_path(path))

    def table(self, name: TableName = "changes") -> Rows:
        """`changes` with their gains; `critical_path` by call site; `delays`: who delays whom; `ranks`;
        `latency`: the run time over the latency added to each message, with all breakpoints."""
        return prediction_rows(self.answer, name)

    def frame(self, name: TableName = "changes", library: Library | None = None) -> Any:
        """A table as a DataFrame of pandas or polars, see `Run.frame`."""
        return frame(self.table(name), library)

    def __repr__(self) -> str:
        return "\n".join(self.answer.sentences)


def prediction_rows(answer: Answer, name: str) -> Rows:
    explained = answer.explained
    rows: dict[str, list[dict[str, Cell]]] = {
        "changes": [
            {
                "change": w.text,
                "run_s": w.run_s.value, "run_low_s": w.run_s.low, "run_high_s": w.run_s.high,
                "gain": w.gain.value, "gain_low": w.gain.low, "gain_high": w.gain.high, "decided": w.decided,
            }
            for w in answer.what_ifs
        ],
        "critical_path": [
            {"place": p.place, "seconds": p.seconds, **p.parts} for p in explained.path_rows()
        ],
        "delays": [
            {
                "place": d.place, "kind": d.kind, "by_rank": d.by_rank, "by_place": d.by_place,
                "count": d.count, "seconds": d.seconds,
            }
            for d in explained.delays()
        ],
        "ranks": [
            {"rank": r.rank, "on_path_s": r.on_path_s, "slack_s": r.slack_s, "delays_s": r.delays_s}
            for r in explained.ranks()
        ],
        "latency": [
            {"latency_s": x, "run_s": run_s, "slope": slope} for x, run_s, slope in curve_rows(answer.curve)
        ],
    }  # fmt: skip
    if name not in rows:
        raise unknown("table of a prediction", name, list(rows), code="unknown-prediction-table")
    found = rows[name]
    return Rows.of({key: [row[key] for row in found] for key in (found[0] if found else {})})


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
    """How long a traced program would take with changes: without any, a table of all that are known::

        hockney.predict_trace("runs/app")
        hockney.predict_trace("runs/app", algorithms={"allreduce": "best"}, latency=10e-6)

    `algorithms` are by operation, "best" is the fastest known one; `latency` (s) is added to every message, a
    pair of latencies gives the run time between them; `bandwidth` is relative to the machine's. `machine`
    names another machine, on which computation takes `compute_scale` times as long, or is the folder of a
    survey of one, on which each rank has a host if the survey ran on several. The costs of the machine
    on which the program ran are those of `run`, by default of the profile's survey.

    Raises UsageError if there is no trace, for unknown algorithms and machines; Inconclusive if no run has
    the cost of messages."""
    listen = log if listen is None else listen
    profile = profile if isinstance(profile, Profile) else load_profile(profile)
    listen(Status("reading the trace"))
    found = traced(profile)
    ranks = found.built.graph.ranks
    survey = run if run is not None else profile.manifest.survey
    source = communication_source(survey, "", cost, listen, (ranks,), larger=False)
    others = {}
    if machine:
        others[machine] = _other_machine(machine, cost, listen, found.built)
    low, high = latency if isinstance(latency, tuple) else (latency, latency)
    is_range = low != high
    asked = RequestedChanges(
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
        found,
        TracedProgram(found.built, machines_of(source, found.built), others),
        machine_text(source, survey),
        asked if asked.changes or is_range else None,
        (low, high) if is_range and low is not None and high is not None else None,
        variables,
    )


def _other_machine(machine: str, cost: Cost, listen: Listener, built: TraceGraph) -> dict[End, Machine]:
    ranks = built.graph.ranks
    if not Path(machine).is_dir():
        return machines_of(communication_source(None, machine, cost, listen, (ranks,), larger=False), built)
    source = communication_source(machine, "", cost, listen, (ranks,), larger=False)
    if source.origin.hosts > 1:
        built = replace(built, placement=Placement.from_hosts(np.arange(ranks)))
    return machines_of(source, built)


def machines_of(source: CommunicationSource, built: TraceGraph) -> dict[End, Machine]:
    """The costs between the program's ranks, by the end of their intervals."""
    return {end: machine_of(costs, built.placement, source.fits) for end, costs in source.costs.items()}


def machine_text(source: CommunicationSource, survey: AnyPath | None) -> str:
    if survey is not None:
        return printable(str(survey))
    return source.origin.name or "this machine"


def eager_variables(profile: Profile, limit: int) -> dict[str, str]:
    """The variables that set the eager limit of the program's MPI. Raises UsageError if it has none."""
    used = profile.manifest.mpi
    family = family_named(used.family)
    mpi = Mpi(family=used.family, version=used.version, prefix="", mpicxx="", mpiexec="", source="path")
    variables = family.eager_limit(mpi, limit)
    if not variables:
        raise UsageError(
            f"the eager limit of {family.title or 'this MPI'} cannot be set",
            "no variable for it is known",
            "leave it out",
            code="no-eager-limit",
            mpi=used.family,
        )
    return variables


@dataclass(frozen=True)
class Scores:
    """The record of checked predictions in an archive, and the number of its lines that cannot be read."""

    path: Path
    rows: tuple[ScoreRow, ...]
    damaged: int

    @property
    def sentences(self) -> Iterator[str]:
        where = printable(str(self.path))
        if not self.rows:
            yield f"No prediction was checked yet ({where}): 'hockney profile --check FILE -- mpiexec ...'."
        else:
            one = self.rows[0]
            yield (
                f"{plural(one.checks, 'checked prediction')} in {where}: median error {one.median:.1%}, "
                f"{one.coverage:.0%} within their intervals."
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
    """How well checked predictions did, from the archive ($HOCKNEY_ARCHIVE, or history)."""
    path = archive_path(archive)
    scores, damaged = read_scores(path)
    return Scores(path, tuple(score_rows(scores)), damaged)


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
    """Run a traced program again: `on` are executors, each of which makes the same computation and
    communication. "model", which is always there, has the costs of the survey `run`, by default the
    profile's; "smpi" is SimGrid on a machine that is calibrated from that survey; "sim:NAME" and "lan:NAME"
    are simulated and emulated machines, and "here" is this one, on which the replayer makes the calls with
    `mpi`. With `free_matching`, receives from any sender take the first message that comes.

    Raises UsageError if there is no trace or no such executor, and the errors of measuring."""
    listen = log if listen is None else listen
    for name in on:
        if name not in (MODEL, SMPI, HERE) and not _is_executor(name):
            raise unknown("executor", name, EXECUTORS, code="unknown-executor")
    profile = profile if isinstance(profile, Profile) else load_profile(profile)
    listen(Status("reading the trace"))
    found = traced(profile)
    built, graph = found.built, found.built.graph
    computed = computed_by_rank(graph)
    recorded = Execution(
        RECORDED,
        profile.recorded.typical.ranks[0].hostname,
        Estimate(found.recorded_s, None, None),
        mean_in_mpi(built.end_s - built.recording_s, computed),
        built.calls_s / max(1, graph.ranks),
    )
    survey = run if run is not None else profile.manifest.survey
    executions = [recorded]
    caveats = []
    try:
        source = communication_source(survey, "", "typical", listen, (graph.ranks,), larger=False)
        executions.append(_evaluated(MODEL, machine_text(source, survey), source, built, computed, recorded))
    except Inconclusive as error:
        if MODEL in on:
            raise
        caveats.append(
            Caveat("no-model", error.what, "the comparison, which lacks the model", "run 'hockney survey'")
        )
    for name in dict.fromkeys(each for each in on if each != MODEL):
        listen(Status(f"replaying on {name}"))
        if ":" in name and _traits(name).simulated:
            source = communication_source(None, name, "typical", listen, (graph.ranks,), larger=False)
            executions.append(_evaluated(f"{MODEL} of {name}", name, source, built, computed))
        executions.append(_replayed(name, graph, survey, mpi, free_matching, listen))
    return Replay(
        profile.manifest.program,
        graph.ranks,
        graph.places,
        tuple(executions),
        frozenset({MODEL, SMPI, HERE}),
        tuple(caveats),
    )


def _evaluated(
    name: str,
    machine: str,
    source: CommunicationSource,
    built: TraceGraph,
    computed: np.ndarray,
    recorded: Execution | None = None,
) -> Execution:
    """By the evaluator. On the machine of the `recorded` run it has the times of call sites, each if the
    calls before began when recorded."""
    situation = TracedProgram(built, machines_of(source, built))
    program, sites_s = situation.costs_only, None
    if recorded is not None and recorded.sites_s is not None and built.recorded_times is not None:
        sites_s = recorded.sites_s - unexplained_by_place(situation.graph) / max(1, built.graph.ranks)
    bounds = sorted(program.run_s.values())
    value = program.value_s
    interval = Estimate(value, bounds[0], bounds[-1]) if len(bounds) > 1 else Estimate(value, None, None)
    return Execution(name, machine, interval, mean_in_mpi(program.ends, computed), sites_s, program.method)


def _is_executor(name: str) -> bool:
    """Whether it is a machine on which ranks run, other than this one."""
    if ":" not in name:
        return False
    traits = _traits(name)
    return traits.simulated or traits.emulated


def _traits(machine: str) -> Traits:
    """Raises UsageError for an unknown kind of machine."""
    return measurement.kind_of(machine).TRAITS


def _replayed(
    name: str, graph: Graph, survey: AnyPath | None, mpi: str, free_matching: bool, listen: Listener
) -> Execution:
    """By the replayer, which makes the calls."""
    # Operations of graphs are lower case, the replayer's have MPI's names.
    graph = replace(graph, operations=tuple(each.capitalize() for each in graph.operations))
    with contextlib.ExitStack() as stack:
        machine = {HERE: "", SMPI: ""}.get(name, name)
        if name == SMPI:
            machine = stack.enter_context(_calibrated(survey))
        done = replay_on(graph, machine, mpi=mpi, free_matching=free_matching, listen=listen)
    left = done.steps.substituted
    other = ", ".join(f"{plural(count, f'call of {each}')}" for each, count in sorted(left.items()))
    return Execution(
        name,
        name if ":" in name else done.machine.host,
        estimate(done.time_s, done.low_s, done.high_s),
        done.messages_s + done.collectives_s,
        done.places_s,
        f"in place of {other} the replayer calls others that move as much" if other else "",
    )


@contextlib.contextmanager
def _calibrated(survey: AnyPath | None) -> Iterator[str]:
    """A simulated machine like the surveyed one."""
    if survey is None:
        raise UsageError(
            "a simulated machine like this one needs a survey",
            "the profile names none",
            "name a survey with --run, or a machine such as --on sim:t3e",
            code="replay-without-survey",
        )
    real, _ = measurement.calibration_survey(RunFolder.open(to_path(survey)))
    platform = calibrate(real, CalibrationOptions())
    with tempfile.TemporaryDirectory(prefix="hockney-") as folder:
        path = Path(folder) / "calibrated.toml"
        path.write_text(simulated.write(platform), encoding="utf-8")
        yield f"sim:{path}"
