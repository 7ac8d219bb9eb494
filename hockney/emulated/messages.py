# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about emulated machines. docs/emulated.md explains what they need."""

from __future__ import annotations

from collections.abc import Iterable

from hockney.core.errors import EnvironmentProblem, UsageError, one_line, printable, unknown


def unknown_emulated_machine(name: str, available: Iterable[str]) -> UsageError:
    return unknown("emulated machine", name, available, code="unknown-emulated-machine")


def no_machine_name(available: Iterable[str]) -> UsageError:
    return UsageError(
        "the name of the emulated machine is empty",
        "",
        f"available: {', '.join(available)}",
        code="no-emulated-machine-name",
    )


MOUNTS = "run as root, or in a container that allows mounts"
STEPS = {
    "user namespace": (
        "user namespaces are not allowed for ordinary users",
        "run as root, or allow them (sysctl kernel.unprivileged_userns_clone=1, "
        "kernel.apparmor_restrict_unprivileged_userns=0)",
    ),
    "network namespace": (
        "network namespaces are not allowed",
        "run on a kernel with CONFIG_NET_NS, in a container with CAP_SYS_ADMIN",
    ),
    "veth": ("virtual Ethernet pairs (veth) cannot be created", "load the kernel module veth"),
    "offloads": ("segmentation cannot be switched off on a virtual interface", "use a newer kernel"),
    "packet socket": ("packet sockets are not allowed", "load the kernel module af_packet"),
    "mount of /proc": (
        "/proc cannot be mounted in a namespace",
        "run as root, or in a container whose /proc is not masked",
    ),
    "mount": ("a file system cannot be mounted in a namespace", MOUNTS),
    "mount of /etc/hosts": ("the names of the hosts cannot be mounted at /etc/hosts", MOUNTS),
    "sysctl": ("settings of a host's network cannot be changed", "run where /proc/sys is writable"),
    "host name": ("a host cannot be named", "run as root"),
    "interface": ("a network interface cannot be brought up", "run as root"),
    "address": ("a network interface cannot have an address", "run as root"),
    "pipe": ("too many files are open", "allow more (ulimit -n)"),
    "process": ("too many processes exist", "allow more (ulimit -u)"),
    "entry of a host": ("processes cannot enter the namespaces of a host", "run where setns is allowed"),
    "wire": (
        "the process that carries the frames ended",
        "use a lower rate, or run as root, for whom more frames may wait",
    ),
}
"""By the steps that engine/emulated/ reports: what is missing, and what to do."""


def cannot_emulate(machine: str, step: str, reason: str) -> EnvironmentProblem:
    """`step` is what this host did not allow, "" if that is not known."""
    missing, remedy = STEPS.get(step, (f"the step '{step}' failed" if step else "its network fails", ""))
    return EnvironmentProblem(
        f"cannot emulate {machine} here",
        f"{missing}: {one_line(reason).lower()}" if reason else missing,
        remedy or "see docs/emulated.md",
        code="cannot-emulate",
        step=step,
        reason=reason,
    )


def only_linux() -> EnvironmentProblem:
    return EnvironmentProblem(
        "emulated machines need Linux",
        "their hosts are network namespaces",
        "use a simulated machine",
        code="emulation-needs-linux",
    )


def hosts_are_described(machine: str, option: str, hosts: int) -> UsageError:
    return UsageError(
        f"--{option} does not apply to {machine}",
        f"its hosts are h1 to h{hosts}, and hockney starts ranks on them",
        "use --nodes and --ranks-per-node",
        code="emulated-hosts-are-described",
        option=option,
    )


def too_many_nodes(machine: str, nodes: int, hosts: int) -> UsageError:
    return UsageError(
        f"--nodes {nodes} is too many for {machine}",
        f"it has {hosts} hosts",
        f"use at most {hosts}",
        code="too-many-emulated-nodes",
        nodes=nodes,
        hosts=hosts,
    )


def not_preloadable(library: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{printable(library)} cannot be loaded into the ranks",
        "LD_PRELOAD and launchers cannot have paths with blanks or colons",
        "set HOCKNEY_CACHE to a folder without them",
        code="library-not-preloadable",
        library=library,
    )


def hidden_on_hosts(what: str, path: str, memory: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{what} is in {memory}, where emulated hosts do not see it",
        f"each of them has a separate {memory}, and the path is {printable(path)}",
        "use another folder",
        code="hidden-on-emulated-hosts",
        path=path,
    )


def description_changed(machine: str) -> str:
    return f"note: {machine} is described differently now; the run keeps the description it began with"
