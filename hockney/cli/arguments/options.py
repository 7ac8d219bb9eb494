# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Options shared by several verbs, and their types, with errors in hockney's format."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from hockney.api.run_options import OPTIONS, integer_parser, parse_budget
from hockney.core.case import split_case
from hockney.core.errors import UsageError, join_sentences, printable, unknown
from hockney.core.paths import to_path
from hockney.core.settings import MAX_LAUNCHES
from hockney.core.units import parse_bytes, parse_counts, parse_fraction, parse_share
from hockney.core.wording import flag

if TYPE_CHECKING:
    from hockney import api


class ParsedType(click.ParamType[Any]):
    """A type based on a parser, with errors that name the option. `name` is the placeholder in the help
    unless the option has a metavar."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name = name
        self.parse = parse

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return self.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value)
        except UsageError as error:
            if param and param.opts[-1].startswith("-"):
                raise error.with_context(param.opts[-1]) from error
            raise


def at_least(low: float, example: str) -> Callable[[str], float]:
    """Make a parser of finite numbers that are at least `low`."""

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


BUDGET = ParsedType("TIME", parse_budget)
PRECISION = ParsedType("FRACTION", parse_fraction)
SHARE = ParsedType("SHARE", parse_share)
RANKS = ParsedType("N,...", parse_counts)
SIZE = ParsedType("B", parse_bytes)
FACTOR = ParsedType("F", at_least(1.0, "1.1"))
LAUNCHES = ParsedType("N", integer_parser(1, MAX_LAUNCHES, "3"))
NODES = ParsedType("N", integer_parser(1, 10**7, "64"))


def _cost(text: str) -> str:
    from hockney.core.fit import Cost

    if text not in get_args(Cost):
        raise unknown("cost", text, get_args(Cost))
    return text


def _columns(text: str) -> Any:
    from hockney.pages.case_columns import parse_columns

    return parse_columns(text)


PATH, FILE, DIR, RUN = (ParsedType(name, to_path) for name in ("PATH", "FILE", "DIR", "RUN"))
COST = ParsedType("typical|undisturbed", _cost)

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def combined(*options: Decorator) -> Decorator:
    """Combine options into one decorator, in their order."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _field_option(name: str) -> Decorator:
    """Make the option of a field of `RunOptions`."""
    option, default = OPTIONS[name]
    settings: dict[str, Any] = {} if option.multiple else {"default": option.default_text or default}
    if option.default_text or (option.negative and default):
        settings["show_default"] = True
    if option.flag:
        names = [flag(name) + (f"/--no-{name}" if option.negative else "")]
        settings["is_flag"] = True
    else:
        names = [flag(name), name]
        settings |= {"metavar": option.metavar, "envvar": option.environ or None, "multiple": option.multiple}
    if option.parse:
        settings["type"] = ParsedType(option.metavar, option.parse)
    return click.option(*names, help=option.help, **settings)


def field_options(*names: str) -> Decorator:
    """Make the options of these fields, in this order."""
    return combined(*map(_field_option, names))


MACHINE_FIELDS = ("mpi", "machine")
LAUNCH_FIELDS = ("mpiexec_args", "variables")
LAUNCHER_FIELDS = (*LAUNCH_FIELDS, "launch_settings")
HOST_FIELDS = ("nodes", "ranks_per_node", "hosts", "starter", "agent")
MEASURING_FIELDS = (
    "ranks", "sizes", "budget", "precision", "launches", "seed", "bind",
    *LAUNCHER_FIELDS, *HOST_FIELDS, *MACHINE_FIELDS, "assume_network",
)  # fmt: skip
NEW_RUN_FIELDS = (*MEASURING_FIELDS, "refine", "repeat", "through", "every", "label")

machine_options, launch_options, launcher_options, host_options = (
    field_options(*MACHINE_FIELDS),
    field_options(*LAUNCH_FIELDS),
    field_options(*LAUNCHER_FIELDS),
    field_options(*HOST_FIELDS),
)
measuring_options = field_options(*MEASURING_FIELDS)
"""The options of everything that measures."""
force = field_options("force")
new_run_options = field_options(
    *NEW_RUN_FIELDS, *(name for name in OPTIONS if name not in (*NEW_RUN_FIELDS, "force"))
)
"""The options of a new run: all but `force`. One that no list has is the last."""

like = click.option(
    "--like",
    metavar="BENCHMARK",
    multiple=True,
    help="Measure what this OSU or IMB benchmark measures, such as osu_allgatherv or IMB-RMA/Unidir_put; "
    "NAME=VALUE replaces its parameters (docs/reference/peers.md). May be repeated.",
)

out = click.option(
    "--out",
    type=DIR,
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
    type=ParsedType("NAME,...", _columns),
    default=(),
    help="Columns of the table of cases: typical, interval, bandwidth, min, mean, p50, p95, p99, max, algbw, "
    "busbw, rate ... (docs/columns.md).",
)
cost = click.option(
    "--cost",
    type=COST,
    default="typical",
    show_default=True,
    help="Which cost to use: typical, or undisturbed (in the fastest mode).",
)


def _run_argument(find: str) -> Callable[[Any], Any]:
    """Make the argument RUN. Its default is the result of the function `find` of `hockney.api`: a run if its
    records were read, otherwise the path of its folder."""

    def resolve(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | api.Run | None:
        if value is not None or ctx.resilient_parsing:
            return value
        from hockney import api
        from hockney.cli.output.progress import ProgressReporter

        run = getattr(api, find)(ProgressReporter(ctx.params.get("quiet", False)))
        if isinstance(run, api.Run):
            return run
        path: Path = run.path
        return path

    return click.argument("run", type=RUN, required=False, callback=resolve)


complete_run = _run_argument("newest_complete_run")
survey_run = _run_argument("newest_complete_survey")
any_run = _run_argument("newest_run_in_any_state")
unfinished_run = _run_argument("only_unfinished_run")


def result_format(choices: list[str], help: str) -> Callable[[Any], Any]:
    """--format, by default the first of `choices`."""
    choice_type = click.Choice(choices)
    return click.option(
        "--format",
        "style",
        type=choice_type,
        metavar="FORMAT",
        default=choices[0],
        show_default=True,
        help=help,
    )


def _moment(text: str) -> datetime:
    from hockney.api.judgements.history import parse_moment

    return datetime.fromtimestamp(parse_moment(text), timezone.utc)


MOMENT = ParsedType("DATE|AGO", _moment)

page = click.option("--report", "page", type=FILE, help="Also write a page, one HTML file.")
archive = click.option(
    "--archive",
    type=DIR,
    help="The archive's folder.  [default: $HOCKNEY_ARCHIVE, or history]",
)
name_filter = combined(
    click.option(
        "--machine", metavar="NAME", default="", help="Only runs of this machine or host; * and ? match."
    ),
    click.option("--label", metavar="TEXT", default="", help="Only runs with this label; * and ? match."),
    click.option("--study", metavar="NAME", default="", help="Only runs of this study."),
)
run_filter = combined(
    name_filter,
    click.option(
        "--since",
        type=MOMENT,
        help="Only runs from this date on, such as 2026-01-31, or from a time ago on: 12h, 30d, 8w.",
    ),
)


def predicted_layout(default: str) -> Decorator:
    """Make --nodes and --ranks-per-node. `default` describes the prediction without them."""
    return combined(
        click.option(
            "--nodes",
            type=NODES,
            default=0,
            help=f"Spread the ranks evenly over N nodes of this kind.  [default: {default}]",
        ),
        click.option(
            "--ranks-per-node",
            type=NODES,
            metavar="R",
            default=0,
            help=f"Put R ranks on each node.  [default: {default}]",
        ),
    )


def like_cases(
    names: Sequence[str], words: Sequence[str], sizes_given: bool, say: Callable[[str], None]
) -> tuple[str, ...]:
    """Cases equivalent to the benchmarks `names`, with parameters replaced by `words`. `say` receives a
    description of each, with differences of definition. Raises UsageError for an unknown benchmark, a
    benchmark without an equivalent, and words that are not parameters."""
    from hockney.reference.peers import find_benchmark  # reads the tables, which no other command needs

    for word in words:
        if "=" not in word:
            raise UsageError(
                f"'{printable(word)}' does not go with --like",
                "the benchmark determines what is measured",
                f"give only its parameters, for example --like {printable(names[0])} bytes=8",
                code="like-with-cases",
                word=word,
            )
    _, parameters = split_case(" ".join(["like", *words]))
    cases = []
    for name in names:
        benchmark, group = find_benchmark(name)
        case = benchmark.line(parameters, sizes=not sizes_given)
        cases.append(case)
        say(
            "note: "
            + join_sentences(
                f"{benchmark.name} is {'close to ' if benchmark.close else ''}'{case}'",
                group.defined,
                benchmark.differs,
            )
        )
    return tuple(cases)
