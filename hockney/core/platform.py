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
"""MPI operations whose algorithm a simulated machine must name: the simulator's own choices cost O(P^2) for
some."""


CALLED = (
    "barrier", "bcast", "gather", "scatter", "allgather", "alltoall", "reduce", "allreduce",
    "reduce_scatter_block", "scan",
)  # fmt: skip
"""MPI operations whose calls may cost more than their messages. Both lists are the vocabulary of machine
files, hence of SMPI; a workload of any name may perform them (its `operation` in the catalog)."""


RATED = (
    "multiplication", "sort", "merge", "min-plus", "closure", "copy",
    "ep", "cg", "mg", "ft", "is", "lu", "bt", "sp",
    "annealing",
)  # fmt: skip
"""What a core may have a rate of its own for: local work of the kernels on BSPlib, the NAS Parallel
Benchmarks, and steps of annealing. A workload of any name may perform them."""


class Segment(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Costs of messages of `first` bytes and more, up to the next segment.

    `isend_s` and `isend_s_per_byte` are the overheads of a non-blocking send and of MPI_Sendrecv's sending
    half; None: as for MPI_Send. `gap_s` and `gap_s_per_byte` are LogGP's g: the time from the departure of a
    message to the earliest departure of its sender's next one; beyond `eager` only while the message is in
    flight. `exchange_s` and `exchange_s_per_byte` are the additional time of a receive whose message crossed
    the receiver's own. `processor_s` and `processor_s_per_byte` are work of the processors of both nodes
    besides MPI's calls, such as interrupts and protocols: of the sender's when the message has set out, of
    the receiver's before it has arrived. Programs on these nodes compute and call MPI only when it is done.
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
        """Seconds from the call of MPI_Send to the return of MPI_Recv, with nothing else in flight."""
        fixed = self.send_s + self.latency_s + hops * hop_s + self.processor_s + self.receive_s
        return fixed + self.one_way_s_per_byte * size

    @property
    def one_way_s_per_byte(self) -> float:
        sending = self.send_s_per_byte + self.per_byte_s
        return sending + self.processor_s_per_byte + self.receive_s_per_byte

    def handling(self, size: float) -> tuple[float, float]:
        """Seconds for which a message occupies its sender and its receiver."""
        work = self.processor_s + self.processor_s_per_byte * size
        send = self.send_s + self.send_s_per_byte * size
        return send + work, self.receive_s + self.receive_s_per_byte * size + work


class NodeGroup(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`count` nodes with `cores` cores each; ranks fill a node's cores before the next node."""

    count: int
    cores: int = 1


class Network(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How nodes are connected.

    `dims` are the nodes along each axis of a torus or mesh. A fat tree has for each level from below: `down`
    children of a switch, `up` parents of a node or switch, `cables` parallel cables. A dragonfly has
    `dragonfly` = groups, chassis per group, routers per chassis, nodes per router. The other shapes have as
    many nodes as `nodes` contain. A bus is one link for all. `nic` is a node's rate into the network; with
    duplex half, sending and receiving share it. `link` is the rate of each direction of each cable between
    routers, `hop_s` the latency that each adds. A medium is occupied by every message for `medium_message_s`
    + x `medium_s_per_byte`, one after the other, before it continues: an Ethernet's cable, or a daemon that
    every message passes through. With broadcast = "medium", an MPI_Bcast of all ranks is one message on it,
    which all nodes receive, instead of messages between pairs.
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
    """What the libraries for bulk synchronous programs cost a processor besides messages: BSPlib for each
    put, get and message of others, `write_s` where it is called and `read_s` where it arrives, `superstep_s`
    for each superstep, and `buffer_s_per_byte` for the memory that it allocates for what arrives; the BPRAM
    `step_s` for each step in which the processor sends or receives."""

    write_s: float = 0.0
    read_s: float = 0.0
    superstep_s: float = 0.0
    buffer_s_per_byte: float = 0.0
    step_s: float = 0.0


class Noise(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every message's latency is multiplied by exp(s N), with N from a normal distribution restricted to
    positive values (delays only add), s = `relative`. With s = `per_launch` and one N for each launch, the
    network between nodes is slower in everything, as if others used a share of it. The same `seed` gives the
    same times."""

    relative: float
    per_launch: float = 0.0
    seed: int = 1


class Origin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The origin of one number of the description. `key` is its position ("network.link",
    "segments[0].latency_s"; a prefix stands for everything below it), `source` the line of the paper, the
    fitted row, or the reason for a guess; `rows` names the published rows used in a fit (reference keys),
    which are therefore not predictions."""

    key: str
    status: Status
    source: str
    rows: tuple[str, ...] = ()


class Platform(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`segments` hold between nodes, `on_node` between ranks of one node (empty: as between nodes, without
    links).

    `collectives` names SMPI's algorithm for each of SELECTABLE_COLLECTIVES; `sum_s_per_byte` is the cost of
    adding doubles in a reduction; with `hardware_barrier_s`, if not None, MPI_Barrier ends this long after
    the last rank entered, without messages; if there is a `barrier_cluster`, that is the time of this number
    of ranks, and each time that the number of clusters doubles `barrier_round_s` longer. `flops` is the speed
    of a core, `rates` its operations a second in those of RATED whose speed is known. `eager` is the largest
    message sent before its receive is posted. `calls` has for operations of CALLED pairs of bytes (of a block
    or vector, as the engine counts them) and seconds: the cost of a call for each rank in addition to its
    messages, interpolated linearly. `libraries` are costs of BSPlib and the BPRAM. `clock_s` is the time of a
    reading of the clock. `poor_fit` is why the fit from which its messages were calibrated is poor; "" if it
    is not. `two_modes` has the levels if the launches of that fit were in two modes; "" if they were not, or
    if its times are undisturbed ones."""

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
    sum_s_per_byte: float = 0.0
    hardware_barrier_s: float | None = None
    barrier_cluster: int = 0
    barrier_round_s: float = 0.0
    calls: dict[str, tuple[tuple[int, float], ...]] = {}
    libraries: Libraries = Libraries()
    clock_s: float = 0.0
    noise: Noise | None = None
    origins: tuple[Origin, ...] = ()
    notes: tuple[str, ...] = ()
    poor_fit: str = ""
    two_modes: str = ""

    def barrier_s(self, ranks: int) -> float | None:
        """Seconds of MPI_Barrier from the last rank's entry; None if it sends messages."""
        if self.hardware_barrier_s is None or not self.barrier_cluster:
            return self.hardware_barrier_s
        clusters = -(-ranks // self.barrier_cluster)
        return self.hardware_barrier_s + (clusters - 1).bit_length() * self.barrier_round_s

    @property
    def nodes(self) -> tuple[NodeGroup, ...]:
        """Every node, in the order in which ranks are placed."""
        shape = self.network
        if shape.nodes:
            return shape.nodes
        extents = {"fat-tree": shape.down, "dragonfly": shape.dragonfly}.get(shape.shape, shape.dims)
        count = 1
        for extent in extents:
            count *= extent
        return (NodeGroup(count=count),)

    @property
    def processors_work(self) -> bool:
        """Whether messages between nodes take the time of their processors."""
        return any(each.processor_s or each.processor_s_per_byte for each in self.segments)

    @property
    def capacity(self) -> int:
        """The maximum number of ranks, one on each core."""
        return sum(group.count * group.cores for group in self.nodes)

    def rate(self, kernel: str) -> float:
        """Operations per second of a core: the description's own rate of this kernel, or else the speed of
        its cores."""
        return self.rates.get(kernel, self.flops)

    def segment(self, size: float, *, on_node: bool = False) -> Segment:
        """The segment that holds for a message of `size` bytes."""
        segments = (self.on_node if on_node else ()) or self.segments
        chosen = segments[0]
        for each in segments:
            if size >= each.first:
                chosen = each
        return chosen
