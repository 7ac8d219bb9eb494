# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cases, their parameters and rank counts, collective operations and algorithms."""

from __future__ import annotations

from collections.abc import Iterable

from hockney.core.errors import UsageError, printable, unknown


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
