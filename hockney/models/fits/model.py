# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How a model declares what it explains: the roles of workloads, and the parameters that are its variables.

    @explains("collective", "barrier", free=(SIZE, RANKS))
    def fit_collective_forms(observations, subject, scope) -> list[Fit]: ...

Cases of a workload that differ only in the free parameters form one subject. `fit_all` applies all models,
those that some module of this folder declares, to the records of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from hockney.core.case import LAUNCH_PARAMETERS
from hockney.core.catalog import Catalog
from hockney.core.fit import Cost, Fit, Fits, Subject
from hockney.core.plugins import plugins
from hockney.core.record import SCHEMA, RunRecords
from hockney.models import fits
from hockney.models.fits import caveats
from hockney.models.fits.verdict import doubted
from hockney.models.statistics import (
    ComputeTimes,
    LaunchModes,
    Observation,
    find_launch_modes,
    launch_times,
    observe,
    select_cost,
    summarise_observations,
)

SIZE = "SIZE"
"""Placeholder for the parameter that is the workload's size, whatever its name."""

RANKS = "ranks"


@dataclass(frozen=True)
class Scope:
    """Restricts all fits of a run. `cores`: if ranks share a core, times measure the scheduler, so fits over
    ranks leave out larger rank counts; None leaves none out."""

    cores: int | None = None

    @property
    def ranks_allowed(self) -> range | None:
        return None if self.cores is None else range(1, self.cores + 1)


Make = Callable[[Sequence[Observation], Subject, Scope], list[Fit]]


@dataclass(frozen=True)
class Model:
    """`free` are the parameters that vary in a subject. Observations whose role is in `together_with` join
    every subject with which they agree in all common parameters except the free ones. Fits are listed by
    `order`, then by the name of the function. With `in_pieces` the cost may be piecewise in size, so that
    sizes may be refined around changes."""

    roles: tuple[str, ...]
    free: tuple[str, ...]
    together_with: tuple[str, ...]
    order: int
    in_pieces: bool
    make: Make

    def subjects(self, observations: Sequence[Observation]) -> dict[Subject, list[Observation]]:
        """The observations of each subject, in order of first appearance."""
        groups: dict[Subject, list[Observation]] = {}
        for observation in observations:
            if observation.role in self.roles:
                groups.setdefault(Subject.of(observation.case, self._free(observation)), []).append(
                    observation
                )
        if self.together_with:
            joining = [o for o in observations if o.role in self.together_with]
            for subject, group in groups.items():
                group += [o for o in joining if self._agrees(o, subject)]
        return groups

    def fits(self, observations: Sequence[Observation], scope: Scope) -> list[Fit]:
        """Every fit to launches in two modes has a caveat."""
        found = []
        for subject, group in self.subjects(observations).items():
            made = self.make(group, subject, scope)
            modes = find_launch_modes(group) if any(fit.verdict != "refused" for fit in made) else None
            found += made if modes is None else [_in_modes(fit, modes) for fit in made]
        return found

    def _free(self, observation: Observation) -> tuple[str, ...]:
        return tuple(observation.workload.size if name == SIZE else name for name in self.free)

    def _agrees(self, observation: Observation, subject: Subject) -> bool:
        if any(observation.case.get(name) != subject.get(name) for name in LAUNCH_PARAMETERS):
            return False
        free = self._free(observation)
        fixed = ((k, v) for k, v in observation.case.values.items() if k not in free)
        return all(subject.get(k, v) == v for k, v in fixed)


def _in_modes(fit: Fit, modes: LaunchModes) -> Fit:
    if fit.verdict == "refused":
        return fit
    seen = modes.case
    size = seen.size if seen.workload.size_unit == "B" else None
    return doubted(
        fit,
        caveats.launches_in_two_modes(
            modes.fast_s, modes.slow_s, modes.fast_launches, modes.slow_launches, size
        ),
    )


def explains(
    *roles: str,
    free: tuple[str, ...],
    together_with: tuple[str, ...] = (),
    order: int = 100,
    in_pieces: bool = False,
) -> Callable[[Make], Model]:
    """Registers a function as the model of workloads with these roles."""
    return lambda make: Model(roles, free, together_with, order, in_pieces, make)


def ranges_of(observations: Sequence[Observation], *, ranks: bool = False) -> dict[str, tuple[float, float]]:
    """The smallest and the largest size of the cases, by the name of the size parameter, if the workload has
    a size; with `ranks` their numbers of ranks too."""
    ranges: dict[str, tuple[float, float]] = {}
    if name := observations[0].workload.size:
        sizes = [float(each.size) for each in observations]
        ranges[name] = min(sizes), max(sizes)
    if ranks:
        counts = [float(each.case.ranks) for each in observations]
        ranges[RANKS] = min(counts), max(counts)
    return ranges


@cache
def all_models() -> tuple[Model, ...]:
    """Every model, in the order in which their fits are listed."""
    modules = plugins(fits.__name__)
    models = {model for module in modules for model in vars(module).values() if isinstance(model, Model)}
    return tuple(sorted(models, key=lambda model: (model.order, model.make.__name__)))


def fit_all(
    run: RunRecords,
    catalog: Catalog,
    *,
    cores: int | None,
    cost: Cost = "typical",
    times: ComputeTimes = launch_times,
) -> Fits:
    """Summaries of all cases and fits of all subjects to the cases' `cost`, in the order first written.

    Cases with a launch setting are summarised, and not fitted: the fits describe the machine as it is.
    `catalog` says which role each workload has; `cores` see `Scope`;
    `times` computes, or remembers, a launch's typical time.
    """
    observations = observe(run, catalog, compute_times=times)
    fitted = select_cost([seen for seen in observations if not seen.case.setting], cost)
    workloads = dict.fromkeys(observation.case.workload for observation in observations)
    return Fits(
        schema=SCHEMA,
        summaries=summarise_observations(observations),
        fits=[fit for model in all_models() for fit in model.fits(fitted, Scope(cores))],
        workloads=[catalog.entry(name) for name in workloads],
        cost=cost,
    )
