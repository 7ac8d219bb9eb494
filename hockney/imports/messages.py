# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors and notices about logs."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.errors import Inconclusive, UsageError, printable
from hockney.core.notice import Notice
from hockney.core.wording import listing, plural


def ranks_unknown(benchmarks: Sequence[str], files: Sequence[str]) -> UsageError:
    return UsageError(
        f"the number of ranks of {listing(benchmarks)} is unknown",
        f"{listing([printable(name) for name in files])} does not contain it"
        if len(files) == 1
        else f"{listing([printable(name) for name in files])} do not contain it",
        "give it with --ranks, and import logs of different numbers of ranks separately",
        code="log-ranks-unknown",
        benchmarks=tuple(benchmarks),
        files=tuple(files),
    )


def no_logs(files: Sequence[str], formats: Sequence[str]) -> UsageError:
    return UsageError(
        f"no benchmark's output in {listing([printable(name) for name in files])}",
        f"hockney reads the output of {listing(formats, len(formats))}",
        "name files that contain their tables as they were printed",
        code="no-benchmark-output",
        files=tuple(files),
    )


def nothing_imported(files: Sequence[str], reasons: Sequence[str]) -> Inconclusive:
    return Inconclusive(
        f"no number of {listing([printable(name) for name in files])} corresponds to a case",
        listing(reasons),
        "see docs/reference/peers.md for the benchmarks that do",
        code="nothing-imported",
        reasons=tuple(reasons),
    )


def aggregated() -> UsageError:
    return UsageError(
        "several operations were completed together", "hockney has no such case", code="aggregated-operations"
    )


def without_size() -> UsageError:
    return UsageError("the row has no size", "the case needs one", code="row-without-size")


def omitted(text: str) -> Notice:
    return Notice(text, "not-imported")


def bad_lines(name: str, lines: Sequence[int], first: str) -> Notice:
    """Lines inside tables that are no rows."""
    where = listing([str(line) for line in lines])
    return Notice(
        f"{printable(name)}: {plural(len(lines), 'line')} in tables left out, as they are incomplete or "
        f"garbled (line {where}, '{printable(first)}')",
        "garbled-lines",
    )


def long_lines(name: str, lines: Sequence[int], most: int) -> Notice:
    where = listing([str(line) for line in lines])
    return Notice(
        f"{printable(name)}: {plural(len(lines), 'line')} left out, of more than {most} characters: {where}",
        "long-lines",
    )


def too_many_launches(title: str, count: int, most: int) -> UsageError:
    return UsageError(
        f"a case of {printable(title)} is there {count} times",
        f"each time is a launch, and a run has at most {most}",
        "import fewer logs, or some of them at a time",
        code="log-too-many-launches",
        count=count,
        most=most,
    )


def cut_off(name: str, line: int) -> Notice:
    return Notice(
        f"{printable(name)}: line {line}, the last one, is left out: it has no end and may be cut off",
        "log-cut-off",
    )


def not_finished(name: str, title: str) -> Notice:
    return Notice(
        f"{printable(name)}: {title} did not print its end, so it did not finish or the log is incomplete",
        "log-not-finished",
    )


def nothing_known(name: str) -> Notice:
    return Notice(f"{printable(name)}: no benchmark's output in it", "nothing-known-in-log")


def same_log_twice(name: str, other: str) -> Notice:
    return Notice(
        f"{printable(name)} has the same contents as {printable(other)} and is left out: a log counted twice "
        "would look like two launches",
        "same-log-twice",
    )
