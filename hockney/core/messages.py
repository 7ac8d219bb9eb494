# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors in cases, parameters, quantities, launcher options and paths."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, UsageError, printable, unknown

# quantities


def not_a_quantity(text: str, kind: str, example: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a {kind}",
        "",
        f"write a number with a unit, for example {example}",
        code="not-a-quantity",
        text=text,
        example=example,
    )


def negative_quantity(text: str, kind: str, example: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is out of range",
        f"a {kind} must be finite and not negative",
        f"use for example {example}",
        code="negative-quantity",
        text=text,
        example=example,
    )


def zero_quantity(text: str, kind: str, example: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is out of range",
        f"a {kind} must be greater than 0 and finite",
        f"use for example {example}",
        code="zero-quantity",
        text=text,
    )


def unknown_unit(unit: str, text: str, available: str, suggestion: str = "") -> UsageError:
    """`suggestion` is the same quantity with one of the `available` units; "" if it is not clear which."""
    return UsageError(
        f"unknown unit '{printable(unit)}' in '{printable(text)}'",
        "",
        f"use {available}" + (f", as in {suggestion}" if suggestion else ""),
        code="unknown-unit",
        unit=unit,
        suggestion=suggestion,
    )


def quantity_without_divisor(text: str, kind: str, divisor: str, example: str) -> UsageError:
    """A rate that has no "/s", a time per byte that has no "/B"."""
    return UsageError(
        f"'{printable(text)}' is not a {kind}",
        f"it must end in /{divisor}",
        f"use for example {example}",
        code="quantity-without-divisor",
        text=text,
        divisor=divisor,
    )


def size_too_large(text: str, limit: str) -> UsageError:
    return UsageError(
        f"size '{printable(text)}' is too large", f"the limit is {limit}", code="size-too-large", text=text
    )


def fractional_size(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a whole number of bytes",
        "",
        "use for example 4KiB",
        code="fractional-size",
        text=text,
    )


def time_too_long(text: str, limit_days: float) -> UsageError:
    return UsageError(
        f"time '{printable(text)}' is too long",
        f"the limit is {limit_days:g} days",
        code="time-too-long",
        text=text,
        limit_days=limit_days,
    )


def fraction_out_of_range(text: str, zero_allowed: bool) -> UsageError:
    limits = "from 0 to 1" if zero_allowed else "greater than 0 and at most 1"
    return UsageError(
        f"'{printable(text)}' is out of range",
        f"a fraction must be {limits}",
        "use for example 2% or 0.02",
        code="fraction-out-of-range",
        text=text,
    )


def not_a_range(text: str, example: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a range",
        "",
        f"write FIRST:LAST with FIRST <= LAST, for example {example}",
        code="not-a-range",
        text=text,
    )


def not_a_count(text: str, noun: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a number of {noun}",
        "",
        "write a whole number from 1 to 9999999, for example 1,2,4",
        code="not-a-count",
        text=text,
    )


# lists and parameters of studies


def range_of_shares(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is a range",
        "ranges of shares are not supported",
        "list the values, for example 0,1%,10%",
        code="range-of-shares",
        text=text,
    )


def range_from_zero(text: str, example: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a range",
        "times in a range must be greater than 0",
        f"use for example {example}",
        code="range-from-zero",
        text=text,
    )


def fractional_range(first: float, last: float) -> UsageError:
    return UsageError(
        f"'{first:g}:{last:g}' is not a range",
        "its ends must be whole numbers",
        "list the values one by one",
        code="fractional-range",
    )


def empty_list_element(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' has an empty element",
        "",
        "remove the extra comma",
        code="empty-list-element",
        text=text,
    )


def not_a_number(text: str, example: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a number",
        "",
        f"use for example {example}" if example else "",
        code="not-a-number",
        text=text,
    )


def empty_value(kind: str, example: str) -> UsageError:
    return UsageError(
        "the value is empty",
        f"a {kind} is required",
        f"use for example {example}" if example else "",
        code="empty-value",
    )


def value_out_of_range(
    text: str, whole: bool, low: str, high: str, example: str, unit: str = ""
) -> UsageError:
    """`low` is "from 0" or "greater than 0", `high` "" if there is no limit."""
    noun = "whole number" if whole else "number"
    limit = f"{low} to {high}" if high else low
    return UsageError(
        f"'{printable(text)}' is out of range",
        f"expected a {noun} {limit}{' ' if unit else ''}{unit}",
        f"use for example {example}" if example else "",
        code="value-out-of-range",
        text=text,
    )


def not_a_multiple(parameter: str, value: int, divisor: int, source: str) -> UsageError:
    """`source` is the parameter that has `divisor` as its value, such as "block=8"; "" if it is fixed."""
    what, why = f"'{parameter}={value}' is not possible", f"expected a multiple of {source or divisor}"
    remedy = f"use for example {parameter}={-(-value // divisor) * divisor}"
    return UsageError(
        what, why, remedy, code="not-a-multiple", parameter=parameter, value=value, multiple_of=divisor
    )


def unknown_parameter(name: str, owner: str, available: Iterable[str]) -> UsageError:
    return unknown(f"parameter of {owner}", name, available, code="unknown-parameter")


def unknown_value(text: str, parameter: str, available: Iterable[str]) -> UsageError:
    return unknown(f"value of {parameter}", text, available, code="unknown-value")


# cases


def not_a_case(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a case",
        "",
        "write WORKLOAD NAME=VALUE ..., for example 'pingpong bytes=8 ranks=2'",
        code="not-a-case",
        text=text,
    )


def not_a_parameter(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a parameter",
        "",
        "write NAME=VALUE, for example bytes=8",
        code="not-a-parameter",
        text=text,
    )


def parameter_given_twice(name: str) -> UsageError:
    return UsageError(
        f"parameter '{printable(name)}' is given twice",
        "",
        "give it once",
        code="parameter-given-twice",
        name=name,
    )


def case_without_ranks(workload: str) -> UsageError:
    return UsageError(
        f"the case of '{printable(workload)}' has no valid number of ranks",
        "",
        "add a number of ranks, for example ranks=2",
        code="case-without-ranks",
    )


def parameter_without_number(line: str, name: str) -> UsageError:
    return UsageError(
        f"invalid case '{printable(line)}'",
        f"{name} must be a number",
        "the file may have been edited by hand; remove this line",
        code="parameter-without-number",
        name=name,
    )


def unknown_workload(name: str, available: Iterable[str]) -> UsageError:
    return unknown("workload", name, available, "'hockney run --list' shows all of them")


def not_a_rank_count(text: str) -> UsageError:
    return UsageError(
        f"ranks={printable(text)} is not a number of ranks",
        "",
        "write a whole number from 1, for example ranks=2",
        code="not-a-rank-count",
        text=text,
    )


def rank_count_not_supported(workload: str, ranks: int, low: int, high: int) -> UsageError:
    """`high` 0 means no limit."""
    needs = f"exactly {low}" if low == high else f"at least {low}" if ranks < low else f"at most {high}"
    return UsageError(
        f"{workload} cannot run on {ranks} ranks",
        f"it needs {needs}",
        f"set ranks={low}",
        code="rank-count-not-supported",
        ranks=ranks,
        low=low,
        high=high,
    )


def unknown_collective(name: str, available: Iterable[str]) -> UsageError:
    names = sorted(available)
    barriers = "" if "barrier" in names else "; 'hockney run barriers' compares barriers"
    remedy = f"available: {', '.join(names)}{barriers}"
    return unknown("collective operation", name, names, remedy, code="unknown-collective")


def unknown_algorithm(name: str, operation: str, available: Iterable[str]) -> UsageError:
    return unknown(f"algorithm for {operation}", name, available, code="unknown-algorithm")


# launcher options


def mpiexec_args_not_words(text: str, reason: str) -> UsageError:
    return UsageError(
        f"--mpiexec-args {printable(text)} cannot be split into words",
        reason[:1].lower() + reason[1:],
        "quote as in a shell, for example --mpiexec-args '--mca btl self,tcp'",
        code="mpiexec-args-not-words",
        text=text,
    )


def mpiexec_args_with_ranks(option: str) -> UsageError:
    return UsageError(
        f"--mpiexec-args has {printable(option)}, the number of ranks",
        "hockney starts each case with the ranks that it names",
        "use --ranks",
        code="mpiexec-args-with-ranks",
        option=option,
    )


def not_a_variable(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a variable with its value",
        "",
        "use for example -x UCX_TLS=self,sm",
        code="not-a-variable",
        text=text,
    )


def variable_given_twice(name: str) -> UsageError:
    what = f"-x {printable(name)} is given twice"
    return UsageError(what, "it takes one value", "give it once", code="variable-given-twice", name=name)


def not_a_launch_setting(line: str) -> UsageError:
    return UsageError(
        f"'{printable(line)}' is not a launch setting",
        "it has a name other than 'default', and usually variables with their values",
        "use for example --setting 'eager64k OMPI_MCA_btl_sm_eager_limit=65536'",
        code="not-a-launch-setting",
        line=line,
    )


def launch_setting_twice(name: str) -> UsageError:
    what = f"the launch setting {printable(name)} is declared twice"
    remedy = "give it once, with all its variables"
    return UsageError(what, "", remedy, code="launch-setting-twice", name=name)


def unknown_launch_setting(name: str, declared: Iterable[str]) -> UsageError:
    remedy = f"declare it: --setting '{printable(name)} VARIABLE=VALUE'"
    return unknown("launch setting", name, ["default", *declared], remedy, code="unknown-launch-setting")


def launch_setting_not_used(name: str) -> UsageError:
    what = f"no case uses the launch setting {printable(name)}"
    remedy = f"add it to a case, for example 'pingpong setting=default,{printable(name)}'"
    return UsageError(what, "", remedy, code="launch-setting-not-used", name=name)


# paths


def not_a_path(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a path",
        "no file can have this name",
        "use for example runs/first",
        code="not-a-path",
        text=text,
    )


def no_home_folder(path: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot expand '{printable(str(path))}'",
        "the system has no home folder for that user",
        "give the whole path; set HOME or HOCKNEY_CACHE for hockney's cache",
        code="no-home-folder",
    )
