# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases: messages of every pair of nodes, in rounds of disjoint pairs, and the computing rate, memory
bandwidth and local messages of every node."""

from __future__ import annotations

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.core.wording import plural
from hockney.models.node_effects import MIN_NODES_FOR_PAIRS
from hockney.pages.evidence import Options, unique_cases

PING_PONG, STREAM, COMPUTE, MEMORY = "node_pingpong", "node_stream", "node_compute", "node_memory"
WORKLOADS = (PING_PONG, STREAM, COMPUTE, MEMORY)
"""Compiled on first use."""
LATENCY, BANDWIDTH, BIDIRECTIONAL, LOCAL = "latency", "bandwidth", "bidirectional", "local"
PAIR_MEASURES = (LATENCY, BANDWIDTH, BIDIRECTIONAL)
OWN_MEASURES = (LOCAL, "compute", "memory")
WINDOW = 4
DEFAULT_LONG = 256 << 10
MAX_TOURNAMENTS, MAX_PAIRS, MAX_SIMULATED_PAIRS = 10, 150_000, 2_500
"""By default, a launch has at least `MAX_TOURNAMENTS` tournaments, unless they contain more pairs than this,
which make records long, and simulations slow."""
EMULATED_WINDOW_S = 10e-3
"""On an emulated Ethernet, the default length of messages is such that a window takes about this time."""

MEASURE = StudyParameter(
    "measure",
    "choice",
    "what to compare (default: everything that the machine allows). latency, bandwidth, bidirectional: of "
    "every pair of nodes; local: messages within each node; compute, memory: rates of each node",
    choices=(*PAIR_MEASURES, *OWN_MEASURES),
    many=True,
    example="latency,bandwidth",
)
SHORT = StudyParameter(
    "short", "integer", "the message of latency and local", unit="B", default="8", low=0, high=1 << 40
)
LONG = StudyParameter(
    "long",
    "integer",
    f"each of the {WINDOW} messages of a stream (default: 256 KiB, less on a slow emulated Ethernet)",
    unit="B",
    low=1,
    high=1 << 40,
    example="1MiB",
)
TOPOLOGY = StudyParameter(
    "topology",
    "path",
    "the switches between the nodes, in the format of Slurm's topology.conf (default: as Slurm reports them)",
    example="topology.conf",
)
AT_ONCE = StudyParameter(
    "at_once",
    "choice",
    "pairs that communicate at the same time (default: all; one on described networks with shared cables). "
    "one: pair after pair, so that no pair slows another one; takes nodes / 2 times as long",
    choices=("all", "one"),
)
TOURNAMENTS = StudyParameter(
    "tournaments",
    "integer",
    "minimum number of tournaments in a launch, if time allows; more find rarer losses (default: 10, or "
    "fewer with more than 22 simulated or 173 other nodes)",
    low=1,
    high=1000,
    example="64",
)
PARAMETERS = (MEASURE, SHORT, LONG, TOPOLOGY, AT_ONCE, TOURNAMENTS)
SIMULATED_LAUNCHES = 7
"""Enough to name a slow link of 4 nodes (hockney.models.node_links)."""


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """Raises UsageError for too few nodes, and for measures that the launch does not allow."""
    nodes, ranks_per_node = _node_count(options, machine), machine.ranks_per_node or 1
    if nodes < MIN_NODES_FOR_PAIRS:
        raise UsageError(
            f"{plural(nodes, 'node')} {'is' if nodes == 1 else 'are'} too few to compare",
            f"with less than {MIN_NODES_FOR_PAIRS}, a slow node cannot be told from slow links",
            "use --nodes, --hosts, or a job on more nodes",
            code="too-few-nodes",
            nodes=nodes,
            least=MIN_NODES_FOR_PAIRS,
        )
    short, long = options.value(SHORT), options.value(LONG) or _default_long(machine)
    one_each, two_each, all_ranks = (_ranks(nodes, k, machine) for k in (1, 2, ranks_per_node))
    at_once = f"at_once={options.value(AT_ONCE) or _default_at_once(machine)}"
    pairs = nodes * (nodes - 1) // 2
    max_pairs = MAX_SIMULATED_PAIRS if machine.traits.simulated else MAX_PAIRS
    tournaments = options.value(TOURNAMENTS) or max(1, min(MAX_TOURNAMENTS, max_pairs // pairs))
    at_once = f"{at_once} tournaments={tournaments}"
    stream = f"{STREAM} bytes={long} window={WINDOW} {at_once} {one_each}"
    lines = {
        LATENCY: f"{PING_PONG} bytes={short} {at_once} {one_each}",
        BANDWIDTH: f"{stream} direction=one",
        BIDIRECTIONAL: f"{stream} direction=both",
        LOCAL: f"{PING_PONG} bytes={short} partners=neighbor {two_each}",
        "compute": f"{COMPUTE} {all_ranks}",
        "memory": f"{MEMORY} {all_ranks}",
    }
    return unique_cases(
        catalog.case(lines[measure]) for measure in _measures(options, machine, ranks_per_node)
    )


def _node_count(options: Options, machine: Machine) -> int:
    """The number of nodes to compare: all, or as many as ranks are requested."""
    if machine.layout is not None:
        available = machine.layout.nodes
    elif machine.platform is not None and all(group.cores == 1 for group in machine.platform.nodes):
        available = machine.platform.capacity
    else:
        available = 1
    if not options.ranks:
        return available
    if len(options.ranks) > 1 or options.ranks[0] > available:
        raise UsageError(
            f"--ranks {','.join(map(str, options.ranks))} is not a number of nodes to compare",
            f"one rank runs on each of at most {plural(available, 'node')}",
            f"use --ranks {available}, or omit it",
            code="ranks-not-nodes",
            nodes=available,
        )
    return options.ranks[0]


def _ranks(nodes: int, ranks_per_node: int, machine: Machine) -> str:
    ranks = f"ranks={nodes * ranks_per_node}"
    return f"{ranks} nodes={nodes}" if machine.is_placed else ranks


def _default_at_once(machine: Machine) -> str:
    """Whether all pairs communicate at once: not if they share cables. On a bus, a slow node would slow all
    pairs; on a simulated network without noise, the same pairs would share cables in every repetition, which
    looks like a fault."""
    if machine.emulated is not None:
        return "one" if machine.emulated.medium == "bus" or machine.emulated.trunk else "all"
    shape = machine.platform.network.shape if machine.platform is not None else "switch"
    return "all" if shape == "switch" else "one"


def _default_long(machine: Machine) -> int:
    if machine.emulated is None:
        return DEFAULT_LONG
    size = int(machine.emulated.rate * EMULATED_WINDOW_S / WINDOW)
    return min(DEFAULT_LONG, max(1024, 1 << (size.bit_length() - 1)))


def _measures(options: Options, machine: Machine, ranks_per_node: int) -> tuple[str, ...]:
    """The requested measures, or those that the machine allows: emulated hosts share their cores and memory,
    and simulated nodes compute alike."""
    requested: tuple[str, ...] = options.value(MEASURE)
    if LOCAL in requested and ranks_per_node < 2:
        raise UsageError(
            "measure=local requires two ranks on every node",
            "one rank runs on each node",
            "use --ranks-per-node 2",
            code="local-with-one-rank",
        )
    described = [measure for measure in requested if measure in ("compute", "memory")]
    if described and machine.traits.simulated:
        raise UsageError(
            f"measure={described[0]} does not apply to a simulated machine",
            "its nodes compute alike, and their memory is not described",
            f"use measure={','.join(PAIR_MEASURES)}",
            code="simulated-nodes-compute-alike",
            measure=described[0],
        )
    if requested:
        return requested
    if machine.traits.emulated or machine.traits.simulated:
        return PAIR_MEASURES
    return tuple(m for m in (*PAIR_MEASURES, *OWN_MEASURES) if m != LOCAL or ranks_per_node > 1)
