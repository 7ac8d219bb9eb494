# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors in Python programs, and of lines in the log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hockney.core.errors import EnvironmentProblem, Inconclusive, UsageError, printable, unknown
from hockney.core.units import format_seconds
from hockney.core.wording import listing, plural, together

# keywords


def unknown_keyword(name: str, available: Iterable[str]) -> UsageError:
    return unknown("keyword", name, available)


def option_not_positive(name: str, value: float) -> UsageError:
    return UsageError(
        f"{name} is {value:g}",
        "a time must be greater than 0",
        "use seconds, for example 30",
        code="option-not-positive",
        name=name,
        value=value,
    )


def option_out_of_range(name: str, value: float, low: float, high: float) -> UsageError:
    return UsageError(
        f"{name} is {value:g}",
        f"the range is {low:g} to {high:g}",
        "use a value in this range",
        code="option-out-of-range",
        name=name,
        value=value,
    )


def unknown_network_word(name: str, available: Iterable[str]) -> UsageError:
    return unknown("network", name, available, code="unknown-network-word")


def unknown_cost_word(name: str, available: Iterable[str]) -> UsageError:
    return unknown("cost", name, available, code="unknown-cost-word")


# data frames


def unknown_frame_library(name: str, available: Iterable[str]) -> UsageError:
    return unknown("library of data frames", name, available, code="unknown-frame-library")


def no_frame_library(wanted: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        "cannot make a data frame",
        f"{wanted} is not installed" if wanted else "neither pandas nor polars is installed",
        f"run pip install {wanted or 'pandas'}, or use table(), which needs neither",
        code="no-frame-library",
        wanted=wanted,
    )


def unknown_table(name: str, available: Iterable[str]) -> UsageError:
    return unknown("table", name, available)


# figures


def unknown_figure(name: str, available: Iterable[str]) -> UsageError:
    return unknown("figure", name, available)


# fitted models


def nothing_fitted(workload: str, available: Iterable[str]) -> UsageError:
    return unknown("workload", workload, available, code="unknown-fitted-workload")


def unknown_model(model: str, available: Iterable[str]) -> UsageError:
    return unknown("model", model, available)


def no_such_fit(workload: str, wanted: str, subjects: Sequence[str], ranks: Sequence[int]) -> UsageError:
    """`ranks` are the numbers of ranks on which the workload was measured."""
    return UsageError(
        f"no model of {printable(workload)} with {printable(wanted)}",
        f"it was measured on {together(ranks)} ranks",
        f"the fitted ones are {listing([printable(subject) for subject in subjects])}",
        code="no-such-fit",
        subjects=list(subjects),
    )


def several_fits(workload: str, subjects: Sequence[str]) -> UsageError:
    return UsageError(
        f"several models of {printable(workload)} are possible",
        f"they are of {listing([printable(subject) for subject in subjects])}",
        "name the parameters in which these differ",
        code="several-fits",
        subjects=list(subjects),
    )


def refused_model(subject: str, why: str) -> Inconclusive:
    return Inconclusive(
        f"no model describes {printable(subject)}",
        printable(why),
        "measure the missing cases",
        code="refused-model",
        subject=subject,
    )


def variables_missing(subject: str, names: Sequence[str]) -> UsageError:
    return UsageError(
        f"the model of {printable(subject)} needs {listing(list(names))}",
        "",
        f"use for example model({', '.join(f'{name}=8' for name in names)})",
        code="variables-missing",
        names=list(names),
    )


def variables_without_names(subject: str, given: int, names: Sequence[str]) -> UsageError:
    """`given` values came without a name; the model has the variables `names`."""
    return UsageError(
        f"the model of {printable(subject)} was given {plural(given, 'value')} without a name",
        f"its variables are {listing(list(names))}" if names else "it has no variables",
        f"use for example model({', '.join(f'{name}=8' for name in names)})",
        code="variables-without-names",
        names=list(names),
        given=given,
    )


def model_variable_twice(name: str) -> UsageError:
    return UsageError(
        f"{printable(name)} is given twice",
        "the value without a name is that variable's",
        "leave one of them out",
        code="model-variable-twice",
        name=name,
    )


def not_a_quantity_type(kind: str) -> UsageError:
    """`kind` is the name of a Python type."""
    return UsageError(
        f"a value of type {printable(kind)} is not a quantity",
        "",
        'use a number, or text such as "40kB" or "100us"',
        code="not-a-quantity-type",
        kind=kind,
    )


def unknown_variable(name: str, available: Iterable[str]) -> UsageError:
    return unknown("variable of the model", name, available, code="unknown-variable")


def fixed_variable(name: str, value: str) -> UsageError:
    return UsageError(
        f"{printable(name)} is {printable(value)} in this model",
        "it is not a variable",
        f"leave it out, or get the model of another {printable(name)} from the run",
        code="fixed-variable",
        name=name,
    )


def outside_of_fit(name: str, value: str, low: str, high: str, trains_beyond: bool = False) -> Inconclusive:
    """`trains_beyond`: at larger sizes the model describes trains of messages, not the time of one."""
    why, remedy = f"it was fitted from {low} to {high}", "measure cases there"
    if trains_beyond:
        why = (
            f"it gives the time of one message from {low} to {high}; for larger ones it describes only trains"
        )
        remedy = "use the model of the ping-pong"
    return Inconclusive(
        f"{printable(name)}={value} is outside the range of the model",
        why,
        remedy,
        code="outside-of-fit",
        name=name,
        trains_beyond=trains_beyond,
    )


# the log


def measuring(measurements: int, launches: int, budget_s: float) -> str:
    return (
        f"measuring: {plural(measurements, 'measurement')} in {plural(launches, 'launch', 'launches')}, "
        f"at most {format_seconds(budget_s)}"
    )


def launching(launch: str, ranks: int, cases: int) -> str:
    return f"launch {launch}: {plural(cases, 'case')} on {plural(ranks, 'rank')}"


def no_result(case: str, why: str) -> str:
    return f"{case} gave no result: {why}"


# on a page of a notebook


def more_rows(count: int) -> str:
    return f"{plural(count, 'more case')}: .frame() has all."


def constant_parameters(words: str) -> str:
    return f"All cases: {words}."


def model_of(model: str, subject: str, verdict: str, why: str) -> str:
    return f"{model} model of {subject}: {verdict}{f' ({why})' if why else ''}."


def variable_range(name: str, low: str, high: str) -> str:
    return f"{name} from {low} to {high}"


def call_of_model(variables: Sequence[str]) -> str:
    return f"Predicts times for {listing(list(variables))}."
