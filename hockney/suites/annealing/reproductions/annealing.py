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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from hockney.core.units import format_value
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Page, Section, Table
from hockney.models.statistics import difference
from hockney.reproductions import pages
from hockney.reproductions.compared import Check, Compared, Statement, status_of
from hockney.reproductions.parts import Answer
from hockney.suites.annealing.reproductions.annealing_cases import (
    CLUSTER,
    COMMUNICATION,
    COMPUTATION,
    DECOUPLED,
    ESTIMATED,
    KINDS,
    LARGE,
    MASTER,
    NODES,
    OFFLOAD,
    ORIGINAL,
    PRINTED,
    PROCESSES,
    QUALITY,
    ROUNDS_OF,
    SETUPS,
    SHORTENED,
    SMALL,
    STEPS,
    T3D,
    T3D_STEPS,
    T3D_VARIANTS,
    T3D_WALKERS,
    WORKER,
    WORKLOAD,
    change,
    course,
    energies,
    gain,
    parts,
    printed,
    printed_change,
    seconds_of_round,
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
    summary = _summary(answers, compared)
    sections = _sections(answers, compared)
    return pages.page((NAME, TITLE, PRINTED.citation), answers, compared, checks, summary, sections)


Answers = Mapping[str, Answer]
POINTS = 60
"""Of a curve."""
EXPLAINED = 0.1
"""A prediction with a larger error is explained."""
TITLES = {
    T3D: "as described",
    "t3d-linear": "gather by single messages",
    "t3d-long-calls": "long calls",
    "t3d-both": "both",
}


def _summary(answers: Answers, compared: Sequence[Compared]) -> tuple[str, ...]:
    predicted = [row for row in pages.time_rows(compared) if row.status == "predicted"]
    first = (
        "A. Fachat and K. H. Hoffmann timed ensemble annealing with a master in three set-ups: broadcast and "
        "gather, nonblocking messages with an estimated schedule, and no communication."
    )
    if not pages.simulated_rows(predicted):
        return (first, "Nothing was simulated yet.")
    texts = (first, _table_1_sentence(predicted), _nonblocking(answers), _t3d(answers))
    return tuple(filter(None, texts))


def _table_1_sentence(predicted: Sequence[Compared]) -> str:
    off = {kind: pages.largest_error([row for row in predicted if f"/{kind}/" in row.key]) for kind in KINDS}
    worst = " and ".join(f"{kind} by at most {each:.1%}" for kind, each in off.items() if each is not None)
    return (
        "The simulated Pentium Pros are fitted to table 1's row of the original set-up. Of the other two "
        f"rows they give {pages.agreement(predicted, 'printed times')}: {worst}."
    )


def _nonblocking(answers: Answers) -> str:
    saved, added = (change(answers[CLUSTER], kind) for kind in (COMMUNICATION, COMPUTATION))
    won, with_offload = gain(answers[CLUSTER]), gain(answers[OFFLOAD])
    if saved is None or added is None or won is None:
        return ""
    text = (
        f"Nonblocking communication changes the master's communication by {saved:+.1f} s and its computation "
        f"by {added:+.1f} s (printed: {printed_change(COMMUNICATION):+.1f} s and "
        f"{printed_change(COMPUTATION):+.1f} s), and the steps a second by {pages.format_error(won)}"
    )
    if with_offload is None:
        return f"{text}."
    return f"{text}; if messages took no time of the processor, by {pages.format_error(with_offload)}."


def _t3d(answers: Answers) -> str:
    gains = [gain(answers[T3D], ranks=p, steps=STEPS) for p in (SMALL, LARGE)]
    known = [each for each in gains if each is not None]
    if len(known) < len(gains):
        return ""
    text = (
        f"On the T3D, it changes the steps a second by {pages.format_error(known[0])} on {SMALL} processors "
        f"and by {pages.format_error(known[1])} on {LARGE}; the paper has a small gain and a loss."
    )
    others = [gain(answers["t3d-both"], ranks=p, steps=STEPS) for p in (SMALL, LARGE)]
    longer = [each for each in others if each is not None]
    if len(longer) < len(others):
        return text
    return (
        f"{text} With a gather by single messages, and calls that are longer at the same time of a message, "
        f"it is {pages.format_error(longer[0])} and {pages.format_error(longer[1])}."
    )


# sections


def _sections(answers: Answers, compared: Sequence[Compared]) -> list[Section]:
    return [
        Section("Steps over time, four workstations", figures=(_on_cluster(answers[CLUSTER]),)),
        Section(
            "Steps over time, Cray T3D",
            figures=tuple(_on_t3d(answers[T3D], processes) for processes in (SMALL, LARGE)),
            multiples=True,
        ),
        Section(
            "What is assumed, and what is missed",
            text=tuple(_explanations(answers, compared)),
            tables=(_rounds(answers, compared), _gains(answers)),
        ),
    ]


def _on_cluster(answer: Answer) -> Figure:
    drawn = [pages.make_series(setup, course(answer, setup, POINTS, SHORTENED), "line") for setup in SETUPS]
    return _figure(
        "annealing-figure-3", "Figure 3: steps of all processes over time, four workstations", drawn
    )


def _on_t3d(answer: Answer, processes: int) -> Figure:
    drawn = [
        pages.make_series(setup, course(answer, setup, POINTS, ranks=processes, steps=STEPS), "line")
        for setup in SETUPS
    ]
    title = f"Figure 4: steps of all processes over time, {processes} processors"
    return _figure(f"annealing-figure-4-{processes}", title, drawn)


def _figure(name: str, title: str, drawn: list[Series]) -> Figure:
    return Figure(
        name,
        title,
        Axis("time", "s", "linear", include=(0.0,)),
        Axis("steps", "steps", "linear", include=(0.0,)),
        tuple(drawn),
        "The paper's figure has curves without numbers. Steps count when they are made.",
    )


def _explanations(answers: Answers, compared: Sequence[Compared]) -> Iterator[str]:
    """Explanations of predictions off by more than EXPLAINED, from the printed and the simulated times."""
    missed = {row.key for row in pages.rows_beyond(compared, EXPLAINED) if row.status == "predicted"}
    if any(printed(ESTIMATED, kind, WORKER).key in missed for kind in KINDS):
        yield from _worker(answers[CLUSTER])
    if printed(ESTIMATED, COMMUNICATION, MASTER).key in missed:
        yield (
            "The master's nonblocking communication consists of the calls for its messages, whose times are "
            "guesses of the description."
        )


def _worker(answer: Answer) -> Iterator[str]:
    """The paper's workers lose more computing time than their messages explain."""
    published = [printed_change(COMPUTATION, process, DECOUPLED) for process in PROCESSES]
    found = [change(answer, COMPUTATION, process, DECOUPLED) for process in PROCESSES]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return
    yield (
        "With nonblocking communication, computation takes longer than without communication: printed, by "
        f"{published[0]:.1f} s on the master and {published[1]:.1f} s on a worker; simulated, by "
        f"{known[0]:.1f} s and {known[1]:.1f} s. The master handles {2 * (NODES - 1)} messages in a round, a "
        "worker 2. A time for each message can explain the master's loss or the worker's, but not that the "
        "two are about equal. A worker that loses less time waits longer for the master's last schedule."
    )


def _rounds(answers: Answers, compared: Sequence[Compared]) -> Table:
    """How the predictions depend on the assumed number of rounds, and on the processor's time."""
    rows = []
    for name, rounds in ROUNDS_OF.items():
        platform = answers[name].platform
        errors = (_error(answers[name], *cell) for cell in CELLS)
        rows.append(
            (
                f"{rounds}",
                format_value(platform.segments[0].processor_s, "s"),
                format_value(1 / platform.rates[WORKLOAD], "s"),
                *errors,
                _signed(gain(answers[name])),
            )
        )
    names = [f"{setup}, {kind}, {process}" for setup, kind, process in CELLS]
    columns = ("rounds", "processor, each message", "a step", *names, "nonblocking wins")
    return Table(
        "rounds",
        "Errors of the predictions of table 1, by assumption",
        columns,
        tuple(rows),
        numeric=tuple(range(len(columns))),
        caption="The paper does not print the number of rounds. For each assumption, the time of a message "
        "on the processors and that of a step are fitted to the row of the original set-up, except in the "
        "last row, where messages take no time of the processors.",
    )


CELLS = (
    *((ESTIMATED, kind, process) for kind in KINDS for process in PROCESSES),
    *((DECOUPLED, COMPUTATION, process) for process in PROCESSES),
)


def _error(answer: Answer, setup: str, kind: str, process: str) -> str:
    found = spent(answer, setup, kind, process)
    return "" if found is None else pages.format_error(found / printed(setup, kind, process).si - 1)


def _gains(answers: Answers) -> Table:
    rows = []
    for name in (T3D, *T3D_VARIANTS):
        for steps in T3D_STEPS if name == T3D else T3D_STEPS[:1]:
            for processes in (SMALL, LARGE):
                fixed = {"ranks": processes, "steps": steps}
                round_s = seconds_of_round(answers[name], ORIGINAL, **fixed)
                rows.append(
                    (
                        TITLES[name],
                        str(processes),
                        str(steps * T3D_WALKERS // processes),
                        "" if round_s is None else format_value(round_s, "s"),
                        _signed(gain(answers[name], ESTIMATED, **fixed)),
                        _signed(gain(answers[name], DECOUPLED, **fixed)),
                    )
                )
    columns = ("Cray T3D", "processors", "steps of a round", "a round, original", ESTIMATED, DECOUPLED)
    return Table(
        "gains",
        "Steps a second on the T3D, relative to the original set-up",
        columns,
        tuple(rows),
        numeric=(1, 2, 3, 4, 5),
        caption="The paper: estimated wins a little on 32 processors, and loses on 128. Steps of a round are "
        "those of one process.",
    )


def _signed(value: float | None) -> str:
    return "" if value is None else pages.format_error(value)
