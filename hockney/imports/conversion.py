# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of numbers as another benchmark prints them into cases and times in seconds.

The case of each benchmark, and the differences of its definition, are in `reference/peers`. Of the times that
a benchmark prints for a size, the one closest to hockney's definition counts. For IMB, this is the maximum of
the ranks' means, because hockney's time is the maximum over the ranks. OSU prints that only with -f; to make
all of its logs comparable, the mean over the ranks counts. The other times become metrics of the record.
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
TIME_COLUMNS = (
    "Avg Latency(us)", "Latency(us)", "Overall(us)", "t_max[usec]", "t_ovrl[usec]", "t[usec]", "time",
)  # fmt: skip
"""Columns in microseconds; the first one that a table contains counts."""
RATE_COLUMNS = ("Messages/s", "Msg/sec")
BANDWIDTH_COLUMNS = ("Bandwidth (MB/s)", "MB/s", "Mbytes/sec")
SIZE_COLUMNS = ("Size", "#bytes", "size")
REPETITION_COLUMNS = ("Iterations", "#repetitions", "repetitions", "iterations")
ROUNDING_ERRORS = {"osu": 0.005, "imb": 0.005, "skampi": 0.05}
"""Half of the last printed digit of a column, by suite. nccl-tests print five significant digits. Message
rates of IMB have no decimals, which is precise enough."""
MAX_OPERATIONS = 4096

METRIC_COLUMNS: Mapping[str, tuple[str, str, OverRanks, float]] = {
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
"""Name, unit, combination over the ranks, and factor of each other column. nccl-tests before 2.13 print an
error without a unit, which is omitted."""


@dataclass(frozen=True)
class ConvertedRow:
    """The time of a case in seconds: the mean of `repetitions` operations (1: unknown). `errors` is the
    number of wrong results."""

    case: Case
    seconds: float
    bytes_moved: int
    repetitions: int
    errors: int
    metrics: Mapping[str, MetricSeries]


@dataclass(frozen=True)
class OmittedRow:
    """A row without a case, for this `reason`."""

    reason: str


def in_place_row(row: Row) -> Row | None:
    """Return the row with the numbers of nccl-tests' second group of columns, or None without them."""
    in_place_values = {
        name.removesuffix("'"): value for name, value in row.values.items() if name.endswith("'")
    }
    if "time" not in in_place_values:
        return None
    return Row(
        row.line,
        {**{k: v for k, v in row.values.items() if not k.endswith("'")}, **in_place_values},
        row.errors,
    )


def convert_rows(
    table: LogTable, benchmark: Benchmark, ranks: int, catalog: Catalog
) -> Iterator[ConvertedRow | OmittedRow]:
    """Convert each row of `table`, which contains results of `benchmark`; `catalog` contains its workload."""
    for row in table.rows:
        try:
            case = _case_of_row(table, row, benchmark, ranks, catalog)
        except UsageError as error:
            yield OmittedRow(f"{error.what}: {error.why}" if error.why else error.what)
            continue
        bytes_moved = _direction_count(case, catalog) * case.bytes
        time = _time_and_rounding(row, bytes_moved, ROUNDING_ERRORS.get(table.suite, 0.0))
        if time is None:
            yield OmittedRow("it has no time, message rate or bandwidth")
        elif time[0] <= 0:
            yield OmittedRow("it was rounded to 0 when it was printed")
        else:
            seconds, rounding = (benchmark.factor * number for number in time)
            metrics = _row_metrics(table.suite, row) | (
                {ROUNDING: _record_metric("s", "max", rounding)} if rounding else {}
            )
            yield ConvertedRow(case, seconds, bytes_moved, _repetition_count(row), row.errors, metrics)


def _case_of_row(table: LogTable, row: Row, benchmark: Benchmark, ranks: int, catalog: Catalog) -> Case:
    """Return the case of a row. Raises UsageError if the catalog contains no such case."""
    name, *assignments = benchmark.case.split()
    parameters = dict(word.split("=", 1) for word in assignments)
    parameter_names = {parameter.name for parameter in catalog.workload(name).parameters}
    parameters |= {key: value for key, value in table.parameters.items() if key in parameter_names}
    if "window" in table.parameters and "window" not in parameter_names and "operations" in parameters:
        parameters["operations"] = table.parameters["window"]  # one-sided: operations before each completion
    if "operations" in table.parameters:
        if "operations" not in parameter_names:
            raise UsageError(
                "several operations were completed together",
                "hockney has no such case",
                code="aggregated-operations",
            )
        parameters["operations"] = str(min(_repetition_count(row), MAX_OPERATIONS))
    parameters.setdefault("ranks", str(ranks))
    size = next((row.values[column] for column in SIZE_COLUMNS if column in row.values), None)
    if "bytes" in parameter_names:
        if size is None:
            raise UsageError("the row has no size", "the case needs one", code="row-without-size")
        parameters["bytes"] = f"{size / (int(parameters['ranks']) if benchmark.whole else 1):.17g}"
    return catalog.complete_case(name, parameters)


def _direction_count(case: Case, catalog: Catalog) -> int:
    """Return the number of directions in which the bandwidth of a case counts its bytes."""
    return 2 if catalog.entry(case.workload).bidirectional or case.get("direction") == "both" else 1


def _time_and_rounding(row: Row, bytes_moved: int, rounding_error: float) -> tuple[float, float] | None:
    """Return the time, computed from a rate or a bandwidth if none is printed, and its maximum rounding
    error."""
    values = row.values
    for column in TIME_COLUMNS:
        if column in values:
            return values[column] * US, rounding_error * US
    for column in (*RATE_COLUMNS, *BANDWIDTH_COLUMNS):
        if column in values:
            value = values[column]
            seconds = (1 if column in RATE_COLUMNS else bytes_moved / MB) / value if value else 0.0
            return seconds, seconds * rounding_error / value if value else 0.0
    return None


def _repetition_count(row: Row) -> int:
    return next((max(1, round(row.values[name])) for name in REPETITION_COLUMNS if name in row.values), 1)


def _row_metrics(suite: str, row: Row) -> dict[str, MetricSeries]:
    metrics = {}
    for column, value in row.values.items():
        if column in METRIC_COLUMNS and not (suite == "nccl" and column == "error"):
            name, unit, over, factor = METRIC_COLUMNS[column]
            metrics[name] = _record_metric(unit, over, value * factor)
    return metrics


def _record_metric(unit: str, over: OverRanks, value: float) -> MetricSeries:
    return MetricSeries(unit=unit, over_ranks=over, per="record", phase=False, values=[value])
