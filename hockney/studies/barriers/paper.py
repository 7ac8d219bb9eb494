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
from hockney.studies.barriers.columns import format_error

PAPER = "barriers"
PUBLICATION = reference.published(PAPER)
PROCESSES = (1, 3, 5, 7, 9, 12, 14, 16)
MESSAGE_KEY = "barriers/text/message"
BARRIER_KEY = "barriers/table/{}/{}"
ALGORITHM_TITLES = {
    MPI: "MPI_Barrier",
    "dissemination": "dissemination",
    "mcs-tree": "MCS tree",
    "n-way": "N-way",
    "total-exchange": "total exchange",
    "tournament": "tournament",
}
"""Titles of the algorithms, by their names in the paper's rows."""
ENGINE_NAMES = {
    MPI: "mpi",
    "dissemination": "dissemination_mcs",
    "mcs-tree": "mcs_tree",
    "n-way": "central",
    "total-exchange": "total_exchange",
    "tournament": "tournament_parity",
}
"""The engine's names of the algorithms."""
MPI_ALGORITHM = "recursive_doubling"
"""The algorithm of MPI_Barrier in the MPICH of that time, as in the machine's description."""


def message_count(name: str, processes: int) -> int:
    """The number of messages of one barrier, by the name in the paper's rows. The paper counts the
    tournament's broadcast as one message."""
    return processes if name == "tournament" else transmission_count(name, processes)


def transmission_count(name: str, processes: int) -> int:
    """The number of messages of one barrier, with each message of a broadcast counted."""
    return traffic(MPI_ALGORITHM if name == MPI else ENGINE_NAMES[name], processes).messages


def printed_s(name: str, processes: int) -> float:
    """The printed seconds, by the name in the paper's rows."""
    return PUBLICATION.row(BARRIER_KEY.format(name, processes)).si


def predicted_s(name: str, processes: int) -> float:
    """Seconds predicted from the number of messages."""
    return message_count(name, processes) * PUBLICATION.row(MESSAGE_KEY).si


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
    for name in ALGORITHM_TITLES:
        for p in PROCESSES[1:]:
            printed_time_s, predicted_time_s = printed_s(name, p), predicted_s(name, p)
            rows.append(
                (
                    ENGINE_NAMES[name],
                    str(p),
                    quantity(printed_time_s, "s"),
                    str(message_count(name, p)),
                    quantity(predicted_time_s, "s"),
                    format_error(predicted_time_s / printed_time_s - 1),
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
    for name in ALGORITHM_TITLES:
        xs = tuple(map(float, PROCESSES))
        ys = tuple(printed_s(name, p) for p in PROCESSES)
        drawn.append(Series(ALGORITHM_TITLES[name], xs, ys, group=name))
        multiple_processes = xs[1:]
        ys = tuple(predicted_s(name, int(p)) for p in multiple_processes)
        drawn.append(
            Series(f"{ALGORITHM_TITLES[name]}, by messages", multiple_processes, ys, kind="line", group=name)
        )
    return Figure(
        "barriers-paper",
        "Barriers on switched Ethernet, 1998",
        Axis("processes", "processes", "linear"),
        Axis("time", "s", "linear"),
        tuple(drawn),
        "Points: printed. Lines: messages of 1.2 ms, one at a time.",
    )
