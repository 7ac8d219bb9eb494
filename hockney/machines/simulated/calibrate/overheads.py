# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How a message's time is divided among the sender, the network and the receiver, and additional costs.

Everything is expressed as a share of the time of one message of the same size, constant within a segment. So
overheads and the network's part add up to the ping-pong at every size and none falls below 0. Trusted LogGP
lines are used unchanged wherever they fit into the ping-pong.

    send     o_s = (PRTT(n, d, s) - PRTT(1, 0, s)) / (n - 1) - d, as in the LogGP fit; beyond the sizes of
             the trains as at their largest
    receive  the call that receives a message which has already arrived
    gap      (PRTT(n, 0, s) - PRTT(1, 0, s)) / (n - 1), if that is more than the overheads; beyond
             the sizes of the trains the time of a message in a stream (large ones leave the caches)
    exchange the additional time of MPI_Sendrecv in both directions over one direction
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hockney.core.case import Case
from hockney.core.fit import Estimate
from hockney.machines.simulated.calibrate.curve import Curve
from hockney.machines.simulated.calibrate.survey import PAIR_RANKS, Survey, near

EVEN = 1 / 3
"""Sender, network and receiver, if no measurement distinguishes them."""


@dataclass(frozen=True)
class Straight:
    """`at_zero` + bytes `per_byte`: a trusted fit's line."""

    at_zero: float
    per_byte: float

    def at(self, size: float) -> float:
        return self.at_zero + self.per_byte * size


@dataclass(frozen=True)
class Overheads:
    """Shares by size. `lines` holds trusted lines by the same names; `train` is the largest size of the
    trains, 0 without any, `eager` the largest message that is sent at once; `measured` lists the shares that
    were measured at all. Except for exchanges, shares are not interpolated across one of `jumps`, from which
    messages are sent in another way: then a sender may be busy for as long as a message takes, or not."""

    send: dict[int, float]
    receive: dict[int, float]
    gap: dict[int, float]
    exchange: dict[int, float]
    train: int
    eager: int
    lines: dict[str, Straight] = field(default_factory=dict)
    measured: frozenset[str] = frozenset()
    jumps: tuple[int, ...] = ()

    @property
    def sizes(self) -> set[int]:
        tables = (self.send, self.receive, self.gap, self.exchange)
        return {size for table in tables for size in table} | ({2 * self.train} if self.train else set())

    def shares(self, size: float) -> tuple[float, float, float, float]:
        """(send, receive, gap, exchange) at `size`; the first two leave at least zero for the network."""
        receive = min(near(self.receive, size, self.jumps), 1.0)
        send = min(near(self.send, size, self.jumps), 1.0 - receive)
        exchange = near(self.exchange, size) if self.exchange else 0.0
        gap = near(self.gap, size, self.jumps) if self.gap else 0.0
        if self.train < size <= self.eager:
            gap = min(gap, 1 + exchange)  # an exchange shows that one message can follow the other
        return send, receive, gap, exchange


def overheads_of(survey: Survey, curve: Curve, eager: int) -> Overheads:
    send, gap = _trains(survey)
    receive = _times(survey, survey.workload("overhead", "recv"))
    both = _times(survey, survey.workload("point-to-point", "sendrecv"))
    largest = max(send, default=0)
    tables = {"send": send, "receive": receive, "gap": gap, "exchange": both}
    measured = frozenset(name for name, table in tables.items() if table)
    streamed = _times(survey, survey.workload("stream", "isend"))
    streams = {size: t for size, t in streamed.items() if size > 2 * largest}
    if send:
        send = send | dict.fromkeys(streams, send[largest])
    gap = gap | streams

    def share(table: dict[int, float]) -> dict[int, float]:
        return {size: time / curve.time(size) for size, time in table.items()}

    return Overheads(
        send=share(send) or {0: EVEN},
        receive=share(receive) or {0: EVEN},
        gap=share(gap),
        exchange={size: max(ratio - 1, 0.0) for size, ratio in share(both).items()},
        train=largest,
        eager=eager,
        lines=_lines(survey),
        measured=measured,
        jumps=curve.jumps,
    )


def _times(survey: Survey, workload: str) -> dict[int, float]:
    """Median times without the clock's part."""
    medians = survey.medians(workload, buffers="hot")
    return {size: max(t.value - survey.reading(workload, size), 0.0) for size, t in medians.items()}


def _trains(survey: Survey) -> tuple[dict[int, float], dict[int, float]]:
    """o_s and the gap of each size, from medians; of several trains the longest is used."""
    train = survey.workload("train")
    trains: dict[tuple[int, bool], tuple[Case, Estimate]] = {}
    single: dict[int, float] = {}
    for case, median in sorted(survey.measured, key=lambda each: each[0].number("messages")):
        if case.workload != train or case.ranks != PAIR_RANKS:
            continue
        if case.number("messages") > 1:
            trains[case.bytes, survey.pause(case) > 0] = case, median
        elif case.number("delay") == 0:
            single[case.bytes] = median.value
    send: dict[int, float] = {}
    gap: dict[int, float] = {}
    for (size, delayed), (case, median) in sorted(trains.items()):
        if size in single:
            each = (median.value - single[size]) / (case.number("messages") - 1) - survey.pause(case)
            (send if delayed else gap)[size] = max(each, 0.0)
    return send, gap


def _lines(survey: Survey) -> dict[str, Straight]:
    fit = survey.loggp
    if fit is None:
        return {}
    train = survey.workload("train")
    trains = [case.bytes for case, _ in survey.measured if case.workload == train]
    received = survey.medians(survey.workload("overhead", "recv"))
    lines = {}
    for name, base, slope, origin in (
        ("send", "o_s", "O_s", min(trains, default=0)),
        ("receive", "o_r", "O_r", min(received, default=0)),
        ("gap", "g", "G", 1),
    ):
        at, each = fit.parameter(base), fit.parameter(slope)
        in_pieces = name == "gap" and fit.segments  # then the measured gaps are more informative
        if at is not None and each is not None and not in_pieces:
            zero = at.estimate.value - each.estimate.value * origin
            lines[name] = Straight(max(zero, 0.0), each.estimate.value)
    return lines
