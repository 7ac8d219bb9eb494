# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predict how a traced program scales: its run time on numbers of ranks on which it was not traced."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hockney.api.export import Library, frame
from hockney.api.memory_rates import MEASURE, find_rates, rates_of_machine
from hockney.api.notebook.log_events import log
from hockney.api.profile import Profile, load_profile
from hockney.api.programs import communication_source
from hockney.api.replays import (
    PredictionOfTraces,
    frozen_prediction,
    machine_text,
    machines_of,
    other_machine,
    traced_run,
    with_ranks_per_node,
)
from hockney.api.tables import Rows
from hockney.core.errors import Inconclusive, UsageError, printable
from hockney.core.fit import Cost
from hockney.core.paths import AnyPath
from hockney.core.wording import join_words, option, plural
from hockney.draw.page import Caveat, Page
from hockney.extrapolation.answers import MachineScaling
from hockney.extrapolation.bodies import later_iterations
from hockney.extrapolation.computation import ComputationModel, fit_computation
from hockney.extrapolation.memory import MemoryModel, memory_model
from hockney.extrapolation.observations import CallKinds, ObservedRun, observe, without_polls
from hockney.extrapolation.region_laws import Scaling
from hockney.extrapolation.scaling import (
    Price,
    ScalingPoint,
    SiteShare,
    check_largest_run,
    scaling_point,
    unknown_sites,
)
from hockney.extrapolation.search import find_structure
from hockney.extrapolation.structure import MIN_RUNS, Structure
from hockney.extrapolation.tables import ScalingAnswer
from hockney.measurement import Listener, Status
from hockney.profiles.profile import Launch
from hockney.profiles.trace import read_traces
from hockney.replay.building import job_from_launch
from hockney.replay.predictions import Change, PredictedRun, Prediction, TracedRun
from hockney.replay.scenarios import RequestedChanges

MAX_UNKNOWN = 0.05
"""With a larger share of the time or of the calls at call sites without a pattern there is no prediction."""
MAX_STRONG_EXPONENT, MIN_WEAK_EXPONENT = -0.25, -0.5
"""Beyond these exponents of the computation of a rank, runs show the other kind of scaling."""


@dataclass(frozen=True, repr=False)
class ScalingPrediction(PredictionOfTraces):
    """How a traced program scales. `points` has the run times, speed-ups and efficiencies, of one machine
    after the other. `profiles` are the runs from which it is predicted, `changes` what differs from these."""

    result: ScalingAnswer
    profiles: tuple[TracedProfile, ...]
    changes: tuple[Change, ...]

    @property
    def answer(self) -> ScalingAnswer:
        return self.result

    @property
    def points(self) -> tuple[ScalingPoint, ...]:
        return self.answer.points

    @property
    def machines(self) -> tuple[MachineScaling, ...]:
        """The points by machine, with break-even, limits and the gains of changes."""
        return self.answer.machines

    @property
    def refused(self) -> bool:
        """Whether the program's structure on more ranks is not known."""
        return bool(self.answer.refused)

    @property
    def is_conclusive(self) -> bool:
        return not self.refused

    @property
    def unknown_sites(self) -> tuple[SiteShare, ...]:
        """The call sites without a pattern over the number of ranks, with their share of the time."""
        return self.answer.unknown_sites

    @cached_property
    def prediction(self) -> Prediction:
        if self.refused:
            raise Inconclusive(
                "there is no prediction to freeze",
                self.answer.refused,
                "trace the program on more numbers of ranks",
                code="scaling-withheld",
            )
        if len(self.machines) > 1:
            raise UsageError(
                "predictions for several machines cannot be frozen together",
                "a check compares the run times of one machine",
                "name one machine",
                code="freeze-of-machines",
            )
        return frozen_prediction(
            self.profiles[0].profile.manifest,
            [each.as_frozen for each in self.profiles],
            self.points[0].program.costs_only_program.method,
            self.changes,
            [PredictedRun(ranks=point.ranks, run_s=point.run_s) for point in self.points],
        )

    @cached_property
    def page(self) -> Page:
        return self.answer.page()

    def table(self) -> Rows:
        """The machines and numbers of ranks with run time (s), speed-up and efficiency, each with its
        interval."""
        names = [machine.machine for machine in self.machines for _ in machine.points]
        columns: dict[str, list[str | float | int | None]] = {
            "machine": [*names],
            "ranks": [point.ranks for point in self.points],
        }
        for name in ("run_s", "speed_up", "efficiency"):
            estimates = [getattr(point, name) for point in self.points]
            columns[name] = [each.value for each in estimates]
            columns[f"{name}_low"] = [each.low for each in estimates]
            columns[f"{name}_high"] = [each.high for each in estimates]
        for name in ("load_balance", "serialisation", "transfer"):
            columns[name] = [getattr(point.pop, name) for point in self.points]
        return Rows.of(columns)

    def frame(self, library: Library | None = None) -> Any:
        """The table as a DataFrame of pandas or polars, see `Run.frame`."""
        return frame(self.table(), library)


@dataclass(frozen=True)
class TracedProfile:
    """A launch of a profile with complete traces of all ranks."""

    profile: Profile
    launch: Launch
    observed: ObservedRun

    @property
    def as_frozen(self) -> TracedRun:
        return traced_run(self.profile, self.launch, self.launch.elapsed_s)


def predict_scaling(
    profiles: Sequence[AnyPath | Profile],
    ranks: Sequence[int],
    *,
    scaling: Scaling = "strong",
    machine: str | Sequence[str] = (),
    larger: bool = False,
    ranks_per_node: int = 0,
    compute_scale: float | None = None,
    run: AnyPath | None = None,
    memory: AnyPath | None = None,
    cost: Cost = "typical",
    details: bool = True,
    listen: Listener | None = None,
) -> ScalingPrediction:
    """How long a traced program takes on other numbers of ranks::

        hockney.predict_scaling(["runs/app-2", "runs/app-4", "runs/app-8"], [16, 64], machine="sim:t3e")

    `profiles` are traces on at least three numbers of ranks. Those whose ranks shared cores count for the
    structure of the communication; at least one must have had a core for each rank, for the time of
    computation. `scaling` is "strong" if all solve the same problem, "weak" if each rank's part is the same.
    Computation takes `compute_scale` times as long as traced. `machine` is the name of a described machine
    or the folder of a survey of one, or several of these, which are compared; with `larger`, described
    machines have a core for each rank. Without any, the costs of messages are those of `run`, by default the
    newest survey. On machines of surveys, `ranks_per_node` ranks share a node, by default all of them, or
    one if the survey named as `machine` ran on several hosts. `memory` is a run of node_memory on one and
    several ranks of a node of the traced machine, by default the newest one: its rates show how computation
    changes with the number of busy cores. Further profiles on one of the numbers of ranks, with other
    numbers of busy cores, show how much it changes. `details`: also what limits the fastest number of ranks,
    and what would help there.

    Raises UsageError for too few runs, for runs of different programs and for unknown machines; Inconclusive
    if traces do not show what ranks of a larger run do. A program without a pattern is `refused`."""
    listen = log if listen is None else listen
    machines = tuple(dict.fromkeys([machine] if isinstance(machine, str) else machine))
    counts = sorted(set(ranks))
    loaded = [each if isinstance(each, Profile) else load_profile(each) for each in profiles]
    _check(loaded, counts)
    survey = run if run is not None else loaded[0].manifest.survey
    prices = _prices(tuple(filter(None, machines)), survey, cost, listen, counts, larger, ranks_per_node)
    rates = {name: rates_of_machine(name, cost) if name in machines else None for name in prices}
    traced_rates = find_rates(memory, cost, listen) or next(filter(None, rates.values()), None)
    kinds = CallKinds()
    traced = []
    for profile in loaded:
        listen(Status(f"reading the trace on {plural(len(profile.recorded.typical.ranks), 'rank')}"))
        traced.append(_traced(profile, kinds))
    traced, again = _first_on_each(traced)
    observed = without_polls([each.observed for each in traced], kinds)
    listen(Status("comparing the runs"))
    structure = find_structure(observed, kinds)
    runs = list(structure.runs.values())
    check_largest_run(structure)
    points: dict[str, list[ScalingPoint]] = {name: [] for name in prices}
    omitted: list[Caveat] = []
    computation: ComputationModel | None = None
    used: MemoryModel | None = None
    sites = unknown_sites(structure)
    refused = _refusal(structure)
    if not refused:
        dims_of = structure.arrangement.dims
        if traced_rates is not None:
            used = memory_model(runs, [each.observed for each in again], traced_rates, dims_of, scaling)
        computation = fit_computation(
            runs,
            dims_of,
            scaling,
            later_iterations(structure),
            structure.features,
            (lambda run: 1.0) if used is None else used.alone,
        )
        for count in counts:
            listen(Status(f"evaluating {plural(count, 'rank')}"))
            known = list(structure.misfits)
            try:
                dims = structure.arrangement.of(count)
                made = [
                    scaling_point(
                        structure, computation, count, dims, price, compute_scale or 1.0, used, rates[name]
                    )
                    for name, price in prices.items()
                ]
            except Inconclusive as error:
                if count == counts[-1] and not any(points.values()):
                    raise
                omitted.append(_omission(count, error.what, error.remedy))
                continue
            sites = unknown_sites(structure)
            reason = _refusal(structure)
            if reason:
                # Other numbers of ranks may have partners that this one lacks.
                structure.misfits[:] = known
                omitted.append(_omission(count, reason, "predict other numbers of ranks"))
                refused = "" if any(points.values()) else reason
                continue
            refused = ""
            for of_machine, point in zip(points.values(), made, strict=True):
                of_machine.append(point)
        if not refused:
            sites = unknown_sites(structure)
    caveats = (
        [] if refused or computation is None else [*omitted, *_caveats(structure, points, computation, used)]
    )
    if computation is not None and not refused:
        caveats += _scaling_caveat(computation)
    answer = ScalingAnswer(
        loaded[0].manifest.program,
        scaling,
        tuple(each.ranks for each in runs),
        () if computation is None else computation.runs,
        tuple(MachineScaling(name, tuple(of_machine), details) for name, of_machine in points.items()),
        sites,
        refused,
        tuple(caveats),
        used,
    )
    changes = [
        Change(kind="number of ranks", text=f"{scaling} scaling"),
        *(RequestedChanges(machine=", ".join(machines), compute_scale=compute_scale).changes),
    ]
    return ScalingPrediction(answer, (*traced, *again), tuple(changes))


def _omission(count: int, reason: str, remedy: str) -> Caveat:
    return Caveat(
        "ranks-left-out",
        f"there is no prediction for {plural(count, 'rank')}: {reason}",
        "the table, which lacks them",
        remedy,
    )


def _prices(
    machines: tuple[str, ...],
    survey: AnyPath | None,
    cost: Cost,
    listen: Listener,
    counts: Sequence[int],
    larger: bool,
    ranks_per_node: int,
) -> dict[str, Price]:
    """The costs between the ranks of a program, by name of the machine."""
    if not machines:
        source = communication_source(survey, "", cost, listen, tuple(counts), larger=True)
        return {
            machine_text(source, survey): lambda built: machines_of(
                source, with_ranks_per_node(built, ranks_per_node)
            )
        }
    described = [name for name in machines if ranks_per_node and not Path(name).is_dir()]
    if described:
        raise UsageError(
            f"{option('ranks_per_node', ranks_per_node)} does not apply to {printable(described[0])}",
            "its description tells how many cores its nodes have, and ranks fill them",
            "change the nodes in its file",
            code="ranks-per-described-node",
            option="ranks_per_node",
        )
    try:
        return {
            name: other_machine(name, cost, listen, counts, larger=larger, ranks_per_node=ranks_per_node)
            for name in machines
        }
    except UsageError as error:
        if error.code == "too-many-ranks":
            error.remedy += f"; {option('larger', True)} predicts a larger machine of this kind"
        raise


def _names_for_any_ranks(profile: Profile) -> set[str]:
    """The program's name, and without the number of ranks, for which some programs are compiled ("bt.S.16").
    A digit of the name may be this number as well ("fft2d")."""
    name, ranks = Path(profile.manifest.program).name, len(profile.recorded.typical.ranks)
    numbers = re.finditer(rf"(?<![0-9]){ranks}(?![0-9])", name)
    return {name, *(name[: number.start()] + name[number.end() :] for number in numbers)}


def _check(profiles: Sequence[Profile], counts: Sequence[int]) -> None:
    if not counts or counts[0] < 2:
        raise UsageError(
            f"there is no prediction for {plural(min(counts, default=0), 'rank')}",
            "ranks have to exchange messages, and speed-ups are relative to one rank anyway",
            f"use for example {option('ranks', '2:64')}",
            code="scaling-to-no-ranks",
            ranks=list(counts),
        )
    programs = {Path(each.manifest.program).name for each in profiles}
    if profiles and not set.intersection(*map(_names_for_any_ranks, profiles)):
        raise UsageError(
            f"the profiles are of different programs: {join_words(sorted(programs))}",
            "only runs of one program show how it scales",
            "name profiles of one program",
            code="different-programs",
        )
    counts = [len(each.recorded.typical.ranks) for each in profiles]
    if len(set(counts)) < MIN_RUNS:
        raise UsageError(
            f"the profiles are on {join_words(sorted(set(counts)))} ranks",
            f"a prediction for more ranks needs traces on at least {MIN_RUNS} numbers of ranks",
            "trace the program on more numbers of ranks; they may share cores",
            code="few-rank-counts",
            ranks=sorted(set(counts)),
        )


def _first_on_each(traced: Sequence[TracedProfile]) -> tuple[list[TracedProfile], list[TracedProfile]]:
    """A profile for each number of ranks, in their order, and the others, which kept other numbers of cores
    busy. Those whose ranks did not share cores come first, of these the ones with the most busy cores."""
    ordered = sorted(
        traced, key=lambda each: (each.observed.ranks, each.observed.crowded, -each.observed.busy_cores)
    )
    first = {each.observed.ranks: each for each in reversed(ordered)}
    others = [each for each in ordered if each is not first[each.observed.ranks]]
    kept = {(each.observed.ranks, each.observed.busy_cores) for each in ordered}
    if len(kept) < len(ordered):
        twice = sorted({each.observed.ranks for each in others})
        raise UsageError(
            f"several profiles are on {join_words(twice)} ranks",
            "one profile is used for each number of ranks and of busy cores of a node",
            "leave all but one out",
            code="repeated-rank-count",
            ranks=twice,
        )
    return list(first.values())[::-1], others


def _traced(profile: Profile, kinds: CallKinds) -> TracedProfile:
    recorded = profile.recorded
    for launch in (recorded.typical, *recorded.launches):
        traces = read_traces(launch)
        if len(traces) == len(launch.ranks) and all(each.complete for each in traces):
            observed = observe(
                traces,
                job_from_launch(launch),
                kinds,
                crowded=recorded.oversubscribed,
                elapsed_s=launch.elapsed_s,
                launches_s=tuple(each.elapsed_s for each in recorded.launches),
                cores=recorded.cores,
            )
            return TracedProfile(profile, launch, observed)
    raise UsageError(
        f"{printable(str(profile.path))} has no complete trace",
        "a prediction for more ranks needs the calls of all ranks, from begin to end",
        "profile the program with 'hockney profile --trace -- mpiexec ...'",
        code="incomplete-trace",
        path=str(profile.path),
    )


def _refusal(structure: Structure) -> str:
    """Why there is no prediction; empty if there is one."""
    sites = unknown_sites(structure)
    time, calls = sum(each.share for each in sites), sum(each.calls for each in sites)
    if max(time, calls) <= MAX_UNKNOWN:
        return ""
    worst = sites[0]
    amount = f"{time:.0%} of the time is in" if time >= calls else f"{calls:.0%} of the calls are at"
    return f"{amount} call sites without a pattern, such as {worst.site}: {worst.reason}"


def _scaling_caveat(computation: ComputationModel) -> Iterator[Caveat]:
    """A warning if runs show the other kind of scaling: by the exponent of the computation of a rank over the
    number of ranks, which is -1 or 0."""
    computed, scaling = computation.totals, computation.scaling
    if len(computed) < 2 or min(computed.values()) <= 0:
        return
    first, last = min(computed), max(computed)
    exponent = math.log(computed[last] / computed[first]) / math.log(last / first)
    other = "weak" if scaling == "strong" else "strong"
    if (exponent > MAX_STRONG_EXPONENT) if scaling == "strong" else (exponent < MIN_WEAK_EXPONENT):
        yield Caveat(
            "other-scaling",
            f"a rank computes {computed[last] / computed[first]:.2g} times as long on {last} ranks as on "
            f"{first}, which looks like {other} scaling",
            "all predictions, which assume that it is "
            + ("the same problem" if scaling == "strong" else "the same part of the problem for each rank"),
            f"add {option('scaling', other)} if that is what was traced",
        )


def _named_grid(structure: Structure) -> str:
    """The names of the sizes of the grid in laws."""
    dimensions = len(next(iter(structure.arrangement.dims.values())))
    return f" in a grid of {' by '.join('xyz'[:dimensions])}" if dimensions > 1 else ""


def _caveats(
    structure: Structure,
    points: Mapping[str, Sequence[ScalingPoint]],
    computation: ComputationModel,
    memory: MemoryModel | None,
) -> Iterator[Caveat]:
    made = [point for of_machine in points.values() for point in of_machine]
    if rough := structure.rough_sizes():
        yield Caveat(
            "rough-sizes",
            f"the sizes of messages at {plural(len(rough), 'call site')} follow their laws only within "
            f"{max(rough.values()):.0%}, which the intervals contain",
            "all run times",
            "trace the program on more numbers of ranks, or with a larger problem",
        )
    for loop in structure.rough_loops:
        numbers = ", ".join(f"{count} on {ranks}" for ranks, count in sorted(loop.iterations.items()))
        yield Caveat(
            "rough-iterations",
            f"the number of iterations of the loop with {loop.site} follows no law: {numbers} ranks; the "
            f"last one is used, with an error of {loop.error:.1%}",
            "all run times; their intervals contain the error",
            "let the program make a fixed number of iterations",
        )
    ambiguous = [point for point in made if point.ambiguous]
    if ambiguous:
        yield Caveat(
            "ambiguous-law",
            f"the number of iterations of a loop may be {ambiguous[-1].ambiguous} on P ranks"
            f"{_named_grid(structure)}: the traced runs agree with both, and the run time on "
            f"{plural(ambiguous[-1].ranks, 'rank')} depends on it",
            "its interval, which contains both",
            "trace the program on more numbers of ranks; they may share cores",
        )
    assumed = sorted({point.ranks for point in made if structure.arrangement.is_assumed(point.ranks)})
    if assumed:
        largest = assumed[-1]
        grid = " x ".join(map(str, structure.arrangement.of(largest)))
        yield Caveat(
            "assumed-grid",
            f"the traced grids follow no rule; {largest} ranks are assumed to be arranged as {grid}",
            "all predictions",
            "trace numbers of ranks that the program arranges alike",
        )
    sites = unknown_sites(structure)
    if sites:
        yield Caveat(
            "sites-without-pattern",
            f"{plural(len(sites), 'call site')} without pattern ({sum(each.share for each in sites):.1%} of "
            "the time) stay as in the largest run",
            "all predictions",
            "trace the program on more numbers of ranks",
        )

    if len(computation.runs) == 1:
        yield Caveat(
            "assumed-scaling",
            f"only the run on {plural(computation.runs[0], 'rank')} had a core for each rank, so that its "
            f"computation is assumed to scale as stated ({computation.scaling})",
            "all run times",
            "trace the program on other numbers of ranks, at most one for each core",
        )
    most = max((point.ranks_on_a_node for point in made), default=0)
    if memory is None and 0 < computation.busy_cores < most:
        yield Caveat(
            "memory-shared-by-more-ranks",
            f"up to {plural(most, 'rank')} share the memory of a node, but computation was recorded on "
            f"{plural(computation.busy_cores, 'core')} of a host",
            "run times of programs that are limited by the bandwidth of memory, which take longer",
            f"measure the rates of memory with '{MEASURE}', with one rank and with up to all cores",
        )
    if computation.counted:
        yield Caveat(
            "counted-computation",
            f"of the runs on {join_words([str(each) for each in computation.counted])} ranks, the "
            "processor time or the instructions between calls are used, as the time contains other programs",
            "all run times, if the program waits outside of MPI, as for files or devices",
            "",
        )
    error = computation.totals_by_place.error_at(max(computation.runs))
    if error > 0.1:
        yield Caveat(
            "computation-without-law",
            f"computation differs by {error:.0%} from its law, {computation.total.text}",
            "all run times",
            "trace the program on more numbers of ranks, at most one for each core",
        )
