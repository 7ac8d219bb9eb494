# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Options for a batch job that measures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from hockney.api.run_options import integer_parser, positive_time_parser
from hockney.cli.arguments.options import ParsedType, combined
from hockney.core.errors import UsageError

if TYPE_CHECKING:
    from hockney.api import BatchOptions
    from hockney.store import LaunchShare

MAX_TASKS = 1000
"""Slurm's default limit (MaxArraySize) is 1001."""
CLOCK_TIME = re.compile(r"(?:(?P<hours>\d{1,4}):)?(?P<minutes>\d{1,4}):(?P<seconds>\d{2})")
DAYS_TIME = re.compile(
    r"(?P<days>\d{1,4})-(?P<hours>\d{1,2})(?::(?P<minutes>\d{1,2})(?::(?P<seconds>\d{1,2}))?)?"
)
"""After days, the first number is hours; without them, the last one is seconds."""


_parse_time = positive_time_parser("a job's time limit", "10m", "00:10:00", code="job-limit-not-positive")


def _parse_limit(text: str) -> float:
    """Parse a time limit to seconds, in the formats of schedulers or of hockney's other times."""
    match = DAYS_TIME.fullmatch(text) or CLOCK_TIME.fullmatch(text)
    if match:
        numbers = {name: float(digits or 0) for name, digits in match.groupdict().items()}
        clock_hours = numbers.get("days", 0.0) * 24 + numbers["hours"]
        return (clock_hours * 60 + numbers["minutes"]) * 60 + numbers["seconds"]
    return _parse_time(text)


def _parse_share(text: str) -> LaunchShare:
    from hockney.store import LaunchShare

    return LaunchShare.parse(text)


TIME = ParsedType("TIME", _parse_limit)
TASKS = ParsedType("N", integer_parser(2, MAX_TASKS, "4"))
LAUNCH_SHARE = ParsedType("K/N", _parse_share)

batch = combined(
    click.option(
        "--submit",
        is_flag=True,
        help="Measure in a batch job of Slurm or PBS, on --nodes nodes: print its number and return. "
        "'hockney resume RUN' prints the results later.",
    ),
    click.option("--dry-run", is_flag=True, help="Print the script that --submit would submit."),
    click.option("--wait", is_flag=True, help="Wait until the job has ended, and print the results."),
    click.option("--account", metavar="NAME", default="", help="Account of the job."),
    click.option("--partition", metavar="NAME", default="", help="Partition of the job; in PBS, its queue."),
    click.option(
        "--time",
        type=TIME,
        default=0.0,
        help="Time limit of the job, such as 10m, 00:10:00 or 1-12 (a day and 12 hours).  "
        "[default: what the budget needs]",
    ),
    click.option(
        "--batch-line",
        "lines",
        metavar="LINE",
        multiple=True,
        help="Another line for the batch system, such as '#SBATCH --constraint=fast'. May be repeated.",
    ),
    click.option(
        "--array",
        "tasks",
        type=TASKS,
        default=0,
        help="Submit an array of N jobs, each with the budget and its share of the launches, on the nodes "
        "that it gets.",
    ),
)
"""The options of a verb that measures."""
FLAGS = {
    "account": "--account", "partition": "--partition", "time": "--time", "lines": "--batch-line",
    "tasks": "--array",
}  # fmt: skip
"""The flags by the fields of `BatchOptions`."""

share = click.option(
    "--share",
    type=LAUNCH_SHARE,
    help="Measure only the Kth of N shares of the launches, while others measure theirs.",
)


def take_batch_options(
    given: dict[str, Any], *, waits: bool = False
) -> tuple[BatchOptions | None, bool, bool]:
    """Remove the options of a job from `given`. Returns the batch options (None: no job), whether only the
    script is requested, and whether to wait. With `waits`, --wait is allowed without a new job. Raises
    UsageError for invalid combinations."""
    submit, dry_run, wait = (given.pop(name) for name in ("submit", "dry_run", "wait"))
    values = {name: given.pop(name) for name in FLAGS}
    if not (submit or dry_run):
        used_options = [FLAGS[name] for name, value in values.items() if value]
        used_options += ["--wait"] if wait and not waits else []
        if used_options:
            raise UsageError(
                f"{used_options[0]} is an option of a batch job",
                "without --submit or --dry-run there is none",
                "add --submit",
                code="job-option-without-submit",
                option=used_options[0],
            )
        return None, False, wait
    from hockney.api import BatchOptions

    return BatchOptions(**values), dry_run, wait
