# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One of a run's fits as a function of its variables."""

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
    """`model(bytes=40_000)`, or `model("40kB")` if it has a single variable, predicts a time in seconds with
    its 95% interval.

    `fit` has the parameters, the verdict and its reasons; `bound` has the variables whose values are
    already chosen. The others are keywords of a call.
    """

    fit: Fit
    workload: Workload
    bound: Mapping[str, float] = field(default_factory=dict)

    @property
    def variables(self) -> dict[str, tuple[float, float]]:
        """The variables that a call needs, with the range in which the model was fitted."""
        return {name: ends for name, ends in self.fit.ranges.items() if name not in self.bound}

    def __call__(self, *positional: Quantity, **values: Quantity) -> TimeEstimate:
        """The only variable of a model needs no name. Raises UsageError for missing, unknown or ambiguous
        variables, and Inconclusive outside the fitted range."""
        if positional:
            if len(positional) > 1 or len(self.variables) != 1:
                given = len(positional)
                names = list(self.variables)
                raise UsageError(
                    f"the model of {printable(self.fit.line)} was given {plural(given, 'value')} without a "
                    "name",
                    f"its variables are {list_names(list(names))}" if names else "it has no variables",
                    f"use for example model({', '.join(f'{name}=8' for name in names)})",
                    code="variables-without-names",
                    names=list(names),
                    given=given,
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
        lacking = [name for name in self.variables if name not in values]
        if lacking:
            raise UsageError(
                f"the model of {printable(self.fit.line)} needs {list_names(list(lacking))}",
                "",
                f"use for example model({', '.join(f'{name}=8' for name in lacking)})",
                code="variables-missing",
                names=list(lacking),
            )
        time = fitted_time(self.fit, {**self.bound, **{n: self.read(n, v) for n, v in values.items()}})
        return replace(time, caveats=self.caveats)

    @property
    def caveats(self) -> tuple[FitCaveat, ...]:
        """Caveats of the fit that the intervals of times do not show."""
        return () if self.fit.two_modes is None else (self.fit.two_modes,)

    def read(self, name: str, value: Quantity) -> float:
        """The value of a variable, checked to be inside its range."""
        number = _parse_value(quantity_text(value), name, self._unit(name))
        low, high = self.fit.ranges[name]
        if not low <= number <= high:
            trains_beyond = number > high and any(c.code == "parts-exceed-message" for c in self.fit.caveats)
            text, first, last = (self._value_text(name, each) for each in (number, low, high))
            why, remedy = f"it was fitted from {first} to {last}", "measure cases there"
            if trains_beyond:
                why = (
                    f"it gives the time of one message from {first} to {last}; for larger ones it describes "
                    "only trains"
                )
                remedy = "use the model of the ping-pong"
            raise Inconclusive(
                f"{printable(name)}={text} is outside the range of the model",
                why,
                remedy,
                code="outside-of-fit",
                name=name,
                trains_beyond=trains_beyond,
            )
        return number

    def _unit(self, name: str) -> str:
        return self.workload.size_unit if name == self.workload.size else ""

    def _value_text(self, name: str, value: float) -> str:
        unit = self._unit(name)
        if unit == "B":
            return format_size(value)
        return value_with_unit(value, unit) if unit else format_value(value)

    def _check_names(self, given: Iterable[str]) -> None:
        fixed = {**self.fit.subject.values, **self.bound}
        for name in given:
            if name not in self.variables and name in fixed:
                raise UsageError(
                    f"{printable(name)} is {printable(format_value(fixed[name]))} in this model",
                    "it is not a variable",
                    f"leave it out, or get the model of another {printable(name)} from the run",
                    code="fixed-variable",
                    name=name,
                )
            if name not in self.variables:
                raise unknown("variable of the model", name, self.variables, code="unknown-variable")

    @property
    def ranges(self) -> dict[str, tuple[str, str]]:
        """The ends of `variables` with their units."""
        return {
            name: (self._value_text(name, a), self._value_text(name, b))
            for name, (a, b) in self.variables.items()
        }

    def table(self, **values: Quantities) -> Rows:
        """Times for several values of the variables, as `columns`: a row for each of their combinations,
        such as `model.table(bytes="8:1MiB")`."""
        names = list(values)
        self._check_names(names)
        each = [
            [self.read(name, value) for value in self._split_values(name, values[name])] for name in names
        ]
        combined = list(itertools.product(*each))
        times = [self(**dict(zip(names, row, strict=True))) for row in combined]
        columns: dict[str, list[Cell]] = {name: [row[k] for row in combined] for k, name in enumerate(names)}
        for name, end in (("time_s", "value"), ("low_s", "low"), ("high_s", "high")):
            columns[name] = [getattr(time, end) for time in times]
        return Rows.of(columns)

    def frame(self, library: Library | None = None, **values: Quantities) -> Any:
        """The same as a DataFrame of pandas or polars, see `Run.frame`."""
        return frame(self.table(**values), library)

    def _split_values(self, name: str, values: Quantities) -> Sequence[Quantity]:
        """Values in the given order; a text is several as on the command line."""
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
        free = ", ".join(variable_range(name, *ends) for name, ends in self.ranges.items())
        subject = f"{self.fit.line}{values} ({self.fit.verdict})"
        caveats = "".join(f"; {caveat.text}" for caveat in self.caveats)
        return f"<{self.fit.model} model of {subject}: {free or 'no variables'}{caveats}>"


def fitted_model(
    fits: Fits, workload: str, model: str = "", fixed: Mapping[str, Quantity] | None = None
) -> FittedModel:
    """The fit of a workload whose parameters have the `fixed` values.

    Parameters that are not named have their default, if it was measured. Of several models the one is chosen
    that fixes only the named values, then the one that describes the times best; `model` selects one by name.
    Raises UsageError if there is none, or if several fit the request equally well; Inconclusive for a refused
    fit.
    """
    fixed = fixed or {}
    of_workload = [f for f in fits.fits if f.subject.workload == workload]
    if not of_workload:
        raise unknown(
            "workload", workload, {f.subject.workload for f in fits.fits}, code="unknown-fitted-workload"
        )
    of_model = [f for f in of_workload if model in ("", f.model)]
    if not of_model:
        raise unknown("model", model, {f.model for f in of_workload})
    entry = next(w for w in fits.workloads if w.name == workload)
    catalog = Catalog(schema=fits.schema, engine="", workloads=[entry])
    typed = catalog.complete_case(
        workload, {name: quantity_text(value) for name, value in fixed.items()}
    ).values
    matching = [f for f in of_model if _matches(f, {name: typed[name] for name in fixed})]
    if not matching:
        wanted = " ".join(f"{name}={format_value(typed[name])}" for name in fixed)
        cases = (parse_canonical(summary.case) for summary in fits.summaries)
        measured = {case.ranks for case in cases if case.workload == workload}
        subjects = [f.line for f in of_model]
        raise UsageError(
            f"no model of {printable(workload)} with {printable(wanted)}",
            f"it was measured on {join_words(sorted(measured))} ranks",
            f"the fitted ones are {list_names([printable(subject) for subject in subjects])}",
            code="no-such-fit",
            subjects=list(subjects),
        )
    fit = _best_match(matching, typed, set(fixed))
    if fit.verdict == "refused" or not fit.ranges:
        raise Inconclusive(
            f"no model describes {printable(fit.line)}",
            printable(fit.why),
            "measure the missing cases",
            code="refused-model",
            subject=fit.line,
        )
    free = FittedModel(fit, entry)
    return FittedModel(
        fit, entry, {name: free.read(name, fixed[name]) for name in fixed if name in fit.ranges}
    )


def predicting_models(fits: Fits) -> tuple[FittedModel, ...]:
    """All fits that are not refused."""
    entries = {entry.name: entry for entry in fits.workloads}
    predicting = [fit for fit in fits.fits if fit.verdict != "refused" and fit.ranges]
    return tuple(FittedModel(fit, entries[fit.subject.workload]) for fit in predicting)


def _matches(fit: Fit, fixed: Mapping[str, Value]) -> bool:
    """A refused fit has no variables: every parameter that its subject does not fix counts as one."""
    subject = fit.subject
    free = (name for name in fixed if name not in subject)
    return all(subject.get(name, value) == value for name, value in fixed.items()) and (
        fit.verdict == "refused" or all(name in fit.ranges for name in free)
    )


def _best_match(fits: list[Fit], typed: Mapping[str, Value], fixed: set[str]) -> Fit:
    """Raises UsageError if subjects differ in parameters that were not named."""

    def order(fit: Fit) -> tuple[int, bool, bool, int]:
        others = {n: v for n, v in fit.subject.values.items() if n not in fixed}
        unusual = sum(value != typed.get(name) for name, value in others.items() if name != RANKS)
        bound = sum(name not in fit.subject for name in fixed)
        return unusual, fit.verdict == "refused", RANKS in others, bound

    best = min(map(order, fits))
    nearest = [fit for fit in fits if order(fit) == best]
    subjects = list(dict.fromkeys(fit.line for fit in nearest))
    if len(subjects) > 1:
        workload = nearest[0].subject.workload
        raise UsageError(
            f"several models of {printable(workload)} are possible",
            f"they are for {list_names([printable(subject) for subject in subjects])}",
            "name the parameters that differ",
            code="several-fits",
            subjects=list(subjects),
        )
    return next((fit for fit in nearest if fit.preferred), nearest[0])


def _parse_value(word: str, name: str, unit: str) -> float:
    if name == RANKS or not unit:
        numbers = parse_counts(word, name)
        if len(numbers) > 1:
            raise not_a_count(word, name)
        return numbers[0]
    return parse_bytes(word) if unit == "B" else parse_seconds(word)


def variable_range(name: str, low: str, high: str) -> str:
    return f"{name} from {low} to {high}"
