# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Fitted models of a run as functions of their variables."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from hockney.api.export import Library, frame
from hockney.api.notebook.keywords import Quantities, Quantity, quantity_text, read_counts, read_sizes
from hockney.api.tables import Cell, Rows
from hockney.core.case import Value, format_value, parse_canonical
from hockney.core.catalog import Catalog, Workload
from hockney.core.errors import Inconclusive, UsageError, printable, unknown
from hockney.core.fit import Fit, FitCaveat, Fits, TimeEstimate
from hockney.core.units import format_size, not_a_count, parse_bytes, parse_counts, parse_seconds
from hockney.core.units import format_value as value_with_unit
from hockney.core.wording import join_words, list_names, plural
from hockney.models.fitted_time import fitted_time

RANKS = "ranks"


@dataclass(frozen=True)
class FittedModel:
    """A fitted model. `model(bytes=40_000)`, or `model("40kB")` if it has a single variable, predicts a time
    in seconds with its 95% interval.

    `fit` contains the parameters, the verdict and its reasons. `bound` contains the variables with fixed
    values; the others are keyword arguments of a call.
    """

    fit: Fit
    workload: Workload
    bound: Mapping[str, float] = field(default_factory=dict)

    @property
    def variables(self) -> dict[str, tuple[float, float]]:
        """Variables that a call needs, with the range in which the model was fitted."""
        return {name: bounds for name, bounds in self.fit.ranges.items() if name not in self.bound}

    def __call__(self, *positional: Quantity, **values: Quantity) -> TimeEstimate:
        """Predict a time. A single variable may be passed by position. Raises UsageError for missing, unknown
        or ambiguous variables, Inconclusive outside the fitted range."""
        if positional:
            if len(positional) > 1 or len(self.variables) != 1:
                count = len(positional)
                names = list(self.variables)
                raise UsageError(
                    f"the model of {printable(self.fit.line)} was given {plural(count, 'value')} without a "
                    "name",
                    f"its variables are {list_names(list(names))}" if names else "it has no variables",
                    f"use for example model({', '.join(f'{name}=8' for name in names)})",
                    code="variables-without-names",
                    names=list(names),
                    given=count,
                )
            (name,) = self.variables
            if name in values:
                raise UsageError(
                    f"{printable(name)} is given twice",
                    "the value without a name is that variable's",
                    "omit one",
                    code="model-variable-twice",
                    name=name,
                )
            values[name] = positional[0]
        self._check_names(values)
        missing = [name for name in self.variables if name not in values]
        if missing:
            raise UsageError(
                f"the model of {printable(self.fit.line)} needs {list_names(list(missing))}",
                "",
                f"use for example model({', '.join(f'{name}=8' for name in missing)})",
                code="variables-missing",
                names=list(missing),
            )
        time = fitted_time(
            self.fit, {**self.bound, **{name: self.read(name, value) for name, value in values.items()}}
        )
        return replace(time, caveats=self.caveats)

    @property
    def caveats(self) -> tuple[FitCaveat, ...]:
        """Caveats of the fit that are not reflected in the intervals."""
        return () if self.fit.two_modes is None else (self.fit.two_modes,)

    def read(self, name: str, value: Quantity) -> float:
        """Parse the value of a variable and check its range."""
        number = _parse_value(quantity_text(value), name, self._unit(name))
        low, high = self.fit.ranges[name]
        if not low <= number <= high:
            exceeds_buffers = number > high and any(
                caveat.code == "parts-exceed-message" for caveat in self.fit.caveats
            )
            text, range_start, range_end = (self._value_text(name, limit) for limit in (number, low, high))
            reason, remedy = f"it was fitted from {range_start} to {range_end}", "measure cases there"
            if exceeds_buffers:
                reason = (
                    f"it gives the time of one message from {range_start} to {range_end}; for larger ones it "
                    "describes only trains"
                )
                remedy = "use the model of the ping-pong"
            raise Inconclusive(
                f"{printable(name)}={text} is outside the range of the model",
                reason,
                remedy,
                code="outside-of-fit",
                name=name,
                trains_beyond=exceeds_buffers,
            )
        return number

    def _unit(self, name: str) -> str:
        return self.workload.size_unit if name == self.workload.size else ""

    def _value_text(self, name: str, value: float) -> str:
        unit = self._unit(name)
        if unit == "B":
            return format_size(value)
        return value_with_unit(value, unit) if unit else format_value(value)

    def _check_names(self, values: Iterable[str]) -> None:
        fixed_values = {**self.fit.subject.values, **self.bound}
        for name in values:
            if name not in self.variables and name in fixed_values:
                raise UsageError(
                    f"{printable(name)} is {printable(format_value(fixed_values[name]))} in this model",
                    "it is not a variable",
                    f"leave it out, or get the model of another {printable(name)} from the run",
                    code="fixed-variable",
                    name=name,
                )
            if name not in self.variables:
                raise unknown("variable of the model", name, self.variables, code="unknown-variable")

    @property
    def ranges(self) -> dict[str, tuple[str, str]]:
        """Bounds of `variables` with their units."""
        return {
            name: (self._value_text(name, a), self._value_text(name, b))
            for name, (a, b) in self.variables.items()
        }

    def table(self, **values: Quantities) -> Rows:
        """Table of times with one row for each combination of the variables' values, for example
        `model.table(bytes="8:1MiB")`."""
        names = list(values)
        self._check_names(names)
        value_lists = [
            [self.read(name, value) for value in self._split_values(name, values[name])] for name in names
        ]
        combinations = list(itertools.product(*value_lists))
        times = [self(**dict(zip(names, row, strict=True))) for row in combinations]
        columns: dict[str, list[Cell]] = {
            name: [row[k] for row in combinations] for k, name in enumerate(names)
        }
        for name, bound in (("time_s", "value"), ("low_s", "low"), ("high_s", "high")):
            columns[name] = [getattr(time, bound) for time in times]
        return Rows.of(columns)

    def frame(self, library: Library | None = None, **values: Quantities) -> Any:
        """Table as a DataFrame of pandas or polars, see `Run.frame`."""
        return frame(self.table(**values), library)

    def _split_values(self, name: str, values: Quantities) -> Sequence[Quantity]:
        """Split values; text is split as on the command line."""
        if not isinstance(values, str):
            return list(values) if isinstance(values, Iterable) else [values]
        if name == RANKS:
            return read_counts(values)
        return read_sizes(values) if self._unit(name) == "B" else values.split(",")

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        from hockney.api.notebook.views import model_html

        return model_html(self)

    def __repr__(self) -> str:
        values = "".join(f" {name}={format_value(value)}" for name, value in self.bound.items())
        variables = ", ".join(variable_range(name, *bounds) for name, bounds in self.ranges.items())
        subject = f"{self.fit.line}{values} ({self.fit.verdict})"
        caveats = "".join(f"; {caveat.text}" for caveat in self.caveats)
        return f"<{self.fit.model} model of {subject}: {variables or 'no variables'}{caveats}>"


def fitted_model(
    fits: Fits, workload: str, model: str = "", fixed: Mapping[str, Quantity] | None = None
) -> FittedModel:
    """Find the fit of a workload with the `fixed` values of its parameters.

    Other parameters have their defaults if measured. Models that fix only the named values are preferred,
    then the model that describes the times best. `model` selects one by name. Raises UsageError if there is
    no fit or if the request is ambiguous, Inconclusive for a refused fit.
    """
    fixed = fixed or {}
    workload_fits = [candidate for candidate in fits.fits if candidate.subject.workload == workload]
    if not workload_fits:
        raise unknown(
            "workload",
            workload,
            {candidate.subject.workload for candidate in fits.fits},
            code="unknown-fitted-workload",
        )
    model_fits = [candidate for candidate in workload_fits if model in ("", candidate.model)]
    if not model_fits:
        raise unknown("model", model, {candidate.model for candidate in workload_fits})
    entry = next(entry_ for entry_ in fits.workloads if entry_.name == workload)
    catalog = Catalog(schema=fits.schema, engine="", workloads=[entry])
    typed_case = catalog.complete_case(
        workload, {name: quantity_text(value) for name, value in fixed.items()}
    ).values
    matching_fits = [
        candidate
        for candidate in model_fits
        if _matches(candidate, {name: typed_case[name] for name in fixed})
    ]
    if not matching_fits:
        requested = " ".join(f"{name}={format_value(typed_case[name])}" for name in fixed)
        cases = (parse_canonical(summary.case) for summary in fits.summaries)
        measured_ranks = {case.ranks for case in cases if case.workload == workload}
        subjects = [candidate.line for candidate in model_fits]
        raise UsageError(
            f"no model of {printable(workload)} with {printable(requested)}",
            f"it was measured on {join_words(sorted(measured_ranks))} ranks",
            f"the fitted ones are {list_names([printable(subject) for subject in subjects])}",
            code="no-such-fit",
            subjects=list(subjects),
        )
    fit = _best_match(matching_fits, typed_case, set(fixed))
    if fit.verdict == "refused" or not fit.ranges:
        raise Inconclusive(
            f"no model describes {printable(fit.line)}",
            printable(fit.why),
            "measure the missing cases",
            code="refused-model",
            subject=fit.line,
        )
    free_model = FittedModel(fit, entry)
    return FittedModel(
        fit, entry, {name: free_model.read(name, fixed[name]) for name in fixed if name in fit.ranges}
    )


def predicting_models(fits: Fits) -> tuple[FittedModel, ...]:
    """All fits that are not refused."""
    entries = {entry.name: entry for entry in fits.workloads}
    usable_fits = [fit for fit in fits.fits if fit.verdict != "refused" and fit.ranges]
    return tuple(FittedModel(fit, entries[fit.subject.workload]) for fit in usable_fits)


def _matches(fit: Fit, fixed: Mapping[str, Value]) -> bool:
    """Whether a fit has the fixed values. All parameters that the subject of a refused fit does not fix count
    as variables."""
    subject = fit.subject
    names = (name for name in fixed if name not in subject)
    return all(subject.get(name, value) == value for name, value in fixed.items()) and (
        fit.verdict == "refused" or all(name in fit.ranges for name in names)
    )


def _best_match(fits: list[Fit], typed: Mapping[str, Value], fixed: set[str]) -> Fit:
    """Choose the closest match. Raises UsageError if subjects differ in parameters that were not named."""

    def order(fit: Fit) -> tuple[int, bool, bool, int]:
        other_values = {
            parameter_name: parameter_value
            for parameter_name, parameter_value in fit.subject.values.items()
            if parameter_name not in fixed
        }
        unusual_count = sum(value != typed.get(name) for name, value in other_values.items() if name != RANKS)
        bound = sum(name not in fit.subject for name in fixed)
        return unusual_count, fit.verdict == "refused", RANKS in other_values, bound

    best = min(map(order, fits))
    nearest_fits = [fit for fit in fits if order(fit) == best]
    subjects = list(dict.fromkeys(fit.line for fit in nearest_fits))
    if len(subjects) > 1:
        workload = nearest_fits[0].subject.workload
        raise UsageError(
            f"several models of {printable(workload)} are possible",
            f"they are for {list_names([printable(subject) for subject in subjects])}",
            "name the parameters that differ",
            code="several-fits",
            subjects=list(subjects),
        )
    return next((fit for fit in nearest_fits if fit.preferred), nearest_fits[0])


def _parse_value(text: str, name: str, unit: str) -> float:
    if name == RANKS or not unit:
        numbers = parse_counts(text, name)
        if len(numbers) > 1:
            raise not_a_count(text, name)
        return numbers[0]
    return parse_bytes(text) if unit == "B" else parse_seconds(text)


def variable_range(name: str, low: str, high: str) -> str:
    return f"{name} from {low} to {high}"
