# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Declaration of models: the roles of the workloads they explain, and the parameters that are their
variables.

    @explains("collective", "barrier", free=(SIZE, RANKS))
    def fit_collective_forms(observations, subject, scope) -> list[Fit]: ...

Cases of a workload that differ only in the free parameters form one subject. `fit_all` applies all models
declared by modules of this folder to the records of a run."""

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
from hockney.models.fits.verdict import add_caveat
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
    """Restricts all fits of a run. If ranks share a core, times measure the scheduler, so fits over ranks
    omit rank counts above `cores`; None omits none."""

    cores: int | None = None

    @property
    def ranks_allowed(self) -> range | None:
        return None if self.cores is None else range(1, self.cores + 1)


MakeFits = Callable[[Sequence[Observation], Subject, Scope], list[Fit]]


@dataclass(frozen=True)
class Model:
    """`free` parameters vary within a subject. Observations with a role in `together_with` join every subject
    with which they agree in all common parameters except the free ones. Fits are listed by `order`, then by
    the name of the function. With `in_pieces`, the cost may be piecewise in size, so sizes may be refined
    around changes."""

    roles: tuple[str, ...]
    free: tuple[str, ...]
    together_with: tuple[str, ...]
    order: int
    in_pieces: bool
    make: MakeFits

    def subjects(self, observations: Sequence[Observation]) -> dict[Subject, list[Observation]]:
        """Observations of each subject, in order of first appearance."""
        groups: dict[Subject, list[Observation]] = {}
        for observation in observations:
            if observation.role in self.roles:
                groups.setdefault(Subject.of(observation.case, self._free(observation)), []).append(
                    observation
                )
        if self.together_with:
            joining_observations = [
                candidate for candidate in observations if candidate.role in self.together_with
            ]
            for subject, group in groups.items():
                group += [candidate for candidate in joining_observations if self._agrees(candidate, subject)]
        return groups

    def fits(self, observations: Sequence[Observation], scope: Scope) -> list[Fit]:
        """Fit each subject. Fits to launches in two modes get a caveat."""
        all_fits = []
        for subject, group in self.subjects(observations).items():
            subject_fits = self.make(group, subject, scope)
            modes = (
                find_launch_modes(group) if any(fit.verdict != "refused" for fit in subject_fits) else None
            )
            all_fits += (
                subject_fits if modes is None else [_with_modes_caveat(fit, modes) for fit in subject_fits]
            )
        return all_fits

    def _free(self, observation: Observation) -> tuple[str, ...]:
        return tuple(observation.workload.size if name == SIZE else name for name in self.free)

    def _agrees(self, observation: Observation, subject: Subject) -> bool:
        if any(observation.case.get(name) != subject.get(name) for name in LAUNCH_PARAMETERS):
            return False
        free = self._free(observation)
        fixed_parameters = ((k, value) for k, value in observation.case.values.items() if k not in free)
        return all(subject.get(k, value) == value for k, value in fixed_parameters)


def _with_modes_caveat(fit: Fit, modes: LaunchModes) -> Fit:
    if fit.verdict == "refused":
        return fit
    observation = modes.case
    size = observation.size if observation.workload.size_unit == "B" else None
    return add_caveat(
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
) -> Callable[[MakeFits], Model]:
    """Register a function as the model of workloads with these roles."""
    return lambda make: Model(roles, free, together_with, order, in_pieces, make)


def ranges_of(observations: Sequence[Observation], *, ranks: bool = False) -> dict[str, tuple[float, float]]:
    """Range of the sizes of the cases, by the name of the size parameter, if the workload has a size. With
    `ranks`, also the range of their rank counts."""
    ranges: dict[str, tuple[float, float]] = {}
    if name := observations[0].workload.size:
        sizes = [float(observation.size) for observation in observations]
        ranges[name] = min(sizes), max(sizes)
    if ranks:
        counts = [float(observation.case.ranks) for observation in observations]
        ranges[RANKS] = min(counts), max(counts)
    return ranges


@cache
def all_models() -> tuple[Model, ...]:
    """All models in the order in which their fits are listed."""
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
    """Summarise all cases and fit all subjects to the cases' `cost`, in order of first appearance.

    Cases with a launch setting are summarised but not fitted: the fits describe the machine without settings.
    `catalog` contains the role of each workload; for `cores` see `Scope`. `times` computes a launch's typical
    time and may cache it.
    """
    observations = observe(run, catalog, compute_times=times)
    fitted_observations = select_cost([seen for seen in observations if not seen.case.setting], cost)
    workloads = dict.fromkeys(observation.case.workload for observation in observations)
    return Fits(
        schema=SCHEMA,
        summaries=summarise_observations(observations),
        fits=[fit for model in all_models() for fit in model.fits(fitted_observations, Scope(cores))],
        workloads=[catalog.entry(name) for name in workloads],
        cost=cost,
    )
