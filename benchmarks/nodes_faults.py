# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Faults at random places of simulated and emulated clusters, and what `hockney run nodes` names:
`python benchmarks/nodes_faults.py --runs 12 --seed 7`.

Prints a row per run, with the truth only next to the result. The seed decides machines, noise and faults.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Network:
    """A network of simulated nodes, with the nodes below each switch: the name of switch k is `switch` and k;
    no switches if `switch` is empty."""

    text: str
    nodes: int = 16
    switch: str = ""
    below: int = 4


NETWORKS: Mapping[str, Network] = {
    "crossbar": Network('shape = "switch"\nnodes = [{count = 16}]'),
    "torus": Network('shape = "torus"\ndims = [4, 4]\nlink = "12.5GB/s"\nhop_s = "100ns"'),
    "fat tree": Network(
        'shape = "fat-tree"\ndown = [4, 4]\nup = [1, 2]\ncables = [1, 1]\nhop_s = "300ns"', 16, "leaf"
    ),
    "fat tree of 32": Network(
        'shape = "fat-tree"\ndown = [8, 4]\nup = [1, 2]\ncables = [1, 1]\nhop_s = "300ns"', 32, "leaf", 8
    ),
    "dragonfly": Network(
        'shape = "dragonfly"\ndragonfly = [3, 1, 2, 4]\nlink = "12.5GB/s"\nhop_s = "200ns"', 24, "router"
    ),
}
SIMULATED = """name = "cluster"
title = "A cluster"
[network]
{network}
nic = "12.5GB/s"
[[segments]]
latency_s = "1.5us"
per_byte_s = "1/(11GB/s)"
[noise]
relative = {noise}
per_launch = 0.02
seed = {seed}
"""
EMULATED = """name = "office"
title = "An office"
hosts = {hosts}
rate = "{rate}Mbit/s"
medium = "{medium}"
delay_s = "20us"
"""


@dataclass(frozen=True)
class Truth:
    """A description of a machine, and the names of its faults."""

    kind: str
    text: str
    fault: str
    names: frozenset[str] = field(default_factory=frozenset)


def simulated(choose: random.Random) -> Truth:
    shape, noise = choose.choice(list(NETWORKS)), choose.choice((0.01, 0.03, 0.05))
    network = NETWORKS[shape]
    text = SIMULATED.format(network=network.text, noise=noise, seed=choose.randrange(10**6))
    faults = ["slow host", "slow link", "lossy link", "lossy host", "two slow hosts", "clean"]
    fault = choose.choice([*faults, "slow uplink"] if network.switch else faults)
    nodes = sorted(choose.sample(range(network.nodes), 2))
    switch = choose.randrange(network.nodes // network.below)
    below = list(range(network.below * switch, network.below * (switch + 1)))
    link, host = f"n{nodes[0]} - n{nodes[1]}", f"n{nodes[0]}"
    entries, names = {
        "slow host": ([f"nodes = [{nodes[0]}]\nslowdown = 1.1"], {host}),
        "two slow hosts": ([f"nodes = [{node}]\nslowdown = 1.1" for node in nodes], {f"n{n}" for n in nodes}),
        "slow link": ([f"nodes = {nodes}\nslowdown = 1.5"], {link}),
        "lossy link": ([f'nodes = {nodes}\nloss = 0.01\nresend_s = "1ms"'], {link}),
        "lossy host": ([f'nodes = [{nodes[0]}]\nloss = 0.03\nresend_s = "1ms"'], {host}),
        "slow uplink": ([f"uplink = {below}\nslowdown = 1.2"], {f"{network.switch}{switch}"}),
        "clean": ([], set()),
    }[fault]
    text += "".join(f"[[faults]]\n{entry}\n" for entry in entries)
    return Truth(f"sim: {shape}, {noise:.0%}", text, fault, frozenset(names))


def emulated(choose: random.Random) -> Truth:
    hosts, medium, rate = choose.choice((4, 5, 6)), choose.choice(("switch", "bus")), choose.choice((25, 100))
    fault = choose.choice(("slow host", "slow link", "lossy host", "lossy link", "clean"))
    first, second = sorted(choose.sample(range(1, hosts + 1), 2))
    host, link = {f"h{first}"}, {f"h{first} - h{second}"}
    entry, names = {
        "slow host": (f"hosts = [{first}]\nslowdown = 1.1", host),
        "slow link": (f"hosts = [{first}, {second}]\nslowdown = 1.5", link),
        "lossy host": (f"hosts = [{first}]\nloss = 0.05", host),
        "lossy link": (f"hosts = [{first}, {second}]\nloss = 0.05", link),
        "clean": ("", set()),
    }[fault]
    text = EMULATED.format(hosts=hosts, medium=medium, rate=rate)
    text += f"[[faults]]\n{entry}\n" if entry else ""
    return Truth(f"lan: {hosts} hosts, {medium}, {rate} Mbit/s", text, fault, frozenset(names))


def named(truth: Truth, words: list[str]) -> tuple[int, set[str]]:
    """The exit code of a run, and the names of what it calls slow."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "machine.toml"
        path.write_text(truth.text)
        command = [sys.executable, "-m", "hockney", "run", "nodes", *words, "--json", "-q"]
        options = ["--machine", f"{truth.kind[:3]}:{path}", "--out", f"{folder}/r"]
        run = subprocess.run([*command, *options], stdout=subprocess.PIPE, text=True, check=False)
    answer = json.loads(run.stdout)["answer"]
    links = {" - ".join(pair) for pair in answer["slow_links"]}
    return run.returncode, {*answer["slow_nodes"], *links, *answer["slow_switches"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--emulated", action="store_true")
    parser.add_argument("words", nargs="*", help="parameters and options of hockney run nodes, after --")
    given = parser.parse_args()
    choose = random.Random(given.seed)
    print("| machine | fault | truth | named | exit code | right |\n|---|---|---|---|---|---|")
    for _ in range(given.runs):
        truth = emulated(choose) if given.emulated else simulated(choose)
        code, names = named(truth, given.words)
        cells = ", ".join(sorted(truth.names)) or "none", ", ".join(sorted(names)) or "none"
        is_right = "yes" if names == truth.names else "no"
        print(f"| {truth.kind} | {truth.fault} | {' | '.join(cells)} | {code} | {is_right} |", flush=True)


if __name__ == "__main__":
    main()
