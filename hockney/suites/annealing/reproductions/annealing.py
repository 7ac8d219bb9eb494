# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ensemble annealing with a master, of Fachat and Hoffmann (1998): table 1 on four Pentium Pros with
Ethernet, and what they state about a Cray T3D.

The paper prints neither the number of rounds nor the steps of a round, nor what a step or a message costs.
Rounds and steps are assumed; the machine's description then has two numbers fitted to the table's first row,
the original set-up: the time of a step, from its computation, and the time that a message takes from the
processors of both nodes, from its communication (benchmarks/annealing_fit.py). The other two rows are
predictions. In these, steps only take their time; only the part `quality` anneals and compares energies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from hockney.draw.page import Page
from hockney.models.statistics import difference
from hockney.reproductions import pages
from hockney.reproductions.compared import Check, Compared, Statement, status_of
from hockney.reproductions.parts import Answer
from hockney.suites.annealing.reproductions import annealing_page
from hockney.suites.annealing.reproductions.annealing_cases import (
    CLUSTER,
    LARGE,
    QUALITY,
    ROUNDS_OF,
    SMALL,
    STEPS,
    T3D,
    parts,
)
from hockney.suites.annealing.reproductions.annealing_times import (
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
    energies,
    gain,
    printed,
    share,
    spent,
)

__all__ = ["FIGURES", "NAME", "PAPER", "TITLE", "WORKLOADS", "checks", "compare", "page", "parts"]

NAME = "annealing"
TITLE = "Annealing with a master: four Pentium Pros on Ethernet, and a Cray T3D"
PAPER = "annealing"
FIGURES = {str(number): f"annealing-figure-{number}" for number in (3, 4)}
WORKLOADS = (WORKLOAD,)
SHARE = "annealing/text/share/{}"
CAPTION = "annealing/caption/communication"
LOWEST, HIGHEST = (PRINTED.row(SHARE.format(end)).si for end in ("low", "high"))
ABOUT = 0.25
SLIGHTLY = 0.05
"""Of the energy: a larger loss of quality is not slight."""
NOTHING = 0.02
"""A smaller gain counts as none."""


# printed numbers


def compare(answers: Mapping[str, Answer]) -> list[Compared]:
    variants = [name for name in ROUNDS_OF if name != CLUSTER]
    return [
        *_table_1(answers[CLUSTER]),
        *_shares(answers[CLUSTER]),
        _reduced(answers[CLUSTER]),
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


def _reduced(answer: Answer) -> Compared:
    row = PRINTED.row(CAPTION)
    return Compared(
        row.key,
        "communication of the master with nonblocking messages, of that without",
        row.si,
        reduction(answer),
        None,
        "%",
        status_of(answer.platform, row.key),
        note=f"the table itself: {printed_reduction():.0%}",
        table="share of communication",
    )


def reduction(answer: Answer) -> float | None:
    before, after = (spent(answer, setup, COMMUNICATION, MASTER) for setup in (ORIGINAL, ESTIMATED))
    return after / before if before and after is not None else None


def printed_reduction() -> float:
    return printed(ESTIMATED, COMMUNICATION, MASTER).si / printed(ORIGINAL, COMMUNICATION, MASTER).si


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
            bound=True,
            table="share of communication",
        )


def checks(answers: Mapping[str, Answer], compared: Sequence[Compared]) -> list[Check]:
    own = {row.key: row for row in compared if row.status != "variant"}

    def rows(*setups: str, kind: str) -> list[Compared]:
        return [own[printed(setup, kind, process).key] for setup in setups for process in PROCESSES]

    return [
        Statement("computation", "table 1", "computation, estimated and decoupled, within 5%").within(
            rows(ESTIMATED, DECOUPLED, kind=COMPUTATION), 0.05
        ),
        Statement("communication", "table 1", "communication, estimated and decoupled, within 20%").within(
            rows(ESTIMATED, DECOUPLED, kind=COMMUNICATION), 0.2
        ),
        _share_of_communication(answers[CLUSTER]),
        _processor_pays(answers[CLUSTER]),
        _as_much(answers[CLUSTER]),
        _reduced_to(answers[CLUSTER]),
        _wins_nothing(answers[CLUSTER]),
        _on_processors(answers[T3D], SMALL, wins=True),
        _on_processors(answers[T3D], LARGE, wins=False),
        _lower_quality(answers[QUALITY]),
    ]


# what the paper states


def _share_of_communication(answer: Answer) -> Check:
    what = f"communication is {LOWEST:.0%} to {HIGHEST:.0%} of the time on the cluster"
    stated = Statement("share-of-communication", "text", what)
    low, high = (row.simulated for row in _shares(answer))
    if low is None or high is None:
        return stated.unknown()
    return stated.check(low >= LOWEST and high <= HIGHEST, f"{low:.1%} to {high:.1%}")


def _processor_pays(answer: Answer) -> Check:
    """What the master saves in communication, and adds to its computation."""
    what = "nonblocking communication of the master takes less time, its computation more"
    stated = Statement("processor-pays", "table 1", what)
    saved, added = (change(answer, kind) for kind in (COMMUNICATION, COMPUTATION))
    if saved is None or added is None:
        return stated.unknown()
    return stated.check(saved < 0 < added, f"{saved:+.1f} s and {added:+.1f} s")


def _as_much(answer: Answer) -> Check:
    what = f"computation increases by the amount that communication is reduced by, within {ABOUT:.0%}"
    stated = Statement("computation-increases-as-much", "caption of table 1", what)
    saved, added = (change(answer, kind) for kind in (COMMUNICATION, COMPUTATION))
    if saved is None or added is None or not saved:
        return stated.unknown()
    return stated.check(abs(-added / saved - 1) <= ABOUT, f"{-saved:.1f} s less and {added:.1f} s more")


def _reduced_to(answer: Answer) -> Check:
    """The table itself has 68%."""
    row = PRINTED.row(CAPTION)
    what = f"nonblocking messages reduce communication to {row.si:.0%}"
    stated = Statement("communication-reduced", "caption of table 1", what)
    found = reduction(answer)
    if found is None:
        return stated.unknown()
    words = f"to {found:.0%} on the master; by the table itself to {printed_reduction():.0%}"
    return stated.check(found <= 2 * row.si, words)


def _lower_quality(answer: Answer) -> Check:
    what = "the estimated schedule slightly lowers the quality of the optimum found"
    stated = Statement("quality-lowered", "text", what)
    exact, estimated = (energies(answer, setup) for setup in (ORIGINAL, ESTIMATED))
    if not exact or not estimated:
        return stated.unknown()
    lost = difference(estimated, exact)
    size = abs(fmean(exact.values())) or 1.0
    low = -math.inf if lost.low is None else lost.low / size
    found = f"{lost.value / size:+.2%} of the energy over {len(exact)} seeds"
    if lost.high is not None:
        found += f" (95%: {low:+.2%} to {lost.high / size:+.2%})"
    return stated.check(low > 0 and lost.value / size < SLIGHTLY, found)


def _wins_nothing(answer: Answer) -> Check:
    what = f"on the cluster, nonblocking communication wins less than {NOTHING:.0%}"
    stated = Statement("wins-nothing", "figure 3", what)
    found = gain(answer)
    if found is None:
        return stated.unknown()
    return stated.check(abs(found) < NOTHING, f"{found:+.1%} steps a second")


def _on_processors(answer: Answer, processes: int, *, wins: bool) -> Check:
    what = f"on the T3D, nonblocking communication {'wins' if wins else 'loses'} on {processes} processors"
    stated = Statement(f"t3d-{processes}", "figure 4" if wins else "text", what)
    found = gain(answer, ranks=processes, steps=STEPS)
    if found is None:
        return stated.unknown()
    return stated.check(found > 0 if wins else found < 0, f"{found:+.1%} steps a second")


# the page


def page(answers: Mapping[str, Answer], compared: Sequence[Compared], checks: Sequence[Check]) -> Page:
    summary = annealing_page.summary(answers, compared)
    sections = annealing_page.sections(answers, compared)
    return pages.page((NAME, TITLE, PRINTED.citation), answers, compared, checks, summary, sections)
