# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Efficiencies of a parallel program as defined by the POP Centre of Excellence (pop-coe.eu, 'POP standard
metrics for parallel performance analysis'): parallel efficiency is load balance times communication
efficiency.

Let c be the computation of each rank (its time outside of MPI) and T the elapsed time. Then load balance =
mean(c) / max(c), and communication efficiency = max(c) / T. Communication efficiency is the product of
serialisation and transfer; separating these requires the program's time on an ideal network, and thus a
trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.statistics import center, estimate, half_width
from hockney.profiles.profile import Launch

MIN_LAUNCHES = 3
"""The minimum number of launches for an interval."""
NEEDS_TRACE = "Serialisation and transfer, the factors of communication efficiency, need a trace."


@dataclass(frozen=True)
class Efficiencies:
    """The parallel efficiencies of one launch. With more than one host, load balance is the product of the
    balance `between_hosts`, computed from the mean computation of each host, and the balance
    `within_hosts`."""

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
    max_computation = float(computation.max(initial=0.0))
    elapsed = launch.elapsed_s
    if max_computation <= 0 or elapsed <= 0:
        return Efficiencies(1.0, 0.0 if elapsed > 0 else 1.0, 1.0, 1.0, 0)
    mean_computation = float(computation.mean())
    hosts = sorted({rank.host for rank in launch.ranks})
    host_means = [
        float(np.mean([rank.outside_s for rank in launch.ranks if rank.host == host])) for host in hosts
    ]
    between_hosts = mean_computation / max(host_means) if max(host_means) > 0 else 1.0
    balance = min(1.0, mean_computation / max_computation)
    between_hosts = min(1.0, max(balance, between_hosts))
    return Efficiencies(
        balance,
        min(1.0, max_computation / elapsed),
        between_hosts,
        balance / between_hosts,
        int(np.argmax(computation)),
    )


def over_values(quantities: Sequence[float]) -> Estimate:
    """The robust centre of a positive quantity over launches, with a 95% interval if there are enough
    launches. There is no interval if a value is zero."""
    values = np.array(quantities)
    if len(values) == 1 or values.min() <= 0:
        return Estimate(float(np.median(values)), None, None)
    logs = np.log(values)
    log_center = float(center(logs))
    if len(values) < MIN_LAUNCHES:
        return Estimate(float(np.exp(log_center)), None, None)
    log_width = float(half_width(logs, np.nan))
    return estimate(np.exp(log_center), np.exp(log_center - log_width), np.exp(log_center + log_width))
