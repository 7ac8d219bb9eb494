# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Information for the user about something that is not an error."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Notice:
    """A notice: `code` is a kebab-case identifier as in errors, `text` a sentence."""

    text: str
    code: str
