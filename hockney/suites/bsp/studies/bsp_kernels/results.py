# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Each measured kernel, the times that the models predict for it, and the assumption that fails."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from hockney.pages.evidence import Evidence, MeasuredCase
from hockney.suites.bsp.models.costs import (
    REPAIRS,
    BaseModel,
    CostModel,
    CostTerms,
    Diagnosis,
    Repair,
    diagnose,
    fully_repaired_model,
    predict,
    relative_error,
)
from hockney.suites.bsp.models.parameters import BulkCosts, MissingParameter, machine_costs
from hockney.suites.bsp.models.programs import supersteps

ROLE = "bsp-kernel"
MODELS: Mapping[BaseModel, str] = {"bsp": "BSP", "bpram": "BPRAM"}


@dataclass(frozen=True)
class KernelPoint:
    """A kernel at one size, on `ranks` ranks, in one style. `terms_by_model` are the times (s) by the
    models of that style: the plain one, one with each single repair, and one with all repairs. Models with
    unmeasured parameters are left out."""

    measurement: MeasuredCase
    base: BaseModel
    terms_by_model: Mapping[str, CostTerms]
    diagnosis: Diagnosis | None

    @property
    def kernel(self) -> str:
        """The operation, such as "bitonic sort"."""
        return self.measurement.workload.operation

    @property
    def variant(self) -> str:
        """The style and route: "bsp", "bpram" or "bpram butterfly"."""
        route = self.measurement.case.get("route", "direct")
        return self.base if route == "direct" else f"{self.base} {route}"

    @property
    def ranks(self) -> int:
        return self.measurement.case.ranks

    @property
    def size(self) -> int:
        return int(self.measurement.size)

    @property
    def seconds(self) -> float:
        return self.measurement.summary.typical.value

    def time(self, model: str) -> float | None:
        terms = self.terms_by_model.get(model)
        return None if terms is None else terms.total

    def error(self, model: str) -> float | None:
        """(T_pred - T_meas) / T_meas."""
        time = self.time(model)
        return None if time is None else relative_error(time, self.seconds)

    @property
    def plain_error(self) -> float | None:
        return self.error(self.base)

    @property
    def repaired_error(self) -> float | None:
        return self.error(fully_repaired_model(self.base).name)


@dataclass(frozen=True)
class KernelResults:
    evidence: Evidence

    @classmethod
    def of(cls, evidence: Evidence) -> KernelResults:
        return evidence.cached(cls)

    @cached_property
    def points(self) -> tuple[KernelPoint, ...]:
        """The points by kernel, ranks, variant and size. Kernels in the style of MPI are left out, since no
        model describes them."""
        candidates = (self._kernel_point(measurement) for measurement in self.evidence.of_role(ROLE))
        points = [point for point in candidates if point is not None]
        return tuple(sorted(points, key=lambda p: (p.kernel, p.ranks, p.variant, p.size)))

    @property
    def bases(self) -> tuple[BaseModel, ...]:
        return tuple(dict.fromkeys(p.base for p in self.points))

    def _kernel_point(self, measurement: MeasuredCase) -> KernelPoint | None:
        steps = supersteps(measurement.workload.operation, measurement.case)
        if steps is None:
            return None
        base: BaseModel = "bsp" if measurement.case["style"] == "bsp" else "bpram"
        machine = self.costs(measurement.case.ranks)
        terms_by_model = {}
        for model in models_of(base):
            try:
                terms_by_model[model.name] = predict(steps, machine, model)
            except MissingParameter:
                continue
        diagnosis = diagnose(steps, machine, base, measurement.summary.typical.value)
        return KernelPoint(measurement, base, terms_by_model, diagnosis)

    def costs(self, ranks: int) -> BulkCosts:
        if ranks not in self._costs:
            self._costs[ranks] = machine_costs(self.evidence.fits, ranks)
        return self._costs[ranks]

    @cached_property
    def _costs(self) -> dict[int, BulkCosts]:
        return {}

    @property
    def kernels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.kernel for p in self.points))

    def of_kernel(self, kernel: str, **properties: object) -> tuple[KernelPoint, ...]:
        """The points of a kernel with these values of the named properties."""
        return tuple(
            p
            for p in self.points
            if p.kernel == kernel and all(getattr(p, name) == value for name, value in properties.items())
        )

    @property
    def failures(self) -> dict[tuple[str, BaseModel, Repair], list[KernelPoint]]:
        """The points at which an assumption fails, by kernel, model and repair."""
        failures: dict[tuple[str, BaseModel, Repair], list[KernelPoint]] = {}
        for p in self.points:
            if p.diagnosis is not None and p.diagnosis.repair is not None:
                failures.setdefault((p.kernel, p.base, p.diagnosis.repair), []).append(p)
        return failures


def models_of(base: BaseModel) -> list[CostModel]:
    """Returns the plain model, one with each single repair, and one with all repairs."""
    single_repair_models = [CostModel(base, frozenset({repair})) for repair in REPAIRS[base]]
    return [CostModel(base), *single_repair_models, fully_repaired_model(base)]


def median_error(points: Iterable[KernelPoint], model: str = "") -> float | None:
    """Returns the median absolute relative error of a model, by default of the repaired one of each point's
    style; None if nothing was predicted."""
    errors = [p.error(model or fully_repaired_model(p.base).name) for p in points]
    known_errors = [abs(error) for error in errors if error is not None]
    return median(known_errors) if known_errors else None
