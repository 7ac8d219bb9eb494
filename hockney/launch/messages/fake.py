# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The fake machine."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.errors import UsageError, unknown
from hockney.launch.launcher import LaunchFailed


def binding() -> str:
    return "rank i on cpu i"


def wrong_ranks(planned: int, ranks: int) -> LaunchFailed:
    return LaunchFailed(
        f"the plan has ranks={planned}, but {ranks} ranks run", code="fake-wrong-ranks", reason="refused"
    )


def death(case: str) -> LaunchFailed:
    return LaunchFailed(
        "rank 1 was ended by signal 9",
        "the fake machine was set to do so",
        code="fake-death",
        reason="died",
        case=case,
        job_exit=137,
    )


def hang(case: str) -> LaunchFailed:
    return LaunchFailed(
        "the case did not end",
        code="fake-hang",
        reason="hung",
        case=case,
        silent_ranks=(1,),
        phase="run",
        job_exit=75,
    )


def refusal() -> str:
    return "the fake machine was set to refuse it"


def corruption() -> str:
    return "rank 1, offset 8: expected 7, found 0"


def seed_not_whole(seed: str) -> UsageError:
    return UsageError(
        f"seed '{seed}' is not a whole number", "", "use for example fake:seed=3", code="fake-seed-not-whole"
    )


def not_a_slowdown(text: str) -> UsageError:
    return UsageError(
        f"'{text}' is no slowdown",
        "it needs words of a case and a factor",
        "use for example 'fake:slow=bcast ranks=2:1.3'",
        code="fake-not-a-slowdown",
    )


def unknown_setting(name: str, available: Sequence[str]) -> UsageError:
    return unknown("setting of the fake machine", name, available, code="unknown-fake-setting")


def nodes_not_whole(nodes: str) -> UsageError:
    return UsageError(
        f"'{nodes}' is not a number of nodes", "", "use for example fake:nodes=2", code="fake-nodes-not-whole"
    )


def too_few_nodes(wanted: int, available: int) -> UsageError:
    return UsageError(
        f"the fake machine has {available} nodes, not {wanted}",
        "",
        f"use --nodes {available} or fake:nodes={wanted}",
        code="fake-too-few-nodes",
    )


def no_such_ranks() -> str:
    return "no ranks of the launch meet there"
