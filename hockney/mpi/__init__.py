# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Families of MPI: differences between implementations of MPI and between their launchers.

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
WITHIN_HOST, BETWEEN_HOSTS = "within a host", "between hosts"
NETMOD, PROVIDER = "network module", "libfabric provider"
"""Keys of `Machine.transport`: the purpose of each transport that an MPI reports."""
Cause = Literal["root", "slots", "daemon", "program", "allocation", "connection", "dead"]
"""Why ranks do not start: the user is root; too few slots; a helper program or the engine cannot be started
on another host; a host is outside of the allocation; ranks do not find their launcher; a host is dead."""


STANDARD_OPTION_WORDS: Mapping[str, int] = dict.fromkeys(
    ("n", "np", "soft", "host", "arch", "wdir", "path", "file", "initial-errhandler"), 1
)
"""Options of mpiexec in the MPI standard (section 11.5 of version 4.1)."""


@dataclass(frozen=True)
class Spread:
    """Number of nodes of a launch, and number of ranks on each; the last node may have fewer."""

    nodes: int
    per_node: int


@dataclass(frozen=True)
class RankPlacement:
    """How the launcher places ranks. `core_list` names the cores of this host to bind ranks to, if the
    launcher would choose others. `oversubscribed` means that there are more ranks than the launcher starts
    without an option. `spread` is None where the launcher places ranks. `hosts` are names; () leaves them to
    the scheduler. `agent` is the command line of a remote shell, () for the launcher's own. Ranks
    `placed_by_user` get no options for placement; with `shared` they may oversubscribe."""

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
    """Arguments by which a user overrides hockney's decisions. The first fields are names of options of
    mpiexec, without dashes. They name `hosts`, map ranks to them (`mapping`), bind ranks (`binding`), name
    `files` of parameters, set one of the launcher's `parameters`, or set `variables` of the ranks.

    A variable that begins with one of `parameter_prefixes` sets the parameter named by the remainder.
    Parameters with one of the suffixes name hosts or place ranks. A variable that begins with one of
    `pinning_prefixes` places ranks too.
    """

    hosts: frozenset[str] = frozenset()
    mapping: frozenset[str] = frozenset()
    binding: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    parameters: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()
    parameter_prefixes: frozenset[str] = frozenset()
    host_parameter_suffixes: frozenset[str] = frozenset()
    placement_parameter_suffixes: frozenset[str] = frozenset()
    pinning_prefixes: frozenset[str] = frozenset()

    def __or__(self, other: Arguments) -> Arguments:
        names = (field.name for field in fields(self))
        return Arguments(**{name: getattr(self, name) | getattr(other, name) for name in names})


@dataclass(frozen=True)
class ProgressThread:
    """The thread of an MPI that continues communication while the program computes: the `variable` that
    enables it, and whether it serves all transports or only TCP."""

    variable: str
    all_transports: bool = True


class MpiFamily:
    """Differences between implementations of MPI. The defaults suit an unknown MPI: nothing is recognised,
    its launcher gets no options, no variable is set."""

    name = ""
    """Name of its module, also used by `Mpi.family` in machine.json and by folders in the cache."""
    title = ""
    """Displayed name."""
    known = True
    """Whether hockney knows its library, and how its launcher places ranks."""
    simulated = False
    """Whether it is part of a simulator. The simulator's launcher needs a described machine."""
    order = 9
    """Position in lists of families, and among families whose wheels may be used; the lowest comes first."""
    precedence = 0
    """The family with the highest precedence is tried first if more than one may recognise a text."""

    # Where it is found.

    names: tuple[str, ...] = ()
    """Names by which --mpi accepts any installation of it, the usual one first."""
    wheels: tuple[str, ...] = ()
    """Its wheels on the package index; the wheel with the compiler wrapper comes first."""
    suffixes: tuple[str, ...] = ()
    """Suffixes of its programs where different MPIs share a folder (Debian: mpicxx.openmpi)."""
    wrappers: tuple[str, ...] = ()
    """Additional names of its compiler wrapper for C++, besides mpicxx, mpic++ and mpiCC."""
    folders: tuple[str, ...] = ()
    """Folders, or patterns for folders, that may contain its programs if they are not on PATH."""
    compiler_variables: tuple[str, ...] = ()
    """Variables that choose the compiler called by its wrapper."""
    flag_variables: tuple[str, ...] = ()
    """Variables that add options for that compiler."""

    def environment(self, prefix: str) -> dict[str, str]:
        """Return the variables that its programs in `prefix` need."""
        return {}

    # How it is recognised.

    library_signs: tuple[str, ...] = ()
    """Texts of which the result of MPI_Get_library_version contains at least one."""

    def parse_version(self, macros: Mapping[str, str]) -> str | None:
        """Return its version from the macros of an mpi.h whose names end in _VERSION; None for another
        family."""
        return None

    def is_launcher(self, output: str) -> bool:
        """Return whether `output` is the output of its mpiexec --version."""
        return False

    launchers: tuple[str, ...] = ()
    """Additional names of its launcher, besides mpiexec and mpirun."""
    option_words: ClassVar[Mapping[str, int]] = STANDARD_OPTION_WORDS
    """Number of words in the value of an option of its launcher, by the option's name without dashes. Options
    that are not listed have no value, or have it in the same word."""

    # How it starts ranks.

    root_variables: ClassVar[Mapping[str, str]] = {}
    """Variables that permit root to start ranks."""
    srun_interfaces: tuple[str, ...] = ()
    """Interfaces of Slurm's srun that its library may support, the most likely first; "" is the site's
    default."""
    arguments = Arguments()
    """Arguments by which a user overrides hockney's decisions."""

    def place(self, mpi: Mpi, placement: RankPlacement) -> Options:
        """Return the options and variables of mpiexec that place and bind ranks."""
        return [], {}

    def variable_words(self, variables: Sequence[tuple[str, str]]) -> list[str] | None:
        """Return the options of mpiexec that set variables of the ranks; None if they must be set in the
        launcher's environment."""
        return None

    variables_per_program = False
    """Whether these options apply only to the following program, if the command line has programs separated
    by ":"."""

    def srun_variables(self, mpi: Mpi) -> dict[str, str]:
        """Return the variables that mpiexec sets for ranks, but srun does not."""
        return {}

    # What its launcher prints when it fails, as regular expressions, "" for none.

    failures: ClassVar[Mapping[Cause, str]] = {}
    """The text printed for each cause; a group captures the failed host or file."""
    failed_host = ""
    """The text that names the failed host elsewhere in the output."""
    fatal_line = ""
    """The text of a line after which the launcher may wait forever."""
    ended_by_signal = ""
    """The text about a rank ended by a signal, with groups `signal` and, if known, `rank`."""

    # How messages travel.

    transport_reports: tuple[tuple[str, str], ...] = ()
    """Patterns of lines in which MPI reports a transport, each with its purpose (WITHIN_HOST, BETWEEN_HOSTS,
    NETMOD, PROVIDER). The first group is "most" if some messages use other transports; the second is the
    name."""
    fabric_off_variables: ClassVar[Mapping[str, str]] = {}
    """Variables that disable a network fabric. Ranks on one host do not use the fabric, but starting it takes
    time."""
    transport_parameters: tuple[str, ...] = ()
    """Parameters that choose the transports. If the user sets one of them, hockney changes none."""
    fabric_choice_variables: ClassVar[Mapping[str, str]] = {}
    """Variables by which the user chooses transports in the environment of a launch, so that hockney disables
    none."""

    def report_variables(self, mpi: Mpi) -> dict[str, str]:
        """Return the variables that make MPI_Init report transports."""
        return {}

    def tcp_only_variables(self, mpi: Mpi) -> dict[str, str]:
        """Return the variables that restrict messages between hosts to TCP. Within a host, messages still use
        shared memory."""
        return {}

    def disables_fabric(self, mpi: Mpi, environ: Mapping[str, str]) -> bool:
        """Return whether `fabric_off_variables` apply to ranks on one host, that is unless the user or the
        site chose hosts or transports."""
        return False

    # Its settings.

    setting_prefixes: tuple[str, ...] = ()
    """Prefixes of the variables that control it."""
    ignored_settings = ""
    """Pattern of variables that are not used for tuning: those that its launcher sets for each job or rank,
    and those that only permit or locate something."""
    progress_variables: tuple[str, ...] = ()
    """All variables that enable a progress thread, in any version."""
    forces_algorithms = False
    """Whether settings can select the algorithms of its collectives (models/tuning/openmpi.py)."""

    def file_settings(self, mpi: Mpi, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the settings of its parameter files, by the names of the equivalent variables."""
        return {}

    def progress_thread(self, mpi: Mpi) -> ProgressThread | None:
        """Return the progress thread of this MPI; None if it has none."""
        return None

    def eager_limit(self, mpi: Mpi, limit: int) -> dict[str, str]:
        """Return the variables that set the eager limit, in bytes, of every transport that may carry
        messages. Variables of unused transports have no effect."""
        return {}


UNKNOWN = "unknown"
"""Module of the family of all other MPIs."""


@cache
def family_named(name: str) -> MpiFamily:
    """Return the family of this name; imports only its module. An unknown name, for example of a later
    version, gives the unknown family."""
    names = [name if name in plugin_names(__name__) else UNKNOWN]
    modules = plugins(__name__, "FAMILY", marks=(), name_of=lambda module: module.FAMILY.name, names=names)
    return cast(MpiFamily, next(modules).FAMILY)


def family_of(mpi: Mpi) -> MpiFamily:
    return family_named(mpi.family)


def title_of(mpi: Mpi) -> str:
    """ "Open MPI 5.0.11"."""
    return f"{family_of(mpi).title} {mpi.version}".strip()


def environment_of(mpi: Mpi) -> dict[str, str]:
    """Return the variables that its tools need."""
    return family_of(mpi).environment(mpi.prefix)


@cache
def families() -> tuple[MpiFamily, ...]:
    """Return all families in the order of lists."""
    return tuple(
        sorted(map(family_named, plugin_names(__name__)), key=lambda family: (family.order, family.name))
    )


def named_families() -> list[MpiFamily]:
    """Return the families that --mpi accepts by name."""
    return [family for family in families() if family.names]


def family_called(name: str) -> MpiFamily | None:
    """Return the family that --mpi calls `name`; None if `name` is a program."""
    return next((family for family in named_families() if name.lower() in family.names), None)


@cache
def families_by_precedence() -> tuple[MpiFamily, ...]:
    """Return all families in the order in which they are tried on a text."""
    return tuple(sorted(families(), key=lambda family: -family.precedence))


def family_of_library(text: str) -> MpiFamily:
    """Return the family whose library gives this text as MPI_Get_library_version."""
    matches = (
        family for family in families_by_precedence() if any(sign in text for sign in family.library_signs)
    )
    return next(matches, family_named(UNKNOWN))


@cache
def all_arguments() -> Arguments:
    """Return the arguments of all families, since a launcher may belong to another family than expected."""
    return reduce(Arguments.__or__, (family.arguments for family in families()))


def join_patterns(*patterns: str) -> str:
    """Return a regular expression that matches any of `patterns`; empty ones are ignored."""
    return "|".join(filter(None, patterns))
