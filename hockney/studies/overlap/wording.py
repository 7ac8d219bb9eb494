# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Names of operations, sizes and verdicts, for readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hockney.core.fit import Estimate, ExactValue
from hockney.core.wording import join_words, plural
from hockney.models.significance import Verdict
from hockney.pages.format import quantity, share_interval
from hockney.studies.overlap.results import MESSAGE, OverlapPoint, runs_of
from hockney.studies.progress import THREAD

VERDICTS: Mapping[Verdict, str] = {
    "faster": "pays",
    "slower": "costs time",
    "alike": "no difference",
    "undecided": "undecided",
    "unknown": "no interval",
}


def named(operation: str) -> str:
    """ "MPI_Iallreduce", or a message."""
    return operation if operation == MESSAGE else f"MPI_{operation.capitalize()}"


def one(operation: str) -> str:
    return f"a {operation}" if operation == MESSAGE else named(operation)


def several(operation: str) -> str:
    return f"{operation}s" if operation == MESSAGE else named(operation)


def titled(operation: str) -> str:
    """The operation's name at the beginning of a title."""
    return several(operation).capitalize() if operation == MESSAGE else named(operation)


def tests_of(p: OverlapPoint) -> str:
    """ "64 tests"; with the progress thread also that."""
    return plural(p.tests, "test") + (", progress thread" if p.progress == THREAD else "")


def sizes_text(wanted: Sequence[int], every: Sequence[int]) -> str:
    """ "8 B and 64 KiB to 4 MiB", of consecutive measured sizes."""
    return join_words(
        f"{quantity(first, 'B')}" + (f" to {quantity(last, 'B')}" if last > first else "")
        for first, last in runs_of(wanted, every)
    )


def share_bounds(share: Estimate) -> str:
    """The same to follow a share in a sentence; empty if it is exact."""
    if isinstance(share, ExactValue):
        return ""
    known = share_interval(share)
    return f" (95%: {known})" if known else " (no interval)"
