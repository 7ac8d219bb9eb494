# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The algorithms of engine/coll that come nearest to the T3E's printed times, as tables and sentences, and
the times that none of them explains.

The paper does not print the algorithms of the T3E's MPI. An algorithm with similar simulated times is a
possible explanation, not a proof."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log

from hockney.core.wording import join_words
from hockney.draw.page import Table
from hockney.reference.aggregated_bandwidth import DEFINITIONS
from hockney.reproductions.compared import CLOSE_ERRORS, ComparedNumber
from hockney.suites.papers.reproductions.t3e_cases import (
    OPERATIONS,
    PROCESSES,
    SIZE_TITLES,
    SIZES,
    printed_row,
)

NEAR_ERROR = CLOSE_ERRORS[-1]
TIE_FACTOR = 1.03


@dataclass(frozen=True)
class Match:
    """The distance of an algorithm from the printed times of one size on PROCESSES. `factor` is the
    geometric mean, over the simulated times, of the factors between simulated and published times, each 1
    or more."""

    operation: str
    size: str
    algorithm: str
    errors: tuple[float | None, ...]
    factor: float

    @property
    def is_complete(self) -> bool:
        return None not in self.errors

    @property
    def near_count(self) -> int:
        """The number of times within NEAR_ERROR."""
        return sum(error is not None and abs(error) <= NEAR_ERROR for error in self.errors)


def matches(comparisons: Iterable[ComparedNumber]) -> dict[tuple[str, str], list[Match]]:
    """Returns the algorithms by operation and size, the nearest first. Algorithms that were simulated only
    on some PROCESSES come after the others. Algorithms without simulated times are left out."""
    rows_by_algorithm: dict[tuple[str, str, str], list[ComparedNumber]] = {}
    for row in comparisons:
        if row.series == "algorithms":
            rows_by_algorithm.setdefault(
                (*_operation_and_size(row), row.mechanism.partition("=")[2]), []
            ).append(row)
    matches_by_size: dict[tuple[str, str], list[Match]] = {}
    for (operation, size, algorithm), rows in rows_by_algorithm.items():
        ratios = [_ratio(row) for row in rows if row.simulated]
        if ratios:
            errors = tuple(row.error for row in rows)
            match = Match(operation, size, algorithm, errors, exp(sum(ratios) / len(ratios)))
            matches_by_size.setdefault((operation, size), []).append(match)
    for candidates in matches_by_size.values():
        candidates.sort(key=lambda match: (not match.is_complete, match.factor))
    keys = [(operation, size) for operation in OPERATIONS for size in SIZES]
    return {key: matches_by_size[key] for key in keys if key in matches_by_size}


def find_nearest_matches(comparisons: Iterable[ComparedNumber]) -> list[Match]:
    """Returns the nearest algorithm of each operation and size."""
    return [candidates[0] for candidates in matches(comparisons).values()]


def tied_matches(candidates: Sequence[Match]) -> list[Match]:
    """Returns the nearest algorithm, and those within TIE_FACTOR of it, which the times do not
    distinguish."""
    nearest_match = candidates[0]
    return [
        match
        for match in candidates
        if match.is_complete == nearest_match.is_complete
        and match.factor <= TIE_FACTOR * nearest_match.factor
    ]


def unexplained_rows(comparisons: Sequence[ComparedNumber]) -> list[ComparedNumber]:
    """Returns the printed times that the nearest algorithm of their operation and size misses by more than
    NEAR_ERROR. An algorithm that is near on one number of processes only is a coincidence."""
    nearest_algorithms = {
        (match.operation, match.size): match.algorithm for match in find_nearest_matches(comparisons)
    }
    rows = [row for row in comparisons if row.series == "algorithms"]
    nearest_rows = [
        row
        for row in rows
        if nearest_algorithms.get(_operation_and_size(row)) == row.mechanism.partition("=")[2]
    ]
    return [row for row in nearest_rows if row.error is not None and abs(row.error) > NEAR_ERROR]


def unreached_keys(comparisons: Iterable[ComparedNumber]) -> set[str]:
    """Returns the keys of the printed times that no algorithm reaches within NEAR_ERROR."""
    rows = [row for row in comparisons if row.series == "algorithms" and row.error is not None]
    near_keys = {row.key for row in rows if abs(row.error or 0.0) <= NEAR_ERROR}
    return {row.key for row in rows} - near_keys


def _operation_and_size(row: ComparedNumber) -> tuple[str, str]:
    operation, size = row.key.split("/")[2:4]
    return operation, size


def _ratio(row: ComparedNumber) -> float:
    return abs(log((row.simulated or 0.0) / row.published))


def nearest_table(comparisons: Sequence[ComparedNumber]) -> Table:
    """Returns a table with a row for each operation and size: the nearest algorithm, its errors, and the
    second nearest algorithm."""
    rows = tuple(_nearest_row(candidates) for candidates in matches(comparisons).values())
    columns = ("operation", "size", "algorithm", *(f"P = {p}" for p in PROCESSES), "within 25%", "next")
    return Table(
        "nearest",
        "The algorithm that comes nearest to the printed times, and its errors",
        columns,
        rows,
        numeric=tuple(range(3, 3 + len(PROCESSES))),
        caption="In brackets: the geometric mean, over the numbers of processes P, of the factor between the "
        "simulated and the published time. Errors: simulated relative to published.",
    )


def _nearest_row(candidates: Sequence[Match]) -> tuple[str, ...]:
    nearest_match = candidates[0]
    errors = ("" if error is None else format_percent(error) for error in nearest_match.errors)
    next_match = _distance(candidates[1]) if len(candidates) > 1 else ""
    name = (OPERATIONS[nearest_match.operation], SIZE_TITLES[nearest_match.size], _distance(nearest_match))
    return (*name, *errors, f"{nearest_match.near_count} of {len(nearest_match.errors)}", next_match)


def _distance(match: Match) -> str:
    return f"{match.algorithm} ({match.factor:.2f})"


def sentences(comparisons: Sequence[ComparedNumber]) -> tuple[str, ...]:
    """Returns sentences on the conclusions and their limits."""
    if not find_nearest_matches(comparisons):
        return ()
    missed_rows = unexplained_rows(comparisons)
    conclusions = [
        "The paper does not print which algorithms the T3E's MPI used. Each algorithm of the engine ran on "
        "the simulated T3E; the nearest is a possible explanation, not a proof.",
        f"{names_by_operation(comparisons)}.",
        f"Missed by more than {NEAR_ERROR:.0%} by the nearest algorithm: {_row_list(missed_rows)}."
        if missed_rows
        else f"Each printed time is within {NEAR_ERROR:.0%} of the nearest algorithm's.",
        f"Printed times to which no algorithm comes within {NEAR_ERROR:.0%}: "
        f"{len(unreached_keys(comparisons))}.",
    ]
    slower_sizes = _slower_smaller_sizes()
    slower_processes = _slower_fewer_processes()
    conclusions += [
        f"Slower with 8 B than with 1 KB are {slower_sizes}. No algorithm explains this if a longer message "
        "costs more; the simulated machine has it because receiving a message without data is fitted to "
        "cost more than receiving one of 16 B.",
        f"Slower on fewer processes with the same vector is {slower_processes}. No algorithm explains this.",
    ]
    return tuple(conclusions)


def headline(comparisons: Sequence[ComparedNumber]) -> tuple[str, ...]:
    """Returns the first screen's sentence on algorithms."""
    nearest_matches = find_nearest_matches(comparisons)
    if not nearest_matches:
        return ()
    time_count = len(OPERATIONS) * len(SIZES) * len(PROCESSES)
    return (
        "The paper does not print the algorithms. Of those tried, these come nearest: "
        f"{names_by_operation(comparisons)}. With them, "
        f"{sum(match.near_count for match in nearest_matches)} of the "
        f"{time_count} times are within {NEAR_ERROR:.0%}.",
    )


def names_by_operation(comparisons: Iterable[ComparedNumber]) -> str:
    """Returns a list such as "MPI_Bcast: binomial; MPI_Alltoall: linear (8 B), bruck (1 KB, 1 MB)".
    Algorithms that are equally near are joined by "or"."""
    sizes_by_names: dict[str, dict[str, list[str]]] = {}
    for (operation, size), candidates in matches(comparisons).items():
        names = " or ".join(match.algorithm.replace("_", " ") for match in tied_matches(candidates))
        sizes_by_names.setdefault(operation, {}).setdefault(names, []).append(SIZE_TITLES[size])
    return "; ".join(
        f"{OPERATIONS[operation_key]}: {_names_by_size(names)}"
        for operation_key, names in sizes_by_names.items()
    )


def _names_by_size(names: Mapping[str, Sequence[str]]) -> str:
    if len(names) == 1:
        return next(iter(names))
    return ", ".join(f"{name} ({', '.join(sizes)})" for name, sizes in names.items())


def _row_list(rows: Iterable[ComparedNumber]) -> str:
    """Returns a list such as "MPI_Reduce, 8 B, 32 (-54.0%) and 64 processes (-56.3%)", with semicolons
    between operations."""
    processes_by_label: dict[str, list[str]] = {}
    for row in rows:
        label, _, processes = row.what.rpartition(", ")
        processes_by_label.setdefault(label, []).append(
            f"{processes.partition(' ')[0]} ({format_percent(row.error or 0.0)})"
        )
    return "; ".join(
        f"{label} on {join_words(processes_and_errors)} processes"
        for label, processes_and_errors in processes_by_label.items()
    )


def _slower_smaller_sizes() -> str:
    """Returns a list of the printed times that decrease from 8 B to 1 KB."""
    processes_by_operation: dict[str, list[int]] = {}
    for operation, name in OPERATIONS.items():
        for p in PROCESSES:
            if printed_row(operation, "8", p).si > printed_row(operation, "1KB", p).si:
                processes_by_operation.setdefault(name, []).append(p)
    return join_words(
        f"{name} on {join_words(processes)}" for name, processes in processes_by_operation.items()
    )


def _slower_fewer_processes() -> str:
    """Returns a list of the printed times of an undivided vector that decrease as processes are added."""
    pairs = list(pairwise(PROCESSES))
    claims = [
        f"{OPERATIONS[operation]} of {SIZE_TITLES[size]} on {fewer_processes} than on {more_processes}"
        for operation in OPERATIONS
        if not DEFINITIONS[operation].shared_out
        for size in SIZES
        for fewer_processes, more_processes in pairs
        if printed_row(operation, size, fewer_processes).si > printed_row(operation, size, more_processes).si
    ]
    return join_words(claims)


def format_percent(error: float) -> str:
    """Formats an error, such as "+12%", or "0%" without a sign."""
    text = f"{error:+.0%}"
    return "0%" if text in ("+0%", "-0%") else text
