# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Families of MPI: what differs between implementations of MPI and between their launchers.

Each module here is one family, named after the value of `Mpi.family`; its `FAMILY` derives from `MpiFamily`.
No other code names a family. Nothing here starts a program or writes a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, reduce
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from hockney.core.plugins import plugin_names, plugins

if TYPE_CHECKING:
    from hockney.core.layout import Cores
    from hockney.core.machine import Mpi

Options = tuple[list[str], dict[str, str]]
"""Words of a command line, and variables of its environment."""
WITHIN, BETWEEN = "within a host", "between hosts"
NETMOD, PROVIDER = "network module", "libfabric provider"
"""What the transports are for that an MPI reports: the keys of `Machine.transport`."""
Cause = Literal["root", "slots", "daemon", "program", "allocation", "connection", "dead"]
"""Why ranks do not start: as root; too few slots; a helper program, or the ranks' own, cannot be started on
another host; a host outside of the allocation; ranks do not find their launcher; a host is dead."""


STANDARD_OPTION_WORDS: Mapping[str, int] = dict.fromkeys(
    ("n", "np", "soft", "host", "arch", "wdir", "path", "file", "initial-errhandler"), 1
)
"""The options of the mpiexec that the MPI standard describes (section 11.5 of version 4.1)."""


@dataclass(frozen=True)
class Spread:
    """The nodes that a launch uses, and the ranks on each; the last may have fewer."""

    nodes: int
    per_node: int


@dataclass(frozen=True)
class RankPlacement:
    """How the launcher places ranks. `core_list` names the cores of this host to bind ranks to, if the
    launcher would choose others. `oversubscribed`: there are more ranks than it starts without an option.
    `spread` is None where the launcher places ranks. `hosts` are names, () leaves them to the scheduler;
    `agent` holds the words of a remote shell, () means the launcher's own. Ranks `placed_by_user` get no
    options for placement, only permission to oversubscribe if `shared`."""

    bound: bool = True
    core_list: Cores | None = None
    oversubscribed: bool = False
    spread: Spread | None = None
    hosts: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    placed_by_user: bool = False
    shared: bool = False


@dataclass(frozen=True)
class Arguments:
    """The arguments by which a user decides something that hockney otherwise decides: names of options of
    mpiexec, without dashes, that name `hosts`, map ranks to them (`mapping`), bind ranks (`binding`), name
    `files` of parameters, which may set anything, set one of the launcher's `parameters`, or set `variables`
    of the ranks. A variable that begins with one of `parameter_prefixes` sets the parameter of the rest of
    its name. Parameters whose names have one of the ends name hosts or place ranks. A variable that begins
    with one of `pinning_prefixes` places ranks too."""

    hosts: frozenset[str] = frozenset()
    mapping: frozenset[str] = frozenset()
    binding: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    parameters: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()
    parameter_prefixes: frozenset[str] = frozenset()
    host_parameter_ends: frozenset[str] = frozenset()
    placing_parameter_ends: frozenset[str] = frozenset()
    pinning_prefixes: frozenset[str] = frozenset()

    def __or__(self, other: Arguments) -> Arguments:
        names = (field.name for field in fields(self))
        return Arguments(**{name: getattr(self, name) | getattr(other, name) for name in names})


@dataclass(frozen=True)
class ProgressThread:
    """The thread of an MPI that continues communication while the program computes: the `variable` that
    switches it on, and whether it serves all transports and not only TCP."""

    variable: str
    all_transports: bool = True


class MpiFamily:
    """What differs between implementations of MPI. The defaults are those of an MPI about which nothing is
    known: nothing is recognised, its launcher gets no options, no variable is set."""

    name = ""
    """The name of its module, which `Mpi.family` in machine.json and folders in the cache have."""
    title = ""
    """Its name for people."""
    known = True
    """Whether it is known how its launcher places ranks, and which library it belongs to."""
    simulated = False
    """Whether it is part of a simulator, whose launcher takes a described machine."""
    order = 9
    """Its place in lists of families, and among those whose wheels may be used: the lowest comes first."""
    precedence = 0
    """Where several families may recognise the same text, the one with the highest is tried first."""

    # Where it is found.

    names: tuple[str, ...] = ()
    """The words with which --mpi accepts any installation of it, the usual one first."""
    wheels: tuple[str, ...] = ()
    """Its wheels on the package index, the one with its compiler wrapper first."""
    suffixes: tuple[str, ...] = ()
    """The suffixes of its programs where several MPIs share a folder (Debian: mpicxx.openmpi)."""
    wrappers: tuple[str, ...] = ()
    """Further names of its compiler wrapper for C++, besides mpicxx, mpic++ and mpiCC."""
    folders: tuple[str, ...] = ()
    """Folders, or patterns for them, in which its programs may be if they are not on PATH."""
    compiler_variables: tuple[str, ...] = ()
    """The variables that choose the compiler which its wrapper calls."""
    flag_variables: tuple[str, ...] = ()
    """The variables that add options of that compiler."""

    def environment(self, prefix: str) -> dict[str, str]:
        """The variables that its programs in `prefix` need to work."""
        return {}

    # How it is recognised.

    library_signs: tuple[str, ...] = ()
    """The text of MPI_Get_library_version contains one of these."""

    def version_in_header(self, defined: Mapping[str, str]) -> str | None:
        """Its version, from the macros of an mpi.h whose names end in _VERSION; None if that is of another
        family."""
        return None

    def is_launcher(self, output: str) -> bool:
        """Whether its mpiexec --version prints `output`."""
        return False

    launchers: tuple[str, ...] = ()
    """The names of its launcher, besides mpiexec and mpirun."""
    option_words: ClassVar[Mapping[str, int]] = STANDARD_OPTION_WORDS
    """How many words are the value of an option of its launcher, by the option's name without dashes. Options
    that are not listed have no value, or have it in the same word."""

    # How it starts ranks.

    root_variables: ClassVar[Mapping[str, str]] = {}
    """The variables that permit root to start ranks."""
    srun_interfaces: tuple[str, ...] = ()
    """The interfaces of Slurm's srun that its library may have, the most likely first; "" is the site's
    default."""
    arguments = Arguments()
    """The arguments by which a user decides what hockney otherwise decides."""

    def place(self, mpi: Mpi, placement: RankPlacement) -> Options:
        """The words and variables that place and bind the ranks that mpiexec starts."""
        return [], {}

    def variable_words(self, variables: Sequence[tuple[str, str]]) -> list[str] | None:
        """The options of mpiexec that set variables of the ranks; None if these have to be set in the
        launcher's environment."""
        return None

    variables_per_program = False
    """Whether these options apply only to the program that follows, of several that are separated by ":"."""

    def srun_variables(self, mpi: Mpi) -> dict[str, str]:
        """The variables that mpiexec sets for ranks, and srun does not."""
        return {}

    # What its launcher prints when it fails, as regular expressions, "" for none.

    failures: ClassVar[Mapping[Cause, str]] = {}
    """The text for each cause; a group is the host or the file that fails."""
    failed_host = ""
    """The text that names the host that fails, elsewhere in the output."""
    fatal_line = ""
    """The text of a line after which the launcher may wait forever."""
    ended_by_signal = ""
    """The text about a rank that a signal ended, with groups `signal` and, if it is known, `rank`."""

    # How messages travel.

    transport_reports: tuple[tuple[str, str], ...] = ()
    """The patterns of lines in which MPI reports a transport, each with what that is for (WITHIN, BETWEEN,
    NETMOD, PROVIDER). The first group is "most" if other transports carry some messages, the second the
    name."""
    without_fabric: ClassVar[Mapping[str, str]] = {}
    """The variables that leave out a network fabric which ranks on one host do not use, but which costs time
    when they start."""
    transport_parameters: tuple[str, ...] = ()
    """Its parameters that choose how messages travel. If the user sets one of them, none is changed."""
    with_fabric: ClassVar[Mapping[str, str]] = {}
    """The variables that mean, in the environment in which a launch is planned, that the user chose
    transports, so that none is left out."""

    def report_variables(self, mpi: Mpi) -> dict[str, str]:
        """The variables that make MPI_Init report transports."""
        return {}

    def tcp_only(self, mpi: Mpi) -> dict[str, str]:
        """The variables with which messages between hosts use nothing but TCP; within a host they still use
        shared memory."""
        return {}

    def leaves_out_fabric(self, mpi: Mpi, environ: Mapping[str, str]) -> bool:
        """Whether `without_fabric` applies to ranks on one host: unless the user or the site chose hosts or
        transports."""
        return False

    # Its settings.

    setting_prefixes: tuple[str, ...] = ()
    """The prefixes of variables that control it."""
    no_settings = ""
    """The pattern of those variables that its launcher sets for each job or rank, and of those that only
    permit or locate something: they are not used for tuning."""
    progress_variables: tuple[str, ...] = ()
    """All variables that switch on a progress thread, those of other versions included."""
    forces_algorithms = False
    """Whether settings force the algorithms of its collectives (models/tuning/openmpi.py)."""

    def file_settings(self, mpi: Mpi, environ: Mapping[str, str]) -> dict[str, str]:
        """The settings of its parameter files, by the names of the equivalent variables."""
        return {}

    def progress_thread(self, mpi: Mpi) -> ProgressThread | None:
        """The progress thread of this MPI; None if it has none."""
        return None

    def eager_limit(self, mpi: Mpi, limit: int) -> dict[str, str]:
        """The variables that set the limit, in bytes, of every transport that may carry messages: those of
        other transports have no effect."""
        return {}


UNKNOWN = "unknown"
"""The module of the family of all other MPIs."""


@cache
def family_named(name: str) -> MpiFamily:
    """The family, of which only the module is imported. A name that only a later version of hockney has means
    an unknown one."""
    names = [name if name in plugin_names(__name__) else UNKNOWN]
    modules = plugins(__name__, "FAMILY", marks=(), name_of=lambda module: module.FAMILY.name, names=names)
    return cast(MpiFamily, next(modules).FAMILY)


def family_of(mpi: Mpi) -> MpiFamily:
    return family_named(mpi.family)


def title_of(mpi: Mpi) -> str:
    """ "Open MPI 5.0.11"."""
    return f"{family_of(mpi).title} {mpi.version}".strip()


def environment_of(mpi: Mpi) -> dict[str, str]:
    """The variables that its tools need."""
    return family_of(mpi).environment(mpi.prefix)


@cache
def families() -> tuple[MpiFamily, ...]:
    """All families, in the order in which they are listed."""
    return tuple(
        sorted(map(family_named, plugin_names(__name__)), key=lambda family: (family.order, family.name))
    )


def named_families() -> list[MpiFamily]:
    """The families that --mpi knows by name."""
    return [family for family in families() if family.names]


def family_called(name: str) -> MpiFamily | None:
    """The family that --mpi means by `name`; None if it is not a name but a program."""
    return next((family for family in named_families() if name.lower() in family.names), None)


@cache
def families_by_precedence() -> tuple[MpiFamily, ...]:
    """All families, in the order in which they are tried on a text."""
    return tuple(sorted(families(), key=lambda family: -family.precedence))


def family_of_library(text: str) -> MpiFamily:
    """The family whose library has this text of MPI_Get_library_version."""
    signed = (each for each in families_by_precedence() if any(sign in text for sign in each.library_signs))
    return next(signed, family_named(UNKNOWN))


@cache
def all_arguments() -> Arguments:
    """The arguments of all families, since a launcher may belong to another one than it seems to."""
    return reduce(Arguments.__or__, (family.arguments for family in families()))


def join_patterns(*patterns: str) -> str:
    """Return a regular expression that matches any of `patterns`; empty ones are ignored."""
    return "|".join(filter(None, patterns))
