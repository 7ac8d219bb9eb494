# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney predict: what becomes of a parallel algorithm on a machine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from hockney import lab, simulated
from hockney.cli import find_runs
from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example
from hockney.cli.output.progress import Talk
from hockney.cli.output.tables import print_json, print_line, text_table
from hockney.core.errors import UsageError, printable, unknown
from hockney.core.platform import Platform
from hockney.core.units import doubling, parse_seconds, parse_share
from hockney.models.applications.contention import overruled
from hockney.models.applications.grain_prediction import Prediction, predict
from hockney.models.applications.granularity import Algorithm
from hockney.models.applications.message_costs import described
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.views import grain_prediction
from hockney.views.grain_prediction import CostsOrigin

PUBLISHED = "published:"
NETWORKS = ("shared", "switch")
MOST_ASKED = 16
"""Of a machine that is not here so many ranks are shown where none are asked for."""


def _number(low: float, example: str) -> Callable[[str], float]:
    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value < math.inf:
            raise UsageError(
                f"'{printable(text)}' is out of range", f"a number from {low:g} is wanted", example
            )
        return value

    return parse


def _network(text: str) -> str:
    if text not in NETWORKS:
        raise unknown("network", text, NETWORKS)
    return text


@click.command(
    "predict",
    cls=Command,
    epilog=example("hockney predict --work 1s --serial 1% --message 40kB --machine sun-ethernet"),
)
@click.option(
    "--work",
    type=options.Words("time", parse_seconds),
    metavar="TIME",
    help="T, what one rank computes alone, as 10ms or 1h.",
)
@click.option(
    "--message", type=options.SIZE, metavar="B", help="Bytes of each message, as 40kB or 1000words."
)
@click.option(
    "--exchanges",
    type=options.Words("number", _number(0, "for example 1")),
    metavar="N",
    default="1",
    show_default=True,
    help="Exchanges with both neighbours in the time of one T.",
)
@click.option(
    "--serial",
    type=options.Words("share", parse_share),
    metavar="SHARE",
    default="0",
    show_default=True,
    help="Part of T that one rank computes while the others wait, as 1% or 0.01.",
)
@click.option(
    "--imbalance",
    type=options.Words("number", _number(1, "for example 1.2")),
    metavar="X",
    default="1",
    show_default=True,
    help="Parallel work of the busiest rank over the mean.",
)
@click.option(
    "--ranks",
    type=options.RANKS,
    metavar="N,...",
    default=(),
    help="Rank counts, as 2,4 or 2:64.  [default: 2 and powers of two up to the cores]",
)
@click.option(
    "--run",
    type=options.PATH,
    metavar="RUN",
    help="Times of messages from this run.  [default: the newest survey in runs]",
)
@click.option(
    "--machine",
    metavar="NAME|FILE",
    default="",
    help="Times of messages from a described machine: sun-ethernet, t3e, my.toml.",
)
@click.option(
    "--network",
    type=options.Words("network", _network),
    metavar="shared|switch",
    default=None,
    help="Overrule the evidence: do messages under way at once share the bandwidth?",
)
@options.quiet
@options.as_json
def command(
    work: float | None,
    message: int | None,
    exchanges: float,
    serial: float,
    imbalance: float,
    ranks: tuple[int, ...],
    run: Path | None,
    machine: str,
    network: str | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Predict speed-up and efficiency of a parallel algorithm, and what would help it.

    The algorithm computes T seconds on one rank, a part of it serial, and its ranks exchange messages
    with their neighbours on a ring. Nothing is measured: what messages cost is read off a survey, or
    off the description of a machine.
    """
    if work is None or message is None:
        missing, given = ("--work", "--work 1s") if work is None else ("--message", "--message 40kB")
        raise UsageError(f"{missing} is missing", "without it there is no algorithm", f"for example {given}")
    algorithm = Algorithm(work, message, serial, exchanges, imbalance)
    source = _source(run, machine, Talk(quiet).say)
    messages = overruled(source.messages, network == "shared") if network else source.messages
    asked = ranks or _default(messages, here=source.here)
    if source.room is not None:
        simulated.check_ranks(source.room, asked[-1])
    found = predict(algorithm, messages, asked)
    known = source.known
    if as_json:
        print_json(grain_prediction.document(found, grain_prediction.caveats(found, known), known.platform))
    else:
        _tell(found, known)
    return 0


@dataclass(frozen=True)
class _Source:
    """`room` is the description that says how many ranks can start at all; `here` is a machine whose cores
    are the ones to fill."""

    messages: PointToPointCosts
    known: CostsOrigin
    room: Platform | None
    here: bool


def _source(run: Path | None, machine: str, tell: Callable[[str], None]) -> _Source:
    if run is not None and machine:
        raise UsageError("--run and --machine exclude each other", "times are from one of them", "give one")
    if machine:
        words = machine.removeprefix(lab.SIMULATED).removeprefix(PUBLISHED)
        platform = simulated.platform(words)
        return _Source(described(platform), CostsOrigin(platform), platform, here=False)
    found = find_runs.named(run, tell) if run is not None else find_runs.newest(tell)
    known = CostsOrigin(None, found.machine.kind, found.hosts, found.pair_hosts)
    here = found.machine.kind not in find_runs.ELSEWHERE
    return _Source(found.messages, known, found.machine.platform, here)


def _default(messages: PointToPointCosts, *, here: bool) -> tuple[int, ...]:
    room = messages.most_ranks or MOST_ASKED
    most = max(2, room if here else min(room, MOST_ASKED))
    return tuple(doubling(2, 1 << (most.bit_length() - 1)))


def _tell(found: Prediction, known: CostsOrigin) -> None:
    for sentence in grain_prediction.assumed(found, known.platform):
        print_line(sentence)
    _table(grain_prediction.ranks(found))
    if found.needed:
        _table(grain_prediction.needed(found))
    click.echo()
    for sentence in grain_prediction.best(found):
        print_line(sentence)
    if found.changes:
        print_line(grain_prediction.changed(found))
        _table(grain_prediction.levers(found))
    caveats = grain_prediction.caveats(found, known)
    if caveats:
        click.echo()
    for caveat in caveats:
        print_line(f"warning: {caveat.text} (touches {caveat.touches}) {caveat.todo}")


def _table(table) -> None:
    click.echo()
    click.echo(text_table(table))
