# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Described programs: formulas, patterns of messages, and times that can be worked out by hand."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import slow

from hockney.core.errors import UsageError
from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.models.applications.granularity import Algorithm, times
from hockney.models.applications.message_costs import costs_of_description
from hockney.models.programs.communication import Communication
from hockney.models.programs.description import parse_description
from hockney.models.programs.formulas import Formula
from hockney.models.programs.parts import StepsPart
from hockney.models.programs.rank_grid import RankGrid, balanced_grid
from hockney.models.programs.scaling import ProgramMachine, forecast
from hockney.models.programs.timing import iteration_time
from hockney.pages.caveats.predictions import program_caveats
from hockney.studies.program.explorer import explorer

O_S, L, O_R = 2e-6, 10e-6, 3e-6
MESSAGE = O_S + L + O_R


def platform(count: int = 64, per_byte_s: float = 0.0, **network) -> Platform:
    segment = Segment(send_s=O_S, latency_s=L, per_byte_s=per_byte_s, receive_s=O_R)
    nodes = (NodeGroup(count=count),)
    return Platform(
        name="m", title="M", network=Network(nodes=nodes, **network), segments=(segment,), eager=1 << 20
    )


def costs(on: Platform) -> Communication:
    return Communication(costs_of_description(on), platform=on)


def time_of(raw: dict, ranks: int, on: Platform | None = None):
    return iteration_time(parse_description(raw, "p").iteration(ranks), costs(on or platform()))


def scaled(raw: dict, ranks: list[int], on: Platform | None = None, cores: int | None = None):
    machine = ProgramMachine({"value": costs(on or platform())}, cores)
    description = parse_description(raw, "p")
    return forecast(description, ranks, machine, description.scaling)


def messages(raw: dict, ranks: int) -> Counter:
    """Bytes by source and target, of all messages of an iteration."""
    counted: Counter = Counter()
    for part in parse_description(raw, "p").iteration(ranks).parts:
        if isinstance(part, StepsPart):
            for layer in (layer for step in part.steps for layer in step.layers):
                sizes = np.broadcast_to(layer.size, layer.source.shape)
                for source, target, size in zip(layer.source, layer.target, sizes, strict=True):
                    counted[int(source), int(target)] += int(size)
    return counted


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("n^2 / ranks * 2.3ns", "time", 100**2 / 4 * 2.3e-9),
        ("8 * n", "size", 800),
        ("8kB + 1KiB", "size", 9024),
        ("ceil(n / 3) * 2", "number", 68),
        ("max(n, 200) % 7", "number", 4),
        ("-2 + 3 * 2^-1 + 1", "number", 0.5),
        ("1ms if n > 50 else 2ms", "time", 1e-3),
        ("log2(ranks) * 1us", "time", 2e-6),
        ("1.5e-3", "time", 1.5e-3),
        ("1.2ns * n", "quantity", 1.2e-7),
        ("8kB / n", "quantity", 80),
        ("n / 2", "quantity", 50),
    ],
)
def test_formulas(text, kind, value):
    assert Formula(text, kind).value({"n": 100.0, "ranks": 4.0}) == pytest.approx(value)


def test_a_formula_of_the_rank_has_a_value_for_each():
    value = Formula("1us if rank == 0 else 2us", "time").value({"rank": np.arange(3.0)})
    assert value.tolist() == [1e-6, 2e-6, 2e-6]


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        ("n *", "number", "bad-formula"),
        ("2 n", "number", "bad-formula"),
        ("8kB", "number", "bad-formula"),
        ("8kB", "time", "unknown-unit"),
        ("3m", "quantity", "unknown-unit"),
        ("m / 2", "number", "unknown-name"),
        ("sinus(n)", "number", "unknown-function"),
        ("max(n)", "number", "bad-formula"),
        ("n / 0", "number", "bad-formula"),
        ("-n", "number", "bad-formula"),
        ("9^9^9^9", "number", "bad-formula"),
        ("__import__('os')", "number", "bad-formula"),
        ("n.real", "number", "bad-formula"),
        ("(" * 300 + "n" + ")" * 300, "number", "bad-formula"),
    ],
)
def test_wrong_formulas(text, kind, code):
    with pytest.raises(UsageError) as caught:
        Formula(text, kind).value({"n": 3.0})
    assert caught.value.code == code


@given(st.text(alphabet="n+-*/^()%<>=., 0123456789eskBm'[]_:@#\\\n", max_size=40))
def test_no_text_breaks_a_formula(text):
    try:
        value = Formula(text, "time").value({"n": 2.0})
    except UsageError:
        return
    assert math.isfinite(value) and value >= 0


@pytest.mark.parametrize(
    ("ranks", "dimensions", "extents"),
    [(12, 2, (4, 3)), (16, 2, (4, 4)), (7, 2, (7, 1)), (12, 3, (3, 2, 2)), (64, 3, (4, 4, 4)), (5, 1, (5,))],
)
def test_grids_are_as_those_of_mpi_dims_create(ranks, dimensions, extents):
    assert balanced_grid(ranks, dimensions).extents == extents


HALO = {"grid": "2d", "phase": [{"neighbors": "grid", "bytes": [100, 1]}]}


def test_neighbors_on_a_grid_are_numbered_along_the_last_axis_first():
    """2 x 2 ranks: 0 1 / 2 3; x is the first axis."""
    expected = {
        (0, 2): 100,
        (2, 0): 100,
        (1, 3): 100,
        (3, 1): 100,
        (0, 1): 1,
        (1, 0): 1,
        (2, 3): 1,
        (3, 2): 1,
    }
    assert messages(HALO, 4) == expected


@pytest.mark.parametrize(
    ("neighbors", "corners", "each"), [("grid", False, 4), ("torus", False, 6), ("torus", True, 26)]
)
def test_how_many_neighbors_a_rank_has(neighbors, corners, each):
    raw = {"grid": "3d", "phase": [{"neighbors": neighbors, "corners": corners, "bytes": 1}]}
    counted = messages(raw, 27)
    if neighbors == "torus":
        assert all(
            sum(n for (source, _), n in counted.items() if source == rank) == each for rank in range(27)
        )
    else:
        assert sum(counted.values()) == 27 * each
    assert all(counted[b, a] == n for (a, b), n in counted.items()), "each message has one back"


def test_a_block_gives_the_sizes_of_faces_edges_and_corners():
    phase = {"neighbors": "torus", "corners": True, "block": [10, 20, 30], "width": 2, "bytes": 8}
    sizes = sorted(n for (a, _), n in messages({"grid": "3d", "phase": [phase]}, 27).items() if a == 0)
    corner = 8 * 2**3
    edges = [8 * 4 * n for n in (10, 20, 30)]
    faces = [8 * 2 * n for n in (200, 300, 600)]
    assert sizes == sorted([corner] * 8 + edges * 4 + faces * 2)


def test_messages_by_formulas():
    shift = {"phase": [{"messages": [["rank", "(rank + 1) % ranks", "rank * 1B"], [0, 2, 7]]}]}
    assert messages(shift, 3) == {(0, 1): 0, (1, 2): 1, (2, 0): 2, (0, 2): 7}
    assert messages({"phase": [{"messages": [["rank", "rank + 1", 5]]}]}, 3) == {(0, 1): 5, (1, 2): 5}


def test_serial_work_is_amdahls_law():
    raw = {"phase": [{"work": "1ms / ranks", "serial": 0.1}]}
    made = scaled(raw, [1, 4, 16])
    assert [row.speed_up.value for row in made.rows] == pytest.approx(
        [1, 1 / (0.1 + 0.9 / 4), 1 / (0.1 + 0.9 / 16)]
    )
    assert made.scaling == "strong"


def test_the_busiest_rank_keeps_the_others_waiting():
    """The mean stays; with a collective, all wait for the busiest."""
    time = time_of({"phase": [{"work": "1ms", "imbalance": 1.5, "barrier": True}]}, 8)
    assert time.total("computation") == pytest.approx(1e-3)
    assert time.waiting == pytest.approx(0.5e-3, rel=0.1)
    assert time.total("collectives") == pytest.approx(3 * MESSAGE, rel=0.01)


def test_the_parts_and_waiting_are_the_time():
    raw = HALO | {"phase": [{"work": "20us", "imbalance": 1.2, "allreduce": 8}, *HALO["phase"]]}
    for ranks in (1, 2, 7, 16):
        time = time_of(raw, ranks, platform(per_byte_s=1e-9))
        assert sum(part.seconds for part in time.parts) + time.waiting == pytest.approx(time.seconds)


def test_overlap_hides_all_of_a_message_but_its_overheads():
    phase = {"work": "1ms", "neighbors": "line", "bytes": 8}
    apart = time_of({"phase": [phase]}, 2).seconds
    hidden = time_of({"phase": [phase | {"overlap": True}]}, 2).seconds
    assert apart == pytest.approx(1e-3 + MESSAGE) and hidden == pytest.approx(1e-3 + O_S + O_R)


@pytest.mark.parametrize("chunks", [1, 4, 10])
def test_a_pipeline_fills_and_drains(chunks):
    """A sweep through P ranks: P - 1 chunks with their messages until the last rank begins, then its chunks,
    each after the message for it has been accepted."""
    raw = {"phase": [{"pipeline": "x", "chunks": chunks, "work": "1ms", "bytes": 8}]}
    part = parse_description(raw, "p").iteration(5).parts[0]
    from hockney.models.loggp_sim import LogGPSimulator

    end = LogGPSimulator(platform(), 5).run(part.steps).max()
    chunk = 1e-3 / chunks
    # Senders pay an overhead for each chunk; the last rank only accepts.
    fill = 4 * (chunk + MESSAGE)
    rest = (chunks - 1) * (chunk + O_S + O_R)
    assert end == pytest.approx(fill + chunk + rest, rel=0.01)


def test_two_ways_of_a_pipeline_come_back():
    raw = {"phase": [{"pipeline": "x", "ways": 2, "work": "1ms", "bytes": 8}]}
    counted = messages(raw, 3)
    assert counted == {(0, 1): 8, (1, 2): 8, (2, 1): 8, (1, 0): 8}


def test_tasks_are_divided_among_workers():
    raw = {"phase": [{"tasks": 12, "work": "10ms"}]}
    on = platform()
    assert time_of(raw, 1, on).seconds == pytest.approx(0.12)
    four = time_of(raw, 4, on)
    assert four.seconds == pytest.approx(4 * (10e-3 + 2 * MESSAGE), rel=0.01)
    assert four.total("computation") == pytest.approx(0.12 / 4)


def test_noise_makes_ranks_wait_for_each_other():
    """The mean of the largest of many is above the mean; the same seed gives the same time."""
    raw = {"phase": [{"work": "1ms", "noise": 0.1, "barrier": True}]}
    first, again = time_of(raw, 16), time_of(raw, 16)
    assert first == again
    assert 1.1e-3 < first.seconds < 1.3e-3 and 0 < first.error < 0.05e-3
    assert 0.1e-3 < first.waiting < 0.3e-3


def test_collectives_along_an_axis_are_those_of_its_ranks():
    """Rows of 4 ranks sum in two steps, all 16 in four."""
    all_ranks = time_of({"grid": "2d", "phase": [{"allreduce": 8}]}, 16)
    rows = time_of({"grid": "2d", "phase": [{"allreduce": 8, "along": "y"}]}, 16)
    assert all_ranks.seconds == pytest.approx(4 * MESSAGE) and rows.seconds == pytest.approx(2 * MESSAGE)
    assert {each.ranks for each in rows.algorithms} == {4}


def test_a_requested_algorithm_is_used():
    """A ring of 8 ranks has 14 steps instead of 3."""
    ring = time_of({"phase": [{"allreduce": 8, "algorithm": "ring"}]}, 8)
    assert ring.seconds == pytest.approx(14 * MESSAGE)
    assert [(each.algorithm, each.basis) for each in ring.algorithms] == [("ring", "requested")]


@pytest.mark.parametrize(
    ("algorithm", "ranks", "code"),
    [("rings", 8, "unknown-algorithm"), ("pairwise_xor", 5, "program-algorithm")],
)
def test_an_algorithm_that_does_not_exist(algorithm, ranks, code):
    with pytest.raises(UsageError) as caught:
        time_of({"phase": [{"allgather": 8, "algorithm": algorithm}]}, ranks)
    assert caught.value.code == code


def test_ordered_messages_end_on_odd_rings():
    """On a ring of 3 ranks, ranks 0 and 2 both send first; rank 1, which receives, lets rank 2 go on."""
    for size, ranks in product((8, 4 << 20), (3, 4)):
        raw = {"phase": [{"neighbors": "ring", "calls": "ordered", "bytes": size}]}
        assert time_of(raw, ranks, platform(per_byte_s=1e-9)).seconds >= 4 * MESSAGE


def test_messages_share_the_nics_of_a_fat_tree():
    tree = platform(8, shape="fat-tree", down=(4, 2), up=(1, 2), cables=(1, 1), nic=1e6)
    time = time_of({"phase": [{"neighbors": "ring", "bytes": 1000}]}, 8, tree)
    assert time.contention and time.seconds == pytest.approx(2e-3, rel=0.05)


def test_parts_of_one_name_and_phase_keep_apart_if_they_are_rare():
    rare = {"phase": [{"work": "1ms"}, {"name": "io", "work": "2ms", "barrier": True, "every": 4}]}
    time = time_of(rare, 8)
    assert {(p.name, p.kind): p.seconds for p in time.parts} == {
        ("work", "computation"): pytest.approx(1e-3),
        ("io", "computation"): pytest.approx(0.5e-3),
        ("io: barrier", "collectives"): pytest.approx(3 * MESSAGE / 4),
    }


def test_messages_share_a_bus():
    """8 kB of each of 4 ranks at 1 MB/s, one after the other."""
    bus = platform(4, shape="bus", link=1e6)
    time = time_of({"phase": [{"neighbors": "ring", "bytes": 1000}]}, 4, bus)
    assert time.contention and time.seconds == pytest.approx(8e-3, rel=0.05)
    free = time_of({"phase": [{"neighbors": "ring", "bytes": 1000}]}, 4)
    assert free.seconds < 100e-6


def test_many_messages_on_a_bus_are_bounded_by_its_bytes():
    bus = platform(1024, shape="bus", link=1e6)
    time = time_of({"phase": [{"neighbors": "ring", "bytes": 1000}]}, 1024, bus)
    assert not time.contention and time.seconds == pytest.approx(2.048, rel=0.05)


def test_weak_scaling_is_recognised_and_scaled():
    raw = {"sizes": {"n": 100}, "phase": [{"work": "n * 1us"}, {"allreduce": 8}]}
    made = scaled(raw, [1, 2, 8])
    assert made.scaling == "weak"
    row = made.rows[2]
    assert row.speed_up.value == pytest.approx(8 * 100e-6 / row.time.value)
    assert scaled({"phase": [{"work": "1us * sqrt(ranks)"}]}, [1, 4]).scaling == "other"


def test_ranks_that_share_cores_compute_slower():
    made = scaled({"phase": [{"work": "1ms / ranks"}]}, [1, 2, 4], cores=2)
    assert [row.time.value for row in made.rows] == pytest.approx([1e-3, 0.5e-3, 0.5e-3])
    assert [row.shared_by for row in made.rows] == [1, 1, 2]
    assert made.changed_ranks == 2


@pytest.mark.parametrize("ranks", [2, 4, 8, 16])
@pytest.mark.parametrize("work", [1e-5, 1e-3, 0.1])
def test_a_ring_follows_the_equations_of_granularity(ranks, work):
    """Hanebutte and Tatsumi (1996): half of the ranks send while the other half receives."""
    here = platform(per_byte_s=1e-9)
    ring = {"work": f"{work} / ranks", "messages": [["rank", "(rank + 1) % ranks", 4000]], "calls": "ordered"}
    expected = times(Algorithm(work, 4000), costs_of_description(here), ranks).total
    assert time_of({"phase": [ring]}, ranks, here).seconds == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("algorithm", ["linear", *slow("pairwise_exchange")])
def test_long_schedules_take_as_long_in_proportion(algorithm):
    """Up to 257 ranks all messages are simulated, beyond only some of each rank's."""
    here = platform(count=100_000, per_byte_s=1e-9)
    raw = {"phase": [{"alltoall": 1000, "algorithm": algorithm}]}
    all_of_them, some = (time_of(raw, ranks, here).seconds for ranks in (256, 260))
    assert some == pytest.approx(all_of_them * 259 / 255, rel=0.02)
    assert time_of(raw, 65_536, here).seconds == pytest.approx(some * 65_535 / 259, rel=0.05)


@pytest.mark.parametrize("scaling", ["strong", "weak", None])
def test_the_explorer_scales_speed_ups_as_the_prediction(scaling):
    raw = {"phase": [{"work": "1ms / ranks + 1ms"}, {"allreduce": 8}]}
    stated = raw if scaling is None else {**raw, "scaling": scaling}
    costs_here = costs(platform())
    widget = explorer("p", parse_description(stated, "p"), costs_here, 4, None)
    made = scaled(stated, [1, 4])
    at = widget.data["ranks"].index(4)
    now = len(widget.data["times_s"][0]) // 2
    one, four = (widget.data["times_s"][k][now] for k in (0, at))
    assert widget.data["scaled"][at] * one / four == pytest.approx(made.rows[1].speed_up.value)


def test_overlap_is_only_advised_for_messages_that_do_not_overlap():
    phase = {"name": "halo", "work": "1ms / ranks", "neighbors": "ring", "bytes": 10**6}

    def gain(*phases: dict) -> float:
        changes = scaled({"phase": list(phases)}, [1, 4], platform(per_byte_s=1e-9)).changes
        return next((each.gain for each in changes if each.name == "overlap"), 0.0)

    overlapped = {**phase, "overlap": True}
    assert gain(phase) > 0 and gain(overlapped) == 0
    assert gain(overlapped, {**phase, "name": "other", "work": "1us"}) > 0


def test_fewer_ranks_are_advised_only_if_their_links_were_followed():
    def remedy(ranks: list[int], on: Platform) -> str:
        made = scaled({"phase": [{"work": "1ms", "neighbors": "ring", "bytes": 1000}]}, ranks, on)
        return next(
            c.todo for c in program_caveats(made, costs_of_description(on)) if c.code == "links-bounded"
        )

    bus = platform(1024, shape="bus", link=1e6)
    assert "up to 16 ranks" in remedy([1, 8, 16, 1024], bus)
    assert "fewer" not in remedy([1, 1024], bus) and "up to" not in remedy([1, 1024], bus)
    assert "hockney run" in remedy([1, 1024], bus)


def test_supersteps_are_full_relations_and_a_barrier():
    raw = {"phase": [{"superstep": 3000, "work": 1e-3}]}
    assert messages(raw, 4) == Counter({(a, b): 1000 for a in range(4) for b in range(4) if a != b})
    few = {"phase": [{"superstep": 3000, "partners": 1}]}
    assert messages(few, 4) == Counter({(a, (a + 1) % 4): 3000 for a in range(4)})
    names = {part.name for part in time_of(raw, 4).parts}
    assert names == {"superstep", "superstep: barrier"}


def test_measured_times_vary_as_they_did():
    """Two ranks wait for each other: of two times that are as likely, the longer one counts in three of four
    cases."""
    raw = {"phase": [{"work": 1e-3, "noise": ["0.5ms", "1.5ms"]}, {"barrier": True}]}
    found = time_of(raw, 2)
    barrier = found.total("collectives")
    assert found.seconds - barrier == pytest.approx((0.75 * 1.5 + 0.25 * 0.5) * 1e-3, rel=0.08)
    assert time_of(raw, 1).seconds == pytest.approx(1e-3, rel=0.1)


@pytest.mark.parametrize("noise", [[], [0, 0], ["1ms", "x"], ["-1ms"]])
def test_measured_times_that_are_none(noise):
    with pytest.raises(UsageError):
        parse_description({"phase": [{"work": 1e-3, "noise": noise}]}, "p")


def test_a_grid_in_blocks():
    grid = RankGrid((4, 4))
    assert (
        grid.best_tile(4) == (2, 2) and grid.best_tile(3) is None and RankGrid((6, 4)).best_tile(6) == (3, 2)
    )
    numbers = grid.ranks_by_tile((2, 2)).reshape(4, 4)
    assert numbers[:2, :2].ravel().tolist() == [0, 1, 2, 3] and sorted(numbers.ravel()) == list(range(16))


def test_neighbors_on_a_node_help_and_a_placement_keeps_all_messages():
    """Messages between nodes take much longer: blocks send fewer of them than rows of the grid."""
    near, far = Segment(latency_s=1e-6, per_byte_s=1e-10), Segment(latency_s=1e-5, per_byte_s=1e-8)
    network = Network(shape="switch", nodes=(NodeGroup(count=16, cores=4),), nic=1e8)
    nodes = Platform(name="nodes", title="nodes", network=network, segments=(far,), on_node=(near,))
    raw = {"grid": "2d", "phase": [{"work": 1e-3, "neighbors": "torus", "bytes": [8000, 8000]}]}
    found = next(each for each in scaled(raw, [64], nodes).changes if each.name == "placement on nodes")
    assert found.description == "give each node a block of 2 x 2 ranks of the grid"
    iteration = parse_description(raw, "p").iteration(64)
    places = RankGrid((8, 8)).ranks_by_tile((2, 2))
    moved = iteration.with_placement(places)
    for before, after in zip(iteration.parts, moved.parts, strict=True):
        for step, other in zip(before.steps, after.steps, strict=True):
            for layer, there in zip(step.layers, other.layers, strict=True):
                assert (places[layer.source] == there.source).all() and (
                    places[layer.target] == there.target
                ).all()
    assert moved.computation[places] == pytest.approx(iteration.computation)


def test_changes_are_those_that_help():
    raw = {"phase": [{"work": "1ms / ranks", "imbalance": 1.5}, {"allreduce": 8, "algorithm": "ring"}]}
    made = scaled(raw, [1, 8])
    changes = {change.name: change for change in made.changes}
    assert {"less imbalance", "fewer collectives", "another allreduce", "lower latency"} <= set(changes)
    assert changes["another allreduce"].description == "by recursive_doubling"
    assert [change.gain for change in made.changes] == sorted((c.gain for c in made.changes), reverse=True)
    balanced = scaled({"phase": [{"work": "1ms / ranks"}, raw["phase"][1]]}, [8]).rows[0]
    assert changes["less imbalance"].efficiency == pytest.approx(balanced.efficiency.value)


@pytest.mark.parametrize(
    ("raw", "key", "code"),
    [
        ({}, "phase", "bad-program-value"),
        ({"phase": [{}]}, "phase[0]", "bad-program-value"),
        ({"phase": [{"wrok": "1s"}]}, "phase[0].wrok", "unknown-program-key"),
        ({"phase": [{"work": "1s"}], "iteration": 3}, "iteration", "unknown-program-key"),
        ({"phase": [{"work": "1s", "bytes": 3}]}, "phase[0].bytes", "unknown-program-key"),
        ({"phase": [{"work": True}]}, "phase[0].work", "bad-program-value"),
        ({"phase": [{"work": "1s", "imbalance": 0.5}]}, "phase[0].imbalance", "bad-program-value"),
        ({"phase": [{"neighbors": "grid"}]}, "phase[0]", "program-key-missing"),
        ({"phase": [{"neighbors": "square", "bytes": 8}]}, "phase[0].neighbors", "program-choice"),
        ({"phase": [{"work": "1s", "along": "q"}]}, "phase[0].along", "bad-program-value"),
        ({"phase": [{"neighbors": "grid", "bytes": 8, "tasks": 3}]}, "phase[0].tasks", "unknown-program-key"),
        ({"phase": [{"allreduce": 8, "along": "q"}]}, "phase[0].along", "bad-program-value"),
        ({"scaling": "fast", "phase": [{"work": "1s"}]}, "scaling", "bad-program-value"),
        ({"grid": "4d", "phase": [{"work": "1s"}]}, "grid", "bad-program-value"),
        ({"sizes": 3, "phase": [{"work": "1s"}]}, "sizes", "bad-program-value"),
    ],
)
def test_wrong_descriptions_name_the_key(raw, key, code):
    with pytest.raises(UsageError) as caught:
        parse_description(raw, "p")
    assert (caught.value.fields["key"], caught.value.code) == (key, code)


@pytest.mark.parametrize(
    ("formula", "ranks", "stated"),
    [
        ("log2(0)", 8, "-inf on 8 ranks"),
        ("log2(ranks - 1)", 1, "-inf on 1 rank"),
        ("8 - ranks", 9, "-1 on 9"),
    ],
)
def test_a_formula_without_a_value_names_its_key_and_the_ranks(formula, ranks, stated):
    with pytest.raises(UsageError) as caught:
        parse_description({"phase": [{"work": "1s"}, {"allreduce": formula}]}, "p").iteration(ranks)
    assert caught.value.fields["key"] == "phase[1].allreduce" and stated in caught.value.what


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ({"phase": [{"work": "n * 1s"}]}, "unknown-name"),
        ({"grid": [2, 2], "phase": [{"work": "1s"}]}, "grid-without-ranks"),
        ({"phase": [{"work": "1s", "every": 0}]}, "program-number-out-of-range"),
        ({"phase": [{"work": "1s", "times": "rank"}]}, "program-number-out-of-range"),
        ({"phase": [{"tasks": 0, "work": "1s"}]}, "program-count-out-of-range"),
        ({"phase": [{"pipeline": "y", "bytes": 8, "work": "1s"}]}, "program-axis"),
        ({"grid": "2d", "phase": [{"alltoall": 8, "along": "z"}]}, "program-axis"),
        ({"grid": "2d", "phase": [{"neighbors": "grid", "bytes": [1, 2, 3]}]}, "program-dimensions"),
    ],
)
def test_descriptions_without_a_value_on_some_ranks(raw, code):
    with pytest.raises(UsageError) as caught:
        parse_description(raw, "p").iteration(8)
    assert caught.value.code == code


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 40),
    st.sampled_from(["grid", "torus"]),
    st.booleans(),
    st.sampled_from(["isend", "sendrecv"]),
)
def test_a_halo_never_takes_less_than_one_message_or_more_than_all(ranks, neighbors, corners, calls):
    raw = {"grid": "2d", "phase": [{"neighbors": neighbors, "corners": corners, "calls": calls, "bytes": 8}]}
    seconds, counted = time_of(raw, ranks).seconds, messages(raw, ranks)
    most = max(Counter(source for source, _ in counted).values(), default=0)
    assert (seconds > 0) == bool(counted)
    assert seconds <= 2 * 8 * MESSAGE and (not most or seconds >= MESSAGE - 1e-12)
