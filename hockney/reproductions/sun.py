# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""SUN workstations on one Ethernet, of Hanebutte and Tatsumi (1996): the round-robin exchange of equation 3,

    Tcom = 2 (t_start + t_w (np/2) L),

in which half of the processes send while the other half receives, and vice versa. The description has t_start
and t_w from the paper; that the np/2 messages of a phase share the cable equally follows from the equation,
and is how a bus behaves.

The exchange has to start on all processes at once (sync=window). Otherwise the pairs are shifted against each
other, and one's message is on the cable while another's is being started: see the variants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from hockney import reference
from hockney.core.catalog import Catalog
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Page, Section
from hockney.reproductions import overview, pages
from hockney.reproductions.compared import Check, Compared, Statement, status_of
from hockney.reproductions.parts import Answer, Part

if TYPE_CHECKING:
    from hockney.reproductions import Reproduction

NAME = "sun"
TITLE = "SUN workstations on shared Ethernet: the round-robin exchange"
PAPER = "granularity"
PRINTED = reference.published(PAPER)

PROCESSES = (2, 4)
WORDS = (1, 10, 100, 1000, 10000)
WORD_BYTES = 4
FORMULA = "granularity/formula/exchange/{}"
VARIANTS = {
    "queue": ("sun-ethernet+queue", "window", "one message on the cable at a time"),
    "barrier": ("sun-ethernet", "barrier", "started by MPI_Barrier"),
    "loop": ("sun-ethernet", "loop", "many exchanges back to back, not synchronised"),
}
"""Alternatives to the machine or to the start: part, machine, synchronisation, description."""
WORK_S = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


def parts(catalog: Catalog) -> list[Part]:
    def cases(sync: str) -> tuple:
        lines = (
            f"round_robin bytes={WORD_BYTES * words} sync={sync} ranks={p}"
            for p in PROCESSES
            for words in WORDS
        )
        return tuple(map(catalog.case, lines))

    more = [Part(name, machine, cases(sync)) for name, (machine, sync, _) in VARIANTS.items()]
    return [Part("exchange", "sun-ethernet", cases("window")), *more]


def on_emulated(machine: str) -> Reproduction:
    """The same with real TCP on the emulated `machine`."""
    from hockney.reproductions.sun_emulated import SunOnTcp

    return SunOnTcp(machine)


def compare(answers: Mapping[str, Answer]) -> list[Compared]:
    tried = [("exchange", "", "equation 3"), *((name, v[2], v[2]) for name, v in VARIANTS.items())]
    return [row for name, mechanism, table in tried for row in _rows(answers[name], mechanism, table)]


def _rows(answer: Answer, mechanism: str, table: str) -> Iterable[Compared]:
    for p in PROCESSES:
        formula = PRINTED.formula(FORMULA.format(p))
        for words in WORDS:
            key = f"{formula.key}/{words}"
            yield Compared(
                key,
                f"exchange of {p} processes, L = {words}",
                formula.time(WORD_BYTES * words),
                answer.seconds("round_robin", ranks=p, bytes=WORD_BYTES * words),
                None,
                "s",
                status_of(answer.platform, key, mechanism),
                mechanism,
                table=table,
            )


def checks(answers: Mapping[str, Answer], compared: Sequence[Compared]) -> list[Check]:
    rows = [row for row in compared if not row.mechanism]
    what = "equation 3 at L = 1 to 10000 words on 2 and 4 processes within 8%"
    return [Statement("equation-3", "equation 3", what).within(rows, 0.08)]


def page(answers: Mapping[str, Answer], compared: Sequence[Compared], checks: Sequence[Check]) -> Page:
    sections = [
        Section("The exchange", figures=(_times(answers),)),
        Section("Efficiency", figures=tuple(_efficiency(answers["exchange"], p) for p in PROCESSES)),
    ]
    return pages.page(
        (NAME, TITLE, PRINTED.citation), answers, compared, checks, _summary(compared), sections
    )


def _summary(compared: Sequence[Compared]) -> tuple[str, ...]:
    rows, variants = overview.times(compared), [row for row in compared if row.status == "variant"]
    off, others = overview.worst(rows), overview.worst(variants)
    texts = [
        "U. R. Hanebutte and M. Tatsumi describe how SUN workstations on one Ethernet cable exchange "
        "messages in pairs: Tcom = 2 (t_start + t_w (np/2) L)."
    ]
    if off is None:
        return (*texts, "Nothing was simulated yet.")
    texts.append(
        "The simulated cable has the paper's t_start and t_w and nothing else. On 2 and 4 processes, its "
        f"exchange of {min(WORDS)} to {max(WORDS)} words differs from the formula by at most {off:.1%}."
    )
    if others is not None and others > max(2 * off, 0.05):
        texts.append(
            "What the formula does not specify matters more: if the processes do not start together, or if "
            f"the cable carries one message after another, times differ from it by up to {others:.0%}."
        )
    return tuple(texts)


def _times(answers: Mapping[str, Answer]) -> Figure:
    drawn = []
    for p in PROCESSES:
        formula = PRINTED.formula(FORMULA.format(p))
        published = [(words, formula.time(WORD_BYTES * words)) for words in WORDS]
        group = f"{p} processes"
        drawn += [
            pages.series(f"{group}, equation 3", published, "line", group),
            pages.series(f"{group}, simulated", _points(answers["exchange"], p), group=group),
        ]
    most = max(PROCESSES)
    drawn += [
        pages.series(f"{most} processes, {words}", _points(answers[name], most))
        for name, (_, _, words) in VARIANTS.items()
    ]
    return Figure(
        "sun-exchange",
        "Time of the round-robin exchange",
        Axis("L, words of 4 bytes", "words"),
        Axis("time", "s"),
        tuple(drawn),
        "Lines: equation 3. Points: simulated, with all processes starting at once unless stated otherwise.",
    )


def _points(answer: Answer, processes: int) -> list[tuple[float, float | None]]:
    return [(w, answer.seconds("round_robin", ranks=processes, bytes=WORD_BYTES * w)) for w in WORDS]


def _efficiency(answer: Answer, processes: int) -> Figure:
    """The paper's figures 1 and 4: equation 2, T / (T + np Tcom), with Tcom by equation 3 and simulated."""
    formula = PRINTED.formula(FORMULA.format(processes))
    drawn: list[Series] = []
    for words in (min(WORDS), max(WORDS)):
        size = WORD_BYTES * words
        costs = {"equation 3": formula.time(size)}
        simulated = answer.seconds("round_robin", ranks=processes, bytes=size)
        if simulated is not None:
            costs["simulated"] = simulated
        for name, cost in costs.items():
            points = [(work, work / (work + processes * cost)) for work in WORK_S]
            kind = "line" if name == "equation 3" else "points"
            drawn.append(pages.series(f"L = {words}, {name}", points, kind, f"L = {words}"))
    return Figure(
        f"sun-efficiency-{processes}",
        f"Efficiency of {processes} processes",
        Axis("T, computing time on one process", "s"),
        Axis("efficiency", "", "linear"),
        tuple(drawn),
        f"T / (T + {processes} Tcom): Tcom by equation 3 (lines) and of the simulated exchange (points).",
    )
