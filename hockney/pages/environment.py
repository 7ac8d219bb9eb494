# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Where a run was made: name and value pairs."""

from __future__ import annotations

import contextlib
from datetime import datetime, timezone

from hockney.core.launch_setting import launch_settings
from hockney.core.platform import Platform
from hockney.core.units import format_bytes, format_seconds
from hockney.core.wording import plural
from hockney.pages.evidence import Evidence


def subtitle(evidence: Evidence) -> str:
    """The user's label, and where the run was made."""
    return ": ".join(filter(None, (evidence.settings.label, _place(evidence))))


def _place(evidence: Evidence) -> str:
    """Host, MPI and time in a line; for a simulated machine its description instead, since its clock has no
    date."""
    if evidence.machine.platform is not None:
        simulator = evidence.machine.mpi.title if evidence.machine.mpi else "a simulator"
        return f"{evidence.machine.platform.title}, simulated by {simulator}"
    if evidence.machine.traits.published:
        return f"{evidence.machine.cpu}, as published: {evidence.machine.citation}"
    parts = [evidence.machine.host]
    if evidence.machine.mpi is not None:
        parts.append(evidence.machine.mpi.title)
    elif evidence.run.launches:
        parts.append(evidence.run.launches[0].library)
    if evidence.run.launches:
        with contextlib.suppress(OverflowError, ValueError, OSError):  # a date outside the calendar's range
            began = datetime.fromtimestamp(evidence.run.launches[0].started_s, timezone.utc)
            parts.append(began.strftime("%Y-%m-%d %H:%M UTC"))
    return ", ".join(parts)


def facts(evidence: Evidence) -> tuple[tuple[str, str], ...]:
    """Unknown facts are left out."""
    m = evidence.machine
    if m.platform is not None:
        return _simulated(evidence, m.platform)
    if m.traits.published:
        printed = [("machine", m.cpu), ("published in", m.citation), *(("note", note) for note in m.notes)]
        return (*printed, ("copied by", f"hockney {m.hockney}"))
    caches = ", ".join(f"{name} {format_bytes(size)}" for name, size in m.caches.items())
    rows = [
        ("host", m.host),
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
        ("MPI", f"{m.mpi.title} in {m.mpi.prefix}" if m.mpi else ""),
        *_launch(evidence),
        ("transport", ", ".join(f"{where}: {name}" for where, name in m.transport.items())),
        *((name, value or "''") for name, value in (m.settings or {}).items()),
        *_settings(evidence),
        ("compiler", m.compiler),
        ("flags", m.flags),
        ("hockney", f"{m.hockney}, Python {m.python}"),
    ]
    return tuple((name, value) for name, value in rows if value)


def _simulated(evidence: Evidence, platform: Platform) -> tuple[tuple[str, str], ...]:
    m, network = evidence.machine, platform.network
    first = evidence.run.launches[:1]
    rows = [
        ("machine", f"{platform.title} ({platform.name}), simulated"),
        ("after", platform.source),
        ("size", f"{plural(m.cores, 'core')} in {plural(sum(g.count for g in platform.nodes), 'node')}"),
        ("network", " ".join([network.shape, "x".join(map(str, network.dims))]).strip()),
        ("simulator", f"{m.mpi.title} in {m.mpi.prefix}" if m.mpi else ""),
        *[("command", " ".join(launch.command)) for launch in first],
        ("compiler", m.compiler),
        ("hockney", m.hockney),
        *[("note", note) for note in platform.notes],
    ]
    return tuple((name, value) for name, value in rows if value)


def _load_of_others(evidence: Evidence) -> str:
    """The most that other programs used in a launch."""
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
    """Of the first launch with the most ranks: one rank alone is bound in another way."""
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
