# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The switched Ethernet of Krishnamurthy (1998): one message, MPI_Barrier, and the ten algorithms of the
paper, five of which have printed times. Suites contribute five NAS Parallel Benchmarks.

The printed times of barriers fit a network that carries one message at a time, 1.2 ms each. The
description therefore has one medium instead of a switch. The variant true-switch shows the times with a
switch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from hockney.core.case import MPI, Case
from hockney.core.catalog import Catalog
from hockney.draw.figure import Axis, Figure
from hockney.draw.page import Page, Section, Table
from hockney.models.barriers import traffic
from hockney.reproductions import contributions, pages
from hockney.reproductions.compared import (
    NOT_SIMULATED_TEXT,
    Check,
    ComparedNumber,
    Statement,
    status_of,
    values_if_complete,
)
from hockney.reproductions.parts import Answer, Part
from hockney.studies.barriers import paper
from hockney.studies.barriers.paper import (
    ALGORITHM_TITLES,
    BARRIER_KEY,
    ENGINE_NAMES,
    MESSAGE_KEY,
    PROCESSES,
    PUBLICATION,
    message_count,
)

if TYPE_CHECKING:
    from hockney.reproductions import Reproduction

NAME = "ethernet"
TITLE = "16 nodes on switched Ethernet: six barriers, and five NAS Parallel Benchmarks"
PAPER = paper.PAPER
FIGURES = {str(number): f"ethernet-figure-{number}" for number in (1, 12)}
MESSAGE_BYTES = 1
"""The paper does not print the size of its message. By the machine's description, a byte costs nothing."""
OTHER_ALGORITHMS = {
    "dissemination": "dissemination, HFM",
    "mcs_tree_bcast": "MCS tree, broadcast",
    "total_exchange_bcast": "total exchange, broadcast",
    "total_exchange_sendrecv": "total exchange, send-receive pairs",
    "tournament": "tournament, HFM",
}
"""The paper's other algorithms, by the engine's name, and the tournament that ends with single messages,
for comparison."""
MCS_TOURNAMENT = "tournament_mcs"
MESSAGE_BARRIERS = ("dissemination", "mcs-tree", "n-way", "total-exchange")
"""Barriers whose printed times are explained by their number of messages."""
MEDIUM_PART = "broadcast-medium"
BROADCAST_MECHANISM = "a broadcast is one message, which all nodes receive"
BROADCASTS = ("tournament_parity", "tournament", "mcs_tree_bcast", "total_exchange_bcast")
"""The engine's names of barriers that use MPI_Bcast."""
MAX_WINNER_SHARE = 0.8
"""The winner is clear if it takes at most this share of the time of every other barrier."""
TRUE_SWITCH_MECHANISM = "messages in parallel, as on a real switch"


def parts(catalog: Catalog) -> list[Part]:
    def barrier_cases(*names: str) -> tuple[Case, ...]:
        return engine_barrier_cases(*(ENGINE_NAMES[name] for name in names))

    def engine_barrier_cases(*names: str) -> tuple[Case, ...]:
        return tuple(
            catalog.case(f"barrier algorithm={name} sync=window ranks={p}")
            for name in names
            for p in PROCESSES
        )

    message = catalog.case(f"isend_recv bytes={MESSAGE_BYTES} ranks=2")
    return [
        Part("message", "switched-ethernet", (message,)),
        Part("barrier", "switched-ethernet", barrier_cases(MPI)),
        Part(
            "algorithms",
            "switched-ethernet",
            barrier_cases(*(name for name in ALGORITHM_TITLES if name != MPI)),
        ),
        Part("true-switch", "switched-ethernet+true-switch", barrier_cases(MPI)),
        Part("others", "switched-ethernet", engine_barrier_cases(*OTHER_ALGORITHMS, MCS_TOURNAMENT)),
        Part(MEDIUM_PART, f"switched-ethernet+{MEDIUM_PART}", engine_barrier_cases(MPI, *BROADCASTS)),
        *(part for contribution in contributions(NAME) for part in contribution.parts(catalog)),
    ]


def on_emulated(machine: str) -> Reproduction:
    """Returns the reproduction of the barriers with real TCP on the emulated `machine`."""
    from hockney.suites.papers.reproductions.ethernet_emulated import EthernetOnTcp

    return EthernetOnTcp(machine)


def compare(answers: Mapping[str, Answer]) -> list[ComparedNumber]:
    algorithm_rows = (barrier_rows(answers["algorithms"], name) for name in ALGORITHM_TITLES if name != MPI)
    return [
        message_row(answers),
        *barrier_rows(answers["barrier"], MPI),
        *(row for rows in algorithm_rows for row in rows),
        *barrier_rows(answers["true-switch"], MPI, TRUE_SWITCH_MECHANISM),
        *barrier_rows(answers[MEDIUM_PART], "tournament", BROADCAST_MECHANISM),
        *(row for contribution in contributions(NAME) for row in contribution.compare(answers)),
    ]


def message_row(answers: Mapping[str, Answer]) -> ComparedNumber:
    row = PUBLICATION.row(MESSAGE_KEY)
    message = answers["message"]
    return ComparedNumber(
        row.key,
        "one message, one way",
        row.si,
        message.seconds("isend_recv"),
        None,
        "s",
        status_of(message.platform, row.key),
        table="one message",
    )


def barrier_rows(answer: Answer, name: str, mechanism: str = "") -> Iterable[ComparedNumber]:
    title = ALGORITHM_TITLES[name]
    for p in PROCESSES:
        row = PUBLICATION.row(BARRIER_KEY.format(name, p))
        is_single = p == 1
        note = (
            "no message: the printed time is that of the call itself, which is not simulated"
            if is_single
            else ""
        )
        yield ComparedNumber(
            row.key,
            f"{title}, {p} process{'es' if p > 1 else ''}",
            row.si,
            None if is_single else answer.seconds("barrier", algorithm=ENGINE_NAMES[name], ranks=p),
            None if mechanism or is_single else message_count(name, p) * PUBLICATION.row(MESSAGE_KEY).si,
            "s",
            status_of(answer.platform, row.key, mechanism),
            mechanism or (BROADCAST_MECHANISM if name == "tournament" and not is_single else ""),
            note=note,
            table=f"{title}, {mechanism}" if mechanism else title,
        )


def checks(answers: Mapping[str, Answer], comparisons: Sequence[ComparedNumber]) -> list[Check]:
    return [
        *message_checks(comparisons),
        _consistency_check(answers),
        _mpi_barrier_check(answers),
        *_tournament_checks(answers, comparisons),
        _winner_check(answers, "algorithms"),
        _winner_check(answers, MEDIUM_PART),
        *(check for contribution in contributions(NAME) for check in contribution.checks(answers)),
    ]


def _consistency_check(answers: Mapping[str, Answer]) -> Check:
    """Checks that the other barriers take the same time for each of their messages as the printed ones."""
    p, message_s = PROCESSES[-1], PUBLICATION.row(MESSAGE_KEY).si
    claim = (
        f"the other {len(OTHER_ALGORITHMS)} barriers are consistent: 1.2 ms for each of their messages, "
        f"within 10%"
    )
    statement = Statement("others-consistent", "text on table 1", claim)
    times = times_on_max_processes(answers)
    errors = {
        name: seconds / (traffic(name, p).messages * message_s) - 1
        for name in OTHER_ALGORITHMS
        if (seconds := times[name]) is not None
    }
    if len(errors) < len(OTHER_ALGORITHMS):
        return statement.unknown()
    worst_algorithm = max(errors, key=lambda name: abs(errors[name]))
    return statement.check(
        abs(errors[worst_algorithm]) <= 0.1,
        f"largest error {errors[worst_algorithm]:+.1%}, {OTHER_ALGORITHMS[worst_algorithm]}",
    )


def _mpi_barrier_check(answers: Mapping[str, Answer]) -> Check:
    p = PROCESSES[-1]
    times = times_on_max_processes(answers)
    mpi_s, dissemination_s = times[MPI], times[ENGINE_NAMES["dissemination"]]
    printed_s = [PUBLICATION.row(BARRIER_KEY.format(name, p)).si for name in (MPI, "dissemination")]
    printed_ratio = printed_s[0] / printed_s[1]
    claim = (
        f"MPI_Barrier takes {printed_ratio:.1f} times as long as dissemination on {p} processes, within 25%"
    )
    statement = Statement("mpi-barrier", "table 1", claim)
    if not mpi_s or not dissemination_s:
        return statement.unknown()
    ratio = mpi_s / dissemination_s
    return statement.check(abs(ratio / printed_ratio - 1) <= 0.25, f"{ratio:.2f} times")


def _tournament_checks(answers: Mapping[str, Answer], comparisons: Sequence[ComparedNumber]) -> list[Check]:
    """Checks whether a broadcast of one message or of P-1 messages explains the printed tournament. One
    process sends nothing, and the time printed for 3 belongs to another row."""
    rows = [row for row in comparisons if row.key.startswith("barriers/table/tournament/")]
    rows = [row for row in rows if not row.key.endswith(("/1", "/3"))]
    claim = "P messages explain the tournament on 5 and more processes within 20%, if a broadcast is {}"
    one_message = Statement("tournament-one-message", "table 1", claim.format("one message"))
    single_messages = Statement("tournament-single-messages", "table 1", claim.format("P-1 messages"))
    return [
        one_message.within([row for row in rows if row.status == "variant"], 0.2),
        single_messages.within([row for row in rows if row.status != "variant"], 0.2),
    ]


def _winner_check(answers: Mapping[str, Answer], part: str) -> Check:
    """Checks that the tournament wins, on the machine or on the variant in which a broadcast is one
    message."""
    has_single_broadcasts = part == MEDIUM_PART
    claim = f"tournament is the clear winner on {PROCESSES[-1]} processes"
    if has_single_broadcasts:
        claim += f", if {BROADCAST_MECHANISM}"
    statement = Statement(
        f"tournament-wins{'-broadcast' if has_single_broadcasts else ''}", "text on table 1", claim
    )
    times = times_on_max_processes(answers, has_single_broadcasts)
    seconds = values_if_complete(times.values())
    if seconds is None:
        return statement.unknown()
    known_times = dict(zip(times, seconds, strict=True))
    name = ENGINE_NAMES["tournament"]
    other_times = {
        other_name: seconds
        for other_name, seconds in known_times.items()
        if not other_name.startswith("tournament")
    }
    fastest_other_name = min(other_times, key=lambda other_name: other_times[other_name])
    return statement.check(
        known_times[name] <= MAX_WINNER_SHARE * other_times[fastest_other_name],
        f"{1e3 * known_times[name]:.1f} ms, {fastest_other_name} "
        f"{1e3 * other_times[fastest_other_name]:.1f} ms",
    )


def times_on_max_processes(
    answers: Mapping[str, Answer], has_single_broadcasts: bool = False
) -> dict[str, float | None]:
    """Returns the times (s) of MPI_Barrier and the ten algorithms on the maximum number of processes, by
    the engine's name."""
    parts = {MPI: "barrier"} | {name: "algorithms" for key, name in ENGINE_NAMES.items() if key != MPI}
    parts |= dict.fromkeys(OTHER_ALGORITHMS, "others")
    if has_single_broadcasts:
        parts |= dict.fromkeys(BROADCASTS, MEDIUM_PART)
    return {
        name: answers[part].seconds("barrier", algorithm=name, ranks=PROCESSES[-1])
        for name, part in parts.items()
    }


def message_checks(comparisons: Sequence[ComparedNumber]) -> list[Check]:
    largest_keys = {BARRIER_KEY.format(name, PROCESSES[-1]) for name in MESSAGE_BARRIERS}
    claim = f"dissemination, MCS tree, N-way and total exchange on {PROCESSES[-1]} processes within 10%"
    return [
        Statement("message", "text", "one message takes 1.2 ms, within 1%").within(
            [row for row in comparisons if row.key == MESSAGE_KEY], 0.01
        ),
        Statement("barriers-of-messages", "table 1", claim).within(
            [row for row in comparisons if row.key in largest_keys], 0.1
        ),
    ]


def page(
    answers: Mapping[str, Answer], comparisons: Sequence[ComparedNumber], checks: Sequence[Check]
) -> Page:
    sections = [
        *(entry for contribution in contributions(NAME) for entry in contribution.sections(answers)),
        Section("Barriers", figures=(_barrier_figure(answers),), tables=(_barriers_table(answers),)),
    ]
    summary = (
        *_summary(comparisons),
        *(entry for contribution in contributions(NAME) for entry in contribution.summary(answers)),
    )
    return pages.reproduction_page(
        (NAME, TITLE, PUBLICATION.citation), answers, comparisons, checks, summary, sections
    )


def _summary(comparisons: Sequence[ComparedNumber]) -> tuple[str, ...]:
    rows = [
        row for row in pages.time_rows(comparisons) if row.key != MESSAGE_KEY and not row.key.endswith("/1")
    ]
    message_barrier_rows = [row for row in rows if row.key.split("/")[2] in MESSAGE_BARRIERS]
    if not pages.simulated_rows(rows):
        return (
            "R. Krishnamurthy timed six barriers on 16 nodes of a switched Ethernet.",
            "Nothing was simulated yet.",
        )
    near_rows = pages.close_rows(message_barrier_rows)
    sentences = [
        "R. Krishnamurthy timed six barriers on 16 nodes of a switched Ethernet, where one message takes "
        "1.2 ms.",
        "The simulated network carries one message at a time, 1.2 ms each, and runs the same algorithms. It "
        f"gives {pages.agreement_text(rows, 'printed times on more than one process')}; of the four "
        "algorithms "
        f"that only send messages, {len(near_rows)} of {len(message_barrier_rows)}.",
    ]
    if len(near_rows) > len(message_barrier_rows) / 2:
        sentences.append(
            "So the switch carried one message after another: a true switch would have been faster."
        )
    broadcast_rows = [
        row for row in comparisons if row.mechanism == BROADCAST_MECHANISM and row.status == "variant"
    ]
    if pages.simulated_rows(broadcast_rows):
        sentences.append(
            "The tournament ends with a broadcast. As P-1 messages, that takes as long as a tree; if it is "
            f"one message that all nodes receive, {pages.agreement_text(broadcast_rows, 'printed times')}."
        )
    return tuple(sentences)


def _barriers_table(answers: Mapping[str, Answer]) -> Table:
    """Returns a table of all algorithms of the paper on the maximum number of processes."""
    times, medium_times = times_on_max_processes(answers), times_on_max_processes(answers, True)
    printed_times = {
        ENGINE_NAMES[key]: PUBLICATION.row(BARRIER_KEY.format(key, PROCESSES[-1])).si for key in ENGINE_NAMES
    }
    titles = {ENGINE_NAMES[key]: title for key, title in ALGORITHM_TITLES.items()} | OTHER_ALGORITHMS
    rows = tuple(
        (
            titles[name],
            name,
            *(
                pages.format_number(seconds, "s")
                for seconds in (printed_times.get(name), times[name], medium_times[name])
            ),
        )
        for name in sorted(times, key=lambda name: times[name] or 0.0)
    )
    algorithm_10_s = answers["others"].seconds("barrier", algorithm=MCS_TOURNAMENT, ranks=PROCESSES[-1])
    return Table(
        "barriers",
        f"The paper's ten barriers and MPI_Barrier on {PROCESSES[-1]} processes",
        ("barrier", "engine's name", "published", "simulated", "a broadcast is one message"),
        rows,
        numeric=(2, 3, 4),
        caption="The paper prints the times of five, and that the others' are consistent. For comparison, "
        f"algorithm 10 of Mellor-Crummey and Scott ({MCS_TOURNAMENT}), which ends by single messages: "
        f"{pages.format_number(algorithm_10_s, 's') or NOT_SIMULATED_TEXT}.",
    )


def _barrier_figure(answers: Mapping[str, Answer]) -> Figure:
    series = []
    for name, title in ALGORITHM_TITLES.items():
        rows = [(p, PUBLICATION.row(BARRIER_KEY.format(name, p)).si) for p in PROCESSES]
        series.append(pages.make_series(f"{title}, published", rows, "line", title))
    base_curves = [("barrier" if name == MPI else "algorithms", name, "") for name in ALGORITHM_TITLES]
    variants = (("true-switch", MPI, " on a true switch"), (MEDIUM_PART, "tournament", ", one broadcast"))
    for part, name, suffix in (*base_curves, *variants):
        seconds = [
            (p, answers[part].seconds("barrier", algorithm=ENGINE_NAMES[name], ranks=p)) for p in PROCESSES
        ]
        group = f"{ALGORITHM_TITLES[name]}{suffix}"
        series.append(pages.make_series(f"{ALGORITHM_TITLES[name]}, simulated{suffix}", seconds, group=group))
    return Figure(
        "ethernet-figure-1",
        "Figure 1: time of barriers",
        Axis("processes", "processes", "linear"),
        Axis("time", "s", "linear"),
        tuple(series),
        "Lines: published. Points: simulated.",
    )
