# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about the study of overlap."""

from __future__ import annotations

from collections.abc import Iterable

from hockney.core.errors import UsageError, unknown


def unknown_operation(name: str, known: Iterable[str]) -> UsageError:
    return unknown("nonblocking operation", name, known, code="unknown-nonblocking-operation")


def only_between_two() -> UsageError:
    return UsageError(
        "there is nothing to measure on these ranks",
        "messages are measured between 2 ranks",
        "use --ranks 2, or a collective, for example operations=iallreduce",
        code="only-between-two",
    )
