# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Command lines that start ranks. The differences between MPIs are in hockney/mpi. Nothing is started here.

The user's arguments for mpiexec may place ranks, name hosts or choose transports; hockney then leaves these
decisions to them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from hockney.core.launcher_options import NO_LAUNCHER_OPTIONS, LauncherOptions
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
    user: LauncherOptions = NO_LAUNCHER_OPTIONS,
    layout: Layout | None = None,
    cluster: Cluster | None = None,
    turn: int = 0,
) -> LaunchCommand:
    """Return the command that starts `ranks` ranks of the engine.

    With more ranks than cores, ranks are not bound. On `many_hosts` (a batch job) the launcher knows the
    hosts and their slots, and this host's cores say nothing about the other hosts. `environ` is the
    launcher's environment (os.environ if None). Variables that are set there are not set again, except where
    `cluster` prescribes the transports. The arguments of `user` come last; if they place the ranks, hockney
    requests no binding. Ranks are spread as in `layout` over the hosts of `cluster`; each `turn` takes the
    next hosts. Raises EnvironmentProblem if the ranks do not fit.
    """
    family = family_of(mpi)
    environ = os.environ if environ is None else environ
    placed_ranks = _place_ranks(
        ranks, cores, user, layout, cluster or NO_CLUSTER, bind=bind, many_hosts=many_hosts, turn=turn
    )
    placement, cluster = placed_ranks.placement, placed_ranks.cluster
    launcher_words, launcher_variables = _launcher_command(mpi, ranks, placement, cluster, user, environ)
    tcp_only = disables_fabric = False
    if not names_transports(user):
        tcp_only = cluster.transports == "tcp"
        disables_fabric = not placed_ranks.across_hosts and family.disables_fabric(mpi, environ)
    variables = {  # of one name, the last counts
        **environment_of(mpi),
        **(family.tcp_only_variables(mpi) if tcp_only else {}),
        **(family.root_variables if root else {}),
        **launcher_variables,
        **(family.fabric_off_variables if disables_fabric else {}),
    }
    notes = []
    if disables_fabric:
        setting = " ".join(f"{name}={value}" for name, value in family.fabric_off_variables.items())
        override_names = join_words(family.transport_parameters, "or")
        text = f"on one host, launches disable the network fabric ({setting}) unless you set {override_names}"
        notes.append(Notice(text, "fabric-left-out"))
    if placed_ranks.shares_cores:
        notes.append(
            oversubscription_notice(ranks, cores.usable, placement.bound or placement.placed_by_user)
        )
    return LaunchCommand(
        words=(*cluster.prefix, *launcher_words, *user.arguments, *engine_words),
        environment=tuple(sorted(variables.items())),
        binding=user_binding_text()
        if placement.placed_by_user
        else describe_binding(placement.bound, placement.core_list, bind),
        bound=placement.bound,
        placed_by_user=placement.placed_by_user,
        oversubscribed=placed_ranks.shares_cores,
        notes=tuple(notes),
    )


@dataclass(frozen=True)
class _PlacedRanks:
    """Ranks of a launch: `placement` for the launcher, and `cluster` with only the hosts of the ranks. Unless
    the ranks run `across_hosts`, they use this host's cores, and `shares_cores` tells whether there are more
    ranks than cores."""

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
    """Place the ranks; `command` describes the arguments."""
    layout = layout or _default_layout(cluster)
    many_nodes = layout is not None and layout.nodes > 1
    across_hosts = many_hosts or bool(cluster.hosts) or names_hosts(user) or many_nodes
    rank_spread = spread(ranks, layout) if across_hosts and layout else None
    cluster = _choose_hosts(cluster, rank_spread, turn, user)

    placed_by_user = names_binding(user)
    bound = bind and not placed_by_user and (across_hosts or ranks <= len(cores.cpus))
    shares_cores = not across_hosts and ranks > cores.usable
    exceeds_slots = shares_cores or _exceeds_grant(rank_spread, cluster)
    placement = RankPlacement(
        bound=bound,
        core_list=_core_list(ranks, cores) if bound and not across_hosts else None,
        oversubscribed=exceeds_slots,
        spread=rank_spread,
        hosts=cluster.hosts,
        agent=cluster.agent,
        placed_by_user=placed_by_user,
        shared=exceeds_slots and not names_mapping(user),
    )
    return _PlacedRanks(placement, cluster, across_hosts, shares_cores)


def _launcher_command(
    mpi: Mpi,
    ranks: int,
    placement: RankPlacement,
    cluster: Cluster,
    user: LauncherOptions,
    environ: Mapping[str, str],
) -> tuple[list[str], dict[str, str]]:
    """Return srun or mpiexec with hockney's options, and the variables to set in its environment: those of
    the placement, and the user's unless the command line sets them."""
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
    """Return the cores to bind ranks to; None if this process may use all cores, as launchers then choose
    better."""
    if not cores.restricted:
        return None
    return Cores(cores.cpus[:ranks], cores.logical[:ranks], cores.usable, True)


def _exceeds_grant(rank_spread: Spread | None, cluster: Cluster) -> bool:
    """Return whether a host gets more ranks than the launcher starts there without extra options."""
    return rank_spread is not None and any(rank_spread.per_node > granted for granted in cluster.granted)


def _default_layout(cluster: Cluster) -> Layout | None:
    """Return the layout of hosts without a given one: as many ranks as fit on every host, or one."""
    return Layout(len(cluster.hosts), min(cluster.slots, default=1)) if cluster.hosts else None


def _choose_hosts(cluster: Cluster, rank_spread: Spread | None, turn: int, user: LauncherOptions) -> Cluster:
    """Return the hosts of this launch; the user's arguments for mpiexec may name them instead."""
    if names_hosts(user):
        return replace(cluster, hosts=(), slots=())
    if rank_spread is None:
        return cluster
    selected = cluster.rotated(turn, rank_spread.nodes).limited_to(rank_spread.nodes)
    if selected.slots and rank_spread.per_node > min(selected.slots):
        raise _too_few_slots(rank_spread.per_node, selected.hosts, selected.slots).problem()
    return selected


def _add_preload(user: LauncherOptions, cluster: Cluster, environ: Mapping[str, str]) -> LauncherOptions:
    """Add the preloaded library to the user's variables."""
    if not cluster.preload:
        return user
    user_preload = dict(user.variables).get("LD_PRELOAD") or environ.get("LD_PRELOAD", "")
    return user.with_variables((("LD_PRELOAD", " ".join(filter(None, (cluster.preload, user_preload)))),))


def describe_binding(bound: bool, core_list: Cores | None, requested: bool) -> str:
    """Describe the binding requested from the launcher."""
    if not bound:
        return no_binding_text() if requested else "not bound, as requested"
    return f"rank i on cpu i of {','.join(map(str, core_list.cpus))}" if core_list else core_binding_text()


def _too_few_slots(per_node: int, hosts: Sequence[str], slots: Sequence[int]) -> failures.Explanation:
    """`slots` are the numbers of ranks that fit on the `hosts`."""
    host, min_slots = min(zip(hosts, slots, strict=True), key=lambda host_slots: host_slots[1])
    return failures.Explanation(
        "too-few-slots-on-host",
        f"{per_node} ranks on each host do not fit",
        f"{host} has {min_slots} {'slot' if min_slots == 1 else 'slots'}",
        f"use fewer with {option('ranks_per_node')} or {option('ranks')}, more hosts, or a larger allocation",
    )


def oversubscription_notice(ranks: int, cores: int, bound: bool) -> Notice:
    share = f"share {cores} {'core' if cores == 1 else 'cores'}{'' if bound else ', so none is bound'}"
    return Notice(
        f"{ranks} ranks {share}: at most {cores} run at a time, a message waits until its receiver runs, and "
        f"no parallel efficiency exceeds {cores / ranks:.0%}",
        "ranks-share-cores",
    )


def core_binding_text() -> str:
    return "rank i on core i"


def user_binding_text() -> str:
    return "as set by the user's mpiexec arguments"


def no_binding_text() -> str:
    return "not bound: more ranks than cores"


def option_names(options: LauncherOptions) -> set[str]:
    """Return the names of the options among the arguments, without dashes and values."""
    return {_option_name(word) for word in options.arguments if word.startswith("-")}


def parameter_names(options: LauncherOptions) -> set[str]:
    """Return the launcher's parameters among the arguments and the variables of the ranks."""
    family_arguments = all_arguments()
    names = {name for kind, name in _options_with_values(options) if kind in family_arguments.parameters}
    variable_names = {
        name.partition("=")[0]
        for kind, name in _options_with_values(options)
        if kind in family_arguments.variables
    }
    variable_names |= {name for name, _ in options.variables}
    for prefix in family_arguments.parameter_prefixes:
        names |= {name.removeprefix(prefix) for name in variable_names if name.startswith(prefix)}
    return names


def names_hosts(options: LauncherOptions) -> bool:
    """Return whether ranks may run on more than one host."""
    family_arguments = all_arguments()
    suffixes = tuple(family_arguments.host_parameter_suffixes)
    has_host_parameter = any(name.endswith(suffixes) for name in parameter_names(options))
    return has_host_parameter or bool(option_names(options) & family_arguments.hosts)


def names_mapping(options: LauncherOptions) -> bool:
    return bool(option_names(options) & all_arguments().mapping)


def names_binding(options: LauncherOptions) -> bool:
    """Return whether the user places the ranks, by binding, mapping or pinning."""
    family_arguments = all_arguments()
    has_pinning = any(
        name.startswith(tuple(family_arguments.pinning_prefixes)) for name, _ in options.variables
    )
    has_policy = any(
        name.endswith(tuple(family_arguments.placement_parameter_suffixes))
        for name in parameter_names(options)
    )
    return (
        has_pinning
        or has_policy
        or bool(option_names(options) & (family_arguments.mapping | family_arguments.binding))
    )


def names_transports(options: LauncherOptions) -> bool:
    """Return whether the user chooses the transports by parameters of the launcher."""
    transport_parameters = {name for family in families() for name in family.transport_parameters}
    return bool(
        parameter_names(options) & transport_parameters or option_names(options) & all_arguments().files
    )


def _options_with_values(options: LauncherOptions) -> Iterator[tuple[str, str]]:
    """Yield every option with the following word."""
    for word, value in pairwise(options.arguments):
        if word.startswith("-"):
            yield _option_name(word), value


def _option_name(word: str) -> str:
    return word.lstrip("-").partition("=")[0]
