# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ensemble annealing with a master, of Fachat and Hoffmann (1998): table 1 on four Pentium Pros with
Ethernet, and the statements on a Cray T3D.

The paper does not print the number of rounds, the steps of a round, or the time of a step or a message.
Rounds and steps are assumed. Two numbers of the machine's description are then fitted to the table's first
row, the original set-up: the time of a step, from its computation, and the time that a message takes from
the processors of both nodes, from its communication (benchmarks/annealing_fit.py). The other two rows are
predictions. In these parts, steps only take their time. Only the part `quality` anneals and compares
energies."""

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
from hockney.reproductions.compared import Check, ComparedNumber, Statement, status_of, values_if_complete
from hockney.reproductions.parts import Answer
from hockney.suites.annealing.reproductions.annealing_cases import (
    CLUSTER,
    COMMUNICATION,
    COMPUTATION,
    DECOUPLED,
    ESTIMATED,
    FEW_PROCESSORS,
    KINDS,
    MANY_PROCESSORS,
    MASTER,
    NODES,
    OFFLOAD,
    ORIGINAL,
    PAPER_VALUES,
    PROCESSES,
    QUALITY,
    ROUNDS_BY_PART,
    SETUPS,
    SHORTENING_FACTOR,
    STEPS,
    T3D,
    T3D_STEPS,
    T3D_VARIANTS,
    T3D_WALKERS,
    WORKER,
    WORKLOAD,
    communication_share,
    energies,
    parts,
    printed_row,
    printed_time_change,
    rate_gain,
    round_seconds,
    spent_seconds,
    step_course,
    time_change,
)

__all__ = ["FIGURES", "NAME", "PAPER", "TITLE", "WORKLOADS", "checks", "compare", "page", "parts"]

NAME = "annealing"
TITLE = "Annealing with a master: four Pentium Pros on Ethernet, and a Cray T3D"
PAPER = "annealing"
FIGURES = {str(number): f"annealing-figure-{number}" for number in (3, 4)}
WORKLOADS = (WORKLOAD,)
SHARE_KEY = "annealing/text/share/{}"
CAPTION_KEY = "annealing/caption/communication"
LOWEST_SHARE, HIGHEST_SHARE = (PAPER_VALUES.row(SHARE_KEY.format(end)).si for end in ("low", "high"))
CHANGE_TOLERANCE = 0.25
SMALL_LOSS = 0.05
"""Maximum relative loss of energy that counts as slight."""
MIN_GAIN = 0.02
"""A smaller gain counts as none."""


# Printed numbers


def compare(answers: Mapping[str, Answer]) -> list[ComparedNumber]:
    variants = [name for name in ROUNDS_BY_PART if name != CLUSTER]
    return [
        *_table_1_rows(answers[CLUSTER]),
        *_share_rows(answers[CLUSTER]),
        _reduction_row(answers[CLUSTER]),
        *(row for name in variants for row in _table_1_rows(answers[name], _variant_title(answers[name]))),
    ]


def _variant_title(answer: Answer) -> str:
    """Returns the title of the machine's variant."""
    return answer.platform.title.partition(", ")[2]


def _table_1_rows(answer: Answer, mechanism: str = "") -> Iterable[ComparedNumber]:
    for setup in SETUPS:
        for kind in KINDS:
            for process in PROCESSES:
                row = printed_row(setup, kind, process)
                # Every row of a variant has the status "variant", even a fitted one.
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
    row = PAPER_VALUES.row(CAPTION_KEY)
    return ComparedNumber(
        row.key,
        "communication of the master with nonblocking messages, of that without",
        row.si,
        communication_reduction(answer),
        None,
        "%",
        status_of(answer.platform, row.key),
        note=f"the table itself: {printed_communication_reduction():.0%}",
        table="share of communication",
    )


def communication_reduction(answer: Answer) -> float | None:
    blocking_s, nonblocking_s = (
        spent_seconds(answer, setup, COMMUNICATION, MASTER) for setup in (ORIGINAL, ESTIMATED)
    )
    return nonblocking_s / blocking_s if blocking_s and nonblocking_s is not None else None


def printed_communication_reduction() -> float:
    return printed_row(ESTIMATED, COMMUNICATION, MASTER).si / printed_row(ORIGINAL, COMMUNICATION, MASTER).si


def _share_rows(answer: Answer) -> Iterable[ComparedNumber]:
    """Yields the range of the shares. The printed range is that of all the paper's runs, the simulated one
    that of table 1."""
    shares = values_if_complete(
        communication_share(answer, setup, process)
        for setup in (ORIGINAL, ESTIMATED)
        for process in PROCESSES
    )
    for bound, select in (("low", min), ("high", max)):
        row = PAPER_VALUES.row(SHARE_KEY.format(bound))
        yield ComparedNumber(
            row.key,
            f"communication, of the time, {'smallest' if bound == 'low' else 'largest'} share",
            row.si,
            select(shares) if shares else None,
            None,
            "%",
            status_of(answer.platform, row.key),
            note="printed: the range of all runs; simulated: of those in table 1",
            bound=True,
            table="share of communication",
        )


def checks(answers: Mapping[str, Answer], comparisons: Sequence[ComparedNumber]) -> list[Check]:
    rows_by_key = {row.key: row for row in comparisons if row.status != "variant"}

    def table_rows(*setups: str, kind: str) -> list[ComparedNumber]:
        return [
            rows_by_key[printed_row(setup, kind, process).key] for setup in setups for process in PROCESSES
        ]

    return [
        Statement("computation", "table 1", "computation, estimated and decoupled, within 5%").within(
            table_rows(ESTIMATED, DECOUPLED, kind=COMPUTATION), 0.05
        ),
        Statement("communication", "table 1", "communication, estimated and decoupled, within 20%").within(
            table_rows(ESTIMATED, DECOUPLED, kind=COMMUNICATION), 0.2
        ),
        _communication_share_check(answers[CLUSTER]),
        _processor_cost_check(answers[CLUSTER]),
        _equal_amount_check(answers[CLUSTER]),
        _reduction_check(answers[CLUSTER]),
        _no_gain_check(answers[CLUSTER]),
        _t3d_gain_check(answers[T3D], FEW_PROCESSORS, expects_gain=True),
        _t3d_gain_check(answers[T3D], MANY_PROCESSORS, expects_gain=False),
        _quality_check(answers[QUALITY]),
    ]


# Statements of the paper


def _communication_share_check(answer: Answer) -> Check:
    claim = f"communication is {LOWEST_SHARE:.0%} to {HIGHEST_SHARE:.0%} of the time on the cluster"
    statement = Statement("share-of-communication", "text", claim)
    low, high = (row.simulated for row in _share_rows(answer))
    if low is None or high is None:
        return statement.unknown()
    return statement.check(low >= LOWEST_SHARE and high <= HIGHEST_SHARE, f"{low:.1%} to {high:.1%}")


def _processor_cost_check(answer: Answer) -> Check:
    """Checks that the master's communication decreases while its computation increases."""
    claim = "nonblocking communication of the master takes less time, its computation more"
    statement = Statement("processor-pays", "table 1", claim)
    communication_change, computation_change = (
        time_change(answer, kind) for kind in (COMMUNICATION, COMPUTATION)
    )
    if communication_change is None or computation_change is None:
        return statement.unknown()
    return statement.check(
        communication_change < 0 < computation_change,
        f"{communication_change:+.1f} s and {computation_change:+.1f} s",
    )


def _equal_amount_check(answer: Answer) -> Check:
    claim = (
        f"computation increases by the amount that communication is reduced by, within {CHANGE_TOLERANCE:.0%}"
    )
    statement = Statement("computation-increases-as-much", "caption of table 1", claim)
    communication_change, computation_change = (
        time_change(answer, kind) for kind in (COMMUNICATION, COMPUTATION)
    )
    if communication_change is None or computation_change is None or not communication_change:
        return statement.unknown()
    return statement.check(
        abs(-computation_change / communication_change - 1) <= CHANGE_TOLERANCE,
        f"{-communication_change:.1f} s less and {computation_change:.1f} s more",
    )


def _reduction_check(answer: Answer) -> Check:
    """Checks the caption's claim. The table itself has 68%."""
    row = PAPER_VALUES.row(CAPTION_KEY)
    claim = f"nonblocking messages reduce communication to {row.si:.0%}"
    statement = Statement("communication-reduced", "caption of table 1", claim)
    ratio = communication_reduction(answer)
    if ratio is None:
        return statement.unknown()
    finding = f"to {ratio:.0%} on the master; by the table itself to {printed_communication_reduction():.0%}"
    return statement.check(ratio <= 2 * row.si, finding)


def _quality_check(answer: Answer) -> Check:
    claim = "the estimated schedule slightly lowers the quality of the optimum found"
    statement = Statement("quality-lowered", "text", claim)
    exact_energies, estimated_energies = (energies(answer, setup) for setup in (ORIGINAL, ESTIMATED))
    if not exact_energies or not estimated_energies:
        return statement.unknown()
    loss = mean_difference(estimated_energies, exact_energies)
    scale = abs(fmean(exact_energies.values())) or 1.0
    low = -math.inf if loss.low is None else loss.low / scale
    finding = f"{loss.value / scale:+.2%} of the energy over {len(exact_energies)} seeds"
    if loss.high is not None:
        finding += f" (95%: {low:+.2%} to {loss.high / scale:+.2%})"
    return statement.check(low > 0 and loss.value / scale < SMALL_LOSS, finding)


def _no_gain_check(answer: Answer) -> Check:
    claim = f"on the cluster, nonblocking communication wins less than {MIN_GAIN:.0%}"
    statement = Statement("wins-nothing", "figure 3", claim)
    measured_gain = rate_gain(answer)
    if measured_gain is None:
        return statement.unknown()
    return statement.check(abs(measured_gain) < MIN_GAIN, f"{measured_gain:+.1%} steps a second")


def _t3d_gain_check(answer: Answer, processes: int, *, expects_gain: bool) -> Check:
    claim = (
        f"on the T3D, nonblocking communication {'wins' if expects_gain else 'loses'} on {processes} "
        f"processors"
    )
    statement = Statement(f"t3d-{processes}", "figure 4" if expects_gain else "text", claim)
    measured_gain = rate_gain(answer, ranks=processes, steps=STEPS)
    if measured_gain is None:
        return statement.unknown()
    return statement.check(
        measured_gain > 0 if expects_gain else measured_gain < 0, f"{measured_gain:+.1%} steps a second"
    )


# The page


def page(
    answers: Mapping[str, Answer], comparisons: Sequence[ComparedNumber], checks: Sequence[Check]
) -> Page:
    summary = _summary(answers, comparisons)
    sections = _sections(answers, comparisons)
    return pages.reproduction_page(
        (NAME, TITLE, PAPER_VALUES.citation), answers, comparisons, checks, summary, sections
    )


Answers = Mapping[str, Answer]
CURVE_POINTS = 60
"""Number of points of a curve."""
EXPLAINED_ERROR = 0.1
"""A prediction with a larger error is explained."""
T3D_TITLES = {
    T3D: "as described",
    "t3d-linear": "gather by single messages",
    "t3d-long-calls": "long calls",
    "t3d-both": "both",
}


def _summary(answers: Answers, comparisons: Sequence[ComparedNumber]) -> tuple[str, ...]:
    predicted_rows = [row for row in pages.time_rows(comparisons) if row.status == "predicted"]
    introduction = (
        "A. Fachat and K. H. Hoffmann timed ensemble annealing with a master in three set-ups: broadcast and "
        "gather, nonblocking messages with an estimated schedule, and no communication."
    )
    if not pages.simulated_rows(predicted_rows):
        return (introduction, "Nothing was simulated yet.")
    sentences = (
        introduction,
        _table_1_sentence(predicted_rows),
        _nonblocking_sentence(answers),
        _t3d_sentence(answers),
    )
    return tuple(filter(None, sentences))


def _table_1_sentence(predicted_rows: Sequence[ComparedNumber]) -> str:
    errors = {
        kind: pages.largest_error([row for row in predicted_rows if f"/{kind}/" in row.key]) for kind in KINDS
    }
    error_list = " and ".join(
        f"{kind} by at most {error:.1%}" for kind, error in errors.items() if error is not None
    )
    return (
        "The simulated Pentium Pros are fitted to table 1's row of the original set-up. Of the other two "
        f"rows they give {pages.agreement_text(predicted_rows, 'printed times')}: {error_list}."
    )


def _nonblocking_sentence(answers: Answers) -> str:
    communication_change, computation_change = (
        time_change(answers[CLUSTER], kind) for kind in (COMMUNICATION, COMPUTATION)
    )
    steps_gain, offload_gain = rate_gain(answers[CLUSTER]), rate_gain(answers[OFFLOAD])
    if communication_change is None or computation_change is None or steps_gain is None:
        return ""
    text = (
        f"Nonblocking communication changes the master's communication by {communication_change:+.1f} s "
        f"and its computation "
        f"by {computation_change:+.1f} s (printed: {printed_time_change(COMMUNICATION):+.1f} s and "
        f"{printed_time_change(COMPUTATION):+.1f} s), and the steps a second by "
        f"{pages.format_error(steps_gain)}"
    )
    if offload_gain is None:
        return f"{text}."
    return f"{text}; if messages took no time of the processor, by {pages.format_error(offload_gain)}."


def _t3d_sentence(answers: Answers) -> str:
    gains = [
        _format_gain(rate_gain(answers[T3D], ranks=processes, steps=STEPS))
        for processes in (FEW_PROCESSORS, MANY_PROCESSORS)
    ]
    if not all(gains):
        return ""
    text = (
        f"On the T3D, it changes the steps a second by {gains[0]} on {FEW_PROCESSORS} processors "
        f"and by {gains[1]} on "
        f"{MANY_PROCESSORS}; the paper has a small gain and a loss."
    )
    variant_gains = [
        _format_gain(rate_gain(answers["t3d-both"], ranks=p, steps=STEPS))
        for p in (FEW_PROCESSORS, MANY_PROCESSORS)
    ]
    if not all(variant_gains):
        return text
    return (
        f"{text} With a gather by single messages, and calls that are longer at the same time of a message, "
        f"it is {' and '.join(variant_gains)}."
    )


# Sections


def _sections(answers: Answers, comparisons: Sequence[ComparedNumber]) -> list[Section]:
    return [
        Section("Steps over time, four workstations", figures=(_cluster_figure(answers[CLUSTER]),)),
        Section(
            "Steps over time, Cray T3D",
            figures=tuple(
                _t3d_figure(answers[T3D], processes) for processes in (FEW_PROCESSORS, MANY_PROCESSORS)
            ),
            multiples=True,
        ),
        Section(
            "What is assumed, and what is missed",
            text=tuple(_miss_explanations(answers, comparisons)),
            tables=(_rounds_table(answers, comparisons), _gains_table(answers)),
        ),
    ]


def _cluster_figure(answer: Answer) -> Figure:
    title = "Figure 3: steps of all processes over time, four workstations"
    return _course_figure("annealing-figure-3", title, answer, scale=SHORTENING_FACTOR)


def _t3d_figure(answer: Answer, processes: int) -> Figure:
    title = f"Figure 4: steps of all processes over time, {processes} processors"
    return _course_figure(f"annealing-figure-4-{processes}", title, answer, ranks=processes, steps=STEPS)


def _course_figure(name: str, title: str, answer: Answer, scale: int = 1, **parameters: Value) -> Figure:
    courses = {setup: step_course(answer, setup, CURVE_POINTS, scale, **parameters) for setup in SETUPS}
    return Figure(
        name,
        title,
        Axis("time", "s", "linear", include=(0.0,)),
        Axis("steps", "steps", "linear", include=(0.0,)),
        tuple(pages.make_series(setup, points, "line") for setup, points in courses.items()),
        "The paper's figure has curves without numbers. Steps count when they are made.",
    )


def _miss_explanations(answers: Answers, comparisons: Sequence[ComparedNumber]) -> Iterator[str]:
    """Yields explanations of predictions with errors above EXPLAINED_ERROR, from the printed and the
    simulated times."""
    missed_keys = {
        row.key for row in pages.distant_rows(comparisons, EXPLAINED_ERROR) if row.status == "predicted"
    }
    if any(printed_row(ESTIMATED, kind, WORKER).key in missed_keys for kind in KINDS):
        yield from _worker_explanation(answers[CLUSTER])
    if printed_row(ESTIMATED, COMMUNICATION, MASTER).key in missed_keys:
        yield (
            "The master's nonblocking communication consists of the calls for its messages, whose times are "
            "guesses of the description."
        )


def _worker_explanation(answer: Answer) -> Iterator[str]:
    """Yields an explanation if the workers' times are known: the paper's workers lose more computing time
    than their messages explain."""
    printed_changes = [printed_time_change(COMPUTATION, process, DECOUPLED) for process in PROCESSES]
    changes = values_if_complete(
        time_change(answer, COMPUTATION, process, DECOUPLED) for process in PROCESSES
    )
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


def _rounds_table(answers: Answers, comparisons: Sequence[ComparedNumber]) -> Table:
    """Returns a table of the errors of the predictions, by assumed number of rounds and processor time."""
    rows = []
    for name, rounds in ROUNDS_BY_PART.items():
        platform = answers[name].platform
        errors = (_error_text(answers[name], *cell) for cell in CELLS)
        rows.append(
            (
                f"{rounds}",
                format_value(platform.segments[0].processor_s, "s"),
                format_value(1 / platform.rates[WORKLOAD], "s"),
                *errors,
                _format_gain(rate_gain(answers[name])),
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


def _error_text(answer: Answer, setup: str, kind: str, process: str) -> str:
    seconds = spent_seconds(answer, setup, kind, process)
    return "" if seconds is None else pages.format_error(seconds / printed_row(setup, kind, process).si - 1)


def _gains_table(answers: Answers) -> Table:
    rows = []
    for name in (T3D, *T3D_VARIANTS):
        for steps in T3D_STEPS if name == T3D else T3D_STEPS[:1]:
            for processes in (FEW_PROCESSORS, MANY_PROCESSORS):
                parameters = {"ranks": processes, "steps": steps}
                round_s = round_seconds(answers[name], ORIGINAL, **parameters)
                rows.append(
                    (
                        T3D_TITLES[name],
                        str(processes),
                        str(steps * T3D_WALKERS // processes),
                        "" if round_s is None else format_value(round_s, "s"),
                        _format_gain(rate_gain(answers[name], ESTIMATED, **parameters)),
                        _format_gain(rate_gain(answers[name], DECOUPLED, **parameters)),
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


def _format_gain(value: float | None) -> str:
    return "" if value is None else pages.format_error(value)
