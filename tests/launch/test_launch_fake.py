# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The fake launcher has the engine's guarantees: order, budget, precision; and faults where requested."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hockney.core.catalog import decode_catalog
from hockney.core.errors import UsageError
from hockney.core.record import End, Failure, Launch, Record, Start
from hockney.launch.fake import FakeLauncher, Fault, achieved_precision, parse_fake_launcher
from hockney.launch.fake_world import World
from hockney.launch.launcher import LaunchFailed, LaunchOptions

CATALOG = decode_catalog((Path(__file__).parents[2] / "contract/golden/catalog.json").read_bytes())
PLAN = [CATALOG.case(text) for text in ("pingpong bytes=1KiB", "barrier sync=window", "bcast bytes=4MiB")]


def lines(launcher, plan=PLAN, budget=1.0, **more):
    return list(launcher.run(plan, 2, LaunchOptions("0.0", 0, budget, **more)))


def test_it_answers_in_order_and_near_the_truth():
    output = lines(FakeLauncher())
    assert [type(line) for line in output] == [Launch, *[Start, Record] * 3, End]
    for case, record in zip(PLAN, [line for line in output if isinstance(line, Record)], strict=True):
        assert record.case == case.line
        assert np.median(record.times_s) == pytest.approx(World().time(case), rel=0.05)
        assert record.stop.reason == "precision" and record.stop.achieved <= 0.02


def test_same_seed_same_answer_other_launch_another():
    def first(index, seed=1):
        options = LaunchOptions("x", index, 1.0)
        return next(
            r for r in FakeLauncher(World(seed=seed)).run(PLAN, 2, options) if isinstance(r, Record)
        ).times_s

    assert first(0) == first(0)
    assert first(0) != first(1)
    assert first(0) != first(0, seed=2)


def test_the_budget_ends_what_precision_does_not():
    launcher = FakeLauncher(World(noise=0.5))
    output = lines(launcher, budget=0.02, precision=1e-4)
    assert {line.stop.reason for line in output if isinstance(line, Record)} == {"budget"}
    assert launcher.now() < 0.02 + 0.4 + 0.05


@pytest.mark.parametrize(("kind", "reason"), [("die", "died"), ("hang", "hung")])
def test_it_dies_and_hangs_where_set(kind, reason):
    launcher = FakeLauncher(faults=[Fault(kind, "barrier", times=1)])
    output = []
    with pytest.raises(LaunchFailed) as caught:
        for line in launcher.run(PLAN, 2, LaunchOptions("0.0", 0, 1.0, hang_s=30)):
            output.append(line)
    assert caught.value.case == PLAN[1].line and caught.value.reason == reason
    assert [type(line) for line in output] == [Launch, Start, Record, Start]
    assert (launcher.now() > 30) == (kind == "hang")
    assert len(lines(launcher)) == 8, "once is once"


def test_wrong_payload_and_refusal_are_lines():
    output = lines(FakeLauncher(faults=[Fault("corrupt", "barrier"), Fault("refuse", "bcast ranks=2")]))
    assert [line.verified.errors for line in output if isinstance(line, Record)] == [0, 3]
    assert isinstance(output[-2], Failure) and output[-2].reason == "refused"


def test_a_plan_for_other_ranks_is_refused():
    with pytest.raises(LaunchFailed) as caught:
        list(FakeLauncher().run(PLAN, 3, LaunchOptions("0.0", 0, 1.0)))
    assert caught.value.code == "fake-wrong-ranks" and caught.value.reason == "refused"


@pytest.mark.parametrize(
    ("words", "ranks", "preset_s", "imbalance", "messages"),
    [
        ("compute work=5us", 2, 5e-6, 1, 0),
        ("granularity work=1ms", 1, 1e-3, 1, 0),
        ("granularity work=1ms serial=0.5 shares=3:1", 2, 0.5e-3 + 0.375e-3, 1.5, 2),
        ("granularity work=3ms", 3, 1e-3, 1, 3),
        ("round_robin", 4, None, None, 2),
    ],
)
def test_computing_takes_its_work_and_an_exchange_its_messages(words, ranks, preset_s, imbalance, messages):
    world = World(noise=0, launch_noise=0, tail=0)
    case = CATALOG.case(words, ranks)
    output = FakeLauncher(world).run([case], ranks, LaunchOptions("0.0", 0, 1.0))
    (record,) = [line for line in output if isinstance(line, Record)]
    assert record.times_s[0] == pytest.approx((preset_s or 0) + messages * world.message(8))
    if preset_s is None:
        assert not record.metrics and not record.labels
    else:
        assert record.metric("work") == pytest.approx(preset_s) and record.metric("imbalance") == imbalance
        assert record.batch == (20 if case.workload == "granularity" else 1)


def test_prtt_is_the_papers():
    """Both formulas for the send overhead and the gap give the world's values."""
    world = World(noise=0, launch_noise=0, tail=0)
    once = world.prtt(1, 0, 8)
    assert (world.prtt(16, once, 8) - once) / 15 - once == pytest.approx(world.send_overhead_s)
    assert (world.prtt(16, 0, 8) - once) / 15 == pytest.approx(world.gap_s + 8 * world.gap_per_byte_s)


def test_achieved_covers_the_median():
    random = np.random.default_rng(5)
    assert achieved_precision(random.random(5)) is None
    hits = sum(
        abs(np.median(x) - 1) / np.median(x) <= 2 * achieved_precision(x)
        for x in random.exponential(1 / np.log(2), (200, 101))
    )
    assert hits > 185


def test_words_make_a_fake():
    launcher = parse_fake_launcher("fake:pace=5ms;seed=3;die=barrier ranks=2;hang!=bcast")
    assert launcher.pace_s == 0.005 and launcher.world.seed == 3
    assert launcher.faults == (Fault("die", "barrier ranks=2"), Fault("hang", "bcast", times=1))
    assert parse_fake_launcher("fake").faults == ()
    slow = parse_fake_launcher("fake:slow=bcast ranks=2:1.5;slow=barrier:0.5").world
    assert slow.slowdowns == (("bcast ranks=2", 1.5), ("barrier", 0.5))
    case = slow.catalog.case("bcast bytes=8 ranks=2")
    ratio = slow.sample(case, 0, 50) / replace(slow, slowdowns=()).sample(case, 0, 50)
    assert (
        ratio == pytest.approx(1.5) and slow.slowdown_factor(slow.catalog.case("bcast bytes=8 ranks=4")) == 1
    )
    for bad in (
        "fake:slow=bcast",
        "fake:slow=bcast:0",
        "fake:slow=:2",
        "fake:pace=x",
        "fake:seed=x",
        "fake:dye=barrier",
        "fake:die=",
    ):
        with pytest.raises(UsageError):
            parse_fake_launcher(bad)
