# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Why ranks do not start and launches end."""

from __future__ import annotations

from dataclasses import dataclass

from hockney.core.errors import EnvironmentProblem, one_line
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


def library_not_found(library: str, mpi: str) -> Explanation:
    return Explanation(
        "library-not-found",
        f"the ranks cannot find {library}",
        "the engine was linked with it",
        f"load the module of {mpi}, or add its library folder to LD_LIBRARY_PATH",
    )


def other_library(mpi: str, other: str) -> Explanation:
    return Explanation(
        "library-of-another-mpi",
        f"the engine was compiled for {mpi}, but the ranks found the library of {other}",
        "LD_LIBRARY_PATH or a loaded module puts it first",
        f"unset LD_LIBRARY_PATH, unload {other}, or measure {other} instead with --mpi",
    )


def ranks_missing(answers: int, ranks: int, mpiexec: str) -> Explanation:
    return Explanation(
        "ranks-missing",
        f"only {answers} of {ranks} ranks answered",
        "",
        f"try '{mpiexec} -n {ranks} hostname'",
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
