# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of cases."""

from __future__ import annotations

from collections.abc import Iterable

from hockney.core.errors import UsageError, unknown


def unknown_column(name: str, available: Iterable[str]) -> UsageError:
    return unknown("column", name, available)
