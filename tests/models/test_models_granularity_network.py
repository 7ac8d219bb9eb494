# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which fit is used, and whether messages share the network: by evidence, and as text."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from hockney import reference
from hockney.core.errors import Inconclusive
from hockney.core.ethernet import Ethernet
from hockney.core.fit import CurvePoint, Estimate, Fit, Fits, FittedSegment, Summary
from hockney.core.machine import Machine
from hockney.machines import simulated
from hockney.measurement.kinds import sim
from hockney.models.applications.contention import judge_contention, network_kind, override_network
from hockney.models.applications.grain_prediction import predict
from hockney.models.applications.granularity import Algorithm
from hockney.models.applications.message_costs import costs_of_description, messages_for
from hockney.models.applications.node_sharing import NodeSharing
from hockney.models.applications.point_to_point_costs import CostPiece, PointToPointCosts
from hockney.models.applications.ring_exchange import exchange_time
from hockney.system.bundled import bundled_catalog

PLAIN = PointToPointCosts("m", "M", (CostPiece(0, 1e-6, 1e-9),), False, "", max_size=1 << 22, max_ranks=8)
HERE = Machine(schema=1, kind="real", host="node", system="Linux", cpu="Z80", cores=8, threads=8, hockney="0")


def summary(case: str, seconds: float) -> Summary:
    return Summary(
        case=case, typical=Estimate(seconds, None, None), quartiles=(seconds,) * 4, within=0.0, between=None,
        repetitions=1, launches=1, bytes_moved=0, verified_bytes=0, errors=0,
    )  # fmt: skip


def exchange(size: int, ranks: int, seconds: float, **more: str) -> Summary:
    words = {"buffers": "hot", "bytes": size, "ranks": ranks, "sync": "window", **more}
    return summary(" ".join(["round_robin", *(f"{k}={v}" for k, v in sorted(words.items()))]), seconds)


def fit(subject: str, verdict: str, latency: float) -> Fit:
    line = Estimate(latency, latency, latency)
    return Fit(
        model="hockney", line=subject, parameters=[], verdict=verdict, why="so it is",
        segments=[FittedSegment(first=0, beyond=None, latency=line, per_byte=Estimate(1e-9, 1e-9, 1e-9))],
        curve=[CurvePoint(0, latency, latency, latency), CurvePoint(1 << 22, 1, 1, 1)],
    )  # fmt: skip


HOT, COLD = "pingpong buffers=hot ranks=2", "pingpong buffers=cold ranks=2"
WRITTEN = "pingpong buffers=written ranks=2"


def fits(*found: Fit, summaries: tuple[Summary, ...] = ()) -> Fits:
    workloads = bundled_catalog().workloads
    return Fits(schema=1, summaries=list(summaries), fits=list(found), workloads=workloads)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("off", [0.8, 1.0, 1.2])
def test_what_was_measured_decides(shared, off, golden):
    truth = PointToPointCosts("m", "M", PLAIN.pieces, shared, "")
    costs = judge_contention(
        PLAIN, [exchange(1 << 16, p, off * exchange_time(truth, 1 << 16, p)) for p in (4, 8)]
    )
    assert costs.shared is shared
    golden(f"network_{'shared' if shared else 'switch'}_{off}.txt", f"{network_kind(costs)}, {costs.why}")


@pytest.mark.parametrize("between", [0.48, 0.5, 0.52])
def test_where_both_models_miss_alike_nothing_is_decided(between, golden):
    ends = (exchange_time(PLAIN, 1 << 20, 4), exchange_time(replace(PLAIN, shared=True), 1 << 20, 4))
    halfway = ends[0] * (ends[1] / ends[0]) ** between
    costs = judge_contention(PLAIN, [exchange(1 << 20, 4, halfway)])
    assert not costs.shared and (costs.sharing, costs.undecided_reason) == ("assumed", "contradictory")
    golden(f"network_undecided_{between}.txt", costs.why)


@pytest.mark.parametrize("far", [0.1, 10.0])
def test_where_the_better_model_is_far_off_nothing_is_decided(far):
    slow = far * exchange_time(replace(PLAIN, shared=True), 1 << 16, 8)
    found = judge_contention(PLAIN, [exchange(1 << 16, 8, slow)])
    assert not found.shared and found.sharing == "assumed"


def test_a_bisection_decides_too():
    case = "bisection buffers=hot bytes=65536 direction={} ranks=8 sync=window"
    crossing = PLAIN.pieces[0].latency_s + 4 * 65536e-9
    assert judge_contention(PLAIN, [summary(case.format("one"), crossing)]).shared
    assert judge_contention(PLAIN, [summary(case.format("both"), crossing)]).sharing == "assumed"


PAIRS = "pairs_pingpong buffers=hot bytes=65536 {}pairs={} ranks=8 source=named"


@pytest.mark.parametrize("shared", [True, False])
def test_pairs_whose_ranks_are_alone_on_their_nodes_decide_too(shared):
    at_once = 4 if shared else 1
    seconds = PLAIN.pieces[0].latency_s + at_once * 65536e-9
    found = judge_contention(PLAIN, [summary(PAIRS.format("nodes=8 ", 4), seconds)])
    assert (found.shared, found.sharing) == (shared, "measured")


@pytest.mark.parametrize(("where", "pairs"), [("place=network ", 4), ("nodes=2 ", 4), ("nodes=8 ", 1)])
def test_pairs_that_share_a_network_card_and_a_single_pair_tell_nothing(where, pairs):
    line = " ".join(sorted(PAIRS.format(where, pairs).split()[1:]))
    found = judge_contention(PLAIN, [summary(f"pairs_pingpong {line}", 1e-3)])
    assert (found.sharing, found.undecided_reason) == ("assumed", "unmeasured")


def test_pairs_on_one_node_at_a_known_shared_rate_are_no_shared_medium():
    """4 pairs of 1 GB/s share 2 GB/s: neither all of one pair's bandwidth nor none of it."""
    costs = replace(PLAIN, place="node", node_sharing=NodeSharing(2e9, 0.0, 4, (1.9e9, 2.1e9)))
    seconds = costs.concurrent_time(1 << 20, 4)
    case = PAIRS.format("", 4).replace("65536", "1048576")
    found = judge_contention(costs, [summary(case, seconds)])
    assert (found.shared, found.sharing) == (False, "measured")
    assert judge_contention(PLAIN, [summary(case, seconds)]).sharing == "assumed"


@pytest.mark.parametrize(
    "silent",
    [
        exchange(1 << 16, 2, 1.0),
        exchange(1 << 16, 16, 1.0),  # ranks that share cores measure the scheduler
        exchange(1 << 23, 4, 1.0),  # outside the fitted range
        exchange(1 << 16, 4, 1.0, exchange="sendrecv"),
        exchange(1 << 16, 4, 1.0, sync="loop"),
        exchange(1 << 16, 4, 1.0, buffers="cold"),
        summary("barrier ranks=4 sync=window", 1.0),
    ],
)
def test_what_tells_nothing(silent):
    found = judge_contention(PLAIN, [silent])
    assert not found.shared
    assert (found.sharing, found.undecided_reason) == ("assumed", "unmeasured")


def test_short_messages_cannot_tell():
    found = judge_contention(PLAIN, [exchange(8, 4, 2e-6)])
    assert not found.shared and (found.sharing, found.undecided_reason) == ("assumed", "short")
    decided = judge_contention(found, [exchange(1 << 16, 8, exchange_time(PLAIN, 1 << 16, 8))])
    assert (decided.sharing, decided.undecided_reason) == ("measured", "")


SIZES = (8, 800, 8000, 80000)
WIRE = PointToPointCosts("m", "M", (CostPiece(0, 70e-6, 0.8e-6),), False, "", max_size=1 << 17, max_ranks=8)
"""10 Mbit/s: the headers of a short message take the wire as long as everything else."""


@pytest.mark.parametrize("off", [0.9, 1.0, 1.1])
@pytest.mark.parametrize(
    ("truth", "kind_of_it"),
    [
        (replace(WIRE, shared=True, medium=(70e-6, 0.8e-6)), (True, (70e-6, 0.8e-6))),
        (replace(WIRE, shared=True), (True, (0.0, 0.0))),
        (WIRE, (False, (0.0, 0.0))),
    ],
)
def test_short_messages_show_whether_a_message_holds_the_medium(truth, kind_of_it, off):
    cases = [exchange(size, p, off * exchange_time(truth, size, p)) for size in SIZES for p in (4, 8)]
    found = judge_contention(WIRE, cases)
    assert (found.shared, found.medium) == kind_of_it and found.sharing == "measured"
    for size in SIZES:
        assert exchange_time(found, size, 8) == pytest.approx(exchange_time(truth, size, 8))


def test_a_message_that_holds_the_medium_delays_all_others():
    truth = replace(WIRE, shared=True, medium=(70e-6, 0.8e-6))
    case = "bisection buffers=hot bytes={} direction=one ranks=8 sync=window"
    cases = [summary(case.format(size), 4 * truth.one_way(size)) for size in SIZES]
    assert judge_contention(WIRE, cases).medium == truth.medium


def test_short_messages_alone_never_show_a_shared_medium():
    """Whatever makes them slow: starting takes longer on more ranks."""
    found = judge_contention(PLAIN, [exchange(size, 8, 8 * PLAIN.one_way(size)) for size in (0, 8, 16)])
    assert not found.shared and found.undecided_reason == "short"


def test_a_size_where_a_change_may_come_before_or_after_cannot_tell():
    unsure = replace(PLAIN, changes=((1 << 15, 1 << 17),))
    case = exchange(1 << 16, 4, exchange_time(replace(PLAIN, shared=True), 1 << 16, 4))
    assert judge_contention(PLAIN, [case]).shared and not judge_contention(unsure, [case]).shared


def test_the_user_may_know_better(golden):
    assumed = judge_contention(PLAIN, [])
    assert override_network(assumed, True).shared and override_network(assumed, True).sharing == "requested"
    sun = costs_of_description(simulated.platform("sun-ethernet"))
    assert override_network(sun, True) == sun
    switch = override_network(sun, False)
    assert not switch.shared and switch.sharing == "requested"
    in_turn = costs_of_description(simulated.platform("switched-ethernet"))
    side_by_side = override_network(in_turn, False)
    golden("network_overruled.txt", f"{network_kind(in_turn)}\n{network_kind(side_by_side)}")
    assert exchange_time(side_by_side, 0, 16) == pytest.approx(2 * 1.2e-3)
    assert exchange_time(in_turn, 0, 16) == pytest.approx(16 * 1.2e-3)


def test_the_best_fit_is_used():
    several = fits(
        fit(COLD, "good", 3e-6), fit(HOT, "poor", 1e-6), fit("stream buffers=hot ranks=2", "good", 9e-6)
    )
    costs = messages_for(several, HERE, "runs/mine")
    assert costs.one_way(0) == 1e-6 and costs.verdict == "poor" and costs.doubt == "so it is"
    assert costs.title == "node (Z80)" and costs.source.endswith(" runs/mine")
    assert costs.max_ranks == 8 and messages_for(several, HERE, "", hosts=3).max_ranks == 24
    only_cold = messages_for(fits(fit(COLD, "good", 3e-6)), HERE, "")
    assert only_cold.one_way(0) == 3e-6


@pytest.mark.parametrize("shared", [True, False])
def test_programs_send_what_they_have_just_written_on_the_network_that_hot_exchanges_show(shared):
    """Equation 3 with hot messages (2 us + 1 ns a byte); written ones take three times as long."""
    truth = replace(messages_for(fits(fit(HOT, "good", 2e-6)), HERE, ""), shared=shared)
    exchanges = (exchange(1 << 16, 4, exchange_time(truth, 1 << 16, 4)),)
    measured = fits(fit(HOT, "good", 2e-6), fit(WRITTEN, "fair", 6e-6), summaries=exchanges)
    found = messages_for(measured, HERE, "", buffers="written")
    assert (found.one_way(0), found.buffers, found.verdict) == (6e-6, "written", "fair")
    assert (found.shared, found.sharing) == (shared, "measured")
    default = messages_for(measured, HERE, "")
    assert (default.one_way(0), default.buffers, default.shared) == (2e-6, "hot", shared)
    old = messages_for(fits(fit(COLD, "good", 3e-6), fit(HOT, "poor", 1e-6)), HERE, "", buffers="written")
    assert (old.one_way(0), old.buffers) == (1e-6, "hot")


@pytest.mark.parametrize(("ranks_per_node", "room"), [(0, 8), (1, 8), (2, 16)])
def test_emulated_hosts_have_room_for_their_ranks_whatever_cores_they_share(ranks_per_node, room):
    ethernet = Ethernet(name="e", title="E", hosts=8, rate=1.25e6, medium="bus")
    machine = msgspec.structs.replace(HERE, cores=2, emulated=ethernet, ranks_per_node=ranks_per_node)
    assert messages_for(fits(fit(HOT, "good", 1e-4)), machine, "", hosts=8).max_ranks == room


def test_without_a_fit_there_is_nothing_to_say():
    with pytest.raises(Inconclusive) as caught:
        messages_for(fits(), HERE, "runs/x")
    assert (caught.value.code, caught.value.fields["refused"]) == ("no-message-model", "")
    refused = Fit(model="hockney", line=HOT, parameters=[], verdict="refused", why="only 1 size")
    with pytest.raises(Inconclusive) as caught:
        messages_for(fits(refused), HERE, "runs/x")
    assert (caught.value.code, caught.value.fields["refused"]) == ("no-message-model", HOT)


def test_a_simulated_run_stands_on_its_description():
    platform = simulated.platform("switched-ethernet")
    machine = msgspec.structs.replace(HERE, kind="simulated", traits=sim.TRAITS, cores=16, platform=platform)
    found = messages_for(fits(fit(HOT, "good", 1.2e-3)), machine, "runs/sim")
    assert found.medium == (1.2e-3, 0.0) and found.eager_limit == 128000 and found.max_ranks == 16
    assert exchange_time(found, 0, 8) == pytest.approx(8 * 1.2e-3)
    published = msgspec.structs.replace(HERE, kind="published", traits=reference.TRAITS)
    assert messages_for(fits(fit(HOT, "good", 1e-3)), published, "").max_ranks is None


def test_on_nodes_of_several_cores_the_run_measured_one_node(golden):
    described_sp = simulated.platform("ibm-sp")
    nodes = (msgspec.structs.replace(described_sp.nodes[0], cores=4),)
    platform = msgspec.structs.replace(
        described_sp, network=msgspec.structs.replace(described_sp.network, nodes=nodes)
    )
    machine = msgspec.structs.replace(HERE, kind="simulated", traits=sim.TRAITS, platform=platform)
    costs = messages_for(fits(fit(HOT, "good", 1e-6)), machine, "the run")
    assert exchange_time(costs, 0, 4) == pytest.approx(2e-6)
    assert exchange_time(costs, 0, 8) == pytest.approx(1e-6 + 45e-6)
    golden("network_two_levels.txt", costs.source)
    assert costs.bounds(0, 4) is not None and costs.bounds(0, 5) is None, "between nodes nothing was fitted"
    unsure = replace(costs, within_node=replace(costs.within_node, changes=((1, 9),)))
    assert unsure.change_around(4, 4) == (1, 9) == unsure.change_around(4, 5), (
        "5 ranks have messages on a node too"
    )
    assert replace(unsure, cores=1).change_around(4, 5) is None
    rows = predict(Algorithm(1e-3, 8), costs, [4, 8]).rows
    assert [row.efficiency.low is not None for row in rows] == [True, False]
