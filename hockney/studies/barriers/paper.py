# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Krishnamurthy's table (1998) beside what his extrapolation says: messages, 1.2 ms each, one after the "
"other."""

from __future__ import annotations

from hockney import reference
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Section, Table
from hockney.models.barriers import traffic
from hockney.studies.barriers.tables import error
from hockney.studies.words import quantity

PRINTED = reference.published("barriers")
PROCESSES = (1, 3, 5, 7, 9, 12, 14, 16)
ALGORITHMS = {
    "mpi": "mpi",
    "dissemination": "dissemination_mcs",
    "mcs-tree": "mcs_tree",
    "n-way": "central",
    "total-exchange": "total_exchange",
    "tournament": "tournament_mcs",
}
"""The engine's name of each that has printed times."""
MPICH = "recursive_doubling"
"""Of MPICH's MPI_Barrier of that time: a hypercube of exchanges."""


def message_s() -> float:
    """The paper's one message, one way."""
    return PRINTED.row("barriers/text/message").si


def printed(name: str, processes: int) -> float:
    """Seconds, by the name that the paper's rows have."""
    return PRINTED.row(f"barriers/table/{name}/{processes}").si


def expected(name: str, processes: int) -> float:
    """Seconds by the number of messages."""
    algorithm = ALGORITHMS[name] if name != "mpi" else MPICH
    return traffic(algorithm, processes).messages * message_s()


def section() -> Section:
    return Section(
        "The paper's barriers",
        text=(
            "R. Krishnamurthy measured them on 16 nodes of an Ethernet, where one message took 1.2 ms. The "
            "number of messages times 1.2 ms explains dissemination, MCS tree, N-way and total exchange: the "
            "network carried one message at a time. The tournament is printed at half of its 2(P-1) "
            "messages: there a broadcast, which all nodes of an Ethernet hear at once, wakes them. "
            "MPI_Barrier takes twice what its exchanges would.",
        ),
        figures=(_figure(),),
        tables=(_table(),),
    )


def _table() -> Table:
    rows = []
    for name, algorithm in ALGORITHMS.items():
        for p in PROCESSES[1:]:
            said, foreseen = printed(name, p), expected(name, p)
            counted = traffic(MPICH if name == "mpi" else algorithm, p).messages
            rows.append(
                (
                    algorithm,
                    str(p),
                    quantity(said, "s"),
                    str(counted),
                    quantity(foreseen, "s"),
                    error(foreseen / said - 1),
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
    for name, algorithm in ALGORITHMS.items():
        xs = tuple(map(float, PROCESSES))
        drawn.append(Series(algorithm, xs, tuple(printed(name, p) for p in PROCESSES), group=algorithm))
        late = xs[1:]
        ys = tuple(expected(name, int(p)) for p in late)
        drawn.append(Series(f"{algorithm}, by messages", late, ys, kind="line", group=algorithm))
    return Figure(
        "barriers-paper",
        "Barriers on switched Ethernet, 1998",
        Axis("processes", "processes", "linear"),
        Axis("time", "s", "linear"),
        tuple(drawn),
        "Points: printed. Lines: messages, 1.2 ms each, one after the other.",
    )
