# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Launches, rounds and the budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from hockney.core.errors import (
    EnvironmentProblem,
    HockneyError,
    UsageError,
    sentences,
)
from hockney.core.notice import Notice
from hockney.core.units import format_bytes, format_seconds, format_size
from hockney.core.wording import plural


def too_many_ranks(ranks: int, threads: int, limit: int) -> UsageError:
    return UsageError(
        f"{ranks} ranks are too many for {threads} hardware threads",
        "they would exhaust the machine instead of measuring it",
        f"use --ranks up to {limit}",
        code="ranks-exceed-machine",
        ranks=ranks,
        limit=limit,
    )


def too_much_memory(workload: str, size: int, ranks: int, memory: int) -> UsageError:
    """`ranks` share a host with `memory` bytes."""
    of_all = "" if ranks == 1 else f" on each of {ranks} ranks"
    return UsageError(
        f"{workload} with bytes={format_size(size).replace(' ', '')} does not fit into this host's memory",
        f"it needs at least one buffer of {format_size(size)}{of_all}, and the host has "
        f"{format_bytes(memory)}",
        f"use at most {format_bytes(_half_power_below(memory // ranks))}",
        code="message-exceeds-memory",
        bytes=size,
        ranks=ranks,
        memory=memory,
    )


def _half_power_below(size: int) -> int:
    """A power of two that leaves half of the memory free."""
    return 1 << max(0, (size // 2).bit_length() - 1)


def other_part(folder: Path) -> UsageError:
    return UsageError(
        f"{folder} was started with other cases or on another machine",
        "its results do not belong to this reproduction",
        "choose a new folder with --out",
        code="part-of-other-cases",
        folder=str(folder),
    )


def shares_being_measured(path: Path, writers: int) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{plural(writers, 'share')} of {path} may still be measured",
        "their launches would be measured twice",
        "wait until all have ended, or measure one of the shares with --share K/N",
        code="shares-being-measured",
        path=str(path),
        writers=writers,
    )


def launches_failed(count: int, last: HockneyError) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{count} launches failed one after another",
        str(last).rstrip("."),
        "'hockney doctor' looks for the cause; 'hockney resume' continues",
        code="launches-failed",
        count=count,
        last=last.code,
    )


def launch_without_result() -> EnvironmentProblem:
    return EnvironmentProblem(
        "a launch ended without a result",
        "the engine skipped its plan",
        "run 'hockney build' to compile the engine again",
        code="launch-without-result",
    )


def launch_failed(problem: HockneyError) -> Notice:
    return Notice(str(problem), problem.code)


def cases_relaunched() -> Notice:
    return Notice("the remaining cases are relaunched", "cases-relaunched")


def out_of_time(problem: HockneyError) -> Notice:
    return Notice(sentences(str(problem), "'hockney resume' continues"), "launch-out-of-time")


def sizes_added(workloads: Sequence[str]) -> str:
    """`workloads` has the name of each added case's workload."""
    where = ", ".join(f"{count} of {name}" for name, count in Counter(workloads).items())
    return f"measuring {plural(len(workloads), 'more size')} where the cost curve changes: {where}"


def budget_used_up(left: int, launch_s: float) -> Notice:
    """`launch_s` is the cost of a launch without its cases."""
    return Notice(
        f"the time is used up with {left} measurements left (a launch alone takes {launch_s:.1f} s): "
        "use a larger --budget",
        "budget-used-up",
    )


def round_late(number: int, late_s: float, every_s: float) -> Notice:
    """`number` counts from 1."""
    return Notice(
        f"round {number} starts {format_seconds(late_s, 2)} late because the previous one took longer than "
        f"the {format_seconds(every_s)} between rounds; use a larger --every",
        "round-late",
    )


def rounds_late(late: int, count: int) -> Notice:
    return Notice(f"{late} of {count} rounds started late", "rounds-late")


def period_over(left: int) -> Notice:
    return Notice(
        f"the period is over with {left} {'round' if left == 1 else 'rounds'} left because others took "
        "longer than their budget; 'hockney resume' measures them",
        "period-over",
    )
