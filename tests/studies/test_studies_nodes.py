# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of nodes on fake clusters with known faults."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace as with_fields
from real_mpi import simgrid_here

from hockney import api, measurement, studies
from hockney.cli.start import guarded
from hockney.core.errors import UsageError
from hockney.core.ethernet import Ethernet
from hockney.core.layout import HostOptions
from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.core.settings import Settings
from hockney.draw.page import Widget
from hockney.launch.fake import parse_fake_launcher
from hockney.launch.fakes.nodes import fake_partners
from hockney.studies import Evidence, Options
from hockney.studies.nodes.columns import answer, summary
from hockney.studies.nodes.headline import headline
from hockney.studies.nodes.plan import PAIR_MEASURES
from hockney.studies.nodes.results import NodesResults

STUDY = studies.find_study("nodes")


def run(folder: Path, machine: str, ranks_per_node: int = 1, launches: int = 6, **parameters) -> Evidence:
    launcher = parse_fake_launcher(machine, HostOptions(ranks_per_node=ranks_per_node))
    bench = measurement.fake_bench(launcher, workloads=STUDY.WORKLOADS)
    layout = launcher.nodes.layout
    described = with_fields(
        bench.machine,
        nodes=layout.nodes,
        ranks_per_node=ranks_per_node,
        levels=["network"] if ranks_per_node == 1 else ["node", "network"],
    )
    cases = STUDY.plan(Options(parameters=parameters), bench.catalog, described)
    settings = Settings("nodes", seed=1, launches=launches, budget_s=60.0)
    made = measurement.create_run(folder, cases, settings, bench)
    measurement.measure(made, bench, lambda event: None)
    return api.load(folder).evidence


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return run(tmp_path_factory.mktemp("faulty") / "r", "fake:nodes=12;node=3:1.1;link=2-5:1.4", 2)


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return run(
        tmp_path_factory.mktemp("clean") / "r", "fake:nodes=12;seed=2", measure=("latency", "bandwidth")
    )


@pytest.mark.parametrize(("shape", "expected"), [("torus", "one"), ("switch", "all")])
def test_pairs_that_share_simulated_cables_take_turns(shape: str, expected: str):
    launcher = parse_fake_launcher("fake:nodes=8", HostOptions())
    bench = measurement.fake_bench(launcher, workloads=STUDY.WORKLOADS)
    network = Network(shape=shape, dims=(8,)) if shape == "torus" else Network(nodes=(NodeGroup(count=8),))
    platform = Platform(name="m", title="M", network=network, segments=(Segment(latency_s=1e-6),))
    machine = with_fields(bench.machine, platform=platform, nodes=8, ranks_per_node=1)
    for options in ({}, {"at_once": "one"}):
        cases = STUDY.plan(Options(parameters=options), bench.catalog, machine)
        assert {case["at_once"] for case in cases if "at_once" in case} == {options.get("at_once", expected)}


@pytest.mark.parametrize(
    ("medium", "trunk", "expected"), [("bus", 0.0, "one"), ("switch", 1e6, "one"), ("switch", 0.0, "all")]
)
def test_pairs_that_share_emulated_cables_take_turns(medium: str, trunk: float, expected: str):
    bench = measurement.fake_bench(
        parse_fake_launcher("fake:nodes=8", HostOptions()), workloads=STUDY.WORKLOADS
    )
    ethernet = Ethernet(name="e", title="E", hosts=8, rate=1e7, medium=medium, trunk=trunk)
    machine = with_fields(bench.machine, emulated=ethernet, nodes=8, ranks_per_node=1)
    cases = STUDY.plan(Options(parameters={"measure": PAIR_MEASURES}), bench.catalog, machine)
    assert {case["at_once"] for case in cases} == {expected}


def test_the_slow_node_and_link_are_named(faulty: Evidence):
    found = answer(faulty)
    assert found["slow_nodes"] == ["fakehost3"]
    assert found["slow_links"] == [["fakehost2", "fakehost5"]]
    assert STUDY.has_fault(faulty)
    results = NodesResults.of(faulty)
    for slowdown in results.node_slowdowns("fakehost3").values():
        assert slowdown.ratio.low < 1.1 < slowdown.ratio.high * 1.01
        assert slowdown.state == ("usual" if slowdown.measure == "delays" else "slow")
    assert {s.measure for s in results.slow_nodes["fakehost3"]} == {
        "latency", "sending", "receiving", "bidirectional", "local", "compute", "memory",
    }  # fmt: skip
    assert results.ranking[0] == "fakehost3"
    assert all(1.2 < link.ratio.value < 1.45 for link in results.slow_links), "partly attributed to the nodes"


def test_a_clean_cluster_names_nothing(clean: Evidence):
    found = answer(clean)
    assert found["slow_nodes"] == [] and found["slow_links"] == []
    assert not STUDY.has_fault(clean) and STUDY.is_conclusive(clean)
    assert {node["measure"] for node in found["nodes"]} == {
        "latency", "sending", "receiving", "delays",
    }  # fmt: skip
    assert all(node["verdict"] == "usual" for node in found["nodes"])
    delays = found["power"].pop(-1)
    assert delays["measure"] == "delays" and delays["node"] < delays["link"] < 0.05
    for power in found["power"]:
        assert 1.05 <= power["node"] < 1.1 < 1.2 and power["node"] < power["link"] * 1.05
    assert found["typical_s"]["latency"] == pytest.approx(2e-6, rel=0.03)


def test_page_and_tables(faulty: Evidence, clean: Evidence):
    page = STUDY.page(faulty)
    assert isinstance(page.lead, Widget)
    data = page.lead.data
    assert data["nodes"][:3] == ["fakehost0", "fakehost1", "fakehost2"] and data["nodes"][-1] == "fakehost11"
    latency = data["measures"][0]["rows"]
    assert latency[4][8:10] == "--"
    assert int(latency[2][10:12], 36) / 100 == pytest.approx(1.4, abs=0.05)
    assert int(latency[0][6:8], 36) / 100 == pytest.approx(1.1, abs=0.05)
    assert [table.name for table in summary(faulty)] == ["nodes-slow", "nodes-power", "nodes-ranking"]
    assert [table.name for table in summary(clean)] == ["nodes-power", "nodes-ranking"]
    assert headline(NodesResults.of(clean))[0].startswith("None of 12 nodes")
    assert "fakehost3" in headline(NodesResults.of(faulty))[0]


def with_pair_times(
    evidence: Evidence, change: Callable[[np.ndarray, np.ndarray, int], np.ndarray]
) -> Evidence:
    """The evidence with other times: `change` takes those of a launch, the partners (both with a column for
    each rank) and the number of the launch."""
    records, launches = [], [launch.launch for launch in evidence.run.launches]
    for record in evidence.run.records:
        times, partners = (
            np.reshape(record.metrics[name].values, (len(record.times_s), -1))
            for name in ("pair_time", "partner")
        )
        changed = change(times, partners, launches.index(record.launch))
        metric = with_fields(record.metrics["pair_time"], values=changed.ravel().tolist())
        records.append(with_fields(record, metrics=record.metrics | {"pair_time": metric}))
    return replace(evidence, run=replace(evidence.run, records=tuple(records)))


def test_occasional_delays_of_a_link_are_named(clean: Evidence):
    """A share of the messages between two nodes is lost and sent again; the median does not change."""
    random, ranks = np.random.default_rng(1), np.arange(12)

    def lossy(times: np.ndarray, partners: np.ndarray, launch: int) -> np.ndarray:
        pair = np.isin(ranks, (4, 9)) & np.isin(partners, (4, 9))
        return times + 1e-3 * (pair & (random.random(times.shape) < 0.1))

    evidence = with_pair_times(clean, lossy)
    results = NodesResults.of(evidence)
    (link,) = results.slow_links
    assert (link.nodes, link.kind) == (("fakehost4", "fakehost9"), "delays")
    assert not results.slow_nodes and STUDY.has_fault(evidence)
    assert (
        f"The link fakehost4 - fakehost9 delays {link.delayed} of {link.repetitions}" in headline(results)[0]
    )
    (row,) = answer(evidence)["links"]
    assert (row["fault"], row["delayed"], row["repetitions"]) == ("delays", link.delayed, link.repetitions)
    assert 0.05 < link.delayed / link.repetitions < 0.3


def test_a_node_that_might_be_slow_is_undecided(clean: Evidence):
    """One node takes longer in some launches, so its interval reaches beyond what a run should find."""

    def slowed(times: np.ndarray, partners: np.ndarray, launch: int) -> np.ndarray:
        own = (np.arange(12) == 7) | (partners == 7)
        return np.where(own, 1.0 + 0.2 * (launch % 3), 1.0) * times

    evidence = with_pair_times(clean, slowed)
    results = NodesResults.of(evidence)
    assert {s.name for s in results.undecided} == {"fakehost7"} and not STUDY.has_fault(evidence)
    assert not STUDY.is_conclusive(evidence), "the exit code is then 4"
    assert any(sentence.startswith("fakehost7 is undecided") for sentence in headline(results))


def test_few_launches_are_inconclusive(tmp_path: Path):
    evidence = run(tmp_path / "r", "fake:nodes=6;node=3:1.3", launches=2, measure=("latency",))
    assert answer(evidence)["slow_nodes"] == []
    assert not STUDY.is_conclusive(evidence) and not STUDY.has_fault(evidence)
    assert len(headline(NodesResults.of(evidence))) == 2


def test_launches_that_cannot_name_a_link_are_inconclusive(tmp_path: Path):
    """In 3 launches of 10 links, the slowest in each is not significant."""
    evidence = run(tmp_path / "r", "fake:nodes=5;link=1-3:1.5", launches=3, measure=PAIR_MEASURES)
    results = NodesResults.of(evidence)
    assert all(power.node is not None and power.link is None for power in results.main_powers)
    assert results.too_few_for_links
    assert not results.has_groups and not STUDY.has_fault(evidence) and not STUDY.is_conclusive(evidence)
    enough = run(tmp_path / "s", "fake:nodes=5;link=1-3:1.5", launches=5, measure=PAIR_MEASURES)
    assert answer(enough)["slow_links"] == [["fakehost1", "fakehost3"]]
    assert not NodesResults.of(enough).too_few_for_links


def test_slow_pairs_in_groups_name_no_link(tmp_path: Path):
    """Nodes 0 to 4 communicate with each other on a slow switch."""
    links = ";".join(f"link={i}-{j}:1.5" for i in range(5) for j in range(i + 1, 5))
    evidence = run(tmp_path / "r", f"fake:nodes=16;{links}", measure=("latency",))
    results = NodesResults.of(evidence)
    assert results.has_groups and results.slow_links == ()
    assert STUDY.has_fault(evidence) == bool(results.slow_nodes)


def test_a_slow_switch_is_named_instead_of_its_nodes(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    conf = tmp_path / "topology.conf"
    leaves = (f"SwitchName=leaf{k} Nodes=fakehost[{4 * k}-{4 * k + 3}]" for k in range(4))
    conf.write_text("\n".join([*leaves, "SwitchName=top Switches=leaf[0-3]"]))
    slow = ";".join(f"node={node}:1.15" for node in range(8, 12))
    words = ["run", "nodes", "measure=latency", "--ranks-per-node", "1", "--launches", "6", "--budget", "10s"]
    options = ["--machine", f"fake:nodes=16;{slow};node=1:1.2", "--json", "-q"]
    assert guarded([*words, f"topology={conf}", *options, "--out", str(tmp_path / "a")]) == 1
    found = json.loads(capsys.readouterr().out)["answer"]
    assert found["slow_switches"] == ["leaf2"] and found["slow_nodes"] == ["fakehost1"]
    within = [row for row in found["switches"] if row["measure"] == "latency within"]
    assert [row["switch"] for row in within] == ["leaf0", "leaf1", "leaf2", "leaf3"]
    assert within[2]["ratio"]["value"] == pytest.approx(1.15**2, rel=0.02)
    assert guarded([*words, *options, "--out", str(tmp_path / "b")]) == 1
    capsys.readouterr()
    conf.write_text("SwitchName=leaf0 Nodes=other[1-4]")
    assert guarded([*words, f"topology={conf}", *options]) == 2


def test_exit_code_and_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    words = ["run", "nodes", "measure=latency", "--ranks-per-node", "1", "--launches", "4", "--budget", "10s"]
    slow = [*words, "--machine", "fake:nodes=8;node=6:1.2", "--out", str(tmp_path / "a"), "--json", "-q"]
    assert guarded(slow) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["answer"]["slow_nodes"] == ["fakehost6"]
    assert guarded([*words, "--machine", "fake:nodes=8", "--out", str(tmp_path / "b"), "-q"]) == 0


def test_the_history_follows_every_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def measured(day: int, fault: str = "") -> str:
        folder = tmp_path / str(day)
        machine = f"fake:nodes=5;seed={day};day={day}{fault}"
        words = ["run", "nodes", "measure=latency", "--ranks-per-node", "1", "--launches", "3"]
        guarded(
            [*words, "--machine", machine, "--seed", str(day), "--out", str(folder), "--budget", "2s", "-q"]
        )
        return str(folder)

    archive = ["--archive", str(tmp_path / "archive"), "-q"]
    for day in range(6):
        assert guarded(["history", "add", measured(day), *archive]) == 0
    slow = measured(7, ";node=3:1.3")
    capsys.readouterr()
    assert guarded(["history", "check", slow, *archive, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    slower = [o for o in document["operations"] if o["verdict"] == "slower"]
    assert [operation["level"] for operation in slower] == ["on fakehost3"]
    assert len(document["operations"]) == 6, "all pairs, and every node"


@pytest.mark.parametrize(
    ("machine", "ranks_per_node", "parameters", "code"),
    [
        ("fake:nodes=3", 2, {}, "too-few-nodes"),
        ("fake:nodes=4", 1, {"measure": ("local",)}, "local-with-one-rank"),
    ],
)
def test_what_cannot_be_compared(
    tmp_path: Path, machine: str, ranks_per_node: int, parameters: dict[str, object], code: str
):
    with pytest.raises(UsageError) as error:
        run(tmp_path / "r", machine, ranks_per_node, **parameters)
    assert error.value.code == code


def test_simulated_nodes_compute_alike(capsys: pytest.CaptureFixture[str]):
    machine = ["--machine", "sim:switched-ethernet", "--assume-network", "--json", "--ranks", "4"]
    assert guarded(["plan", "nodes", "measure=latency,memory", *machine]) == 2
    error = json.loads(capsys.readouterr().err.splitlines()[-1])["error"]
    assert error["code"] == "simulated-nodes-compute-alike"


@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_partners_on_the_fake_machine(ranks: int):
    rounds = ranks + ranks % 2 - 1
    partners = fake_partners(ranks, rounds, meets_all=True)
    for row in partners:
        assert (row[row] == range(ranks)).all()
    pairs = {(min(k, p), max(k, p)) for row in partners for k, p in enumerate(row) if k != p}
    assert len(pairs) == ranks * (ranks - 1) // 2


@pytest.mark.simgrid
def test_the_seed_decides_who_meets_whom(tmp_path: Path):
    simgrid_here()

    def partners(name: str, seed: int) -> list[list[float]]:
        question = (
            "run",
            "nodes",
            "measure=latency",
            "tournaments=1",
            "--machine",
            "sim:t3e",
            "--ranks",
            "8",
        )
        options = (
            "--ranks",
            "8",
            "--launches",
            "2",
            "--seed",
            str(seed),
            "--out",
            str(tmp_path / name),
            "-q",
        )
        assert guarded([*question, *options]) == 0
        records = api.load(tmp_path / name).evidence.run.records
        return [list(record.metrics["partner"].values) for record in records]

    first, second = partners("1", 1)
    assert first != second, "launches have different orders"
    assert partners("again", 1) == [first, second]
    assert not any(order in (first, second) for order in partners("2", 2))
