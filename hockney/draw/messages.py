# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about figures."""

from __future__ import annotations

from collections.abc import Iterable

from hockney.core.errors import UsageError, unknown


def unknown_picture_format(name: str, available: Iterable[str]) -> UsageError:
    return unknown("picture format", name, available, code="unknown-picture-format")
