# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ensemble annealing with a master, of Fachat and Hoffmann (1998): table 1 on four Pentium Pros with
Ethernet, and what they state about a Cray T3D.

The paper prints neither the number of rounds nor the steps of a round, nor what a step or a message costs.
Rounds and steps are assumed; the machine's description then has two numbers fitted to the table's first row,
the original set-up: the time of a step, from its computation, and the time that a message takes from the
processors of both nodes, from its communication (benchmarks/annealing_fit.py). The other two rows are
predictions. Steps only take their time: nothing is annealed, and no energy is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hockney.draw.page import Page
from hockney.reproductions import annealing_page, pages
from hockney.reproductions.annealing_cases import CLUSTER, LARGE, ROUNDS_OF, SMALL, STEPS, T3D, parts
from hockney.reproductions.annealing_times import (
    COMMUNICATION,
    COMPUTATION,
    DECOUPLED,
    ESTIMATED,
    KINDS,
    MASTER,
    ORIGINAL,
    PRINTED,
    PROCESSES,
    SETUPS,
    WORKLOAD,
    change,
    gain,
    printed,
    share,
    spent,
)
from hockney.reproductions.compared import Compared, Limit, status_of, within
from hockney.reproductions.parts import Answer

__all__ = ["NAME", "PAPER", "TITLE", "WORKLOADS", "compare", "findings", "limits", "page", "parts"]

NAME = "annealing"
TITLE = "Annealing with a master: four Pentium Pros on Ethernet, and a Cray T3D"
PAPER = "annealing"
WORKLOADS = (WORKLOAD,)
SHARE = "annealing/text/share/{}"
LOWEST, HIGHEST = (PRINTED.row(SHARE.format(end)).si for end in ("low", "high"))
NOTHING = 0.02
"""A smaller gain counts as none."""


# printed numbers


def compare(answers: Mapping[str, Answer]) -> list[Compared]:
    variants = [name for name in ROUNDS_OF if name != CLUSTER]
    return [
        *_table_1(answers[CLUSTER]),
        *_shares(answers[CLUSTER]),
        *(row for name in variants for row in _table_1(answers[name], _title(answers[name]))),
    ]


def _title(answer: Answer) -> str:
    """What its variant of the machine is."""
    return answer.platform.title.partition(", ")[2]


def _table_1(answer: Answer, mechanism: str = "") -> Iterable[Compared]:
    for setup in SETUPS:
        for kind in KINDS:
            for process in PROCESSES:
                row = printed(setup, kind, process)
                # of a variant, every row is listed as such, the fitted ones too
                status = "variant" if mechanism else status_of(answer.platform, row.key)
                yield Compared(
                    row.key,
                    f"{setup}, {kind} of {'the master' if process == MASTER else 'a worker'}",
                    row.si,
                    spent(answer, setup, kind, process),
                    None,
                    "s",
                    status,
                    mechanism,
                    table=f"table 1, {mechanism}" if mechanism else "table 1",
                )


def _shares(answer: Answer) -> Iterable[Compared]:
    """The printed range is of all the paper's runs, the simulated one of table 1's."""
    found = [share(answer, setup, process) for setup in (ORIGINAL, ESTIMATED) for process in PROCESSES]
    known = [each for each in found if each is not None]
    for end, choose in (("low", min), ("high", max)):
        row = PRINTED.row(SHARE.format(end))
        yield Compared(
            row.key,
            f"communication, of the time, {'smallest' if end == 'low' else 'largest'} share",
            row.si,
            choose(known) if len(known) == len(found) else None,
            None,
            "%",
            status_of(answer.platform, row.key),
            note="printed: the range of all runs; simulated: of those in table 1",
            table="share of communication",
        )


def limits(compared: Sequence[Compared]) -> list[Limit]:
    own = {row.key: row for row in compared if row.status != "variant"}

    def rows(*setups: str, kind: str) -> list[Compared]:
        return [own[printed(setup, kind, process).key] for setup in setups for process in PROCESSES]

    return [
        within("computation, estimated and decoupled", rows(ESTIMATED, DECOUPLED, kind=COMPUTATION), 0.05),
        within("communication, estimated and decoupled", rows(ESTIMATED, DECOUPLED, kind=COMMUNICATION), 0.2),
    ]


# what the paper states


def findings(answers: Mapping[str, Answer]) -> list[Limit]:
    return [
        _share_of_communication(answers[CLUSTER]),
        _processor_pays(answers[CLUSTER]),
        _wins_nothing(answers[CLUSTER]),
        _on_processors(answers[T3D], SMALL, wins=True),
        _on_processors(answers[T3D], LARGE, wins=False),
    ]


def _share_of_communication(answer: Answer) -> Limit:
    what = f"communication is {LOWEST:.0%} to {HIGHEST:.0%} of the time on the cluster"
    low, high = (row.simulated for row in _shares(answer))
    if low is None or high is None:
        return Limit(what, False, "not simulated")
    return Limit(what, low >= LOWEST and high <= HIGHEST, f"{low:.1%} to {high:.1%}")


def _processor_pays(answer: Answer) -> Limit:
    """What the master saves in communication, and adds to its computation."""
    what = "nonblocking communication of the master takes less time, its computation more"
    saved, added = (change(answer, kind) for kind in (COMMUNICATION, COMPUTATION))
    if saved is None or added is None:
        return Limit(what, False, "not simulated")
    return Limit(what, saved < 0 < added, f"{saved:+.1f} s and {added:+.1f} s")


def _wins_nothing(answer: Answer) -> Limit:
    what = f"on the cluster, nonblocking communication wins less than {NOTHING:.0%}"
    found = gain(answer)
    if found is None:
        return Limit(what, False, "not simulated")
    return Limit(what, abs(found) < NOTHING, f"{found:+.1%} steps a second")


def _on_processors(answer: Answer, processes: int, *, wins: bool) -> Limit:
    what = f"on the T3D, nonblocking communication {'wins' if wins else 'loses'} on {processes} processors"
    found = gain(answer, ranks=processes, steps=STEPS)
    if found is None:
        return Limit(what, False, "not simulated")
    return Limit(what, found > 0 if wins else found < 0, f"{found:+.1%} steps a second")


# the page


def page(answers: Mapping[str, Answer], compared: Sequence[Compared], limits: Sequence[Limit]) -> Page:
    summary = annealing_page.summary(answers, compared)
    sections = annealing_page.sections(answers, compared)
    return pages.page((NAME, TITLE, PRINTED.citation), answers, compared, limits, summary, sections)
