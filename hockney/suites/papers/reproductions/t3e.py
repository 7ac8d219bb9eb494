# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The Cray T3E-512 of Resch, Berger, Rabenseifner and Boenisch (1998): point-to-point, barrier, and six
collectives of three sizes on 32 to 256 processes, 72 printed times.

The machine model contains only messages. Their cost is printed, and the part of it that occupies a
processor is fitted to a few rows, which are named in the machine's origins. For rows that disagree, an
additional mechanism is tried; those rows are counted separately."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hockney.core.case import MPI
from hockney.core.catalog import Catalog
from hockney.draw.page import Page, Section, Table
from hockney.machines.simulated import platform
from hockney.reproductions import pages
from hockney.reproductions.compared import Check, ComparedNumber, Statement, status_of
from hockney.reproductions.parts import Answer, Part
from hockney.studies.collectives.plan import T3E_SIZES
from hockney.suites.papers.reproductions import (
    t3e_algorithms,
    t3e_cases,
    t3e_findings,
    t3e_page,
    t3e_text,
)
from hockney.suites.papers.reproductions.t3e_cases import (
    ALGORITHMS,
    FORMULA,
    MECHANISMS,
    MESSAGE_BARRIER,
    OPERATIONS,
    PAPER_VALUES,
    PROCESSES,
    SIZE_TITLES,
    SIZES,
    Mechanism,
    counted_seconds,
    is_simulated,
    printed_row,
    seconds,
)

__all__ = ["FIGURES", "NAME", "PAPER", "TITLE", "checks", "compare", "page", "parts"]

NAME = "t3e"
TITLE = "Cray T3E-512: messages, barrier and collectives on up to 256 processes"
PAPER = "t3e"
FIGURES = {
    "1": "t3e-figure-1",
    "2": "t3e-figure-2",
    "3, 5, 7, 9, 11": "t3e-bcast-bandwidth-by-size",
    "4, 6, 8, 10, 12": "t3e-bcast-bandwidth",
}

CLOSE_ERROR = 0.25
REQUIRED_TIMES = 48
"""Minimum number of the 72 printed times within CLOSE_ERROR."""
EXPLAINED_SHARE = 0.75
"""Minimum fraction of the deviating rows that mechanisms bring within CLOSE_ERROR."""
TIME_TOLERANCE = 0.01
"""Maximum relative difference between SimGrid's algorithms and the engine's with the same messages."""
TOO_MANY_MESSAGES = "not simulated: too many messages share the torus at once; see the mechanisms"
POINT_TO_POINT_TABLE, BARRIER_TABLE = "point-to-point", "barrier"


def parts(catalog: Catalog) -> list[Part]:
    return [*t3e_cases.parts(catalog), t3e_algorithms.part(catalog, platform(NAME))]


def compare(answers: Mapping[str, Answer]) -> list[ComparedNumber]:
    tables = [
        _table_row(answers, operation, size, p)
        for size in SIZES
        for operation in OPERATIONS
        for p in PROCESSES
    ]
    mechanism_rows = [row for mechanism in MECHANISMS for row in _mechanism_rows(answers, mechanism)]
    return [
        *_pair_rows(answers["pairs"]),
        *tables,
        *t3e_text.rows(answers),
        *_barrier_rows(answers),
        *mechanism_rows,
        *t3e_algorithms.rows(answers[ALGORITHMS]),
    ]


def _pair_rows(pairs: Answer) -> Iterable[ComparedNumber]:
    for size in T3E_SIZES:
        key = f"{FORMULA.key}/{size}"
        yield ComparedNumber(
            key,
            f"one way, {size} B",
            FORMULA.time(size),
            pairs.seconds("pingpong", bytes=size),
            pairs.platform.segment(size).one_way(size, 1, pairs.platform.network.hop_s),
            "s",
            status_of(pairs.platform, key),
            table=POINT_TO_POINT_TABLE,
        )


def _table_row(
    answers: Mapping[str, Answer],
    operation: str,
    size: str,
    processes: int,
    mechanism: Mechanism | None = None,
) -> ComparedNumber:
    row, answer = printed_row(operation, size, processes), answers[mechanism.part if mechanism else "tables"]
    has_time = mechanism is not None or is_simulated(operation, size, processes)
    if mechanism:
        time = t3e_cases.mechanism_seconds(answers, mechanism, operation, SIZES[size], processes)
    else:
        time = seconds(answer, operation, SIZES[size], processes) if has_time else None
    explanations = [candidate for candidate in MECHANISMS if (operation, size) in candidate.explained_rows]
    is_missed = time is None or abs(time / row.si - 1) > CLOSE_ERROR
    return ComparedNumber(
        row.key,
        f"{OPERATIONS[operation]}, {SIZE_TITLES[size]}, {processes} processes",
        row.si,
        time,
        counted_seconds(answer.platform, operation, SIZES[size], processes),
        "s",
        # Another way of timing does not change the machine, so nothing was fitted to these results.
        "variant"
        if mechanism and mechanism.sync
        else status_of(answer.platform, row.key, mechanism.title if mechanism else ""),
        mechanism.title
        if mechanism
        else "; ".join(candidate.title for candidate in explanations if is_missed),
        note="" if has_time else TOO_MANY_MESSAGES,
        table=f"tried out: {mechanism.title}" if mechanism else f"time of collectives, {SIZE_TITLES[size]}",
        series="tried" if mechanism else "collectives",
    )


def _mechanism_rows(answers: Mapping[str, Answer], mechanism: Mechanism) -> Iterable[ComparedNumber]:
    return (
        _table_row(answers, operation, size, p, mechanism)
        for operation, size in mechanism.rows
        for p in mechanism.processes
    )


def _barrier_rows(answers: Mapping[str, Answer]) -> Iterable[ComparedNumber]:
    row, tables = PAPER_VALUES.row("t3e/text/barrier/256"), answers["tables"]
    for algorithm, mechanism in ((MPI, ""), (MESSAGE_BARRIER, "a barrier of messages")):
        yield ComparedNumber(
            row.key,
            "MPI_Barrier, 256 processes",
            row.si,
            tables.seconds("barrier", algorithm=algorithm, ranks=256),
            None,
            "s",
            "variant" if mechanism else status_of(tables.platform, row.key),
            mechanism,
            table=BARRIER_TABLE,
        )


def table_rows(comparisons: Iterable[ComparedNumber]) -> list[ComparedNumber]:
    """Returns the 72 printed times, simulated with messages only."""
    return [row for row in comparisons if row.series == "collectives"]


def close_rows(rows: Iterable[ComparedNumber]) -> list[ComparedNumber]:
    return [row for row in rows if row.error is not None and abs(row.error) <= CLOSE_ERROR]


def explained_counts(comparisons: Sequence[ComparedNumber]) -> tuple[int, int, int]:
    """Returns the number of rows that disagree on the machine of messages, the number of these that agree
    with the mechanism assumed to explain them, and the number of the latter to which the mechanism was
    fitted."""
    explained_rows = {
        (mechanism.title, operation, size)
        for mechanism in MECHANISMS
        for operation, size in mechanism.explained_rows
    }
    status_by_key = {
        row.key: row.status
        for row in close_rows(comparisons)
        if row.series == "tried" and (row.mechanism, *row.key.split("/")[2:4]) in explained_rows
    }
    near_keys = {row.key for row in close_rows(table_rows(comparisons))}
    missed_keys = [row.key for row in table_rows(comparisons) if row.key not in near_keys]
    explained_statuses = [status_by_key[key] for key in missed_keys if key in status_by_key]
    return len(missed_keys), len(explained_statuses), explained_statuses.count("fitted")


def checks(answers: Mapping[str, Answer], comparisons: Sequence[ComparedNumber]) -> list[Check]:
    rows = table_rows(comparisons)
    near_rows = close_rows(rows)
    counts_by_status = [
        f"{sum(row.status == status for row in near_rows)} of "
        f"{sum(row.status == status for row in rows)} {status}"
        for status in ("predicted", "fitted")
    ]
    missed_count, explained_count, fitted_count = explained_counts(comparisons)
    return [
        Statement(
            "point-to-point", "figure 1", "17 + x/50 us and 56 + x/308 us, 0 B to 1 MiB, within 1%"
        ).within([row for row in comparisons if row.table == POINT_TO_POINT_TABLE], 0.01),
        Statement(
            "collectives-close",
            "",
            f"{REQUIRED_TIMES} of the {len(rows)} printed times within {CLOSE_ERROR:.0%}",
        ).check(len(near_rows) >= REQUIRED_TIMES, f"{len(near_rows)}: {', '.join(counts_by_status)}"),
        Statement(
            "collectives-explained",
            "",
            f"{EXPLAINED_SHARE:.0%} of the others within {CLOSE_ERROR:.0%} with an additional mechanism",
        ).check(
            explained_count >= EXPLAINED_SHARE * missed_count,
            f"{explained_count} of {missed_count}, {fitted_count} of them fitted: "
            f"{len(near_rows) + explained_count} of {len(rows)} in "
            f"all",
        ),
        *t3e_text.checks(answers),
        t3e_algorithms.simgrid_check(comparisons, platform(NAME), TIME_TOLERANCE),
    ]


def page(
    answers: Mapping[str, Answer], comparisons: Sequence[ComparedNumber], checks: Sequence[Check]
) -> Page:
    algorithms = Section(
        "Which algorithms come nearest",
        text=t3e_findings.sentences(comparisons),
        tables=(t3e_findings.nearest_table(comparisons),),
    )
    sections = [
        algorithms,
        Section("Discrepancies and their causes", text=_mechanism_sentences(comparisons)),
        Section("One message", figures=t3e_page.pair_figures(answers)),
        Section("Barrier", figures=(t3e_page.barrier_figure(answers["tables"]),)),
        *(_section(operation, answers) for operation in OPERATIONS),
        Section("What does not agree within the paper", text=PAPER_VALUES.inconsistencies),
    ]
    return pages.reproduction_page(
        (NAME, TITLE, PAPER_VALUES.citation), answers, comparisons, checks, _summary(comparisons), sections
    )


def _section(operation: str, answers: Mapping[str, Answer]) -> Section:
    """Returns the paper's figures of an operation (3 to 12: by size, and by processes), and every
    algorithm."""
    algorithms = answers[ALGORITHMS]
    return Section(
        OPERATIONS[operation],
        figures=(
            *(t3e_page.figure_over_sizes(operation, algorithms, bandwidth) for bandwidth in (False, True)),
            *(t3e_page.figure_over_processes(operation, answers, bandwidth) for bandwidth in (False, True)),
        ),
        tables=(t3e_page.models_table(operation, answers), t3e_page.algorithms_table(operation, algorithms)),
    )


def summaries(comparisons: Sequence[ComparedNumber]) -> Sequence[Table]:
    """Returns the tables for the terminal: the nearest algorithms, instead of a row for each algorithm."""
    return (t3e_findings.nearest_table(comparisons),)


def _summary(comparisons: Sequence[ComparedNumber]) -> tuple[str, ...]:
    rows = table_rows(comparisons)
    near_rows, (missed_count, explained_count, fitted_count) = close_rows(rows), explained_counts(comparisons)
    if not pages.simulated_rows(rows):
        return ("The paper timed MPI on a Cray T3E.", "Nothing was simulated yet.")
    fitted_near_count = sum(row.status == "fitted" for row in near_rows)
    return (
        "The paper timed MPI on a Cray T3E. The simulated T3E sends messages at the printed speeds over a "
        "torus, runs the usual algorithms, and models nothing else of the machine.",
        f"With messages alone it gives {len(near_rows)} of the {len(rows)} printed times of "
        "collectives on 32 to "
        f"256 processes within {CLOSE_ERROR:.0%}; {fitted_near_count} of these had helped to "
        "describe the machine, "
        f"{len(near_rows) - fitted_near_count} are predicted.",
        f"Of the other {missed_count}, {explained_count} come as close if the machine gets one "
        "additional mechanism, "
        f"such as collectives in shared memory or an all-to-all in log2 P steps ({fitted_count} "
        "of them fitted): "
        f"{len(near_rows) + explained_count} of {len(rows)} in all. The rest is not explained.",
        *t3e_findings.headline(comparisons),
    )


def _mechanism_sentences(comparisons: Sequence[ComparedNumber]) -> tuple[str, ...]:
    """Returns a sentence for each mechanism, with the numbers of rows that agree with and without it."""
    near_keys = {row.key for row in close_rows(table_rows(comparisons))}
    sentences = []
    for mechanism in MECHANISMS:
        rows = [row for row in comparisons if row.series == "tried" and row.mechanism == mechanism.title]
        count_without = sum(row.key in near_keys for row in rows)
        explained_list = ", ".join(
            f"{OPERATIONS[operation]} {SIZE_TITLES[size]}" for operation, size in mechanism.explained_rows
        )
        explanation = f": this explains {explained_list}" if explained_list else "; tried for comparison only"
        sentences.append(
            f"With {mechanism.title}, {len(close_rows(rows))} of {len(rows)} times come within "
            f"{CLOSE_ERROR:.0%}, "
            f"{count_without} without{explanation}."
        )
    return tuple(sentences)
