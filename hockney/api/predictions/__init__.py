# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predicted times of kernels. Each module in this package (all come from suites) defines OPTIONS, kernels and
predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError
from hockney.core.fit import Cost
from hockney.core.paths import AnyPath
from hockney.core.plugins import plugins
from hockney.draw.page import Caveat, Table
from hockney.measurement import Listener, ignore_event
from hockney.system.bundled import bundled_workloads


@dataclass(frozen=True)
class KernelOptions:
    """`ranks` are numbers of ranks (default: chosen by the predictor). Costs and rates come from the folder
    `run` or from the description of `machine`. `rate` is the number of operations per second of a rank. With
    `larger`, ranks do not share cores."""

    ranks: tuple[int, ...] = ()
    run: AnyPath | None = None
    machine: str = ""
    rate: float = 0.0
    larger: bool = False
    cost: Cost = "typical"
    listen: Listener = ignore_event


@dataclass(frozen=True)
class PredictedKernel:
    """Sentences and tables in display order, and a document for programs."""

    shown: tuple[str | Table, ...]
    caveats: tuple[Caveat, ...]
    document: dict[str, Any]


class Predictor(Protocol):
    """Predicts the kernels of a suite. `OPTIONS` contains those of "machine", "rate" and "larger" that
    apply."""

    OPTIONS: tuple[str, ...]

    def kernels(self, catalog: Catalog) -> Sequence[str]:
        """Names of the workloads that can be predicted."""

    def predict(self, text: str, options: KernelOptions) -> PredictedKernel:
        """Predict the case `text`, which does not name ranks. Nothing is measured. Raises UsageError for a
        case that cannot be predicted, Inconclusive if no run contains the necessary data."""


def predictor_of(text: str) -> Predictor:
    """Find the predictor for the kernel of a case. Raises UsageError if there is none."""
    catalog = kernel_catalog()
    name = catalog.workload(text.split(" ", 1)[0]).name
    predictors: list[Predictor] = list(plugins(__name__, "OPTIONS", "kernels", "predict"))
    for predictor in predictors:
        if name in predictor.kernels(catalog):
            return predictor
    kernels = [kernel for predictor in predictors for kernel in predictor.kernels(catalog)]
    raise UsageError(
        f"{name} is not a kernel",
        "only kernels state their work and messages",
        f"available: {', '.join(kernels)}",
        code="not-a-kernel",
        kernels=kernels,
    )


def kernel_catalog() -> Catalog:
    """Catalog of the workloads of all bundled executables."""
    return Catalog(schema=1, engine="", workloads=list(bundled_workloads().values()))
