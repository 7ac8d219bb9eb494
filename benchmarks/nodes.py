# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How often slow nodes and links are named, and how often clean ones: `python benchmarks/nodes.py`.

Log times of all pairs are drawn for clusters with two slow nodes and a slow link, and for clean clusters.
Every pair has noise in each launch, normal or with the long tails of Student's t for 3 degrees of freedom.
Every node has an effect in each launch (1%); with bursts, 2% of these effects are larger by up to a factor.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

import numpy as np

from hockney.models.node_effects import (
    FALSE_SHARE,
    Kind,
    adjusted_p_values,
    change,
    is_slow,
    over_launches,
    pair_effects,
)
from hockney.models.node_links import detectable_links, link_p_values
from hockney.models.significance import NOTABLE

NODE_NOISE = 0.01
BURST_SHARE, BURST_SIZE = 0.02, 0.3
CLUSTERS = ((8, 10, 0.03), (16, 4, 0.03), (16, 10, 0.05), (64, 6, 0.05), (256, 5, 0.05))
"""Nodes, launches, and the noise of a pair in a launch."""


@dataclass(frozen=True)
class Cluster:
    nodes: int
    launches: int
    noise: float
    has_bursts: bool

    def log_times(
        self,
        random: np.random.Generator,
        slow_nodes: dict[int, float],
        slow_links: dict[tuple[int, int], float],
    ) -> np.ndarray:
        """The log times of shape (launches, nodes, nodes)."""
        shape = (self.launches, self.nodes, self.nodes)
        noise = random.standard_t(3, shape) if self.has_bursts else random.standard_normal(shape)
        node = NODE_NOISE * random.standard_normal(shape[:2])
        if self.has_bursts:
            node += (random.random(shape[:2]) < BURST_SHARE) * random.exponential(BURST_SIZE, shape[:2])
        for number, factor in slow_nodes.items():
            node[:, number] += math.log(factor)
        times = node[:, :, None] + node[:, None, :] + self.noise * noise
        for (a, b), factor in slow_links.items():
            times[:, [a, b], [b, a]] += math.log(factor)
        return times


def names(log_times: np.ndarray) -> tuple[set[int], set[tuple[int, int]], float, float]:
    """The slow nodes and links, and the slowdowns of a node and of a link that would be named."""
    effects = pair_effects(log_times, is_symmetric=True)
    first, second = np.triu_indices(log_times.shape[1], 1)
    nodes = over_launches(effects.sending)
    link_values = effects.links[:, first, second]
    links = over_launches(link_values)
    adjusted = adjusted_p_values({"node": nodes.p_slower, "link": link_p_values(link_values, links)})
    slow_links = np.flatnonzero(is_slow(links, adjusted["link"]))
    return (
        set(np.flatnonzero(is_slow(nodes, adjusted["node"])).tolist()),
        {(int(first[k]), int(second[k])) for k in slow_links},
        float(np.exp(np.median(nodes.detectable_node(2 * len(nodes.launches), log_times.shape[1])))),
        float(np.exp(np.median(detectable_links(link_values, links, 2 * len(first), log_times.shape[1])))),
    )


def count(cluster: Cluster, node_factor: float, link_factor: float, runs: int, seed: int) -> None:
    """Print a row of the table."""
    random = np.random.default_rng(seed)
    link = (0, cluster.nodes - 1)
    found = found_link = false_names = all_names = false_clean = 0
    limits = []
    for _ in range(runs):
        times = cluster.log_times(random, {1: node_factor, 2: node_factor}, {link: link_factor})
        slow_nodes, slow_links, *limit = names(times)
        found += {1, 2} <= slow_nodes
        found_link += link in slow_links
        false_names += len(slow_nodes - {1, 2}) + len(slow_links - {link})
        all_names += len(slow_nodes) + len(slow_links)
        slow_nodes, slow_links, *_ = names(cluster.log_times(random, {}, {}))
        false_clean += bool(slow_nodes or slow_links)
        limits.append(limit)
    false_share = false_names / max(1, all_names)
    node_limit, link_limit = np.median(limits, axis=0)
    noise = "long tails, bursts" if cluster.has_bursts else "normal"
    print(
        f"| {cluster.nodes} | {cluster.launches} | {cluster.noise:.0%} | {noise} | {node_limit:.2f} "
        f"| {found / runs:.1%} | {link_limit:.2f} | {found_link / runs:.1%} | {false_share:.1%} "
        f"| {false_clean / runs:.1%} |",
        flush=True,
    )


def changed(before: np.ndarray, after: np.ndarray) -> dict[Kind, set[int]]:
    """The parts that a check reports as slower than in the baseline."""
    first, second = np.triu_indices(before.shape[1], 1)
    sides = [pair_effects(times, is_symmetric=True) for times in (before, after)]
    kinds: dict[Kind, list[np.ndarray]] = {
        "machine": [side.typical for side in sides],
        "node": [side.sending for side in sides],
        "link": [side.links[:, first, second] for side in sides],
    }
    changes = {kind: change(*map(over_launches, values)) for kind, values in kinds.items()}
    adjusted = adjusted_p_values({kind: e.p_above(math.log(NOTABLE)) for kind, e in changes.items()})
    return {kind: set(np.flatnonzero(p <= FALSE_SHARE).tolist()) for kind, p in adjusted.items()}


def count_checks(cluster: Cluster, factor: float, runs: int, seed: int) -> None:
    """Print a row of the table of checks. Node 5 is as slow in the baseline as later."""
    random = np.random.default_rng(seed)
    old = {5: 1.3}
    found = false = clean = machine = 0
    for _ in range(runs):
        before = cluster.log_times(random, old, {})
        slower = changed(before, cluster.log_times(random, {**old, 1: factor}, {}))
        found += 1 in slower["node"]
        false += bool(slower["node"] - {1} or slower["link"] or slower["machine"])
        clean += any(changed(before, cluster.log_times(random, old, {})).values())
        everywhere = changed(before, cluster.log_times(random, old, {}) + math.log(factor))
        machine += everywhere["machine"] == {0} and not everywhere["node"]
    noise = "long tails, bursts" if cluster.has_bursts else "normal"
    print(
        f"| {cluster.nodes} | {cluster.launches} | {cluster.noise:.0%} | {noise} | {found / runs:.1%} "
        f"| {machine / runs:.1%} | {false / runs:.1%} | {clean / runs:.1%} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--node", type=float, default=1.1)
    parser.add_argument("--link", type=float, default=1.3)
    parser.add_argument("--check", type=float, default=1.15)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    columns = ("nodes", "launches", "noise", "kind", "node from", "nodes found", "link from", "link found")
    print(f"| {' | '.join(columns)} | false names | clean |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for nodes, launches, noise in CLUSTERS:
        for has_bursts in (False, True):
            runs = max(20, given.runs * 16**2 // max(16, nodes) ** 2)
            count(Cluster(nodes, launches, noise, has_bursts), given.node, given.link, runs, given.seed)
    print("\n| nodes | launches | noise | kind | node found | machine found | false | clean |")
    print("|---|---|---|---|---|---|---|---|")
    for nodes, launches, noise in ((16, 6, 0.03), (64, 6, 0.05)):
        for has_bursts in (False, True):
            runs = max(20, given.runs * 16**2 // nodes**2)
            count_checks(Cluster(nodes, launches, noise, has_bursts), given.check, runs, given.seed)


if __name__ == "__main__":
    main()
