# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of nodes on simulated clusters with known faults, and without any."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from real_mpi import simgrid_here

from hockney.cli.start import guarded

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]
MACHINE = """
name = "cluster"
title = "A cluster"
[network]
{network}
nic = "12.5GB/s"
[[segments]]
latency_s = "1.5us"
per_byte_s = "1/(11GB/s)"
[noise]
relative = 0.05
per_launch = 0.02
seed = 2
"""
SWITCH = 'shape = "switch"\nnodes = [{count = 16}]'
FAT_TREE = 'shape = "fat-tree"\ndown = [8, 4]\nup = [1, 2]\ncables = [1, 1]\nhop_s = "300ns"'
UPLINK = """
[[faults]]
uplink = [16, 17, 18, 19, 20, 21, 22, 23]
slowdown = {slowdown}
[[faults]]
nodes = [3]
slowdown = 1.2
"""
FAULTS = """
[[faults]]
nodes = [3]
slowdown = 1.1
[[faults]]
nodes = [11]
slowdown = 1.1
[[faults]]
nodes = [2, 5]
slowdown = 1.5
"""


def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], machine: str, *words: str) -> tuple[int, dict]:
    simgrid_here()
    path = tmp_path / "cluster.toml"
    path.write_text(machine)
    options = ("--launches", "4", "--budget", "10m", "--out", str(tmp_path / "r"), "--json", "-q")
    code = guarded(["run", "nodes", *words, "--machine", f"sim:{path}", *options])
    return code, json.loads(capsys.readouterr().out)["answer"]


def test_slow_nodes_and_links_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    code, answer = run(tmp_path, capsys, MACHINE.format(network=SWITCH) + FAULTS)
    assert code == 1
    assert sorted(answer["slow_nodes"]) == ["n11", "n3"]
    assert answer["slow_links"] == [["n2", "n5"]]
    for node in answer["nodes"]:
        expected = 1.1 if node["nodes"][0] in ("n3", "n11") else 1.0
        assert node["ratio"]["value"] == pytest.approx(expected, abs=0.02)


CLEAN_NETWORKS = {
    "torus": 'shape = "torus"\ndims = [4, 4]\nlink = "12.5GB/s"',
    "fat-tree": 'shape = "fat-tree"\ndown = [4, 4]\nup = [1, 4]\ncables = [1, 1]\nlink = "12.5GB/s"',
    "dragonfly": 'shape = "dragonfly"\ndragonfly = [2, 2, 2, 2]\nlink = "12.5GB/s"',
}
"""Networks on which pairs share cables."""


@pytest.mark.parametrize("shape", CLEAN_NETWORKS)
def test_pairs_that_share_cables_are_not_named(tmp_path: Path, shape: str):
    simgrid_here()
    network = CLEAN_NETWORKS[shape] + '\nhop_s = "100ns"'
    path = tmp_path / "cluster.toml"
    path.write_text(MACHINE.format(network=network).partition("[noise]")[0])
    options = ("--machine", f"sim:{path}", "--out", str(tmp_path / "r"), "-q")
    assert guarded(["run", "nodes", *options]) == 0


def test_clean_fat_trees_have_no_slow_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """At most 5% of such runs name anything; more than two of ten then have a probability of 1%."""
    named = 0
    for seed in range(10):
        folder = tmp_path / str(seed)
        folder.mkdir()
        machine = MACHINE.replace("seed = 2", f"seed = {seed}").format(network=FAT_TREE)
        code, answer = run(folder, capsys, machine, "measure=latency", "tournaments=1")
        assert not answer["has_groups"] and code in (0, 1)
        named += code
    assert named <= 2


def losses(*faults: tuple[list[int], float]) -> str:
    """Nodes and links in a description that lose these shares of their messages."""
    return "".join(
        f'[[faults]]\nnodes = {nodes}\nloss = {loss}\nresend_s = "1ms"\n' for nodes, loss in faults
    )


def test_lossy_links_and_nodes_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    machine = MACHINE.format(network=SWITCH) + losses(([2, 5], 0.02), ([9], 0.03))
    code, answer = run(tmp_path, capsys, machine, "measure=latency,bandwidth")
    assert code == 1
    assert answer["slow_nodes"] == ["n9"] and answer["slow_links"] == [["n2", "n5"]]
    assert {row["fault"] for row in answer["links"]} == {"delays"}


def test_a_check_names_faults_that_appeared(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    network, words = MACHINE.format(network=FAT_TREE), ("measure=latency", "tournaments=1")
    run(tmp_path, capsys, network, *words)
    path = tmp_path / "cluster.toml"
    path.write_text(network.replace("seed = 2", "seed = 3") + UPLINK.format(slowdown=1.3))
    options = ("--check", str(tmp_path / "r"), "--machine", f"sim:{path}", "--budget", "10m", "--json", "-q")
    assert guarded(["run", "nodes", *words, *options, "--out", str(tmp_path / "b")]) == 1
    operations = json.loads(capsys.readouterr().out)["comparison"]["operations"]
    slower = {(o["operation"], o["level"]) for o in operations if o["verdict"] == "slower"}
    assert slower == {("switch", "leaf2"), ("node", "n3")}


def test_a_check_names_new_losses_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """The link 1 - 7 and node 12 lose messages in both runs, the link 2 - 5 and node 9 in the second one."""
    words = ("measure=latency,bandwidth",)
    network = MACHINE.format(network=SWITCH) + losses(([1, 7], 0.06), ([12], 0.02))
    run(tmp_path, capsys, network, *words)
    path, report = tmp_path / "cluster.toml", tmp_path / "junit.xml"

    def check(name: str, machine: str) -> tuple[int, dict]:
        path.write_text(machine.replace("seed = 2", "seed = 3000"))
        files = ("--out", str(tmp_path / name), "--junit", str(report), "--json", "-q")
        options = ("--check", str(tmp_path / "r"), "--machine", f"sim:{path}", "--launches", "4", *files)
        code = guarded(["run", "nodes", *words, *options])
        return code, json.loads(capsys.readouterr().out)["comparison"]

    code, same = check("same", network)
    assert code == 0 and not any("a_delayed" in case for case in same["cases"])
    code, worse = check("worse", network + losses(([2, 5], 0.06), ([9], 0.03)))
    assert code == 1
    by_part = {case["part"]: case for case in worse["cases"] if case["verdict"] == "slower"}
    assert sorted(by_part) == ["delays of n2 - n5", "delays of n9"]
    for case in by_part.values():
        before, after = (case[f"{side}_delayed"] / case[f"{side}_repetitions"] for side in "ab")
        assert before == 0 and 0.05 < after < 0.4
    assert report.read_text().count("<failure") == 2


@pytest.mark.parametrize("slowdown", [1.1, 1.5])
def test_a_slow_uplink_names_its_switch(tmp_path: Path, capsys: pytest.CaptureFixture[str], slowdown: float):
    machine = MACHINE.format(network=FAT_TREE) + UPLINK.format(slowdown=slowdown)
    code, answer = run(tmp_path, capsys, machine, "measure=latency")
    assert code == 1
    assert answer["slow_switches"] == ["leaf2"] and answer["slow_nodes"] == ["n3"]
    assert answer["slow_links"] == []
    across = {
        row["switch"]: row["ratio"]["value"] for row in answer["switches"] if row["measure"] == "latency"
    }
    assert across["leaf2"] == pytest.approx(slowdown, rel=0.03)
    assert across["leaf0"] == pytest.approx(1, abs=0.03)


def test_nodes_that_are_all_slow_name_their_switch(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    faults = "".join(f"[[faults]]\nnodes = [{node}]\nslowdown = 1.15\n" for node in range(8, 16))
    code, answer = run(tmp_path, capsys, MACHINE.format(network=FAT_TREE) + faults, "measure=latency")
    assert code == 1
    assert answer["slow_switches"] == ["leaf1"] and answer["slow_nodes"] == []
