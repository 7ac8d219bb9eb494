# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sample arguments of the messages about comparisons."""

from __future__ import annotations

from hockney.models.statistics import MachineModes

EVEN = MachineModes(pairs=40, slow=(17, 21), factor=1.57, split=(11, 7), partners={})
UNEVEN = MachineModes(pairs=40, slow=(12, 21), factor=1.57, split=(13, 4), partners={})

SAMPLES: dict[str, list[object]] = {"machine_modes.modes": [[EVEN], [UNEVEN]]}
