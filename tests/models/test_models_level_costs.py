# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Collectives on several nodes with several ranks each: schedules against sums made by hand, and which
measurements of a run count at which level."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models_data import CATALOG, line_fit, summary
from models_data import HERE as ONE_NODE
from msgspec.structs import replace

from hockney.core.errors import Inconclusive, UsageError
from hockney.core.fit import Estimate, Fit, Fits, Summary
from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.models import collective_costs
from hockney.models.applications.message_costs import messages_for
from hockney.models.collective_costs import errors_by_layout, predict
from hockney.models.schedules import CLOSED_FORMS

HERE = replace(ONE_NODE, hosts=["n0", "n1"], nodes=2, ranks_per_node=4, levels=["node", "network"])
NEAR, FAR = (1e-6, 1e-10), (20e-6, 1e-9)
CROSSING = {"node": 1.5e-6, "network": 24e-6}
COPY, COMBINE = 2e-10, 5e-10
SIZES = (8, 1024, 65536)
SIZE = 1024


def pairs(levels: dict[str, tuple[float, float]], crossing: dict[str, float]) -> list[Fit]:
    made = []
    for place, (alpha, beta) in levels.items():
        within = 0.1 if place == "node" else 0.2
        made.append(line_fit(f"pingpong buffers=hot place={place} ranks=2", alpha, beta, within))
        if place in crossing:
            start = crossing[place]
            made.append(line_fit(f"pingpong_double buffers=hot place={place} ranks=2", start, beta, within))
    return made


def measured(crossing: dict[str, float] | None = None, summaries: list[Summary] | None = None) -> Fits:
    names = ("pingpong", "pingpong_double", "allgather", "reduce", "bcast", "scan")
    return Fits(
        schema=2,
        summaries=summaries or [],
        fits=pairs({"node": NEAR, "network": FAR}, crossing or {}),
        workloads=[CATALOG.entry(name) for name in names],
    )


def near(size: float) -> float:
    return NEAR[0] + NEAR[1] * size


def far(size: float) -> float:
    return FAR[0] + FAR[1] * size


def time(operation: str, algorithm: str, ranks: int, nodes: int, fits: Fits | None = None):
    (found,) = predict(fits or measured(), HERE, operation, algorithm, ranks, [SIZE], nodes=nodes)
    return found


@pytest.mark.parametrize(
    ("operation", "algorithm", "nodes", "expected"),
    [
        # 0 to 4 between the nodes, 4 to 6, 6 to 7
        ("bcast", "binomial", 2, lambda: far(SIZE) + 2 * near(SIZE)),
        ("bcast", "binomial", 1, lambda: 3 * near(SIZE)),
        ("bcast", "binomial", 8, lambda: 3 * far(SIZE)),
        # 0 to 4, 0 to 2 and 4 to 6 between the nodes, 6 to 7 within one
        ("bcast", "binomial", 4, lambda: 2 * far(SIZE) + near(SIZE)),
        # 7 hops of the 8 of the ring, of which 2 are between the nodes
        ("allgather", "ring", 2, lambda: 2 * far(SIZE) + 5 * near(SIZE)),
        ("allgather", "ring", 4, lambda: 4 * far(SIZE) + 3 * near(SIZE)),
        # partners 1, 2, 4 apart
        ("allgather", "recursive_doubling", 2, lambda: near(SIZE) + near(2 * SIZE) + far(4 * SIZE)),
        ("allreduce", "recursive_doubling", 4, lambda: near(SIZE) + 2 * far(SIZE)),
        ("alltoall", "pairwise_exchange", 8, lambda: 7 * far(SIZE)),
    ],
)
def test_schedules_on_eight_ranks(operation, algorithm, nodes, expected):
    found = time(operation, algorithm, 8, nodes)
    assert found.time.value == pytest.approx(expected(), rel=1e-9)
    assert found.time.low < found.time.value < found.time.high


def test_textbook_has_both_levels_too():
    assert time("bcast", "binomial", 8, 2).textbook == pytest.approx(far(SIZE) + 2 * near(SIZE))
    assert time("bcast", "linear", 8, 2).textbook == pytest.approx(4 * far(SIZE) + 3 * near(SIZE))


def test_the_interval_has_that_of_each_level():
    found = time("bcast", "binomial", 8, 2).time
    assert found.low == pytest.approx(0.8 * far(SIZE) + 0.9 * 2 * near(SIZE))
    assert found.high == pytest.approx(1.2 * far(SIZE) + 1.1 * 2 * near(SIZE))
    alone = time("bcast", "binomial", 8, 1).time
    assert alone.low == pytest.approx(0.9 * alone.value)


def test_messages_that_cross_cost_what_they_do_at_their_level():
    fits = measured(CROSSING)
    found = time("allgather", "recursive_doubling", 8, 2, fits).time.value
    parts = (
        CROSSING["node"] + NEAR[1] * SIZE,
        CROSSING["node"] + NEAR[1] * 2 * SIZE,
        CROSSING["network"] + FAR[1] * 4 * SIZE,
    )
    assert found == pytest.approx(sum(parts))
    only = measured({"network": CROSSING["network"]})
    assert time("allgather", "ring", 4, 1, only).time.value == pytest.approx(3 * near(SIZE))


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(CLOSED_FORMS)), st.integers(1, 4), st.integers(1, 4))
def test_on_equal_levels_the_layout_makes_no_difference(key, nodes, each):
    """And a schedule is never faster than within one node, nor slower than between nodes only."""
    fits = measured()
    same = replace(fits, fits=pairs({"node": FAR, "network": FAR}, {}))
    ranks = nodes * each
    times = {}
    for name, of in (("two", fits), ("same", same)):
        for count in (nodes, ranks, 1):
            try:
                times[name, count] = time(*key, ranks, count, of).time.value
            except UsageError:
                return  # not for this number of ranks
    assert times["same", nodes] == pytest.approx(times["same", ranks], rel=1e-9)
    assert times["same", 1] == pytest.approx(times["same", ranks], rel=1e-9)
    assert times["two", 1] * (1 - 1e-9) <= times["two", nodes] <= times["two", ranks] * (1 + 1e-9)


def test_ranks_fill_the_nodes_of_the_run_if_no_number_of_nodes_is_given():
    assert time("bcast", "binomial", 4, 0).time.value == pytest.approx(2 * near(SIZE))
    assert time("bcast", "binomial", 8, 0).time.value == time("bcast", "binomial", 8, 2).time.value


def test_after_a_barrier_the_last_to_leave_makes_others_wait():
    """Of a dissemination barrier on 2 x 4 ranks, 3 and 7 leave after two rounds on a node and one between
    them, the others after one on a node and two between them. Rank 7 then waits for 0, which left late."""
    (found,) = predict(measured(), HERE, "bcast", "binomial", 8, [SIZE], nodes=2, after_barrier=True)
    late = (near(0) + 2 * far(0)) - (2 * near(0) + far(0))
    assert found.time.value == pytest.approx(late + far(SIZE) + 2 * near(SIZE))
    (alone,) = predict(measured(), HERE, "bcast", "binomial", 4, [SIZE], nodes=1, after_barrier=True)
    assert alone.time.value == pytest.approx(2 * near(SIZE)), "all leave at once"


@pytest.mark.parametrize("nic", [1e12, 1e9])
def test_after_a_barrier_on_a_described_machine(nic):
    """With shared links too, where another simulator is used."""
    platform_ = platform(4, 4)
    platform_ = replace(platform_, network=replace(platform_.network, nic=nic))
    machine = replace(HERE, platform=platform_, ranks_per_node=0)
    nothing = Fits(schema=2, summaries=[], fits=[], workloads=[])
    (found,) = predict(nothing, machine, "bcast", "binomial", 8, [SIZE], nodes=2, after_barrier=True)
    late = (near(0) + 2 * far(0)) - (2 * near(0) + far(0))
    assert found.time.value == pytest.approx(late + far(SIZE) + 2 * near(SIZE), rel=0.1)


def test_errors_are_by_layout():
    times = {1: 2 * near(SIZE), 2: 2 * (near(SIZE) + far(SIZE))}
    cases = [
        summary(f"bcast algorithm={a} bytes={SIZE} nodes={k} ranks=4 sync=window", t)
        for k, t in times.items()
        for a in ("mpi", "binomial")
    ]
    empty = summary("bcast bytes=0 nodes=2 ranks=4 sync=window", 1e-9)
    unplaced = summary(f"bcast bytes={SIZE} ranks=4 sync=window", 1e-9)
    found = errors_by_layout(measured(summaries=[*cases, empty, unplaced]), HERE)
    assert [(x.algorithm, x.predicted_as, x.ranks, x.nodes) for x in found] == [
        ("binomial", "binomial", 4, 1), ("binomial", "binomial", 4, 2),
        ("mpi", "binomial", 4, 1), ("mpi", "binomial", 4, 2),
    ]  # fmt: skip
    assert [x.typical for x in found] == pytest.approx([0, 0.5, 0, 0.5], abs=1e-9)
    assert [x.worst for x in found] == pytest.approx([0, -0.5, 0, -0.5], abs=1e-9)


# A rank's own work


def of_pairs(name: str, seconds: float, placed: str, **more: object) -> list[Summary]:
    return [
        summary(f"{name} bytes={n} ranks=2 {placed}", seconds + more_s * n, **more)
        for n in SIZES
        for more_s in [{"allgather": COPY, "reduce": COMBINE}[name]]
    ]


@pytest.mark.parametrize("placed", ["place=node", "nodes=1"])
def test_work_is_taken_from_operations_within_a_node(placed):
    """Those between nodes, which seem to take none, do not count."""
    within = [
        s
        for name, start in (("allgather", NEAR), ("reduce", NEAR))
        for s in of_pairs(name, 0.0, placed)
        for s in [replace(s, typical=_more(s.typical, start, s.case))]
    ]
    between = [
        replace(s, typical=_more(Estimate(0.0, 0.0, 0.0), FAR, s.case))
        for name in ("allgather", "reduce")
        for s in of_pairs(name, 0.0, "nodes=2")
    ]
    fits = measured(summaries=[*between, *within])
    found = time("allreduce", "recursive_doubling", 8, 2, fits)
    expected = 2 * near(SIZE) + far(SIZE) + 3 * COMBINE * SIZE + COPY * SIZE
    assert found.time.value == pytest.approx(expected, rel=0.02)
    assert found.left_out == ()
    only = measured(summaries=between)
    assert time("allreduce", "recursive_doubling", 8, 2, only).left_out == ()


def test_work_is_taken_from_the_level_whose_messages_are_subtracted():
    """Operations in a cache are faster than messages between sockets, so that nothing would seem left."""
    at_node, in_cache = (
        [
            replace(s, typical=_more(Estimate(0.0, 0.0, 0.0), (start, NEAR[1] + COPY), s.case))
            for s in of_pairs("allgather", 0.0, placed)
        ]
        for placed, start in (("place=node", NEAR[0]), ("place=cache", 0.1 * NEAR[0]))
    )
    for summaries in ([*in_cache, *at_node], [*at_node, *in_cache]):
        found = time("allgather", "ring", 8, 1, measured(summaries=summaries)).time.value
        assert found == pytest.approx(7 * near(SIZE) + COPY * SIZE)


def test_messages_within_a_node_do_not_predict_those_between_nodes():
    fits = replace(measured(), fits=pairs({"node": NEAR}, {}))
    alone = replace(HERE, nodes=0, ranks_per_node=0, hosts=[])
    with pytest.raises(Inconclusive) as refused:
        predict(fits, alone, "bcast", "binomial", 4, [SIZE], nodes=2)
    assert refused.value.code == "no-messages-between-nodes"
    (found,) = predict(fits, alone, "bcast", "binomial", 4, [SIZE], nodes=1)
    assert found.time.value == pytest.approx(2 * near(SIZE))
    only_far = replace(measured(), fits=pairs({"network": FAR}, {}))
    (found,) = predict(only_far, HERE, "bcast", "binomial", 4, [SIZE], nodes=4)
    assert found.time.value == pytest.approx(2 * far(SIZE))


def _more(time: Estimate, line: tuple[float, float], case: str) -> Estimate:
    size = CATALOG.case(case).bytes
    seconds = time.value + line[0] + line[1] * size
    return Estimate(seconds, seconds, seconds)


# Next to what was measured


def test_predictions_stand_next_to_collectives_on_their_numbers_of_nodes():
    cases = [summary(f"bcast bytes={SIZE} nodes={k} ranks=8", 2 * far(SIZE)) for k in (1, 2, 4)]
    rows = collective_costs.beside_mpi(measured(summaries=cases), HERE, "bcast")
    assert [(row.ranks, row.nodes) for row in rows] == [(8, 1), (8, 2), (8, 4)]
    values = [3 * near(SIZE), far(SIZE) + 2 * near(SIZE), 2 * far(SIZE) + near(SIZE)]
    assert [row.predicted.time.value for row in rows] == pytest.approx(values)
    assert [row.error for row in rows] == pytest.approx([v / (2 * far(SIZE)) - 1 for v in values])


def test_two_ranks_at_a_level_are_predicted_there():
    cases = [summary(f"bcast bytes={SIZE} place={k} ranks=2", far(SIZE)) for k in ("node", "network")]
    pairs_only = summary(f"bcast bytes={SIZE} place=network ranks=8", far(SIZE))
    rows = collective_costs.beside_mpi(measured(summaries=[*cases, pairs_only]), HERE, "bcast")
    assert [(row.ranks, row.nodes) for row in rows] == [(2, 1), (2, 2)]
    assert [row.predicted.time.value for row in rows] == pytest.approx([near(SIZE), far(SIZE)])


# Described machines


def platform(nodes: int, cores: int) -> Platform:
    between = Segment(send_s=1e-6, latency_s=18e-6, per_byte_s=1e-9, receive_s=1e-6)
    on_node = Segment(send_s=1e-7, latency_s=8e-7, per_byte_s=1e-10, receive_s=1e-7)
    network = Network(nodes=(NodeGroup(count=nodes, cores=cores),))
    return Platform(name="m", title="M", network=network, segments=(between,), on_node=(on_node,))


def test_a_described_machine_takes_a_layout_too():
    machine = replace(HERE, platform=platform(4, 4))
    nothing = Fits(schema=2, summaries=[], fits=[], workloads=[])

    def value(ranks: int, nodes: int) -> float:
        (found,) = predict(nothing, machine, "bcast", "binomial", ranks, [SIZE], nodes=nodes)
        return found.time.value

    assert value(4, 0) == value(4, 1) == pytest.approx(2 * near(SIZE))
    assert value(4, 2) == pytest.approx(far(SIZE) + near(SIZE))
    assert value(4, 4) == pytest.approx(2 * far(SIZE))
    for ranks, nodes, code in ((8, 8, "nodes-beyond-machine"), (8, 1, "ranks-per-node-beyond-cores")):
        with pytest.raises(UsageError) as refused:
            value(ranks, nodes)
        assert refused.value.code == code


def test_a_run_on_a_described_machine_keeps_both_measured_levels():
    machine = replace(HERE, platform=platform(4, 4))
    found = messages_for(measured(), machine, "the run")
    assert found.within_node is not None and found.within_node.one_way(0) == pytest.approx(NEAR[0])
    assert found.between_nodes.one_way(0) == pytest.approx(FAR[0]) and found.between_nodes.band
    assert found.sharing == "described" and found.cores == 4
    between = replace(measured(), fits=pairs({"network": FAR}, {}))
    found = messages_for(between, machine, "the run")
    assert found.between_nodes.one_way(0) == pytest.approx(FAR[0]) and found.between_nodes.band
    assert (
        found.within_node is not None
        and found.within_node.one_way(0) == pytest.approx(1e-6)
        and not found.within_node.band
    )
