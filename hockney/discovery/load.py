# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Load of the machine by other processes between two moments.

The kernel counts busy time for each processor. getrusage(2) contains hockney's own part, including all
launches that have ended and been waited for. The difference is the load by other processes. Both moments must
therefore be outside of any launch: one before it starts, one after it has ended.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from hockney.discovery.cpu import ROOT, allowed_cpus, read_text

SHORTEST_S = 0.2  # the kernel counts in ticks of 10 ms, so shorter periods are useless


@dataclass(frozen=True)
class ProcessorTimes:
    """Busy time, time taken by the hypervisor, and total time (s)."""

    busy_s: float
    steal_s: float
    total_s: float


@dataclass(frozen=True)
class Moment:
    """A moment, in seconds: wall clock, hockney's own CPU time, and the time of the allowed processors (None
    if unknown)."""

    wall_s: float
    own_s: float
    processors: ProcessorTimes | None


@dataclass(frozen=True)
class Load:
    """Load between two moments. `outside_cores` is the CPU time used by other processes, in processors;
    `steal` the fraction of time taken by the hypervisor. Both are None if unknown or if the time was too
    short."""

    outside_cores: float | None
    steal: float | None


def moment(root: Path = ROOT) -> Moment:
    own = os.times()
    own_s = own.user + own.system + own.children_user + own.children_system
    rows = counters(read_text(root / "proc/stat"), allowed_cpus())
    if not rows:
        return Moment(time.monotonic(), own_s, None)
    tick = os.sysconf("SC_CLK_TCK")
    # proc_stat(5): user nice system idle iowait irq softirq steal guest guest_nice; user contains guest
    user, nice, kernel, idle, iowait, irq, softirq, steal = (
        sum(row[i] for row in rows) / tick for i in range(8)
    )
    busy = user + nice + kernel + irq + softirq
    return Moment(time.monotonic(), own_s, ProcessorTimes(busy, steal, busy + idle + iowait + steal))


def counters(stat: str, cpus: tuple[int, ...]) -> list[list[int]]:
    """The rows of /proc/stat for `cpus`, without their names; older kernels have fewer columns."""
    wanted = {f"cpu{cpu}" for cpu in cpus}
    rows = [line.split() for line in stat.splitlines() if line.startswith("cpu")]
    return [[int(n) for n in (*row[1:9], *["0"] * 8)][:8] for row in rows if row[0] in wanted]


def load_between(before: Moment, after: Moment) -> Load:
    wall = after.wall_s - before.wall_s
    then, now = before.processors, after.processors
    if wall < SHORTEST_S or then is None or now is None:
        return Load(None, None)
    outside = (now.busy_s - then.busy_s) - (after.own_s - before.own_s)
    total = now.total_s - then.total_s
    steal = max(0.0, (now.steal_s - then.steal_s) / total) if total > 0 else None
    return Load(max(0.0, outside / wall), steal)
