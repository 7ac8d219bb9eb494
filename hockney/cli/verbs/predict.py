# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney predict: the performance of a parallel algorithm on a machine."""

from __future__ import annotations

from pathlib import Path

import click

from hockney import api
from hockney.cli import messages
from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example
from hockney.cli.output.caveats import print_caveats
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_line, print_table
from hockney.cli.output.terminal import echo
from hockney.core.fit import Cost
from hockney.core.units import parse_seconds, parse_share
from hockney.draw.page import Table
from hockney.models.applications.grain_prediction import Prediction
from hockney.models.applications.granularity import Algorithm
from hockney.views import grain_prediction
from hockney.views.grain_prediction import CostsOrigin

NETWORKS = ("shared", "switch")


def _time(text: str) -> tuple[float, str]:
    """The seconds, and the text."""
    return parse_seconds(text, "10ms or 1h"), text


def _network(text: str) -> str:
    if text not in NETWORKS:
        raise messages.unknown_network(text, NETWORKS)
    return text


@click.command(
    "predict",
    cls=Command,
    epilog=example("hockney predict --work 1s --serial 1% --message 40kB --machine sun-ethernet"),
)
@click.option(
    "--work",
    type=options.ParsedType("time", _time),
    metavar="TIME",
    help="T, the computing time on one rank, such as 10ms or 1h.",
)
@click.option(
    "--message", type=options.SIZE, metavar="B", help="Size of each message, such as 40kB or 1000words."
)
@click.option(
    "--exchanges",
    type=options.ParsedType("number", options.at_least(0, "1")),
    metavar="N",
    default="1",
    show_default=True,
    help="Number of exchanges with both neighbors per T.",
)
@click.option(
    "--serial",
    type=options.ParsedType("share", parse_share),
    metavar="SHARE",
    default="0",
    show_default=True,
    help="Part of T that one rank computes while the others wait, such as 1% or 0.01.",
)
@click.option(
    "--imbalance",
    type=options.ParsedType("number", options.at_least(1, "1.2")),
    metavar="X",
    default="1",
    show_default=True,
    help="Parallel work of the busiest rank relative to the mean.",
)
@click.option(
    "--ranks",
    type=options.RANKS,
    metavar="N,...",
    default=(),
    help="Rank counts, such as 2,4 or 2:64.  [default: 2 and powers of two up to the cores]",
)
@click.option(
    "--run",
    type=options.PATH,
    metavar="RUN",
    help="Take message times from this run.  [default: the newest survey in runs]",
)
@click.option(
    "--machine",
    metavar="NAME|FILE",
    default="",
    help="Take message times from a described machine: sun-ethernet, t3e, my.toml.",
)
@click.option(
    "--network",
    type=options.ParsedType("network", _network),
    metavar="shared|switch",
    default=None,
    help="Assume that concurrent messages share the bandwidth (shared) or not (switch).  "
    "[default: as measured]",
)
@click.option(
    "--larger-machine",
    is_flag=True,
    help="With more ranks than cores: predict for a larger machine of this kind, with a core for each rank.",
)
@options.cost
@options.quiet
@options.as_json
def command(
    work: tuple[float, str] | None,
    message: int | None,
    exchanges: float,
    serial: float,
    imbalance: float,
    ranks: tuple[int, ...],
    run: Path | None,
    machine: str,
    network: str | None,
    larger_machine: bool,
    cost: Cost,
    quiet: bool,
    as_json: bool,
) -> int:
    """Predict the speed-up and efficiency of a parallel algorithm, and what would improve them.

    The algorithm computes for T seconds on a single rank; part of that may be serial. On several ranks, which
    form a ring, each exchanges messages with its two neighbors. Nothing is measured: the cost of messages
    comes from a survey, or from the description of a machine.
    """
    if work is None or message is None:
        option, given = ("--work", "1s") if work is None else ("--message", "40kB")
        raise messages.algorithm_incomplete(option, given)
    work_s, typed = work
    algorithm = Algorithm(work_s, message, serial, exchanges, imbalance)
    shared = None if network is None else network == "shared"
    with ProgressReporter(quiet) as reporter:
        if work_s and typed.strip()[-1].isdecimal():
            reporter(messages.work_without_unit(typed.strip()))
        forecast = api.predict(
            algorithm,
            ranks=ranks,
            run=run,
            machine=machine,
            shared=shared,
            larger=larger_machine,
            cost=cost,
            listen=reporter,
        )
    prediction, known = forecast.prediction, forecast.known
    if as_json:
        caveats = grain_prediction.caveats(prediction, known)
        print_json(grain_prediction.document(prediction, caveats, known.platform))
    else:
        _print(prediction, known)
    return 0


def _print(prediction: Prediction, known: CostsOrigin) -> None:
    for sentence in grain_prediction.assumed(prediction, known.platform):
        print_line(sentence)
    _table(grain_prediction.ranks(prediction))
    if prediction.needed:
        _table(grain_prediction.needed(prediction))
    echo()
    for sentence in grain_prediction.best(prediction):
        print_line(sentence)
    if prediction.changes:
        print_line(grain_prediction.changed(prediction))
        _table(grain_prediction.levers(prediction))
    caveats = grain_prediction.caveats(prediction, known)
    if caveats:
        echo()
    print_caveats(caveats)


def _table(table: Table) -> None:
    echo()
    print_table(table)
