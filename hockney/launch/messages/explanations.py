# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Why ranks do not start and launches end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hockney.core.errors import EnvironmentProblem, one_line, printable
from hockney.launch.ending import SIGNALS, Ending
from hockney.launch.launcher import LaunchFailed, Reason


@dataclass(frozen=True)
class Explanation:
    """Why ranks do not start or a launch ended. `what` is "" if only the reason is known. With `of_machine`
    the machine failed, whatever ran on it, in particular `host` if that is known."""

    code: str
    what: str
    why: str
    remedy: str = ""
    of_machine: bool = False
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


def emulated_network_failed(report: str) -> Explanation:
    """`report` names what was not possible, or the part that ended."""
    return Explanation(
        "emulated-network-failed",
        "the emulated network failed",
        printable(one_line(report)),
        "see docs/emulated.md for what it needs, and dmesg for processes that the system killed",
        of_machine=True,
    )


def runs_not_as_root(mpi: str) -> Explanation:
    return Explanation(
        "mpi-refuses-root",
        f"{mpi} refuses to run as root",
        "",
        "run as another user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
    )


def not_enough_slots(mpi: str, ranks: int) -> Explanation:
    return Explanation(
        "not-enough-slots",
        f"{mpi} has no room for {ranks} ranks",
        "this allocation has fewer slots",
        "use fewer with --ranks, or a larger allocation",
    )


def too_few_slots(per_node: int, hosts: Sequence[str], slots: Sequence[int]) -> Explanation:
    """`slots` is the number of ranks that fit on each of the `hosts`."""
    host, most = min(zip(hosts, slots, strict=True), key=lambda each: each[1])
    return Explanation(
        "too-few-slots-on-host",
        f"{per_node} ranks on each host do not fit",
        f"{host} has {most} {'slot' if most == 1 else 'slots'}",
        "use fewer with --ranks-per-node or --ranks, more hosts, or a larger allocation",
    )


def library_not_found(library: str, mpi: str) -> Explanation:
    return Explanation(
        "library-not-found",
        f"the ranks cannot find {library}",
        "the engine was linked with it",
        f"load the module of {mpi}, or add its library folder to LD_LIBRARY_PATH",
    )


def older_system_library() -> Explanation:
    return Explanation(
        "older-system-library",
        "the ranks find an older C++ or C library than the engine was compiled with",
        "the hosts differ",
        "compile where the ranks run: 'hockney build' inside the allocation",
    )


def engine_not_reachable(host: str) -> Explanation:
    """`host` is "" if the launcher does not name it."""
    return Explanation(
        "engine-not-reachable",
        f"the engine cannot be started {f'on {printable(host)}' if host else 'where the ranks run'}",
        "the cache folder is not visible or not executable there",
        "set HOCKNEY_CACHE to a folder that all hosts share and that allows programs to run",
        host=host,
    )


def hosts_not_reachable(mpi: str, host: str) -> Explanation:
    """`host` is "" if the launcher does not name it."""
    return Explanation(
        "hosts-not-reachable",
        f"{mpi} cannot start its helper program on {printable(host) if host else 'the other hosts'}",
        "it is not installed there, or ssh is missing",
        "start hockney inside an allocation, or install the same MPI on every host",
        host=host,
    )


def other_launcher(mpiexec: str) -> Explanation:
    return Explanation(
        "ranks-cannot-reach-launcher",
        "the ranks cannot connect to their launcher",
        f"{mpiexec} and the library that the ranks found belong to different MPIs or versions",
        "unset LD_LIBRARY_PATH and unload other MPI modules, or choose one MPI with --mpi PREFIX",
    )


def no_shared_memory(mpi: str) -> Explanation:
    return Explanation(
        "no-room-for-shared-memory",
        f"{mpi} has no room for its shared memory",
        "/dev/shm or /tmp is full",
        "free some space there, or give the container more of it (docker run --shm-size=1g)",
    )


def no_answer_in_time(mpi: str, mpiexec: str, ranks: int, seconds: float, output: str = "") -> Explanation:
    return Explanation(
        "ranks-not-started-in-time",
        f"{mpi} did not start {ranks} ranks within {seconds:g} s",
        one_line(" ".join(output.split()[-40:])) or "it printed nothing",
        f"try '{mpiexec} -n {ranks} hostname'; in a batch job, check its network and host names",
    )


def other_library(mpi: str, other: str) -> Explanation:
    return Explanation(
        "library-of-another-mpi",
        f"the engine was compiled for {mpi}, but the ranks found the library of {other}",
        "LD_LIBRARY_PATH or a loaded module puts it first",
        f"unset LD_LIBRARY_PATH, unload {other}, or measure {other} instead with --mpi",
    )


def separate_jobs(mpiexec: str, library: str) -> Explanation:
    return Explanation(
        "ranks-run-as-separate-jobs",
        "every rank runs as a separate single-process job",
        f"{mpiexec} does not belong to the library that the ranks found, which is {library[:60]}",
        "give the MPI's own prefix with --mpi, and unload other MPI modules",
    )


def ranks_missing(answers: int, ranks: int, mpiexec: str) -> Explanation:
    return Explanation(
        "ranks-missing",
        f"only {answers} of {ranks} ranks answered",
        "",
        f"try '{mpiexec} -n {ranks} hostname'",
    )


def ranks_do_not_start(
    mpi: str, ranks: int, ending: Ending, launcher: str, command: str
) -> EnvironmentProblem:
    """`launcher` is the name of the program that starts ranks, `command` its command line for these ranks,
    without a program."""
    return EnvironmentProblem(
        f"{mpi} does not start {ranks} ranks",
        how_it_ended(ending, launcher),
        f"try '{command} hostname'",
        code="ranks-do-not-start",
        ranks=ranks,
        ending=ending,
    )


def launcher_not_starting(mpiexec: str, mpi: str, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{mpiexec} cannot be started",
        reason,
        f"repair or reinstall {mpi}, or choose another MPI with --mpi",
        code="launcher-not-starting",
        reason=reason,
    )


def how_it_ended(ending: Ending, launcher: str) -> str:
    """The reason of a failure whose cause is unknown. `launcher` is the name of the program that started
    the ranks."""
    if ending.signal is not None:
        process = (
            launcher if ending.of_launcher else "a rank" if ending.rank is None else f"rank {ending.rank}"
        )
        hint = ", often for lack of memory" if ending.signal == 9 and not ending.of_launcher else ""
        return f"{process} was ended by signal {ending.signal} ({SIGNALS[ending.signal]}{hint})"
    return one_line(" | ".join([f"exit code {ending.job_exit}", *ending.output]))[:300]


def too_many_messages(count: str) -> Explanation:
    return Explanation(
        "too-many-simulated-messages",
        "",
        f"more than {count} messages were simulated",
        "use fewer ranks or repetitions",
    )


def deadlock() -> Explanation:
    return Explanation(
        "simulated-deadlock",
        "",
        "the simulator reports a deadlock: every rank waits for another",
        "this workload cannot run on these ranks",
    )


def call_not_simulated(call: str) -> Explanation:
    return Explanation(
        "call-not-simulated",
        "",
        f"SimGrid's MPI does not implement {call}",
        "leave out this workload in simulations",
    )


def out_of_memory() -> Explanation:
    return Explanation(
        "simulator-out-of-memory", "", "this host ran out of memory", "use fewer ranks or smaller messages"
    )


def platform_error(message: str) -> Explanation:
    """The error printed by the simulator's plug-in for described machines."""
    return Explanation("simulated-platform-error", "", message)


def simulator_ended(ending: Ending) -> Explanation:
    return Explanation("simulator-ended", "", how_it_ended(ending, "smpirun"))
