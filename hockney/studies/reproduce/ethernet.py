# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The switched Ethernet of Krishnamurthy (1998): one message, and MPI_Barrier.

The printed times of barriers are those of a network that carries one message after the other, 1.2 ms each, so
the description has one medium instead of a switch; the variant true-switch shows what a switch would do. The
algorithms that the paper wrote itself are not run here, only the row of MPI_Barrier.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hockney import reference
from hockney.core.catalog import Catalog
from hockney.draw.figure import Axis, Figure
from hockney.draw.page import Page, Section
from hockney.studies.reproduce import pages
from hockney.studies.reproduce.compared import Compared, Limit, status_of, within
from hockney.studies.reproduce.parts import Answer, Part

NAME = "ethernet"
TITLE = "16 nodes on switched Ethernet: one message, and MPI_Barrier"
PAPER = "barriers"
PRINTED = reference.published(PAPER)

PROCESSES = (1, 3, 5, 7, 9, 12, 14, 16)
MESSAGE = "barriers/text/message"
MESSAGE_BYTES = 1
"""The paper does not print the size of its message; in the machine's description it costs nothing."""
BARRIER = "barriers/table/mpi/{}"
ALGORITHMS = {
    "mpi": "MPI_Barrier",
    "dissemination": "dissemination",
    "mcs-tree": "MCS tree",
    "n-way": "N-way",
    "total-exchange": "total exchange",
    "tournament": "tournament",
}
SWITCH = "messages side by side, as a switch promises"


def parts(catalog: Catalog) -> list[Part]:
    barriers = tuple(catalog.case(f"barrier sync=window ranks={p}") for p in PROCESSES)
    message = catalog.case(f"isend_recv bytes={MESSAGE_BYTES} ranks=2")
    return [
        Part("message", "switched-ethernet", (message,)),
        Part("barrier", "switched-ethernet", barriers),
        Part("true-switch", "switched-ethernet+true-switch", barriers),
    ]


def compare(answers: Mapping[str, Answer]) -> list[Compared]:
    row = PRINTED.row(MESSAGE)
    message = answers["message"]
    one = Compared(
        row.key,
        "one message, one way",
        row.si,
        message.seconds("isend_recv"),
        None,
        "s",
        status_of(message.platform, row.key),
        table="one message",
    )
    return [
        one,
        *_barriers(answers["barrier"], "", "MPI_Barrier", row.si),
        *_barriers(answers["true-switch"], SWITCH, f"MPI_Barrier, {SWITCH}", row.si),
    ]


def _barriers(answer: Answer, mechanism: str, table: str, message_s: float) -> Iterable[Compared]:
    for p in PROCESSES:
        row = PRINTED.row(BARRIER.format(p))
        yield Compared(
            row.key,
            f"MPI_Barrier, {p} process{'es' if p > 1 else ''}",
            row.si,
            answer.seconds("barrier", ranks=p),
            None if mechanism else messages(p) * message_s,
            "s",
            status_of(answer.platform, row.key, mechanism),
            mechanism,
            note="" if p > 1 else "no message: what is printed is the call itself",
            table=table,
        )


def messages(processes: int) -> int:
    """Of a hypercube of exchanges: the processes beyond a power of two report to a partner first and hear
    from it last."""
    power = 1 << (processes.bit_length() - 1)
    return power * (power.bit_length() - 1) + 2 * (processes - power)


def limits(compared: Sequence[Compared]) -> list[Limit]:
    return [within("one message of 1.2 ms", [row for row in compared if row.key == MESSAGE], 0.01)]


def page(answers: Mapping[str, Answer], compared: Sequence[Compared], limits: Sequence[Limit]) -> Page:
    section = Section("Barriers", figures=(_figure(answers),))
    return pages.page(TITLE, PRINTED.citation, answers, compared, limits, [section])


def _figure(answers: Mapping[str, Answer]) -> Figure:
    drawn = []
    for name, title in ALGORITHMS.items():
        rows = [(p, PRINTED.row(f"barriers/table/{name}/{p}").si) for p in PROCESSES]
        drawn.append(pages.series(f"{title}, published", rows, "line", title))
    drawn += [
        pages.series(
            f"MPI_Barrier, simulated{words}",
            [(p, answers[part].seconds("barrier", ranks=p)) for p in PROCESSES],
        )
        for part, words in (("barrier", ""), ("true-switch", " on a true switch"))
    ]
    return Figure(
        "ethernet-barriers",
        "Time of barriers",
        Axis("processes", "processes", "linear"),
        Axis("time", "s", "linear"),
        tuple(drawn),
        "Lines: published. Points: MPI_Barrier, simulated.",
    )
