# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The bench, which contains everything needed for measuring (launcher, catalog, machine, clock, external
load), and the checks before measuring: whether the planned ranks fit this machine, whether they start, and
where they meet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from hockney.core import launch_setting
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError, printable
from hockney.core.layout import PAIR_RANKS, Layout, Level, level_between, parse_level, sort_levels
from hockney.core.machine import Machine
from hockney.core.settings import MIN_LAUNCHES, Settings
from hockney.core.units import format_bytes, format_size
from hockney.core.wording import join_words, option, plural, verb_form
from hockney.discovery.load import Load, Moment, load_between, moment
from hockney.launch.launcher import Hello, Launcher
from hockney.launch.topology import read_topology
from hockney.measurement.budget import TYPICAL_LAUNCH_COST_S, TYPICAL_LAUNCHES, launch_count, min_budget
from hockney.models.least_time import min_launch_seconds

Notify = Callable[[str], None]
UNKNOWN_SCHEDULER = "batch"
"""The scheduler in the plan of a batch job whose scheduler is unknown."""

LOCK_TIMEOUT_S = 120.0
"""Time that a file server may need to release the lock of a node that died and whose job was requeued."""


@dataclass(frozen=True)
class Bench:
    """Everything needed for measuring. `launch_cost_s` is the measured cost of starting ranks, `check_time_s`
    the time that `check_start` took for it. Budgets are measured by the clock `now`; between rounds, `wait`
    advances that clock by the given seconds. `layout` distributes ranks over the machine's nodes (None: over
    one). `max_checked_ranks` is the largest number of ranks that were started so far."""

    launcher: Launcher
    catalog: Catalog
    machine: Machine
    launch_cost_s: float = 0.0
    now: Callable[[], float] = field(default=time.monotonic)
    wait: Callable[[float], None] = field(default=time.sleep)
    check_time_s: float = 0.0
    layout: Layout | None = None
    max_checked_ranks: int = 0

    def group_of(self, case: Case) -> str:
        """Return the executable that runs `case`."""
        return self.catalog.workload(case.workload).group

    def launch_kind(self, case: Case) -> tuple[int, str, str]:
        """Return the properties that all cases of a launch share: ranks (0: the complete layout), executable
        and launch setting."""
        return case.launched_ranks, self.group_of(case), case.setting

    def launch_ranks(self, case: Case) -> int:
        """Return the number of ranks of the case's launches."""
        return max(self.layout.ranks, case.ranks) if case.is_placed and self.layout else case.ranks

    def launch_count(self, budget_s: float, cases: Sequence[Case], typical: int = TYPICAL_LAUNCHES) -> int:
        """Return the number of launches of each of `cases` that fit into the budget, `typical` if they are
        short."""
        cost_s = self.launch_cost_s or TYPICAL_LAUNCH_COST_S
        groups = self._launches_per_round(cases)
        return launch_count(budget_s, cost_s, groups, len(cases), min_launch_seconds(cases), typical)

    def min_budget(self, settings: Settings, cases: Sequence[Case]) -> float:
        """Return the minimum of `--budget` (s) for `cases`, or 0 on a machine without a minimum."""
        if not self.machine.traits.wall_clock:
            return 0.0
        launches = 1 if settings.every_s else settings.launches or MIN_LAUNCHES
        cost_s = self.launch_cost_s or TYPICAL_LAUNCH_COST_S
        return self.check_time_s + min_budget(
            launches, cost_s, self._launches_per_round(cases), min_launch_seconds(cases)
        )

    def _launches_per_round(self, cases: Sequence[Case]) -> int:
        """Return the number of launches that one round of `cases` needs."""
        return len({self.launch_kind(case) for case in cases})

    @property
    def lock_timeout_s(self) -> float:
        """Time to wait for the lock of the records. Outside of a batch job, a lock means that another process
        writes them."""
        return LOCK_TIMEOUT_S if self.machine.scheduler else 0.0

    def load_snapshot(self) -> Moment | None:
        return moment() if self.machine.traits.local else None

    def load(self, before: Moment | None) -> Load:
        """Return the external load since `before`; unknown on a machine other than this host."""
        return Load(None, None) if before is None else load_between(before, moment())


def check_ranks(bench: Bench, max_ranks: int) -> None:
    """Raise UsageError if there are more ranks than this machine can run."""
    if bench.machine.platform is not None:
        from hockney.machines import simulated

        simulated.check_ranks(bench.machine.platform, max_ranks)
    else:
        refuse_too_many_ranks(max_ranks, bench.machine, bench.layout.nodes if bench.layout else 1)


def check_network(bench: Bench, cases: Sequence[Case], is_network_accepted: bool) -> None:
    """Raise UsageError for simulated ranks on several nodes if the messages between nodes were never
    measured, unless the user accepted an assumed network (`is_network_accepted`)."""
    platform = bench.machine.platform
    if platform is None or is_network_accepted:
        return
    from hockney.machines import simulated

    if not (reason := simulated.between_nodes_guessed(platform)):
        return
    ranks_per_node = platform.nodes[0].cores if bench.layout is None else bench.layout.ranks_per_node
    ranks = max(map(bench.launch_ranks, cases), default=0)
    if ranks > ranks_per_node:
        raise UsageError(
            f"{ranks} ranks of {printable(platform.name)} are on several nodes, and nobody has measured "
            "messages between these",
            f"their cost in its description is a guess ({reason})",
            f"use at most {plural(ranks_per_node, 'rank')}, calibrate from a survey between two hosts or "
            "with "
            "the --network of a machine with known costs, or accept the guess with "
            f"{option('assume_network')}",
            code="network-not-measured",
            machine=platform.name,
            ranks=ranks,
            most=ranks_per_node,
            reason=reason,
        )


def check_memory(bench: Bench, cases: Sequence[Case]) -> None:
    """Raise UsageError if a message does not fit into the memory of this machine. Simulated machines have no
    limit."""
    if bench.machine.platform is None:
        refuse_too_much_memory(cases, bench.machine)


def check_settings(bench: Bench, cases: Sequence[Case], settings: Settings) -> None:
    """Raise UsageError for a launch setting that is not declared, that no case uses, or that does not apply
    to the machine."""
    launch_setting.check_settings([case.setting for case in cases], settings.launch_settings)
    traits = bench.machine.traits
    if settings.launch_settings and not (traits.uses_mpiexec or traits.is_fake):
        raise no_mpiexec_error(settings.machine)


def bench_for_job(bench: Bench, layout: Layout | None) -> Bench:
    """Return the bench for the plan of a batch job. Its hosts are unknown and assumed to be like this one;
    pairs of ranks are assumed to meet within a node or between nodes. Without a `layout`, the nodes of the
    job determine the number of ranks."""
    machine = bench.machine if layout is None else add_levels(bench.machine, layout, ())
    machine = msgspec.structs.replace(machine, scheduler=machine.scheduler or UNKNOWN_SCHEDULER)
    return replace(bench, machine=machine, layout=layout)


def add_topology(bench: Bench, path: Path) -> Bench:
    """Return the bench with the switches between its nodes from a file. Raises UsageError."""
    topology = read_topology(path, bench.machine.hosts)
    return replace(bench, machine=msgspec.structs.replace(bench.machine, topology=topology))


def check_start(bench: Bench, cases: Sequence[Case]) -> Bench:
    """Check that the ranks of `cases` start, before anything is written. The returned bench contains the cost
    of starting them; its machine contains the transports that MPI reports and, on several nodes, the levels
    at which ranks meet.

    Raises UsageError if there are more ranks than this machine can run or a case's level does not exist, and
    EnvironmentProblem if ranks do not start.
    """
    placed_cases = [case for case in cases if case.is_placed]
    if placed_cases and bench.layout is None and not bench.machine.traits.described:
        bench = replace(bench, layout=_host_layout(bench))
    max_ranks = max(map(bench.launch_ranks, cases), default=0)
    check_ranks(bench, max_ranks)
    if not cases:
        return bench
    if placed_cases and bench.layout is not None and not bench.machine.levels:
        bench = _start_once(bench, bench.layout.ranks)  # more ranks may meet elsewhere
    bench = _start_once(bench, max_ranks)
    if bench.layout is not None:
        refuse_missing_levels(bench.machine, bench.layout, placed_cases)
    return bench


def find_levels(bench: Bench, *, within_node: bool = False) -> Bench:
    """Return the bench with the levels at which ranks meet. They are found by starting the ranks once, before
    a study plans its cases. Ranks of a single node are started only if the study needs the levels
    `within_node`, and if there may be several. Raises the same errors as `check_start`."""
    if bench.layout is not None:
        check_ranks(bench, bench.layout.ranks)
        return _start_once(bench, bench.layout.ranks)
    if not within_node or bench.machine.cores <= PAIR_RANKS or not bench.machine.traits.uses_mpiexec:
        return bench
    layout = _host_layout(bench)
    started_bench = _start_once(replace(bench, layout=layout), layout.ranks)
    if started_bench.machine.is_placed:
        return started_bench
    machine = msgspec.structs.replace(
        started_bench.machine, nodes=0, ranks_per_node=0
    )  # the launcher places the ranks
    return replace(started_bench, layout=None, machine=machine)


def _host_layout(bench: Bench) -> Layout:
    """Return the layout with one rank on each core of this host."""
    return Layout(1, bench.machine.cores)


def _start_once(bench: Bench, ranks: int) -> Bench:
    """Start the ranks, unless at least as many were started before. Return the updated bench."""
    if ranks <= bench.max_checked_ranks:
        return bench
    start_s = bench.now()
    check_result = bench.launcher.check(ranks)
    machine = bench.machine
    if bench.layout is not None and ranks == bench.layout.ranks:
        machine = add_levels(machine, bench.layout, check_result.hellos)
    if not check_result.hellos:
        return replace(bench, machine=machine)
    check_time_s = bench.now() - start_s
    return replace(
        bench,
        machine=msgspec.structs.replace(machine, transport=dict(check_result.transport)),
        launch_cost_s=check_time_s,
        check_time_s=bench.check_time_s + check_time_s,
        max_checked_ranks=ranks,
    )


def published_only_error(machine: str, author: str = "a paper") -> UsageError:
    return UsageError(
        f"cannot measure on '{printable(machine)}'",
        f"there are only the numbers that {author} printed",
        "'hockney report' and 'hockney models' show them",
        code="machine-only-published",
        machine=machine,
    )


def no_mpiexec_error(machine: str) -> UsageError:
    return UsageError(
        f"{option('mpiexec_args')}, {option('variables')} and launch settings do not apply to "
        f"{printable(machine)}",
        "no mpiexec starts its ranks",
        "leave them out",
        code="no-mpiexec-on-machine",
        machine=machine,
    )


RANKS_PER_THREAD = 16
"""More ranks per hardware thread only exhaust memory and file descriptors."""


def refuse_too_many_ranks(ranks: int, machine: Machine, nodes: int = 1) -> None:
    """Raise UsageError if there are too many ranks for `nodes` nodes like this host. With a scheduler, the
    size of the machine is unknown."""
    max_ranks = max(64, RANKS_PER_THREAD * machine.threads * nodes)
    if ranks > max_ranks and not machine.scheduler:
        raise UsageError(
            f"{ranks} ranks are too many for {machine.threads} hardware threads",
            "they would exhaust the machine instead of measuring it",
            f"use {option('ranks')} up to {max_ranks}",
            code="ranks-exceed-machine",
            ranks=ranks,
            limit=max_ranks,
        )


def refuse_too_much_memory(cases: Iterable[Case], machine: Machine) -> None:
    """Raise UsageError for a case with a message that cannot fit into the memory of a host like this one.
    Each rank has at least one buffer of this size. The number of ranks per host is known only without a
    scheduler."""
    if not machine.memory_bytes:
        return
    for case in cases:
        ranks_per_host = 1 if machine.scheduler else case.ranks
        if case.bytes * ranks_per_host > machine.memory_bytes:
            rank_phrase = "" if ranks_per_host == 1 else f" on each of {ranks_per_host} ranks"
            max_bytes = 1 << max(0, (machine.memory_bytes // ranks_per_host // 2).bit_length() - 1)
            size = format_size(case.bytes)
            raise UsageError(
                f"{case.workload} with bytes={size.replace(' ', '')} does not fit into this host's memory",
                f"it needs at least one buffer of {size}{rank_phrase}, and the host has "
                f"{format_bytes(machine.memory_bytes)}",
                f"use at most {format_bytes(max_bytes)}",
                code="message-exceeds-memory",
                bytes=case.bytes,
                ranks=ranks_per_host,
                memory=machine.memory_bytes,
            )


def add_levels(machine: Machine, layout: Layout, hellos: Sequence[Hello]) -> Machine:
    """Return the machine with the layout of its ranks, the hosts on which they ran, and the levels at which
    they meet rank 0, which takes part in every case."""
    if hellos:
        first_hello, *other_hellos = hellos
        levels = {level_between(first_hello, other) for other in other_hellos}
    else:
        levels = _assumed_levels(layout)
    hosts = list(dict.fromkeys(hello.host for hello in hellos)) if layout.nodes > 1 else []
    return msgspec.structs.replace(
        machine,
        levels=list(sort_levels(levels)),
        nodes=layout.nodes,
        ranks_per_node=layout.ranks_per_node,
        hosts=machine.hosts or hosts,
    )


def _assumed_levels(layout: Layout) -> set[Level]:
    """Return the levels of a machine whose launcher starts no ranks for a check, such as a simulated one."""
    levels: set[Level] = {"network"} if layout.nodes > 1 else set()
    return levels | {"node"} if layout.ranks_per_node > 1 else levels


def refuse_missing_levels(machine: Machine, layout: Layout, cases: Iterable[Case]) -> None:
    """Raise UsageError for a case whose level or number of nodes is not available."""
    for case in cases:
        if case.place and machine.levels and case.place not in machine.levels:
            raise UsageError(
                f"no ranks meet at place={case.place}",
                f"the ranks started here meet at {join_words(machine.levels)}",
                f"use place={machine.levels[-1]}, or {_level_remedy(parse_level(case.place))}",
                code="no-such-level",
                place=case.place,
                available=list(machine.levels),
            )
        if case.nodes > layout.nodes or (case.nodes and case.ranks // case.nodes > layout.ranks_per_node):
            raise UsageError(
                f"{plural(case.ranks, 'rank')} on {plural(case.nodes, 'node')} "
                f"{verb_form(case.ranks, 'does', 'do')} not fit",
                f"there {verb_form(layout.nodes, 'is', 'are')} {plural(layout.nodes, 'node')} with "
                f"{plural(layout.ranks_per_node, 'rank')} each",
                f"use fewer ranks, or start more ({option('nodes')}, {option('hosts')}, "
                f"{option('ranks_per_node')})",
                code="ranks-not-on-nodes",
                ranks=case.ranks,
                nodes=case.nodes,
                available_nodes=layout.nodes,
                ranks_per_node=layout.ranks_per_node,
            )


def _level_remedy(level: Level) -> str:
    """Explain how to start ranks that meet at `level`, if the machine has it."""
    if level == "core":
        return f"start a rank on each hardware thread (with {option('mpiexec_args')}, see docs/levels.md)"
    if level == "network":
        return f"start ranks on several hosts ({option('nodes')}, {option('hosts')})"
    return f"start more ranks on each node ({option('ranks_per_node')})"
