# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The switched Ethernet of Krishnamurthy (1998): one message, MPI_Barrier, the five algorithms of the paper
that have printed times, and five NAS Parallel Benchmarks (ethernet_kernels).

The printed times of barriers are those of a network that carries one message after the other, 1.2 ms each, so
the description has one medium instead of a switch; the variant true-switch shows the times with a switch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from hockney import reference, simulated
from hockney.core.case import MPI, Case
from hockney.core.catalog import Catalog
from hockney.draw.figure import Axis, Figure
from hockney.draw.page import Page, Section
from hockney.models.barriers import traffic
from hockney.reproductions import ethernet_kernels, overview, pages
from hockney.reproductions.compared import Compared, Limit, status_of, within
from hockney.reproductions.parts import Answer, Part

if TYPE_CHECKING:
    from hockney.reproductions import Reproduction

NAME = "ethernet"
TITLE = "16 nodes on switched Ethernet: six barriers, and five NAS Parallel Benchmarks"
PAPER = "barriers"
PRINTED = reference.published(PAPER)
WORKLOADS = ethernet_kernels.WORKLOADS

PROCESSES = (1, 3, 5, 7, 9, 12, 14, 16)
MESSAGE = "barriers/text/message"
MESSAGE_BYTES = 1
"""The paper does not print the size of its message; in the machine's description it costs nothing."""
BARRIER = "barriers/table/{}/{}"
ALGORITHMS = {
    MPI: "MPI_Barrier",
    "dissemination": "dissemination",
    "mcs-tree": "MCS tree",
    "n-way": "N-way",
    "total-exchange": "total exchange",
    "tournament": "tournament",
}
"""By the names in the paper's rows."""
ENGINE = {
    MPI: "mpi",
    "dissemination": "dissemination_mcs",
    "mcs-tree": "mcs_tree",
    "n-way": "central",
    "total-exchange": "total_exchange",
    "tournament": "tournament_mcs",
}
"""The engine's names for them."""
HYPERCUBE = "recursive_doubling"
"""MPI_Barrier in MPICH of that time, as in the machine's description."""
COUNTED = ("dissemination", "mcs-tree", "n-way", "total-exchange")
"""Barriers whose printed times are explained by the number of their messages."""
BROADCAST = "all nodes of an Ethernet receive a broadcast at once; here its P-1 messages are sent one by one"
SWITCH = "messages in parallel, as on a real switch"


def parts(catalog: Catalog) -> list[Part]:
    def barriers(*names: str) -> tuple[Case, ...]:
        return tuple(
            catalog.case(f"barrier algorithm={ENGINE[name]} sync=window ranks={p}")
            for name in names
            for p in PROCESSES
        )

    message = catalog.case(f"isend_recv bytes={MESSAGE_BYTES} ranks=2")
    return [
        Part("message", "switched-ethernet", (message,)),
        Part("barrier", "switched-ethernet", barriers(MPI)),
        Part("algorithms", "switched-ethernet", barriers(*(name for name in ALGORITHMS if name != MPI))),
        Part("true-switch", "switched-ethernet+true-switch", barriers(MPI)),
        *ethernet_kernels.parts(catalog, simulated.platform("switched-ethernet")),
    ]


def on_emulated(machine: str) -> Reproduction:
    """The barriers with real TCP on the emulated `machine`."""
    from hockney.reproductions.ethernet_emulated import EthernetOnTcp

    return EthernetOnTcp(machine)


def compare(answers: Mapping[str, Answer]) -> list[Compared]:
    others = (barrier_rows(answers["algorithms"], name) for name in ALGORITHMS if name != MPI)
    return [
        message_row(answers),
        *barrier_rows(answers["barrier"], MPI),
        *(each for rows in others for each in rows),
        *barrier_rows(answers["true-switch"], MPI, SWITCH),
        *ethernet_kernels.compare(answers),
    ]


def message_row(answers: Mapping[str, Answer]) -> Compared:
    row = PRINTED.row(MESSAGE)
    message = answers["message"]
    return Compared(
        row.key,
        "one message, one way",
        row.si,
        message.seconds("isend_recv"),
        None,
        "s",
        status_of(message.platform, row.key),
        table="one message",
    )


def barrier_rows(answer: Answer, name: str, mechanism: str = "") -> Iterable[Compared]:
    title = ALGORITHMS[name]
    for p in PROCESSES:
        row = PRINTED.row(BARRIER.format(name, p))
        note = "no message: the printed time is that of the call itself" if p == 1 else ""
        yield Compared(
            row.key,
            f"{title}, {p} process{'es' if p > 1 else ''}",
            row.si,
            answer.seconds("barrier", algorithm=ENGINE[name], ranks=p),
            None if mechanism else messages(name, p) * PRINTED.row(MESSAGE).si,
            "s",
            status_of(answer.platform, row.key, mechanism),
            mechanism or (BROADCAST if name == "tournament" and p > 1 else ""),
            note=note,
            table=f"{title}, {mechanism}" if mechanism else title,
        )


def messages(name: str, processes: int) -> int:
    """The number of messages of one barrier, by the name of the paper's row."""
    return traffic(HYPERCUBE if name == MPI else ENGINE[name], processes).messages


def limits(compared: Sequence[Compared]) -> list[Limit]:
    largest = {BARRIER.format(name, PROCESSES[-1]) for name in COUNTED}
    return [
        within("one message of 1.2 ms", [row for row in compared if row.key == MESSAGE], 0.01),
        within(
            f"dissemination, MCS tree, N-way and total exchange on {PROCESSES[-1]} processes",
            [row for row in compared if row.key in largest],
            0.1,
        ),
    ]


def findings(answers: Mapping[str, Answer]) -> list[Limit]:
    return ethernet_kernels.findings(answers)


def page(answers: Mapping[str, Answer], compared: Sequence[Compared], limits: Sequence[Limit]) -> Page:
    sections = [*ethernet_kernels.sections(answers), Section("Barriers", figures=(_figure(answers),))]
    summary = (*_summary(compared), *ethernet_kernels.summary(answers))
    return pages.page((NAME, TITLE, PRINTED.citation), answers, compared, limits, summary, sections)


def _summary(compared: Sequence[Compared]) -> tuple[str, ...]:
    rows = [row for row in overview.times(compared) if row.key != MESSAGE and not row.key.endswith("/1")]
    by_messages = [row for row in rows if row.key.split("/")[2] in COUNTED]
    if not overview.measured(rows):
        return (
            "R. Krishnamurthy timed six barriers on 16 nodes of a switched Ethernet.",
            "Nothing was simulated yet.",
        )
    near = overview.near(by_messages)
    texts = [
        "R. Krishnamurthy timed six barriers on 16 nodes of a switched Ethernet, where one message takes "
        "1.2 ms.",
        "The simulated network carries one message at a time, 1.2 ms each, and runs the same algorithms. It "
        f"gives {overview.counted(rows, 'printed times on more than one process')}; of the four algorithms "
        f"that only send messages, {len(near)} of {len(by_messages)}.",
    ]
    if len(near) > len(by_messages) / 2:
        texts.append(
            "So the switch carried one message after another: a true switch would have been faster. The "
            "tournament ended with a broadcast that all nodes receive at once; here it is sent message by "
            "message."
        )
    return tuple(texts)


def _figure(answers: Mapping[str, Answer]) -> Figure:
    drawn = []
    for name, title in ALGORITHMS.items():
        rows = [(p, PRINTED.row(BARRIER.format(name, p)).si) for p in PROCESSES]
        drawn.append(pages.series(f"{title}, published", rows, "line", title))
    shown = [("barrier" if name == MPI else "algorithms", name, "") for name in ALGORITHMS]
    for part, name, words in (*shown, ("true-switch", MPI, " on a true switch")):
        seconds = [(p, answers[part].seconds("barrier", algorithm=ENGINE[name], ranks=p)) for p in PROCESSES]
        group = f"{ALGORITHMS[name]}{words}"
        drawn.append(pages.series(f"{ALGORITHMS[name]}, simulated{words}", seconds, group=group))
    return Figure(
        "ethernet-barriers",
        "Time of barriers",
        Axis("processes", "processes", "linear"),
        Axis("time", "s", "linear"),
        tuple(drawn),
        "Lines: published. Points: simulated.",
    )
