# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Kinds of machines. Each module in this folder is a kind, named after its scheme, with SCHEME, KIND, HELP,
TRAITS and prepare."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import msgspec

from hockney.core.errors import UsageError, printable, unknown
from hockney.core.ethernet import Ethernet
from hockney.core.launcher_options import NO_LAUNCHER_OPTIONS, LauncherOptions
from hockney.core.layout import THIS_HOST, HostOptions
from hockney.core.machine import MachineReference, Traits
from hockney.core.plugins import plugin_names, plugins
from hockney.core.wording import option
from hockney.measurement.bench import Bench, Notify, no_mpiexec_error

REAL_MODULE = "real"
"""The module for this machine, whose scheme is ""."""


@dataclass(frozen=True)
class PrepareOptions:
    """Options for preparing a machine; each kind uses those that apply to it. `cores` is the size of a
    synthetic machine, 0 for its default. `workloads` are the workloads to run, whose executables are compiled
    unless the engine contains them. `launcher` contains the user's arguments of mpiexec, `hosts` states where
    ranks are started. `ethernet` is the description of an emulated machine in a resumed run. If nothing will
    be measured (`plans_only`), kinds whose plans need no engine compile none."""

    mpi: str = ""
    bind: bool = True
    notify: Notify = lambda text: None
    cores: int = 0
    workloads: Collection[str] = ()
    launcher: LauncherOptions = NO_LAUNCHER_OPTIONS
    hosts: HostOptions = THIS_HOST
    ethernet: Ethernet | None = None
    plans_only: bool = False


class Kind(Protocol):
    """A kind of machine. `SCHEME` is the part of --machine before the colon, `KIND` the name in machine.json,
    `HELP` a line for 'hockney machines'. Optional members: `HIDDEN = True` for a kind that is not listed;
    `names()`, complete references to suggest for a mistyped one; `varies_by_launch(reference)`, whether times
    require several launches; `repeats_itself(reference)`, whether every round of a run would give the same
    times."""

    SCHEME: str
    KIND: str
    HELP: str
    TRAITS: Traits

    def prepare(self, reference: MachineReference, options: PrepareOptions) -> Bench: ...


def all_kinds() -> dict[str, Kind]:
    """Return every kind, by scheme."""
    return {kind.SCHEME: kind for kind in sorted(_iterate_kinds(), key=lambda kind: kind.SCHEME)}


def _iterate_kinds(names: Collection[str] | None = None) -> Iterator[Kind]:
    members = ("SCHEME", "KIND", "HELP", "TRAITS", "prepare")
    return plugins(__name__, *members, marks=(), name_of=lambda kind: kind.SCHEME or REAL_MODULE, names=names)


def public_kinds() -> Iterator[Kind]:
    """Return the kinds that are listed for users."""
    return (kind for kind in all_kinds().values() if not getattr(kind, "HIDDEN", False))


def kind_of(machine: str | MachineReference) -> Kind:
    """Return the kind of `machine`, without importing others. Raises UsageError for an unknown scheme."""
    reference = MachineReference.parse(machine) if isinstance(machine, str) else machine
    if reference.scheme not in {*plugin_names(__name__), ""} - {REAL_MODULE} or (
        reference.name and not reference.scheme
    ):
        raise _unknown_machine(reference, list(public_kinds()))
    return next(_iterate_kinds([reference.scheme or REAL_MODULE]))


def prepare(
    machine: str,
    mpi: str = "",
    bind: bool = True,
    notify: Notify = lambda text: None,
    workloads: Collection[str] = (),
    cores: int = 0,
    launcher: LauncherOptions = NO_LAUNCHER_OPTIONS,
    hosts: HostOptions = THIS_HOST,
    ethernet: Ethernet | None = None,
    plans_only: bool = False,
) -> Bench:
    """Return the bench for --machine and --mpi: find an MPI and, if necessary, compile the engine and the
    other executables that contain any of `workloads`. Raises UsageError for mpiexec options on a machine
    where mpiexec starts nothing."""
    reference = MachineReference.parse(machine)
    kind = kind_of(reference)
    has_applicable_options = not launcher.arguments if kind.TRAITS.is_fake else kind.TRAITS.uses_mpiexec
    if launcher and not has_applicable_options:
        raise no_mpiexec_error(str(reference))
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
    """Check whether every round of a run on `machine` would give the same times."""
    return _call_predicate(machine, "repeats_itself", lambda kind: kind.TRAITS.noiseless)


def varies_by_launch(machine: str) -> bool:
    """Check whether the times on `machine` require several launches."""
    return _call_predicate(machine, "varies_by_launch", lambda kind: not kind.TRAITS.noiseless)


def _call_predicate(machine: str, name: str, default: Callable[[Kind], bool]) -> bool:
    """The result of a kind's optional predicate, or else of `default`."""
    reference = MachineReference.parse(machine)
    kind = kind_of(reference)
    predicate: Callable[[MachineReference], bool] | None = getattr(kind, name, None)
    return default(kind) if predicate is None else predicate(reference)


def _reference_names(kind: Kind) -> Sequence[str]:
    names: Callable[[], Sequence[str]] | None = getattr(kind, "names", None)
    return () if names is None else names()


def _unknown_machine(reference: MachineReference, kinds: Sequence[Kind]) -> UsageError:
    """Return the error for an unknown machine. If no name is similar, it suggests the name with a similar
    scheme."""
    machine, machines = str(reference), [name for kind in kinds for name in _reference_names(kind)]
    example = f"use for example {machines[0]}; " if machines else ""
    error = unknown(
        "machine", machine, machines, f"{example}'hockney machines' lists all", code="unknown-machine"
    )
    if error.suggestion or not reference.name:
        return error
    scheme_candidates = [str(replace(reference, scheme=kind.SCHEME)) for kind in kinds if kind.SCHEME]
    scheme_error = unknown(
        "machine",
        machine,
        scheme_candidates,
        code="unknown-machine",
        normalize=lambda text: MachineReference.parse(text).scheme,
    )
    return scheme_error if scheme_error.suggestion else error
