# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page of annealing: the paper's figures 3 and 4, which assumptions matter, and what explains misses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hockney.core.units import format_value
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Section, Table
from hockney.reproductions import overview, pages
from hockney.reproductions.compared import Compared
from hockney.reproductions.parts import Answer
from hockney.suites.annealing.reproductions.annealing_cases import (
    CLUSTER,
    LARGE,
    NODES,
    OFFLOAD,
    ROUNDS_OF,
    SMALL,
    STEPS,
    T3D,
    T3D_STEPS,
    T3D_VARIANTS,
    T3D_WALKERS,
)
from hockney.suites.annealing.reproductions.annealing_times import (
    COMMUNICATION,
    COMPUTATION,
    DECOUPLED,
    ESTIMATED,
    KINDS,
    MASTER,
    ORIGINAL,
    PROCESSES,
    SETUPS,
    SHORTENED,
    WORKER,
    WORKLOAD,
    change,
    course,
    gain,
    printed,
    printed_change,
    seconds_of_round,
    spent,
)

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


def summary(answers: Answers, compared: Sequence[Compared]) -> tuple[str, ...]:
    predicted = [row for row in overview.times(compared) if row.status == "predicted"]
    first = (
        "A. Fachat and K. H. Hoffmann timed ensemble annealing with a master in three set-ups: broadcast and "
        "gather, nonblocking messages with an estimated schedule, and no communication."
    )
    if not overview.measured(predicted):
        return (first, "Nothing was simulated yet.")
    texts = (first, _table_1(predicted), _nonblocking(answers), _t3d(answers))
    return tuple(filter(None, texts))


def _table_1(predicted: Sequence[Compared]) -> str:
    off = {kind: overview.worst([row for row in predicted if f"/{kind}/" in row.key]) for kind in KINDS}
    worst = " and ".join(f"{kind} by at most {each:.1%}" for kind, each in off.items() if each is not None)
    return (
        "The simulated Pentium Pros are fitted to table 1's row of the original set-up. Of the other two "
        f"rows they give {overview.counted(predicted, 'printed times')}: {worst}."
    )


def _nonblocking(answers: Answers) -> str:
    saved, added = (change(answers[CLUSTER], kind) for kind in (COMMUNICATION, COMPUTATION))
    won, with_offload = gain(answers[CLUSTER]), gain(answers[OFFLOAD])
    if saved is None or added is None or won is None:
        return ""
    text = (
        f"Nonblocking communication changes the master's communication by {saved:+.1f} s and its computation "
        f"by {added:+.1f} s (printed: {printed_change(COMMUNICATION):+.1f} s and "
        f"{printed_change(COMPUTATION):+.1f} s), and the steps a second by {pages.signed(won)}"
    )
    if with_offload is None:
        return f"{text}."
    return f"{text}; if messages took no time of the processor, by {pages.signed(with_offload)}."


def _t3d(answers: Answers) -> str:
    gains = [gain(answers[T3D], ranks=p, steps=STEPS) for p in (SMALL, LARGE)]
    known = [each for each in gains if each is not None]
    if len(known) < len(gains):
        return ""
    text = (
        f"On the T3D, it changes the steps a second by {pages.signed(known[0])} on {SMALL} processors and by "
        f"{pages.signed(known[1])} on {LARGE}; the paper has a small gain and a loss."
    )
    others = [gain(answers["t3d-both"], ranks=p, steps=STEPS) for p in (SMALL, LARGE)]
    longer = [each for each in others if each is not None]
    if len(longer) < len(others):
        return text
    return (
        f"{text} With a gather by single messages, and calls that are longer at the same time of a message, "
        f"it is {pages.signed(longer[0])} and {pages.signed(longer[1])}."
    )


# sections


def sections(answers: Answers, compared: Sequence[Compared]) -> list[Section]:
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
    drawn = [pages.series(setup, course(answer, setup, POINTS, SHORTENED), "line") for setup in SETUPS]
    return _figure(
        "annealing-figure-3", "Figure 3: steps of all processes over time, four workstations", drawn
    )


def _on_t3d(answer: Answer, processes: int) -> Figure:
    drawn = [
        pages.series(setup, course(answer, setup, POINTS, ranks=processes, steps=STEPS), "line")
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
    missed = {row.key for row in overview.missed(compared, EXPLAINED) if row.status == "predicted"}
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
    return "" if found is None else pages.signed(found / printed(setup, kind, process).si - 1)


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
    return "" if value is None else pages.signed(value)
