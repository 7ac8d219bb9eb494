# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The command line that runs a program among the hosts of an Ethernet, and a trial of it."""

from __future__ import annotations

import re
from pathlib import Path

from hockney import process
from hockney.core.ethernet import Ethernet
from hockney.emulated import messages

REPORT = re.compile(r"hockney-ethernet(?:-agent)?: ([^:]*): (.*)")
TRIAL_SECONDS = 60.0


def inside(ethernet: Ethernet, program: Path, hosts: int = 0) -> tuple[str, ...]:
    """The words before a command that is to run on the launcher's host of `ethernet`, built by `program`,
    with its first `hosts` hosts (0: all)."""
    return (
        str(program),
        "--hosts", str(hosts or ethernet.hosts),
        "--rate", repr(ethernet.rate * 8),
        "--medium", ethernet.medium,
        "--mtu", str(ethernet.mtu),
        "--delay", repr(ethernet.delay_s),
        "--send-buffer", str(ethernet.send_buffer),
        "--",
    )  # fmt: skip


def host_names(ethernet: Ethernet, hosts: int = 0) -> tuple[str, ...]:
    return tuple(f"h{number}" for number in range(1, (hosts or ethernet.hosts) + 1))


def trial(ethernet: Ethernet, program: Path, agent: Path) -> None:
    """Build it once with two hosts, enter one by `agent` and remove it. Raises EnvironmentProblem if this
    host does not allow it."""
    words = [*inside(ethernet, program, min(2, ethernet.hosts)), str(agent), "h1", "true"]
    done = process.capture(words, timeout=TRIAL_SECONDS)
    if done.ok:
        return
    reports = [report for line in done.err.splitlines() if (report := REPORT.match(line))]
    step, reason = reports[0].groups() if reports else ("", "")
    raise messages.cannot_emulate(ethernet.name, step, reason or done.err.strip())
