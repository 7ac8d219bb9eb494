# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A few launches that only visit two cases as often as possible: computing, which needs just a core, and
short messages between two cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass

from hockney.core.binding import Cores
from hockney.core.case import Case, parse_canonical
from hockney.core.catalog import Catalog
from hockney.core.record import Launch, Line, Record, RunRecords
from hockney.discovery.load import Load, load_between, moment
from hockney.launch.launcher import Launcher, LaunchOptions
from hockney.measurement.launch_count import TYPICAL_COST_S, VISITS, launch_count
from hockney.models.statistics import MeasuredNoise, launch_times, noise

COMPUTING, MESSAGES = "compute work=20us", "pingpong bytes=8"
ALONE_SHARE = 0.2
"""Fraction of the time for a single rank."""
USUAL_SHARE = 0.5
"""Fraction of the remaining time for the two cores to which ranks are bound, if there are other pairs."""
MOST_PAIRS = 4
MOST_LAUNCHES = 6
"""On the usual two cores, to measure how much launches differ."""
LAUNCH_S = 1.0
"""Minimum for each of them."""

VISIT_S = 0.25e-3
"""Shorter than any visit, so that visits continue until the time is up."""
REPETITIONS = 30
"""Per visit."""
UNREACHABLE = 1e-6
"""A precision that no case reaches, because it would not be visited any more."""

BUDGETS_S = (30.0, 60.0, 300.0)

Launchers = Callable[[Cores], Launcher]


@dataclass(frozen=True)
class WatchedCase:
    """One case on the cores `cpus`, as reported by the ranks. `usual`: whether two ranks are bound there by
    default."""

    case: Case
    cpus: tuple[str, ...]
    usual: bool
    visits: int
    preempted: int
    noise: MeasuredNoise


@dataclass(frozen=True)
class Watch:
    series: tuple[WatchedCase, ...]
    load: Load
    seconds: float

    @property
    def preempted(self) -> float:
        """The share of visits during which a rank was preempted."""
        return sum(s.preempted for s in self.series) / max(1, sum(s.visits for s in self.series))


def watch(launchers: Launchers, cores: Cores, catalog: Catalog, seconds: float, one_host: bool) -> Watch:
    """The noise of one core and of a few pairs of cores, `seconds` in all without starting ranks. On several
    hosts only of the pair that the MPI chooses. Raises LaunchFailed."""
    before = moment()
    left = (1 - ALONE_SHARE) * seconds
    others = other_pairs(cores) if one_host else []
    usual = USUAL_SHARE * left if others else left
    launches = max(1, min(MOST_LAUNCHES, int(usual / LAUNCH_S)))
    series = _watched(_launch(launchers(cores), catalog, 1, ALONE_SHARE * seconds, 0), usual=False)
    lines: list[Line] = []
    for index in range(1, launches + 1):
        lines += _launch(launchers(cores), catalog, 2, usual / launches, index)
    series += _watched(lines, usual=True)
    for index, pair in enumerate(others, start=launches + 1):
        share = (left - usual) / len(others)
        series += _watched(_launch(launchers(pair), catalog, 2, share, index), usual=False)
    after = moment()
    return Watch(tuple(series), load_between(before, after), after.wall_s - before.wall_s)


def other_pairs(cores: Cores) -> list[Cores]:
    """Distinct pairs besides the first two cores, to which ranks are bound: the first and the last, the last
    two, the first and the middle one."""
    last = len(cores.cpus) - 1
    wanted = [(0, last), (last - 1, last), (0, len(cores.cpus) // 2)]
    pairs = {pair for pair in wanted if pair[0] >= 0 and pair[0] != pair[1]} - {(0, 1)}
    return [
        Cores(tuple(cores.cpus[i] for i in pair), tuple(cores.logical[i] for i in pair), 2, True)
        for pair in sorted(pairs, key=wanted.index)
    ][: MOST_PAIRS - 1]


SURVEYED = 180
"""Approximate number of cases of a survey on two ranks."""


def reachable(found: MeasuredNoise) -> dict[float, float | None]:
    """The approximate precision that a survey reaches, by its budget in seconds."""
    reached = {}
    for budget in BUDGETS_S:
        launches = launch_count(budget, TYPICAL_COST_S, 1, SURVEYED)
        reached[budget] = found.precision(budget, launches, launches * VISITS)
    return reached


def _launch(launcher: Launcher, catalog: Catalog, ranks: int, seconds: float, index: int) -> list[Line]:
    plan = [catalog.case(text, ranks) for text in (COMPUTING, MESSAGES)[:ranks]]
    visits = max(2, int(seconds / len(plan) / VISIT_S))
    options = LaunchOptions(
        f"noise.{index}",
        index,
        seconds,
        precision=UNREACHABLE,
        max_repetitions=REPETITIONS * visits,
        visits=visits,
    )
    with closing(launcher.run(plan, ranks, options)) as lines:
        return [line for line in lines if isinstance(line, Launch | Record)]


def _watched(lines: Iterable[Line], usual: bool) -> list[WatchedCase]:
    """The cases of launches of the same ranks; those with too few visits are left out."""
    run = RunRecords.of(lines)
    cpus = tuple(rank.cpus for rank in run.launches[-1].ranks) if run.launches else ()
    watched = []
    for case, records in run.by_case().items():
        times = [launch_times(record) for record in records if record.times_s]
        found = noise([launch.visits for launch in times], [launch.at_s for launch in times])
        if found is not None:
            lost = [count > 0 for record in records for count in record.visits.preempted]
            watched.append(WatchedCase(parse_canonical(case), cpus, usual, len(lost), sum(lost), found))
    return watched
