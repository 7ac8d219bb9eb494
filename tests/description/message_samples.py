# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sample arguments of the messages about descriptions of machines."""

from __future__ import annotations

SAMPLES = {"low": [0.0, 576.0], "high": [9000.0]}
