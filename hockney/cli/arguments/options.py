# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Options that several verbs share, and their types, with errors in hockney's grammar."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from hockney.core.errors import UsageError, printable, unknown
from hockney.core.layout import HostOptions
from hockney.core.limits import LARGEST_SEED, MOST_LAUNCHES, MOST_NODES, MOST_ROUNDS
from hockney.core.paths import to_path
from hockney.core.units import (
    parse_bytes,
    parse_counts,
    parse_fraction,
    parse_seconds,
    parse_share,
    parse_sizes,
)

if TYPE_CHECKING:
    from hockney import api


class ParsedType(click.ParamType[Any]):
    """A type based on one of the functions of `core.units`; its errors name the option."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name = name
        self.parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value)
        except UsageError as error:
            if param and param.opts[-1].startswith("-"):
                raise error.inside(param.opts[-1]) from error
            raise


def _budget(text: str) -> float:
    seconds = parse_seconds(text, "60s or 2m")
    if seconds <= 0:
        raise UsageError(
            f"'{printable(text)}' is not a time budget",
            "it must be greater than 0",
            "use for example 60s",
            code="budget-not-positive",
            text=text,
        )
    return seconds


def _above_zero(text: str) -> float:
    seconds = parse_seconds(text, "1m or 8h")
    if seconds <= 0:
        raise UsageError(
            f"'{printable(text)}' is not an interval between rounds",
            "it must be greater than 0",
            "use for example 1m",
            code="interval-not-positive",
            text=text,
        )
    return seconds


def whole(low: int, high: int, example: str) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not (text.isascii() and text.isdecimal()) or len(text) > 20 or not low <= int(text) <= high:
            raise UsageError(
                f"'{printable(text)}' is out of range",
                f"expected an integer from {low} to {high}",
                f"use for example {example}",
                code="integer-out-of-range",
                text=text,
                low=low,
                high=high,
            )
        return int(text)

    return parse


def at_least(low: float, example: str) -> Callable[[str], float]:
    """Parses a finite number that is not below `low`."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value < math.inf:
            raise UsageError(
                f"'{printable(text)}' is out of range",
                f"expected a number of at least {low:g}",
                f"use for example {example}",
                code="number-out-of-range",
                text=text,
                low=low,
            )
        return value

    return parse


BUDGET = ParsedType("time", _budget)
DISTANCE = ParsedType("time", _above_zero)
PRECISION = ParsedType("fraction", parse_fraction)
SHARE = ParsedType("share", parse_share)
RANKS = ParsedType("counts", parse_counts)
SIZES = ParsedType("sizes", parse_sizes)
SIZE = ParsedType("size", parse_bytes)
FACTOR = ParsedType("factor", at_least(1.0, "1.1"))
ROUNDS = ParsedType("count", whole(1, MOST_ROUNDS, "20"))
LAUNCHES = ParsedType("count", whole(1, MOST_LAUNCHES, "3"))
NODES = ParsedType("count", whole(1, 10**7, "64"))
HOST_COUNT = ParsedType("count", whole(1, MOST_NODES, "2"))
SEED = ParsedType("seed", whole(0, LARGEST_SEED, "1"))


def _cost(text: str) -> str:
    from hockney.core.fit import Cost

    if text not in get_args(Cost):
        raise unknown("cost", text, get_args(Cost))
    return text


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _starter(text: str) -> str:
    """ "" is hockney's choice. Raises UsageError."""
    return "" if text == "auto" else HostOptions(starter=text).starter


def _columns(text: str) -> Any:
    from hockney.pages.columns import parse_columns

    return parse_columns(text)


PATH = ParsedType("path", to_path)
COST = ParsedType("cost", _cost)

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def combined(*options: Decorator) -> Decorator:
    """One decorator of several options, in their order."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


where = combined(
    click.option(
        "--mpi",
        metavar="PATH|NAME",
        default="",
        help="MPI to use: a prefix, an mpicxx, or openmpi, mpich, intel.",
    ),
    click.option(
        "--machine",
        metavar="sim:NAME|FILE",
        default="",
        envvar="HOCKNEY_MACHINE",
        help="A simulated machine: sim:t3e, sim:my.toml.  [default: this one]",
    ),
)

launching = combined(
    click.option(
        "--mpiexec-args",
        metavar="ARGS",
        default="",
        help="Additional arguments for mpiexec, such as '--mca btl self,tcp'.",
    ),
    click.option(
        "-x",
        "variables",
        metavar="NAME=VALUE",
        multiple=True,
        help="Set an environment variable for the ranks; may be repeated.",
    ),
)

launcher = combined(
    launching,
    click.option(
        "--setting",
        "launch_settings",
        metavar="TEXT",
        multiple=True,
        help="Declare a launch setting, such as 'large OMPI_MCA_btl_sm_eager_limit=65536'. Cases with "
        "setting=large are measured in launches with these variables, which alternate with the other "
        "launches. May be repeated.",
    ),
)

places = combined(
    click.option(
        "--nodes",
        type=HOST_COUNT,
        metavar="N",
        default=0,
        help="Hosts to use.  [default: all of the batch job, or of --hosts]",
    ),
    click.option(
        "--ranks-per-node",
        type=HOST_COUNT,
        metavar="N",
        default=0,
        help="Ranks on each host.  [default: those of the batch job, or the slots in --hosts, or 1]",
    ),
    click.option(
        "--hosts",
        type=ParsedType("names", _names),
        metavar="NAME,...",
        default=(),
        help="Hosts to use, such as n1,n2, or n1:4,n2:4 with the number of ranks that fit on each.",
    ),
    click.option(
        "--launcher",
        "starter",
        type=ParsedType("name", _starter),
        metavar="auto|mpiexec|srun",
        default="",
        help="What starts the ranks.  [default: mpiexec, in Slurm srun if mpiexec does not work]",
    ),
    click.option(
        "--agent",
        metavar="WORDS",
        default="",
        help="Remote shell that mpiexec uses instead of ssh, such as 'ssh -p 2222'.",
    ),
)

measuring = combined(
    click.option(
        "--ranks",
        type=RANKS,
        metavar="N,...",
        default=(),
        help="Rank counts, such as 2,4 or 2:8.  [default: 2 and powers of two up to the cores]",
    ),
    click.option(
        "--sizes",
        type=SIZES,
        metavar="B,...",
        default=(),
        help="Message sizes, such as 0,8,4KiB or 0:1GiB; ranges skip those that a workload cannot have.  "
        "[default: 0:4MiB]",
    ),
    click.option(
        "--budget",
        type=BUDGET,
        metavar="TIME",
        default="60s",
        show_default=True,
        help="Time for all launches, including their start, such as 30s or 5m; per round with --repeat or "
        "--through. Compiling the engine, fitting and writing the report take additional time.",
    ),
    click.option(
        "--precision",
        type=PRECISION,
        metavar="FRACTION",
        default="2%",
        show_default=True,
        help="Target half width of the 95% interval of typical times.",
    ),
    click.option(
        "--launches",
        type=LAUNCHES,
        metavar="N",
        default=None,
        help="Launches of each case.  [default: 3 to 100, as the budget allows; simulated: 1, with noise 3]",
    ),
    click.option(
        "--seed",
        type=SEED,
        metavar="N",
        default=None,
        help="Seed of the shuffled order.  [default: random; simulated: 1]",
    ),
    click.option("--bind/--no-bind", default=True, show_default=True, help="Bind each rank to a core."),
    launcher,
    places,
    where,
    click.option(
        "--assume-network",
        is_flag=True,
        help="Simulate ranks on several nodes although nobody measured messages between these.",
    ),
)
"""The options of everything that measures."""

asked = combined(
    measuring,
    click.option(
        "--refine/--no-refine",
        default=None,
        help="Add sizes where the cost curve changes.  [default: in a survey of a real machine]",
    ),
    click.option(
        "--repeat",
        type=ROUNDS,
        metavar="N",
        default=None,
        help="Measure everything N times, in rounds of --budget each.",
    ),
    click.option(
        "--through",
        type=DISTANCE,
        metavar="TIME",
        default=None,
        help="Make as many rounds as fit into TIME, such as 8h.",
    ),
    click.option(
        "--every",
        type=DISTANCE,
        metavar="TIME",
        default=None,
        help="Time from the start of one round to the start of the next.  [default: the budget]",
    ),
    click.option(
        "--label",
        metavar="TEXT",
        default="",
        help="Name of the run, shown with its results; may contain spaces.",
    ),
)

force = click.option(
    "--force", is_flag=True, help="Accept a survey (survey=RUN) or baseline (--check) of another machine."
)

like = click.option(
    "--like",
    metavar="BENCHMARK",
    multiple=True,
    help="Measure what this OSU or IMB benchmark measures, such as osu_allgatherv or IMB-RMA/Unidir_put; "
    "NAME=VALUE replaces its parameters (docs/reference/peers.md). May be repeated.",
)

out = click.option(
    "--out",
    type=PATH,
    metavar="DIR",
    help="Folder for the run, new or empty.  [default: runs/NAME-TIME]",
)
quiet = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    is_eager=True,  # the default of RUN is found before other options are read, and prints notes
    help="Print only results and errors, no progress and no notes.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
columns = click.option(
    "--columns",
    type=ParsedType("columns", _columns),
    metavar="NAME,...",
    default=(),
    help="Columns of the table of cases: typical, interval, bandwidth, min, mean, p50, p95, p99, max, algbw, "
    "busbw, rate ... (docs/columns.md).",
)
cost = click.option(
    "--cost",
    type=COST,
    metavar="typical|undisturbed",
    default="typical",
    show_default=True,
    help="Which cost to use: typical, or undisturbed (in the fastest mode).",
)


def _run_or(find: str) -> Callable[[Any], Any]:
    """The argument RUN; its default is what the function `find` of `hockney.api` returns: a run with its
    records, if it had to read them, otherwise the path of its folder."""

    def resolved(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | api.Run | None:
        if value is not None or ctx.resilient_parsing:
            return value
        from hockney import api
        from hockney.cli.output.progress import ProgressReporter

        found = getattr(api, find)(ProgressReporter(ctx.params.get("quiet", False)))
        if isinstance(found, api.Run):
            return found
        path: Path = found.path
        return path

    return click.argument("run", type=PATH, required=False, callback=resolved)


folder = _run_or("newest_complete")
surveyed_folder = _run_or("newest_complete_survey")
any_folder = _run_or("newest_written")
unfinished_folder = _run_or("only_unfinished")
