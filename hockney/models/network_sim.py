# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a message schedule on a described machine whose messages share NICs, cables or a medium.

Each rank executes its part of the schedule with the costs and the event order of the simulator's plug-in
(`engine/smpi/platform_costs.cpp`): overheads and gaps of its sends; messages up to the eager limit leave at
once, larger ones wait for their receiver. A message takes its latency, during which it uses no link, then
crosses all links of its route at once. Links are shared with max-min fairness: no transfer could be faster
without slowing an even slower one (D. Bertsekas, R. Gallager, Data Networks, 1992, section 6.5), as in
SimGrid (Casanova, Giersch, Legrand, Quinson, Suter, J. Parallel and Distributed Computing 74 (2014) 2899,
section 5).

`LogGPSimulator` is much faster and gives the same times if nothing is shared."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import count

import numpy as np

from hockney.core.platform import Platform, Segment
from hockney.models.loggp_sim import nodes_of
from hockney.models.routes import Routes
from hockney.models.schedules import Mode, NotModelled, Step

ENVELOPE = 16
"""Bytes that the simulator adds to each message on a link."""
MIN_LATENCY_S = 1e-12
DONE = -1.0
"""What a rank that has finished yields."""

EVEN = 1e-9
"""Shares, and ends of transfers, that differ by less (relatively) are equal."""


@dataclass(slots=True, eq=False)
class Message:
    """A message; `until` is its arrival time without contention."""

    source: int
    target: int
    size: float
    eager: bool
    segment: Segment
    sent: bool = False
    awaited: bool = False
    paid: bool = False
    under_way: bool = False
    arrived_s: float | None = None
    until: float = 0.0


@dataclass(slots=True)
class Task:
    """A rank's part of step number `step` of the schedule."""

    mode: Mode
    step: int
    sends: list[Message] = field(default_factory=list)
    receives: list[Message] = field(default_factory=list)
    combine: bool = False
    computed: float = 0.0
    joins: bool = False


@dataclass(slots=True)
class RankState:
    free: float = 0.0
    """When it may send again: LogGP's gap."""
    sent_until: float = 0.0
    awaits: list[Message] = field(default_factory=list)
    end: float = 0.0


@dataclass(slots=True)
class Processor:
    """A node's work for messages besides MPI's calls, as in `engine/smpi/processor.hpp`."""

    coming: list[tuple[float, float]] = field(default_factory=list)
    free_s: float = 0.0

    def add(self, moment: float, seconds: float) -> None:
        heapq.heappush(self.coming, (moment, seconds))

    def free(self, now: float) -> float:
        while self.coming and self.coming[0][0] <= max(now, self.free_s):
            moment, seconds = heapq.heappop(self.coming)
            self.free_s = max(self.free_s, moment) + seconds
        return max(now, self.free_s)


Process = Generator[float | None, None, None]
"""A rank at work: yields seconds for which it is busy, or None to wait for a message that it awaits."""


class NetworkSimulator:
    """Simulates `ranks` ranks on `platform`, which fill one node's cores after another; all begin at 0.
    Raises NotModelled for schedules that never end."""

    def __init__(self, platform: Platform, ranks: int) -> None:
        self.platform = platform
        self.ranks = ranks
        self.node = [int(node) for node in nodes_of(platform, ranks)]
        self.routes = Routes(platform)
        self.now = 0.0
        self._links = Links(self.routes.rates)
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self._states = [RankState() for _ in range(ranks)]
        self._processes: list[Process] = []
        self._waiting: set[int] = set()
        self._medium_free = 0.0
        self._processors = [Processor() for _ in set(self.node)] if platform.processors_work else []
        self._sending_until: dict[int, float] = defaultdict(float)
        self._joined: dict[int, int] = defaultdict(int)
        self.ends = np.zeros((0, ranks))
        """After a run: when each rank had taken each step (steps x ranks); for a step that is not for it, the
        time of the one before."""

    def run(self, steps: Iterable[Step]) -> np.ndarray:
        """Run the steps and return each rank's time after them."""
        tasks: list[list[Task]] = [[] for _ in range(self.ranks)]
        count = 0
        for count, step in enumerate(steps, start=1):
            self._divide(step, tasks, count - 1)
        self.ends = np.full((count, self.ranks), 0.0)
        self._processes = [self._work(rank, mine) for rank, mine in enumerate(tasks)]
        for rank in range(self.ranks):
            self._at(0.0, partial(self._resume, rank))
        while self._events or self._links.busy:
            coming = self._events[0][0] if self._events else np.inf
            self.now = min(coming, self._links.next_end(self.now))
            for flow in self._links.ended(self.now):
                self._arrive(flow.message)
            while self._events and self._events[0][0] <= self.now:
                heapq.heappop(self._events)[2]()
        if self._waiting:
            raise NotModelled("ranks that wait for each other for ever")
        self.ends = np.maximum.accumulate(self.ends, axis=0)
        return np.array([state.end for state in self._states])

    def _divide(self, step: Step, tasks: list[list[Task]], number: int) -> None:
        """Add each rank's part of a step. A description has no costs of copies."""
        mine: dict[int, Task] = {}

        def task(rank: int) -> Task:
            if rank not in mine:
                mine[rank] = Task(step.mode, number, combine=step.combine, joins=step.joins)
                tasks[rank].append(mine[rank])
            return mine[rank]

        if step.joins:
            for rank in range(self.ranks):
                task(rank)
        if step.computed is not None:
            for computing in np.flatnonzero(step.computed).tolist():
                task(computing).computed = float(step.computed[computing])
        for layer in step.layers:
            sizes = np.broadcast_to(layer.size, layer.source.shape)
            for source, target, size in zip(layer.source, layer.target, sizes, strict=True):
                message = self._message(int(source), int(target), float(size))
                task(message.source).sends.append(message)
                task(message.target).receives.append(message)

    def _message(self, source: int, target: int, size: float) -> Message:
        near = self.node[source] == self.node[target]
        segment = self.platform.segment(size, on_node=near)
        return Message(source, target, size, size <= self.platform.eager, segment)

    # A rank's work

    def _work(self, rank: int, tasks: list[Task]) -> Process:
        for task in tasks:
            if task.joins:
                yield from self._join(rank, task.step)
            elif not task.sends and not task.receives:
                yield task.computed
            elif task.mode is Mode.BLOCKING:
                for message in task.sends:
                    if message.eager:
                        yield from self._hand_over(rank, message, isend=False)
                    else:
                        self._send(message)
                        yield from self._await(rank, [message])
                if task.computed:
                    yield task.computed
                yield from self._await(rank, task.receives)
            else:
                if task.mode is Mode.POSTED:
                    self._expect(rank, task.receives)
                for message in task.sends:
                    isend = task.mode is Mode.POSTED or bool(task.receives)
                    yield from self._hand_over(rank, message, isend=isend)
                if task.computed:
                    yield task.computed
                large = [message for message in task.sends if not message.eager]
                yield from self._await(rank, [*task.receives, *large])
            if task.combine and task.receives:
                yield self.platform.sum_s_per_byte * sum(message.size for message in task.receives)
            self.ends[task.step, rank] = self.now
        self._states[rank].end = self.now

    def _join(self, rank: int, step: int) -> Process:
        """Wait until all ranks have arrived."""
        self._joined[step] += 1
        if self._joined[step] < self.ranks:
            self._states[rank].awaits = []
            yield None
        else:
            for other in sorted(self._waiting):
                self._wake(other)

    def _hand_over(self, rank: int, message: Message, *, isend: bool) -> Process:
        """Send that returns before the message has arrived: the overhead and the gap come first."""
        cost, state, size = message.segment, self._states[rank], message.size
        fixed, per_byte = cost.send_s, cost.send_s_per_byte
        if isend:
            fixed = fixed if cost.isend_s is None else cost.isend_s
            per_byte = per_byte if cost.isend_s_per_byte is None else cost.isend_s_per_byte
        start = self._free(rank) + fixed + per_byte * size
        if message.eager or state.sent_until > self.now:
            start = max(start, state.free)
        state.free = start + cost.gap_s + cost.gap_s_per_byte * size
        state.sent_until = message.until = start + cost.latency_s + cost.per_byte_s * size
        message.paid = True
        if start > self.now:
            yield start - self.now
        self._send(message)
        yield 0.0  # ranks that send at the same moment take turns

    def _expect(self, rank: int, messages: list[Message]) -> None:
        for message in messages:
            if message.target == rank:
                message.awaited = True
                self._depart(message)

    def _await(self, rank: int, messages: list[Message]) -> Process:
        """Wait until all messages have arrived; small ones for this rank cost its overhead, in the order of
        arrival."""
        self._expect(rank, messages)
        state = self._states[rank]
        state.awaits = list(messages)
        while state.awaits:
            there = [message for message in state.awaits if message.arrived_s is not None]
            if not there:
                yield None
                continue
            message = min(there, key=lambda each: each.arrived_s or 0.0)
            state.awaits.remove(message)
            if message.target == rank and message.eager:
                busy = self._receive_s(message)
                if busy > 0:
                    yield busy

    def _receive_s(self, message: Message) -> float:
        cost, size = message.segment, message.size
        busy = self._free(message.target) - self.now + cost.receive_s + cost.receive_s_per_byte * size
        exchange = cost.exchange_s + cost.exchange_s_per_byte * size
        one_way = cost.one_way(size)
        own = self._states[message.target].sent_until
        if exchange and own > self.now - one_way / 2 and message.until > self.now - one_way:
            busy += exchange
        return busy

    # A message's way

    def _send(self, message: Message) -> None:
        message.sent = True
        self._depart(message)

    def _depart(self, message: Message) -> None:
        """Start the transfer: a large message when both sides are ready, a small one when it is sent."""
        if message.under_way or not message.sent or not (message.eager or message.awaited):
            return
        message.under_way = True
        source, target = self.node[message.source], self.node[message.target]
        time = self._uncontended_delay_s(message, source, target)
        links = self.routes.links(source, target)
        if not len(links):
            self._at(self.now + time, partial(self._arrive, message))
            return
        data = message.size + ENVELOPE
        latency = max(time - data / self.routes.rate, MIN_LATENCY_S)
        self._at(self.now + latency, partial(self._enter, Flow(message, links, data)))

    def _uncontended_delay_s(self, message: Message, source: int, target: int) -> float:
        """Seconds from departure to arrival without contention on links."""
        cost, size, network = message.segment, message.size, self.platform.network
        time = cost.latency_s + self.routes.hops(source, target) * network.hop_s + cost.per_byte_s * size
        if not message.eager:
            flight = time
            time += cost.receive_s + cost.receive_s_per_byte * size
            if not message.paid:
                time += cost.send_s + cost.send_s_per_byte * size
            if self._sending_until[target] > self.now + flight / 2:
                time += cost.exchange_s + cost.exchange_s_per_byte * size
            self._sending_until[source] = max(self._sending_until[source], self.now + flight)
        if source != target and (network.medium_message_s or network.medium_s_per_byte):
            hold = network.medium_message_s + network.medium_s_per_byte * size
            self._medium_free = max(self.now, self._medium_free) + hold
            time += self._medium_free - self.now
        if source != target and self._processors:
            work = cost.processor_s + cost.processor_s_per_byte * size
            self._processors[source].add(self.now, work)
            self._processors[target].add(self.now + time, work)
            time += work
        return time

    def _free(self, rank: int) -> float:
        """Time at which the processor of the rank's node has done its work for messages."""
        return self._processors[self.node[rank]].free(self.now) if self._processors else self.now

    def _enter(self, flow: Flow) -> None:
        self._links.add(flow, self.now)

    def _arrive(self, message: Message) -> None:
        message.arrived_s = self.now
        for rank in {message.source, message.target}:
            if message in self._states[rank].awaits:
                self._wake(rank)

    # Events

    def _at(self, time: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._events, (time, next(self._order), action))

    def _wake(self, rank: int) -> None:
        if rank in self._waiting:
            self._waiting.remove(rank)
            self._at(self.now, partial(self._resume, rank))

    def _resume(self, rank: int) -> None:
        busy = next(self._processes[rank], DONE)
        if busy is None:
            self._waiting.add(rank)
        elif busy is not DONE:
            self._at(self.now + busy, partial(self._resume, rank))


@dataclass(eq=False, slots=True)
class Flow:
    """A transfer with `left` bytes of `message` still to cross all `links` at once."""

    message: Message
    links: np.ndarray
    left: float


class Links:
    """Links with `rates` in bytes per second, and the transfers on them."""

    def __init__(self, rates: np.ndarray) -> None:
        self._capacity = rates
        self._flows: list[Flow] = []
        self._left = np.zeros(0)
        self._rates = np.zeros(0)
        self._since = 0.0
        self._added: list[Flow] = []

    @property
    def busy(self) -> bool:
        return bool(self._flows or self._added)

    def add(self, flow: Flow, now: float) -> None:
        self._advance(now)
        self._added.append(flow)

    def next_end(self, now: float) -> float:
        """Time at which the next transfer ends if none is added; inf without transfers."""
        self._settle(now)
        return self._since + float((self._left / self._rates).min()) if self._flows else np.inf

    def ended(self, now: float) -> list[Flow]:
        """Remove and return the transfers that end at `now`, in the order in which they were added."""
        if not self._flows:
            return []
        over = self._left - self._rates * (now - self._since) <= EVEN * self._capacity.max() * 1e-3
        if not over.any():
            return []
        self._advance(now)
        done = [flow for flow, last in zip(self._flows, over, strict=True) if last]
        self._flows = [flow for flow, last in zip(self._flows, over, strict=True) if not last]
        self._left = self._left[~over]
        self._share()
        return done

    def _advance(self, now: float) -> None:
        self._left = np.maximum(self._left - self._rates * (now - self._since), 0.0)
        self._since = now

    def _settle(self, now: float) -> None:
        """Start the transfers added since the last time."""
        if self._added:
            self._advance(now)
            self._flows += self._added
            self._left = np.concatenate((self._left, [flow.left for flow in self._added]))
            self._added = []
            self._share()

    def _share(self) -> None:
        self._rates = max_min_rates([flow.links for flow in self._flows], self._capacity)


def max_min_rates(links: list[np.ndarray], capacity: np.ndarray) -> np.ndarray:
    """Rate of each transfer by progressive filling: the links with the smallest share per transfer determine
    the rates of the transfers that cross them, then the other transfers share the remaining capacity."""
    rates = np.zeros(len(links))
    if not links:
        return rates
    of_flow = np.repeat(np.arange(len(links)), [len(each) for each in links])
    of_link = np.concatenate(links)
    left = capacity.astype(float)
    while len(of_flow):
        users = np.bincount(of_link, minlength=len(left))
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(users > 0, left / users, np.inf)
        least = share.min()
        tight = share[of_link] <= least * (1 + EVEN)
        fixed = np.zeros(len(links), dtype=bool)
        fixed[of_flow[tight]] = True
        rates[fixed] = least
        gone = fixed[of_flow]
        np.subtract.at(left, of_link[gone], least)
        left = np.maximum(left, 0.0)
        of_flow, of_link = of_flow[~gone], of_link[~gone]
    return rates
