# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Common to the reproductions on an emulated Ethernet: messages between two hosts, exchanges of more hosts
that show whether messages share the medium, and what both together predict.

The prediction is that of `hockney predict` from the part's run: the cost of a message from the ping-pong, the
kind of network from the exchanges, except those that are compared with the prediction. No parameter is fitted
to the predicted times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import structs

from hockney.core.case import parse_canonical
from hockney.core.catalog import Catalog
from hockney.core.errors import Inconclusive
from hockney.core.units import format_value
from hockney.draw.amount import Amount
from hockney.draw.page import Table
from hockney.models.applications.contention import kind
from hockney.models.applications.message_costs import messages_for
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.applications.ring_exchange import exchange_time
from hockney.reproductions import pages
from hockney.reproductions.compared import NOT_SIMULATED, Check, Statement
from hockney.reproductions.parts import Answer, Part

Answers = Mapping[str, Answer]

SURVEY = "emulated-survey"
NOT_MEASURED = "not measured"
SIZES = (0, 4, 16, 40, 128, 400, 1000, 2000, 4000, 8000, 16000, 40000)
"""Bytes of the ping-pong; on 10 Mbit/s the longest takes 34 ms one way."""
LAUNCHES = 2
SURVEY_S = 110.0
SHARED = "bus"
PREDICTED_FOR = 4
"""The number of processes of the printed measurements that two processes do not show."""
CLOSE = 0.15
"""The largest median error of the predicted exchange."""


def part(catalog: Catalog, paper: str, on: str, processes: Sequence[int], sizes: Sequence[int]) -> Part:
    """The ping-pong and the round-robin exchange on the emulated machine `on`, of which `paper` is the
    description that is simulated."""
    lines = [f"pingpong bytes={size} buffers=hot ranks=2" for size in SIZES]
    lines += [f"round_robin bytes={size} sync=window ranks={p}" for p in processes for size in sizes]
    workloads = tuple(catalog.workload(name) for name in ("pingpong", "round_robin"))
    return Part(SURVEY, paper, tuple(map(catalog.case, lines)), workloads, on, LAUNCHES, SURVEY_S)


def medium(answers: Answers) -> str:
    """The medium in the machine's description: "bus" or "switch"; "" if it is not known."""
    machine = answers[SURVEY].machine
    return machine.emulated.medium if machine is not None and machine.emulated is not None else ""


def costs(answers: Answers, *, without: int = 0) -> PointToPointCosts | None:
    """The costs of messages by the ping-pong, on the kind of network that the exchanges show, those of
    `without` processes left out; None if that was not measured."""
    survey = answers[SURVEY]
    if survey.machine is None:
        return None
    hosts = max(1, len(survey.machine.hosts))
    fits = survey.fits
    evidence = [each for each in fits.summaries if parse_canonical(each.case).ranks != without]
    fits = structs.replace(fits, summaries=evidence)
    try:
        return messages_for(fits, survey.machine, "messages between two hosts", hosts=hosts)
    except Inconclusive:
        return None


def predicting(answers: Answers) -> PointToPointCosts | None:
    """The costs for predictions of `PREDICTED_FOR` processes, which have no part in them."""
    return costs(answers, without=PREDICTED_FOR)


def predicted(answers: Answers, processes: int, size: int) -> float | None:
    """Seconds of one exchange."""
    found = predicting(answers)
    return None if found is None else exchange_time(found, size, processes)


def measured(answers: Answers, processes: int, size: int) -> float | None:
    return answers[SURVEY].seconds("round_robin", ranks=processes, bytes=size)


def checks(answers: Answers, processes: Sequence[int], sizes: Sequence[int]) -> list[Check]:
    """Whether the evidence shows the medium that the machine has, and how well an exchange is predicted."""
    return [right_medium(answers), _well_predicted(answers, processes, sizes)]


def right_medium(answers: Answers) -> Check:
    found, true = costs(answers), medium(answers)
    what = f"the exchanges show the medium of the machine ({true or 'not described'})"
    stated = Statement("right-medium", "", what)
    if found is None:
        return stated.unknown(NOT_MEASURED)
    holds = found.sharing == "measured" and bool(true) and found.shared == (true == SHARED)
    return stated.check(holds, f"{kind(found)}, {found.why}")


def _well_predicted(answers: Answers, processes: Sequence[int], sizes: Sequence[int]) -> Check:
    errors = [
        abs(error)
        for p in processes
        if p == PREDICTED_FOR
        for size in sizes
        if (error := _error(answers, p, size)) is not None
    ]
    what = (
        f"the exchange of {PREDICTED_FOR} processes is predicted from messages between two and the network "
        f"that exchanges of more processes show, with a median error of at most {CLOSE:.0%}"
    )
    stated = Statement("exchange-predicted", "", what)
    if len(errors) < len(sizes):
        return stated.unknown(NOT_MEASURED)
    return stated.check(median(errors) <= CLOSE, f"median {median(errors):.1%}, largest {max(errors):.1%}")


def _error(answers: Answers, processes: int, size: int) -> float | None:
    model, found = predicted(answers, processes, size), measured(answers, processes, size)
    return None if model is None or not found else model / found - 1


def table(answers: Answers, processes: Sequence[int], sizes: Sequence[int], word_bytes: int) -> Table:
    """Measured and predicted exchanges."""
    rows = []
    for p in processes:
        for size in sizes:
            error = _error(answers, p, size)
            rows.append(
                (
                    f"{p} processes, L = {size // word_bytes}",
                    time(measured(answers, p, size)),
                    time(predicted(answers, p, size)),
                    "" if error is None else pages.format_error(error),
                )
            )
    found = predicting(answers)
    network = "" if found is None else f"The network: {kind(found)}, {found.why}. "
    return Table(
        "predicted-exchange",
        "Exchange, emulated",
        ("exchange", "measured", "predicted", "error"),
        tuple(rows),
        numeric=(1, 2, 3),
        caption=f"{network}Predicted from the ping-pong between two hosts.",
    )


def summary(text: str, checks: Sequence[Check]) -> tuple[str, ...]:
    """The study in a sentence or two, and how many of its checks passed."""
    if all(check.found in (NOT_MEASURED, NOT_SIMULATED) for check in checks):
        return text, "Nothing was measured yet."
    failed = [check.what for check in checks if not check.holds]
    counted = f"{len(checks) - len(failed)} of {len(checks)} checks passed"
    return text, counted + (f"; failed: {'; '.join(failed)}." if failed else ".")


def time(value: float | None) -> str:
    return "" if value is None else Amount(format_value(value, "s", digits=4), (value,), "s", digits=4)
