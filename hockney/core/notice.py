# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Something that a user should know although nothing failed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Notice:
    """`code` is a kebab-case identifier, as for errors, `text` a sentence."""

    text: str
    code: str
