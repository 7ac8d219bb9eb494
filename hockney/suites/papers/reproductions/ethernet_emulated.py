# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The six barriers of Krishnamurthy (1998) with real TCP on an emulated Ethernet of up to 16 hosts.

As in the paper, many barriers follow one another (sync=loop). The simulated ones start together
(sync=window), since successive barriers overlap without noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hockney.core.case import MPI
from hockney.core.catalog import Catalog
from hockney.core.units import format_value
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Page, Section, Table
from hockney.reproductions import pages
from hockney.reproductions.compared import Check, ComparedNumber, Statement, values_if_complete
from hockney.reproductions.parts import Answer, Part
from hockney.studies.barriers import paper
from hockney.suites.papers.reproductions import emulated, ethernet

MACHINE = "switched-ethernet"
BARRIER_PART = "emulated-barriers"
SIMULATED_PARTS = ("message", "barrier", "algorithms", "true-switch")
"""Parts of the simulated reproduction that contain barriers."""
PROCESSES = tuple(p for p in ethernet.PROCESSES if p > 1)
MIN_PROCESSES, MAX_PROCESSES = PROCESSES[0], PROCESSES[-1]
TWO_PROCESSES_PART = "barriers-2"
"""Simulated part for two processes. The paper has no times for two, where the curves begin."""
EXCHANGE_PROCESSES = (4, 8)
EXCHANGE_SIZES = (4, 400, 4000, 40000)
BARRIERS_BUDGET_S = 180.0

EVEN_FACTOR = 2.5
"""Maximum factor between the times per message of algorithms whose numbers of messages differ by a factor
of 8. An acknowledgement of each message doubles the number of frames."""
EQUAL_FACTOR = 1.05
"""Barriers whose times differ by a smaller factor count as equally fast."""
STEEP_FACTOR = 5.0
"""Minimum ratio of MPI_Barrier's times on 16 and on 3 processes. It has 16 times as many messages
(printed: 9.9 times as long) and twice as many rounds."""

Answers = Mapping[str, Answer]
BarrierTime = Callable[[str, int], "float | None"]
"""Function that returns the seconds of a barrier, by its name in the paper's rows and the number of
processes."""


@dataclass(frozen=True)
class EthernetOnTcp:
    """The reproduction on the emulated `machine`, the value of --machine. It does not include the
    benchmarks."""

    machine: str
    NAME: str = ethernet.NAME
    TITLE: str = "16 nodes on switched Ethernet: six barriers"
    PAPER: str = ethernet.PAPER
    FIGURES: Mapping[str, str] = field(default_factory=dict)

    def parts(self, catalog: Catalog) -> list[Part]:
        simulated_parts = {part.name: part for part in ethernet.parts(catalog)}
        barriers = tuple(
            catalog.case(f"barrier algorithm={algorithm} sync=loop ranks={p}")
            for algorithm in ethernet.ENGINE_NAMES.values()
            for p in (2, *PROCESSES)
        )
        two_processes = tuple(
            catalog.case(f"barrier algorithm={algorithm} sync=window ranks=2")
            for algorithm in ethernet.ENGINE_NAMES.values()
        )
        message = catalog.case(f"isend_recv bytes={ethernet.MESSAGE_BYTES} ranks=2")
        survey = emulated.survey_part(catalog, MACHINE, self.machine, EXCHANGE_PROCESSES, EXCHANGE_SIZES)
        return [
            *(simulated_parts[name] for name in SIMULATED_PARTS),
            Part(TWO_PROCESSES_PART, MACHINE, two_processes),
            replace(survey, cases=(*survey.cases, message)),
            Part(BARRIER_PART, MACHINE, barriers, (), self.machine, 1, BARRIERS_BUDGET_S),
        ]

    def compare(self, answers: Answers) -> list[ComparedNumber]:
        message = ethernet.message_row(answers)
        rows = [replace(message, emulated=answers[emulated.SURVEY].seconds("isend_recv"))]
        for name in ethernet.ALGORITHM_TITLES:
            part = answers["barrier" if name == MPI else "algorithms"]
            for p, row in zip(ethernet.PROCESSES, ethernet.barrier_rows(part, name), strict=True):
                rows.append(
                    replace(row, emulated=emulated_barrier_s(answers, name, p)) if p in PROCESSES else row
                )
        rows += ethernet.barrier_rows(answers["true-switch"], MPI, ethernet.TRUE_SWITCH_MECHANISM)
        return rows

    def checks(self, answers: Answers, comparisons: Sequence[ComparedNumber]) -> list[Check]:
        return [
            *ethernet.message_checks(comparisons),
            *(
                make_check(lambda name, p: emulated_barrier_s(answers, name, p))
                for make_check in FINDING_CHECKS
            ),
            emulated.medium_check(answers),
        ]

    def tables(self, answers: Answers) -> list[Table]:
        return [
            _findings_table(answers),
            _messages_table(answers),
            emulated.exchange_table(answers, EXCHANGE_PROCESSES, EXCHANGE_SIZES, 1),
        ]

    def page(self, answers: Answers, comparisons: Sequence[ComparedNumber], checks: Sequence[Check]) -> Page:
        findings, messages, exchange = self.tables(answers)
        figure = _barrier_figure(answers)
        sections = [
            Section("Barriers", tables=(findings, messages)),
            Section("The exchange", tables=(exchange,)),
        ]
        heading = (self.NAME, self.TITLE, ethernet.PUBLICATION.citation)
        summary = emulated.summary(SUMMARY, checks)
        return pages.reproduction_page(heading, answers, comparisons, checks, summary, sections, lead=figure)


def emulated_barrier_s(answers: Answers, name: str, processes: int) -> float | None:
    """Returns the seconds of a barrier on the emulated machine."""
    return answers[BARRIER_PART].seconds("barrier", algorithm=ethernet.ENGINE_NAMES[name], ranks=processes)


def simulated_barrier_s(answers: Answers, name: str, processes: int) -> float | None:
    part = answers[TWO_PROCESSES_PART if processes == 2 else "barrier" if name == MPI else "algorithms"]
    return part.seconds("barrier", algorithm=ethernet.ENGINE_NAMES[name], ranks=processes)


def published_barrier_s(name: str, processes: int) -> float:
    return ethernet.PUBLICATION.row(ethernet.BARRIER_KEY.format(name, processes)).si


# Findings of the paper


def message_cost_check(barrier_time: BarrierTime) -> Check:
    claim = (
        f"a barrier costs as much as its messages: on {MAX_PROCESSES} processes, times per message of the "
        f"{len(ethernet.MESSAGE_BARRIERS)} algorithms that only send messages differ by at most a factor "
        f"of {EVEN_FACTOR:g}"
    )
    statement = Statement("as-much-as-messages", "table 1", claim)
    seconds_per_message = [
        seconds / ethernet.message_count(name, MAX_PROCESSES)
        for name in ethernet.MESSAGE_BARRIERS
        if (seconds := barrier_time(name, MAX_PROCESSES)) is not None
    ]
    if len(seconds_per_message) < len(ethernet.MESSAGE_BARRIERS):
        return statement.unknown(emulated.NOT_MEASURED)
    low, high = min(seconds_per_message), max(seconds_per_message)
    finding = f"{format_value(low, 's')} to {format_value(high, 's')} a message, a factor of {high / low:.1f}"
    return statement.check(high <= EVEN_FACTOR * low, finding)


def fastest_barriers_check(barrier_time: BarrierTime) -> Check:
    claim = f"tournament and MCS tree are the fastest barriers on {MAX_PROCESSES} processes"
    statement = Statement("fastest-barriers", "table 1", claim)
    seconds = values_if_complete(barrier_time(name, MAX_PROCESSES) for name in ethernet.ALGORITHM_TITLES)
    if seconds is None:
        return statement.unknown(emulated.NOT_MEASURED)
    known_times = dict(zip(ethernet.ALGORITHM_TITLES, seconds, strict=True))
    claimed_algorithms = ("tournament", "mcs-tree")
    slowest_claimed_s = max(known_times[name] for name in claimed_algorithms)
    fastest_other_s = min(seconds for name, seconds in known_times.items() if name not in claimed_algorithms)
    sorted_names = sorted(known_times, key=lambda name: known_times[name])
    finding = ", ".join(
        f"{ethernet.ALGORITHM_TITLES[name]} {format_value(known_times[name], 's')}" for name in sorted_names
    )
    return statement.check(slowest_claimed_s <= EQUAL_FACTOR * fastest_other_s, finding)


def steepness_check(barrier_time: BarrierTime) -> Check:
    claim = (
        f"MPI_Barrier takes at least {STEEP_FACTOR:g} times as long on {MAX_PROCESSES} processes as on "
        f"{MIN_PROCESSES}: it grows with its messages, not with its rounds"
    )
    statement = Statement("mpi-barrier-steep", "table 1", claim)
    few_s, many_s = barrier_time(MPI, MIN_PROCESSES), barrier_time(MPI, MAX_PROCESSES)
    if not few_s or not many_s:
        return statement.unknown(emulated.NOT_MEASURED)
    return statement.check(many_s >= STEEP_FACTOR * few_s, f"{many_s / few_s:.1f} times")


FINDING_CHECKS = (message_cost_check, fastest_barriers_check, steepness_check)


# Figures and tables


def _findings_table(answers: Answers) -> Table:
    """Returns a table of each finding by the printed, the simulated and the emulated times."""
    sources: tuple[BarrierTime, ...] = (
        published_barrier_s,
        lambda name, p: simulated_barrier_s(answers, name, p),
        lambda name, p: emulated_barrier_s(answers, name, p),
    )
    rows = []
    for make_check in FINDING_CHECKS:
        checks = [make_check(barrier_time) for barrier_time in sources]
        cells = (f"{'yes' if check.holds else 'no'}: {check.found}" for check in checks)
        rows.append((checks[0].what, *cells))
    return Table("findings", "Findings", ("finding", "published", "simulated", "emulated"), tuple(rows))


def _messages_table(answers: Answers) -> Table:
    """Returns a table of the times per message on the maximum number of processes."""
    rows = []
    for name, title in ethernet.ALGORITHM_TITLES.items():
        counted_messages, sent_messages = (
            paper.message_count(name, MAX_PROCESSES),
            paper.transmission_count(name, MAX_PROCESSES),
        )
        totals = (
            (published_barrier_s(name, MAX_PROCESSES), counted_messages),
            (simulated_barrier_s(answers, name, MAX_PROCESSES), sent_messages),
            (emulated_barrier_s(answers, name, MAX_PROCESSES), sent_messages),
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


def _barrier_figure(answers: Answers) -> Figure:
    series: list[Series] = []
    for name, title in ethernet.ALGORITHM_TITLES.items():
        published_points = [(p, published_barrier_s(name, p)) for p in PROCESSES]
        simulated_points = [(p, simulated_barrier_s(answers, name, p)) for p in (2, *PROCESSES)]
        emulated_points = [(p, emulated_barrier_s(answers, name, p)) for p in (2, *PROCESSES)]
        series += [
            pages.make_series(f"{title}, published", published_points, "line", title),
            pages.make_series(f"{title}, simulated", simulated_points, group=title),
            pages.make_series(f"{title}, emulated", emulated_points, group=title, hollow=True),
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
