# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about studies that several share; the larger studies have separate files."""

from __future__ import annotations

from collections.abc import Iterable

from hockney.core.errors import UsageError, printable, unknown


def unknown_study(name: str, available: Iterable[str]) -> UsageError:
    return unknown("study", name, available, "'hockney run --list' shows all", code="unknown-study")


def published_numbers() -> UsageError:
    return UsageError(
        "printed numbers cannot be measured",
        "nothing runs on a published machine",
        "'hockney machines --export NAME' makes a run of them",
        code="published-numbers",
    )


def imported_numbers() -> UsageError:
    return UsageError(
        "imported numbers cannot be measured",
        "another benchmark printed them",
        "'hockney import FILE' makes a run of them",
        code="imported-numbers",
    )


def nothing_to_survey() -> UsageError:
    return UsageError(
        "nothing to measure",
        "no case is left for these ranks and sizes",
        "use for example --ranks 2",
        code="nothing-to-survey",
    )


def no_case() -> UsageError:
    return UsageError(
        "no case is given",
        "there is nothing to measure",
        "give one, for example 'pingpong bytes=8'",
        code="no-case",
    )


def too_many_cases(count: int, limit: int) -> UsageError:
    return UsageError(
        f"{count} cases are too many",
        f"the limit is {limit}",
        "give fewer values",
        code="too-many-cases",
        limit=limit,
    )


def line_lists_too_many_cases(text: str, limit: int) -> UsageError:
    return UsageError(
        f"'{printable(text)}' lists too many cases",
        f"the limit is {limit}",
        "give fewer values",
        code="line-lists-too-many-cases",
        limit=limit,
    )


def no_collective() -> UsageError:
    return UsageError(
        "nothing to measure",
        "a collective needs at least two ranks",
        "use for example --ranks 2",
        code="no-collective",
    )


def no_progress_thread(mpi: str) -> UsageError:
    return UsageError(
        f"{mpi or 'this machine'} has no progress thread that hockney can switch on",
        "",
        "use progress=own, or another MPI, for example --mpi mpich",
        code="no-progress-thread",
    )


def only_simulated(parameter: str) -> UsageError:
    return UsageError(
        f"{parameter} is for simulated machines",
        "a real one computes at its own rate",
        "select one, for example with --machine sim:switched-ethernet",
        code="only-simulated",
    )
