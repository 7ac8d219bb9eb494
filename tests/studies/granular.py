# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of the granularity study on the fake machine, in worlds with known parameters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hockney import api, measurement, studies
from hockney.core.case import Case
from hockney.core.settings import Settings
from hockney.launch.fake import FakeLauncher, Fault
from hockney.launch.fake_world import World
from hockney.store import RunFolder
from hockney.studies import Evidence, Options

SMALL = Options(ranks=(2, 4), sizes=(4, 400, 40000), parameters={"work": (1e-5, 1e-4, 1e-3)})
STUDY = studies.find_study("granularity")
CATALOG = measurement.bundled_catalog()
MACHINE = measurement.fake_bench("fake").machine


@dataclass(frozen=True)
class Odd(World):
    """A world in which a prediction's assumptions fail: computing takes `together` times as long if several
    ranks compute, an exchange `slow` times the cost of its messages, work with its exchange `extra_s` longer
    than both."""

    together: float = 1.0
    slow: float = 1.0
    extra_s: float = 0.0

    def exchange(self, ranks: int, one_way: float) -> float:
        return self.slow * super().exchange(ranks, one_way)

    def time(self, case: Case) -> float:
        time = super().time(case)
        if case.ranks > 1 and (work := self.preset_work(case)) is not None:
            time += (self.together - 1) * work.seconds
            time += self.extra_s if case.workload == "granularity" else 0.0
        return time


def run(
    path: Path,
    options: Options = SMALL,
    world: World | None = None,
    faults: tuple[Fault, ...] = (),
    launches: int = 3,
    cores: int = 4,
    budget_s: float = 120.0,
) -> RunFolder:
    """Plan and measure; returns the resulting folder."""
    bench = measurement.fake_bench(FakeLauncher(world or World(), faults), cores)
    cases = STUDY.plan(options, CATALOG, bench.machine)
    settings = Settings("granularity", seed=1, launches=launches, budget_s=budget_s)
    folder = measurement.create_run(path, cases, settings, bench)
    measurement.measure(folder, bench, lambda event: None)
    return folder


def evidence(folder: RunFolder) -> Evidence:
    return api.load(folder.path).evidence
