# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The predicted time of a kernel: in each phase, the operations of the busiest rank at the rate of one rank
alone, and the messages and collectives as they cost between ranks that do nothing else.

The rates are those of a run on one rank, those of a machine's description, or given by the user.

A sweep through a pipeline takes its work, that of `stages` chunks until the last rank begins (or, with two
ways, until the first one has the last result), the messages of these stages, and the handling of all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path
from statistics import fmean, median

from hockney.core.fit import Estimate
from hockney.core.platform import Platform
from hockney.core.record import Record
from hockney.models.loggp_sim import nodes_of
from hockney.models.programs.communication import Communication
from hockney.models.programs.program import Phase, Pipeline, Program, Share, Work

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


@dataclass(frozen=True)
class Rates:
    """Seconds of an operation in each phase, and in `others` (those without official operations on one
    rank), times `factor`. `low` and `high` are the factors of the ends of the interval of the run's time.
    `size` is the class that was measured, "" if the rate was given."""

    by_phase: Mapping[str, float] = field(default_factory=dict)
    others: float = 0.0
    factor: float = 1.0
    low: float = 1.0
    high: float = 1.0
    size: str = ""

    def seconds(self, work: Work) -> float:
        return self.factor * work.operations * self.by_phase.get(work.like, self.others)


@dataclass(frozen=True)
class RateSource:
    """The run that gave the rates of one rank, and the class that was measured there; or the operations per
    second that were given, or described."""

    run: Path | None = None
    size: str = ""
    operations_per_second: float = 0.0
    described: bool = False


def described_rate(platform: Platform, kernel: str) -> float:
    """Operations per second of a core, by the description's own rate of this kernel, or else by the speed of
    its cores."""
    return platform.rates.get(kernel, platform.flops)


def described_startup(platform: Platform, ranks: int) -> float:
    """Seconds that a message of any size costs a rank whose neighbors send one too: of its own and of the
    receiver's, or, on a medium, of a message of every node. 0 if the description has neither."""
    nodes = int(nodes_of(platform, ranks)[-1]) + 1
    handling = sum(platform.segment(0, on_node=nodes == 1).handling(0))
    return max(handling, nodes * platform.network.medium_message_s if nodes > 1 else 0.0)


def uniform(operations_per_second: float) -> Rates:
    """Rates that are the same in all phases."""
    return Rates(others=1 / operations_per_second)


def measured_rates(program: Program, records: Iterable[Record], time: Estimate) -> Rates | None:
    """The rates from the launches of a program on one rank, which took `time`: one for each phase that they
    report. None without launches."""
    launches = [seconds for record in records if (seconds := _by_phase(record))]
    if not launches:
        return None
    typical = {name: median(launch.get(name, 0.0) for launch in launches) for name in launches[0]}
    rates = {
        phase.name: typical[phase.name] / phase.busiest.operations
        for phase in program.phases
        if phase.busiest.operations > 0 and phase.name in typical
    }
    whole = sum(typical.values()) / program.operations
    low = 1.0 if time.low is None or not time.value else time.low / time.value
    high = 1.0 if time.high is None or not time.value else time.high / time.value
    return Rates(rates, whole, low=low, high=high, size=program.size)


def _by_phase(record: Record) -> dict[str, float]:
    """Seconds of a run that one rank computes in each phase."""
    series = record.metrics.get("phase_computation")
    names = record.labels.get("phases", "").split(",")
    return dict(zip(names, series.values, strict=False)) if series is not None else {}
