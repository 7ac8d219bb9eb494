# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about reproductions of papers."""

from __future__ import annotations

from collections.abc import Iterable

from hockney.core.errors import UsageError, unknown


def unknown_reproduction(name: str, available: Iterable[str]) -> UsageError:
    return unknown(
        "reproduction", name, available, "'hockney reproduce --list' shows all", code="unknown-reproduction"
    )
