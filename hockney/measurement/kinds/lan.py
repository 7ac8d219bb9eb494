# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A described Ethernet, emulated on this host: lan:NAME or lan:FILE."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from hockney import build
from hockney.core.errors import EnvironmentProblem, HockneyError, UsageError, printable
from hockney.core.ethernet import Ethernet
from hockney.core.launcher_options import LauncherOptions
from hockney.core.layout import HostOptions, Layout
from hockney.core.machine import MachineReference, Switch, Traits
from hockney.core.units import format_bit_rate
from hockney.core.wording import option
from hockney.discovery.cpu import processors
from hockney.discovery.describe import describe
from hockney.discovery.find import find_mpi
from hockney.launch.cluster import Cluster
from hockney.launch.mpi import MpiLauncher
from hockney.machines import emulated
from hockney.machines.emulated.namespaces import host_names
from hockney.measurement.bench import Bench
from hockney.measurement.builds import build_executables
from hockney.measurement.kinds import PrepareOptions

SCHEME = "lan"
KIND = "emulated"
HELP = "a described Ethernet, emulated by this host with real TCP: a NAME below, or FILE.toml"
TRAITS = Traits(origin="emulated")
UNSAFE_PATH_CHARACTERS = re.compile(r"[\s:]")
"""The characters that separate paths in LD_PRELOAD and words of a remote shell."""
SHARED_MEMORY = Path("/dev/shm")
"""A separate file system on each host and on the launcher's (engine/emulated/room.cpp)."""


def names() -> Sequence[str]:
    return [emulated_reference(name) for name in emulated.names()]


def emulated_reference(name: str) -> str:
    """Return --machine's value for the description `name`."""
    return str(MachineReference(SCHEME, name))


def prepare(reference: MachineReference, options: PrepareOptions) -> Bench:
    """Prepare the emulated machine. Its description is read and tried before MPI is searched for or anything
    is compiled for it."""
    ethernet = _description(reference.name, options)
    layout = _layout(ethernet, options.hosts)
    if not sys.platform.startswith("linux"):
        raise EnvironmentProblem(
            "emulated machines need Linux",
            "their hosts are network namespaces",
            "use a simulated machine",
            code="emulation-needs-linux",
        )
    programs = build.ethernet_programs(options.notify)
    if UNSAFE_PATH_CHARACTERS.search(str(programs.waiting)):
        library = str(programs.waiting)
        raise EnvironmentProblem(
            f"{printable(library)} cannot be loaded into the ranks",
            "LD_PRELOAD and launchers cannot have paths with blanks or colons",
            "set HOCKNEY_CACHE to a folder without them",
            code="library-not-preloadable",
            library=library,
        )
    emulated.trial(ethernet, programs.ethernet, programs.agent)
    mpi = find_mpi(options.mpi or None, notify=options.notify)
    engine, catalog, executables = build_executables(mpi, options.workloads, options.notify)
    _check_visibility(
        {"hockney's cache": engine.path, "MPI": Path(mpi.mpiexec), "the current folder": Path()}
    )
    hosts = host_names(ethernet, layout.nodes)
    cluster = Cluster(
        hosts=hosts,
        slots=(layout.ranks_per_node,) * len(hosts),
        agent=(str(programs.agent),),
        prefix=emulated.ethernet_words(ethernet, programs.ethernet, layout.nodes),
        transports="tcp",
        preload=str(programs.waiting),
    )
    launcher = MpiLauncher(
        mpi,
        engine.path,
        processors().cores,
        bind=False,
        group_engines=executables,
        user=LauncherOptions(options.launcher.arguments, _variables(ethernet, layout)).with_variables(
            options.launcher.variables
        ),
        layout=layout,
        cluster=cluster,
        asleep=True,
    )
    host_machine = describe(
        mpi, engine=str(engine.path), compiler=engine.compiler, flags=engine.flags, user=options.launcher
    )
    machine = msgspec.structs.replace(
        host_machine,
        host=ethernet.name,
        system=f"emulated on {host_machine.host}, {host_machine.system}",
        network=[f"{format_bit_rate(ethernet.rate)} {ethernet.medium}"],
        hosts=list(hosts),
        ranks_per_node=layout.ranks_per_node,
        emulated=ethernet,
        topology=_switches(ethernet, hosts),
    )
    return Bench(launcher, catalog, machine, layout=layout)


def _description(name: str, options: PrepareOptions) -> Ethernet:
    """Return the machine's description. A resumed run uses its stored description, whatever the file contains
    now. The run may come from elsewhere, so its description must satisfy the limits of a machine file. Raises
    UsageError."""
    stored = options.ethernet
    if stored is None:
        return emulated.ethernet(name)
    emulated.read(emulated.write(stored), "machine.json")
    with contextlib.suppress(HockneyError):  # the file may be gone
        if emulated.ethernet(name) != stored:
            options.notify(
                f"note: {name} is described differently now; the run keeps the description it began with"
            )
    return stored


def _check_visibility(paths: Mapping[str, Path]) -> None:
    for description, path in paths.items():
        if path.resolve().is_relative_to(SHARED_MEMORY):
            raise EnvironmentProblem(
                f"{description} is in {SHARED_MEMORY}, where emulated hosts do not see it",
                f"each of them has a separate {SHARED_MEMORY}, and the path is "
                f"{printable(str(path.resolve()))}",
                "use another folder",
                code="hidden-on-emulated-hosts",
                path=str(path.resolve()),
            )


def _switches(ethernet: Ethernet, hosts: Sequence[str]) -> list[Switch]:
    """The switches that a trunk connects, each with half of the described hosts."""
    if not ethernet.trunk:
        return []
    near = ethernet.hosts // 2
    halves = hosts[:near], hosts[near:]
    return [Switch(name=f"switch{k}", nodes=list(half)) for k, half in enumerate(halves, 1) if half]


def _layout(ethernet: Ethernet, options: HostOptions) -> Layout:
    """Return the layout, with one rank on each host by default."""
    for name, value in (("hosts", options.hosts), ("starter", options.starter), ("agent", options.agent)):
        if value:
            raise UsageError(
                f"{option(name)} does not apply to {ethernet.name}",
                f"its hosts are h1 to h{ethernet.hosts}, and hockney starts ranks on them",
                f"use {option('nodes')} and {option('ranks_per_node')}",
                code="emulated-hosts-are-described",
                option=option(name).lstrip("-"),
            )
    if options.nodes > ethernet.hosts:
        raise UsageError(
            f"{option('nodes', options.nodes)} is too many for {ethernet.name}",
            f"it has {ethernet.hosts} hosts",
            f"use at most {ethernet.hosts}",
            code="too-many-emulated-nodes",
            nodes=options.nodes,
            hosts=ethernet.hosts,
        )
    return Layout(options.nodes or ethernet.hosts, options.ranks_per_node or 1)


def _variables(ethernet: Ethernet, layout: Layout) -> tuple[tuple[str, str], ...]:
    """Return variables for the library that makes MPI wait (engine/emulated/waiting.cpp), and the hosts'
    interface for libfabric and UCX, which may otherwise prefer the loopback. The user's variables override
    them."""
    wait_s = ethernet.wait_s if layout.ranks_per_node == 1 else ethernet.wait_shared_s
    return (
        ("HOCKNEY_WAIT_US", str(round(wait_s * 1e6))),
        ("FI_TCP_IFACE", "eth0"),
        ("UCX_NET_DEVICES", "eth0"),
    )
