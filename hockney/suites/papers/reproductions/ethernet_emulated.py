# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The six barriers of Krishnamurthy (1998) with real TCP on an emulated Ethernet of up to 16 hosts.

As in the paper, many barriers follow one another (sync=loop). The simulated ones start together
(sync=window): without noise, successive barriers overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hockney.core.case import MPI
from hockney.core.catalog import Catalog
from hockney.core.units import format_value
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Page, Section, Table
from hockney.reproductions import pages
from hockney.reproductions.compared import Check, ComparedNumber, Statement, all_known
from hockney.reproductions.parts import Answer, Part
from hockney.studies.barriers import paper
from hockney.suites.papers.reproductions import emulated, ethernet

MACHINE = "switched-ethernet"
BARRIERS = "emulated-barriers"
SIMULATED = ("message", "barrier", "algorithms", "true-switch")
"""Parts of the simulated reproduction that concern barriers."""
PROCESSES = tuple(p for p in ethernet.PROCESSES if p > 1)
MIN_PROCESSES, MAX_PROCESSES = PROCESSES[0], PROCESSES[-1]
TWO_PROCESSES = "barriers-2"
"""Simulated: the paper has no times of two, with which the curves begin."""
EXCHANGE_PROCESSES = (4, 8)
EXCHANGE_SIZES = (4, 400, 4000, 40000)
BARRIERS_S = 180.0

EVEN_FACTOR = 2.5
"""Times per message may differ by this factor between algorithms whose messages differ by a factor of 8: an
acknowledgement with each message doubles its frames."""
EQUAL_FACTOR = 1.05
"""Barriers whose times differ by less are equally fast."""
STEEP_FACTOR = 5.0
"""MPI_Barrier's time on 16 processes relative to that on 3: its messages are 16 times as many (printed: 9.9
times as long), its rounds twice."""

Answers = Mapping[str, Answer]
Times = Callable[[str, int], "float | None"]
"""Seconds of a barrier, by the name in the paper's rows and the number of processes."""


@dataclass(frozen=True)
class EthernetOnTcp:
    """The reproduction on the emulated `machine`, the value of --machine; without the benchmarks."""

    machine: str
    NAME: str = ethernet.NAME
    TITLE: str = "16 nodes on switched Ethernet: six barriers"
    PAPER: str = ethernet.PAPER
    FIGURES: Mapping[str, str] = field(default_factory=dict)

    def parts(self, catalog: Catalog) -> list[Part]:
        simulated = {part.name: part for part in ethernet.parts(catalog)}
        barriers = tuple(
            catalog.case(f"barrier algorithm={engine} sync=loop ranks={p}")
            for engine in ethernet.ENGINE.values()
            for p in (2, *PROCESSES)
        )
        two_processes = tuple(
            catalog.case(f"barrier algorithm={engine} sync=window ranks=2")
            for engine in ethernet.ENGINE.values()
        )
        message = catalog.case(f"isend_recv bytes={ethernet.MESSAGE_BYTES} ranks=2")
        survey = emulated.part(catalog, MACHINE, self.machine, EXCHANGE_PROCESSES, EXCHANGE_SIZES)
        return [
            *(simulated[name] for name in SIMULATED),
            Part(TWO_PROCESSES, MACHINE, two_processes),
            replace(survey, cases=(*survey.cases, message)),
            Part(BARRIERS, MACHINE, barriers, (), self.machine, 1, BARRIERS_S),
        ]

    def compare(self, answers: Answers) -> list[ComparedNumber]:
        message = ethernet.message_row(answers)
        rows = [replace(message, emulated=answers[emulated.SURVEY].seconds("isend_recv"))]
        for name in ethernet.ALGORITHMS:
            part = answers["barrier" if name == MPI else "algorithms"]
            for p, row in zip(ethernet.PROCESSES, ethernet.barrier_rows(part, name), strict=True):
                rows.append(replace(row, emulated=barrier(answers, name, p)) if p in PROCESSES else row)
        rows += ethernet.barrier_rows(answers["true-switch"], MPI, ethernet.TRUE_SWITCH)
        return rows

    def checks(self, answers: Answers, compared: Sequence[ComparedNumber]) -> list[Check]:
        return [
            *ethernet.message_checks(compared),
            *(finding(lambda name, p: barrier(answers, name, p)) for finding in FINDINGS),
            emulated.medium_check(answers),
        ]

    def tables(self, answers: Answers) -> list[Table]:
        return [
            _findings_table(answers),
            _messages_table(answers),
            emulated.table(answers, EXCHANGE_PROCESSES, EXCHANGE_SIZES, 1),
        ]

    def page(self, answers: Answers, compared: Sequence[ComparedNumber], checks: Sequence[Check]) -> Page:
        findings, messages, exchange = self.tables(answers)
        figure = _figure(answers)
        sections = [
            Section("Barriers", tables=(findings, messages)),
            Section("The exchange", tables=(exchange,)),
        ]
        paper = (self.NAME, self.TITLE, ethernet.PRINTED.citation)
        summary = emulated.summary(SUMMARY, checks)
        return pages.page(paper, answers, compared, checks, summary, sections, lead=figure)


def barrier(answers: Answers, name: str, processes: int) -> float | None:
    """Seconds on the emulated machine."""
    return answers[BARRIERS].seconds("barrier", algorithm=ethernet.ENGINE[name], ranks=processes)


def simulated(answers: Answers, name: str, processes: int) -> float | None:
    part = answers[TWO_PROCESSES if processes == 2 else "barrier" if name == MPI else "algorithms"]
    return part.seconds("barrier", algorithm=ethernet.ENGINE[name], ranks=processes)


def published(name: str, processes: int) -> float:
    return ethernet.PRINTED.row(ethernet.BARRIER.format(name, processes)).si


# what the paper finds


def message_cost_check(times: Times) -> Check:
    claim = (
        f"a barrier costs as much as its messages: on {MAX_PROCESSES} processes, times per message of the "
        f"{len(ethernet.MESSAGE_BARRIERS)} algorithms that only send messages differ by at most a factor "
        f"of {EVEN_FACTOR:g}"
    )
    statement = Statement("as-much-as-messages", "table 1", claim)
    seconds_per_message = [
        seconds / ethernet.messages(name, MAX_PROCESSES)
        for name in ethernet.MESSAGE_BARRIERS
        if (seconds := times(name, MAX_PROCESSES)) is not None
    ]
    if len(seconds_per_message) < len(ethernet.MESSAGE_BARRIERS):
        return statement.unknown(emulated.NOT_MEASURED)
    low, high = min(seconds_per_message), max(seconds_per_message)
    text = f"{format_value(low, 's')} to {format_value(high, 's')} a message, a factor of {high / low:.1f}"
    return statement.check(high <= EVEN_FACTOR * low, text)


def fastest_barriers_check(times: Times) -> Check:
    claim = f"tournament and MCS tree are the fastest barriers on {MAX_PROCESSES} processes"
    statement = Statement("fastest-barriers", "table 1", claim)
    seconds = all_known(times(name, MAX_PROCESSES) for name in ethernet.ALGORITHMS)
    if seconds is None:
        return statement.unknown(emulated.NOT_MEASURED)
    known_times = dict(zip(ethernet.ALGORITHMS, seconds, strict=True))
    claimed = ("tournament", "mcs-tree")
    slowest_claimed = max(known_times[name] for name in claimed)
    fastest_other = min(seconds for name, seconds in known_times.items() if name not in claimed)
    order = sorted(known_times, key=lambda name: known_times[name])
    text = ", ".join(f"{ethernet.ALGORITHMS[name]} {format_value(known_times[name], 's')}" for name in order)
    return statement.check(slowest_claimed <= EQUAL_FACTOR * fastest_other, text)


def steepness_check(times: Times) -> Check:
    claim = (
        f"MPI_Barrier takes at least {STEEP_FACTOR:g} times as long on {MAX_PROCESSES} processes as on "
        f"{MIN_PROCESSES}: it grows with its messages, not with its rounds"
    )
    statement = Statement("mpi-barrier-steep", "table 1", claim)
    few_s, many_s = times(MPI, MIN_PROCESSES), times(MPI, MAX_PROCESSES)
    if not few_s or not many_s:
        return statement.unknown(emulated.NOT_MEASURED)
    return statement.check(many_s >= STEEP_FACTOR * few_s, f"{many_s / few_s:.1f} times")


FINDINGS = (message_cost_check, fastest_barriers_check, steepness_check)


# figures and tables


def _findings_table(answers: Answers) -> Table:
    """Each finding by the printed, the simulated and the emulated times."""
    sources: tuple[Times, ...] = (
        published,
        lambda name, p: simulated(answers, name, p),
        lambda name, p: barrier(answers, name, p),
    )
    rows = []
    for finding in FINDINGS:
        checks = [finding(times) for times in sources]
        cells = (f"{'yes' if check.holds else 'no'}: {check.found}" for check in checks)
        rows.append((checks[0].what, *cells))
    return Table("findings", "Findings", ("finding", "published", "simulated", "emulated"), tuple(rows))


def _messages_table(answers: Answers) -> Table:
    """Times per message on the most processes."""
    rows = []
    for name, title in ethernet.ALGORITHMS.items():
        counted_messages, sent_messages = paper.messages(name, MAX_PROCESSES), paper.sent(name, MAX_PROCESSES)
        totals = (
            (published(name, MAX_PROCESSES), counted_messages),
            (simulated(answers, name, MAX_PROCESSES), sent_messages),
            (barrier(answers, name, MAX_PROCESSES), sent_messages),
        )
        times = (
            pages.format_number(None if seconds is None else seconds / count, "s")
            for seconds, count in totals
        )
        rows.append((title, str(sent_messages), *times))
    return Table(
        "per-message",
        f"Time per message, {MAX_PROCESSES} processes",
        ("barrier", "messages", "published", "simulated", "emulated"),
        tuple(rows),
        numeric=(1, 2, 3, 4),
        caption="The published tournament by P messages, as the paper counts: its broadcast is one.",
    )


def _figure(answers: Answers) -> Figure:
    series: list[Series] = []
    for name, title in ethernet.ALGORITHMS.items():
        printed = [(p, published(name, p)) for p in PROCESSES]
        described = [(p, simulated(answers, name, p)) for p in (2, *PROCESSES)]
        measured = [(p, barrier(answers, name, p)) for p in (2, *PROCESSES)]
        series += [
            pages.make_series(f"{title}, published", printed, "line", title),
            pages.make_series(f"{title}, simulated", described, group=title),
            pages.make_series(f"{title}, emulated", measured, group=title, hollow=True),
        ]
    return Figure(
        "ethernet-barriers-emulated",
        "Time of barriers",
        Axis("processes", "processes", "linear"),
        Axis("time", "s"),
        tuple(series),
        "Lines: published. Points: simulated. Outlines: emulated hosts of today, with real TCP.",
    )


SUMMARY = (
    "R. Krishnamurthy timed six barriers on 16 nodes of a switched Ethernet that carried one message after "
    "the other. Here they are simulated, and measured with real TCP on an emulated Ethernet, whose messages "
    "cost less."
)
