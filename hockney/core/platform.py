# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A described machine: everything that is needed to simulate it.

Times in seconds, sizes in bytes, rates in bytes a second. A message of x bytes takes, one way and
without contention,

    send_s + send_s_per_byte x + latency_s + hops hop_s + per_byte_s x + processor_s + processor_s_per_byte x
    + receive_s + receive_s_per_byte x

with the segment that holds for x: LogGP (Alexandrov, Ionescu, Schauser and Scheiman 1995) with overheads o_s
and o_r that grow with the size, L = latency_s, G = per_byte_s. How messages slow each other down depends on
links, NICs, a shared medium, and the time of processors.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Shape = Literal["switch", "bus", "torus", "mesh", "fat-tree", "dragonfly"]
Broadcast = Literal["messages", "medium"]
Status = Literal["printed", "fitted", "guess"]

SELECTABLE_COLLECTIVES = (
    "barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall",
    "reduce", "allreduce", "reduce_scatter",
)  # fmt: skip
"""MPI operations whose algorithm a simulated machine must name. The simulator's own choices cost O(P^2) for
some."""


OPERATIONS_WITH_CALL_COSTS = (
    "barrier", "bcast", "gather", "scatter", "allgather", "alltoall", "reduce", "allreduce",
    "reduce_scatter_block", "scan",
)  # fmt: skip
"""MPI operations whose calls may cost more than their messages. This and SELECTABLE_COLLECTIVES are the
vocabulary of machine files, hence of SMPI. A workload of any name may perform them (its `operation` in the
catalog)."""


RATED_KERNELS = (
    "multiplication", "sort", "merge", "min-plus", "closure", "copy",
    "ep", "cg", "mg", "ft", "is", "lu", "bt", "sp",
    "annealing",
)  # fmt: skip
"""Kernels for which a core may have a separate rate: local work of the kernels on BSPlib, the NAS Parallel
Benchmarks, and steps of annealing. A workload of any name may perform them."""


class Segment(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Costs of messages of `first` bytes and more, up to the next segment.

    `isend_s` and `isend_s_per_byte` are the overheads of a non-blocking send and of the sending half of
    MPI_Sendrecv; None if equal to those of MPI_Send. `gap_s` and `gap_s_per_byte` are LogGP's g: the time
    from the departure of a message to the earliest departure of its sender's next one; beyond `eager` it
    applies only while the message is in flight. `exchange_s` and `exchange_s_per_byte` are the additional
    time of a receive whose message crossed the receiver's own. `processor_s` and `processor_s_per_byte` are
    work of the processors of both nodes outside of MPI's calls, such as interrupts and protocols: on the
    sender after the message has departed, on the receiver before it has arrived. Meanwhile, programs on these
    nodes neither compute nor call MPI.
    """

    first: int = 0
    send_s: float = 0.0
    send_s_per_byte: float = 0.0
    isend_s: float | None = None
    isend_s_per_byte: float | None = None
    latency_s: float
    per_byte_s: float = 0.0
    receive_s: float = 0.0
    receive_s_per_byte: float = 0.0
    gap_s: float = 0.0
    gap_s_per_byte: float = 0.0
    exchange_s: float = 0.0
    exchange_s_per_byte: float = 0.0
    processor_s: float = 0.0
    processor_s_per_byte: float = 0.0

    def one_way(self, size: float, hops: int = 0, hop_s: float = 0.0) -> float:
        """Return seconds from the call of MPI_Send to the return of MPI_Recv, with no other message in
        flight."""
        constant_s = self.send_s + self.latency_s + hops * hop_s + self.processor_s + self.receive_s
        return constant_s + self.one_way_s_per_byte * size

    @property
    def one_way_s_per_byte(self) -> float:
        send_s_per_byte = self.send_s_per_byte + self.per_byte_s
        return send_s_per_byte + self.processor_s_per_byte + self.receive_s_per_byte

    def hideable_share(self, size: float) -> float:
        """Return the share of a message's time between its calls that leaves the processors to computation
        (its availability)."""
        flight_s = self.latency_s + self.per_byte_s * size
        work_s = self.processor_s + self.processor_s_per_byte * size
        return flight_s / (flight_s + work_s) if flight_s + work_s > 0 else 1.0

    def handling(self, size: float) -> tuple[float, float]:
        """Return the seconds for which a message occupies its sender and its receiver."""
        work = self.processor_s + self.processor_s_per_byte * size
        send = self.send_s + self.send_s_per_byte * size
        return send + work, self.receive_s + self.receive_s_per_byte * size + work


class NodeGroup(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A group of `count` nodes with `cores` cores each; ranks fill a node's cores before the next node."""

    count: int
    cores: int = 1


class Network(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How nodes are connected.

    `dims` are the numbers of nodes along each axis of a torus or mesh. For each level of a fat tree, from
    below: `down` is the number of children of a switch, `up` the number of parents of a node or switch,
    `cables` the number of parallel cables. `dragonfly` contains groups, chassis per group, routers per
    chassis, nodes per router. The other shapes have as many nodes as `nodes` contains. A bus is one link
    shared by all. `nic` is a node's rate into the network; with half duplex, sending and receiving share it.
    `link` is the rate of each direction of each cable between routers, `hop_s` the latency added by each
    cable. Every message occupies a medium for `medium_message_s` + x `medium_s_per_byte`, one after the
    other, before it continues: an Ethernet's cable, or a daemon that forwards every message. With broadcast =
    "medium", an MPI_Bcast of all ranks is one message on the medium that all nodes receive, instead of
    messages between pairs.
    """

    shape: Shape = "switch"
    dims: tuple[int, ...] = ()
    down: tuple[int, ...] = ()
    up: tuple[int, ...] = ()
    cables: tuple[int, ...] = ()
    dragonfly: tuple[int, ...] = ()
    nodes: tuple[NodeGroup, ...] = ()
    nic: float = 1e12
    duplex: Literal["full", "half"] = "full"
    link: float = 1e12
    hop_s: float = 0.0
    medium_message_s: float = 0.0
    medium_s_per_byte: float = 0.0
    broadcast: Broadcast = "messages"


class Libraries(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Processor costs of the libraries for bulk synchronous programs, in addition to messages. BSPlib costs
    `write_s` for each put, get and message where it is called and `read_s` where it arrives, `superstep_s`
    for each superstep, and `buffer_s_per_byte` for memory allocated for arriving data. The BPRAM costs
    `step_s` for each step in which the processor sends or receives."""

    write_s: float = 0.0
    read_s: float = 0.0
    superstep_s: float = 0.0
    buffer_s_per_byte: float = 0.0
    step_s: float = 0.0


class Noise(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every message's latency is multiplied by exp(s N), with N from a normal distribution restricted to
    positive values (delays only add) and s = `relative`. The same holds for all costs of the network between
    nodes with s = `per_launch` and one N per launch, as if other jobs used a share of the network. The same
    `seed` gives the same times."""

    relative: float
    per_launch: float = 0.0
    seed: int = 1


class Fault(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A node that is slower than the others, the path between two nodes, or the uplink of a switch. Messages
    from and to the node of `nodes`, between both nodes, or between the nodes below the `uplink` and others,
    spend `slowdown` times as long in the network; the rate of a node's NIC is lower by this factor. Each is
    lost with the probability `loss`, and sent again after `resend_s`."""

    nodes: tuple[int, ...] = ()
    uplink: tuple[int, ...] = ()
    slowdown: float = 1.0
    loss: float = 0.0
    resend_s: float = 0.0


class Detours(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Intervals during which a core does not run its program: `length_s` from `start_s`, repeated with the
    period `period_s`. They are in order, do not overlap and end within the period. They concern the ranks
    `first_rank`, `first_rank` + `rank_step`, ... on `nodes` (empty: on all nodes). The phase of each rank is
    random. A program that computes or calls MPI during a detour continues after it; large messages in
    transit are not delayed."""

    period_s: float
    length_s: tuple[float, ...]
    start_s: tuple[float, ...] = (0.0,)
    nodes: tuple[int, ...] = ()
    first_rank: int = 0
    rank_step: int = 1

    @property
    def share(self) -> float:
        """Fraction of the time."""
        return sum(self.length_s) / self.period_s


class Origin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Origin of one number of the description. `key` is its position ("network.link",
    "segments[0].latency_s"; a prefix stands for everything below it). `source` is the line of the paper, the
    fitted row, or the reason for a guess. `rows` are the published rows used in a fit (reference keys), which
    are therefore not predictions."""

    key: str
    status: Status
    source: str
    rows: tuple[str, ...] = ()


class Platform(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A described machine. `segments` apply between nodes, `on_node` between ranks of one node (empty: as
    between nodes, without links).

    `collectives` names SMPI's algorithm for each of SELECTABLE_COLLECTIVES. `sum_s_per_byte` is the cost of
    adding doubles in a reduction. With `hardware_barrier_s`, MPI_Barrier ends this time after the last rank
    entered, without messages. With `barrier_cluster`, this is the time for that number of ranks, and each
    doubling of the number of clusters adds `barrier_round_s`. `flops` is the speed of a core; `rates` are its
    operations per second for RATED_KERNELS of known speed. `memory` contains pairs of a number of busy cores
    of a node, from 1 on, and the rate (B/s) at which each of them uses its memory. `eager` is the largest
    message that is sent before its receive is posted. `calls` contains, by operation of
    OPERATIONS_WITH_CALL_COSTS, pairs of bytes (of a block or vector, as the engine counts them) and seconds:
    the cost of a call for each rank in addition to its messages, interpolated linearly. `libraries` are costs
    of BSPlib and the BPRAM. `clock_s` is the time to read the clock. `detours` are the noise of cores.
    `poor_fit` is the reason why its message costs come from a poor fit; "" for a good one. `two_modes`
    contains the levels if the launches of that fit were in two modes; "" otherwise, and for undisturbed
    times.
    """

    name: str
    title: str
    source: str = ""
    network: Network
    eager: int = 65536
    segments: tuple[Segment, ...]
    on_node: tuple[Segment, ...] = ()
    collectives: dict[str, str] = {}
    flops: float = 1e9
    rates: dict[str, float] = {}
    memory: tuple[tuple[int, float], ...] = ()
    sum_s_per_byte: float = 0.0
    hardware_barrier_s: float | None = None
    barrier_cluster: int = 0
    barrier_round_s: float = 0.0
    calls: dict[str, tuple[tuple[int, float], ...]] = {}
    libraries: Libraries = Libraries()
    clock_s: float = 0.0
    noise: Noise | None = None
    faults: tuple[Fault, ...] = ()
    detours: tuple[Detours, ...] = ()
    origins: tuple[Origin, ...] = ()
    notes: tuple[str, ...] = ()
    poor_fit: str = ""
    two_modes: str = ""

    def barrier_s(self, ranks: int) -> float | None:
        """Return seconds of MPI_Barrier from the last rank's entry; None if it sends messages."""
        if self.hardware_barrier_s is None or not self.barrier_cluster:
            return self.hardware_barrier_s
        clusters = -(-ranks // self.barrier_cluster)
        return self.hardware_barrier_s + (clusters - 1).bit_length() * self.barrier_round_s

    @property
    def nodes(self) -> tuple[NodeGroup, ...]:
        """All groups of nodes, in the order in which ranks are placed."""
        shape = self.network
        if shape.nodes:
            return shape.nodes
        extents = {"fat-tree": shape.down, "dragonfly": shape.dragonfly}.get(shape.shape, shape.dims)
        count = 1
        for extent in extents:
            count *= extent
        return (NodeGroup(count=count),)

    @property
    def varies(self) -> bool:
        """Whether times vary between simulations: with noise, with detours of cores, or if messages are
        lost."""
        return self.messages_vary or bool(self.detours)

    @property
    def messages_vary(self) -> bool:
        """Whether times of messages vary: with noise, or if messages are lost."""
        return self.noise is not None or any(fault.loss for fault in self.faults)

    @property
    def processors_work(self) -> bool:
        """Whether messages between nodes occupy their processors."""
        return any(segment.processor_s or segment.processor_s_per_byte for segment in self.segments)

    @property
    def capacity(self) -> int:
        """Maximum number of ranks, one per core."""
        return sum(group.count * group.cores for group in self.nodes)

    def rate(self, kernel: str) -> float:
        """Return the operations per second of a core: the rate of this kernel if described, or else the speed
        of the core."""
        return self.rates.get(kernel, self.flops)

    def segment(self, size: float, *, on_node: bool = False) -> Segment:
        """Return the segment that applies to a message of `size` bytes."""
        segments = (self.on_node if on_node else ()) or self.segments
        chosen = segments[0]
        for candidate in segments:
            if size >= candidate.first:
                chosen = candidate
        return chosen
