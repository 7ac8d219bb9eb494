# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about reproductions of papers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hockney.core.errors import UsageError, printable, unknown


def unknown_reproduction(name: str, available: Iterable[str], of_machine: str = "") -> UsageError:
    """`of_machine` is the reproduction that simulates the machine called `name`, "" for none."""
    remedy, code = "'hockney reproduce --list' shows all", "unknown-reproduction"
    if not of_machine:
        return unknown("reproduction", name, available, remedy, code=code)
    return UsageError(
        f"unknown reproduction '{printable(name)}'",
        "it is a machine",
        f"use 'hockney reproduce {of_machine}', the paper that describes it",
        code=code,
        name=name,
        suggestion=of_machine,
    )


def not_emulated(name: str, available: Sequence[str]) -> UsageError:
    return UsageError(
        f"{name} cannot be measured on an emulated machine",
        "its machine was no Ethernet",
        f"leave --machine out, or reproduce {' or '.join(available)}",
        code="reproduction-not-emulated",
        name=name,
        available=list(available),
    )
