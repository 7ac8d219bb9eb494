# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Reasons why ranks do not start and launches end, from the launcher's output and exit code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from hockney.core.errors import EnvironmentProblem, one_line, printable
from hockney.core.machine import Mpi
from hockney.core.wording import join_words
from hockney.launch.launcher import LaunchFailed, Reason
from hockney.mpi import Cause, families, families_by_precedence, join_patterns, title_of

SIGNALS = {
    4: "illegal instruction",
    6: "aborted",
    7: "bus error",
    9: "killed",
    11: "segmentation fault",
    15: "terminated",
}
SRUN_TASK_ENDED = re.compile(
    r"srun: error: \S+?: tasks? (?P<rank>\d+)(?P<more>[-,\d]*): (?P<name>[A-Z][A-Za-z ]*)"
)
"""srun's "srun: error: n2: task 3: Segmentation fault (core dumped)", with the system's names of signals."""
SIGNAL_NUMBERS = {name: number for number, name in SIGNALS.items()} | {"out of memory": 9}


@dataclass(frozen=True)
class Ending:
    """How a job ended. `signal` ended `rank` (None if the launcher does not name it), or the launcher itself
    if `is_launcher`. Without a signal it is None, and the job's exit code and last `output` remain."""

    job_exit: int
    signal: int | None = None
    rank: int | None = None
    is_launcher: bool = False
    output: tuple[str, ...] = ()


def parse_ending(job_exit: int, output: Iterable[str]) -> Ending:
    """Find the process that ended the job, and how, in the launcher's output."""
    lines = [line for line in output if line.strip()]
    text = " ".join(" ".join(lines).split())  # sentences may be broken into lines anywhere
    for pattern in filter(None, (family.ended_by_signal for family in families_by_precedence())):
        match = re.search(pattern, text)
        if match and int(match["signal"]) in SIGNALS:
            rank = match.groupdict().get("rank")
            return Ending(job_exit, int(match["signal"]), None if rank is None else int(rank))
    matches = [match for match in map(SRUN_TASK_ENDED.match, lines) if match]
    task_ends = [(SIGNAL_NUMBERS.get(match["name"].strip().lower(), 0), match) for match in matches]
    # srun terminates the tasks that are left
    for signal, match in sorted(task_ends, key=lambda task_end: task_end[0] == 15):
        if signal:
            return Ending(job_exit, signal, None if match["more"] else int(match["rank"]))
    if job_exit - 128 in SIGNALS:
        return Ending(job_exit, job_exit - 128, is_launcher=True)
    return Ending(job_exit, output=tuple(line for line in lines if re.search(r"\w{3}", line))[-2:])


@dataclass(frozen=True)
class Explanation:
    """Why ranks do not start or a launch ended. `what` is "" if only the reason is known. With
    `machine_failed`, the failure does not depend on the program that ran; `host` is the host that failed, if
    known."""

    code: str
    what: str
    why: str
    remedy: str = ""
    machine_failed: bool = False
    host: str = ""

    def problem(self) -> EnvironmentProblem:
        return EnvironmentProblem(self.what, self.why, self.remedy, code=self.code, host=self.host)

    def failure(self, reason: Reason, case: str, job_exit: int, tail: tuple[str, ...]) -> LaunchFailed:
        return LaunchFailed(
            self.what,
            self.why,
            self.remedy,
            code=self.code,
            reason=reason,
            case=case,
            job_exit=job_exit,
            tail=tail,
            host=self.host,
        )


def describe_ending(ending: Ending, launcher: str) -> str:
    """Describe a failure of unknown cause. `launcher` is the name of the program that started the ranks."""
    if ending.signal is not None:
        process = (
            launcher if ending.is_launcher else "a rank" if ending.rank is None else f"rank {ending.rank}"
        )
        hint = ", often for lack of memory" if ending.signal == 9 and not ending.is_launcher else ""
        return f"{process} was ended by signal {ending.signal} ({SIGNALS[ending.signal]}{hint})"
    return one_line(" | ".join([f"exit code {ending.job_exit}", *ending.output]))[:300]


SLURM_FAILURES: Mapping[Cause, str] = {
    "slots": r"More processors requested than permitted",
    "program": r"error: execve\(\)",
    "allocation": r"Requested node configuration is not available|Only allocated \d+ nodes"
    r"|Required node not available|Job/step already completing or completed",
    "dead": r"Node failure on (\S+)|Task launch .*failed on node (\S+?):",
}
SLURM_FAILED_HOST = r"slurmstepd-(\S+?): error: execve|srun: error: (\S+?): tasks? "
"""Patterns for the output of srun and of Slurm's batch jobs. hockney/mpi has those of the MPIs' launchers."""
NO_PLUGIN = r"Invalid MPI type '(\S+?)'|cannot find mpi plugin for mpi/(\S+)"
LOGIN_REFUSED = r"(?:\S+@)?(\S+?): Permission denied \([\w,\-]*|Host key verification failed"
NO_STARTER = r"(?:ssh|srun): .*not found"
NO_ROUTE = (
    r"(?i:ssh: connect to host (\S+) port \d+|Could not resolve hostname (\S+?)[:\s]|no route to (\S+))"
)
NO_PLAN = r"hockney-engine: plan '(.+)' cannot be read"
"""engine/app/session.cpp"""
NETWORK_FAILED = r"^hockney-ethernet: (.+)"
"""engine/emulated/room.cpp"""

Explainer = Callable[[Mpi, int, str], Explanation]


def failure_pattern(cause: Cause, *extra_patterns: str) -> str:
    """Return the pattern for the output of launchers: all families', since the launcher may belong to another
    family than its MPI, Slurm's, and `extra_patterns`."""
    launchers = (family.failures.get(cause, "") for family in families())
    return join_patterns(*launchers, SLURM_FAILURES.get(cause, ""), *extra_patterns)


CAUSES: tuple[tuple[str, int, Explainer], ...] = (
    (
        NO_PLAN,
        re.MULTILINE,
        lambda mpi, ranks, name: Explanation(
            "plan-not-visible",
            f"the first rank cannot read the plan of the launch, {printable(one_line(name))}",
            "its host does not see this folder",
            "set HOCKNEY_CACHE to a folder that all hosts share",
            machine_failed=True,
        ),
    ),
    (
        NETWORK_FAILED,
        re.MULTILINE,
        lambda mpi, ranks, name: Explanation(
            "emulated-network-failed",
            "the emulated network failed",
            printable(one_line(name)),
            "see docs/emulated.md for what it needs, and dmesg for processes that the system killed",
            machine_failed=True,
        ),
    ),
    (
        failure_pattern("root"),
        0,
        lambda mpi, ranks, name: Explanation(
            "mpi-refuses-root",
            f"{title_of(mpi)} refuses to run as root",
            "",
            f"run as another user, or set {_run_as_root_variables()}",
        ),
    ),
    (
        failure_pattern("slots"),
        0,
        lambda mpi, ranks, name: Explanation(
            "not-enough-slots",
            f"{title_of(mpi)} has no room for {ranks} ranks",
            "this allocation has fewer slots",
            "use fewer with --ranks, or a larger allocation",
        ),
    ),
    (
        r"error while loading shared libraries: (\S+?):|Library not loaded: (\S+)",
        0,
        lambda mpi, ranks, name: Explanation(
            "library-not-found",
            f"the ranks cannot find {name}",
            "the engine was linked with it",
            f"load the module of {title_of(mpi)}, or add its library folder to LD_LIBRARY_PATH",
        ),
    ),
    (
        r"GLIBC\w*_[\d.]+' not found",
        0,
        lambda mpi, ranks, name: Explanation(
            "older-system-library",
            "the ranks find an older C++ or C library than the engine was compiled with",
            "the hosts differ",
            "compile where the ranks run: 'hockney build' inside the allocation",
        ),
    ),
    (
        failure_pattern("daemon", NO_STARTER),
        0,
        lambda mpi, ranks, name: Explanation(
            "hosts-not-reachable",
            f"{title_of(mpi)} cannot start its helper program on "
            f"{printable(name) if name else 'the other hosts'}",
            "it is not installed there, or ssh is missing",
            "start hockney inside an allocation, or install the same MPI on every host",
            host=name,
        ),
    ),
    (
        failure_pattern("program"),
        0,
        lambda mpi, ranks, name: Explanation(
            "engine-not-reachable",
            f"the engine cannot be started {f'on {printable(name)}' if name else 'where the ranks run'}",
            "the cache folder is not visible or not executable there",
            "set HOCKNEY_CACHE to a folder that all hosts share and that allows programs to run",
            host=name,
        ),
    ),
    (
        LOGIN_REFUSED,
        0,
        lambda mpi, ranks, name: Explanation(
            "ssh-login-refused",
            f"{printable_host(name, 'a host')} does not accept passwordless ssh",
            "it asks for a password, or its key is not known here",
            f"set up a key (ssh-copy-id) and try 'ssh {printable_host(name, 'HOST')} true', "
            "or use a batch job",
            host=name,
        ),
    ),
    (NO_ROUTE, 0, lambda mpi, ranks, name: _host_unreachable(name)),
    (
        failure_pattern("allocation"),
        0,
        lambda mpi, ranks, name: Explanation(
            "host-not-in-allocation",
            f"the launcher cannot use {printable_host(name, 'a host')}, which is not in its allocation, "
            "or no longer",
            "",
            "ask the scheduler which hosts the job has (squeue), and leave out others from --hosts",
            machine_failed=True,
            host=name,
        ),
    ),
    (
        NO_PLUGIN,
        0,
        lambda mpi, ranks, name: Explanation(
            "srun-lacks-interface",
            f"srun has no interface {printable_host(name, 'of this name')}",
            "",
            "'srun --mpi=list' lists them; unset SLURM_MPI_TYPE, or use --launcher mpiexec",
        ),
    ),
    (
        failure_pattern("connection"),
        re.IGNORECASE,
        lambda mpi, ranks, name: Explanation(
            "ranks-cannot-reach-launcher",
            "the ranks cannot connect to their launcher",
            f"{mpi.mpiexec} and the library that the ranks found belong to different MPIs or versions",
            "unset LD_LIBRARY_PATH and unload other MPI modules, or choose one MPI with --mpi PREFIX",
        ),
    ),
    (
        r"No space left on device|not enough space.*(?:/dev/shm|shared memory)",
        re.IGNORECASE,
        lambda mpi, ranks, name: Explanation(
            "no-room-for-shared-memory",
            f"{title_of(mpi)} has no room for its shared memory",
            "/dev/shm or /tmp is full",
            "free some space there, or give the container more of it (docker run --shm-size=1g)",
        ),
    ),
    (failure_pattern("dead"), 0, lambda mpi, ranks, name: _host_unreachable(name)),
)
"""Patterns in the launcher's output, their flags, and their explanations. `name` is the text captured by the
pattern, or the host named next to it. Specific patterns come first: if a remote shell fails, launchers also
print that a daemon does not answer."""

MAX_NAMED_HOSTS = 4
"""The maximum number of hosts to list if the output does not name the failed host."""


def is_fatal_line(line: str) -> bool:
    """Return whether a rank could not be started. Some launchers then wait forever."""
    pattern = join_patterns(*(family.fatal_line for family in families()), SLURM_FAILURES["program"])
    return re.search(pattern, line) is not None


def explain(mpi: Mpi, ranks: int, output: Iterable[str], hosts: Sequence[str] = ()) -> Explanation | None:
    """Explain the launcher's output, for failures with a known remedy. `mpi.mpiexec` is the program that was
    started. If the output names no host, the failed one is among `hosts`."""
    text = "\n".join(output)
    for pattern, flags, make_explanation in CAUSES:
        match = re.search(pattern, text, flags)
        if match:
            host = _first_group(match) or _first_group(_match_failed_host(text))
            candidates = " or ".join(hosts) if len(hosts) <= MAX_NAMED_HOSTS else ""
            return make_explanation(mpi, ranks, host or candidates)
    return None


def _match_failed_host(text: str) -> re.Match[str] | None:
    pattern = join_patterns(*(family.failed_host for family in families()), SLURM_FAILED_HOST)
    return re.search(pattern, text, re.MULTILINE)


def _run_as_root_variables() -> str:
    assignments = (
        f"{name}={value}" for family in families() for name, value in family.root_variables.items()
    )
    return join_words(assignments)


def _first_group(match: re.Match[str] | None) -> str:
    return "" if match is None else next((group for group in match.groups() if group), "")


def _host_unreachable(host: str) -> Explanation:
    """`host` is "" if the launcher does not name it."""
    return Explanation(
        "host-unreachable",
        f"{printable_host(host, 'a host')} cannot be reached",
        "it does not answer, or no ranks can be started there",
        f"try 'ssh {printable_host(host, 'HOST')} true', or leave it out (--hosts; salloc --exclude)",
        machine_failed=True,
        host=host,
    )


def printable_host(host: str, default: str) -> str:
    return printable(one_line(host)) if host else default
