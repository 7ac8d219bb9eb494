# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The doctor's findings about noise, with a launcher that makes up visits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from hockney import measurement
from hockney.core.errors import EnvironmentProblem
from hockney.core.layout import Cores
from hockney.core.record import Launch, Visits
from hockney.discovery.load import Load
from hockney.launch.fake import FakeLauncher
from hockney.launch.launcher import LaunchFailed
from hockney.measurement.noise import (
    NoiseWatch,
    WatchedCase,
    noise_explanations,
    noise_findings,
    other_core_pairs,
    watch_noise,
)
from hockney.models.statistics.noise import measure_noise

CATALOG = measurement.bundled_catalog()
TWO = Cores((0, 1), (0, 1), 2)


class Visiting(FakeLauncher):
    """Visits every 5 ms of the budget, each of one repetition; the slow mode is `factor` times slower and
    begins after `slow_from` of the time, every `period_s`."""

    PREEMPTED_EVERY = 10

    def __init__(self, factor: float = 1.0, period_s: float = 1.0, slow_from: float = 0.5) -> None:
        super().__init__()
        self.factor, self.period_s, self.slow_from = factor, period_s, slow_from
        self.watched_s = 0.0
        self.launches: list[tuple[Sequence[str], int, float]] = []

    def run(self, plan, ranks, options):
        self.launches.append(([case.workload for case in plan], ranks, options.budget_s))
        random = np.random.default_rng(options.index)
        for line in super().run(plan, ranks, options):
            if hasattr(line, "times_s"):
                at = np.arange(0, options.budget_s, 5e-3)
                began, self.watched_s = self.watched_s, self.watched_s + options.budget_s / len(plan)
                slow = np.mod(began + at, self.period_s) >= self.slow_from * self.period_s
                times = 1e-6 * np.where(slow, self.factor, 1.0) * np.exp(0.01 * random.normal(size=len(at)))
                visits = Visits(
                    after_s=at.tolist(),
                    repetitions=[1] * len(at),
                    preempted=[int(k % self.PREEMPTED_EVERY == 0) for k in range(len(at))],
                )
                line = msgspec.structs.replace(line, times_s=times.tolist(), visits=visits)
            yield line


class Undisturbed(Visiting):
    """One in a hundred visits is preempted, instead of one in ten."""

    PREEMPTED_EVERY = 100


def findings_of(launcher: FakeLauncher, seconds: float = 10.0, cores: Cores = TWO):
    return list(noise_findings(lambda _: launcher, cores, CATALOG, seconds, True))


def test_two_cores_are_watched_alone_and_together():
    launcher = Visiting()
    seen = watch_noise(lambda _: launcher, TWO, CATALOG, 10.0, True)
    assert launcher.launches == [(["compute"], 1, 2.0), *[(["compute", "pingpong"], 2, 8 / 6)] * 6]
    assert [(s.case.workload, s.case.ranks, s.is_default_pair) for s in seen.series] == [
        ("compute", 1, False),
        ("compute", 2, True),
        ("pingpong", 2, True),
    ]
    assert seen.series[1].cpus == ("0", "1") and seen.preempted_share == pytest.approx(0.1, rel=0.05)


def test_more_cores_share_the_time():
    used: list[tuple[int, ...]] = []
    launcher = Visiting()

    def launchers(cores: Cores) -> FakeLauncher:
        used.append(cores.cpus)
        return launcher

    eight = Cores(tuple(range(0, 16, 2)), tuple(range(8)), 8)
    seen = watch_noise(launchers, eight, CATALOG, 10.0, True)
    assert used[5:] == [(0, 14), (12, 14), (0, 8)]
    assert sum(seconds for *_, seconds in launcher.launches) == pytest.approx(10.0)
    assert [s.is_default_pair for s in seen.series] == [False, True, True, *[False] * 6]
    used.clear()
    watch_noise(launchers, eight, CATALOG, 10.0, False)
    assert used == [eight.cpus] * 7, "on several hosts the launcher places the ranks"


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 64])
def test_pairs_are_distinct(count):
    cores = Cores(tuple(range(count)), tuple(range(count)), count)
    pairs = [pair.cpus for pair in other_core_pairs(cores)]
    assert len(pairs) == len(set(pairs)) == (0 if count < 3 else min(3, count - 1))
    assert all(first < second for first, second in pairs) and (0, 1) not in pairs


def test_a_quiet_machine():
    found = {f.code: f for f in quiet(Undisturbed())}
    assert found.keys() >= {"noise-low", "precision-reachable"}
    assert found["noise-low"].verdict == "good" and found["noise-low"].numbers["modes"] is None
    precision = found["precision-reachable"].numbers["precision"]
    assert found["precision-reachable"].numbers["watched_s"] == found["noise-low"].numbers["watched_s"] > 0
    assert precision["30"] > precision["60"] > precision["300"] > 0


def quiet(launcher: FakeLauncher):
    """Findings as if no other program ran here meanwhile."""
    seen = watch_noise(lambda _: launcher, TWO, CATALOG, 10.0, True)
    return list(noise_explanations(replace(seen, load=Load(0.0, 0.0))))


def test_no_precision_is_promised_while_ranks_lose_their_cores():
    found = {f.code: f for f in quiet(Visiting())}
    assert found.keys() >= {"machine-busy", "precision-while-busy"} and "precision-reachable" not in found
    numbers = found["precision-while-busy"].numbers
    assert found["precision-while-busy"].verdict == "note"
    assert set(numbers["precision"].values()) == {None}
    assert 0 < numbers["precision_when_quiet"]["60"] < 0.1


def test_modes_that_change_often():
    found = {f.code: f for f in findings_of(Visiting(factor=1.5))}
    modes = found["noise-high"].numbers["modes"]
    assert modes["slow_s"] == pytest.approx(1.5e-6, rel=0.02)
    assert modes["dwell_s"] == pytest.approx(0.5, rel=0.1)
    assert found["noise-high"].verdict == "note"


def test_modes_that_last_too_long():
    """Alone for 2 s, in pairs for 8 s, with the slow mode in the second half of 10 s."""
    found = [f for f in findings_of(Visiting(factor=1.5, period_s=10.0)) if f.code == "precision-unknown"]
    assert len(found) == 2, "computing and messages"
    assert all(set(f.numbers["precision"].values()) == {None} for f in found)


@pytest.mark.parametrize(
    ("load", "preempted", "code"),
    [
        (Load(0.0, 0.0), 0, "machine-quiet"),
        (Load(None, None), 0, "machine-quiet"),
        (Load(1.5, 0.0), 0, "machine-busy"),
        (Load(0.0, 0.2), 0, "machine-busy"),
        (Load(0.0, 0.0), 300, "machine-busy"),
    ],
)
def test_interference(load, preempted, code):
    case = CATALOG.case("pingpong bytes=8", 2)
    seen = measure_noise([np.zeros(1000)], [np.linspace(0, 10, 1000)])
    assert seen is not None
    series = WatchedCase(case, ("0", "1"), True, 1000, preempted, seen)
    found = {f.code: f for f in noise_explanations(NoiseWatch((series,), load, 11.0))}
    assert ("precision-reachable" in found) == (code == "machine-quiet")
    numbers = found[code].numbers
    assert (numbers["outside_cores"], numbers["steal"]) == (load.outside_cores, load.steal)
    assert numbers["preempted"] == preempted / 1000


def test_what_cannot_be_measured_is_a_note():
    one = Cores((0,), (0,), 1)
    assert [f.code for f in findings_of(Visiting(), cores=one)] == ["noise-not-measured"]
    assert [f.code for f in findings_of(FakeLauncher())] == ["noise-too-few-visits"]


def test_a_launch_that_breaks_is_a_note():
    class Breaking(FakeLauncher):
        def run(self, plan, ranks, options):
            for line in super().run(plan, ranks, options):
                if not isinstance(line, Launch):
                    raise LaunchFailed("WHAT", "WHY", "REMEDY", code="sample")
                yield line

    assert [(f.verdict, f.code) for f in findings_of(Breaking())] == [("note", "noise-launch-failed")]

    def none(_: Cores) -> FakeLauncher:
        raise EnvironmentProblem("WHAT", "WHY", "REMEDY", code="sample")

    assert [f.code for f in noise_findings(none, TWO, CATALOG, 1.0, True)] == ["noise-launch-failed"]
