# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The predicted time of a kernel: in each phase, the operations of the busiest rank at the rate of one rank
alone, and the messages and collectives as they cost between ranks that do nothing else.

A sweep through a pipeline takes its work, that of `stages` chunks until the last rank begins (or, with two
ways, until the first one has the last result), the messages of these stages, and the handling of all others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from statistics import fmean

from hockney.models.programs.communication import Communication
from hockney.models.programs.program import Phase, Pipeline, Program, Share
from hockney.models.programs.rates import Rates

ROUNDING = 1e-9
"""Works that differ by a smaller part are equal."""


@dataclass(frozen=True)
class Terms:
    """Seconds: `computation` as the mean over the ranks, what the busiest rank computes more, the time in
    which pipelines fill, messages, and collectives.

    The busiest rank is last in a pipeline. It has work while the pipeline fills, because the others have
    less, so that only the larger one of the two times counts."""

    computation: float = 0.0
    imbalance: float = 0.0
    filling: float = 0.0
    messages: float = 0.0
    collectives: float = 0.0

    @property
    def waiting(self) -> float:
        """Seconds of waiting for the busiest rank, or for pipelines to fill."""
        return max(self.imbalance, self.filling)

    @property
    def communication(self) -> float:
        return self.messages + self.collectives

    @property
    def total(self) -> float:
        return self.computation + self.waiting + self.communication

    def __add__(self, other: Terms) -> Terms:
        return Terms(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True)
class PhaseTerms:
    name: str
    terms: Terms


@dataclass(frozen=True)
class KernelTime:
    """A predicted run, phase by phase."""

    program: Program
    phases: tuple[PhaseTerms, ...]

    @property
    def terms(self) -> Terms:
        return sum((phase.terms for phase in self.phases), Terms())

    @property
    def total(self) -> float:
        return self.terms.total


def predict(
    program: Program, rates: Rates, communication: Communication | None, *, slower: float = 1.0
) -> KernelTime:
    """`communication` may be None for one rank. Every rank computes `slower` times as long as one rank
    alone."""
    made = (
        PhaseTerms(each.name, _terms(each, program, rates, communication, slower)) for each in program.phases
    )
    return KernelTime(program, tuple(made))


def _terms(
    phase: Phase, program: Program, rates: Rates, communication: Communication | None, slower: float
) -> Terms:
    computing = [slower * sum(map(rates.seconds, share.work)) for share in phase.shares]
    mean, most = fmean(computing), max(computing)
    imbalance = most - mean if most > (1 + ROUNDING) * mean else 0.0
    if communication is None:
        return Terms(mean, imbalance)
    ranks = program.ranks
    exchanged = max(_exchanged(share, communication, ranks) for share in phase.shares)
    pipelines = [share.pipeline for share in phase.shares if share.pipeline is not None]
    filling, passing = _pipelined(pipelines, most, communication, ranks)
    collectives = sum(each.count * communication.collective(each, ranks) for each in phase.collectives)
    return Terms(mean, imbalance, filling, exchanged + passing, collectives)


def _exchanged(share: Share, communication: Communication, ranks: int) -> float:
    return sum(each.count * communication.exchange(each, ranks) for each in share.exchanges)


def _pipelined(
    pipelines: Iterable[Pipeline], work: float, communication: Communication, ranks: int
) -> tuple[float, float]:
    """Seconds in which the pipelines fill, and of messages."""
    filling = passing = on_medium = 0.0
    for each in pipelines:
        count, size = sum(m.count for m in each.sent), sum(m.count * m.bytes for m in each.sent)
        on_medium += each.count * communication.on_medium(count, size, ranks)
        sizes = [*each.sent, *each.received]
        largest = max((m.bytes for m in sizes), default=0)
        through = each.ways * each.stages * each.count * communication.one_way(largest, ranks)
        handling = each.count * communication.pipeline(each.sent, each.received, ranks)
        filling = max(filling, work * each.stages / each.chunks)
        passing = max(passing, through + handling)
    return filling, max(passing, on_medium)
