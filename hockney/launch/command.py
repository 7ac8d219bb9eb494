# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Command lines that start ranks; what differs between MPIs is in hockney/mpi. Nothing is started here.

The user's arguments for mpiexec may place ranks, name hosts or choose transports; hockney then leaves these
decisions to them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from hockney.core.launcher_options import NOTHING_ADDED, LauncherOptions
from hockney.core.layout import Cores, Layout
from hockney.core.machine import Mpi
from hockney.core.notice import Notice
from hockney.core.wording import join_words, option
from hockney.launch import failures
from hockney.launch.cluster import NO_CLUSTER, Cluster, spread
from hockney.launch.launcher import LaunchCommand
from hockney.launch.slurm import srun_words
from hockney.mpi import RankPlacement, Spread, all_arguments, environment_of, families, family_of


def command(
    mpi: Mpi,
    engine_words: Sequence[str],
    ranks: int,
    cores: Cores,
    *,
    bind: bool = True,
    root: bool = False,
    many_hosts: bool = False,
    environ: Mapping[str, str] | None = None,
    user: LauncherOptions = NOTHING_ADDED,
    layout: Layout | None = None,
    cluster: Cluster | None = None,
    turn: int = 0,
) -> LaunchCommand:
    """The command that starts `ranks` ranks of the engine.

    With more ranks than cores, ranks are not bound. On `many_hosts` (a batch job) the launcher knows the
    hosts and their slots, and this host's cores say nothing about the others. `environ` is the launcher's
    environment (os.environ if None); variables set there are not set again, except where `cluster` prescribes
    the transports. The arguments of `user` come last; if they place the ranks, no binding is requested here.
    Ranks are spread as in `layout` over the hosts of `cluster`, of which each `turn` takes the next ones.
    Raises EnvironmentProblem for more ranks than fit there.
    """
    family = family_of(mpi)
    environ = os.environ if environ is None else environ
    placed = _place_ranks(
        ranks, cores, user, layout, cluster or NO_CLUSTER, bind=bind, many_hosts=many_hosts, turn=turn
    )
    placement, cluster = placed.placement, placed.cluster
    launcher_words, launcher_variables = _launcher(mpi, ranks, placement, cluster, user, environ)
    tcp_only = without_fabric = False
    if not names_transports(user):
        tcp_only = cluster.transports == "tcp"
        without_fabric = not placed.across_hosts and family.leaves_out_fabric(mpi, environ)
    variables = {  # of one name, the last counts
        **environment_of(mpi),
        **(family.tcp_only(mpi) if tcp_only else {}),
        **(family.root_variables if root else {}),
        **launcher_variables,
        **(family.without_fabric if without_fabric else {}),
    }
    notes = []
    if without_fabric:
        setting = " ".join(f"{name}={value}" for name, value in family.without_fabric.items())
        unless = join_words(family.transport_parameters, "or")
        text = f"on one host, launches disable the network fabric ({setting}) unless you set {unless}"
        notes.append(Notice(text, "fabric-left-out"))
    if placed.shares_cores:
        notes.append(oversubscribed(ranks, cores.usable, placement.bound or placement.placed_by_user))
    return LaunchCommand(
        words=(*cluster.prefix, *launcher_words, *user.arguments, *engine_words),
        environment=tuple(sorted(variables.items())),
        binding=as_arguments_say()
        if placement.placed_by_user
        else describe_binding(placement.bound, placement.core_list, bind),
        bound=placement.bound,
        placed_by_user=placement.placed_by_user,
        oversubscribed=placed.shares_cores,
        notes=tuple(notes),
    )


@dataclass(frozen=True)
class _PlacedRanks:
    """The ranks of a launch: `placement` for the launcher, and the `cluster` with only their hosts. Unless
    they run `across_hosts`, this host's cores are theirs; with more ranks than cores, it `shares_cores`."""

    placement: RankPlacement
    cluster: Cluster
    across_hosts: bool
    shares_cores: bool


def _place_ranks(
    ranks: int,
    cores: Cores,
    user: LauncherOptions,
    layout: Layout | None,
    cluster: Cluster,
    *,
    bind: bool,
    many_hosts: bool,
    turn: int,
) -> _PlacedRanks:
    """For the arguments, see `command`."""
    layout = layout or _one_on_each(cluster)
    several_nodes = layout is not None and layout.nodes > 1
    across_hosts = many_hosts or bool(cluster.hosts) or names_hosts(user) or several_nodes
    spread_out = spread(ranks, layout) if across_hosts and layout else None
    cluster = _choose_hosts(cluster, spread_out, turn, user)

    placed_by_user = names_binding(user)
    bound = bind and not placed_by_user and (across_hosts or ranks <= len(cores.cpus))
    shares_cores = not across_hosts and ranks > cores.usable
    too_many = shares_cores or _exceeds_grant(spread_out, cluster)
    placement = RankPlacement(
        bound=bound,
        core_list=_core_list(ranks, cores) if bound and not across_hosts else None,
        oversubscribed=too_many,
        spread=spread_out,
        hosts=cluster.hosts,
        agent=cluster.agent,
        placed_by_user=placed_by_user,
        shared=too_many and not names_mapping(user),
    )
    return _PlacedRanks(placement, cluster, across_hosts, shares_cores)


def _launcher(
    mpi: Mpi,
    ranks: int,
    placement: RankPlacement,
    cluster: Cluster,
    user: LauncherOptions,
    environ: Mapping[str, str],
) -> tuple[list[str], dict[str, str]]:
    """srun or mpiexec with hockney's options, and variables for its environment: those of the placement, and
    the user's unless they are among the words."""
    family = family_of(mpi)
    if cluster.srun:
        words = srun_words(cluster.srun, ranks, placement)
        return words, {**family.srun_variables(mpi), **dict(user.variables)}
    options, variables = family.place(mpi, placement)
    words = [mpi.mpiexec, "-n", str(ranks), *options]
    rank_variables = _add_preload(user, cluster, environ).variables
    variable_words = family.variable_words(rank_variables)
    if variable_words is None:
        return words, {**variables, **dict(rank_variables)}
    return [*words, *variable_words], variables


def _core_list(ranks: int, cores: Cores) -> Cores | None:
    """The cores to bind ranks to; None if this process may use all: launchers choose better then."""
    if not cores.restricted:
        return None
    return Cores(cores.cpus[:ranks], cores.logical[:ranks], cores.usable, True)


def _exceeds_grant(spread_out: Spread | None, cluster: Cluster) -> bool:
    """Whether a host gets more ranks than the launcher starts there without an option."""
    return spread_out is not None and any(spread_out.per_node > granted for granted in cluster.granted)


def _one_on_each(cluster: Cluster) -> Layout | None:
    """The layout of hosts without one: as many ranks as fit on each, or one."""
    return Layout(len(cluster.hosts), min(cluster.slots, default=1)) if cluster.hosts else None


def _choose_hosts(cluster: Cluster, spread_out: Spread | None, turn: int, user: LauncherOptions) -> Cluster:
    """The hosts of this launch: those of the user's arguments if they name some."""
    if names_hosts(user):
        return replace(cluster, hosts=(), slots=())
    if spread_out is None:
        return cluster
    taken = cluster.rotated(turn, spread_out.nodes).taken(spread_out.nodes)
    if taken.slots and spread_out.per_node > min(taken.slots):
        raise _too_few_slots(spread_out.per_node, taken.hosts, taken.slots).problem()
    return taken


def _add_preload(user: LauncherOptions, cluster: Cluster, environ: Mapping[str, str]) -> LauncherOptions:
    """Add the library that is loaded into every rank to the user's variable."""
    if not cluster.preload:
        return user
    preloaded = dict(user.variables).get("LD_PRELOAD") or environ.get("LD_PRELOAD", "")
    return user.having((("LD_PRELOAD", " ".join(filter(None, (cluster.preload, preloaded)))),))


def describe_binding(bound: bool, core_list: Cores | None, requested: bool) -> str:
    """The binding requested from the launcher."""
    if not bound:
        return not_bound_oversubscribed() if requested else "not bound, as requested"
    return f"rank i on cpu i of {','.join(map(str, core_list.cpus))}" if core_list else bound_to_cores()


def _too_few_slots(per_node: int, hosts: Sequence[str], slots: Sequence[int]) -> failures.Explanation:
    """`slots` is the number of ranks that fit on each of the `hosts`."""
    host, most = min(zip(hosts, slots, strict=True), key=lambda each: each[1])
    return failures.Explanation(
        "too-few-slots-on-host",
        f"{per_node} ranks on each host do not fit",
        f"{host} has {most} {'slot' if most == 1 else 'slots'}",
        f"use fewer with {option('ranks_per_node')} or {option('ranks')}, more hosts, or a larger allocation",
    )


def oversubscribed(ranks: int, cores: int, bound: bool) -> Notice:
    share = f"share {cores} {'core' if cores == 1 else 'cores'}{'' if bound else ', so none is bound'}"
    return Notice(
        f"{ranks} ranks {share}: at most {cores} run at a time, a message waits until its receiver runs, and "
        f"no parallel efficiency exceeds {cores / ranks:.0%}",
        "ranks-share-cores",
    )


def bound_to_cores() -> str:
    return "rank i on core i"


def as_arguments_say() -> str:
    return "as set by the user's mpiexec arguments"


def not_bound_oversubscribed() -> str:
    return "not bound: more ranks than cores"


def option_names(options: LauncherOptions) -> set[str]:
    """The options in the arguments, without dashes and values."""
    return {_option_name(word) for word in options.arguments if word.startswith("-")}


def parameter_names(options: LauncherOptions) -> set[str]:
    """The launcher's parameters in the arguments, and in the variables of the ranks."""
    family_arguments = all_arguments()
    given = {name for kind, name in _options_with_values(options) if kind in family_arguments.parameters}
    named = {
        name.partition("=")[0]
        for kind, name in _options_with_values(options)
        if kind in family_arguments.variables
    }
    named |= {name for name, _ in options.variables}
    for prefix in family_arguments.parameter_prefixes:
        given |= {name.removeprefix(prefix) for name in named if name.startswith(prefix)}
    return given


def names_hosts(options: LauncherOptions) -> bool:
    """Whether several hosts may take part."""
    family_arguments = all_arguments()
    ends = tuple(family_arguments.host_parameter_ends)
    named = any(name.endswith(ends) for name in parameter_names(options))
    return named or bool(option_names(options) & family_arguments.hosts)


def names_mapping(options: LauncherOptions) -> bool:
    return bool(option_names(options) & all_arguments().mapping)


def names_binding(options: LauncherOptions) -> bool:
    """Whether the user places the ranks: by binding, mapping or pinning."""
    family_arguments = all_arguments()
    pinned = any(name.startswith(tuple(family_arguments.pinning_prefixes)) for name, _ in options.variables)
    policies = any(
        name.endswith(tuple(family_arguments.placing_parameter_ends)) for name in parameter_names(options)
    )
    return (
        pinned
        or policies
        or bool(option_names(options) & (family_arguments.mapping | family_arguments.binding))
    )


def names_transports(options: LauncherOptions) -> bool:
    """Whether the user chooses how messages travel, as far as parameters of the launcher do."""
    choosing = {name for family in families() for name in family.transport_parameters}
    return bool(parameter_names(options) & choosing or option_names(options) & all_arguments().files)


def _options_with_values(options: LauncherOptions) -> Iterator[tuple[str, str]]:
    """Every option with the following word."""
    for word, value in pairwise(options.arguments):
        if word.startswith("-"):
            yield _option_name(word), value


def _option_name(word: str) -> str:
    return word.lstrip("-").partition("=")[0]
