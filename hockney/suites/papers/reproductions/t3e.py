# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The Cray T3E-512 of Resch, Berger, Rabenseifner and Boenisch (1998): point-to-point, barrier, and six
collectives of three sizes on 32 to 256 processes, 72 printed times.

The machine has only messages: their cost is printed, and the part of it that occupies a processor is fitted
to a few rows (named in the machine's origins). For rows that disagree, an additional mechanism is tried;
those rows are counted separately.
"""

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
    PRINTED,
    PROCESSES,
    SIZE_WORDS,
    SIZES,
    Mechanism,
    counted_seconds,
    is_simulated,
    printed,
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

CLOSE = 0.25
REQUIRED_TIMES = 48
"""Required of the 72 printed times within CLOSE."""
EXPLAINED_SHARE = 0.75
"""The fraction of rows with deviations that mechanisms must bring within CLOSE."""
SAME_TIME = 0.01
"""Largest difference between SimGrid's algorithms and the engine's with the same messages."""
TOO_MANY = "not simulated: too many messages share the torus at once; see the mechanisms"
POINTS, BARRIER = "point-to-point", "barrier"


def parts(catalog: Catalog) -> list[Part]:
    return [*t3e_cases.parts(catalog), t3e_algorithms.part(catalog, platform(NAME))]


def compare(answers: Mapping[str, Answer]) -> list[ComparedNumber]:
    tables = [_row(answers, o, s, p) for s in SIZES for o in OPERATIONS for p in PROCESSES]
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
            table=POINTS,
        )


def _row(
    answers: Mapping[str, Answer],
    operation: str,
    size: str,
    processes: int,
    mechanism: Mechanism | None = None,
) -> ComparedNumber:
    row, answer = printed(operation, size, processes), answers[mechanism.part if mechanism else "tables"]
    has_time = mechanism is not None or is_simulated(operation, size, processes)
    if mechanism:
        time = t3e_cases.mechanism_seconds(answers, mechanism, operation, SIZES[size], processes)
    else:
        time = seconds(answer, operation, SIZES[size], processes) if has_time else None
    explanations = [each for each in MECHANISMS if (operation, size) in each.explains]
    is_missed = time is None or abs(time / row.si - 1) > CLOSE
    return ComparedNumber(
        row.key,
        f"{OPERATIONS[operation]}, {SIZE_WORDS[size]}, {processes} processes",
        row.si,
        time,
        counted_seconds(answer.platform, operation, SIZES[size], processes),
        "s",
        # Timing differently does not change the machine: nothing was fitted to these results.
        "variant"
        if mechanism and mechanism.sync
        else status_of(answer.platform, row.key, mechanism.words if mechanism else ""),
        mechanism.words if mechanism else "; ".join(each.words for each in explanations if is_missed),
        note="" if has_time else TOO_MANY,
        table=f"tried out: {mechanism.words}" if mechanism else f"time of collectives, {SIZE_WORDS[size]}",
        series="tried" if mechanism else "collectives",
    )


def _mechanism_rows(answers: Mapping[str, Answer], m: Mechanism) -> Iterable[ComparedNumber]:
    return (_row(answers, o, s, p, m) for o, s in m.rows for p in m.processes)


def _barrier_rows(answers: Mapping[str, Answer]) -> Iterable[ComparedNumber]:
    row, tables = PRINTED.row("t3e/text/barrier/256"), answers["tables"]
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
            table=BARRIER,
        )


def table_rows(compared: Iterable[ComparedNumber]) -> list[ComparedNumber]:
    """The 72 printed times on the machine of messages."""
    return [row for row in compared if row.series == "collectives"]


def close_rows(rows: Iterable[ComparedNumber]) -> list[ComparedNumber]:
    return [row for row in rows if row.error is not None and abs(row.error) <= CLOSE]


def explained_counts(compared: Sequence[ComparedNumber]) -> tuple[int, int, int]:
    """Rows for which the machine of messages disagrees, how many of them agree with the mechanism assumed to
    explain them, and to how many of these the mechanism was fitted."""
    explained_rows = {(m.words, o, s) for m in MECHANISMS for o, s in m.explains}
    close_status = {
        row.key: row.status
        for row in close_rows(compared)
        if row.series == "tried" and (row.mechanism, *row.key.split("/")[2:4]) in explained_rows
    }
    near_keys = {row.key for row in close_rows(table_rows(compared))}
    missed = [row.key for row in table_rows(compared) if row.key not in near_keys]
    explained_status = [close_status[key] for key in missed if key in close_status]
    return len(missed), len(explained_status), explained_status.count("fitted")


def checks(answers: Mapping[str, Answer], compared: Sequence[ComparedNumber]) -> list[Check]:
    rows = table_rows(compared)
    close = close_rows(rows)
    by_status = [
        f"{sum(r.status == status for r in close)} of {sum(r.status == status for r in rows)} {status}"
        for status in ("predicted", "fitted")
    ]
    missed, explained, fitted = explained_counts(compared)
    return [
        Statement(
            "point-to-point", "figure 1", "17 + x/50 us and 56 + x/308 us, 0 B to 1 MiB, within 1%"
        ).within([row for row in compared if row.table == POINTS], 0.01),
        Statement(
            "collectives-close", "", f"{REQUIRED_TIMES} of the {len(rows)} printed times within {CLOSE:.0%}"
        ).check(len(close) >= REQUIRED_TIMES, f"{len(close)}: {', '.join(by_status)}"),
        Statement(
            "collectives-explained",
            "",
            f"{EXPLAINED_SHARE:.0%} of the others within {CLOSE:.0%} with an additional mechanism",
        ).check(
            explained >= EXPLAINED_SHARE * missed,
            f"{explained} of {missed}, {fitted} of them fitted: {len(close) + explained} of {len(rows)} in "
            f"all",
        ),
        *t3e_text.checks(answers),
        t3e_algorithms.simgrid_check(compared, platform(NAME), SAME_TIME),
    ]


def page(answers: Mapping[str, Answer], compared: Sequence[ComparedNumber], checks: Sequence[Check]) -> Page:
    algorithms = Section(
        "Which algorithms come nearest",
        text=t3e_findings.sentences(compared),
        tables=(t3e_findings.nearest_table(compared),),
    )
    sections = [
        algorithms,
        Section("Discrepancies and their causes", text=_mechanism_sentences(compared)),
        Section("One message", figures=t3e_page.pairs(answers)),
        Section("Barrier", figures=(t3e_page.barrier(answers["tables"]),)),
        *(_section(operation, answers) for operation in OPERATIONS),
        Section("What does not agree within the paper", text=PRINTED.inconsistencies),
    ]
    return pages.page(
        (NAME, TITLE, PRINTED.citation), answers, compared, checks, _summary(compared), sections
    )


def _section(operation: str, answers: Mapping[str, Answer]) -> Section:
    """The paper's figures of an operation (3 to 12: by size, and by processes), and every algorithm."""
    algorithms = answers[ALGORITHMS]
    return Section(
        OPERATIONS[operation],
        figures=(
            *(t3e_page.figure_over_sizes(operation, algorithms, bandwidth) for bandwidth in (False, True)),
            *(t3e_page.figure_over_processes(operation, answers, bandwidth) for bandwidth in (False, True)),
        ),
        tables=(t3e_page.models_table(operation, answers), t3e_page.algorithms_table(operation, algorithms)),
    )


def summaries(compared: Sequence[ComparedNumber]) -> Sequence[Table]:
    """The tables for the terminal: the nearest algorithms, instead of a row for each algorithm."""
    return (t3e_findings.nearest_table(compared),)


def _summary(compared: Sequence[ComparedNumber]) -> tuple[str, ...]:
    rows = table_rows(compared)
    close, (missed, explained, fitted) = close_rows(rows), explained_counts(compared)
    if not pages.simulated_rows(rows):
        return ("The paper timed MPI on a Cray T3E.", "Nothing was simulated yet.")
    fitted_close = sum(row.status == "fitted" for row in close)
    return (
        "The paper timed MPI on a Cray T3E. The simulated T3E sends messages at the printed speeds over a "
        "torus, runs the usual algorithms, and models nothing else of the machine.",
        f"With messages alone it gives {len(close)} of the {len(rows)} printed times of collectives on 32 to "
        f"256 processes within {CLOSE:.0%}; {fitted_close} of these had helped to describe the machine, "
        f"{len(close) - fitted_close} are predicted.",
        f"Of the other {missed}, {explained} come as close if the machine gets one additional mechanism, "
        f"such as collectives in shared memory or an all-to-all in log2 P steps ({fitted} of them fitted): "
        f"{len(close) + explained} of {len(rows)} in all. The rest is not explained.",
        *t3e_findings.headline(compared),
    )


def _mechanism_sentences(compared: Sequence[ComparedNumber]) -> tuple[str, ...]:
    """A sentence for each mechanism: how many of the rows on which it was tried agree with and without it."""
    near_keys = {row.key for row in close_rows(table_rows(compared))}
    texts = []
    for m in MECHANISMS:
        rows = [row for row in compared if row.series == "tried" and row.mechanism == m.words]
        without_mechanism = sum(row.key in near_keys for row in rows)
        explains = ", ".join(f"{OPERATIONS[o]} {SIZE_WORDS[s]}" for o, s in m.explains)
        ending = f": this explains {explains}" if explains else "; tried for comparison only"
        texts.append(
            f"With {m.words}, {len(close_rows(rows))} of {len(rows)} times come within {CLOSE:.0%}, "
            f"{without_mechanism} without{ending}."
        )
    return tuple(texts)
