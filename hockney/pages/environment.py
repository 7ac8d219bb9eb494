# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Where a run was made: name and value pairs."""

from __future__ import annotations

import contextlib
from datetime import datetime, timezone

from hockney.core.ethernet import Ethernet
from hockney.core.launch_setting import launch_settings
from hockney.core.machine import Machine
from hockney.core.platform import Platform
from hockney.core.units import format_bit_rate, format_bytes, format_rate, format_seconds
from hockney.core.wording import plural
from hockney.mpi import title_of
from hockney.pages.evidence import Evidence
from hockney.pages.levels import place_words

MAX_HOSTS = 16


def subtitle(evidence: Evidence) -> str:
    """The user's label, and where the run was made."""
    return ": ".join(filter(None, (evidence.settings.label, _place(evidence))))


def _place(evidence: Evidence) -> str:
    """Host, MPI and time in a line; for a simulated machine its description instead, since its clock has no
    date."""
    if evidence.machine.platform is not None:
        simulator = title_of(evidence.machine.mpi) if evidence.machine.mpi else "a simulator"
        return f"{evidence.machine.platform.title}, simulated by {simulator}"
    if evidence.machine.traits.published:
        return f"{evidence.machine.cpu}, as published: {evidence.machine.citation}"
    if evidence.machine.traits.imported:
        return f"{evidence.machine.host}, imported from the output of {evidence.machine.cpu}"
    described = evidence.machine.emulated
    parts = [f"{described.title}, emulated" if described else evidence.machine.host]
    if evidence.machine.mpi is not None:
        parts.append(title_of(evidence.machine.mpi))
    elif evidence.run.launches:
        parts.append(evidence.run.launches[0].library)
    if evidence.run.launches:
        with contextlib.suppress(OverflowError, ValueError, OSError):  # a date outside the calendar's range
            began = datetime.fromtimestamp(evidence.run.launches[0].started_s, timezone.utc)
            parts.append(began.strftime("%Y-%m-%d %H:%M UTC"))
    return ", ".join(parts)


def _imported(evidence: Evidence) -> tuple[tuple[str, str], ...]:
    m = evidence.machine
    libraries = dict.fromkeys(launch.library for launch in evidence.run.launches if launch.library)
    rows = [
        ("machine", m.host),
        ("system", m.system),
        ("benchmark", m.cpu),
        ("MPI", ", ".join(libraries)),
        ("imported from", m.citation),
        *(("note", note) for note in m.notes),
        ("imported by", f"hockney {m.hockney}"),
    ]
    return tuple((name, text) for name, text in rows if text)


def facts(evidence: Evidence) -> tuple[tuple[str, str], ...]:
    """Unknown facts are left out."""
    m = evidence.machine
    if m.platform is not None:
        return _simulated(evidence, m.platform)
    if m.traits.published:
        printed = [("machine", m.cpu), ("published in", m.citation), *(("note", note) for note in m.notes)]
        return (*printed, ("copied by", f"hockney {m.hockney}"))
    if m.traits.imported:
        return _imported(evidence)
    caches = ", ".join(f"{name} {format_bytes(size)}" for name, size in m.caches.items())
    rows = [
        *(_emulated(m.emulated) if m.emulated else [("host", m.host)]),
        ("system", m.system),
        ("processor", m.cpu),
        (
            "cores",
            f"{plural(m.cores, 'core')}, {plural(m.threads, 'thread')}, {plural(m.sockets, 'socket')}, "
            f"{plural(m.numa_nodes, 'NUMA node')}",
        ),
        ("caches", caches),
        ("memory", format_bytes(m.memory_bytes) if m.memory_bytes else ""),
        ("virtual", m.virtual),
        ("governor", m.governor),
        ("load before", "" if m.load_before is None else f"{m.load_before:.2f}"),
        ("load of others", _load_of_others(evidence)),
        ("network", ", ".join(m.network)),
        *_layout(m),
        ("MPI", f"{title_of(m.mpi)} in {m.mpi.prefix}" if m.mpi else ""),
        *_launch(evidence),
        ("transport", ", ".join(f"{where}: {name}" for where, name in m.transport.items())),
        *((name, value or "''") for name, value in (m.settings or {}).items()),
        *_settings(evidence),
        ("compiler", m.compiler),
        ("flags", m.flags),
        ("hockney", f"{m.hockney}, Python {m.python}"),
    ]
    return tuple((name, value) for name, value in rows if value)


def _layout(m: Machine) -> list[tuple[str, str]]:
    """Where the ranks ran, and the levels at which they met; empty for ranks that the launcher placed on one
    host."""
    if m.layout is None:
        return []
    names = list(dict.fromkeys(filter(None, m.hosts)))
    hosts = ", ".join(
        [*names[:MAX_HOSTS], *([f"and {len(names) - MAX_HOSTS} more"] if names[MAX_HOSTS:] else [])]
    )
    nodes = plural(m.layout.nodes, "node")
    if len(names) > m.layout.nodes:
        nodes += f" in each launch, of {plural(len(names), 'host')}"
    return [
        ("nodes", f"{nodes}: {hosts}" if hosts else nodes),
        ("ranks per node", str(m.layout.ranks_per_node)),
        ("messages travel", ", ".join(map(place_words, m.levels))),
    ]


def _emulated(ethernet: Ethernet) -> list[tuple[str, str]]:
    wire = f"{format_bit_rate(ethernet.rate)} {ethernet.medium}, packets of {ethernet.mtu} B"
    return [
        ("machine", f"{ethernet.title} ({ethernet.name}), emulated"),
        ("after", ethernet.source),
        ("hosts", str(ethernet.hosts)),
        ("wire", wire),
        ("payload rate", format_rate(ethernet.payload_rate)),
        *[("note", note) for note in ethernet.notes],
    ]


def _simulated(evidence: Evidence, platform: Platform) -> tuple[tuple[str, str], ...]:
    m, network = evidence.machine, platform.network
    first = evidence.run.launches[:1]
    rows = [
        ("machine", f"{platform.title} ({platform.name}), simulated"),
        ("after", platform.source),
        ("size", f"{plural(m.cores, 'core')} in {plural(sum(g.count for g in platform.nodes), 'node')}"),
        ("network", " ".join([network.shape, "x".join(map(str, network.dims))]).strip()),
        *_layout(m),
        ("simulator", f"{title_of(m.mpi)} in {m.mpi.prefix}" if m.mpi else ""),
        *[("command", " ".join(launch.command)) for launch in first],
        ("compiler", m.compiler),
        ("hockney", m.hockney),
        *[("note", note) for note in platform.notes],
    ]
    return tuple((name, value) for name, value in rows if value)


def _load_of_others(evidence: Evidence) -> str:
    """The largest load by other programs in a launch."""
    used = [close.outside_cores for close in evidence.run.closes if close.outside_cores]
    return f"up to {max(used):.2f} processors during a launch" if used else ""


def _settings(evidence: Evidence) -> list[tuple[str, str]]:
    """The run's launch settings, with their variables."""
    declared = launch_settings(evidence.settings.launch_settings).values()
    return [
        (f"setting {each.name}", " ".join(f"{name}={value}" for name, value in each.variables) or "nothing")
        for each in declared
    ]


def _launch(evidence: Evidence) -> list[tuple[str, str]]:
    """The facts of the first launch with the most ranks: one rank alone is bound differently."""
    if not evidence.run.launches:
        return []
    first = max(evidence.run.launches, key=lambda launch: len(launch.ranks))
    step, cost = format_seconds(first.clock.resolution_s), format_seconds(first.clock.overhead_s)
    return [
        ("library", first.library),
        ("MPI standard", first.mpi_standard),
        ("binding", first.binding),
        ("command", " ".join(first.command)),
        ("clock", f"MPI_Wtime, step {step}, a reading costs {cost}"),
    ]
