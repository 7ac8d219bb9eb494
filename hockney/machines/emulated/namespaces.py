# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Command line that runs a program on the hosts of an emulated Ethernet, and a trial run."""

from __future__ import annotations

import re
from pathlib import Path

from hockney import process
from hockney.core.errors import EnvironmentProblem, one_line
from hockney.core.ethernet import Ethernet

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

REPORT = re.compile(r"hockney-ethernet(?:-agent)?: ([^:]*): (.*)")
TRIAL_SECONDS = 60.0


def ethernet_words(ethernet: Ethernet, program: Path, hosts: int = 0) -> tuple[str, ...]:
    """Command prefix that runs a command on the launcher's host of `ethernet`, which `program` builds with
    its first `hosts` hosts (0: all)."""
    return (
        str(program),
        "--hosts", str(hosts or ethernet.hosts),
        "--rate", repr(ethernet.rate * 8),
        "--medium", ethernet.medium,
        "--mtu", str(ethernet.mtu),
        "--delay", repr(ethernet.delay_s),
        "--send-buffer", str(ethernet.send_buffer),
        *_trunk_words(ethernet),
        *_fault_words(ethernet, hosts or ethernet.hosts),
        "--",
    )  # fmt: skip


def _trunk_words(ethernet: Ethernet) -> tuple[str, ...]:
    return ("--trunk", f"{ethernet.hosts // 2}:{ethernet.trunk * 8!r}") if ethernet.trunk else ()


def _fault_words(ethernet: Ethernet, hosts: int) -> tuple[str, ...]:
    """Options for the faults of the first `hosts` hosts."""
    return tuple(
        word
        for fault in ethernet.faults
        if max(fault.hosts) <= hosts
        for word in ("--fault", f"{'-'.join(map(str, fault.hosts))}:{fault.slowdown!r}:{fault.loss!r}")
    )


def host_names(ethernet: Ethernet, hosts: int = 0) -> tuple[str, ...]:
    return tuple(f"h{number}" for number in range(1, (hosts or ethernet.hosts) + 1))


def trial(ethernet: Ethernet, program: Path, agent: Path) -> None:
    """Build the Ethernet once with two hosts, enter one with `agent`, and remove it. Raises
    EnvironmentProblem if this host does not permit it."""
    command = [*ethernet_words(ethernet, program, min(2, ethernet.hosts)), str(agent), "h1", "true"]
    finished = process.capture(command, timeout=TRIAL_SECONDS)
    if finished.ok:
        return
    reports = [report for line in finished.err.splitlines() if (report := REPORT.match(line))]
    step, reason = reports[0].groups() if reports else ("", "")
    reason = reason or finished.err.strip()
    problem, remedy = STEPS.get(step, (f"the step '{step}' failed" if step else "its network fails", ""))
    raise EnvironmentProblem(
        f"cannot emulate {ethernet.name} here",
        f"{problem}: {one_line(reason).lower()}" if reason else problem,
        remedy or "see docs/emulated.md",
        code="cannot-emulate",
        step=step,
        reason=reason,
    )
