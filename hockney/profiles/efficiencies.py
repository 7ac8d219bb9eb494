# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Efficiencies of a parallel program as the POP Centre of Excellence defines them (pop-coe.eu, 'POP standard
metrics for parallel performance analysis'): parallel efficiency is load balance times communication
efficiency.

With the computation c of each rank, its time outside of MPI, and the elapsed time T: load balance = mean(c) /
max(c), communication efficiency = max(c) / T. Communication efficiency is the product of serialisation and
transfer, whose separation needs the program's time on an ideal network, and with it a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.statistics import center, estimate, half_width
from hockney.profiles.profile import Launch

FEWEST_LAUNCHES = 3
"""The minimum number of launches for an interval."""
NEEDS_TRACE = "Serialisation and transfer, the factors of communication efficiency, need a trace."


@dataclass(frozen=True)
class Efficiencies:
    """The parallel efficiencies of one launch. On several hosts, load balance is the product of the balance
    `between_hosts`, computed from each host's mean computation, and the balance `within_hosts`."""

    load_balance: float
    communication: float
    between_hosts: float
    within_hosts: float
    slowest_rank: int
    """The rank that computes longest, by its place in the launch."""

    @property
    def parallel(self) -> float:
        return self.load_balance * self.communication


def efficiencies(launch: Launch) -> Efficiencies:
    computation = np.array([rank.outside_s for rank in launch.ranks])
    most = float(computation.max(initial=0.0))
    elapsed = launch.elapsed_s
    if most <= 0 or elapsed <= 0:
        return Efficiencies(1.0, 0.0 if elapsed > 0 else 1.0, 1.0, 1.0, 0)
    mean = float(computation.mean())
    hosts = sorted({rank.host for rank in launch.ranks})
    of_hosts = [
        float(np.mean([rank.outside_s for rank in launch.ranks if rank.host == host])) for host in hosts
    ]
    between = mean / max(of_hosts) if max(of_hosts) > 0 else 1.0
    balance = min(1.0, mean / most)
    between = min(1.0, max(balance, between))
    return Efficiencies(
        balance, min(1.0, most / elapsed), between, balance / between, int(np.argmax(computation))
    )


def over_values(positive: Sequence[float]) -> Estimate:
    """The robust centre of a positive quantity of several launches, with a 95% interval if there are enough
    of them. Of zeros there is no interval."""
    values = np.array(positive)
    if len(values) == 1 or values.min() <= 0:
        return Estimate(float(np.median(values)), None, None)
    logs = np.log(values)
    middle = float(center(logs))
    if len(values) < FEWEST_LAUNCHES:
        return Estimate(float(np.exp(middle)), None, None)
    half = float(half_width(logs, np.nan))
    return estimate(np.exp(middle), np.exp(middle - half), np.exp(middle + half))
