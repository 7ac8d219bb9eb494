# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How fast one rank computes in each phase of a kernel, from a run on one rank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from hockney.core.fit import Estimate
from hockney.core.platform import Platform
from hockney.core.record import Record
from hockney.models.loggp_sim import nodes_of
from hockney.models.programs.program import Program, Work


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
