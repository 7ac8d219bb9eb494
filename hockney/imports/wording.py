# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Why a number of a log is not imported, and what is noted about a run made of logs."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.errors import HockneyError, printable
from hockney.core.wording import list_names, plural


def no_case(error: HockneyError) -> str:
    return f"{error.what}: {error.why}" if error.why else error.what


def no_time() -> str:
    return "it has no time, message rate or bandwidth"


def rounded_to_zero() -> str:
    return "it was rounded to 0 when it was printed"


def unknown_benchmark() -> str:
    return "hockney does not know this benchmark"


def too_many_ranks(count: int, most: int) -> str:
    return f"it ran on {count} ranks, and hockney imports launches of at most {most}"


def no_rows() -> str:
    return "the table has no rows"


def no_in_place() -> str:
    return "it has no time for the same buffers"


def one_mean(title: str) -> str:
    return (
        f"Each number is one mean as {title} printed it; each time that the benchmark was run is a launch. "
        "Repetitions, their distribution and warm-up are unknown, and nothing was verified by hockney."
    )


def definition(title: str, defined: str) -> str:
    return f"{title}: {defined}"


def differs(benchmark: str, case: str, text: str) -> str:
    return f"{benchmark} became {case}: {text}."


def on_gpus() -> str:
    return "The buffers were in the memory of GPUs; those of hockney are in the memory of hosts."


def same_buffers() -> str:
    return "The times are those with the same buffer for input and output (in-place)."


def ranks_given(ranks: int, benchmarks: Sequence[str]) -> str:
    return f"The number of ranks, {ranks}, was given at the import, for {list_names(benchmarks)}."


def dates_of_files() -> str:
    return "The logs contain no date; the date is that of the file."


def hosts(names: Sequence[str]) -> str:
    """The first host and the number of others; "" if `names` is empty."""
    if len(names) < 2:
        return "".join(names)
    return f"{names[0]} and {plural(len(names) - 1, 'other host')}"


def omitted(where: str, count: int, benchmark: str, reason: str) -> str:
    numbers = f"{plural(count, 'number')} of {printable(benchmark)}"
    return f"{printable(where)}: {numbers} not imported: {reason}."


def reported_wrong() -> str:
    return "reported by the benchmark"
