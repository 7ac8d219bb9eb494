# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about published numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hockney.core.errors import Inconclusive, UsageError, unknown


def unknown_paper(name: str, available: Iterable[str]) -> UsageError:
    return unknown("paper", name, available, code="unknown-paper")


def unknown_published_machine(name: str, available: Iterable[str]) -> UsageError:
    return unknown("published machine", name, available, code="unknown-published-machine")


def unknown_machine_of_paper(name: str, paper: str, available: Iterable[str]) -> UsageError:
    return unknown(f"machine of {paper}", name, available, code="unknown-machine-of-paper")


def unknown_row(key: str, paper: str, available: Iterable[str]) -> UsageError:
    return unknown(f"row of {paper}", key, available, code="unknown-row")


def unknown_formula(key: str, paper: str, available: Iterable[str]) -> UsageError:
    return unknown(f"formula of {paper}", key, available, code="unknown-formula")


def size_outside_formula(formula: str, size: float, ranges: Sequence[tuple[int, int]]) -> UsageError:
    """`ranges` are the first and last bytes for which the formula is printed."""
    limits = ", ".join(f"{first} to {last}" for first, last in ranges)
    return UsageError(
        f"{formula} does not cover {size:g} B",
        f"it holds for {limits} B",
        "choose another size",
        code="size-outside-formula",
        size=size,
        ranges=tuple(ranges),
    )


def no_printed_cases(machine: str) -> Inconclusive:
    return Inconclusive(
        f"no published number for {machine} can be compared",
        "none of them corresponds to a case that hockney measures",
        f"'hockney machines --show {machine}' prints the published numbers",
        code="no-printed-cases",
        machine=machine,
    )


def unknown_benchmark(name: str, available: Iterable[str], with_program: bool) -> UsageError:
    """`with_program`: whether `name` has a program and a slash before it, as those available may have."""

    def compared(text: str) -> str:
        return text.lower() if with_program else text.lower().rpartition("/")[2]

    return unknown(
        "benchmark",
        name,
        available,
        "see docs/reference/peers.md for those of OSU and IMB",
        code="unknown-benchmark",
        compared=compared,
    )


def no_equivalent(name: str, reason: str, instead: str) -> UsageError:
    """`reason` and `instead` are those of the table."""
    return UsageError(
        f"hockney has no equivalent of {name}",
        reason,
        instead,
        code="no-equivalent",
        name=name,
        reason=reason,
    )
