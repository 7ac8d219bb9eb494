# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sample arguments of the messages about checked runs: none are needed."""

from __future__ import annotations

SAMPLES: dict[str, list[object]] = {}
