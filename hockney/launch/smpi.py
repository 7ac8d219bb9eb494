# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated launches: the engine under SimGrid's smpirun, on a described machine.

All ranks run in one process, one at a time, on a simulated clock. No core is shared, there is no noise unless
the description adds it, and the same launch gives the same lines.
"""

from __future__ import annotations

import math
import random
import re
import tempfile
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import msgspec

from hockney.core.case import Case
from hockney.core.errors import one_line
from hockney.core.machine import Mpi
from hockney.core.platform import Detours, Libraries, Network, Noise, Platform, Segment
from hockney.core.record import EngineLines, Launch
from hockney.core.smpi_algorithms import choose_algorithms
from hockney.core.units import format_seconds
from hockney.launch.failures import Explanation, describe_ending, parse_ending
from hockney.launch.hang_detector import HangDetector
from hockney.launch.launcher import LaunchCommand, Launcher, LaunchFailed, LaunchOptions
from hockney.launch.mpi import PLAN_FILE, option_words, plan_text, select_engine
from hockney.launch.reading import EngineReader
from hockney.process import Scratch

REPETITIONS = 2
"""The second repetition shows that the first had no side effects; more would give the same times."""
MANY_RANKS = 1024
"""From this number on there is one repetition, which follows a verified operation. The same holds if the
workload restores and verifies its state in each run."""
NOISY_REPETITIONS = 30
WARM_UP = 2
SEED_BITS = 52
"""The simulator reads seeds as floating-point numbers."""
UNLIMITED_S = 1e8
"""Simulated time is not limited; launches are limited in wall-clock time."""
MAX_EVENTS = 200_000_000
"""Number of messages of some hours of simulation. It ends a program that never stops sending."""
STACK_KIB = 1024
# in a separate folder, where the simulator is started, so that the command line is the same in every launch
HOSTS, PLATFORM = "hosts.txt", "platform.txt"


@dataclass(eq=False)
class SmpiLauncher(Launcher):
    """Launches `engine` with SimGrid's `mpi` on `platform`, which the `plugin` next to the engine creates.
    `group_engines` are the executables of workloads that `engine` does not contain. The
    `self_verifying_workloads` restore and verify their state in each run."""

    mpi: Mpi
    engine: Path
    plugin: Path
    platform: Platform
    max_events: int = MAX_EVENTS
    group_engines: Mapping[str, Path] = field(default_factory=dict)
    self_verifying_workloads: Collection[str] = ()
    ranks_per_node: int = 0

    def describe(self, ranks: int) -> LaunchCommand:
        return self._command(self.engine, ranks)

    def run(self, plan: Sequence[Case], ranks: int, options: LaunchOptions) -> EngineLines:
        max_repetitions = min(options.max_repetitions, self._repetitions(plan, ranks))
        engine_options = replace(options, budget_s=UNLIMITED_S, max_repetitions=max_repetitions, hang_s=0.0)
        # if reading the clock takes time, warm-up determines the number of operations between two readings
        warm_up = WARM_UP if self.platform.clock_s else 0
        words = [*option_words(engine_options), "--warm-up", str(warm_up), "--plan", PLAN_FILE]
        detector = WallClock(options, len(plan), ranks)
        command = self._command(select_engine(plan, self.engine, self.group_engines), ranks, *words)
        scratch = self._scratch(plan, ranks, options)
        for line in EngineReader(command, detector, plan, scratch, self._explain_death).lines():
            yield anonymize(line) if isinstance(line, Launch) else line

    def _repetitions(self, plan: Sequence[Case], ranks: int) -> int:
        if self.platform.varies:
            return NOISY_REPETITIONS
        all_self_verifying = all(case.workload in self.self_verifying_workloads for case in plan)
        seeds = max((int(case.number("seeds", 1)) for case in plan), default=1)
        return max(seeds, 1 if all_self_verifying or ranks >= MANY_RANKS else REPETITIONS)

    def _scratch(self, plan: Sequence[Case], ranks: int, options: LaunchOptions) -> Scratch:
        files: dict[str, str | bytes] = {
            PLAN_FILE: plan_text(plan),
            HOSTS: "".join(f"{host}\n" for host in rank_hosts(self.platform, ranks, self.ranks_per_node)),
            PLATFORM: platform_lines(self.platform, max_events=self.max_events, launch=options.index),
            **options.files,
        }
        return Scratch(Path(tempfile.gettempdir()) / f"hockney-{uuid.uuid4().hex}", files, inside=True)

    def _command(self, engine: Path, ranks: int, *words: str) -> LaunchCommand:
        options = [
            "-quiet", "-no-privatize", "-hostfile", HOSTS, "-platform", str(self.plugin),
            "--log=root.thres:error", "--cfg=contexts/guard-size:0", f"--cfg=contexts/stack-size:{STACK_KIB}",
            *algorithm_words(self.platform),
        ]  # fmt: skip
        variables = {"HOCKNEY_PLATFORM": PLATFORM}
        if self.platform.sum_s_per_byte:
            variables["HOCKNEY_SUM_S_PER_BYTE"] = repr(self.platform.sum_s_per_byte)
        if (barrier_s := self.platform.barrier_s(ranks)) is not None:
            variables["HOCKNEY_HARDWARE_BARRIER_S"] = repr(barrier_s)
        if self.platform.network.broadcast == "medium":
            variables["HOCKNEY_BROADCAST"] = "1"
        if self.platform.calls:
            variables["HOCKNEY_CALLS"] = ";".join(
                f"{name} {' '.join(f'{size} {seconds!r}' for size, seconds in points)}"
                for name, points in self.platform.calls.items()
            )
        if (libraries := self.platform.libraries) != Libraries():
            variables["HOCKNEY_LIBRARY_COSTS"] = " ".join(map(repr, msgspec.structs.astuple(libraries)))
        return LaunchCommand(
            words=(self.mpi.mpiexec, "-np", str(ranks), *options, str(engine), *words),
            environment=tuple(sorted(variables.items())),
            binding="each rank on a simulated core",
        )

    def _explain_death(self, ranks: int, case: str, job_exit: int, tail: tuple[str, ...]) -> LaunchFailed:
        failed_case_text = f"the simulation ended during '{case}'"
        what = failed_case_text if case else f"the simulation of {ranks} ranks did not start"
        explanation = replace(explain_simulator(job_exit, tail), what=what)
        return explanation.failure("died" if case else "refused", case, job_exit, tail)


@dataclass
class WallClock(HangDetector):
    """Applies only the launch's time limit. A simulation may print nothing for a long time, but always ends
    or can be ended."""

    def on_start(self, now: float) -> None:
        self.deadline = now + self.options.budget_s

    def on_launch(self, now: float) -> None:
        pass

    def on_case_start(self, now: float, case: str, position: int) -> None:
        self.case = case

    def on_case_end(self, now: float) -> None:
        self.case = ""

    def failure(self, job_exit: int, tail: tuple[str, ...]) -> LaunchFailed:
        time = format_seconds(self.options.budget_s)
        return LaunchFailed(
            f"'{self.case}' could not be simulated within {time}"
            if self.case
            else f"the simulation did not start within {time}",
            "every message takes time to simulate",
            "use a larger --budget, or fewer ranks or smaller messages",
            code="simulation-out-of-time",
            reason="time",
            case=self.case,
            job_exit=job_exit,
            tail=tail,
            seconds=self.options.budget_s,
        )


def rank_hosts(platform: Platform, ranks: int, per_node: int = 0) -> Iterator[str]:
    """Yield the host of each rank. A node's cores, or `per_node` of them, are filled before the next
    node's."""
    node = node_ranks = 0
    for group in platform.nodes:
        for _ in range(group.count):
            node_ranks = min(per_node or group.cores, group.cores, ranks)
            yield from [f"n{node}"] * node_ranks
            ranks -= node_ranks
            node += 1
            if ranks == 0:
                return


def anonymize(launch: Launch) -> Launch:
    """Remove the folders of programs, which would differ between launches or accounts."""
    words = [Path(word).name if word.startswith("/") else word for word in launch.command]
    return msgspec.structs.replace(launch, command=words)


CAUSES = (
    (
        r"more than (\d+) messages were simulated",
        "too-many-simulated-messages",
        "more than {} messages were simulated",
        "use fewer ranks or repetitions",
    ),
    (
        r"[Dd]eadlock",
        "simulated-deadlock",
        "the simulator reports a deadlock: every rank waits for another",
        "this workload cannot run on these ranks",
    ),
    (
        r"(?:^|\W)(MPI_\w+)[^\n]*not (?:yet )?implemented|[Nn]ot (?:yet )?implemented[^\n]*?(MPI_\w+)",
        "call-not-simulated",
        "SimGrid's MPI does not implement {}",
        "leave out this workload in simulations",
    ),
    (
        r"bad_alloc|Cannot allocate memory|out of memory",
        "simulator-out-of-memory",
        "this host ran out of memory",
        "use fewer ranks or smaller messages",
    ),
    (r"hockney-platform: ([^\n]+)", "simulated-platform-error", "{}", ""),
)
"""Patterns in the simulator's output, with code, reason and remedy; {} stands for the text captured by the
pattern. The last one belongs to the plug-in for described machines."""


def explain_simulator(job_exit: int, tail: Sequence[str]) -> Explanation:
    """Explain why a simulation ended, from the simulator's last output."""
    text = "\n".join(tail)
    for pattern, code, why, remedy in CAUSES:
        match = re.search(pattern, text)
        if match:
            captured = next((group for group in match.groups() if group), "")
            return Explanation(code, "", why.format(one_line(captured)), remedy)
    return Explanation("simulator-ended", "", describe_ending(parse_ending(job_exit, tail), "smpirun"))


def platform_lines(platform: Platform, *, max_events: int = 0, launch: int = 0) -> str:
    """Return the complete description as text. After `max_events` messages the simulation ends (0 for never).
    The noise differs between launches, as on real machines."""
    scaled = scale_network(platform, launch_factor(platform.noise, launch))
    return "".join(f"{line}\n" for line in _platform_lines(scaled, max_events, launch))


def launch_factor(noise: Noise | None, launch: int) -> float:
    """Return the factor by which the network is slower than described in this launch."""
    if noise is None or not noise.per_launch:
        return 1.0
    return math.exp(noise.per_launch * abs(_launch_random(noise.seed, launch, "network").gauss(0.0, 1.0)))


def launch_seed(seed: int, launch: int, purpose: str) -> int:
    """Return a launch's seed for one purpose. Launches of other seeds, and other purposes, have others."""
    return _launch_random(seed, launch, purpose).getrandbits(SEED_BITS)


def _launch_random(seed: int, launch: int, purpose: str) -> random.Random:
    return random.Random(f"{seed} {launch} {purpose}")


def scale_network(platform: Platform, factor: float) -> Platform:
    """Return a copy whose network between nodes takes `factor` times as long. Processors are unchanged."""
    if factor == 1:
        return platform
    segments = (
        msgspec.structs.replace(
            segment,
            latency_s=factor * segment.latency_s,
            per_byte_s=factor * segment.per_byte_s,
            gap_s=factor * segment.gap_s,
            gap_s_per_byte=factor * segment.gap_s_per_byte,
        )
        for segment in platform.segments
    )
    network = msgspec.structs.replace(
        platform.network,
        nic=platform.network.nic / factor,
        link=platform.network.link / factor,
        hop_s=factor * platform.network.hop_s,
        medium_message_s=factor * platform.network.medium_message_s,
        medium_s_per_byte=factor * platform.network.medium_s_per_byte,
    )
    return msgspec.structs.replace(platform, network=network, segments=tuple(segments))


def _platform_lines(platform: Platform, max_events: int, launch: int) -> Iterator[str]:
    network = platform.network
    seed = (platform.noise or Noise(relative=0.0)).seed
    yield f"shape {network.shape}"
    yield from _extents(network)
    for group in platform.nodes:
        yield f"nodes {group.count} {group.cores}"
    yield f"nic {network.nic!r}"
    yield f"duplex {network.duplex}"
    yield f"link {network.link!r}"
    yield f"hop {network.hop_s!r}"
    if network.medium_message_s or network.medium_s_per_byte:
        yield f"medium {network.medium_message_s!r} {network.medium_s_per_byte!r}"
    yield f"eager {platform.eager}"
    yield f"flops {platform.flops!r}"
    if platform.clock_s:
        yield f"clock {platform.clock_s!r}"
    for key, segments in (("segment", platform.segments), ("on-node", platform.on_node)):
        for segment in segments:
            yield f"{key} {_segment_numbers(segment)}"
    if platform.noise is not None:
        yield f"noise {platform.noise.relative!r} {launch_seed(seed, launch, 'latency')}"
    for fault in platform.faults:
        nodes = fault.nodes or fault.uplink
        numbers = (len(nodes), *nodes, fault.slowdown, fault.loss, fault.resend_s)
        yield f"{'uplink-' if fault.uplink else ''}fault {_number_words(numbers)}"
    if any(fault.loss for fault in platform.faults):
        yield f"fault-seed {launch_seed(seed, launch, 'losses')}"
    for detours in platform.detours:
        yield _detours_line(detours, launch_seed(seed, launch, "detours"))
    if max_events:
        yield f"events {max_events}"


def _detours_line(detours: Detours, seed: int) -> str:
    intervals = chain.from_iterable(zip(detours.start_s, detours.length_s, strict=True))
    ranks = (detours.first_rank, detours.rank_step, len(detours.nodes), *detours.nodes)
    return f"detours {_number_words((seed, detours.period_s, *ranks, *intervals))}"


def _extents(network: Network) -> Iterator[str]:
    if network.shape in ("torus", "mesh"):
        yield f"dims {_number_words(network.dims)}"
    elif network.shape == "fat-tree":
        for key in ("down", "up", "cables"):
            yield f"{key} {_number_words(getattr(network, key))}"
    elif network.shape == "dragonfly":
        yield f"dragonfly {_number_words(network.dragonfly)}"


def _segment_numbers(segment: Segment) -> str:
    send_cost = (segment.send_s, segment.send_s_per_byte)
    isend_s = send_cost[0] if segment.isend_s is None else segment.isend_s
    isend_s_per_byte = send_cost[1] if segment.isend_s_per_byte is None else segment.isend_s_per_byte
    flight_cost = (segment.latency_s, segment.per_byte_s)
    receive_cost = (segment.receive_s, segment.receive_s_per_byte)
    gap_cost = (segment.gap_s, segment.gap_s_per_byte)
    exchange_cost = (segment.exchange_s, segment.exchange_s_per_byte)
    processor_cost = (segment.processor_s, segment.processor_s_per_byte)
    isend_cost = (isend_s, isend_s_per_byte)
    return _number_words(
        (
            segment.first,
            *send_cost,
            *isend_cost,
            *flight_cost,
            *receive_cost,
            *gap_cost,
            *exchange_cost,
            *processor_cost,
        )
    )


def _number_words(numbers: tuple[float, ...]) -> str:
    return " ".join(repr(number) for number in numbers)


def algorithm_words(platform: Platform) -> list[str]:
    """Return smpirun's options for the algorithm of every operation that has a choice."""
    return [
        f"--cfg=smpi/{operation}:{name}"
        for operation, name in choose_algorithms(platform.collectives).items()
    ]
