# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Surveys of fake machines, and their results, for the tests of calibration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from hockney import measurement, models, studies
from hockney.core.case import Case
from hockney.core.layout import Layout, Level
from hockney.core.record import Clock, RunRecords
from hockney.core.settings import Settings
from hockney.launch.fake import FakeLauncher, FakeNodes
from hockney.launch.fake_world import World
from hockney.machines.simulated.calibrate import Survey
from hockney.studies import Options
from hockney.system.bundled import bundled_catalog


def free_clock(monkeypatch) -> None:
    """A fake machine's times include no cost of its clock, whatever its stated cost."""
    monkeypatch.setattr("hockney.launch.fake.CLOCK", Clock(overhead_s=1e-11, resolution_s=1e-11))


def survey_of(folder: Path, world: World | None = None, ranks: tuple[int, ...] = ()) -> Survey:
    """A whole survey of a fake machine."""
    bench = measurement.fake_bench(FakeLauncher(world or World()))
    cases = studies.find_study("survey").plan(Options(ranks=ranks), bench.catalog, bench.machine)
    run = measurement.create_run(folder, cases, Settings("survey", seed=1), bench)
    measurement.measure(run, bench, lambda event: None)
    return measurement.calibration_survey(run)[0]


def placed_survey_of(folder: Path, world: World, layout: Layout, within: tuple[Level, ...] = ()) -> Survey:
    """A survey of a fake machine with several nodes, or with several levels within a node."""
    launcher = FakeLauncher(world, nodes=FakeNodes(layout, within))
    bench = measurement.find_levels(measurement.fake_bench(launcher, cores=layout.ranks_per_node))
    cases = studies.find_study("survey").plan(Options(), bench.catalog, bench.machine)
    run = measurement.create_run(folder, cases, Settings("survey", seed=1), bench)
    measurement.measure(run, bench, lambda event: None)
    return measurement.calibration_survey(run)[0]


def measured(real: Survey, run: RunRecords) -> Survey:
    """`real` with other lines, fitted again."""
    return Survey(real.name, models.fit_all(run, bundled_catalog(), cores=None), run, real.machine)


def without(real: Survey, *workloads: str) -> Survey:
    records = tuple(r for r in real.run.records if r.parse_case().workload not in workloads)
    return measured(real, RunRecords(real.run.launches, records))


def on_hosts(real: Survey, hosts: Sequence[Sequence[str]]) -> Survey:
    """The launches of `real` with their ranks on these hosts, one list per launch, cyclically."""
    launches = []
    for k, launch in enumerate(real.run.launches):
        names = hosts[k % len(hosts)]
        ranks = [
            msgspec.structs.replace(rank, host=names[i % len(names)], node="")
            for i, rank in enumerate(launch.ranks)
        ]
        launches.append(msgspec.structs.replace(launch, ranks=ranks))
    return Survey(real.name, real.fits, RunRecords(tuple(launches), real.run.records), real.machine)


def pingpong(size: int) -> Case:
    return Case.of("pingpong", 2, bytes=size, buffers="hot")
