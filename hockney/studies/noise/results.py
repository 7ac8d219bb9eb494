# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""For each core, the time that it loses, its periodic detours, and its excess over the other cores; for all
cores together, the cost on many ranks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.noise.costs import MessageTimes, NoiseCost, noise_costs
from hockney.models.noise.noisy_cores import Excess, compare_cores
from hockney.models.noise.observations import Core, cores_of
from hockney.models.noise.spectrum import Component, Spectrum, components, spectrum
from hockney.pages.evidence import Evidence, StudyResults
from hockney.studies.noise.plan import FIXED_TIME, FIXED_WORK, PING_PONG

ASSUMED_LATENCY_S = 2e-6
"""Of a message, if none was measured."""
GRAIN_S = 1e-3
COST_RANKS = (16, 128, 1024)
MANY_RANKS = 1024
MANY_RANKS_GRAINS_S = (100e-6, 10e-3)
CONCLUSIVE_EXCESS = 0.01
"""If a core with this excess would not be named, the comparison of cores is inconclusive."""


@dataclass(frozen=True)
class CoreResult:
    """A core by fixed work quanta, with the share lost by fixed time quanta (None if not measured) and its
    excess (None if it cannot be compared)."""

    core: Core
    share_by_time: Estimate | None
    excess: Excess | None
    spectrum: Spectrum | None
    components: tuple[Component, ...]

    @property
    def is_noisy(self) -> bool:
        return self.excess is not None and self.excess.is_noisy

    def length_quantile(self, probability: float) -> float | None:
        """Quantile of the detours' lengths (s); None without detours."""
        lengths = self.core.lengths_s
        return float(np.quantile(lengths, probability)) if len(lengths) else None


@dataclass(frozen=True)
class NoiseResults(StudyResults):
    @cached_property
    def cores_by_rank(self) -> tuple[CoreResult, ...]:
        by_work, by_time = self._observed(FIXED_WORK), {c.name: c for c in self._observed(FIXED_TIME)}
        excess = {item.core: item for item in compare_cores(by_work)}
        results = []
        for core in by_work:
            density = spectrum(core, len(by_work))
            results.append(
                CoreResult(
                    core,
                    by_time[core.name].share if core.name in by_time else None,
                    excess.get(core.name),
                    density,
                    components(core, density),
                )
            )
        return tuple(results)

    @cached_property
    def cores(self) -> tuple[CoreResult, ...]:
        """The cores, noisiest first."""
        return tuple(sorted(self.cores_by_rank, key=lambda result: -result.core.share.value))

    @property
    def noisy(self) -> tuple[CoreResult, ...]:
        return tuple(result for result in self.cores if result.is_noisy)

    @cached_property
    def typical_share(self) -> float:
        """The median of the cores' shares."""
        return float(np.median([result.core.share.value for result in self.cores]))

    @property
    def detectable_excess(self) -> float | None:
        """The largest excess that would not be found; None if cores are not compared."""
        return max((r.excess.detectable for r in self.cores if r.excess is not None), default=None)

    @cached_property
    def latency(self) -> Estimate | None:
        """The measured time of an empty message; None if it was not measured."""
        measured = [m for m in self.evidence.measured if m.case.workload == PING_PONG and m.size == 0]
        return max((m.summary.typical for m in measured), key=lambda time: time.value, default=None)

    @property
    def message(self) -> MessageTimes:
        return MessageTimes.of_latency(self.latency.value if self.latency else ASSUMED_LATENCY_S)

    @cached_property
    def costs(self) -> tuple[NoiseCost, ...]:
        """The cost of the observed noise, if all ranks ran on cores like the observed ones."""
        if not self.cores:
            return ()
        combinations = (
            *((ranks, GRAIN_S) for ranks in COST_RANKS),
            *((MANY_RANKS, grain_s) for grain_s in MANY_RANKS_GRAINS_S),
        )
        return noise_costs([result.core for result in self.cores_by_rank], combinations, self.message)

    def _observed(self, workload: str) -> tuple[Core, ...]:
        run = self.evidence.run
        records = [record for record in run.records if record.parse_case().workload == workload]
        return cores_of(records, run.launches)


def is_conclusive(evidence: Evidence) -> bool:
    run = NoiseResults.of(evidence)
    detectable = run.detectable_excess
    is_decided = detectable is not None and detectable <= CONCLUSIVE_EXCESS
    return bool(run.noisy) or len(run.cores) == 1 or is_decided or evidence.machine.is_exact
