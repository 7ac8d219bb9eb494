# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of tables, and of errors about how results are printed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from hockney.core.errors import UsageError, printable, unknown
from hockney.core.wording import listing, plural, together

# tables


def in_all_rows(what: Sequence[str]) -> str:
    """The parameters that the rows of a table share, above it."""
    return f"In all rows: {', '.join(what)}."


def columns_left_out(names: Sequence[str]) -> str:
    return f"(No room for {together(names)}; see --columns.)"


def fitted_parameters() -> str:
    """Above the table of parameters, below a headline of measured times."""
    return "Fitted to all sizes together; the times above are from single cases:"


def run_to_be_named(folder: Path) -> str:
    where = printable(shlex.quote(str(folder)))
    return f"commands without RUN only look in runs; for this run: hockney report {where}"


def fit_heading(model: str, subject: str, verdict: str) -> str:
    return f"{model}, {subject}: {verdict}"


def fit_error(typical: str, worst: str) -> str:
    """By how much, in words, a model is off."""
    return f"off by {typical} in the median and {worst} at worst"


# batch jobs


def job_submitted(job: str, folder: Path) -> str:
    return f"job {job} measures {printable(shlex.quote(str(folder)))}"


def job_to_be_picked_up(folder: Path, cancel: str) -> str:
    where = printable(shlex.quote(str(folder)))
    return f"'hockney resume {where}' prints the results when it has ended, '{cancel}' ends it"


def share_measured(number: int, count: int, left: int, others: int) -> str:
    """`left` measurements are missing in the share, and `others` in the other ones."""
    own = f"{plural(left, 'measurement')} missing" if left else "complete"
    return f"share {number} of {count}: {own}; the others lack {plural(others, 'measurement')}"


# formats


def vague_times(cases: Sequence[str], measured: int, factor: float) -> str:
    """`cases` of the `measured` ones have no interval, or one whose ends are more than `factor` apart."""
    return (
        f"the 95% interval of the typical time is unknown or wider than a factor of {factor:g} for "
        f"{len(cases)} of {plural(measured, 'case')}, whose lines do not show this: {listing(cases)}"
    )


def no_osu_benchmark(workload: str, available: Sequence[str]) -> UsageError:
    """`available` are the workloads that have one."""
    return UsageError(
        f"--format osu does not apply to {workload}",
        f"OSU's benchmarks have equivalents only of {together(available)}",
        "use --format plain",
        code="no-osu-benchmark",
        workload=workload,
        available=list(available),
    )


def osu_comment(case: str) -> str:
    """Where OSU's benchmarks name the data type."""
    return f"{case}: typical times, a robust mean"


def column_without_number(name: str) -> UsageError:
    return UsageError(
        f"--format plain has no column {name}",
        "each of its columns is one number",
        "leave it out",
        code="column-without-number",
        name=name,
    )


def format_with_json() -> UsageError:
    return UsageError(
        "--format and --json exclude each other", "", "use only one of them", code="format-with-json"
    )


def format_of_study(study: str) -> UsageError:
    return UsageError(
        f"--format does not apply to study '{study}'",
        "it applies only to ad-hoc cases",
        "use for example 'hockney run pingpong bytes=0:4MiB --format osu'",
        code="format-of-study",
        study=study,
    )


def columns_with_osu() -> UsageError:
    return UsageError(
        "--columns and --format osu exclude each other",
        "OSU's columns are fixed",
        "use --format plain",
        code="columns-with-osu",
    )


def full_without_osu() -> UsageError:
    return UsageError(
        "--full requires --format osu",
        "it adds OSU's columns of minimum, maximum and iterations",
        "use for example --columns typical,min,max",
        code="full-without-osu",
    )


def unknown_machine_to_show(name: str, available: Iterable[str]) -> UsageError:
    return unknown("machine", name, available, code="unknown-machine-to-show")


def comparing_runs() -> str:
    return "comparing the runs"


def compared_with_baseline() -> str:
    return "Compared with the baseline (A), this run (B):"


def imported(benchmark: str, cases: int, launches: int) -> str:
    return f"{benchmark}: {plural(cases, 'case')} in {plural(launches, 'launch', 'launches')}"


def more_cases(count: int) -> str:
    return f"... and {plural(count, 'more case')}; --all lists all."


# archives


def adding_runs() -> str:
    return "adding runs to the archive"


def runs_listed(shown: int, all_runs: int, path: str) -> str:
    """Below the list of the archive's runs."""
    of = "" if shown == all_runs else f" of {all_runs}"
    return f"{shown}{of} {'run' if all_runs == 1 else 'runs'} in {printable(path)}"


def runs_removed(count: int, dry_run: bool) -> str:
    return f"{plural(count, 'run')} {'would be ' if dry_run else ''}removed"
