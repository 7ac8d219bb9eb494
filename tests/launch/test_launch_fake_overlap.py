# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The fake world hides what its costs imply, and its records agree with the definitions of their metrics."""

import numpy as np
import pytest

from hockney.core.record import Record
from hockney.launch.fake import FakeLauncher
from hockney.launch.fake_world import PROGRESS_VARIABLE, FakeOverlap, World
from hockney.launch.launcher import LaunchOptions
from hockney.system.bundled import bundled_catalog, catalog_with

TRUE = FakeOverlap()
CATALOG = catalog_with(bundled_catalog(), ["overlap"])  # and the others of its group
NOISY = World(catalog=CATALOG)
QUIET = World(noise=0, launch_noise=0, tail=0, catalog=CATALOG)
LONG = 1 << 20


def record(words, ranks=2, thread=False, world=QUIET):
    case = CATALOG.case(words, ranks)
    options = LaunchOptions("0.0", 0, 1.0, variables=((PROGRESS_VARIABLE, "1"),) if thread else ())
    (found,) = [line for line in FakeLauncher(world).run([case], ranks, options) if isinstance(line, Record)]
    return found


def typical(found, name):
    return float(np.median(found.metrics[name].values))


@pytest.mark.parametrize(
    ("words", "thread", "hidden"),
    [
        ("overlap_message bytes=8", False, 1),
        (f"overlap_message bytes={LONG}", False, 0),
        (f"overlap_message bytes={LONG} tests=1", False, 1 / 2),
        (f"overlap_message bytes={LONG} tests=9", False, 9 / 10),
        (f"overlap_message bytes={LONG}", True, 1),
        ("overlap operation=ibcast bytes=8", False, 0),
        ("overlap operation=ibcast bytes=8", True, 1),
        ("overlap_ibarrier tests=3", False, 3 / 4),
        ("overlap_message bytes=8 duration=1ms", True, 1),
    ],
)
def test_what_is_hidden_depends_on_size_tests_and_thread(words, thread, hidden):
    found = record(words, thread=thread)
    pure, cpu, alone = (typical(found, name) for name in ("pure", "cpu", "alone"))
    parts = {name: typical(found, name) for name in ("posting", "computing", "testing", "waiting")}
    assert sum(parts.values()) == pytest.approx(found.times_s[0])
    left = pure - parts["posting"]
    assert parts["waiting"] == pytest.approx(left - hidden * min(left, cpu))
    taken = TRUE.thread if thread else TRUE.interrupts
    assert typical(found, "stolen") == pytest.approx(100 * hidden * taken)
    assert parts["computing"] == pytest.approx(alone * (1 + hidden * taken))
    assert typical(found, "step") == pytest.approx(TRUE.step_s * (1 + TRUE.idle_thread * thread))


@pytest.mark.parametrize("words", ["overlap_message bytes=65536 tests=4", "overlap operation=iallreduce"])
def test_every_repetition_agrees_with_the_definitions(words):
    found = record(words, world=NOISY)
    times = np.array(found.times_s)
    of = {name: np.array(series.values) for name, series in found.metrics.items()}
    shorter = np.minimum(of["pure"], of["cpu"])
    hidden = np.clip((of["pure"] + of["cpu"] - times) / shorter, 0, 1)
    assert of["overlap"] == pytest.approx(100 * hidden) and of["hidden"] == pytest.approx(hidden * shorter)
    assert of["ratio"] == pytest.approx(times / (of["pure"] + of["cpu"]))
    assert of["availability"] == pytest.approx(100 * of["cpu"] / times)
    assert of["stolen"] == pytest.approx(100 * (of["computing"] / of["alone"] - 1))


def test_polling_gives_more_bandwidth_the_more_often_and_less_availability():
    often, seldom = (record(f"availability bytes=100000 interval={s} polls=20") for s in (1e-5, 1e-2))
    assert typical(often, "availability") < typical(seldom, "availability") < 100
    assert typical(often, "bandwidth") > typical(seldom, "bandwidth") > 0
    threaded = record("availability bytes=100000 interval=1e-5 polls=20", thread=True)
    assert typical(threaded, "messages") == pytest.approx(2 * typical(often, "messages"))
