# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""All models that can be fitted to the records of a run: from each module here that declares one."""

from __future__ import annotations

from functools import cache

from hockney.core.catalog import Catalog
from hockney.core.fit import Cost, Fits
from hockney.core.plugins import plugins
from hockney.core.record import SCHEMA, RunRecords
from hockney.models import fits
from hockney.models.fits.model import Model, Scope
from hockney.models.statistics import Times, launch_times, observe, select_cost, summaries


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
    times: Times = launch_times,
) -> Fits:
    """Summaries of all cases and fits of all subjects to the cases' `cost`, in the order first written.

    Cases with a launch setting are summarised, and not fitted: the fits describe the machine as it is.
    `catalog` says which role each workload has; `cores` see `Scope`;
    `times` computes, or remembers, a launch's typical time.
    """
    observations = observe(run, catalog, times=times)
    fitted = select_cost([seen for seen in observations if not seen.case.setting], cost)
    workloads = dict.fromkeys(observation.case.workload for observation in observations)
    return Fits(
        schema=SCHEMA,
        summaries=summaries(observations),
        fits=[fit for model in all_models() for fit in model.fits(fitted, Scope(cores))],
        workloads=[catalog.entry(name) for name in workloads],
        cost=cost,
    )
