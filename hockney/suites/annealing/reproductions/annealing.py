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

from hockney.core.case import Value
from hockney.core.units import format_value
from hockney.draw.figure import Axis, Figure
from hockney.draw.page import Page, Section, Table
from hockney.models.statistics import mean_difference
from hockney.reproductions import pages
from hockney.reproductions.compared import Check, ComparedNumber, Statement, all_known, status_of
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
    ROUNDS_BY_PART,
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
    communication_share,
    course,
    energies,
    gain,
    parts,
    printed_change,
    printed_row,
    round_seconds,
    spent_seconds,
)

__all__ = ["FIGURES", "NAME", "PAPER", "TITLE", "WORKLOADS", "checks", "compare", "page", "parts"]

NAME = "annealing"
TITLE = "Annealing with a master: four Pentium Pros on Ethernet, and a Cray T3D"
PAPER = "annealing"
FIGURES = {str(number): f"annealing-figure-{number}" for number in (3, 4)}
WORKLOADS = (WORKLOAD,)
SHARE = "annealing/text/share/{}"
CAPTION = "annealing/caption/communication"
LOWEST_SHARE, HIGHEST_SHARE = (PRINTED.row(SHARE.format(end)).si for end in ("low", "high"))
TOLERANCE = 0.25
SMALL_LOSS = 0.05
"""A relative loss of energy above this is not slight."""
NO_GAIN = 0.02
"""A smaller gain counts as none."""


# printed numbers


def compare(answers: Mapping[str, Answer]) -> list[ComparedNumber]:
    variants = [name for name in ROUNDS_BY_PART if name != CLUSTER]
    return [
        *_table_1(answers[CLUSTER]),
        *_share_rows(answers[CLUSTER]),
        _reduction_row(answers[CLUSTER]),
        *(row for name in variants for row in _table_1(answers[name], _title(answers[name]))),
    ]


def _title(answer: Answer) -> str:
    """The title of the machine's variant."""
    return answer.platform.title.partition(", ")[2]


def _table_1(answer: Answer, mechanism: str = "") -> Iterable[ComparedNumber]:
    for setup in SETUPS:
        for kind in KINDS:
            for process in PROCESSES:
                row = printed_row(setup, kind, process)
                # of a variant, every row is listed as such, the fitted ones too
                status = "variant" if mechanism else status_of(answer.platform, row.key)
                yield ComparedNumber(
                    row.key,
                    f"{setup}, {kind} of {'the master' if process == MASTER else 'a worker'}",
                    row.si,
                    spent_seconds(answer, setup, kind, process),
                    None,
                    "s",
                    status,
                    mechanism,
                    table=f"table 1, {mechanism}" if mechanism else "table 1",
                )


def _reduction_row(answer: Answer) -> ComparedNumber:
    row = PRINTED.row(CAPTION)
    return ComparedNumber(
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
    blocking_s, nonblocking_s = (
        spent_seconds(answer, setup, COMMUNICATION, MASTER) for setup in (ORIGINAL, ESTIMATED)
    )
    return nonblocking_s / blocking_s if blocking_s and nonblocking_s is not None else None


def printed_reduction() -> float:
    return printed_row(ESTIMATED, COMMUNICATION, MASTER).si / printed_row(ORIGINAL, COMMUNICATION, MASTER).si


def _share_rows(answer: Answer) -> Iterable[ComparedNumber]:
    """The printed range is of all the paper's runs, the simulated one of table 1's."""
    shares = all_known(
        communication_share(answer, setup, process)
        for setup in (ORIGINAL, ESTIMATED)
        for process in PROCESSES
    )
    for end, extreme in (("low", min), ("high", max)):
        row = PRINTED.row(SHARE.format(end))
        yield ComparedNumber(
            row.key,
            f"communication, of the time, {'smallest' if end == 'low' else 'largest'} share",
            row.si,
            extreme(shares) if shares else None,
            None,
            "%",
            status_of(answer.platform, row.key),
            note="printed: the range of all runs; simulated: of those in table 1",
            bound=True,
            table="share of communication",
        )


def checks(answers: Mapping[str, Answer], compared: Sequence[ComparedNumber]) -> list[Check]:
    rows_by_key = {row.key: row for row in compared if row.status != "variant"}

    def rows(*setups: str, kind: str) -> list[ComparedNumber]:
        return [
            rows_by_key[printed_row(setup, kind, process).key] for setup in setups for process in PROCESSES
        ]

    return [
        Statement("computation", "table 1", "computation, estimated and decoupled, within 5%").within(
            rows(ESTIMATED, DECOUPLED, kind=COMPUTATION), 0.05
        ),
        Statement("communication", "table 1", "communication, estimated and decoupled, within 20%").within(
            rows(ESTIMATED, DECOUPLED, kind=COMMUNICATION), 0.2
        ),
        _communication_share_check(answers[CLUSTER]),
        _processor_cost_check(answers[CLUSTER]),
        _equal_amount_check(answers[CLUSTER]),
        _reduction_check(answers[CLUSTER]),
        _no_gain_check(answers[CLUSTER]),
        _t3d_gain_check(answers[T3D], SMALL, expects_gain=True),
        _t3d_gain_check(answers[T3D], LARGE, expects_gain=False),
        _quality_check(answers[QUALITY]),
    ]


# what the paper states


def _communication_share_check(answer: Answer) -> Check:
    claim = f"communication is {LOWEST_SHARE:.0%} to {HIGHEST_SHARE:.0%} of the time on the cluster"
    statement = Statement("share-of-communication", "text", claim)
    low, high = (row.simulated for row in _share_rows(answer))
    if low is None or high is None:
        return statement.unknown()
    return statement.check(low >= LOWEST_SHARE and high <= HIGHEST_SHARE, f"{low:.1%} to {high:.1%}")


def _processor_cost_check(answer: Answer) -> Check:
    """Checks that the master's communication shrinks while its computation grows."""
    claim = "nonblocking communication of the master takes less time, its computation more"
    statement = Statement("processor-pays", "table 1", claim)
    communication_change, computation_change = (change(answer, kind) for kind in (COMMUNICATION, COMPUTATION))
    if communication_change is None or computation_change is None:
        return statement.unknown()
    return statement.check(
        communication_change < 0 < computation_change,
        f"{communication_change:+.1f} s and {computation_change:+.1f} s",
    )


def _equal_amount_check(answer: Answer) -> Check:
    claim = f"computation increases by the amount that communication is reduced by, within {TOLERANCE:.0%}"
    statement = Statement("computation-increases-as-much", "caption of table 1", claim)
    communication_change, computation_change = (change(answer, kind) for kind in (COMMUNICATION, COMPUTATION))
    if communication_change is None or computation_change is None or not communication_change:
        return statement.unknown()
    return statement.check(
        abs(-computation_change / communication_change - 1) <= TOLERANCE,
        f"{-communication_change:.1f} s less and {computation_change:.1f} s more",
    )


def _reduction_check(answer: Answer) -> Check:
    """Checks the caption's claim; the table itself has 68%."""
    row = PRINTED.row(CAPTION)
    claim = f"nonblocking messages reduce communication to {row.si:.0%}"
    statement = Statement("communication-reduced", "caption of table 1", claim)
    ratio = reduction(answer)
    if ratio is None:
        return statement.unknown()
    words = f"to {ratio:.0%} on the master; by the table itself to {printed_reduction():.0%}"
    return statement.check(ratio <= 2 * row.si, words)


def _quality_check(answer: Answer) -> Check:
    claim = "the estimated schedule slightly lowers the quality of the optimum found"
    statement = Statement("quality-lowered", "text", claim)
    exact, estimated = (energies(answer, setup) for setup in (ORIGINAL, ESTIMATED))
    if not exact or not estimated:
        return statement.unknown()
    loss = mean_difference(estimated, exact)
    size = abs(fmean(exact.values())) or 1.0
    low = -math.inf if loss.low is None else loss.low / size
    finding = f"{loss.value / size:+.2%} of the energy over {len(exact)} seeds"
    if loss.high is not None:
        finding += f" (95%: {low:+.2%} to {loss.high / size:+.2%})"
    return statement.check(low > 0 and loss.value / size < SMALL_LOSS, finding)


def _no_gain_check(answer: Answer) -> Check:
    claim = f"on the cluster, nonblocking communication wins less than {NO_GAIN:.0%}"
    statement = Statement("wins-nothing", "figure 3", claim)
    measured_gain = gain(answer)
    if measured_gain is None:
        return statement.unknown()
    return statement.check(abs(measured_gain) < NO_GAIN, f"{measured_gain:+.1%} steps a second")


def _t3d_gain_check(answer: Answer, processes: int, *, expects_gain: bool) -> Check:
    claim = (
        f"on the T3D, nonblocking communication {'wins' if expects_gain else 'loses'} on {processes} "
        f"processors"
    )
    statement = Statement(f"t3d-{processes}", "figure 4" if expects_gain else "text", claim)
    measured_gain = gain(answer, ranks=processes, steps=STEPS)
    if measured_gain is None:
        return statement.unknown()
    return statement.check(
        measured_gain > 0 if expects_gain else measured_gain < 0, f"{measured_gain:+.1%} steps a second"
    )


# the page


def page(answers: Mapping[str, Answer], compared: Sequence[ComparedNumber], checks: Sequence[Check]) -> Page:
    summary = _summary(answers, compared)
    sections = _sections(answers, compared)
    return pages.page((NAME, TITLE, PRINTED.citation), answers, compared, checks, summary, sections)


Answers = Mapping[str, Answer]
POINTS = 60
"""Number of points of a curve."""
EXPLAINED_ERROR = 0.1
"""A prediction with a larger error is explained."""
TITLES = {
    T3D: "as described",
    "t3d-linear": "gather by single messages",
    "t3d-long-calls": "long calls",
    "t3d-both": "both",
}


def _summary(answers: Answers, compared: Sequence[ComparedNumber]) -> tuple[str, ...]:
    predicted = [row for row in pages.time_rows(compared) if row.status == "predicted"]
    introduction = (
        "A. Fachat and K. H. Hoffmann timed ensemble annealing with a master in three set-ups: broadcast and "
        "gather, nonblocking messages with an estimated schedule, and no communication."
    )
    if not pages.simulated_rows(predicted):
        return (introduction, "Nothing was simulated yet.")
    texts = (
        introduction,
        _table_1_sentence(predicted),
        _nonblocking_sentence(answers),
        _t3d_sentence(answers),
    )
    return tuple(filter(None, texts))


def _table_1_sentence(predicted: Sequence[ComparedNumber]) -> str:
    errors = {
        kind: pages.largest_error([row for row in predicted if f"/{kind}/" in row.key]) for kind in KINDS
    }
    worst = " and ".join(f"{kind} by at most {each:.1%}" for kind, each in errors.items() if each is not None)
    return (
        "The simulated Pentium Pros are fitted to table 1's row of the original set-up. Of the other two "
        f"rows they give {pages.agreement(predicted, 'printed times')}: {worst}."
    )


def _nonblocking_sentence(answers: Answers) -> str:
    communication_change, computation_change = (
        change(answers[CLUSTER], kind) for kind in (COMMUNICATION, COMPUTATION)
    )
    steps_gain, offload_gain = gain(answers[CLUSTER]), gain(answers[OFFLOAD])
    if communication_change is None or computation_change is None or steps_gain is None:
        return ""
    text = (
        f"Nonblocking communication changes the master's communication by {communication_change:+.1f} s "
        f"and its computation "
        f"by {computation_change:+.1f} s (printed: {printed_change(COMMUNICATION):+.1f} s and "
        f"{printed_change(COMPUTATION):+.1f} s), and the steps a second by {pages.format_error(steps_gain)}"
    )
    if offload_gain is None:
        return f"{text}."
    return f"{text}; if messages took no time of the processor, by {pages.format_error(offload_gain)}."


def _t3d_sentence(answers: Answers) -> str:
    gains = [_signed(gain(answers[T3D], ranks=p, steps=STEPS)) for p in (SMALL, LARGE)]
    if not all(gains):
        return ""
    text = (
        f"On the T3D, it changes the steps a second by {gains[0]} on {SMALL} processors and by {gains[1]} on "
        f"{LARGE}; the paper has a small gain and a loss."
    )
    variant_gains = [_signed(gain(answers["t3d-both"], ranks=p, steps=STEPS)) for p in (SMALL, LARGE)]
    if not all(variant_gains):
        return text
    return (
        f"{text} With a gather by single messages, and calls that are longer at the same time of a message, "
        f"it is {' and '.join(variant_gains)}."
    )


# sections


def _sections(answers: Answers, compared: Sequence[ComparedNumber]) -> list[Section]:
    return [
        Section("Steps over time, four workstations", figures=(_cluster_figure(answers[CLUSTER]),)),
        Section(
            "Steps over time, Cray T3D",
            figures=tuple(_t3d_figure(answers[T3D], processes) for processes in (SMALL, LARGE)),
            multiples=True,
        ),
        Section(
            "What is assumed, and what is missed",
            text=tuple(_miss_explanations(answers, compared)),
            tables=(_rounds_table(answers, compared), _gains_table(answers)),
        ),
    ]


def _cluster_figure(answer: Answer) -> Figure:
    title = "Figure 3: steps of all processes over time, four workstations"
    return _figure("annealing-figure-3", title, answer, scale=SHORTENED)


def _t3d_figure(answer: Answer, processes: int) -> Figure:
    title = f"Figure 4: steps of all processes over time, {processes} processors"
    return _figure(f"annealing-figure-4-{processes}", title, answer, ranks=processes, steps=STEPS)


def _figure(name: str, title: str, answer: Answer, scale: int = 1, **fixed: Value) -> Figure:
    courses = {setup: course(answer, setup, POINTS, scale, **fixed) for setup in SETUPS}
    return Figure(
        name,
        title,
        Axis("time", "s", "linear", include=(0.0,)),
        Axis("steps", "steps", "linear", include=(0.0,)),
        tuple(pages.make_series(setup, points, "line") for setup, points in courses.items()),
        "The paper's figure has curves without numbers. Steps count when they are made.",
    )


def _miss_explanations(answers: Answers, compared: Sequence[ComparedNumber]) -> Iterator[str]:
    """Explanations of predictions off by more than EXPLAINED, from the printed and the simulated times."""
    missed = {row.key for row in pages.rows_beyond(compared, EXPLAINED_ERROR) if row.status == "predicted"}
    if any(printed_row(ESTIMATED, kind, WORKER).key in missed for kind in KINDS):
        yield from _worker_explanation(answers[CLUSTER])
    if printed_row(ESTIMATED, COMMUNICATION, MASTER).key in missed:
        yield (
            "The master's nonblocking communication consists of the calls for its messages, whose times are "
            "guesses of the description."
        )


def _worker_explanation(answer: Answer) -> Iterator[str]:
    """The paper's workers lose more computing time than their messages explain."""
    printed_changes = [printed_change(COMPUTATION, process, DECOUPLED) for process in PROCESSES]
    changes = all_known(change(answer, COMPUTATION, process, DECOUPLED) for process in PROCESSES)
    if changes is None:
        return
    yield (
        "With nonblocking communication, computation takes longer than without communication: printed, by "
        f"{printed_changes[0]:.1f} s on the master and {printed_changes[1]:.1f} s on a worker; simulated, by "
        f"{changes[0]:.1f} s and {changes[1]:.1f} s. The master handles {2 * (NODES - 1)} "
        f"messages in a round, a "
        "worker 2. A time for each message can explain the master's loss or the worker's, but not that the "
        "two are about equal. A worker that loses less time waits longer for the master's last schedule."
    )


def _rounds_table(answers: Answers, compared: Sequence[ComparedNumber]) -> Table:
    """The errors of the predictions by assumed number of rounds and time of the processor."""
    rows = []
    for name, rounds in ROUNDS_BY_PART.items():
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
    seconds = spent_seconds(answer, setup, kind, process)
    return "" if seconds is None else pages.format_error(seconds / printed_row(setup, kind, process).si - 1)


def _gains_table(answers: Answers) -> Table:
    rows = []
    for name in (T3D, *T3D_VARIANTS):
        for steps in T3D_STEPS if name == T3D else T3D_STEPS[:1]:
            for processes in (SMALL, LARGE):
                fixed = {"ranks": processes, "steps": steps}
                round_s = round_seconds(answers[name], ORIGINAL, **fixed)
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
