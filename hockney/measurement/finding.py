# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One result of examining a machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """`code` is a kebab-case identifier, `subject` and `text` are for users, `numbers` for programs."""

    verdict: Literal["good", "note", "bad"]
    subject: str
    text: str
    code: str
    numbers: Mapping[str, object] = field(default_factory=dict, compare=False)
