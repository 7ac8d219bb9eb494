# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predict how a traced program scales: its run time on numbers of ranks on which it was not traced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hockney import report
from hockney.api.export import Library, frame
from hockney.api.notebook.log_events import log
from hockney.api.profile import Profile, load_profile
from hockney.api.programs import communication_source
from hockney.api.replays import machine_text, machines_of
from hockney.api.tables import Rows
from hockney.core.errors import Inconclusive, UsageError, printable
from hockney.core.fit import Cost
from hockney.core.paths import AnyPath, to_path
from hockney.core.wording import join_words, plural
from hockney.draw.page import Caveat, Page
from hockney.extrapolation.computation import ComputationModel, Scaling, fit_computation
from hockney.extrapolation.observations import CallKinds, ObservedRun, observe
from hockney.extrapolation.scaling import (
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
from hockney.profiles.trace import read_traces
from hockney.replay.building import job_from_launch

MAX_UNKNOWN = 0.05
"""With a larger share of the time or of the calls at call sites without a pattern there is no prediction."""


@dataclass(frozen=True, repr=False)
class ScalingPrediction:
    """How a traced program scales. `points` has the run times, speed-ups and efficiencies."""

    answer: ScalingAnswer

    @property
    def points(self) -> tuple[ScalingPoint, ...]:
        return self.answer.points

    @property
    def refused(self) -> bool:
        """Whether the program's structure on more ranks is not known."""
        return bool(self.answer.refused)

    @property
    def unknown_sites(self) -> tuple[SiteShare, ...]:
        """The call sites without a pattern over the number of ranks, with their share of the time."""
        return self.answer.unknown_sites

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        return self.answer.caveats

    @cached_property
    def document(self) -> dict[str, Any]:
        """Everything for programs, as --json prints it."""
        return self.answer.document

    @cached_property
    def page(self) -> Page:
        """The report as data."""
        return self.answer.page()

    def report(self, path: AnyPath) -> Path:
        """Write the page as one HTML file. Returns its path."""
        return report.write(self.page, to_path(path))

    def table(self) -> Rows:
        """The numbers of ranks with run time (s), speed-up and efficiency, each with its interval."""
        columns: dict[str, list[float | int | None]] = {"ranks": [point.ranks for point in self.points]}
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

    def __repr__(self) -> str:
        return "\n".join(self.answer.sentences)


def predict_scaling(
    profiles: Sequence[AnyPath | Profile],
    ranks: Sequence[int],
    *,
    scaling: Scaling = "strong",
    machine: str = "",
    compute_scale: float = 1.0,
    run: AnyPath | None = None,
    cost: Cost = "typical",
    details: bool = True,
    listen: Listener | None = None,
) -> ScalingPrediction:
    """How long a traced program takes on other numbers of ranks::

    hockney.predict_scaling(["runs/app-2", "runs/app-4", "runs/app-8"], [16, 64], machine="sim:t3e")

    `profiles` are traces on at least three numbers of ranks. Those whose ranks shared cores count for the
    structure of the communication; at least one must have had a core for each rank, for the time of
    computation. `scaling` is "strong" if all solve the same problem, "weak" if each rank's part is the same.
    Computation takes `compute_scale` times as long on `machine`, a described one; without it, the costs of
    messages are those of `run`, by default the newest survey. `details`: also what limits the fastest number
    of ranks, and what would help there.

    Raises UsageError for too few runs, for runs of different programs and for unknown machines; Inconclusive
    if traces do not show what ranks of a larger run do. A program without a pattern is `refused`."""
    listen = log if listen is None else listen
    loaded = [each if isinstance(each, Profile) else load_profile(each) for each in profiles]
    counts = sorted(set(ranks))
    _check(loaded)
    kinds = CallKinds()
    runs = []
    for profile in loaded:
        listen(Status(f"reading the trace on {plural(len(profile.recorded.typical.ranks), 'rank')}"))
        runs.append(_observed(profile, kinds))
    runs.sort(key=lambda each: each.ranks)
    listen(Status("comparing the runs"))
    structure = find_structure(runs, kinds)
    check_largest_run(structure)
    survey = run if run is not None else loaded[0].manifest.survey
    source = communication_source(
        None if machine else survey, machine, cost, listen, tuple(counts), larger=not machine
    )
    name = machine or machine_text(source, survey)
    points: list[ScalingPoint] = []
    omitted: list[Caveat] = []
    computation: ComputationModel | None = None
    refused = _refusal(structure)
    if not refused:
        computation = fit_computation(runs, structure.arrangement.dims, scaling)
        for count in counts:
            listen(Status(f"evaluating {plural(count, 'rank')}"))
            dims = structure.arrangement.of(count)
            try:
                points.append(
                    scaling_point(
                        structure,
                        computation,
                        count,
                        dims,
                        lambda built: machines_of(source, built),
                        compute_scale,
                    )
                )
            except Inconclusive as error:
                if count == counts[-1] and not points:
                    raise
                omitted.append(
                    Caveat(
                        "ranks-left-out",
                        f"there is no prediction for {plural(count, 'rank')}: {error.what}",
                        "the table, which lacks them",
                        error.remedy,
                    )
                )
            refused = _refusal(structure)
            if refused:
                points = []
                break
    caveats = [] if refused or computation is None else [*omitted, *_caveats(structure, counts, computation)]
    answer = ScalingAnswer(
        loaded[0].manifest.program,
        name,
        scaling,
        tuple(each.ranks for each in runs),
        () if computation is None else computation.runs,
        tuple(points),
        unknown_sites(structure),
        refused,
        tuple(caveats),
        details,
    )
    return ScalingPrediction(answer)


def _check(profiles: Sequence[Profile]) -> None:
    programs = {Path(each.manifest.program).name for each in profiles}
    if len(programs) > 1:
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
    if len(set(counts)) < len(counts):
        twice = sorted({each for each in counts if counts.count(each) > 1})
        raise UsageError(
            f"several profiles are on {join_words(twice)} ranks",
            "one profile is used for each number of ranks",
            "leave all but one out",
            code="repeated-rank-count",
            ranks=twice,
        )


def _observed(profile: Profile, kinds: CallKinds) -> ObservedRun:
    recorded = profile.recorded
    for launch in (recorded.typical, *recorded.launches):
        traces = read_traces(launch)
        if len(traces) == len(launch.ranks) and all(each.complete for each in traces):
            return observe(
                traces,
                job_from_launch(launch),
                kinds,
                crowded=recorded.oversubscribed,
                elapsed_s=launch.elapsed_s,
            )
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


def _caveats(structure: Structure, counts: Sequence[int], computation: ComputationModel) -> Iterator[Caveat]:
    assumed = [each for each in counts if structure.arrangement.is_assumed(each)]
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
    if computation.total.error > 0.1:
        yield Caveat(
            "computation-without-law",
            f"computation differs by {computation.total.error:.0%} from its law, "
            f"{computation.total.basis.text}",
            "all run times",
            "trace the program on more numbers of ranks, at most one for each core",
        )
