# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Krishnamurthy's table (1998) compared with his extrapolation: messages of 1.2 ms each, one at a time."""

from __future__ import annotations

from hockney import reference
from hockney.core.case import MPI
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Section, Table
from hockney.models.barriers import traffic
from hockney.pages.format import quantity
from hockney.studies.barriers.columns import error

PAPER = "barriers"
PRINTED = reference.published(PAPER)
PROCESSES = (1, 3, 5, 7, 9, 12, 14, 16)
MESSAGE = "barriers/text/message"
BARRIER = "barriers/table/{}/{}"
ALGORITHMS = {
    MPI: "MPI_Barrier",
    "dissemination": "dissemination",
    "mcs-tree": "MCS tree",
    "n-way": "N-way",
    "total-exchange": "total exchange",
    "tournament": "tournament",
}
"""The algorithms by the names in the paper's rows."""
ENGINE = {
    MPI: "mpi",
    "dissemination": "dissemination_mcs",
    "mcs-tree": "mcs_tree",
    "n-way": "central",
    "total-exchange": "total_exchange",
    "tournament": "tournament_parity",
}
"""The engine's names for them."""
HYPERCUBE = "recursive_doubling"
"""MPI_Barrier in MPICH of that time, as in the machine's description."""


def messages(name: str, processes: int) -> int:
    """The number of messages of one barrier, by the name of the paper's row. The paper counts the
    tournament's broadcast as one."""
    return processes if name == "tournament" else sent(name, processes)


def sent(name: str, processes: int) -> int:
    """The same, with each message of a broadcast."""
    return traffic(HYPERCUBE if name == MPI else ENGINE[name], processes).messages


def printed(name: str, processes: int) -> float:
    """Seconds, by the name in the paper's rows."""
    return PRINTED.row(BARRIER.format(name, processes)).si


def expected(name: str, processes: int) -> float:
    """Seconds predicted from the number of messages."""
    return messages(name, processes) * PRINTED.row(MESSAGE).si


def section() -> Section:
    return Section(
        "The paper's barriers",
        text=(
            "R. Krishnamurthy measured them on 16 nodes of an Ethernet, where one message took 1.2 ms. "
            "The number of messages times 1.2 ms explains all five algorithms: the network carried one "
            "message at a time, and the broadcast that ends the tournament was one message, which all "
            "nodes of an Ethernet receive. MPI_Barrier takes twice as long as its exchanges.",
        ),
        figures=(_figure(),),
        tables=(_table(),),
        closed=True,
    )


def _table() -> Table:
    rows = []
    for name in ALGORITHMS:
        for p in PROCESSES[1:]:
            printed_s, expected_s = printed(name, p), expected(name, p)
            rows.append(
                (
                    ENGINE[name],
                    str(p),
                    quantity(printed_s, "s"),
                    str(messages(name, p)),
                    quantity(expected_s, "s"),
                    error(expected_s / printed_s - 1),
                )
            )
    columns = ("barrier", "processes", "printed", "messages", "x 1.2 ms", "error")
    return Table(
        "paper",
        "Printed in 1998, and predicted",
        columns,
        tuple(rows),
        numeric=(1, 2, 3, 4, 5),
        caption="mpi: 100 iterations, counted as recursive doubling. The others: 1000000 iterations.",
    )


def _figure() -> Figure:
    drawn = []
    for name in ALGORITHMS:
        xs = tuple(map(float, PROCESSES))
        ys = tuple(printed(name, p) for p in PROCESSES)
        drawn.append(Series(ALGORITHMS[name], xs, ys, group=name))
        late = xs[1:]
        ys = tuple(expected(name, int(p)) for p in late)
        drawn.append(Series(f"{ALGORITHMS[name]}, by messages", late, ys, kind="line", group=name))
    return Figure(
        "barriers-paper",
        "Barriers on switched Ethernet, 1998",
        Axis("processes", "processes", "linear"),
        Axis("time", "s", "linear"),
        tuple(drawn),
        "Points: printed. Lines: messages of 1.2 ms, one at a time.",
    )
