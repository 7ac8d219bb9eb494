# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which algorithms of engine/coll come nearest to the T3E's printed times, as tables and sentences, and which
times none of them explains.

The paper does not print the algorithms of the T3E's MPI. An algorithm whose simulated times are near is a
possible explanation, not a proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log

from hockney.core.wording import join_words
from hockney.draw.page import Table
from hockney.reference.aggregated_bandwidth import DEFINITIONS
from hockney.reproductions.compared import CLOSE, ComparedNumber
from hockney.suites.papers.reproductions.t3e_cases import OPERATIONS, PROCESSES, SIZE_WORDS, SIZES, printed

NEAR_ERROR = CLOSE[-1]
TIE_FACTOR = 1.03


@dataclass(frozen=True)
class Match:
    """The distance of an algorithm from the printed times of one size on PROCESSES. `factor` is the geometric
    mean of the factors, 1 or more, between simulated and published times, of those that were simulated."""

    operation: str
    size: str
    algorithm: str
    errors: tuple[float | None, ...]
    factor: float

    @property
    def complete(self) -> bool:
        return None not in self.errors

    @property
    def near(self) -> int:
        """The number of times within NEAR_ERROR."""
        return sum(error is not None and abs(error) <= NEAR_ERROR for error in self.errors)


def matches(compared: Iterable[ComparedNumber]) -> dict[tuple[str, str], list[Match]]:
    """The algorithms by operation and size, the nearest first. Algorithms that were simulated on some
    PROCESSES only follow the others; those never simulated are left out."""
    grouped: dict[tuple[str, str, str], list[ComparedNumber]] = {}
    for row in compared:
        if row.series == "algorithms":
            grouped.setdefault((*_operation_and_size(row), row.mechanism.partition("=")[2]), []).append(row)
    by_size: dict[tuple[str, str], list[Match]] = {}
    for (operation, size, algorithm), each in grouped.items():
        ratios = [_ratio(row) for row in each if row.simulated]
        if ratios:
            errors = tuple(row.error for row in each)
            match = Match(operation, size, algorithm, errors, exp(sum(ratios) / len(ratios)))
            by_size.setdefault((operation, size), []).append(match)
    for candidates in by_size.values():
        candidates.sort(key=lambda match: (not match.complete, match.factor))
    order = [(operation, size) for operation in OPERATIONS for size in SIZES]
    return {key: by_size[key] for key in order if key in by_size}


def nearest(compared: Iterable[ComparedNumber]) -> list[Match]:
    """The nearest algorithm of each operation and size."""
    return [candidates[0] for candidates in matches(compared).values()]


def tied_matches(candidates: Sequence[Match]) -> list[Match]:
    """The nearest algorithm, and others within TIE_FACTOR of it: the times do not distinguish them."""
    nearest_match = candidates[0]
    return [
        match
        for match in candidates
        if match.complete == nearest_match.complete and match.factor <= TIE_FACTOR * nearest_match.factor
    ]


def unexplained_rows(compared: Sequence[ComparedNumber]) -> list[ComparedNumber]:
    """The printed times that the nearest algorithm of their operation and size misses by more than
    NEAR_ERROR; an algorithm that comes near on one number of processes only is a coincidence."""
    nearest_algorithms = {(match.operation, match.size): match.algorithm for match in nearest(compared)}
    rows = [row for row in compared if row.series == "algorithms"]
    nearest_rows = [
        row
        for row in rows
        if nearest_algorithms.get(_operation_and_size(row)) == row.mechanism.partition("=")[2]
    ]
    return [row for row in nearest_rows if row.error is not None and abs(row.error) > NEAR_ERROR]


def unreached_keys(compared: Iterable[ComparedNumber]) -> set[str]:
    """The keys of the printed times that no algorithm reaches within NEAR_ERROR."""
    rows = [row for row in compared if row.series == "algorithms" and row.error is not None]
    near_keys = {row.key for row in rows if abs(row.error or 0.0) <= NEAR_ERROR}
    return {row.key for row in rows} - near_keys


def _operation_and_size(row: ComparedNumber) -> tuple[str, str]:
    """Operation and size."""
    operation, size = row.key.split("/")[2:4]
    return operation, size


def _ratio(row: ComparedNumber) -> float:
    return abs(log((row.simulated or 0.0) / row.published))


def nearest_table(compared: Sequence[ComparedNumber]) -> Table:
    """A row for each operation and size: the nearest algorithm, its errors, and the algorithm that
    follows."""
    rows = tuple(_nearest_row(candidates) for candidates in matches(compared).values())
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
    errors = ("" if error is None else percent(error) for error in nearest_match.errors)
    next_match = _distance(candidates[1]) if len(candidates) > 1 else ""
    name = (OPERATIONS[nearest_match.operation], SIZE_WORDS[nearest_match.size], _distance(nearest_match))
    return (*name, *errors, f"{nearest_match.near} of {len(nearest_match.errors)}", next_match)


def _distance(match: Match) -> str:
    return f"{match.algorithm} ({match.factor:.2f})"


def sentences(compared: Sequence[ComparedNumber]) -> tuple[str, ...]:
    """Sentences on what can be concluded, and what cannot."""
    if not nearest(compared):
        return ()
    missed_rows = unexplained_rows(compared)
    texts = [
        "The paper does not print which algorithms the T3E's MPI used. Each algorithm of the engine ran on "
        "the simulated T3E; the nearest is a possible explanation, not a proof.",
        f"{names_by_operation(compared)}.",
        f"Missed by more than {NEAR_ERROR:.0%} by the nearest algorithm: {_row_list(missed_rows)}."
        if missed_rows
        else f"Each printed time is within {NEAR_ERROR:.0%} of the nearest algorithm's.",
        f"Printed times to which no algorithm comes within {NEAR_ERROR:.0%}: "
        f"{len(unreached_keys(compared))}.",
    ]
    slower_sizes = _slower_smaller_sizes()
    slower_processes = _slower_fewer_processes()
    texts += [
        f"Slower with 8 B than with 1 KB are {slower_sizes}. No algorithm explains this if a longer message "
        "costs more; the simulated machine has it because receiving a message without data is fitted to "
        "cost more than receiving one of 16 B.",
        f"Slower on fewer processes with the same vector is {slower_processes}. No algorithm explains this.",
    ]
    return tuple(texts)


def headline(compared: Sequence[ComparedNumber]) -> tuple[str, ...]:
    """The first screen's sentence on algorithms."""
    nearest_matches = nearest(compared)
    if not nearest_matches:
        return ()
    times = len(OPERATIONS) * len(SIZES) * len(PROCESSES)
    return (
        "The paper does not print the algorithms. Of those tried, these come nearest: "
        f"{names_by_operation(compared)}. With them, {sum(match.near for match in nearest_matches)} of the "
        f"{times} times are within {NEAR_ERROR:.0%}.",
    )


def names_by_operation(compared: Iterable[ComparedNumber]) -> str:
    """ "MPI_Bcast: binomial; MPI_Alltoall: linear (8 B), bruck (1 KB, 1 MB)"; "or" between those that are as
    near."""
    grouped: dict[str, dict[str, list[str]]] = {}
    for (operation, size), candidates in matches(compared).items():
        names = " or ".join(match.algorithm.replace("_", " ") for match in tied_matches(candidates))
        grouped.setdefault(operation, {}).setdefault(names, []).append(SIZE_WORDS[size])
    return "; ".join(f"{OPERATIONS[o]}: {_names_by_size(names)}" for o, names in grouped.items())


def _names_by_size(names: Mapping[str, Sequence[str]]) -> str:
    if len(names) == 1:
        return next(iter(names))
    return ", ".join(f"{name} ({', '.join(sizes)})" for name, sizes in names.items())


def _row_list(rows: Iterable[ComparedNumber]) -> str:
    """ "MPI_Reduce, 8 B, 32 (-54.0%) and 64 processes (-56.3%)", operations separated by semicolons."""
    grouped: dict[str, list[str]] = {}
    for row in rows:
        label, _, processes = row.what.rpartition(", ")
        grouped.setdefault(label, []).append(f"{processes.partition(' ')[0]} ({percent(row.error or 0.0)})")
    return "; ".join(f"{label} on {join_words(each)} processes" for label, each in grouped.items())


def _slower_smaller_sizes() -> str:
    """Printed times that fall from 8 B to 1 KB."""
    processes_by_operation: dict[str, list[int]] = {}
    for operation, name in OPERATIONS.items():
        for p in PROCESSES:
            if printed(operation, "8", p).si > printed(operation, "1KB", p).si:
                processes_by_operation.setdefault(name, []).append(p)
    return join_words(f"{name} on {join_words(each)}" for name, each in processes_by_operation.items())


def _slower_fewer_processes() -> str:
    """Printed times of a whole vector that fall as processes are added."""
    pairs = list(pairwise(PROCESSES))
    comparisons = [
        f"{OPERATIONS[o]} of {SIZE_WORDS[size]} on {few} than on {many}"
        for o in OPERATIONS
        if not DEFINITIONS[o].shared_out
        for size in SIZES
        for few, many in pairs
        if printed(o, size, few).si > printed(o, size, many).si
    ]
    return join_words(comparisons)


def percent(error: float) -> str:
    """ "+12%", and "0%" without a sign."""
    text = f"{error:+.0%}"
    return "0%" if text in ("+0%", "-0%") else text
