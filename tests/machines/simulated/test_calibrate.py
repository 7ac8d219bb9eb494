# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A calibrated machine has the parameters of the surveyed one; runs without enough information are
rejected."""

from __future__ import annotations

import math
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from calibrate_runs import measured, on_hosts, survey_of, without
from raising import raises_code

from hockney.core import smpi_algorithms
from hockney.core.errors import Inconclusive, UsageError
from hockney.core.fit import Estimate, Fit, FittedSegment
from hockney.core.platform import Segment
from hockney.core.record import RunRecords
from hockney.launch.fake_world import World
from hockney.machines import simulated
from hockney.machines.simulated.calibrate import CalibrationOptions, Survey, calibrate, compare
from hockney.machines.simulated.calibrate.calibrate import note_between_nodes, note_poor_fit, note_two_modes
from hockney.machines.simulated.calibrate.calls import (
    ASSUMED,
    CHAINS,
    TREES,
    PairMessages,
    calls,
    collective,
    note_open_gaps,
)
from hockney.machines.simulated.calibrate.curve import Curve, CurveLine, curve_of, rising
from hockney.machines.simulated.calibrate.segments import Overheads
from hockney.machines.simulated.calibrate.survey import near
from hockney.measurement.kinds import sim
from hockney.models.fits.caveats import launches_in_two_modes

WORLD = World()


@pytest.fixture(scope="module")
def real(tmp_path_factory) -> Survey:
    return survey_of(tmp_path_factory.mktemp("calibrate") / "mine")


@pytest.fixture(scope="module")
def machine(real):
    return calibrate(real)


def test_a_message_takes_what_it_takes_on_the_machine_at_every_size(real, machine):
    for size in real.one_way:
        assert machine.segment(size).one_way(size) == pytest.approx(WORLD.message(size), rel=0.04), size


def test_the_parameters_of_loggp_are_the_machines(machine):
    for size in (8, 1024):
        segment = machine.segment(size)
        assert segment.send_s + segment.send_s_per_byte * size == pytest.approx(
            WORLD.send_overhead_s, rel=0.1
        )
        assert segment.receive_s + segment.receive_s_per_byte * size == pytest.approx(
            WORLD.receive_overhead_s, rel=0.05
        )
        gap = WORLD.gap_s + WORLD.gap_per_byte_s * size
        assert segment.gap_s + segment.gap_s_per_byte * size == pytest.approx(gap, rel=0.1)
    assert machine.segment(8).latency_s == pytest.approx(WORLD.latency_s, rel=0.1)
    assert machine.segment(8).per_byte_s == pytest.approx(WORLD.gap_per_byte_s, rel=0.1)


def test_the_change_points_are_the_machines(machine):
    """Each lies between two measured sizes, like the true ones."""
    firsts = [segment.first for segment in machine.segments]
    for piece in WORLD.segments[1:]:
        assert any(piece.first / 2 < first <= piece.first for first in firsts), piece.first
    assert machine.eager in range(32768, 65536)


def test_both_ways_at_once_cost_what_they_cost_on_the_machine(machine):
    segment = machine.segment(2048)
    more = segment.exchange_s + segment.exchange_s_per_byte * 2048
    assert more == pytest.approx(0.2 * WORLD.message(2048), rel=0.15)


def test_collectives_are_messages_and_what_a_call_costs_more(real, machine):
    messages = PairMessages(machine.segments, machine.eager, machine.sum_s_per_byte)
    for operation in ("allreduce", "bcast"):
        costs = dict(machine.calls[operation])
        measured = costs.keys() & collective(real, operation).keys()
        assert len(measured) > 3
        for size in measured:
            own = costs[size]
            alone = messages.time(operation, size, real.batch(operation, size))
            truth = WORLD.collective(operation, 2, size)
            assert max(alone, truth) == pytest.approx(alone + own, rel=0.08), (operation, size)


def test_summing_costs_nothing_where_reducing_costs_what_sending_does(machine):
    assert machine.sum_s_per_byte == 0.0
    assert simulated.origin_of(machine, "sum_s_per_byte").status == "guess"


def test_what_is_written_reads_back_equal(machine):
    assert simulated.read(simulated.write(machine)) == machine


def test_every_number_says_where_it_is_from(machine):
    unsaid = [place for place in simulated.places(machine) if simulated.origin_of(machine, place) is None]
    assert unsaid == []


def test_the_machine_holds_the_ranks_it_is_meant_for(real, machine):
    assert machine.capacity == 16384
    assert machine.nodes[0].cores == real.machine.cores
    assert calibrate(real, CalibrationOptions(nodes=3)).capacity == 3 * real.machine.cores
    with raises_code("too-many-cores"):
        calibrate(real, CalibrationOptions(nodes=10**7))


def test_a_poor_fit_of_the_ping_pong_is_kept(real, machine):
    assert machine.poor_fit == ""
    ping_pong = real.hockney
    poor = msgspec.structs.replace(ping_pong, verdict="poor", why="off by 30%")
    fits = [poor if fit is ping_pong else fit for fit in real.fits.fits]
    weak = calibrate(replace(real, fits=msgspec.structs.replace(real.fits, fits=fits)))
    assert weak.poor_fit == "off by 30%"
    assert note_poor_fit(real.name, ping_pong.line, "off by 30%") in weak.notes
    assert simulated.read(simulated.write(weak)) == weak


def test_launches_of_the_ping_pong_in_two_modes_are_kept(real, machine):
    assert machine.two_modes == ""
    ping_pong, caveat = real.hockney, launches_in_two_modes(1e-7, 3.5e-7, 8, 2, 0)
    doubted = msgspec.structs.replace(ping_pong, caveats=[caveat])
    fits = [doubted if fit is ping_pong else fit for fit in real.fits.fits]
    mixed = calibrate(replace(real, fits=msgspec.structs.replace(real.fits, fits=fits)))
    assert mixed.two_modes == caveat.text
    assert note_two_modes(real.name, caveat.text) in mixed.notes
    assert simulated.read(simulated.write(mixed)) == mixed


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
@pytest.mark.parametrize(("before", "after"), [(0.3, 0.95), (0.95, 0.3), (0.9, 0.9)])
def test_between_two_sizes_a_collective_is_no_slower_than_at_both(real, share, before, after):
    """Nor faster, wherever the messages jump: to and from these shares of the collective's times."""
    times = {size: time.value for size, time in collective(real, "bcast").items() if size > 0}
    (one, start), (other, end) = list(times.items())[:2]
    jump = round(one + share * (other - one))
    segments = (Segment(first=0, latency_s=before * start), Segment(first=jump, latency_s=after * end))
    # an eager limit of 0: every message waits for its receiver, whatever the number of repetitions
    pair = PairMessages(segments, 0, 0.0)
    table = calls(real, pair)[0]["bcast"]
    assert dict(table).keys() >= {one, other}
    ends = [pair.time("bcast", size, 1) + own for size, own in table if size in (one, other)]
    assert ends == pytest.approx([start, end], rel=0.1)
    sizes, costs = zip(*table, strict=True)
    for size in range(one, other + 1):
        total = pair.time("bcast", size, 1) + float(np.interp(size, sizes, costs))
        assert 0.99 * min(ends) <= total <= 1.01 * max(ends), size


def test_calls_that_cost_more_than_their_messages_are_noted(real, machine):
    assert not any("costs more than" in note for note in machine.notes)
    segments = (Segment(first=0, latency_s=1e-9),)
    notes = calls(real, PairMessages(segments, 0, 0.0))[2]
    assert any(note.startswith("a call of bcast") for note in notes)


def test_undisturbed_operations_are_batched_as_in_the_fastest_launch(real):
    """Slow launches have fewer operations between two readings of the clock."""
    (one, *_) = (r for r in real.run.records if r.parse_case().workload == "pingpong")
    slow = msgspec.structs.replace(one, launch="slow", batch=1)
    run = RunRecords(real.run.launches, (*real.run.records, slow))
    both = {
        cost: replace(real, run=run, fits=msgspec.structs.replace(real.fits, cost=cost))
        for cost in ("typical", "undisturbed")
    }
    size = one.parse_case().bytes
    batch = {cost: survey.batch("pingpong", size) for cost, survey in both.items()}
    assert batch["typical"] < batch["undisturbed"]
    assert batch["undisturbed"] == max(r.batch for r in real.run.records if r.case == one.case)


def test_one_host_says_nothing_of_what_is_between_hosts(real, machine):
    assert note_between_nodes(real.name) in machine.notes
    apart = calibrate(on_hosts(real, [["a", "b"]]))
    assert note_between_nodes(real.name) not in apart.notes
    assert apart.segments == machine.segments


def test_costs_between_nodes_that_nobody_measured_are_a_guess(real, machine):
    assert simulated.origin_of(machine, "segments[0].latency_s").status == "guess"
    assert simulated.origin_of(machine, "on_node[0].latency_s").status == "fitted"
    assert simulated.between_nodes_guessed(machine)
    apart = calibrate(on_hosts(real, [["a", "b"]]))
    assert apart.on_node == () and not simulated.between_nodes_guessed(apart)
    other = simulated.platform("switched-ethernet")
    assert not simulated.between_nodes_guessed(calibrate(real, CalibrationOptions(network=other, nodes=5)))
    assert not any(simulated.between_nodes_guessed(simulated.platform(name)) for name in simulated.names())


def test_what_is_between_nodes_can_come_from_elsewhere(real, machine):
    other = simulated.platform("switched-ethernet")
    mixed = calibrate(real, CalibrationOptions(network=other, nodes=5))
    assert mixed.on_node == machine.segments
    assert mixed.segments == other.segments
    assert mixed.network.nic == other.network.nic
    assert mixed.capacity == 5 * real.machine.cores
    torus = calibrate(real, CalibrationOptions(network=simulated.platform("t3e-4x4x4")))
    assert torus.network.dims == (4, 4, 4)
    with pytest.raises(UsageError) as caught:
        calibrate(real, CalibrationOptions(network=simulated.platform("t3e-4x4x4"), nodes=5))
    assert caught.value.code == "node-count-of-network"
    assert caught.value.fields == {"nodes": 5, "network_nodes": 64}


@pytest.mark.parametrize("name", ["switched-ethernet", "t3e-4x4x4"])
def test_no_status_rises_by_passing_through(real, name):
    """Neither of the network's numbers nor of messages between nodes, with and without origins."""
    other = simulated.platform(name)
    mixed = calibrate(real, CalibrationOptions(network=other))
    taken = [p for p in simulated.places(mixed) if p.startswith(("segments", "network"))]
    assert len(taken) > 5
    for place in taken:
        if place.startswith("network.nodes"):
            continue
        before, after = (simulated.origin_of(each, place) for each in (other, mixed))
        assert after is not None and after.status == ("guess" if before is None else before.status), place
    bare = calibrate(real, CalibrationOptions(network=msgspec.structs.replace(other, origins=())))
    guessed = [p for p in taken if simulated.origin_of(bare, p).status == "guess"]
    assert {p for p in taken if not p.startswith("network.nodes")} <= {*guessed}
    assert bool(simulated.between_nodes_guessed(bare)) == (bare.nodes[0].cores > 1)


def test_noise_is_the_machines(real):
    assert calibrate(real).noise is None
    assert calibrate(real, CalibrationOptions(noise=True)).noise.relative == pytest.approx(
        WORLD.noise, rel=0.15
    )


def test_the_clock_is_the_machines(machine):
    assert machine.clock_s == pytest.approx(25e-9)


def test_without_trains_overheads_are_a_guess_and_say_so(real):
    machine = calibrate(without(real, "prtt", "receive_overhead"))
    segment = machine.segment(0)
    assert segment.send_s == pytest.approx(segment.one_way(0) / 3, rel=0.01)
    assert simulated.origin_of(machine, "segments[0].send_s").status == "guess"
    for size in real.one_way:
        assert machine.segment(size).one_way(size) == pytest.approx(WORLD.message(size), rel=0.04)


def test_a_few_rank_counts_choose_the_algorithms(real):
    more = calibrate(real).collectives
    # on the fake machine gathers grow with the ranks, reductions with their logarithm
    assert more["allreduce"] == TREES["allreduce"]
    assert more["gather"] == CHAINS["gather"]
    assert simulated.origin_of(calibrate(real), "collectives.gather").status in ("fitted", "guess")


def test_every_algorithm_is_one_that_the_simulator_has():
    for table in (TREES, CHAINS, ASSUMED):
        assert smpi_algorithms.choose_algorithms(table).items() >= table.items()


def test_runs_that_tell_too_little_are_refused(real, tmp_path):
    for survey, code, ranks in (
        (without(real, "pingpong"), "survey-without-pingpong", ()),
        (survey_of(tmp_path / "four", ranks=(4,)), "survey-without-pingpong", ()),
        (on_hosts(real, [["a", "a"], ["a", "a"], ["a", "b"]]), "survey-with-mixed-placement", None),
    ):
        with pytest.raises(Inconclusive) as caught:
            calibrate(survey)
        assert (caught.value.code, caught.value.fields.get("ranks")) == (code, ranks), survey.name
    twin = Survey(
        "twin",
        real.fits,
        real.run,
        msgspec.structs.replace(real.machine, kind="simulated", traits=sim.TRAITS, host="t3e"),
    )
    with raises_code("survey-was-simulated"):
        calibrate(twin)


def test_few_sizes_are_refused(real):
    few = [r for r in real.run.records if r.parse_case().workload != "pingpong" or r.parse_case().bytes < 4]
    with raises_code("survey-without-model"):
        calibrate(measured(real, RunRecords(real.run.launches, tuple(few))))


def line(first: int, beyond: int | None, latency: float, per_byte: float) -> FittedSegment:
    return FittedSegment(
        first=first,
        beyond=beyond,
        latency=Estimate(latency, None, None),
        per_byte=Estimate(per_byte, None, None),
    )


def curve(times: dict[int, float], *segments: FittedSegment):
    fit = Fit(model="hockney", line="x", parameters=[], verdict="fair", why="", segments=list(segments))
    return curve_of(fit, {s: Estimate(t, 0.98 * t, 1.02 * t) for s, t in times.items()})


def test_medians_stand_where_the_fitted_line_passes_them_by():
    times = {0: 1e-6, 8: 1e-6, 64: 1.6e-6, 1024: 2e-6}
    found = curve(times, line(0, None, 1e-6, 1e-9))
    assert [found.time(s) for s in times] == pytest.approx(list(times.values()), rel=0.03)
    assert found.time(32) == pytest.approx(1.032e-6)


def test_times_that_grow_faster_than_sizes_need_no_line_from_below_zero():
    times = {1 << 20: 60e-6, 1 << 21: 190e-6, 1 << 22: 480e-6}
    found = curve(times, line(0, None, 0.0, 7e-11))
    assert [found.time(s) for s in times] == pytest.approx(list(times.values()), rel=0.06)
    assert all(each.latency >= 0 and each.per_byte >= 0 for each in found.lines)


def test_times_do_not_fall_with_the_size():
    found = rising({1: 2.0, 2: 1.0, 4: 3.0})
    assert found == pytest.approx({1: math.sqrt(2), 2: math.sqrt(2), 4: 3.0})


def test_shares_lie_on_lines_over_the_logarithm():
    assert near({1: 0.0, 3: 1.0}, 3) == 1.0
    assert near({1: 0.0, 3: 1.0}, math.sqrt(8) - 1) == pytest.approx(0.5)
    assert near({1: 0.25, 3: 1.0}, 0) == 0.25
    assert near({1: 0.25, 3: 1.0}, 99) == 1.0


@pytest.mark.parametrize(
    ("size", "share"), [(127, 0.5), (128, 0.5), (299, 0.5), (300, 1.5), (1023, 1.5), (1024, 1.5), (4096, 2.0)]
)
def test_shares_are_not_interpolated_across_a_jump(size, share):
    """Nor is a message that is sent in another way pipelined as those before."""
    table = {128: 0.5, 1024: 1.5, 4096: 2.0}
    assert near(table, size, (300,)) == pytest.approx(share)
    found = Overheads({0: 0.2}, {0: 0.2}, table, {}, 4096, 65536, jumps=(300,))
    assert found.shares(size)[2] == pytest.approx(share)


def test_a_curve_jumps_where_a_byte_more_takes_much_longer():
    lines = [CurveLine(0, 1e-7, 1e-9, ""), CurveLine(100, 2.1e-7, 1e-9, ""), CurveLine(200, 6e-7, 0.0, "")]
    assert Curve(tuple(lines)).jumps == (100, 200)
    assert Curve((lines[0], CurveLine(100, 1.1e-7, 1e-9, ""))).jumps == ()


@pytest.mark.parametrize(
    ("far", "slower", "jump", "noted"),
    [(8, 3.0, 2.0, True), (2, 3.0, 2.0, False), (8, 1.1, 2.0, False), (8, 3.0, 1.1, False)],
)
def test_a_jump_of_messages_where_a_collective_has_no_size_is_noted(real, far, slower, jump, noted):
    times = {128: 1e-6, 128 * far: slower * 1e-6}
    words = "bcast algorithm=mpi buffers=hot bytes={} ranks=2 root=0 sync=barrier"
    summaries = [
        msgspec.structs.replace(
            real.fits.summaries[0], case=words.format(size), typical=Estimate(time, None, None)
        )
        for size, time in times.items()
    ]
    survey = replace(real, fits=msgspec.structs.replace(real.fits, summaries=summaries))
    segments = (Segment(first=0, latency_s=1e-7), Segment(first=200, latency_s=jump * 1e-7))
    (*_, notes) = calls(survey, PairMessages(segments, 0, 0.0))
    expected = note_open_gaps(["bcast 128 B to 1 KiB (1.00 us to 3.00 us)"])
    assert (expected in notes) == noted
    assert noted or not any("jumps" in note for note in notes)


@pytest.mark.parametrize(
    ("factor", "half", "verdict"),
    [
        (1.015, 0.01, "agrees"),
        (1.24, 0.5, "agrees"),
        (1.4, 0.5, "undecided"),
        (1.4, 0.1, "disagrees"),
        (0.6, 0.5, "undecided"),
        (2.0, 0.5, "disagrees"),
    ],
)
def test_a_wide_interval_does_not_make_a_twin_right(real, factor, half, verdict):
    """The twin's times are `factor` times those of the run, whose intervals have the relative half width."""

    def scaled(estimate: Estimate, factor: float) -> Estimate:
        value = factor * estimate.value
        return Estimate(value, value * (1 - half), value * (1 + half))

    def times(factor: float) -> Survey:
        summaries = [
            msgspec.structs.replace(s, typical=scaled(s.typical, factor)) for s in real.fits.summaries
        ]
        fits = [
            msgspec.structs.replace(
                fit,
                parameters=[
                    msgspec.structs.replace(p, estimate=scaled(p.estimate, factor)) for p in fit.parameters
                ],
            )
            for fit in real.fits.fits
        ]
        return replace(real, fits=msgspec.structs.replace(real.fits, summaries=summaries, fits=fits))

    found = compare(times(1.0), times(factor))
    assert any(each.unit == "s" and each.fitted for each in found) and any(not each.fitted for each in found)
    assert {each.verdict for each in found if each.real.value > 0} == {verdict}
