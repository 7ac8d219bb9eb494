# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney predict: the performance of a parallel algorithm on a machine."""

from __future__ import annotations

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import verb
from hockney.cli.arguments.options import predicted_layout
from hockney.core.errors import UsageError, printable, unknown
from hockney.core.units import parse_seconds, parse_share

NETWORKS = ("shared", "switch")


def _parse_time(text: str) -> tuple[float, str]:
    """Parse a time. Returns the seconds and the original text."""
    return parse_seconds(text, "10ms or 1h"), text


def _parse_serial(text: str) -> float:
    fraction = parse_share(text)
    if fraction == 1:
        raise UsageError(
            f"{printable(text)} is all of the work",
            "it leaves nothing for the other ranks to compute",
            "give a part of it, such as 1% or 0.01",
            code="nothing-parallel",
            text=text,
        )
    return fraction


def _parse_algorithm(text: str) -> tuple[str, str]:
    operation, _, name = text.partition("=")
    if not operation or not name:
        raise UsageError(
            f"{printable(text)} names no algorithm of an operation",
            "",
            "use for example bcast=binomial or alltoall=best",
            code="bad-algorithm-choice",
            text=text,
        )
    return operation.lower().removeprefix("mpi_"), name


def _parse_latency(text: str) -> tuple[float, float]:
    """Parse a range of latencies. The bounds of a single time are equal. A first bound without a unit has the
    unit of the second."""
    first_text, colon, last_text = text.partition(":")
    high = parse_seconds(last_text if colon else first_text, "10us or 0:20us")
    unit = last_text.strip().lstrip("0123456789.") if first_text.strip().replace(".", "").isdecimal() else ""
    low = parse_seconds(first_text.strip() + unit, "10us or 0:20us") if colon else high
    if low > high or (colon and low == high):
        raise UsageError(
            f"{printable(text)} is not a range",
            "its first end is not below its second",
            "use for example 0:20us",
            code="bad-latency-range",
            text=text,
        )
    return low, high


def _parse_factor(text: str) -> float:
    value = options.at_least(0.0, "2")(text)
    if value == 0:
        raise UsageError(
            f"{printable(text)} is not a factor",
            "it is not above 0",
            "use for example 0.5 or 2",
            code="factor-of-nothing",
            text=text,
        )
    return value


def _parse_network(text: str) -> str:
    if text not in NETWORKS:
        raise unknown("network", text, NETWORKS, code="unknown-network-assumption")
    return text


@verb(
    "predict",
    "hockney predict --work 1s --serial 1% --message 40kB --machine sun-ethernet",
    "hockney predict jacobi.toml n=8192 --ranks 4:512 --machine t3e",
    "hockney predict runs/app --allreduce best --freeze prediction.json",
    "hockney predict runs/app-2 runs/app-4 runs/app-8 --ranks 64",
)
@click.argument("kernel", nargs=-1, metavar="[PROFILE...|FILE|KERNEL] [NAME=VALUE...]")
@click.option(
    "--kernel",
    "named",
    metavar="NAME",
    default="",
    help="A benchmark or another kernel, like KERNEL: cg, ep, ft, is, mg, bt, lu, sp.",
)
@click.option("--class", "size", metavar="C", default="", help="The class of a benchmark: S, W, A, B, C.")
@click.option(
    "--rate",
    type=options.ParsedType("X", options.at_least(1, "2e9")),
    default=0.0,
    help="Operations per second of one rank of a benchmark, such as 2e9.  [default: as measured]",
)
@click.option(
    "--work",
    type=options.ParsedType("TIME", _parse_time),
    help="T, the computation time on one rank, such as 10ms or 1h.",
)
@click.option(
    "--grid",
    type=click.Choice(("line", "2d", "3d")),
    help="With --halo: how the ranks form a grid.  [default: line]",
)
@click.option("--halo", metavar="B", default="", help="Size of the message to each neighbor on the grid.")
@click.option(
    "--allreduce",
    metavar="B[*N]|NAME|best",
    default="",
    help="Sums over all ranks: bytes, and calls per T, such as 8B*2. Of a PROFILE: the algorithm.",
)
@click.option("--message", type=options.SIZE, help="Size of each message, such as 40kB or 1000words.")
@click.option(
    "--exchanges",
    type=options.ParsedType("N", options.at_least(0, "1")),
    default="1",
    show_default=True,
    help="Number of exchanges with both neighbors per T.",
)
@click.option(
    "--serial",
    type=options.ParsedType("SHARE", _parse_serial),
    default="0",
    show_default=True,
    help="Part of T that one rank computes while the others wait, from 0 to below 1, such as 1% or 0.01.",
)
@click.option(
    "--imbalance",
    type=options.ParsedType("X", options.at_least(1, "1.2")),
    default="1",
    show_default=True,
    help="Parallel work of the busiest rank relative to the mean.",
)
@click.option(
    "--ranks",
    type=options.RANKS,
    default=(),
    help="Rank counts, such as 2,4 or 2:64.  [default: 2 and powers of two up to the cores]",
)
@click.option(
    "--run",
    type=options.RUN,
    help="Take message times, and the rate of a benchmark on one rank, from this run.  [default: the newest "
    "survey in runs, and the newest run with the benchmark]",
)
@click.option(
    "--machine",
    metavar="NAME|FILE",
    multiple=True,
    help="Take message times from a described machine: sun-ethernet, t3e, my.toml; of a PROFILE also from "
    "the folder of a survey of another machine. Of several PROFILES: several times, to compare machines.",
)
@click.option(
    "--network",
    type=options.ParsedType("shared|switch", _parse_network),
    help="Assume that concurrent messages share the bandwidth (shared) or not (switch).  "
    "[default: as measured]",
)
@click.option(
    "--larger-machine",
    is_flag=True,
    help="With more ranks than cores: predict for a larger machine of this kind, with a core for each rank.",
)
@click.option("--barrier", metavar="NAME|best", default="", help="Of a PROFILE: the algorithm of barriers.")
@click.option(
    "--algorithm",
    "algorithms",
    type=options.ParsedType("OPERATION=NAME|best", _parse_algorithm),
    multiple=True,
    help="Of a PROFILE: the algorithm of another collective, such as bcast=binomial; several times.",
)
@click.option(
    "--eager-limit",
    type=options.SIZE,
    help="Of a PROFILE: the size up to which messages do not wait for their receives.",
)
@click.option(
    "--latency",
    type=options.ParsedType("T|A:B", _parse_latency),
    help="Of a PROFILE: time to add to every message; a range shows the run time over it.",
)
@click.option(
    "--bandwidth",
    type=options.ParsedType("X", _parse_factor),
    help="Of a PROFILE: the bandwidth, relative to the machine's.",
)
@click.option("--aggregate", is_flag=True, help="Of a PROFILE: combine messages to the same rank.")
@click.option("--overlap", is_flag=True, help="Of a PROFILE: start messages as early as their data allow.")
@click.option("--balance", is_flag=True, help="Of a PROFILE: distribute the computation evenly.")
@click.option("--no-noise", "quiet_cores", is_flag=True, help="Of a PROFILE: compute without disturbances.")
@click.option(
    "--compute-scale",
    type=options.ParsedType("X", _parse_factor),
    help="Of PROFILES: times of computation, relative to the recorded ones.",
)
@click.option(
    "--scaling",
    type=click.Choice(("strong", "weak")),
    help="Of several PROFILES: whether the problem or each rank's part stays the same.  [default: strong]",
)
@click.option(
    "--memory",
    type=options.RUN,
    help="Of several PROFILES: the run of node_memory with the rates of the traced machine's memory.  "
    "[default: the newest one in runs]",
)
@click.option(
    "--freeze",
    type=options.FILE,
    help="Of PROFILES: write the prediction, with a checksum, for 'hockney profile --check FILE'.",
)
@click.option("--report", "page", type=options.FILE, help="Of PROFILES: write a page, one HTML file.")
@click.option("--scores", is_flag=True, help="Print how well checked predictions did, from the archive.")
@options.archive
@predicted_layout("as in the run")
@options.cost
def command() -> None:
    """Predict the speed-up and efficiency of a parallel algorithm, and what would improve them.

    Given a PROFILE with a trace (hockney profile --trace), predict how long the program would take with
    changes (docs/replay.md). By default, all known changes are listed, the largest gain first; options name
    changes that are made together.

    Given PROFILES on at least three numbers of ranks, predict how the program scales to the numbers in
    --ranks, on one or more machines (docs/replay.md). The exit code is 4 if its structure is not known.

    The algorithm computes for T seconds on a single rank; part of this time may be serial. On several ranks,
    which form a ring, each rank exchanges messages with its two neighbors. Nothing is measured: the cost of
    messages comes from a survey, or from the description of a machine.

    Given a FILE (docs/programs.md), predict the program that it describes: phases of computation, messages
    and collective operations. NAME=VALUE replaces a size of its problem. --halo and --allreduce describe a
    simple program without a file.

    Given a KERNEL and its size, predict its time with the BSP or BPRAM model instead. Kernels are
    bitonic_sort keys=100000, matrix_multiplication n=1000, sample_sort and shortest_paths. There are two
    predictions: as published (plain), and with the model's wrong assumptions corrected (repaired). The
    parameters and the rates of local computation come from a run of bsp-kernels or bsp-parameters; only
    --ranks, --run and --cost apply.

    Given a benchmark of the NAS Parallel Benchmarks and its class (--kernel cg --class B), predict its time
    from its work and messages. Every rank is assumed to compute at the rate of a single rank, which comes
    from a run of the benchmark or from --rate. The costs of messages and collectives come from the survey or
    the machine.
    """
