# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A run with messages within a node and between nodes becomes a machine with both costs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from calibrate_runs import free_clock, measured, placed_survey_of
from msgspec import structs

from hockney.core.layout import Layout
from hockney.core.platform import Platform
from hockney.core.record import RunRecords
from hockney.launch.fake_world import World
from hockney.machines import simulated
from hockney.machines.simulated.calibrate import CalibrationOptions, Survey, calibrate
from hockney.machines.simulated.calibrate.calibrate import note_between_nodes, note_on_node, note_poor_fit
from hockney.models.loggp_sim import nodes_of

WORLD = replace(World(), noise=0.02, launch_noise=0.002, tail=0.01)
SIZES = (0, 8, 1024, 65536, 1 << 20)


@pytest.fixture(scope="module")
def real(tmp_path_factory) -> Survey:
    with pytest.MonkeyPatch.context() as patch:
        free_clock(patch)
        return placed_survey_of(tmp_path_factory.mktemp("levels") / "cluster", WORLD, Layout(3, 2))


@pytest.fixture(scope="module")
def machine(real) -> Platform:
    return calibrate(real)


def test_messages_take_what_they_do_at_each_level(machine):
    for size in SIZES:
        for on_node, world in ((True, WORLD), (False, WORLD.at_level("network"))):
            found = machine.segment(size, on_node=on_node).one_way(size)
            assert found == pytest.approx(world.message(size), rel=0.05), (size, on_node)


def test_overheads_are_those_of_each_level(machine):
    for segments, world in ((machine.on_node, WORLD), (machine.segments, WORLD.at_level("network"))):
        assert segments[0].send_s == pytest.approx(world.send_overhead_s, rel=0.2)
        assert segments[0].receive_s == pytest.approx(world.receive_overhead_s, rel=0.2)


def test_nodes_and_ranks_on_each_are_those_of_the_layout(real, machine):
    assert [(group.count, group.cores) for group in machine.nodes] == [(3, 2)]
    assert list(nodes_of(machine, 6)) == [0, 0, 1, 1, 2, 2]
    (origin,) = [each for each in machine.origins if each.key == "network.nodes"]
    assert origin.status == "fitted" and "3x2" in origin.source
    larger = calibrate(real, CalibrationOptions(nodes=100))
    assert [(group.count, group.cores) for group in larger.nodes] == [(100, 2)]


def test_nothing_between_nodes_is_a_guess(real, machine):
    assert not simulated.between_nodes_guessed(machine)
    assert note_between_nodes(real.name) not in machine.notes
    keys = {each.key for each in machine.origins if each.status == "fitted"}
    assert {"segments[0]", "on_node[0]", "network.nic"} <= keys
    rate = (1 << 20) / WORLD.at_level("network").message(1 << 20)
    assert machine.network.nic == pytest.approx(rate, rel=0.5), "not that of a node's memory"


def test_it_is_written_and_read_back(machine):
    assert simulated.read(simulated.write(machine), "machine") == machine


def only(real: Survey, place: str) -> Survey:
    records = tuple(r for r in real.run.records if r.parse_case().place == place)
    return measured(real, RunRecords(real.run.launches, records))


def test_a_run_with_one_level_has_the_costs_of_that(real):
    near, far = calibrate(only(real, "node")), calibrate(only(real, "network"))
    assert near.on_node and simulated.between_nodes_guessed(near)
    assert note_between_nodes(real.name) in near.notes
    assert not far.on_node and not simulated.between_nodes_guessed(far)
    assert far.segments[0].one_way(0) == pytest.approx(WORLD.at_level("network").message(0), rel=0.05)
    assert near.on_node[0].one_way(0) == pytest.approx(WORLD.message(0), rel=0.05)


def test_another_network_replaces_the_messages_between_nodes(real, machine):
    other = simulated.platform("ibm-sp")
    with_other = calibrate(real, CalibrationOptions(network=other, nodes=5))
    assert with_other.segments == other.segments and with_other.on_node == machine.on_node


def test_messages_between_nodes_are_not_taken_for_those_on_a_node(real):
    other = simulated.platform("ibm-sp")
    made = calibrate(only(real, "network"), CalibrationOptions(network=other, nodes=5))
    (origin,) = [each for each in made.origins if each.key.startswith("on_node")]
    assert origin.status == "guess" and note_on_node(real.name) in made.notes
    both = calibrate(real, CalibrationOptions(network=other, nodes=5))
    assert note_on_node(real.name) not in both.notes


def test_calls_are_those_of_two_ranks_of_a_node(tmp_path):
    """Also where a node has more ranks, and at the level whose messages are subtracted."""
    with pytest.MonkeyPatch.context() as patch:
        free_clock(patch)
        four = placed_survey_of(tmp_path / "four", WORLD, Layout(2, 4))
        several = placed_survey_of(tmp_path / "several", WORLD, Layout(1, 4), ("cache", "socket"))
    for survey, place in ((four, "node"), (several, "socket")):
        made = calibrate(survey)
        assert {"gather", "scatter"} <= made.calls.keys()
        for operation in ("reduce", "bcast", "scan"):
            assert survey.at(place).operation(operation), "sums are found by comparing these"
    assert not several.at("cache").operation("reduce")


def test_a_poor_fit_of_one_level_is_noted(real):
    fits = [
        structs.replace(fit, verdict="poor", why="scattered") if fit is real.at("network").hockney else fit
        for fit in real.fits.fits
    ]
    weak = calibrate(replace(real, fits=structs.replace(real.fits, fits=fits)))
    line = real.at("network").hockney.line
    assert weak.poor_fit == "scattered"
    assert note_poor_fit(real.name, line, "scattered") in weak.notes
