# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The environment of a run as pairs of name and value."""

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
from hockney.pages.levels import level_phrase

MAX_HOSTS = 16


def subtitle(evidence: Evidence) -> str:
    """Return the user's label, and where the run was made."""
    return ": ".join(filter(None, (evidence.settings.label, _describe_origin(evidence))))


def _describe_origin(evidence: Evidence) -> str:
    """Return host, MPI and time in one line. For a simulated machine, whose clock has no date, return its
    description."""
    if evidence.machine.platform is not None:
        simulator = title_of(evidence.machine.mpi) if evidence.machine.mpi else "a simulator"
        return f"{evidence.machine.platform.title}, simulated by {simulator}"
    if evidence.machine.traits.published:
        return f"{evidence.machine.cpu}, as published: {evidence.machine.citation}"
    if evidence.machine.traits.imported:
        return f"{evidence.machine.host}, imported from the output of {evidence.machine.cpu}"
    emulated = evidence.machine.emulated
    parts = [f"{emulated.title}, emulated" if emulated else evidence.machine.host]
    if evidence.machine.mpi is not None:
        parts.append(title_of(evidence.machine.mpi))
    elif evidence.run.launches:
        parts.append(evidence.run.launches[0].library)
    if evidence.run.launches:
        with contextlib.suppress(OverflowError, ValueError, OSError):  # a date outside the calendar's range
            start = datetime.fromtimestamp(evidence.run.launches[0].started_s, timezone.utc)
            parts.append(start.strftime("%Y-%m-%d %H:%M UTC"))
    return ", ".join(parts)


def _imported_facts(evidence: Evidence) -> tuple[tuple[str, str], ...]:
    machine = evidence.machine
    libraries = dict.fromkeys(launch.library for launch in evidence.run.launches if launch.library)
    rows = [
        ("machine", machine.host),
        ("system", machine.system),
        ("benchmark", machine.cpu),
        ("MPI", ", ".join(libraries)),
        ("imported from", machine.citation),
        *(("note", note) for note in machine.notes),
        ("imported by", f"hockney {machine.hockney}"),
    ]
    return tuple((name, text) for name, text in rows if text)


def facts(evidence: Evidence) -> tuple[tuple[str, str], ...]:
    """Return the facts about the environment, without unknown ones."""
    machine = evidence.machine
    if machine.platform is not None:
        return _simulated_facts(evidence, machine.platform)
    if machine.traits.published:
        published_facts = [
            ("machine", machine.cpu),
            ("published in", machine.citation),
            *(("note", note) for note in machine.notes),
        ]
        return (*published_facts, ("copied by", f"hockney {machine.hockney}"))
    if machine.traits.imported:
        return _imported_facts(evidence)
    caches = ", ".join(f"{name} {format_bytes(size)}" for name, size in machine.caches.items())
    rows = [
        *(_emulated_facts(machine.emulated) if machine.emulated else [("host", machine.host)]),
        ("system", machine.system),
        ("processor", machine.cpu),
        (
            "cores",
            f"{plural(machine.cores, 'core')}, {plural(machine.threads, 'thread')}, "
            f"{plural(machine.sockets, 'socket')}, "
            f"{plural(machine.numa_nodes, 'NUMA node')}",
        ),
        ("caches", caches),
        ("memory", format_bytes(machine.memory_bytes) if machine.memory_bytes else ""),
        ("virtual", machine.virtual),
        ("governor", machine.governor),
        ("load before", "" if machine.load_before is None else f"{machine.load_before:.2f}"),
        ("load of others", _background_load(evidence)),
        ("network", ", ".join(machine.network)),
        *_layout_facts(machine),
        ("MPI", f"{title_of(machine.mpi)} in {machine.mpi.prefix}" if machine.mpi else ""),
        *_launch_facts(evidence),
        ("transport", ", ".join(f"{level}: {name}" for level, name in machine.transport.items())),
        *((name, value or "''") for name, value in (machine.settings or {}).items()),
        *_setting_facts(evidence),
        ("compiler", machine.compiler),
        ("flags", machine.flags),
        ("hockney", f"{machine.hockney}, Python {machine.python}"),
    ]
    return tuple((name, value) for name, value in rows if value)


def _layout_facts(machine: Machine) -> list[tuple[str, str]]:
    """Return where the ranks ran and the levels at which they met; empty if the launcher placed all ranks on
    one host."""
    if machine.layout is None:
        return []
    names = list(dict.fromkeys(filter(None, machine.hosts)))
    hosts = ", ".join(
        [*names[:MAX_HOSTS], *([f"and {len(names) - MAX_HOSTS} more"] if names[MAX_HOSTS:] else [])]
    )
    nodes = plural(machine.layout.nodes, "node")
    if len(names) > machine.layout.nodes:
        nodes += f" in each launch, of {plural(len(names), 'host')}"
    return [
        ("nodes", f"{nodes}: {hosts}" if hosts else nodes),
        ("ranks per node", str(machine.layout.ranks_per_node)),
        ("messages travel", ", ".join(map(level_phrase, machine.levels))),
    ]


def _emulated_facts(ethernet: Ethernet) -> list[tuple[str, str]]:
    wire = f"{format_bit_rate(ethernet.rate)} {ethernet.medium}, packets of {ethernet.mtu} B"
    return [
        ("machine", f"{ethernet.title} ({ethernet.name}), emulated"),
        ("after", ethernet.source),
        ("hosts", str(ethernet.hosts)),
        ("wire", wire),
        ("payload rate", format_rate(ethernet.payload_rate)),
        *[("note", note) for note in ethernet.notes],
    ]


def _simulated_facts(evidence: Evidence, platform: Platform) -> tuple[tuple[str, str], ...]:
    machine, network = evidence.machine, platform.network
    first_launches = evidence.run.launches[:1]
    rows = [
        ("machine", f"{platform.title} ({platform.name}), simulated"),
        ("after", platform.source),
        (
            "size",
            f"{plural(machine.cores, 'core')} in "
            f"{plural(sum(group.count for group in platform.nodes), 'node')}",
        ),
        ("network", " ".join([network.shape, "x".join(map(str, network.dims))]).strip()),
        *_layout_facts(machine),
        ("simulator", f"{title_of(machine.mpi)} in {machine.mpi.prefix}" if machine.mpi else ""),
        *[("command", " ".join(launch.command)) for launch in first_launches],
        ("compiler", machine.compiler),
        ("hockney", machine.hockney),
        *[("note", note) for note in platform.notes],
    ]
    return tuple((name, value) for name, value in rows if value)


def _background_load(evidence: Evidence) -> str:
    """Return the largest load from other programs in a launch."""
    loads = [close.outside_cores for close in evidence.run.closes if close.outside_cores]
    return f"up to {max(loads):.2f} processors during a launch" if loads else ""


def _setting_facts(evidence: Evidence) -> list[tuple[str, str]]:
    """Return the run's launch settings, with their variables."""
    settings = launch_settings(evidence.settings.launch_settings).values()
    return [
        (
            f"setting {setting.name}",
            " ".join(f"{name}={value}" for name, value in setting.variables) or "nothing",
        )
        for setting in settings
    ]


def _launch_facts(evidence: Evidence) -> list[tuple[str, str]]:
    """Return the facts of the first launch with the highest rank count, because a single rank is bound
    differently."""
    if not evidence.run.launches:
        return []
    launch = max(evidence.run.launches, key=lambda candidate: len(candidate.ranks))
    step, overhead = format_seconds(launch.clock.resolution_s), format_seconds(launch.clock.overhead_s)
    return [
        ("library", launch.library),
        ("MPI standard", launch.mpi_standard),
        ("binding", launch.binding),
        ("command", " ".join(launch.command)),
        ("clock", f"MPI_Wtime, step {step}, a reading costs {overhead}"),
    ]
