# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cause of a failed launch, from its launcher's output."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from hockney.core.machine import Mpi
from hockney.launch.messages import explanations, reaching
from hockney.launch.messages.explanations import Explanation

NOT_CONNECTED = (
    r"PMI2?_Init|not built with.*PMI|MPI_INIT failed|PMIx_Init|PMIX ERROR: .*UNREACHABLE"
    r"|unsupported PMI version|No PMIx server was reachable"
)
NOT_STARTED = (
    r"unable to launch the specified application|execvp error|could not find executable|error: execve\(\)"
)
NO_PLUGIN = r"Invalid MPI type '(\S+?)'|cannot find mpi plugin for mpi/(\S+)"
LOGIN_REFUSED = r"(?:\S+@)?(\S+?): Permission denied \([\w,\-]*|Host key verification failed"
NO_DAEMON = (
    r"(?:prted|orted|hydra_\w*proxy): (?:command )?not found|(?:ssh|srun): .*not found"
    r"|(?:prted|orted|hydra_\w*proxy): (?:No such file|Permission denied)"
    r"|from launching\s+the per-node daemon"
)
NO_ROUTE = (
    r"(?i:ssh: connect to host (\S+) port \d+|Could not resolve hostname (\S+?)[:\s]|no route to (\S+))"
)
NO_NODE = (
    r"Requested node configuration is not available|Only allocated \d+ nodes|Required node not available"
    r"|requested hosts is not included in the current\s+allocation|Job/step already completing or completed"
)
NO_SLOTS = (
    r"not enough slots|slots available|more processors than available|requested more processes than the ppr"
    r"|More processors requested than permitted"
)
DEAD = (
    r"Node failure on (\S+)|Task launch .*failed on node (\S+?):|lost communication with a remote daemon"
    r"|\[mpiexec@\S+\] control_cb .*assert \(!closed\) failed|daemon failed to report back"
    r"|unable to reliably start one or more daemons|Launch proxy failed"
)
NO_PLAN = r"hockney-engine: plan '(.+)' cannot be read"
"""engine/app/session.cpp"""
NETWORK_FAILED = r"^hockney-ethernet: (.+)"
"""engine/emulated/room.cpp"""

Explain = Callable[[Mpi, int, str], Explanation]

CAUSES: tuple[tuple[str, int, Explain], ...] = (
    (NO_PLAN, re.MULTILINE, lambda mpi, ranks, name: reaching.plan_not_visible(name)),
    (NETWORK_FAILED, re.MULTILINE, lambda mpi, ranks, name: explanations.emulated_network_failed(name)),
    ("attempt to run as root", 0, lambda mpi, ranks, name: explanations.runs_not_as_root(mpi.title)),
    (NO_SLOTS, 0, lambda mpi, ranks, name: explanations.not_enough_slots(mpi.title, ranks)),
    (
        r"error while loading shared libraries: (\S+?):|Library not loaded: (\S+)",
        0,
        lambda mpi, ranks, name: explanations.library_not_found(name, mpi.title),
    ),
    (r"GLIBC\w*_[\d.]+' not found", 0, lambda mpi, ranks, name: explanations.older_system_library()),
    (NO_DAEMON, 0, lambda mpi, ranks, name: explanations.hosts_not_reachable(mpi.title, name)),
    (NOT_STARTED, 0, lambda mpi, ranks, name: explanations.engine_not_reachable(name)),
    (LOGIN_REFUSED, 0, lambda mpi, ranks, name: reaching.login_refused(name)),
    (NO_ROUTE, 0, lambda mpi, ranks, name: reaching.host_unreachable(name)),
    (NO_NODE, 0, lambda mpi, ranks, name: reaching.host_not_available(name)),
    (NO_PLUGIN, 0, lambda mpi, ranks, name: reaching.no_such_interface(name)),
    (NOT_CONNECTED, re.IGNORECASE, lambda mpi, ranks, name: explanations.other_launcher(mpi.mpiexec)),
    (
        r"No space left on device|not enough space.*(?:/dev/shm|shared memory)",
        re.IGNORECASE,
        lambda mpi, ranks, name: explanations.no_shared_memory(mpi.title),
    ),
    (DEAD, 0, lambda mpi, ranks, name: reaching.host_unreachable(name)),
)
"""Patterns in the launcher's output, their flags, and their meaning; `name` is the pattern's captured text,
or the host that is named next to it. What is more specific comes first: where a remote shell fails, launchers
add that a daemon does not answer."""

FEW_HOSTS = 4
"""So many are named where the output does not name the one that fails."""
HOST_NAMED = re.compile(
    r"^\s*(?:Node|Remote host):\s+(\S+)|\[proxy:\d+@([^\]\s]+)\].*execvp|slurmstepd-(\S+?): error: execve"
    r"|Missing requested host: (\S+)|srun: error: (\S+?): tasks? "
    r"|^\s*Remote daemon:\s+\S+ on node (\S+)",
    re.MULTILINE,
)


def is_hopeless(line: str) -> bool:
    """Whether a rank could not be started, for which some launchers wait forever."""
    return re.search(r"execvp error|error: execve\(\)", line) is not None


def explain(mpi: Mpi, ranks: int, output: Iterable[str], hosts: Sequence[str] = ()) -> Explanation | None:
    """The meaning of the launcher's output, for failures with a known remedy. `mpi.mpiexec` is the program
    that was started, on `hosts`: where the output names none, it is one of these."""
    text = "\n".join(output)
    for pattern, flags, explanation in CAUSES:
        match = re.search(pattern, text, flags)
        if match:
            named = _captured(match) or _captured(HOST_NAMED.search(text))
            few = " or ".join(hosts) if len(hosts) <= FEW_HOSTS else ""
            return explanation(mpi, ranks, named or few)
    return None


def _captured(match: re.Match[str] | None) -> str:
    return "" if match is None else next((group for group in match.groups() if group), "")
