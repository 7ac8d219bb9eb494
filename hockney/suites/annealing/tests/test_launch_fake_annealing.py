# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Annealing in the fake world: its results are the world's parameters."""

from __future__ import annotations

import pytest

from hockney.core.record import Record
from hockney.launch.fake import FakeLauncher
from hockney.launch.fake_world import World
from hockney.launch.launcher import LaunchOptions
from hockney.system.bundled import bundled_catalog, catalog_with

CATALOG = catalog_with(bundled_catalog(), ["annealing"])
WORLD = World(noise=0, launch_noise=0, tail=0, catalog=CATALOG)


def measured(words: str, ranks: int = 4, world: World = WORLD) -> Record:
    case = CATALOG.case(f"annealing {words}", ranks)
    options = LaunchOptions("0.0", 0, 1e6, max_repetitions=6)
    (record,) = [line for line in FakeLauncher(world).run([case], ranks, options) if isinstance(line, Record)]
    return record


def test_every_declared_metric_has_its_number_of_values():
    record = measured("temperatures=7 seeds=3")
    declared = {metric.name: metric for metric in CATALOG.workload("annealing").metrics}
    assert record.metrics.keys() == declared.keys()
    for name, series in record.metrics.items():
        expected = 7 if declared[name].per == "superstep" else len(record.times_s)
        assert len(series.values) == expected * (4 if declared[name].over_ranks == "each" else 1), name
    assert record.metrics["run_seed"].values == [1, 2, 3, 1, 2, 3]
    assert {"digest", "instance", "optimum"} <= record.labels.keys()


def test_uneven_ranks_wait_until_walkers_move():
    even = measured("").times_s[0]
    uneven = measured("shares=1:1:1:3")
    balanced = measured("shares=1:1:1:3 balance=yes")
    assert uneven.times_s[0] == pytest.approx(2 * even, rel=0.1)
    # 4 ranks of the mean speed have 4/5 of the speed of these together
    assert 0.8 * even < balanced.times_s[0] < even
    assert balanced.metrics["moved_walkers"].values[0] > 0 == uneven.metrics["moved_walkers"].values[0]
    assert sum(balanced.metrics["rank_steps"].values[:4]) == balanced.metrics["total_steps"].values[0]


def test_the_time_to_target_is_the_end_of_the_round_that_reaches_it():
    trace = measured("temperatures=9")
    best, ends = trace.metrics["round_best"].values, trace.metrics["round_end"].values
    assert best == sorted(best, reverse=True) and ends[-1] == pytest.approx(trace.times_s[-1])
    assert best[-1] == pytest.approx(trace.metrics["best_energy"].values[-1])
    target = (best[3] + best[4]) / 2
    assert measured(f"temperatures=9 target={target}").metrics["target_time"].values[-1] == pytest.approx(
        ends[4]
    )
    assert measured("temperatures=9 target=1").metrics["target_time"].values == [-1] * 6
    assert trace.metrics["target_time"].values == [-1] * 6
