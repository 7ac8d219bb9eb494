# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a user should know, though nothing failed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Notice:
    """`code` is a kebab-case word as errors have it, `text` a sentence."""

    text: str
    code: str
