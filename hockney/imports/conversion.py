# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers as another benchmark prints them, as cases and times in seconds.

The case of each benchmark, and how its definition differs, is in `reference/peers`. Of the times that a
benchmark prints for a size, the one closest to hockney's definition counts: of IMB the largest of the ranks'
means, as hockney's time is the largest over the ranks. OSU prints that only with -f; to make all of its logs
comparable, the mean over the ranks counts. The others become metrics of the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError
from hockney.core.record import ROUNDING, MetricSeries, OverRanks
from hockney.imports.log import LogTable, Row
from hockney.reference.peers import Benchmark

US, MB, PERCENT = 1e-6, 1e6, 1.0
TIMES = (
    "Avg Latency(us)", "Latency(us)", "Overall(us)", "t_max[usec]", "t_ovrl[usec]", "t[usec]", "time",
)  # fmt: skip
"""Columns in microseconds, the first that a table has counts."""
RATES = ("Messages/s", "Msg/sec")
BANDWIDTHS = ("Bandwidth (MB/s)", "MB/s", "Mbytes/sec")
SIZES = ("Size", "#bytes", "size")
REPETITIONS = ("Iterations", "#repetitions", "repetitions", "iterations")
HALF_DIGITS = {"osu": 0.005, "imb": 0.005, "skampi": 0.05}
"""Half of the last printed digit of a column; nccl-tests print five significant ones. Message rates of IMB
have no decimals, which is more than enough."""
MOST_OPERATIONS = 4096

METRICS: Mapping[str, tuple[str, str, OverRanks, float]] = {
    "Min Latency(us)": ("printed_min", "s", "min", US),
    "Max Latency(us)": ("printed_max", "s", "max", US),
    "t_min[usec]": ("printed_min", "s", "min", US),
    "t_avg[usec]": ("printed_mean", "s", "mean", US),
    "P50 Tail Lat(us)": ("printed_p50", "s", "mean", US),
    "P90 Tail Lat(us)": ("printed_p90", "s", "mean", US),
    "P99 Tail Lat(us)": ("printed_p99", "s", "mean", US),
    "Pure Comm.(us)": ("pure", "s", "mean", US),
    "t_pure[usec]": ("pure", "s", "max", US),
    "t_CPU[usec]": ("cpu", "s", "max", US),
    "Overlap(%)": ("printed_overlap", "%", "mean", PERCENT),
    "overlap[%]": ("printed_overlap", "%", "mean", PERCENT),
    "error": ("standard_error", "s", "max", US),
    "deviation": ("standard_deviation", "s", "max", US),
    "busbw": ("busbw", "B/s", "mean", 1e9),
}
"""Name, unit, how it was combined over the ranks, and factor of each other column. nccl-tests before 2.13
print an error without a unit, which is left out."""


@dataclass(frozen=True)
class Converted:
    """The time of a case in seconds: the mean of `repetitions` operations (1: unknown). `errors` is the
    number of wrong results."""

    case: Case
    seconds: float
    bytes_moved: int
    repetitions: int
    errors: int
    metrics: Mapping[str, MetricSeries]


@dataclass(frozen=True)
class Omitted:
    """A row that has no case, for this `reason`."""

    reason: str


def in_place(row: Row) -> Row | None:
    """The row with the numbers of nccl-tests' second group of columns; None if there are none."""
    twins = {name.removesuffix("'"): value for name, value in row.values.items() if name.endswith("'")}
    if "time" not in twins:
        return None
    return Row(
        row.line, {**{k: v for k, v in row.values.items() if not k.endswith("'")}, **twins}, row.errors
    )


def convert(
    table: LogTable, benchmark: Benchmark, ranks: int, catalog: Catalog
) -> Iterator[Converted | Omitted]:
    """Convert each row of `table`, which is of `benchmark`; `catalog` has its workload."""
    for row in table.rows:
        try:
            case = _case(table, row, benchmark, ranks, catalog)
        except UsageError as error:
            yield Omitted(f"{error.what}: {error.why}" if error.why else error.what)
            continue
        bytes_moved = _directions(case, catalog) * case.bytes
        time = _time(row, bytes_moved, HALF_DIGITS.get(table.suite, 0.0))
        if time is None:
            yield Omitted("it has no time, message rate or bandwidth")
        elif time[0] <= 0:
            yield Omitted("it was rounded to 0 when it was printed")
        else:
            seconds, rounding = (benchmark.factor * each for each in time)
            metrics = _metrics(table.suite, row) | (
                {ROUNDING: _metric("s", "max", rounding)} if rounding else {}
            )
            yield Converted(case, seconds, bytes_moved, _repetitions(row), row.errors, metrics)


def _case(table: LogTable, row: Row, benchmark: Benchmark, ranks: int, catalog: Catalog) -> Case:
    """Raises UsageError if the catalog has no such case."""
    name, *words = benchmark.case.split()
    raw = dict(word.split("=", 1) for word in words)
    parameter_names = {parameter.name for parameter in catalog.workload(name).parameters}
    raw |= {key: value for key, value in table.parameters.items() if key in parameter_names}
    if "window" in table.parameters and "window" not in parameter_names and "operations" in raw:
        raw["operations"] = table.parameters["window"]  # one-sided: operations before each completion
    if "operations" in table.parameters:
        if "operations" not in parameter_names:
            raise UsageError(
                "several operations were completed together",
                "hockney has no such case",
                code="aggregated-operations",
            )
        raw["operations"] = str(min(_repetitions(row), MOST_OPERATIONS))
    raw.setdefault("ranks", str(ranks))
    size = next((row.values[column] for column in SIZES if column in row.values), None)
    if "bytes" in parameter_names:
        if size is None:
            raise UsageError("the row has no size", "the case needs one", code="row-without-size")
        raw["bytes"] = f"{size / (int(raw['ranks']) if benchmark.whole else 1):.17g}"
    return catalog.complete_case(name, raw)


def _directions(case: Case, catalog: Catalog) -> int:
    """The number of directions in which the bandwidth of a case counts its bytes."""
    return 2 if catalog.entry(case.workload).bidirectional or case.get("direction") == "both" else 1


def _time(row: Row, bytes_moved: int, half_digit: float) -> tuple[float, float] | None:
    """The time, from a rate or a bandwidth if none is printed, and its largest error due to rounding."""
    values = row.values
    for column in TIMES:
        if column in values:
            return values[column] * US, half_digit * US
    for column in (*RATES, *BANDWIDTHS):
        if column in values:
            value = values[column]
            seconds = (1 if column in RATES else bytes_moved / MB) / value if value else 0.0
            return seconds, seconds * half_digit / value if value else 0.0
    return None


def _repetitions(row: Row) -> int:
    return next((max(1, round(row.values[name])) for name in REPETITIONS if name in row.values), 1)


def _metrics(suite: str, row: Row) -> dict[str, MetricSeries]:
    metrics = {}
    for column, value in row.values.items():
        if column in METRICS and not (suite == "nccl" and column == "error"):
            name, unit, over, factor = METRICS[column]
            metrics[name] = _metric(unit, over, value * factor)
    return metrics


def _metric(unit: str, over: OverRanks, value: float) -> MetricSeries:
    return MetricSeries(unit=unit, over_ranks=over, per="record", phase=False, values=[value])
