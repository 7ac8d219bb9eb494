# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Launches that failed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hockney.core.units import format_seconds
from hockney.launch.ending import Ending
from hockney.launch.launcher import LaunchFailed
from hockney.launch.messages.explanations import Explanation, how_it_ended


def launch_died(
    case: str, ranks: int, ending: Ending, launcher: str, tail: tuple[str, ...] = ()
) -> LaunchFailed:
    """`case` is "" if none was running; `launcher` is the name of the program that started the ranks."""
    return LaunchFailed(
        f"the launch died during '{case}'" if case else f"the launch of {ranks} ranks died",
        how_it_ended(ending, launcher),
        code="launch-died",
        reason="died",
        case=case,
        job_exit=ending.job_exit,
        tail=tail,
        signal=ending.signal,
    )


def silent_between_cases(*, job_exit: int = 0, tail: tuple[str, ...] = ()) -> LaunchFailed:
    return LaunchFailed(
        "the engine printed nothing between two cases",
        "",
        "the job was stopped",
        code="launch-silent",
        reason="hung",
        job_exit=job_exit,
        tail=tail,
    )


def not_ending(seconds: float, *, job_exit: int, tail: tuple[str, ...]) -> LaunchFailed:
    """After its last result."""
    return LaunchFailed(
        f"a launch did not finish within {format_seconds(seconds)} of its last result",
        "a rank or the launcher may have been stopped",
        "the job was stopped; all its results are kept",
        code="launch-not-ending",
        reason="hung",
        job_exit=job_exit,
        tail=tail,
        seconds=seconds,
    )


def phase(name: str, repetition: int) -> str:
    """The phase in which a rank was when a case hung."""
    return f"{name}, repetition {repetition}"


def case_hung(
    case: str, answered: bool, silent: Sequence[int], phase: str, *, job_exit: int, tail: tuple[str, ...]
) -> LaunchFailed:
    """`silent` ranks did not report to the watchdog, the others wait in `phase`; `answered` is False if none
    reported."""
    if not answered:
        why = "no rank answered"
    elif silent:
        noun = "ranks" if len(silent) > 1 else "rank"
        why = f"{noun} {', '.join(map(str, silent))} did not answer, the others wait in {phase}"
    else:
        why = f"all ranks answered and wait in {phase}"
    return LaunchFailed(
        f"case '{case}' hung",
        why,
        "the job was stopped",
        code="case-hung",
        reason="hung",
        case=case,
        silent_ranks=tuple(silent),
        phase=phase,
        job_exit=job_exit,
        tail=tail,
    )


def case_slow(case: str, run_s: float, *, job_exit: int, tail: tuple[str, ...]) -> LaunchFailed:
    """One run takes about `run_s` seconds; a case makes two at least, of which the first one is verified."""
    return LaunchFailed(
        f"case '{case}' does not fit its time",
        f"a repetition takes about {format_seconds(run_s)}, and was still in progress",
        f"give --budget {math.ceil(2.5 * run_s)}s or more with --launches 1, or a smaller case",
        code="case-slow",
        reason="slow",
        case=case,
        job_exit=job_exit,
        tail=tail,
        seconds=run_s,
    )


def message_corrupted(
    case: str, rank: int | None, sender: int | None, *, job_exit: int, tail: tuple[str, ...]
) -> LaunchFailed:
    """`case` is "" if none was running; `rank` and `sender` are None if the launcher dropped them."""
    who = "a rank" if rank is None else f"rank {rank}"
    whom = "" if sender is None else f" from rank {sender}"
    return LaunchFailed(
        f"{who} received an internal message{whom} that was corrupted in transit",
        "this MPI or this network cannot be trusted",
        code="message-corrupted",
        reason="corrupted",
        case=case,
        job_exit=job_exit,
        tail=tail,
        rank=rank,
        sender=sender,
    )


def line_not_understood(reason: str) -> LaunchFailed:
    return LaunchFailed(
        "the engine wrote a line that hockney does not understand",
        reason,
        "run 'hockney build' to compile the engine again",
        code="engine-line-not-understood",
    )


def simulation_failed(
    case: str, ranks: int, explanation: Explanation, *, job_exit: int, tail: tuple[str, ...]
) -> LaunchFailed:
    """`case` is "" if none was running."""
    return LaunchFailed(
        f"the simulation ended during '{case}'" if case else f"the simulation of {ranks} ranks did not start",
        explanation.why,
        explanation.remedy,
        code=explanation.code,
        reason="died" if case else "refused",
        case=case,
        job_exit=job_exit,
        tail=tail,
    )


def simulation_out_of_time(
    case: str, seconds: float, *, job_exit: int = 0, tail: tuple[str, ...] = ()
) -> LaunchFailed:
    """`case` is "" if none was running."""
    time = format_seconds(seconds)
    return LaunchFailed(
        f"'{case}' could not be simulated within {time}"
        if case
        else f"the simulation did not start within {time}",
        "simulating takes time for every message",
        "use a larger --budget, or fewer ranks or smaller messages",
        code="simulation-out-of-time",
        reason="time",
        case=case,
        job_exit=job_exit,
        tail=tail,
        seconds=seconds,
    )
