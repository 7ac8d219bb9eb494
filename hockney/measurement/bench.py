# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Everything needed for measuring: a launcher, the engine's catalog, the machine, a clock, and the external
load; and the checks before measuring: do the planned ranks fit this machine, do they start, and where do they
meet?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from hockney.core import launch_setting
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError, printable
from hockney.core.layout import PAIR_RANKS, Layout, Level, level_between, parse_level, sort_levels
from hockney.core.machine import Machine
from hockney.core.settings import FEWEST_LAUNCHES, Settings
from hockney.core.units import format_bytes, format_size
from hockney.core.wording import join_words, option, plural, verb_form
from hockney.discovery.load import Load, Moment, load_between, moment
from hockney.launch.launcher import Hello, Launcher
from hockney.measurement.budget import TYPICAL_COST_S, launch_count, least_budget
from hockney.models.least_time import least_of

Notify = Callable[[str], None]
PLANNED_JOB = "batch"
"""Stands for the unknown scheduler in the plan of a batch job."""

LOCK_S = 120.0
"""How long a file server may take to release the lock of a node that died, whose job was requeued."""


@dataclass(frozen=True)
class Bench:
    """Everything that a measurement needs. `launch_cost_s` is the measured cost of starting ranks,
    `checked_s` the time that `check_start` took for it. Budgets are kept by the clock `now`; between rounds,
    `wait` advances that clock by the given seconds. `layout` spreads ranks over the machine's nodes (None:
    over one); `checked_ranks` is the largest number of ranks that have started so far."""

    launcher: Launcher
    catalog: Catalog
    machine: Machine
    launch_cost_s: float = 0.0
    now: Callable[[], float] = field(default=time.monotonic)
    wait: Callable[[float], None] = field(default=time.sleep)
    checked_s: float = 0.0
    layout: Layout | None = None
    checked_ranks: int = 0

    def group_of(self, case: Case) -> str:
        """The executable that runs `case`."""
        return self.catalog.workload(case.workload).group

    def launch_kind(self, case: Case) -> tuple[int, str, str]:
        """The properties that all cases of a launch share: ranks (0: the whole layout), executable and launch
        setting."""
        return case.launched_ranks, self.group_of(case), case.setting

    def ranks_of(self, case: Case) -> int:
        """The number of ranks of its launches."""
        return max(self.layout.ranks, case.ranks) if case.is_placed and self.layout else case.ranks

    def launch_count(self, budget_s: float, cases: Sequence[Case]) -> int:
        """The number of launches of each of `cases` that fit into the budget."""
        cost_s = self.launch_cost_s or TYPICAL_COST_S
        return launch_count(budget_s, cost_s, self._groups(cases), len(cases), least_of(cases))

    def least_budget(self, settings: Settings, cases: Sequence[Case]) -> float:
        """The minimum of `--budget` (s) for `cases`: see `launch_count.least_budget`; 0 on a machine without
        one."""
        if not self.machine.traits.wall_clock:
            return 0.0
        launches = 1 if settings.every_s else settings.launches or FEWEST_LAUNCHES
        cost_s = self.launch_cost_s or TYPICAL_COST_S
        return self.checked_s + least_budget(launches, cost_s, self._groups(cases), least_of(cases))

    def _groups(self, cases: Sequence[Case]) -> int:
        """The number of launches that one round of `cases` needs."""
        return len({self.launch_kind(case) for case in cases})

    @property
    def lock_s(self) -> float:
        """How long to wait for the lock of the records; outside of a job somebody else is writing them."""
        return LOCK_S if self.machine.scheduler else 0.0

    def moment(self) -> Moment | None:
        return moment() if self.machine.traits.local else None

    def load(self, before: Moment | None) -> Load:
        """The external load since `before`; unknown on a machine that is not this host."""
        return Load(None, None) if before is None else load_between(before, moment())


def check_ranks(bench: Bench, most_ranks: int) -> None:
    """Raises UsageError if there are more ranks than this machine can run."""
    if bench.machine.platform is not None:
        from hockney.machines import simulated

        simulated.check_ranks(bench.machine.platform, most_ranks)
    else:
        refuse_too_many_ranks(most_ranks, bench.machine, bench.layout.nodes if bench.layout else 1)


def check_network(bench: Bench, cases: Sequence[Case], assumed: bool) -> None:
    """Raises UsageError for simulated ranks on several nodes between which nobody has measured messages,
    unless the user has accepted an assumed network (`assumed`)."""
    platform = bench.machine.platform
    if platform is None or assumed:
        return
    from hockney.machines import simulated

    if not (reason := simulated.between_nodes_guessed(platform)):
        return
    most_ranks = platform.nodes[0].cores if bench.layout is None else bench.layout.ranks_per_node
    ranks = max(map(bench.ranks_of, cases), default=0)
    if ranks > most_ranks:
        raise UsageError(
            f"{ranks} ranks of {printable(platform.name)} are on several nodes, and nobody has measured "
            "messages between these",
            f"their cost in its description is a guess ({reason})",
            f"use at most {plural(most_ranks, 'rank')}, calibrate from a survey between two hosts or with "
            "the --network of a machine with known costs, or accept the guess with "
            f"{option('assume_network')}",
            code="network-not-measured",
            machine=platform.name,
            ranks=ranks,
            most=most_ranks,
            reason=reason,
        )


def check_memory(bench: Bench, cases: Sequence[Case]) -> None:
    """Raises UsageError if a message does not fit into the memory of this machine. The memory of a simulated
    one has no limit."""
    if bench.machine.platform is None:
        refuse_too_much_memory(cases, bench.machine)


def check_settings(bench: Bench, cases: Sequence[Case], settings: Settings) -> None:
    """Raises UsageError for a launch setting that is not declared, that no case uses, or that the machine
    cannot have."""
    launch_setting.check_settings([case.setting for case in cases], settings.launch_settings)
    traits = bench.machine.traits
    if settings.launch_settings and not (traits.uses_mpiexec or traits.is_fake):
        raise no_mpiexec_on_machine(settings.machine)


def bench_for_job(bench: Bench, layout: Layout | None) -> Bench:
    """The bench for the plan of a batch job, whose hosts are unknown: they are assumed to be like this one,
    and pairs of ranks to meet within a node or between nodes. Without a `layout`, the nodes of the job decide
    how many ranks there are."""
    machine = bench.machine if layout is None else add_levels(bench.machine, layout, ())
    machine = msgspec.structs.replace(machine, scheduler=machine.scheduler or PLANNED_JOB)
    return replace(bench, machine=machine, layout=layout)


def check_start(bench: Bench, cases: Sequence[Case]) -> Bench:
    """Check that the ranks of `cases` start, before anything is written. The returned bench has the cost of
    starting them; its machine has the transports that MPI reports and, on several nodes, where ranks meet.

    Raises UsageError if there are more ranks than this machine can run or none where a case wants them,
    EnvironmentProblem if they do not start.
    """
    placed = [case for case in cases if case.is_placed]
    if placed and bench.layout is None and not bench.machine.traits.described:
        bench = replace(bench, layout=_host_layout(bench))
    most_ranks = max(map(bench.ranks_of, cases), default=0)
    check_ranks(bench, most_ranks)
    if not cases:
        return bench
    if placed and bench.layout is not None and not bench.machine.levels:
        bench = _start_once(bench, bench.layout.ranks)  # more ranks may meet elsewhere
    bench = _start_once(bench, most_ranks)
    if bench.layout is not None:
        refuse_missing_levels(bench.machine, bench.layout, placed)
    return bench


def find_levels(bench: Bench, *, within: bool = False) -> Bench:
    """The bench with the levels at which ranks meet: starts them once, before a study plans its cases.
    Ranks of one node are started only if the study asks about levels `within` one, and if there may be
    several. Raises the same errors as `check_start`."""
    if bench.layout is not None:
        check_ranks(bench, bench.layout.ranks)
        return _start_once(bench, bench.layout.ranks)
    if not within or bench.machine.cores <= PAIR_RANKS or not bench.machine.traits.uses_mpiexec:
        return bench
    layout = _host_layout(bench)
    started = _start_once(replace(bench, layout=layout), layout.ranks)
    if started.machine.is_placed:
        return started
    machine = msgspec.structs.replace(
        started.machine, nodes=0, ranks_per_node=0
    )  # the launcher places the ranks
    return replace(started, layout=None, machine=machine)


def _host_layout(bench: Bench) -> Layout:
    """The layout with a rank on each core of this host."""
    return Layout(1, bench.machine.cores)


def _start_once(bench: Bench, ranks: int) -> Bench:
    """Start `ranks` ranks, unless as many have started before; returns the updated bench."""
    if ranks <= bench.checked_ranks:
        return bench
    start_s = bench.now()
    checked = bench.launcher.check(ranks)
    machine = bench.machine
    if bench.layout is not None and ranks == bench.layout.ranks:
        machine = add_levels(machine, bench.layout, checked.hellos)
    if not checked.hellos:
        return replace(bench, machine=machine)
    took_s = bench.now() - start_s
    return replace(
        bench,
        machine=msgspec.structs.replace(machine, transport=dict(checked.transport)),
        launch_cost_s=took_s,
        checked_s=bench.checked_s + took_s,
        checked_ranks=ranks,
    )


def published_only(machine: str, by: str = "a paper") -> UsageError:
    return UsageError(
        f"cannot measure on '{printable(machine)}'",
        f"there are only the numbers that {by} printed",
        "'hockney report' and 'hockney models' show them",
        code="machine-only-published",
        machine=machine,
    )


def no_mpiexec_on_machine(machine: str) -> UsageError:
    return UsageError(
        f"{option('mpiexec_args')}, {option('variables')} and launch settings do not apply to "
        f"{printable(machine)}",
        "no mpiexec starts its ranks",
        "leave them out",
        code="no-mpiexec-on-machine",
        machine=machine,
    )


RANKS_PER_THREAD = 16
"""More ranks on a hardware thread only exhaust memory and file descriptors."""


def refuse_too_many_ranks(most: int, machine: Machine, nodes: int = 1) -> None:
    """Raises UsageError if `most` ranks are too many for `nodes` nodes like this host, on a machine without a
    scheduler, whose size is known."""
    limit = max(64, RANKS_PER_THREAD * machine.threads * nodes)
    if most > limit and not machine.scheduler:
        raise UsageError(
            f"{most} ranks are too many for {machine.threads} hardware threads",
            "they would exhaust the machine instead of measuring it",
            f"use {option('ranks')} up to {limit}",
            code="ranks-exceed-machine",
            ranks=most,
            limit=limit,
        )


def refuse_too_much_memory(cases: Iterable[Case], machine: Machine) -> None:
    """Raises UsageError for a case with a message that certainly does not fit into the memory of a host like
    this one. Each rank has at least one buffer of this size; how many ranks share a host is known only
    without a scheduler."""
    if not machine.memory_bytes:
        return
    for case in cases:
        sharing = 1 if machine.scheduler else case.ranks
        if case.bytes * sharing > machine.memory_bytes:
            of_all = "" if sharing == 1 else f" on each of {sharing} ranks"
            possible = 1 << max(0, (machine.memory_bytes // sharing // 2).bit_length() - 1)
            size = format_size(case.bytes)
            raise UsageError(
                f"{case.workload} with bytes={size.replace(' ', '')} does not fit into this host's memory",
                f"it needs at least one buffer of {size}{of_all}, and the host has "
                f"{format_bytes(machine.memory_bytes)}",
                f"use at most {format_bytes(possible)}",
                code="message-exceeds-memory",
                bytes=case.bytes,
                ranks=sharing,
                memory=machine.memory_bytes,
            )


def add_levels(machine: Machine, layout: Layout, hellos: Sequence[Hello]) -> Machine:
    """The machine with the layout of its ranks, the hosts on which they ran, and the levels at which they
    meet: those of rank 0, which takes part in every case."""
    if hellos:
        first, *others = hellos
        levels = {level_between(first, other) for other in others}
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
    """The levels of a machine whose launcher starts no ranks for a check, such as a simulated one."""
    levels: set[Level] = {"network"} if layout.nodes > 1 else set()
    return levels | {"node"} if layout.ranks_per_node > 1 else levels


def refuse_missing_levels(machine: Machine, layout: Layout, cases: Iterable[Case]) -> None:
    """Raises UsageError for a case whose level or number of nodes the launches do not have."""
    for case in cases:
        if case.place and machine.levels and case.place not in machine.levels:
            raise UsageError(
                f"no ranks meet at place={case.place}",
                f"the ranks started here meet at {join_words(machine.levels)}",
                f"use place={machine.levels[-1]}, or {_remedy(parse_level(case.place))}",
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


def _remedy(level: Level) -> str:
    """How to start ranks that meet at `level`, if the machine has it."""
    if level == "core":
        return f"start a rank on each hardware thread (with {option('mpiexec_args')}, see docs/levels.md)"
    if level == "network":
        return f"start ranks on several hosts ({option('nodes')}, {option('hosts')})"
    return f"start more ranks on each node ({option('ranks_per_node')})"
