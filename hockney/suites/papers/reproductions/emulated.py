# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Common parts of the reproductions on an emulated Ethernet: messages between two hosts, exchanges of more
hosts that show whether messages share the medium, and the prediction from both.

The prediction is that of `hockney predict` for the part's run: the cost of a message comes from the
ping-pong, the kind of network from the exchanges, without those that are compared with the prediction. No
parameter is fitted to the predicted times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import structs

from hockney.core.case import parse_canonical
from hockney.core.catalog import Catalog
from hockney.core.errors import Inconclusive
from hockney.draw.page import Table
from hockney.models.applications.contention import network_kind
from hockney.models.applications.message_costs import messages_for
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.applications.ring_exchange import exchange_time
from hockney.reproductions import pages
from hockney.reproductions.compared import NOT_SIMULATED_TEXT, Check, Statement
from hockney.reproductions.parts import Answer, Part

Answers = Mapping[str, Answer]

SURVEY = "emulated-survey"
NOT_MEASURED = "not measured"
SIZES = (0, 4, 16, 40, 128, 400, 1000, 2000, 4000, 8000, 16000, 40000)
"""Bytes of the ping-pong. On 10 Mbit/s the longest takes 34 ms one way."""
LAUNCHES = 2
SURVEY_BUDGET_S = 110.0
SHARED_MEDIUM = "bus"
PREDICTED_PROCESSES = 4
"""Number of processes of the printed measurements that is predicted from other numbers."""
MAX_PREDICTION_ERROR = 0.15
"""Maximum median error of the predicted exchange."""


def survey_part(
    catalog: Catalog, paper: str, machine: str, processes: Sequence[int], sizes: Sequence[int]
) -> Part:
    """Returns the ping-pong and the round-robin exchange on the emulated machine `machine`. `paper` is the
    simulated description."""
    lines = [f"pingpong bytes={size} buffers=hot ranks=2" for size in SIZES]
    lines += [f"round_robin bytes={size} sync=window ranks={p}" for p in processes for size in sizes]
    workloads = tuple(catalog.workload(name) for name in ("pingpong", "round_robin"))
    return Part(SURVEY, paper, tuple(map(catalog.case, lines)), workloads, machine, LAUNCHES, SURVEY_BUDGET_S)


def medium(answers: Answers) -> str:
    """Returns the medium in the machine's description, "bus" or "switch"; "" if it is unknown."""
    machine = answers[SURVEY].machine
    return machine.emulated.medium if machine is not None and machine.emulated is not None else ""


def costs(answers: Answers, *, excluded_processes: int = 0) -> PointToPointCosts | None:
    """Returns the costs of messages by the ping-pong, on the kind of network that the exchanges show; None
    if they were not measured. Exchanges of `excluded_processes` processes are ignored."""
    survey = answers[SURVEY]
    if survey.machine is None:
        return None
    hosts = max(1, len(survey.machine.hosts))
    fits = survey.fits
    summaries = [
        summary for summary in fits.summaries if parse_canonical(summary.case).ranks != excluded_processes
    ]
    fits = structs.replace(fits, summaries=summaries)
    try:
        return messages_for(fits, survey.machine, "messages between two hosts", hosts=hosts)
    except Inconclusive:
        return None


def prediction_costs(answers: Answers) -> PointToPointCosts | None:
    """Returns the costs for predictions of `PREDICTED_PROCESSES` processes, from exchanges of other
    numbers of processes."""
    return costs(answers, excluded_processes=PREDICTED_PROCESSES)


def predicted_exchange_s(answers: Answers, processes: int, size: int) -> float | None:
    """Returns the predicted seconds of one exchange."""
    message_costs = prediction_costs(answers)
    return None if message_costs is None else exchange_time(message_costs, size, processes)


def measured_exchange_s(answers: Answers, processes: int, size: int) -> float | None:
    return answers[SURVEY].seconds("round_robin", ranks=processes, bytes=size)


def checks(answers: Answers, processes: Sequence[int], sizes: Sequence[int]) -> list[Check]:
    """Checks whether the exchanges show the machine's medium, and how well an exchange is predicted."""
    return [medium_check(answers), _prediction_check(answers, processes, sizes)]


def medium_check(answers: Answers) -> Check:
    message_costs, described_medium = costs(answers), medium(answers)
    claim = f"the exchanges show the medium of the machine ({described_medium or 'not described'})"
    statement = Statement("right-medium", "", claim)
    if message_costs is None:
        return statement.unknown(NOT_MEASURED)
    holds = (
        message_costs.sharing == "measured"
        and bool(described_medium)
        and message_costs.shared == (described_medium == SHARED_MEDIUM)
    )
    return statement.check(holds, f"{network_kind(message_costs)}, {message_costs.why}")


def _prediction_check(answers: Answers, processes: Sequence[int], sizes: Sequence[int]) -> Check:
    errors = [
        abs(error)
        for p in processes
        if p == PREDICTED_PROCESSES
        for size in sizes
        if (error := _prediction_error(answers, p, size)) is not None
    ]
    claim = (
        f"the exchange of {PREDICTED_PROCESSES} processes is predicted from messages between two and the "
        "network that exchanges of more processes show, with a median error of at most "
        f"{MAX_PREDICTION_ERROR:.0%}"
    )
    statement = Statement("exchange-predicted", "", claim)
    if len(errors) < len(sizes):
        return statement.unknown(NOT_MEASURED)
    return statement.check(
        median(errors) <= MAX_PREDICTION_ERROR, f"median {median(errors):.1%}, largest {max(errors):.1%}"
    )


def _prediction_error(answers: Answers, processes: int, size: int) -> float | None:
    predicted_s, measured_s = (
        predicted_exchange_s(answers, processes, size),
        measured_exchange_s(answers, processes, size),
    )
    return None if predicted_s is None or not measured_s else predicted_s / measured_s - 1


def exchange_table(
    answers: Answers, processes: Sequence[int], sizes: Sequence[int], word_bytes: int
) -> Table:
    """Returns a table of measured and predicted exchanges."""
    rows = []
    for p in processes:
        for size in sizes:
            error = _prediction_error(answers, p, size)
            rows.append(
                (
                    f"{p} processes, L = {size // word_bytes}",
                    pages.format_number(measured_exchange_s(answers, p, size), "s"),
                    pages.format_number(predicted_exchange_s(answers, p, size), "s"),
                    "" if error is None else pages.format_error(error),
                )
            )
    message_costs = prediction_costs(answers)
    network = (
        "" if message_costs is None else f"The network: {network_kind(message_costs)}, {message_costs.why}. "
    )
    return Table(
        "predicted-exchange",
        "Exchange, emulated",
        ("exchange", "measured", "predicted", "error"),
        tuple(rows),
        numeric=(1, 2, 3),
        caption=f"{network}Predicted from the ping-pong between two hosts.",
    )


def summary(introduction: str, checks: Sequence[Check]) -> tuple[str, ...]:
    """Returns the introduction, and a sentence on the number of checks that passed."""
    if all(check.found in (NOT_MEASURED, NOT_SIMULATED_TEXT) for check in checks):
        return introduction, "Nothing was measured yet."
    failed_claims = [check.what for check in checks if not check.holds]
    count_text = f"{len(checks) - len(failed_claims)} of {len(checks)} checks passed"
    return introduction, count_text + (f"; failed: {'; '.join(failed_claims)}." if failed_claims else ".")
