# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Kinds of machines. Each module here is one, named after its scheme, with SCHEME, KIND, HELP, TRAITS and
prepare."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import msgspec

from hockney.core.errors import UsageError, printable, unknown
from hockney.core.ethernet import Ethernet
from hockney.core.launcher_options import NOTHING_ADDED, LauncherOptions
from hockney.core.layout import THIS_HOST, HostOptions
from hockney.core.machine import MachineReference, Traits
from hockney.core.plugins import plugin_names, plugins
from hockney.core.wording import option
from hockney.measurement.bench import Bench, Notify, no_mpiexec_on_machine

REAL = "real"
"""The module of this machine, whose scheme is ""."""


@dataclass(frozen=True)
class PrepareOptions:
    """Further options for measuring; each kind uses those that apply to it. `cores` is the size of a
    synthetic machine, 0 for its default; `workloads` are those to be run, whose executables are compiled
    unless the engine contains them; `launcher` are the user's arguments of mpiexec, `hosts` where ranks
    are started; `ethernet` is the description of an emulated machine in a run that is resumed. If nothing
    will be measured (`plans_only`), kinds whose plans need no engine compile none."""

    mpi: str = ""
    bind: bool = True
    notify: Notify = lambda text: None
    cores: int = 0
    workloads: Collection[str] = ()
    launcher: LauncherOptions = NOTHING_ADDED
    hosts: HostOptions = THIS_HOST
    ethernet: Ethernet | None = None
    plans_only: bool = False


class Kind(Protocol):
    """`SCHEME` is the part of --machine before the colon, `KIND` the name in machine.json, `HELP` a line for
    'hockney machines'. Optional: `HIDDEN = True` for a kind that is not listed; `names()`, complete
    references to suggest for a mistyped one; `repeats_itself(reference)`, whether every round of a run would
    give the same times."""

    SCHEME: str
    KIND: str
    HELP: str
    TRAITS: Traits

    def prepare(self, reference: MachineReference, options: PrepareOptions) -> Bench: ...


def all_kinds() -> dict[str, Kind]:
    """Every kind, by scheme."""
    return {kind.SCHEME: kind for kind in sorted(_kinds(), key=lambda kind: kind.SCHEME)}


def _kinds(names: Collection[str] | None = None) -> Iterator[Kind]:
    members = ("SCHEME", "KIND", "HELP", "TRAITS", "prepare")
    return plugins(__name__, *members, marks=(), name_of=lambda kind: kind.SCHEME or REAL, names=names)


def public_kinds() -> Iterator[Kind]:
    """The kinds shown to users."""
    return (kind for kind in all_kinds().values() if not getattr(kind, "HIDDEN", False))


def kind_of(machine: str | MachineReference) -> Kind:
    """The kind that `machine` belongs to; no other is imported. Raises UsageError for an unknown scheme."""
    reference = MachineReference.parse(machine) if isinstance(machine, str) else machine
    if reference.scheme not in {*plugin_names(__name__), ""} - {REAL} or (
        reference.name and not reference.scheme
    ):
        raise _unknown_machine(reference, list(public_kinds()))
    return next(_kinds([reference.scheme or REAL]))


def prepare(
    machine: str,
    mpi: str = "",
    bind: bool = True,
    notify: Notify = lambda text: None,
    workloads: Collection[str] = (),
    cores: int = 0,
    launcher: LauncherOptions = NOTHING_ADDED,
    hosts: HostOptions = THIS_HOST,
    ethernet: Ethernet | None = None,
    plans_only: bool = False,
) -> Bench:
    """The bench for --machine and --mpi: find an MPI, compile the engine if necessary, and the other
    executables that contain any of `workloads`. Raises UsageError for mpiexec options on a machine where
    mpiexec starts nothing."""
    reference = MachineReference.parse(machine)
    kind = kind_of(reference)
    accepts_options = not launcher.arguments if kind.TRAITS.is_fake else kind.TRAITS.uses_mpiexec
    if launcher and not accepts_options:
        raise no_mpiexec_on_machine(str(reference))
    if hosts != HostOptions(hosts.nodes, hosts.ranks_per_node) and kind.TRAITS.described:
        raise UsageError(
            f"{option('hosts')}, {option('starter')} and {option('agent')} do not apply to "
            f"{printable(str(reference))}",
            "its hosts are described, not started",
            "leave them out",
            code="no-hosts-on-machine",
            machine=str(reference),
        )
    bench = kind.prepare(
        reference, PrepareOptions(mpi, bind, notify, cores, workloads, launcher, hosts, ethernet, plans_only)
    )
    machine_of_kind = msgspec.structs.replace(bench.machine, kind=kind.KIND, traits=kind.TRAITS)
    return replace(bench, machine=machine_of_kind)


def repeats_itself(machine: str) -> bool:
    """Whether every round of a run on `machine` would give the same times."""
    reference = MachineReference.parse(machine)
    kind = kind_of(reference)
    decide: Callable[[MachineReference], bool] | None = getattr(kind, "repeats_itself", None)
    return kind.TRAITS.noiseless if decide is None else decide(reference)


def _names(kind: Kind) -> Sequence[str]:
    names: Callable[[], Sequence[str]] | None = getattr(kind, "names", None)
    return () if names is None else names()


def _unknown_machine(reference: MachineReference, kinds: Sequence[Kind]) -> UsageError:
    """The error for an unknown machine. If no name is similar, it suggests the given name under a similar
    scheme."""
    machine, machines = str(reference), [name for kind in kinds for name in _names(kind)]
    example = f"use for example {machines[0]}; " if machines else ""
    error = unknown(
        "machine", machine, machines, f"{example}'hockney machines' lists all", code="unknown-machine"
    )
    if error.suggestion or not reference.name:
        return error
    of_kinds = [str(replace(reference, scheme=kind.SCHEME)) for kind in kinds if kind.SCHEME]
    of_kind = unknown(
        "machine",
        machine,
        of_kinds,
        code="unknown-machine",
        compared=lambda text: MachineReference.parse(text).scheme,
    )
    return of_kind if of_kind.suggestion else error
