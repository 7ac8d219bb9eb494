# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Command lines that start ranks; what differs between MPIs is in hockney/mpi. Nothing is started here.

The user's arguments for mpiexec may place ranks, name hosts or choose transports; hockney then leaves these
decisions to them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
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
    cluster = cluster or NO_CLUSTER
    layout = layout or _one_on_each(cluster)
    across_hosts = (
        many_hosts or bool(cluster.hosts) or names_hosts(user) or (layout is not None and layout.nodes > 1)
    )
    spread_out = spread(ranks, layout) if across_hosts and layout else None
    cluster = _choose_hosts(cluster, spread_out, turn, user)
    placed_by_user = names_binding(user)
    shares_cores = not across_hosts and ranks > cores.usable
    bound = not placed_by_user and bind and (across_hosts or ranks <= len(cores.cpus))
    # a list only if needed: it is the same on every host, and otherwise launchers choose better
    chosen = Cores(cores.cpus[:ranks], cores.logical[:ranks], cores.usable, True)
    core_list = chosen if bound and cores.restricted and not across_hosts else None
    exceeds_grant = spread_out is not None and any(
        spread_out.per_node > granted for granted in cluster.granted
    )
    shared = (shares_cores or exceeds_grant) and not names_mapping(user)
    placement = RankPlacement(
        bound,
        core_list,
        shares_cores or exceeds_grant,
        spread_out,
        cluster.hosts,
        cluster.agent,
        placed_by_user,
        shared,
    )
    notes: list[Notice] = []
    if shares_cores:
        notes.append(oversubscribed(ranks, cores.usable, bound or placed_by_user))
    if cluster.srun:
        words = srun_words(cluster.srun, ranks, placement)
        variables = family.srun_variables(mpi) | dict(user.variables)
    else:
        options, variables = family.place(mpi, placement)
        words = [mpi.mpiexec, "-n", str(ranks), *options]
        user = _add_preload(user, cluster, environ)
        added = family.variable_words(user.variables)
        if added is None:
            variables |= dict(user.variables)
        words += added or []
    if root:
        variables = dict(family.root_variables) | variables
    transports_chosen = names_transports(user)
    if cluster.transports == "tcp" and not transports_chosen:
        variables = family.tcp_only(mpi) | variables
    if not across_hosts and not transports_chosen and family.leaves_out_fabric(mpi, environ):
        variables = variables | dict(family.without_fabric)
        notes.insert(0, _fabric_left_out(family.without_fabric, family.transport_parameters))
    return LaunchCommand(
        words=(*cluster.prefix, *words, *user.arguments, *engine_words),
        environment=tuple(sorted({**environment_of(mpi), **variables}.items())),
        binding=as_arguments_say() if placed_by_user else describe_binding(bound, core_list, bind),
        bound=bound,
        placed_by_user=placed_by_user,
        oversubscribed=shares_cores,
        notes=tuple(notes),
    )


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


def _fabric_left_out(variables: Mapping[str, str], parameters: Sequence[str]) -> Notice:
    """`parameters` are those by which the user may choose transports."""
    setting = " ".join(f"{name}={value}" for name, value in variables.items())
    return Notice(
        f"on one host, launches disable the network fabric ({setting}) unless you set "
        f"{join_words(parameters, 'or')}",
        "fabric-left-out",
    )


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
